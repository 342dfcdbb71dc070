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

/* A word, so that what is asked of a set of four ways lies in one line of the host's caches. */
struct mimic_cache_line {
	uint64_t state : 2;
	uint64_t ready : 62;	/* when its data is there */
};

struct mimic_cache {
	/* Of each set its tags, which are line numbers (UINT64_MAX: empty), and behind them its lines: 2^set_shift bytes. */
	char *sets;
	uint64_t *orders;	/* of each set: ways of four bits, the latest used lowest, empty ones highest */
	uint64_t set_mask;
	unsigned int ways;
	uint8_t set_shift;
	uint8_t last_way_shift;	/* of the highest four bits of an order */
	uint8_t shift;		/* a line has 2^shift bytes */
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

static inline uint64_t *mimic_cache_tags(const struct mimic_cache *cache, uint64_t set)
{
	return (uint64_t *)(cache->sets + (set << cache->set_shift));
}

static inline struct mimic_cache_line *mimic_cache_line(const struct mimic_cache *cache, uint64_t *tags, uint64_t way)
{
	return (struct mimic_cache_line *)(tags + cache->ways) + way;
}

/* The tag of a line: in its set as far before the line as there are ways. */
static inline uint64_t *mimic_cache_tag(const struct mimic_cache *cache, const struct mimic_cache_line *line)
{
	return (uint64_t *)line - cache->ways;
}

/* Lines have numbers from 0 on, in the order in which they lie in their sets. */
static inline size_t mimic_cache_index(const struct mimic_cache *cache, const struct mimic_cache_line *line)
{
	size_t offset = (size_t)((const char *)line - cache->sets), set = offset >> cache->set_shift;
	size_t word = (offset - (set << cache->set_shift)) / sizeof(*line);

	return set * cache->ways + word - cache->ways;
}

/* The way of line `number` in its set; MIMIC_CACHE_NO_WAY: not there. Most often it is the latest used one. */
static inline unsigned int mimic_cache_way(const struct mimic_cache *cache, const uint64_t *tags, uint64_t order,
					   uint64_t number)
{
	unsigned int latest = order & 15;

	if (__builtin_expect(tags[latest] == number, 1))
		return latest;
	return mimic_cache_search(tags, cache->ways, number);
}

/* NULL: not there. It does not count as a use. */
static inline struct mimic_cache_line *mimic_cache_peek(const struct mimic_cache *cache, uint64_t address)
{
	uint64_t number = address >> cache->shift, set = number & cache->set_mask;
	uint64_t *tags = mimic_cache_tags(cache, set);
	unsigned int way = mimic_cache_way(cache, tags, cache->orders[set], number);

	return way == MIMIC_CACHE_NO_WAY ? NULL : mimic_cache_line(cache, tags, way);
}

/* Where in an order a way stands: the shift of its four bits. */
static inline unsigned int mimic_cache_place(uint64_t order, uint64_t way)
{
	const uint64_t ones = 0x1111111111111111ull;
	uint64_t differs = order ^ way * ones;

	/* The lowest four bits that are 0: the borrow of each reaches its own highest bit. */
	return (unsigned int)__builtin_ctzll((differs - ones) & ~differs & ones << 3) & ~3u;
}

/* Of a way that is not the latest used one. */
static inline void mimic_cache_use_other(struct mimic_cache *cache, size_t set, uint64_t order, uint64_t way)
{
	uint64_t later;

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
	size_t set = *mimic_cache_tag(cache, line) & cache->set_mask;
	uint64_t way = (uint64_t)(line - mimic_cache_line(cache, mimic_cache_tags(cache, set), 0));
	uint64_t order = cache->orders[set];

	if ((order & 15) != way)
		mimic_cache_use_other(cache, set, order, way);
}

/* peek(), and a use. */
static inline struct mimic_cache_line *mimic_cache_find(struct mimic_cache *cache, uint64_t address)
{
	uint64_t number = address >> cache->shift, set = number & cache->set_mask, order = cache->orders[set];
	uint64_t *tags = mimic_cache_tags(cache, set), way = order & 15;

	if (__builtin_expect(tags[way] != number, 0)) {
		way = mimic_cache_search(tags, cache->ways, number);
		if (way == MIMIC_CACHE_NO_WAY)
			return NULL;
		mimic_cache_use_other(cache, set, order, way);
	}
	return mimic_cache_line(cache, tags, way);
}

/* The first address of a line that is not empty. */
static inline uint64_t mimic_cache_address(const struct mimic_cache *cache, const struct mimic_cache_line *line)
{
	return *mimic_cache_tag(cache, line) << cache->shift;
}

/* Which line of its set a new one replaces: an empty one, or the least recently used. */
static inline struct mimic_cache_line *mimic_cache_victim(const struct mimic_cache *cache, uint64_t address)
{
	size_t set = address >> cache->shift & cache->set_mask;

	return mimic_cache_line(cache, mimic_cache_tags(cache, set), cache->orders[set] >> cache->last_way_shift);
}

/* `line`, one of the set of `address`, is that of `address` now: a use. */
static inline void mimic_cache_fill(struct mimic_cache *cache, struct mimic_cache_line *line, uint64_t address,
				    enum mimic_cache_state state, uint64_t ready)
{
	*mimic_cache_tag(cache, line) = address >> cache->shift;
	*line = (struct mimic_cache_line){ .state = state, .ready = ready };
	mimic_cache_use(cache, line);
}

void mimic_cache_drop(struct mimic_cache *cache, struct mimic_cache_line *line);

#endif
