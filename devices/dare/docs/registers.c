/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Prints the page of DARE's registers, errors and counters from their lists. */
#include <stdio.h>

#include "devices/dare/dare_state.h"
#include "mimic/dare_registers.h"
#include "scripts/print-blocks.h"

struct row {
	unsigned int number;
	const char *name;
	const char *meaning;
};

#define _(number, name, meaning) { number, #name, meaning },
static const struct row errors[] = { DARE_ERRORS(_) };
#undef _
#define _(name, meaning) { DARE_COUNTER_OFFSET + 8 * DARE_COUNTER_##name, #name, meaning },
static const struct row counters[] = { DARE_COUNTERS(_) };
#undef _

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

int main(void)
{
	printf("# Registers of DARE\n\n"
	       "Made from include/mimic/dare_registers.h by `make docs`. Do not edit.\n\n"
	       "All have 64 bits. R: load, W: store. [dare.md](dare.md) says what they do together.\n");
	print_block("A context: pages 1 to 15; page 0 of a program's own", &dare_context_block);
	printf("\n## Counters of a context\n\n| offset | name | meaning |\n| --- | --- | --- |\n");
	for (size_t i = 0; i < COUNT(counters); i++)
		printf("| 0x%03x | %s | %s |\n", counters[i].number, counters[i].name, counters[i].meaning);
	printf("\n## Errors\n\n| value | name | meaning |\n| --- | --- | --- |\n");
	for (size_t i = 0; i < COUNT(errors); i++)
		printf("| %u | %s | %s |\n", errors[i].number, errors[i].name, errors[i].meaning);
	print_block("Page 0: the operating system's", &dare_control_block);
	return 0;
}
