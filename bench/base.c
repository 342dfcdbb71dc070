/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The rows of an earlier run: which have moved? By their ratios, because the machine may be another one by now. */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"

#define MOVED 0.1

static json_object *base;

void bench_base_read(const char *path)
{
	if (access(path, R_OK))
		bench_fail("%s: %s", path, strerror(errno));
	base = json_object_from_file(path);
	if (!json_object_is_type(base, json_type_array))
		bench_fail("%s: not a file that --output writes", path);
}

static json_object *find(const char *name)
{
	for (size_t i = 0; i < json_object_array_length(base); i++) {
		json_object *row = json_object_array_get_idx(base, i), *found;

		if (json_object_object_get_ex(row, "name", &found) &&
		    !strcmp(json_object_get_string(found), name))
			return row;
	}
	return NULL;
}

/* A row without a reference has no ratio. false: it has no number at all. */
static bool take(json_object *row, const char **key, double *value)
{
	json_object *found;

	*key = "ratio";
	if (!json_object_object_get_ex(row, *key, &found)) {
		*key = "value";
		if (!json_object_object_get_ex(row, *key, &found))
			return false;
	}
	*value = json_object_get_double(found);
	return isfinite(*value) && *value > 0;
}

static double number_of(json_object *row, const char *key, double otherwise)
{
	json_object *found;

	return json_object_object_get_ex(row, key, &found) ? json_object_get_double(found) : otherwise;
}

/* Has one of the rounds of one run been where those of the other were? */
static bool do_overlap(json_object *row, double value, json_object *earlier, double before)
{
	return number_of(row, "least", value) <= number_of(earlier, "most", before) &&
	       number_of(earlier, "least", before) <= number_of(row, "most", value);
}

/* true: it has moved, or is new. */
static bool compare(json_object *row)
{
	const char *name = json_object_get_string(json_object_object_get(row, "name"));
	json_object *earlier = find(name);
	const char *key, *earlier_key;
	double now, before;

	if (!earlier) {
		printf("  %-34s is new\n", name);
		return true;
	}
	if (!take(row, &key, &now) || !take(earlier, &earlier_key, &before) || strcmp(key, earlier_key)) {
		printf("  %-34s cannot be compared\n", name);
		return true;
	}
	if (fabs(now - before) <= MOVED * before)
		return false;
	printf("  %-34s %s %.2f, was %.2f: %+.0f %%", name, key, now, before, 100 * (now - before) / before);
	if (do_overlap(row, now, earlier, before)) {
		printf(", too noisy to judge\n");
		return false;
	}
	printf("\n");
	return true;
}

void bench_base_compare(json_object *results)
{
	size_t count = 0, all = json_object_array_length(results);

	if (!base)
		return;
	printf("Moved by more than %.0f %% against the earlier run:\n", 100 * MOVED);
	for (size_t i = 0; i < all; i++)
		count += compare(json_object_array_get_idx(results, i));
	printf("%zu of %zu rows\n", count, all);
	json_object_put(base);
}
