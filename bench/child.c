/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * SpMV by LIMA in a process of its own: settings in the environment of a program with
 * devices is settled with its first one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"

double bench_lima_in_child(const struct bench_options *options, const struct bench_child *how)
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
		if (how->value)
			setenv(how->variable, how->value, 1);
		bench_spmv_lima(options, how->transport, how->rows, how->is_registered, &result);
		_exit(write(ends[1], &result.lima, sizeof(result.lima)) != sizeof(result.lima));
	}
	close(ends[1]);
	if (child < 0 || read(ends[0], &value, sizeof(value)) != sizeof(value) ||
	    waitpid(child, &status, 0) != child || status)
		bench_fail("the child that is measured failed");
	close(ends[0]);
	return value;
}
