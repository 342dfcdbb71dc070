/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/soc/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_power_of_two(uint64_t number)
{
	return number && !(number & (number - 1));
}

const char *mimic_cache_geometry(uint64_t size, uint64_t ways, uint64_t line)
{
	if (!is_power_of_two(line))
		return "line must be a power of two";
	if (ways > MIMIC_CACHE_WAYS_MAX)
		return "ways must be 1 to 16";
	if (!ways || size % ways || size / ways % line || !size)
		return "size must be a multiple of ways times line";
	if (!is_power_of_two(size / ways / line))
		return "size / (ways * line), the number of sets, must be a power of two";
	return NULL;
}

int mimic_cache_init(struct mimic_cache *cache, uint64_t size, uint64_t ways, uint64_t line)
{
	size_t count, guesses = 1;

	memset(cache, 0, sizeof(*cache));
	if (mimic_cache_geometry(size, ways, line))
		return -EINVAL;
	count = size / line;
	cache->tags = malloc(count * sizeof(*cache->tags));
	cache->orders = malloc(count / ways * sizeof(*cache->orders));
	cache->lines = calloc(count, sizeof(*cache->lines));
	while (guesses < count)
		guesses *= 2;
	cache->guess = calloc(guesses, sizeof(*cache->guess));
	cache->guess_mask = guesses - 1;
	if (!cache->tags || !cache->orders || !cache->lines || !cache->guess) {
		mimic_cache_free(cache);
		return -ENOMEM;
	}
	memset(cache->tags, 0xff, count * sizeof(*cache->tags));
	for (size_t set = 0; set < count / ways; set++)
		cache->orders[set] = UINT64_MAX >> (64 - 4 * ways) & 0xfedcba9876543210ull;
	cache->ways = (unsigned int)ways;
	cache->last_way_shift = 4 * (cache->ways - 1);
	cache->set_mask = count / ways - 1;
	cache->shift = (unsigned int)__builtin_ctzll(line);
	return 0;
}

void mimic_cache_free(struct mimic_cache *cache)
{
	free(cache->tags);
	free(cache->orders);
	free(cache->guess);
	free(cache->lines);
	memset(cache, 0, sizeof(*cache));
}

void mimic_cache_drop(struct mimic_cache *cache, struct mimic_cache_line *line)
{
	size_t index = (size_t)(line - cache->lines), set = cache->tags[index] & cache->set_mask;
	uint64_t way = index - set * cache->ways, order = cache->orders[set];
	unsigned int place = mimic_cache_place(order, way);
	uint64_t later = (1ull << place) - 1;

	/* Those that were used before it move down, and it is the next victim. */
	cache->orders[set] = (order & later) | (order >> 4 & ~later) | way << cache->last_way_shift;
	cache->tags[index] = UINT64_MAX;
	memset(line, 0, sizeof(*line));
}
