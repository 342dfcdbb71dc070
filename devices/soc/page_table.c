/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/soc/page_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_BITS MIMIC_PAGE_TABLE_INDEX_BITS

/* 1 MB of the address space; pages that are never accessed take no memory. */
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

uint64_t mimic_page_table_walk(struct mimic_page_table *table, uint64_t address, uint64_t now,
			       uint64_t (*read)(void *context, uint64_t entry, uint64_t now), void *context)
{
	for (unsigned int level = MIMIC_PAGE_TABLE_LEVELS; level-- > 0;)
		now = read(context, mimic_page_table_entry(table, address, level), now);
	return now;
}
