/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Where loop_matmul.c makes blocks of operands that cannot be used as they lie. One for each unit. */
#ifndef MIMIC_VIRGO_MATMUL_SCRATCH_H
#define MIMIC_VIRGO_MATMUL_SCRATCH_H

#include "devices/virgo/kernels.h"

#define SCRATCH_A (16u << 10)	/* lanes: one row of blocks of A */
/*
 * Lanes of B: as many as an accumulator of 256 KB has, so that one row of its blocks
 * always fits; I is at least 1.
 */
#define SCRATCH_B (64u << 10)

struct matmul_scratch {
	union lane b[SCRATCH_B] __attribute__((aligned(64)));
	union lane a[SCRATCH_A] __attribute__((aligned(64)));
	union lane c[KERNEL_ROWS_MAX * KERNEL_DIM_MAX] __attribute__((aligned(64)));
};

#endif
