/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Where loop_matmul.c lays out its operands. One for each unit. */
#ifndef MIMIC_VIRGO_MATMUL_SCRATCH_H
#define MIMIC_VIRGO_MATMUL_SCRATCH_H

#include "devices/virgo/kernels.h"

#define SCRATCH_DEPTH 1024	/* values of k */
/*
 * Lanes of B: as many as an accumulator of 256 KB has, so that one block of k always
 * fits (J x DIM columns of DIM values; I is at least 1), and the rest of a panel.
 */
#define SCRATCH_B ((64u << 10) + KERNEL_LANES_MAX * 16)

struct matmul_scratch {
	union lane b[SCRATCH_B] __attribute__((aligned(64)));
	union lane a[KERNEL_ROWS_MAX * SCRATCH_DEPTH] __attribute__((aligned(64)));
	union lane c[KERNEL_ROWS_MAX * KERNEL_LANES_MAX] __attribute__((aligned(64)));
};

#endif
