/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Benchmarks of the kernel transport, for a machine with the modules loaded
 * (make bench-kernel boots one). Times of a machine in software emulation mean
 * nothing by themselves: look at ratios.
 */
#ifndef MIMIC_BENCH_KERNEL_H
#define MIMIC_BENCH_KERNEL_H

#include "bench/bench.h"

/* The time of a trapped load, in nanoseconds: the program on CPU 0. */
struct bench_traps {
	double in_kernel;	/* answered by the bus: an inert page */
	double spinning;	/* by the daemon, on the other CPU, both spinning */
	double same_cpu;	/* by the daemon, on the program's CPU: both sleep */
};

void bench_kernel_traps(pid_t daemon, struct bench_traps *traps);
void bench_kernel_window(void);
void bench_kernel_first_touch(const struct bench_traps *traps);
void bench_kernel_spmv(const struct bench_options *options);

#endif
