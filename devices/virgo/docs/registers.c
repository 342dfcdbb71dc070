/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Prints the page of Virgo's registers, commands, errors and counters from their lists. */
#include <stdint.h>
#include <stdio.h>

#include "devices/virgo/virgo_state.h"
#include "mimic/virgo_commands.h"
#include "mimic/virgo_registers.h"
#include "scripts/print-blocks.h"

struct row {
	unsigned int number;
	const char *name;
	const char *meaning;
};

#define _(number, name, meaning) { number, #name, meaning },
static const struct row errors[] = { VIRGO_ERRORS(_) };
#undef _
#define _(name, meaning) { VIRGO_COUNTER_##name, #name, meaning },
static const struct row counters[] = { VIRGO_COUNTERS(_) };
#undef _
#define _(funct, name, text, counter, meaning) { funct, #name, meaning },
static const struct row commands[] = { VIRGO_COMMANDS(_) };
#undef _

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void print_rows(const char *title, const char *what, const struct row *rows, size_t count)
{
	printf("\n## %s\n\n| %s | name | meaning |\n| --- | --- | --- |\n", title, what);
	for (size_t i = 0; i < count; i++)
		printf("| %u | %s | %s |\n", rows[i].number, rows[i].name, rows[i].meaning);
}

static void print_counters(void)
{
	printf("\n## Counters\n\nThe number is that of COUNTER_SELECT, for one unit; the offset is that of page 0, "
	       "for all units together.\n\n| number | offset | name | meaning |\n| --- | --- | --- | --- |\n");
	for (size_t i = 0; i < COUNT(counters); i++)
		printf("| %u | 0x%03x | %s | %s |\n", counters[i].number,
		       VIRGO_COUNTER_OFFSET + 8 * counters[i].number, counters[i].name,
		       counters[i].meaning);
}

int main(void)
{
	printf("# Registers of a Virgo cluster\n\n"
	       "Made from include/mimic/virgo_registers.h and virgo_commands.h by `make docs`. Do not edit.\n\n"
	       "R: load, W: store. [virgo.md](virgo.md) says what they do together. The shared memory is memory, mapped at\n"
	       "offset 0x%x of the cluster's node.\n", VIRGO_SHARED_OFFSET);
	printf("\n## Page 1: the units\n\nUnit i's block begins at 0x%x x i.\n", VIRGO_BLOCK_SIZE);
	print_block("A unit's block", &virgo_unit_block);
	print_rows("Commands", "funct", commands, COUNT(commands));
	print_rows("Errors", "value", errors, COUNT(errors));
	print_block("Page 0: the cluster", &virgo_control_block);
	printf("\nOf barrier n, 0 to %u, each 8 bytes after the one before:\n", VIRGO_BARRIERS - 1);
	print_block("Barriers", &virgo_barrier_block);
	print_counters();
	return 0;
}
