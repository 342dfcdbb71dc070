/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shared by the files of the matrix products. */
#ifndef VIRGO_GEMM_INTERNAL_H
#define VIRGO_GEMM_INTERNAL_H

#include <fenv.h>

#include "internal.h"

/*
 * Where the host finishes a tile: nowhere (the unit stores it), in shared memory, or
 * in memory of the library's. Elements in shared memory are those of the unit's type,
 * so only fp32 goes there without a rounding that is one too many.
 */
enum staging { STAGING_NONE, STAGING_SHARED, STAGING_MEMORY };

enum staging virgo_gemm_staging(const struct virgo_unit *unit, const struct virgo_product *product);

/* How a product is cut, in blocks of DIM, and where its parts of the share lie, in rows of it. */
struct plan {
	size_t i, j, k;		/* of a tile, and a step */
	uint32_t first;		/* row of the share */
	uint32_t c_rows;	/* for C, at its begin */
	uint32_t half;		/* for A and B, two times */
};

/* Bytes of a share that is enough for the smallest tile. */
size_t virgo_plan_least(const struct virgo_unit *unit, enum staging staging);
void virgo_plan(const struct virgo_unit *unit, const struct virgo_product *product,
		const struct virgo_share *share, struct plan *plan);
/* The same tile in another share; false: it does not fit there. */
bool virgo_plan_move(const struct virgo_unit *unit, const struct virgo_product *product,
		     const struct virgo_share *share, struct plan *plan);

/* --- copies of operands and results, for the daemon ---------------------------- */

/* Of C. */
struct tile {
	size_t row, column, rows, columns;	/* in elements */
};

struct copies {
	const struct virgo_product *product;
	size_t rows, columns;		/* of A and B that there is room for; all columns without copies */
	char *a[2], *b;			/* NULL: operands are loaded where they are */
	char *c[2];			/* NULL: results are stored where they belong */
	struct tile stored[2];		/* tiles of C in the place; no rows: none */
	size_t row, column;		/* the first ones that are there */
	unsigned int turn;		/* which place of A and of C */
	uint64_t last_row;		/* when the row of tiles before this one began */
};

void virgo_copies_begin(struct virgo_unit *unit, const struct virgo_product *product,
			const struct plan *plan, enum staging staging, struct copies *copies);
/* Columns from `column` on come next; and of them, the rows of a tile, up to column `end`. */
int virgo_copies_next_columns(struct virgo_unit *unit, struct copies *copies, size_t column);
int virgo_copies_next_row(struct virgo_unit *unit, struct copies *copies, const struct tile *tile, size_t end);
/* All of the product is over, without an error. */
void virgo_copies_end(struct copies *copies);
/* Lets a loop, of depth `at` and a tile that begins with `column`, load the copies of its operands. */
void virgo_copies_use(struct virgo_unit *unit, const struct copies *copies, struct virgo_loop *loop, size_t at,
		      size_t column);
/* Lets it store its results where the copies are, if they are. */
void virgo_copies_use_c(const struct copies *copies, struct virgo_loop *loop, const struct tile *tile);

/* --- epilogues on the host --------------------------------------------------- */

/* Sums of one row, as they leave the accumulator, become elements of C. */
void virgo_finish_row(const struct virgo_product *product, void *c, const void *sums, size_t count);
/* A product without any k: C is the begin of its sums. */
void virgo_finish_empty(const struct virgo_product *product);
/* Bytes of an element of C. */
size_t virgo_result_size(const struct virgo_product *product);
/* 0; -EFAULT: this thread cannot write C at `*where`. */
int virgo_probe_c(const struct virgo_product *product, uintptr_t *where);
/* Can this thread write C, and, without any k, read the bias? 0 or -EFAULT. */
int virgo_finish_check(const struct virgo_product *product);
/* The thread's rounding mode and traps have no say in results. */
void virgo_finish_begin(fenv_t *saved);
void virgo_finish_end(const fenv_t *saved);

#endif
