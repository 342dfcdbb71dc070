/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The rows of a run: printed as they come, written as JSON at the end. */
#include <json-c/json.h>
#include <stdio.h>

#include "bench/bench.h"

static json_object *results;
static int failures;

void bench_report(const struct bench_row *row)
{
	json_object *object = json_object_new_object();
	bool over = row->limit && row->value > row->limit;

	json_object_object_add(object, "name", json_object_new_string(row->name));
	json_object_object_add(object, "value", json_object_new_double(row->value));
	json_object_object_add(object, "unit", json_object_new_string(row->unit));
	json_object_object_add(object, "reference", json_object_new_string(row->reference));
	json_object_object_add(object, "reference_value",
			       json_object_new_double(row->reference_value));
	if (row->reference_value)
		json_object_object_add(object, "ratio",
				       json_object_new_double(row->value / row->reference_value));
	if (row->limit) {
		json_object_object_add(object, "limit", json_object_new_double(row->limit));
		json_object_object_add(object, "within_limit", json_object_new_boolean(!over));
	}
	if (!results)
		results = json_object_new_array();
	json_object_array_add(results, object);
	failures += over;
	printf("%-34s %10.2f %-12s", row->name, row->value, row->unit);
	if (row->reference_value)
		printf(" ratio %6.2f to %8.2f", row->value / row->reference_value, row->reference_value);
	printf(" (%s)", row->reference);
	if (row->limit)
		printf("  limit %.2f %s", row->limit, over ? "EXCEEDED" : "ok");
	printf("\n");
	fflush(stdout);
}

int bench_finish(const char *output)
{
	if (output && json_object_to_file_ext(output, results, JSON_C_TO_STRING_PRETTY))
		bench_fail("cannot write %s", output);
	if (results)
		bench_base_compare(results);
	json_object_put(results);
	return failures ? 1 : 0;
}
