/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What a recording costs: SpMV by LIMA in a process that is recorded, beside one that is not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"

#define ROWS 4096u
#define PAIRS 5

/* A process of its own: whether it is recorded is settled with its first device. */
static double lima_in_child(const struct bench_options *options, const char *path)
{
	struct bench_lima result;
	double value = 0;
	int ends[2], status;
	pid_t child;

	if (pipe(ends))
		bench_fail("no pipe");
	fflush(NULL);
	child = fork();
	if (child == 0) {
		if (path)
			setenv("MIMIC_RECORD", path, 1);
		else
			unsetenv("MIMIC_RECORD");
		bench_spmv_lima(options, "embedded", ROWS, false, &result);
		_exit(write(ends[1], &result.lima, sizeof(result.lima)) != sizeof(result.lima));
	}
	close(ends[1]);
	if (child < 0 || read(ends[0], &value, sizeof(value)) != sizeof(value) ||
	    waitpid(child, &status, 0) != child || status)
		bench_fail("the child that is measured failed");
	close(ends[0]);
	return value;
}

void bench_record(const struct bench_options *options)
{
	struct bench_row row = { .name = "record_on_spmv_lima", .unit = "ns/nonzero" };
	double with[PAIRS], without[PAIRS], ratios[PAIRS];
	char path[64];

	snprintf(path, sizeof(path), "/tmp/mimic-bench-%d.mimic", (int)getpid());
	for (int i = 0; i < PAIRS; i++) {
		unlink(path);
		without[i] = lima_in_child(options, NULL);
		with[i] = lima_in_child(options, path);
		ratios[i] = with[i] / without[i];
	}
	unlink(path);
	snprintf(row.reference, sizeof(row.reference), "the same without a recording");
	row.reference_value = bench_median(without, PAIRS);
	row.value = bench_median(ratios, PAIRS) * row.reference_value;
	bench_report(&row);
}
