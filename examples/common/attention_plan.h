/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How attention is cut into tiles of queries and keys, 64 of each or fewer where the
 * unit has less memory, and where they lie in shared memory: Q, two places each for K,
 * V and the scores, one for P V, and O. Weights take the place of their scores.
 */
#ifndef EXAMPLES_ATTENTION_PLAN_H
#define EXAMPLES_ATTENTION_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "examples/common/attention_check.h"
#include "examples/common/message.h"
#include "virgo.h"

#define ATTENTION_PLAN_TILE 64

struct attention_plan {
	struct virgo *virgo;
	unsigned int unit;
	unsigned int dim;
	const struct attention *attention;
	size_t queries, keys;		/* of a tile */
	size_t query_tiles, key_tiles;
	uint32_t q, k[2], v[2], s[2], pv, o;	/* first rows */
	size_t shared_bytes;		/* all these */
};

/* 0, or -ENOSPC with a message. */
int attention_plan_make(struct attention_plan *plan, struct virgo *virgo, unsigned int unit,
			const struct attention *attention, struct message *message);

/* The last tile may have fewer. */
size_t attention_plan_queries(const struct attention_plan *plan, size_t tile);
size_t attention_plan_keys(const struct attention_plan *plan, size_t tile);

/* S = Q K^T of a tile of queries and one of keys; and P V of these. */
struct virgo_tile attention_plan_scores(const struct attention_plan *plan, size_t queries, size_t keys);
struct virgo_tile attention_plan_values(const struct attention_plan *plan, size_t queries, size_t keys);

#endif
