/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Prints the page of MAPLE's registers, counters and quirks from their lists. */
#include <stdio.h>

#include "devices/maple/maple_model.h"

struct row {
	unsigned int number;
	const char *name;
	const char *meaning;
};

#define _(number, name, meaning) { number, #name, meaning },
static const struct row pages[] = { MAPLE_PAGES(_) };
static const struct row quirks[] = { MAPLE_QUIRKS(_) };
#undef _
#define _(number, name, role, how, meaning) { number, #name, meaning },
static const struct row loads[] = { MAPLE_LOADS(_) };
static const struct row stores[] = { MAPLE_STORES(_) };
static const struct row extension_loads[] = { MAPLE_EXTENSION_LOADS(_) };
static const struct row extension_stores[] = { MAPLE_EXTENSION_STORES(_) };
#undef _
#define _(name, meaning) { 0, #name, meaning },
static const struct row counters[] = { MAPLE_COUNTERS(_) };
#undef _

#define ROWS(table) (table), sizeof(table) / sizeof((table)[0])

static void print_table(const char *title, const char *number, const struct row *rows, size_t count)
{
	printf("\n## %s\n\n", title);
	if (number)
		printf("| %s | name | meaning |\n| --- | --- | --- |\n", number);
	else
		printf("| name | meaning |\n| --- | --- |\n");
	for (size_t i = 0; i < count; i++) {
		if (number)
			printf("| %u ", rows[i].number);
		printf("| %s | %s |\n", rows[i].name, rows[i].meaning);
	}
}

static void print_page(void)
{
	printf("# Registers of MAPLE\n\n"
	       "Made from include/mimic/maple_registers.h by `make docs`. Do not edit.\n\n"
	       "An address in a page is [11:9] queue (or sub-operation, or size code), [8:3] operation\n"
	       "code, [2:0] ignored. [maple.md](maple.md) says what the operations do.\n");
	print_table("Pages", "page", ROWS(pages));
	print_table("Loads", "code", ROWS(loads));
	print_table("Stores", "code", ROWS(stores));
	print_table("Loads of the paper profile", "code", ROWS(extension_loads));
	print_table("Stores of the paper profile", "code", ROWS(extension_stores));
	print_table("Counters", NULL, ROWS(counters));
	print_table("Quirks of the artifact profile", NULL, ROWS(quirks));
}

int main(void)
{
	print_page();
	return 0;
}
