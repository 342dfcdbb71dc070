/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The tags of a set-associative cache with least recently used replacement. It holds
 * no data. Which states a line has, and what becomes of one that is replaced, is its
 * user's.
 */
#ifndef MIMIC_DEVICES_CACHE_H
#define MIMIC_DEVICES_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIMIC_CACHE_WAYS_MAX 16

enum mimic_cache_state {
	MIMIC_CACHE_INVALID,
	MIMIC_CACHE_SHARED,	/* as in the level behind, which may have told others */
	MIMIC_CACHE_EXCLUSIVE,	/* as in the level behind, and in no other cache */
	MIMIC_CACHE_MODIFIED,
};

struct mimic_cache_line {
	uint64_t ready;		/* when its data is there */
	uint32_t parts;		/* for a cache behind others: which parts of the line they may have */
	uint8_t state;
};

struct mimic_cache {
	uint64_t *tags;		/* line numbers; UINT64_MAX: empty */
	uint64_t *orders;	/* of each set: ways of four bits, the latest used lowest, empty ones highest */
	struct mimic_cache_line *lines;
	uint32_t *guess;	/* which line a number was last, by its low bits; tags say whether it is right */
	uint64_t guess_mask;
	uint64_t set_mask;
	unsigned int ways;
	unsigned int last_way_shift;	/* of the highest four bits of an order */
	unsigned int shift;	/* a line has 2^shift bytes */
};

/* NULL if such a cache can be built, else what is wrong; the text begins with "size", "ways" or "line". */
const char *mimic_cache_geometry(uint64_t size, uint64_t ways, uint64_t line);

/* 0, -EINVAL, -ENOMEM. */
int mimic_cache_init(struct mimic_cache *cache, uint64_t size, uint64_t ways, uint64_t line);
void mimic_cache_free(struct mimic_cache *cache);

/* NULL: not there. It does not count as a use. */
static inline struct mimic_cache_line *mimic_cache_peek(const struct mimic_cache *cache, uint64_t address)
{
	uint64_t number = address >> cache->shift;
	uint32_t *guess = &cache->guess[number & cache->guess_mask];
	size_t first, found = SIZE_MAX;

	if (__builtin_expect(cache->tags[*guess] == number, 1))
		return &cache->lines[*guess];
	first = (number & cache->set_mask) * cache->ways;
	/* No early end: which way it is cannot be predicted, and a wrong guess costs more than the others. */
	for (size_t i = first; i < first + cache->ways; i++)
		found = cache->tags[i] == number ? i : found;
	if (found == SIZE_MAX)
		return NULL;
	*guess = (uint32_t)found;
	return &cache->lines[found];
}

/* Where in an order a way stands: the shift of its four bits. */
static inline unsigned int mimic_cache_place(uint64_t order, uint64_t way)
{
	const uint64_t ones = 0x1111111111111111ull;
	uint64_t differs = order ^ way * ones;

	/* The lowest four bits that are 0: the borrow of each reaches its own highest bit. */
	return (unsigned int)__builtin_ctzll((differs - ones) & ~differs & ones << 3) & ~3u;
}

static inline void mimic_cache_use_way(struct mimic_cache *cache, size_t set, uint64_t way)
{
	uint64_t order = cache->orders[set], later;

	if ((order & 15) == way)
		return;
	/* Those that were used later than it make room at the low end. */
	later = (1ull << mimic_cache_place(order, way)) - 1;
	cache->orders[set] = (order & ~(later << 4 | 15)) | (order & later) << 4 | way;
}

static inline void mimic_cache_use(struct mimic_cache *cache, const struct mimic_cache_line *line)
{
	size_t index = (size_t)(line - cache->lines), set = cache->tags[index] & cache->set_mask;

	mimic_cache_use_way(cache, set, index - set * cache->ways);
}

/* peek(), and a use. */
static inline struct mimic_cache_line *mimic_cache_find(struct mimic_cache *cache, uint64_t address)
{
	struct mimic_cache_line *line = mimic_cache_peek(cache, address);

	if (line)
		mimic_cache_use(cache, line);
	return line;
}

/* The first address of a line that is not empty. */
static inline uint64_t mimic_cache_address(const struct mimic_cache *cache, const struct mimic_cache_line *line)
{
	return cache->tags[line - cache->lines] << cache->shift;
}

/* Which line of its set a new one replaces: an empty one, or the least recently used. */
static inline struct mimic_cache_line *mimic_cache_victim(const struct mimic_cache *cache, uint64_t address)
{
	size_t set = address >> cache->shift & cache->set_mask;

	return &cache->lines[set * cache->ways + (cache->orders[set] >> cache->last_way_shift)];
}

/* `line`, one of the set of `address`, is that of `address` now: a use, without parts. */
static inline void mimic_cache_fill(struct mimic_cache *cache, struct mimic_cache_line *line, uint64_t address,
				    enum mimic_cache_state state, uint64_t ready)
{
	size_t index = (size_t)(line - cache->lines);
	uint64_t number = address >> cache->shift;

	cache->tags[index] = number;
	cache->guess[number & cache->guess_mask] = (uint32_t)index;
	*line = (struct mimic_cache_line){ .ready = ready, .state = (uint8_t)state };
	mimic_cache_use(cache, line);
}

void mimic_cache_drop(struct mimic_cache *cache, struct mimic_cache_line *line);

#endif
