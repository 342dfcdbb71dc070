/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* OpenBLAS on one core, which matrix products are measured beside. */
#ifndef MIMIC_BENCH_OPENBLAS_H
#define MIMIC_BENCH_OPENBLAS_H

#include <stdbool.h>
#include <stddef.h>

struct openblas {
	void (*sgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
		      const float *a, int lda, const float *b, int ldb, float beta, float *c,
		      int ldc);
	char core[32];
};

/* Loads it, or ends the benchmark. */
void openblas_load(struct openblas *blas);
/* c = a x b, all of side x side. */
void openblas_square(const struct openblas *blas, size_t side, const float *a, const float *b, float *c);
/*
 * The seconds that an emulated device may take for so many multiply-adds, if OpenBLAS takes
 * `reference`: eight times as many; and with a rate, where OpenBLAS is fast, 10 G a second.
 */
double openblas_limit(double macs, double reference, bool has_rate);
/*
 * `share` of OpenBLAS's rate is the limit, where the processor can come near: one with AVX-512 and VNNI that
 * has pipes of their own for products and for sums. The others fuse twice as many as they multiply and add;
 * there it is the limit above.
 */
double openblas_share_limit(double macs, double reference, bool has_rate, double share);

#endif
