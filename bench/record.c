/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The cost of a recording: SpMV by LIMA in a process that is recorded, beside one that is not. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"

#define ROWS 4096u
#define PAIRS 5

void bench_record(const struct bench_options *options)
{
	struct bench_row row = { .name = "record_on_spmv_lima", .unit = "ns/nonzero" };
	struct bench_child how = { .transport = "embedded", .rows = ROWS, .variable = "MIMIC_RECORD" };
	double with[PAIRS], without[PAIRS], ratios[PAIRS];
	char path[64];

	snprintf(path, sizeof(path), "/tmp/mimic-bench-%d.mimic", (int)getpid());
	for (int i = 0; i < PAIRS; i++) {
		unlink(path);
		how.value = NULL;
		without[i] = bench_lima_in_child(options, &how);
		how.value = path;
		with[i] = bench_lima_in_child(options, &how);
		ratios[i] = with[i] / without[i];
	}
	unlink(path);
	snprintf(row.reference, sizeof(row.reference), "the same without a recording");
	row.reference_value = bench_median(without, PAIRS);
	row.value = bench_median(ratios, PAIRS) * row.reference_value;
	row.limit = 2 * row.reference_value;
	bench_report(&row);
}
