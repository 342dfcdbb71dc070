/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Consumes a known number of values from a queue, in batches that fit on the stack. */
#ifndef EXAMPLES_STREAM_H
#define EXAMPLES_STREAM_H

#include <errno.h>
#include <stdint.h>

#include "examples/common/csr.h"
#include "maple.h"

#define STREAM_BATCH 256

/*
 * LIMA counts with 32 bits. Loops over a longer index array start from a point
 * in it that moves in steps of 2^31 elements.
 */
static inline uint64_t lima_origin(uint64_t begin)
{
	return begin >> 31 << 31;
}

/* Elements of one LIMA_PRODUCE. Two loops are in flight at a time, which every profile can hold. */
#define LIMA_LOOP 4096

/* 0, or -errno. `count` is at most STREAM_BATCH. */
static inline int stream_values(struct maple *maple, unsigned int queue, union csr_value *values, uint64_t count)
{
	ssize_t got = maple_consume64_batch(maple, queue, (uint64_t *)(void *)values, count);

	if (got < 0)
		return (int)got;
	return (uint64_t)got == count ? 0 : -EIO;
}

static inline int stream_words(struct maple *maple, unsigned int queue, uint32_t *words, uint64_t count)
{
	ssize_t got = maple_consume32_batch(maple, queue, words, count);

	if (got < 0)
		return (int)got;
	return (uint64_t)got == count ? 0 : -EIO;
}

static inline uint64_t stream_piece(uint64_t left)
{
	return left < STREAM_BATCH ? left : STREAM_BATCH;
}

#endif
