/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Prints a dictionary for tests/fuzz/fuzz_registers.c: for each register of each kind the
 * beginning of a step that loads it, stores it, or both, from the kinds' tables.
 */
#include <stdio.h>

#include "libmimic/base/kinds.h"
#include "devices/register.h"
#include "tests/fuzz/registers_step.h"

extern const struct mimic_kind mimic_kind_template;

#define SIZES 4u

static void print_step(unsigned int page, uint32_t offset, unsigned int flags)
{
	printf("\"\\x%02x\\x%02x\\x%02x\\x%02x\"\n", flags, page, offset >> 8 & 0xff, offset & 0xff);
}

static void print_register(const struct mimic_register_block *block, const struct mimic_register *row,
			   unsigned int page, unsigned int unit)
{
	uint32_t offset = unit * block->size + row->offset;

	for (unsigned int size = 2; size < SIZES; size++) {
		if (row->access & block->access & MIMIC_REGISTER_R)
			print_step(page, offset, size << STEP_SIZE);
		if (row->access & block->access & MIMIC_REGISTER_W)
			print_step(page, offset, size << STEP_SIZE | STEP_WRITE);
	}
}

/* Its first page and unit: the others are like these. */
static void print_block(const struct mimic_register_block *block)
{
	for (size_t i = 0; i < block->count; i++)
		if (block->rows[i].name)
			print_register(block, &block->rows[i], block->page, 0);
}

int main(void)
{
	char reason[MIMIC_KIND_REASON_MAX];

	if (mimic_kind_register(&mimic_kind_template, reason, sizeof(reason))) {
		fprintf(stderr, "print-dictionary: %s\n", reason);
		return 1;
	}
	for (unsigned int i = 0; i < mimic_kind_count(); i++) {
		printf("# %s\n", mimic_kinds[i]->name);
		for (size_t k = 0; k < mimic_kinds[i]->block_count; k++)
			print_block(mimic_kinds[i]->blocks[k]);
	}
	return 0;
}
