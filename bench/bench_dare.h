/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Declarations that the benchmarks of DARE share. */
#ifndef MIMIC_BENCH_DARE_H
#define MIMIC_BENCH_DARE_H

#include "bench/bench.h"
#include "dare.h"

/* A context, or the end of the benchmark. */
struct dare *bench_dare_open(const struct bench_options *options, const char *transport);

#endif
