/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The cache against a plain one: each set is a list of line numbers, the latest used first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "devices/soc/cache.h"

#define SETS_MAX 64
#define WAYS_MAX 16

struct plain_cache {
	unsigned int sets, ways, line;
	uint64_t list[SETS_MAX][WAYS_MAX];
	unsigned int length[SETS_MAX];
};

static uint64_t random_state = 88172645463325252ull;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t *plain_set(struct plain_cache *plain, uint64_t address, unsigned int **length)
{
	unsigned int set = (unsigned int)(address / plain->line % plain->sets);

	*length = &plain->length[set];
	return plain->list[set];
}

/* Where the line is in its list; -1: nowhere. */
static int plain_find(struct plain_cache *plain, uint64_t address)
{
	unsigned int *length;
	uint64_t *list = plain_set(plain, address, &length);

	for (unsigned int i = 0; i < *length; i++)
		if (list[i] == address / plain->line)
			return (int)i;
	return -1;
}

static void plain_drop(struct plain_cache *plain, uint64_t address)
{
	unsigned int *length;
	uint64_t *list = plain_set(plain, address, &length);
	int at = plain_find(plain, address);

	assert_true(at >= 0);
	(*length)--;
	memmove(&list[at], &list[at + 1], (*length - (unsigned int)at) * sizeof(*list));
}

/* Uses or fetches the line. Returns whether it replaced one, and which. */
static bool plain_use(struct plain_cache *plain, uint64_t address, uint64_t *replaced)
{
	unsigned int *length;
	uint64_t *list = plain_set(plain, address, &length);
	bool full = *length == plain->ways, is_there = plain_find(plain, address) >= 0;

	if (is_there)
		plain_drop(plain, address);
	else if (full)
		*replaced = list[--*length] * plain->line;
	memmove(&list[1], &list[0], *length * sizeof(*list));
	list[0] = address / plain->line;
	(*length)++;
	return full && !is_there;
}

/* By each of the ways to do it. */
static struct mimic_cache_line *find(const struct mimic_cache *cache, uint64_t address)
{
	struct mimic_cache_set set = mimic_cache_set_of(cache, address);
	uint64_t way;

	switch (next_random() % 3) {
	case 0:
		return mimic_cache_find(cache, address);
	case 1:
		return mimic_cache_find_any(cache, address);
	default:
		way = mimic_cache_use_in(cache, &set);
		return way == MIMIC_CACHE_NO_WAY ? NULL : mimic_cache_line(cache, set.tags, way);
	}
}

static void fill(const struct mimic_cache *cache, struct mimic_cache_line *victim, uint64_t address)
{
	struct mimic_cache_set set = mimic_cache_set_of(cache, address);

	if (next_random() % 2)
		mimic_cache_fill(cache, victim, address, MIMIC_CACHE_SHARED, 0);
	else
		assert_ptr_equal(mimic_cache_replace(cache, &set, *set.order, MIMIC_CACHE_SHARED, 0), victim);
}

static void access_both(struct mimic_cache *cache, struct plain_cache *plain, uint64_t address)
{
	struct mimic_cache_line *line = find(cache, address);
	uint64_t replaced = 0;
	bool was_there = plain_find(plain, address) >= 0, replaces = plain_use(plain, address, &replaced);

	assert_int_equal(line != NULL, was_there);
	if (line)
		return;
	line = mimic_cache_victim(cache, address);
	assert_int_equal(line->state != MIMIC_CACHE_INVALID, replaces);
	if (replaces)
		assert_int_equal(mimic_cache_address(cache, line), replaced);
	fill(cache, line, address);
}

static void drop_both(struct mimic_cache *cache, struct plain_cache *plain, uint64_t address)
{
	struct mimic_cache_line *line = mimic_cache_peek(cache, address);

	assert_int_equal(line != NULL, plain_find(plain, address) >= 0);
	if (!line)
		return;
	mimic_cache_drop(cache, line);
	plain_drop(plain, address);
}

static void compare(unsigned int sets, unsigned int ways, unsigned int size_of_line)
{
	struct plain_cache plain = { .sets = sets, .ways = ways, .line = size_of_line };
	struct mimic_cache cache, known;
	uint64_t range = 2ull * sets * ways * size_of_line;

	assert_int_equal(mimic_cache_init(&cache, (uint64_t)sets * ways * size_of_line, ways, size_of_line), 0);
	known = ways == 4 || ways == 8 ? mimic_cache_with_ways(&cache, (uint8_t)ways) : cache;
	for (int i = 0; i < 20000; i++) {
		uint64_t address = 0x40000000 + next_random() % range;

		if (next_random() % 16)
			access_both(next_random() % 2 ? &known : &cache, &plain, address);
		else
			drop_both(&cache, &plain, address);
	}
	mimic_cache_free(&cache);
}

static void test_hits_and_victims_are_those_of_lists(void **state)
{
	(void)state;
	compare(1, 1, 16);
	compare(1, 16, 64);
	compare(64, 1, 16);
	compare(16, 4, 16);
	compare(16, 8, 64);
	compare(8, 3, 64);
	compare(8, 6, 64);
}

static void test_peek_is_no_use(void **state)
{
	struct mimic_cache cache;

	(void)state;
	assert_int_equal(mimic_cache_init(&cache, 32, 2, 16), 0);
	mimic_cache_fill(&cache, mimic_cache_victim(&cache, 0), 0, MIMIC_CACHE_SHARED, 0);
	mimic_cache_fill(&cache, mimic_cache_victim(&cache, 16), 16, MIMIC_CACHE_SHARED, 0);
	assert_non_null(mimic_cache_peek(&cache, 0));
	assert_int_equal(mimic_cache_address(&cache, mimic_cache_victim(&cache, 32)), 0);
	assert_non_null(mimic_cache_find(&cache, 0));
	assert_int_equal(mimic_cache_address(&cache, mimic_cache_victim(&cache, 32)), 16);
	mimic_cache_free(&cache);
}

static void test_geometry_that_cannot_be_is_refused(void **state)
{
	struct mimic_cache cache;

	(void)state;
	assert_null(mimic_cache_geometry(65536, 8, 64));
	assert_null(mimic_cache_geometry(3 * 1024, 3, 64));
	assert_non_null(mimic_cache_geometry(65536, 8, 48));
	assert_non_null(mimic_cache_geometry(65536, 0, 64));
	assert_non_null(mimic_cache_geometry(0, 8, 64));
	assert_non_null(mimic_cache_geometry(65536, 3, 64));
	assert_non_null(mimic_cache_geometry(48 * 1024, 8, 64));
	assert_int_equal(mimic_cache_init(&cache, 48 * 1024, 8, 64), -22);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hits_and_victims_are_those_of_lists),
		cmocka_unit_test(test_peek_is_no_use),
		cmocka_unit_test(test_geometry_that_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
