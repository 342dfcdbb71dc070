/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Prints the page of DARE's registers, errors and counters from their lists. */
#include <stdio.h>

#include "mimic/dare_registers.h"

struct reg {
	unsigned int offset;
	const char *name;
	const char *access;
	unsigned int reset;
	const char *meaning;
};

#define _(offset, name, access, reset, meaning) { offset, #name, #access, reset, meaning },
static const struct reg context_registers[] = { DARE_CONTEXT_REGISTERS(_) };
static const struct reg control_registers[] = { DARE_CONTROL_REGISTERS(_) };
#undef _

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

static void print_registers(const char *title, const struct reg *registers, size_t count)
{
	printf("\n## %s\n\n| offset | name | access | reset | meaning |\n"
	       "| --- | --- | --- | --- | --- |\n", title);
	for (size_t i = 0; i < count; i++)
		printf("| 0x%03x | %s | %s | %u | %s |\n", registers[i].offset, registers[i].name,
		       registers[i].access, registers[i].reset, registers[i].meaning);
}

int main(void)
{
	printf("# Registers of DARE\n\n"
	       "Made from include/mimic/dare_registers.h by `make docs`. Do not edit.\n\n"
	       "All have 64 bits. R: load, W: store. docs/dare.md says what they do together.\n");
	print_registers("A context: pages 1 to 15; page 0 of a program's own", context_registers,
			COUNT(context_registers));
	printf("\n## Counters of a context\n\n| offset | name | meaning |\n| --- | --- | --- |\n");
	for (size_t i = 0; i < COUNT(counters); i++)
		printf("| 0x%03x | %s | %s |\n", counters[i].number, counters[i].name, counters[i].meaning);
	printf("\n## Errors\n\n| value | name | meaning |\n| --- | --- | --- |\n");
	for (size_t i = 0; i < COUNT(errors); i++)
		printf("| %u | %s | %s |\n", errors[i].number, errors[i].name, errors[i].meaning);
	print_registers("Page 0: the operating system's", control_registers, COUNT(control_registers));
	return 0;
}
