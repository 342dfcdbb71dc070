/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Prints the page of Virgo's registers, commands, errors and counters from their lists. */
#include <stdint.h>
#include <stdio.h>

#include "mimic/virgo_commands.h"
#include "mimic/virgo_registers.h"

struct reg {
	unsigned int offset;
	const char *name;
	const char *access;
	unsigned int reset;
	const char *meaning;
};

#define _(offset, name, access, reset, meaning) { offset, #name, #access, reset, meaning },
static const struct reg unit_registers[] = { VIRGO_UNIT_REGISTERS(_) };
static const struct reg control_registers[] = { VIRGO_CONTROL_REGISTERS(_) };
#undef _

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
#define _(funct, name, text, meaning) { funct, #name, meaning },
static const struct row commands[] = { VIRGO_COMMANDS(_) };
#undef _

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void print_registers(const char *title, const struct reg *registers, size_t count)
{
	printf("\n## %s\n\n| offset | name | access | reset | meaning |\n"
	       "| --- | --- | --- | --- | --- |\n", title);
	for (size_t i = 0; i < count; i++)
		printf("| 0x%03x | %s | %s | %u | %s |\n", registers[i].offset, registers[i].name,
		       registers[i].access, registers[i].reset, registers[i].meaning);
}

static void print_barriers(void)
{
	printf("\nOf barrier n, 0 to %u, each 8 bytes after the one before:\n\n"
	       "| offset | name | access | meaning |\n| --- | --- | --- | --- |\n", VIRGO_BARRIERS - 1);
	printf("| 0x%03x | PARTICIPANTS(n) | RW | how many have to arrive, 1 to 255; 0 (after reset): "
	       "as many as the cluster has cores |\n", VIRGO_BARRIER_PARTICIPANTS(0));
	printf("| 0x%03x | WAIT(n) | R | arrives and waits until all have; answers how often this barrier "
	       "had opened before |\n", VIRGO_BARRIER_WAIT(0));
	printf("| 0x%03x | STATUS(n) | R | arrived [7:0], how often it has opened [63:8] |\n",
	       VIRGO_BARRIER_STATUS(0));
}

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
	       "R: load, W: store. docs/virgo.md says what they do together. The shared memory is memory, mapped at\n"
	       "offset 0x%x of the cluster's node.\n", VIRGO_SHARED_OFFSET);
	printf("\n## Page 1: the units\n\nUnit i's block begins at 0x%x x i.\n", VIRGO_BLOCK_SIZE);
	print_registers("A unit's block", unit_registers, COUNT(unit_registers));
	print_rows("Commands", "funct", commands, COUNT(commands));
	print_rows("Errors", "value", errors, COUNT(errors));
	print_registers("Page 0: the cluster", control_registers, COUNT(control_registers));
	print_barriers();
	print_counters();
	return 0;
}
