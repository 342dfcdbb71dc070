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

#ifdef __SSE2__
#include <emmintrin.h>
#endif

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
	uint8_t *guess;		/* which way a line was last, by the low bits of its number; tags say whether it is right */
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

#define MIMIC_CACHE_NO_WAY MIMIC_CACHE_WAYS_MAX

/*
 * Which of a set's tags is `number`. No early end: which way it is cannot be predicted, and a wrong
 * guess of the processor costs more than the other ways.
 */
static inline unsigned int mimic_cache_search(const uint64_t *tags, unsigned int ways, uint64_t number)
{
	uint64_t found = 0;	/* four bits of each way, the lowest of which says it */
	unsigned int way = 0;

#ifdef __SSE2__
	__m128i wanted = _mm_set1_epi64x((long long)number);

	/* Halves of four tags to a byte each, twice. */
	for (; way + 4 <= ways; way += 4) {
		const __m128i *four = (const __m128i *)&tags[way];
		__m128i equal = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_loadu_si128(four), wanted),
						_mm_cmpeq_epi32(_mm_loadu_si128(four + 1), wanted));

		found |= (uint64_t)(unsigned int)_mm_movemask_epi8(equal) << 4 * way;
	}
	found &= found >> 2;
#endif
	for (; way < ways; way++)
		found |= (uint64_t)(tags[way] == number) << 4 * way;
	found &= 0x1111111111111111ull;
	return found ? (unsigned int)__builtin_ctzll(found) / 4 : MIMIC_CACHE_NO_WAY;
}

/* The way of line `number` in its set, whose first line is `first`; MIMIC_CACHE_NO_WAY: not there. */
static inline unsigned int mimic_cache_way(const struct mimic_cache *cache, uint64_t number, size_t first)
{
	uint8_t *guess = &cache->guess[number & cache->guess_mask];
	unsigned int way = *guess;

	if (__builtin_expect(cache->tags[first + way] == number, 1))
		return way;
	way = mimic_cache_search(&cache->tags[first], cache->ways, number);
	if (way != MIMIC_CACHE_NO_WAY)
		*guess = (uint8_t)way;
	return way;
}

/* NULL: not there. It does not count as a use. */
static inline struct mimic_cache_line *mimic_cache_peek(const struct mimic_cache *cache, uint64_t address)
{
	uint64_t number = address >> cache->shift;
	size_t first = (number & cache->set_mask) * cache->ways;
	unsigned int way = mimic_cache_way(cache, number, first);

	return way == MIMIC_CACHE_NO_WAY ? NULL : &cache->lines[first + way];
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
	/* The last one: all others move. */
	if (order >> cache->last_way_shift == way) {
		cache->orders[set] = (order << 4 | way) & UINT64_MAX >> (60 - cache->last_way_shift);
		return;
	}
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
	uint64_t number = address >> cache->shift;
	size_t set = number & cache->set_mask, first = set * cache->ways;
	unsigned int way = mimic_cache_way(cache, number, first);

	if (way == MIMIC_CACHE_NO_WAY)
		return NULL;
	mimic_cache_use_way(cache, set, way);
	return &cache->lines[first + way];
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
	size_t set = number & cache->set_mask, way = index - set * cache->ways;

	cache->tags[index] = number;
	cache->guess[number & cache->guess_mask] = (uint8_t)way;
	*line = (struct mimic_cache_line){ .ready = ready, .state = (uint8_t)state };
	mimic_cache_use_way(cache, set, way);
}

void mimic_cache_drop(struct mimic_cache *cache, struct mimic_cache_line *line);

#endif
