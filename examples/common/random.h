/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* SplitMix64: the same numbers from the same seed everywhere. */
#ifndef EXAMPLES_RANDOM_H
#define EXAMPLES_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state;
};

static inline uint64_t random_mix(uint64_t word)
{
	word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
	word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
	return word ^ (word >> 31);
}

static inline uint64_t random_next(struct random *random)
{
	random->state += 0x9e3779b97f4a7c15ull;
	return random_mix(random->state);
}

/* In [0, bound), by the high half of a product; bound is at least 1. */
static inline uint64_t random_below(struct random *random, uint64_t bound)
{
	return (uint64_t)(((unsigned __int128)random_next(random) * bound) >> 64);
}

/* In [0, 1), in steps of 2^-53. */
static inline double random_unit(struct random *random)
{
	return (double)(random_next(random) >> 11) * 0x1p-53;
}

#endif
