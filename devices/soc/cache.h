/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The tags of a set-associative cache with least recently used replacement. It holds
 * no data. Which states a line has, and how a replaced line is handled, is its
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

/* A word, so that the data of a set of four ways lie in one line of the host's caches. */
struct mimic_cache_line {
	uint64_t state : 2;
	uint64_t note : 4;	/* the user's; 0 when the line is filled */
	uint64_t ready : 58;	/* when its data is there: cycles up to 2^58, nine years at 1 GHz */
};

struct mimic_cache {
	/*
	 * Of each set its tags, which are line numbers (UINT64_MAX: empty), and behind them its lines:
	 * 2^set_shift bytes. Tags are compared in fours: a set has room for 4, 8 or 16, and places beyond its
	 * ways stay empty.
	 */
	char *sets;
	uint64_t *orders;	/* of each set: ways of four bits, the latest used lowest, empty ones highest */
	uint64_t set_mask;
	uint64_t order_mask;	/* the bits of an order that are used */
	uint8_t ways;
	uint8_t room;		/* for ways, in a set */
	uint8_t set_shift;
	uint8_t last_way_shift;	/* of the highest four bits of an order */
	uint8_t shift;		/* a line has 2^shift bytes */
};

/* NULL if such a cache can be built, else the error; the text begins with "size", "ways" or "line". */
const char *mimic_cache_geometry(uint64_t size, uint64_t ways, uint64_t line);

/* 0, -EINVAL, -ENOMEM. */
int mimic_cache_init(struct mimic_cache *cache, uint64_t size, uint64_t ways, uint64_t line);
void mimic_cache_free(struct mimic_cache *cache);

/* Which of four tags is `number`, a bit each. */
static inline unsigned int mimic_cache_search_four(const uint64_t *tags, uint64_t number)
{
#ifdef __SSE2__
	__m128i wanted = _mm_set1_epi64x((long long)number);
	__m128i first = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)tags), wanted);
	__m128i second = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(tags + 2)), wanted);
	__m128 low = _mm_shuffle_ps(_mm_castsi128_ps(first), _mm_castsi128_ps(second), _MM_SHUFFLE(2, 0, 2, 0));
	__m128 high = _mm_shuffle_ps(_mm_castsi128_ps(first), _mm_castsi128_ps(second), _MM_SHUFFLE(3, 1, 3, 1));

	/* Both halves of a tag are equal. */
	return (unsigned int)_mm_movemask_ps(_mm_and_ps(low, high));
#else
	unsigned int found = 0;

	for (unsigned int way = 0; way < 4; way++)
		found |= (unsigned int)(tags[way] == number) << way;
	return found;
#endif
}

/*
 * Which of a set's tags is `number`, a bit each: one at most. No early end: which way it is cannot be
 * predicted, and a wrong guess of the processor costs more than the other ways.
 */
static inline unsigned int mimic_cache_search(const uint64_t *tags, unsigned int room, uint64_t number)
{
	unsigned int found = mimic_cache_search_four(tags, number);

	if (room > 4)
		found |= mimic_cache_search_four(tags + 4, number) << 4;
	if (room > 8)
		found |= mimic_cache_search_four(tags + 8, number) << 8 |
			 mimic_cache_search_four(tags + 12, number) << 12;
	return found;
}

static inline uint64_t *mimic_cache_tags(const struct mimic_cache *cache, uint64_t set)
{
	return (uint64_t *)(cache->sets + (set << cache->set_shift));
}

static inline struct mimic_cache_line *mimic_cache_line(const struct mimic_cache *cache, uint64_t *tags, uint64_t way)
{
	return (struct mimic_cache_line *)(tags + cache->room) + way;
}

/*
 * The same cache for a caller that has seen that it has so many ways, 4 or 8, as a constant: the compiler
 * knows then the values that follow from it.
 */
static inline struct mimic_cache mimic_cache_with_ways(const struct mimic_cache *cache, uint8_t ways)
{
	struct mimic_cache known = *cache;

	known.ways = known.room = ways;
	known.set_shift = ways == 4 ? 6 : 7;
	known.last_way_shift = (uint8_t)(4 * (ways - 1));
	known.order_mask = UINT64_MAX >> (64 - 4 * ways);
	return known;
}

/* The set of an address, for a caller that asks it several questions. */
struct mimic_cache_set {
	uint64_t *tags;
	uint64_t *order;
	uint64_t number;	/* of the address's line */
};

static inline struct mimic_cache_set mimic_cache_set_of(const struct mimic_cache *cache, uint64_t address)
{
	uint64_t number = address >> cache->shift, set = number & cache->set_mask;

	return (struct mimic_cache_set){ mimic_cache_tags(cache, set), &cache->orders[set], number };
}

/* The tag of a line: in its set as far before the line as there is room for ways. */
static inline uint64_t *mimic_cache_tag(const struct mimic_cache *cache, const struct mimic_cache_line *line)
{
	return (uint64_t *)line - cache->room;
}

/* Lines have numbers from 0 on, in the order in which they lie; each set has as many as it has room for. */
static inline size_t mimic_cache_index(const struct mimic_cache *cache, const uint64_t *tags, uint64_t way)
{
	/* Half the words of the sets before it are lines. */
	return (size_t)((const char *)tags - cache->sets) / (2 * sizeof(*tags)) + way;
}

/* NULL: not there. It does not count as a use. Most often it is the latest used one of its set. */
static inline struct mimic_cache_line *mimic_cache_peek(const struct mimic_cache *cache, uint64_t address)
{
	struct mimic_cache_set set = mimic_cache_set_of(cache, address);
	unsigned int way = *set.order & 15;

	if (__builtin_expect(set.tags[way] != set.number, 0)) {
		unsigned int found = mimic_cache_search(set.tags, cache->room, set.number);

		if (!found)
			return NULL;
		way = (unsigned int)__builtin_ctz(found);
	}
	return mimic_cache_line(cache, set.tags, way);
}

/* The same of one that can be in this way only, or nowhere. */
static inline struct mimic_cache_line *mimic_cache_peek_way(const struct mimic_cache *cache, uint64_t address,
							    unsigned int way)
{
	uint64_t number = address >> cache->shift;
	uint64_t *tags = mimic_cache_tags(cache, number & cache->set_mask);

	return tags[way] == number ? mimic_cache_line(cache, tags, way) : NULL;
}

static inline unsigned int mimic_cache_way_of(const struct mimic_cache *cache,
					      const struct mimic_cache_line *line)
{
	return (unsigned int)((size_t)((const char *)line - cache->sets) >> 3 & (cache->room - 1));
}

/* The set is asked for soon: the machine that runs this may take it into its own caches meanwhile. */
static inline void mimic_cache_prefetch_set(const struct mimic_cache *cache,
					    const struct mimic_cache_set *set)
{
	__builtin_prefetch(set->order);
	__builtin_prefetch(set->tags);
	__builtin_prefetch(set->tags + cache->room);
}

static inline void mimic_cache_prefetch(const struct mimic_cache *cache, uint64_t address)
{
	struct mimic_cache_set set = mimic_cache_set_of(cache, address);

	mimic_cache_prefetch_set(cache, &set);
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
static inline void mimic_cache_use_other(const struct mimic_cache *cache, uint64_t *place, uint64_t order,
					 uint64_t way)
{
	uint64_t later;

	/* The last one: all others move. */
	if (order >> cache->last_way_shift == way) {
		*place = (order << 4 | way) & cache->order_mask;
		return;
	}
	/* Those that were used later than it make room at the low end. */
	later = (1ull << mimic_cache_place(order, way)) - 1;
	*place = (order & ~(later << 4 | 15)) | (order & later) << 4 | way;
}

static inline void mimic_cache_use(const struct mimic_cache *cache, const struct mimic_cache_line *line)
{
	size_t set = *mimic_cache_tag(cache, line) & cache->set_mask;
	uint64_t way = (uint64_t)(line - mimic_cache_line(cache, mimic_cache_tags(cache, set), 0));
	uint64_t order = cache->orders[set];

	if ((order & 15) != way)
		mimic_cache_use_other(cache, &cache->orders[set], order, way);
}

#define MIMIC_CACHE_NO_WAY MIMIC_CACHE_WAYS_MAX

/* The way of the set's line, wherever it is, and a use of it. MIMIC_CACHE_NO_WAY: not there. */
static inline uint64_t mimic_cache_use_in(const struct mimic_cache *cache, const struct mimic_cache_set *set)
{
	unsigned int found = mimic_cache_search(set->tags, cache->room, set->number);
	uint64_t order = *set->order, way;

	if (!found)
		return MIMIC_CACHE_NO_WAY;
	way = (uint64_t)__builtin_ctz(found);
	if ((order & 15) != way)
		mimic_cache_use_other(cache, set->order, order, way);
	return way;
}

/* The line itself; NULL: not there. */
static inline struct mimic_cache_line *mimic_cache_find_in(const struct mimic_cache *cache,
							   const struct mimic_cache_set *set)
{
	uint64_t way = mimic_cache_use_in(cache, set);

	return way == MIMIC_CACHE_NO_WAY ? NULL : mimic_cache_line(cache, set->tags, way);
}

/* The same of an address: any way may be the one. */
static inline struct mimic_cache_line *mimic_cache_find_any(const struct mimic_cache *cache, uint64_t address)
{
	struct mimic_cache_set set = mimic_cache_set_of(cache, address);

	return mimic_cache_find_in(cache, &set);
}

/* The same where it most often is the latest used one, which is asked first. */
static inline struct mimic_cache_line *mimic_cache_find(const struct mimic_cache *cache, uint64_t address)
{
	struct mimic_cache_set set = mimic_cache_set_of(cache, address);
	uint64_t way = *set.order & 15;

	if (__builtin_expect(set.tags[way] != set.number, 0))
		return mimic_cache_find_in(cache, &set);
	return mimic_cache_line(cache, set.tags, way);
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

/*
 * Made of a local one, so that it is stored as one word: from one that was stored in parts the processor cannot take the
 * word that is read next.
 */
static inline void mimic_cache_set_line(struct mimic_cache_line *line, enum mimic_cache_state state, uint64_t ready)
{
	struct mimic_cache_line made = { .ready = ready };

	made.state = state;
	*line = made;
}

/* `line`, one of the set of `address`, is that of `address` now: a use. */
static inline void mimic_cache_fill(const struct mimic_cache *cache, struct mimic_cache_line *line,
				    uint64_t address, enum mimic_cache_state state, uint64_t ready)
{
	uint64_t number = address >> cache->shift, set = number & cache->set_mask, order = cache->orders[set];
	uint64_t way = (uint64_t)(line - mimic_cache_line(cache, mimic_cache_tags(cache, set), 0));

	*mimic_cache_tag(cache, line) = number;
	mimic_cache_set_line(line, state, ready);
	if ((order & 15) != way)
		mimic_cache_use_other(cache, &cache->orders[set], order, way);
}

/* The way of the line that a new one replaces, by its set's order: mimic_cache_victim()'s. */
static inline uint64_t mimic_cache_last_way(const struct mimic_cache *cache, uint64_t order)
{
	return order >> cache->last_way_shift;
}

/* victim() and fill() in one: the set's line is there now, in the last way of its order. */
static inline struct mimic_cache_line *mimic_cache_replace(const struct mimic_cache *cache,
							   const struct mimic_cache_set *set, uint64_t order,
							   enum mimic_cache_state state, uint64_t ready)
{
	uint64_t way = mimic_cache_last_way(cache, order);
	struct mimic_cache_line *line = mimic_cache_line(cache, set->tags, way);

	set->tags[way] = set->number;
	mimic_cache_set_line(line, state, ready);
	*set->order = (order << 4 | way) & cache->order_mask;
	return line;
}

/* The line is empty, and the next of its set that is filled. */
static inline void mimic_cache_drop(const struct mimic_cache *cache, struct mimic_cache_line *line)
{
	uint64_t *tag = mimic_cache_tag(cache, line), set = *tag & cache->set_mask, order = cache->orders[set];
	uint64_t way = (uint64_t)(tag - mimic_cache_tags(cache, set));
	uint64_t later = (1ull << mimic_cache_place(order, way)) - 1;

	/* Those that were used before it move down. */
	cache->orders[set] = (order & later) | (order >> 4 & ~later) | way << cache->last_way_shift;
	*tag = UINT64_MAX;
	*line = (struct mimic_cache_line){ .state = MIMIC_CACHE_INVALID };
}

#endif
