/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "scripts/print-blocks.h"

#include <stdio.h>
#include <string.h>

static const char *const accesses[] = { "", "R", "W", "RW" };

/* Counters are listed with their meanings by themselves; a half of a register is in the text of the whole. */
static bool is_listed(const struct mimic_register *row)
{
	bool is_counter = row->shown == MIMIC_SHOWN_ELSEWHERE && row->count < 2;

	return row->name && !is_counter && !strchr(row->name, ' ');
}

void print_block(const char *title, const struct mimic_register_block *block)
{
	printf("\n## %s\n\n| offset | name | access | reset | meaning |\n"
	       "| --- | --- | --- | --- | --- |\n", title);
	for (size_t i = 0; i < block->count; i++) {
		const struct mimic_register *row = &block->rows[i];

		if (is_listed(row))
			printf("| 0x%03x | %s | %s | %llu | %s |\n", row->offset, row->name,
			       accesses[row->access], (unsigned long long)row->reset, row->meaning);
	}
}
