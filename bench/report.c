/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The rows of a run: printed as they come, written as JSON at the end. With several rounds a row is measured once in
 * each: medians count, and rows whose rounds contradict each other are said to be too noisy to judge.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

#define ROWS_MAX 256u

/* A row of all rounds. */
struct measured {
	struct bench_row row;	/* of the first; from bench_finish() on the medians */
	unsigned int rounds;
	double values[BENCH_ROUNDS_MAX], references[BENCH_ROUNDS_MAX], ratios[BENCH_ROUNDS_MAX];
	double limits[BENCH_ROUNDS_MAX];
};

static struct measured rows[ROWS_MAX];
static unsigned int row_count;

static struct measured *find(const struct bench_row *row)
{
	for (unsigned int i = 0; i < row_count; i++)
		if (!strcmp(rows[i].row.name, row->name))
			return &rows[i];
	if (row_count == ROWS_MAX)
		bench_fail("more than %u rows", ROWS_MAX);
	rows[row_count].row = *row;
	return &rows[row_count++];
}

static void print(const struct bench_row *row, double ratio, const char *verdict)
{
	printf("%-34s %10.2f %-12s", row->name, row->value, row->unit);
	if (row->reference_value)
		printf(" ratio %6.2f to %8.2f", ratio, row->reference_value);
	printf(" (%s)", row->reference);
	if (row->limit)
		printf("  limit %.2f %s", row->limit, verdict);
	printf("\n");
	fflush(stdout);
}

void bench_report(const struct bench_row *row)
{
	struct measured *measured = find(row);
	unsigned int round = measured->rounds;

	if (round == BENCH_ROUNDS_MAX)
		return;
	measured->rounds++;
	measured->values[round] = row->value;
	measured->references[round] = row->reference_value;
	measured->limits[round] = row->limit;
	/* Without a reference the value itself is compared. */
	measured->ratios[round] = row->reference_value ? row->value / row->reference_value : row->value;
	print(row, measured->ratios[round], row->value > row->limit ? "EXCEEDED" : "ok");
}

static unsigned int count_over(const struct measured *measured)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < measured->rounds; i++)
		count += measured->limits[i] && measured->values[i] > measured->limits[i];
	return count;
}

static const char *verdict(const struct measured *measured)
{
	unsigned int over = count_over(measured);

	if (!over)
		return "ok";
	return over == measured->rounds ? "EXCEEDED" : "too noisy to judge";
}

/* Sorts values and limits each by themselves: the verdict, which compares them round by round, has to be known. */
static json_object *row_object(struct measured *measured, const char *verdict_of_row)
{
	struct bench_row *row = &measured->row;
	json_object *object = json_object_new_object();
	unsigned int rounds = measured->rounds;
	double ratio = bench_median(measured->ratios, rounds);

	row->value = bench_median(measured->values, rounds);
	row->reference_value = bench_median(measured->references, rounds);
	row->limit = bench_median(measured->limits, rounds);
	json_object_object_add(object, "name", json_object_new_string(row->name));
	json_object_object_add(object, "value", json_object_new_double(row->value));
	json_object_object_add(object, "unit", json_object_new_string(row->unit));
	json_object_object_add(object, "reference", json_object_new_string(row->reference));
	json_object_object_add(object, "reference_value", json_object_new_double(row->reference_value));
	if (row->reference_value)
		json_object_object_add(object, "ratio", json_object_new_double(ratio));
	json_object_object_add(object, "rounds", json_object_new_int((int)rounds));
	/* Of the ratio, or of the value where there is none. */
	json_object_object_add(object, "least", json_object_new_double(measured->ratios[0]));
	json_object_object_add(object, "most", json_object_new_double(measured->ratios[rounds - 1]));
	if (row->limit) {
		json_object_object_add(object, "limit", json_object_new_double(row->limit));
		json_object_object_add(object, "verdict", json_object_new_string(verdict_of_row));
	}
	return object;
}

int bench_finish(const char *output)
{
	json_object *results = json_object_new_array();
	unsigned int failures = 0;

	if (row_count && rows[0].rounds > 1)
		printf("\nMedians of %u rounds:\n", rows[0].rounds);
	for (unsigned int i = 0; i < row_count; i++) {
		const char *verdict_of_row = verdict(&rows[i]);

		failures += count_over(&rows[i]) == rows[i].rounds;
		json_object_array_add(results, row_object(&rows[i], verdict_of_row));
		if (rows[i].rounds > 1)
			print(&rows[i].row, bench_median(rows[i].ratios, rows[i].rounds), verdict_of_row);
	}
	if (output && json_object_to_file_ext(output, results, JSON_C_TO_STRING_PRETTY))
		bench_fail("cannot write %s", output);
	bench_base_compare(results);
	json_object_put(results);
	return failures ? 1 : 0;
}
