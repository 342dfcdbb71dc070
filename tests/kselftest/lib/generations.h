/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The program's side of the checks of window.h: it changes its memory and says
 * which generations a window may still show.
 */
#ifndef MIMIC_TESTS_GENERATIONS_H
#define MIMIC_TESTS_GENERATIONS_H

#include <stdatomic.h>

#include "window.h"

struct generations {
	struct window_check *check;
	uint64_t now[WINDOW_CELLS_MAX];
};

static inline volatile uint64_t *generations_place(const struct generations *all, uint32_t cell)
{
	return (volatile uint64_t *)all->check->cells[cell].address;
}

/* Cells at equal distances; none has a value yet. */
static inline void generations_place_cells(struct generations *all, struct window_check *check,
					   void *base, uint32_t count, size_t distance)
{
	uint32_t i;

	all->check = check;
	check->count = count;
	for (i = 0; i < count; i++) {
		all->now[i] = 0;
		check->cells[i].address = (uintptr_t)base + i * distance;
		check->cells[i].floor = WINDOW_ZERO_OK;
		check->cells[i].newest = 0;
	}
}

/* Before the next value can be read, wherever it is written first. The value. */
static inline uint64_t generations_next(struct generations *all, uint32_t cell)
{
	uint64_t generation = ++all->now[cell];

	atomic_store(&all->check->cells[cell].newest, generation);
	return WINDOW_VALUE(cell, generation);
}

/* The newest value is in its place: nothing older is there any more. */
static inline void generations_publish(struct generations *all, uint32_t cell)
{
	atomic_store(&all->check->cells[cell].floor, all->now[cell]);
}

static inline void generations_write(struct generations *all, uint32_t cell)
{
	*generations_place(all, cell) = generations_next(all, cell);
	generations_publish(all, cell);
}

/* Before a change that may leave a page of zeros. */
static inline void generations_allow_zero(struct generations *all, uint32_t cell)
{
	atomic_store(&all->check->cells[cell].floor, all->now[cell] | WINDOW_ZERO_OK);
}

/* After a change that took the value away; a page of zeros may be there. */
static inline void generations_lost(struct generations *all, uint32_t cell)
{
	atomic_store(&all->check->cells[cell].floor, (all->now[cell] + 1) | WINDOW_ZERO_OK);
}

/* After a change that left nothing to be read. */
static inline void generations_hidden(struct generations *all, uint32_t cell)
{
	atomic_store(&all->check->cells[cell].floor, all->now[cell] | WINDOW_MUST_BE_ABSENT);
}

#endif
