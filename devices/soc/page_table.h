/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The places of Sv39 page tables, for models that walk them in time. A walk reads one
 * entry of 8 bytes in each of three tables, and each read needs the one before: the root
 * says where the next table lies (RISC-V privileged architecture, section "Sv39").
 *
 * There is no content, only places: a table gets the next page of physical memory behind
 * all data when it is read for the first time. So where tables lie depends on the order of
 * walks alone.
 */
#ifndef MIMIC_DEVICES_PAGE_TABLE_H
#define MIMIC_DEVICES_PAGE_TABLE_H

#include <stdint.h>

#define MIMIC_PAGE_TABLE_LEVELS 3
#define MIMIC_PAGE_TABLE_ENTRY 8	/* bytes */
#define MIMIC_PAGE_TABLE_SHIFT 12
#define MIMIC_PAGE_TABLE_INDEX_BITS 9	/* of a table's 512 entries */
/* The first address behind those that Sv39 has for data. */
#define MIMIC_PAGE_TABLE_FIRST (1ull << 39)

struct mimic_page_table {
	uint32_t *middle, *leaf;	/* by index: which table it is, counted from 1 (the root is 0); 0: none yet */
	uint32_t count;			/* tables that have a place */
};

/* 0 or -ENOMEM. */
int mimic_page_table_init(struct mimic_page_table *table);
void mimic_page_table_free(struct mimic_page_table *table);

/* A table's number, which it gets now if it has none. */
static inline uint64_t mimic_page_table_number(struct mimic_page_table *table, uint32_t *number)
{
	if (!*number)
		*number = table->count++;
	return *number;
}

/*
 * Where the entry lies that a walk for the virtual `address` reads at `level`: 2 is the
 * root's, 0 the one that names the page. Bits of the address above 38 do not count.
 */
static inline uint64_t mimic_page_table_entry(struct mimic_page_table *table, uint64_t address, unsigned int level)
{
	const uint64_t mask = (1u << MIMIC_PAGE_TABLE_INDEX_BITS) - 1;
	uint64_t page = address >> MIMIC_PAGE_TABLE_SHIFT;
	uint64_t above = page >> MIMIC_PAGE_TABLE_INDEX_BITS, number = 0, index;

	/* Which of all tables of its level: the indices of the levels above. */
	if (level == 0) {
		number = mimic_page_table_number(table, &table->leaf[above & (mask << MIMIC_PAGE_TABLE_INDEX_BITS | mask)]);
		index = page & mask;
	} else if (level == 1) {
		number = mimic_page_table_number(table, &table->middle[above >> MIMIC_PAGE_TABLE_INDEX_BITS & mask]);
		index = above & mask;
	} else {
		index = above >> MIMIC_PAGE_TABLE_INDEX_BITS & mask;
	}
	return MIMIC_PAGE_TABLE_FIRST + (number << MIMIC_PAGE_TABLE_SHIFT) + index * MIMIC_PAGE_TABLE_ENTRY;
}

/* A walk that begins at `now`: `read` says when the data of a read that begins at its `now` is there. */
uint64_t mimic_page_table_walk(struct mimic_page_table *table, uint64_t address, uint64_t now,
			       uint64_t (*read)(void *context, uint64_t entry, uint64_t now), void *context);

#endif
