/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How a product is cut into the paper's tiles of 64 x 64 x 64, or smaller ones where
 * the unit has less memory, and where these lie in shared memory: two places for A
 * and for B, in which the steps take turns, and one for C if it is wanted.
 */
#ifndef EXAMPLES_VIRGO_PLAN_H
#define EXAMPLES_VIRGO_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "examples/common/dense.h"
#include "examples/common/message.h"
#include "virgo.h"

#define VIRGO_PLAN_TILE 64

struct virgo_plan {
	struct virgo *virgo;
	unsigned int unit;
	const struct dense_product *product;
	size_t m, n, k;		/* of a tile */
	size_t columns, depths;	/* tiles beside each other in C; steps of one */
	size_t steps;		/* of the whole product */
	uint32_t a[2], b[2], c;	/* first rows */
};

/* Which part of the shared memory a plan may use: part `number` of `count`; and is there a place for C? */
struct virgo_part {
	unsigned int number, count;
	bool has_c;
};

/* 0, or -ENOSPC with a message. */
int virgo_plan_make(struct virgo_plan *plan, struct virgo *virgo, unsigned int unit,
		    const struct dense_product *product, const struct virgo_part *part, struct message *message);

/* One multiplication of a tile: k is innermost. */
struct virgo_step {
	struct virgo_tile tile;
	uint32_t b_row;		/* where B begins */
	size_t row, column;	/* of C, and of A and B */
	size_t depth;
	bool is_first, is_last;	/* of its tile of C */
};

void virgo_plan_step(const struct virgo_plan *plan, size_t number, struct virgo_step *step);

/* Its DMA: A and B to shared memory. */
int virgo_plan_load(const struct virgo_plan *plan, const struct virgo_step *step);
/* Its multiplication. */
int virgo_plan_multiply(const struct virgo_plan *plan, const struct virgo_step *step);

#endif
