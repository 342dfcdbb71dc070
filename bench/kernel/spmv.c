/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* SpMV by LIMA_PRODUCE on the kernel transport, beside the daemon transport on the same machine. */
#include <stdio.h>

#include "bench/kernel/kernel.h"

#define ROWS (1u << 16)

static void compare(const struct bench_options *options, bool is_registered, double limit)
{
	struct bench_row row = { .unit = "ns/nonzero" };
	struct bench_lima kernel, daemon;

	bench_spmv_lima(options, "kernel", ROWS, is_registered, &kernel);
	bench_spmv_lima(options, "daemon", ROWS, is_registered, &daemon);
	snprintf(row.name, sizeof(row.name), "spmv_lima_kernel_%s", is_registered ? "allocated" : "plain_memory");
	snprintf(row.reference, sizeof(row.reference), "daemon transport, %s memory",
		 is_registered ? "registered" : "unregistered");
	row.value = kernel.lima;
	row.reference_value = daemon.lima;
	row.limit = limit * daemon.lima;
	bench_report(&row);
}

void bench_kernel_spmv(const struct bench_options *options)
{
	compare(options, true, 1.3);
	compare(options, false, 1.0);
}
