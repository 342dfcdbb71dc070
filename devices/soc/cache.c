/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/soc/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOST_LINE 64ul	/* of the caches of the machine that runs this */

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

/* A set's tags and lines, in a power of two of bytes. */
static unsigned int set_shift(uint64_t room)
{
	unsigned int shift = 4;

	while (1ull << shift < room * (sizeof(uint64_t) + sizeof(struct mimic_cache_line)))
		shift++;
	return shift;
}

int mimic_cache_init(struct mimic_cache *cache, uint64_t size, uint64_t ways, uint64_t line)
{
	size_t sets, bytes;

	memset(cache, 0, sizeof(*cache));
	if (mimic_cache_geometry(size, ways, line))
		return -EINVAL;
	sets = size / line / ways;
	/* The search takes four, eight or sixteen. */
	cache->room = ways <= 4 ? 4 : ways <= 8 ? 8 : MIMIC_CACHE_WAYS_MAX;
	cache->set_shift = (uint8_t)set_shift(cache->room);
	bytes = sets << cache->set_shift;
	/* The orders lie behind the sets. */
	cache->sets = aligned_alloc(HOST_LINE, (bytes + sets * sizeof(*cache->orders) + HOST_LINE - 1) & ~(HOST_LINE - 1));
	if (!cache->sets)
		return -ENOMEM;
	cache->orders = (uint64_t *)(cache->sets + bytes);
	cache->ways = (uint8_t)ways;
	cache->last_way_shift = (uint8_t)(4 * (ways - 1));
	cache->set_mask = sets - 1;
	cache->order_mask = UINT64_MAX >> (64 - 4 * ways);
	cache->shift = (uint8_t)__builtin_ctzll(line);
	memset(cache->sets, 0, bytes);
	for (size_t set = 0; set < sets; set++) {
		memset(mimic_cache_tags(cache, set), 0xff, cache->room * sizeof(uint64_t));
		cache->orders[set] = cache->order_mask & 0xfedcba9876543210ull;
	}
	return 0;
}

void mimic_cache_free(struct mimic_cache *cache)
{
	free(cache->sets);
	memset(cache, 0, sizeof(*cache));
}
