/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/soc/page_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_SHIFT 12
#define INDEX_BITS 9		/* of a table's 512 entries */
#define INDEX_MASK ((1u << INDEX_BITS) - 1)

/* 1 MB of the address space; what is never touched takes no memory. */
int mimic_page_table_init(struct mimic_page_table *table)
{
	memset(table, 0, sizeof(*table));
	table->middle = calloc((1u << INDEX_BITS) + (1u << (2 * INDEX_BITS)), sizeof(*table->middle));
	if (!table->middle)
		return -ENOMEM;
	table->leaf = table->middle + (1u << INDEX_BITS);
	table->count = 1;
	return 0;
}

void mimic_page_table_free(struct mimic_page_table *table)
{
	free(table->middle);
	memset(table, 0, sizeof(*table));
}

/* A table's number, which it gets now if it has none. */
static uint64_t number_of(struct mimic_page_table *table, uint32_t *number)
{
	if (!*number)
		*number = table->count++;
	return *number;
}

uint64_t mimic_page_table_entry(struct mimic_page_table *table, uint64_t address, unsigned int level)
{
	uint64_t page = address >> PAGE_SHIFT;
	uint64_t index = page >> (level * INDEX_BITS) & INDEX_MASK;
	/* Which of all tables of its level: the indices of the levels above. */
	uint64_t which = page >> ((level + 1) * INDEX_BITS) & ((1u << (2 - level) * INDEX_BITS) - 1);
	uint64_t number = 0;

	if (level == 1)
		number = number_of(table, &table->middle[which]);
	if (level == 0)
		number = number_of(table, &table->leaf[which]);
	return MIMIC_PAGE_TABLE_FIRST + (number << PAGE_SHIFT) + index * MIMIC_PAGE_TABLE_ENTRY;
}

uint64_t mimic_page_table_walk(struct mimic_page_table *table, uint64_t address, uint64_t now,
			       uint64_t (*read)(void *context, uint64_t entry, uint64_t now), void *context)
{
	for (unsigned int level = MIMIC_PAGE_TABLE_LEVELS; level-- > 0;)
		now = read(context, mimic_page_table_entry(table, address, level), now);
	return now;
}
