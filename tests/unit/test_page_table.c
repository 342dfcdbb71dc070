/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Places of page tables: by hand from the figure of an Sv39 address in the RISC-V
 * privileged architecture (9 bits of index for each of three levels, 12 of the page), and
 * against a plain list of tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "devices/soc/cache.h"
#include "devices/soc/page_table.h"

#define FIRST MIMIC_PAGE_TABLE_FIRST
#define PAGE 4096ull
#define ENTRY 8ull
#define MEGAPAGE (512 * PAGE)		/* the reach of one table of the last level */
#define GIGAPAGE (512 * MEGAPAGE)	/* that of one table of the middle level */

static struct mimic_page_table open_table(void)
{
	struct mimic_page_table table;

	assert_int_equal(mimic_page_table_init(&table), 0);
	return table;
}

static void the_entries_of_an_address_are_those_of_its_three_indices(void **state)
{
	struct mimic_page_table table = open_table();
	uint64_t address = 3 * GIGAPAGE + 5 * MEGAPAGE + 7 * PAGE + 123;

	(void)state;
	assert_int_equal(mimic_page_table_entry(&table, address, 2), FIRST + 3 * ENTRY);
	assert_int_equal(mimic_page_table_entry(&table, address, 1), FIRST + 1 * PAGE + 5 * ENTRY);
	assert_int_equal(mimic_page_table_entry(&table, address, 0), FIRST + 2 * PAGE + 7 * ENTRY);
	mimic_page_table_free(&table);
}

static void addresses_of_one_page_have_one_entry(void **state)
{
	struct mimic_page_table table = open_table();

	(void)state;
	for (unsigned int level = 0; level < 3; level++)
		assert_int_equal(mimic_page_table_entry(&table, 9 * PAGE, level),
				 mimic_page_table_entry(&table, 9 * PAGE + 4095, level));
	mimic_page_table_free(&table);
}

static void pages_of_two_megabytes_share_their_last_table(void **state)
{
	struct mimic_page_table table = open_table();

	(void)state;
	assert_int_equal(mimic_page_table_entry(&table, 511 * PAGE, 0) - mimic_page_table_entry(&table, 0, 0),
			 511 * ENTRY);
	assert_int_equal(mimic_page_table_entry(&table, MEGAPAGE, 0), FIRST + 2 * PAGE);
	mimic_page_table_free(&table);
}

static void the_last_address_of_sv39_has_the_last_entries(void **state)
{
	struct mimic_page_table table = open_table();

	(void)state;
	for (unsigned int level = 0; level < 3; level++)
		assert_int_equal(mimic_page_table_entry(&table, (1ull << 39) - 1, level) % PAGE, 511 * ENTRY);
	mimic_page_table_free(&table);
}

/* Tables in the order of their first reads, found by looking through all of them. */
struct plain_list {
	struct {
		unsigned int level;
		uint64_t part;		/* of the address: the same for all pages below the table */
	} table[4096];
	unsigned int count;
};

static uint64_t plain_entry(struct plain_list *list, uint64_t address, unsigned int level)
{
	static const uint64_t reach[] = { MEGAPAGE, GIGAPAGE, 512 * GIGAPAGE };
	static const uint64_t step[] = { PAGE, MEGAPAGE, GIGAPAGE };
	uint64_t part = address / reach[level];
	unsigned int i;

	for (i = 0; i < list->count; i++)
		if (list->table[i].level == level && list->table[i].part == part)
			break;
	if (i == list->count) {
		list->table[i].level = level;
		list->table[i].part = part;
		list->count++;
	}
	return FIRST + i * PAGE + address % reach[level] / step[level] * ENTRY;
}

static void random_walks_read_what_a_plain_list_of_tables_says(void **state)
{
	struct mimic_page_table table = open_table();
	static struct plain_list list;
	uint64_t random = 88172645463325252ull;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		/* Some 8 GB, so that tables are met again. */
		for (unsigned int level = 3; level-- > 0;)
			assert_int_equal(mimic_page_table_entry(&table, random % (8 * GIGAPAGE), level),
					 plain_entry(&list, random % (8 * GIGAPAGE), level));
	}
	assert_int_equal(table.count, list.count);
	mimic_page_table_free(&table);
}

/* Memory of 300 cycles behind a cache of 30 with lines of 64 bytes. */
struct memory {
	struct mimic_cache cache;
	unsigned int reads, misses;
};

static uint64_t read_entry(void *context, uint64_t entry, uint64_t now)
{
	struct memory *memory = context;

	memory->reads++;
	if (mimic_cache_find(&memory->cache, entry))
		return now + 30;
	memory->misses++;
	mimic_cache_fill(&memory->cache, mimic_cache_victim(&memory->cache, entry), entry, MIMIC_CACHE_SHARED, 0);
	return now + 330;
}

static void a_cold_walk_reads_memory_three_times_and_then_upper_levels_hit(void **state)
{
	struct mimic_page_table table = open_table();
	struct memory memory = { 0 };

	(void)state;
	assert_int_equal(mimic_cache_init(&memory.cache, 65536, 8, 64), 0);
	assert_int_equal(mimic_page_table_walk(&table, 0, 1000, read_entry, &memory), 1000 + 3 * 330);
	assert_int_equal(memory.misses, 3);
	/* A line has the entries of 8 pages. */
	assert_int_equal(mimic_page_table_walk(&table, 7 * PAGE, 5000, read_entry, &memory), 5000 + 3 * 30);
	assert_int_equal(mimic_page_table_walk(&table, 8 * PAGE, 6000, read_entry, &memory), 6000 + 2 * 30 + 330);
	/* Another table of the last level; its entry in the middle lies beside the first one's. */
	assert_int_equal(mimic_page_table_walk(&table, MEGAPAGE, 7000, read_entry, &memory), 7000 + 2 * 30 + 330);
	assert_int_equal(memory.reads, 12);
	mimic_cache_free(&memory.cache);
	mimic_page_table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_entries_of_an_address_are_those_of_its_three_indices),
		cmocka_unit_test(addresses_of_one_page_have_one_entry),
		cmocka_unit_test(pages_of_two_megabytes_share_their_last_table),
		cmocka_unit_test(the_last_address_of_sv39_has_the_last_entries),
		cmocka_unit_test(random_walks_read_what_a_plain_list_of_tables_says),
		cmocka_unit_test(a_cold_walk_reads_memory_three_times_and_then_upper_levels_hit),
	};

	return cmocka_run_group_tests_name("page_table", tests, NULL, NULL);
}
