/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Walks of page tables: single ones by hand from the manuals, and tables made at random
 * against a second walker, which is written from the manuals' steps by itself and shares no line
 * with the first.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/vfio/page_walk.h"

#define PAGES 48u
#define RAM_START 0x80000000ull
#define WORDS (PAGES * 512u)

static uint64_t ram[WORDS];
/* If it is not 0: the entry that is asked for at this count is changed by "another processor" right after. */
static unsigned int change_at, asked;
static uint64_t change_to;
static uint64_t *changed;

static uint64_t *entry(void *context, uint64_t physical)
{
	(void)context;
	assert_int_equal(physical % 8, 0);
	if (physical < RAM_START || physical >= RAM_START + sizeof(ram))
		return NULL;
	return &ram[(physical - RAM_START) / 8];
}

static uint64_t table_at(unsigned int page)
{
	return RAM_START + page * 4096ull;
}

static struct mimicd_page_tables tables_of(enum mimicd_walk_mode mode)
{
	return (struct mimicd_page_tables){ .mode = mode, .root = table_at(0), .entry = entry };
}

static int setup(void **state)
{
	(void)state;
	memset(ram, 0, sizeof(ram));
	change_at = asked = 0;
	return 0;
}

static void put(unsigned int page, unsigned int index, uint64_t value)
{
	ram[page * 512 + index] = value;
}

static uint64_t get(unsigned int page, unsigned int index)
{
	return ram[page * 512 + index];
}

/* --- by hand: x86-64 ----------------------------------------------------------------- */

/* Present, writable, user. */
#define X86 7ull

/* The path of 0x00007f80c0a07123 with 4 levels: indices 255, 3, 5, 7; offset 0x123. */
#define X86_ADDRESS ((255ull << 39) | (3ull << 30) | (5ull << 21) | (7ull << 12) | 0x123)

static void put_x86_path(uint64_t last)
{
	put(0, 255, table_at(1) | X86);
	put(1, 3, table_at(2) | X86);
	put(2, 5, table_at(3) | X86);
	put(3, 7, last);
}

static void x86_of_4_levels_translates_a_page_of_4_kb(void **state)
{
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_X86_4);
	struct mimicd_walk walk;

	(void)state;
	put_x86_path(0x8000012345000ull | X86 | 1ull << 63);	/* not to be executed: no matter */
	assert_int_equal(mimicd_page_walk(&tables, X86_ADDRESS, false, &walk), 0);
	assert_int_equal(walk.physical, 0x8000012345123ull);
	assert_int_equal(walk.size, 4096);
	assert_true(walk.is_writable);
	assert_false(walk.is_dirty);
}

static void x86_loads_set_accessed_and_stores_dirty(void **state)
{
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_X86_4);
	struct mimicd_walk walk;

	(void)state;
	put_x86_path(0x5000ull | X86);
	assert_int_equal(mimicd_page_walk(&tables, X86_ADDRESS, false, &walk), 0);
	assert_int_equal(get(0, 255), table_at(1) | X86 | 0x20);
	assert_int_equal(get(1, 3), table_at(2) | X86 | 0x20);
	assert_int_equal(get(2, 5), table_at(3) | X86 | 0x20);
	assert_int_equal(get(3, 7), 0x5000 | X86 | 0x20);
	assert_int_equal(mimicd_page_walk(&tables, X86_ADDRESS, true, &walk), 0);
	assert_int_equal(get(2, 5), table_at(3) | X86 | 0x20);
	assert_int_equal(get(3, 7), 0x5000 | X86 | 0x60);
	assert_true(walk.is_dirty);
}

static void x86_large_pages_are_of_2_mb_and_1_gb(void **state)
{
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_X86_4);
	struct mimicd_walk walk;

	(void)state;
	put_x86_path(0);
	/* Bit 12 is the memory's type there. */
	put(2, 5, 0x40000000ull | X86 | 0x80 | 0x1000);
	assert_int_equal(mimicd_page_walk(&tables, X86_ADDRESS, false, &walk), 0);
	assert_int_equal(walk.physical, 0x40007123);
	assert_int_equal(walk.size, 2 << 20);
	put(1, 3, 0x140000000ull | X86 | 0x80);
	assert_int_equal(mimicd_page_walk(&tables, X86_ADDRESS, false, &walk), 0);
	assert_int_equal(walk.physical, 0x140a07123ull);
	assert_int_equal(walk.size, 1 << 30);
}

static void x86_reserved_entries_are_faults(void **state)
{
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_X86_4);
	struct mimicd_walk walk;

	(void)state;
	put_x86_path(0);
	put(2, 5, 0x40000000ull | X86 | 0x80 | 0x2000);	/* no multiple of 2 MB */
	assert_int_equal(mimicd_page_walk(&tables, X86_ADDRESS, false, &walk), -EFAULT);
	put_x86_path(0x5000 | X86);
	put(0, 255, table_at(1) | X86 | 0x80);	/* no pages of 512 GB */
	assert_int_equal(mimicd_page_walk(&tables, X86_ADDRESS, false, &walk), -EFAULT);
}

static void x86_the_user_and_write_bits_of_all_levels_count(void **state)
{
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_X86_4);
	struct mimicd_walk walk;

	(void)state;
	put_x86_path(0x5000ull | X86);
	put(1, 3, table_at(2) | 5);	/* not to be written */
	assert_int_equal(mimicd_page_walk(&tables, X86_ADDRESS, false, &walk), 0);
	assert_false(walk.is_writable);
	assert_int_equal(mimicd_page_walk(&tables, X86_ADDRESS, true, &walk), -EFAULT);
	assert_int_equal(get(3, 7) & 0x40, 0);
	put(1, 3, table_at(2) | 3);	/* the kernel's */
	assert_int_equal(mimicd_page_walk(&tables, X86_ADDRESS, false, &walk), -EFAULT);
}

static void x86_of_5_levels_has_one_more_table(void **state)
{
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_X86_5);
	struct mimicd_walk walk;
	uint64_t address = 0x00123ull | 2ull << 12 | 9ull << 48 | 1ull << 39;

	(void)state;
	put(0, 9, table_at(1) | X86);
	put(1, 1, table_at(2) | X86);
	put(2, 0, table_at(3) | X86);
	put(3, 0, table_at(4) | X86);
	put(4, 2, 0x7000 | X86);
	assert_int_equal(mimicd_page_walk(&tables, address, true, &walk), 0);
	assert_int_equal(walk.physical, 0x7123);
	tables.mode = MIMICD_WALK_X86_4;	/* bit 48 is none that 4 levels translate */
	assert_int_equal(mimicd_page_walk(&tables, address, true, &walk), -EFAULT);
}

/* --- by hand: RISC-V ----------------------------------------------------------------- */

/* Valid, readable, writable, of user space, and as a table. */
#define RV_PAGE 0x17ull
#define RV_TABLE 1ull

static uint64_t rv(uint64_t physical, uint64_t bits)
{
	return physical >> 12 << 10 | bits;
}

/* Indices 3, 5, 7; offset 0x123. */
#define RV_ADDRESS ((3ull << 30) | (5ull << 21) | (7ull << 12) | 0x123)

static void put_rv_path(uint64_t last)
{
	put(0, 3, rv(table_at(1), RV_TABLE));
	put(1, 5, rv(table_at(2), RV_TABLE));
	put(2, 7, last);
}

static void sv39_translates_pages_of_4_kb_2_mb_and_1_gb(void **state)
{
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_SV39);
	struct mimicd_walk walk;

	(void)state;
	put_rv_path(rv(0x80123000, RV_PAGE));
	assert_int_equal(mimicd_page_walk(&tables, RV_ADDRESS, false, &walk), 0);
	assert_int_equal(walk.physical, 0x80123123);
	assert_int_equal(walk.size, 4096);
	put(1, 5, rv(0x80400000, RV_PAGE));
	assert_int_equal(mimicd_page_walk(&tables, RV_ADDRESS, false, &walk), 0);
	assert_int_equal(walk.physical, 0x80407123);
	put(1, 5, rv(0x80401000, RV_PAGE));	/* a misaligned superpage */
	assert_int_equal(mimicd_page_walk(&tables, RV_ADDRESS, false, &walk), -EFAULT);
	put(0, 3, rv(0xc0000000, RV_PAGE));
	assert_int_equal(mimicd_page_walk(&tables, RV_ADDRESS, false, &walk), 0);
	assert_int_equal(walk.physical, 0xc0a07123);
	assert_int_equal(walk.size, 1 << 30);
}

static void riscv_marks_only_the_last_entry(void **state)
{
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_SV39);
	struct mimicd_walk walk;

	(void)state;
	put_rv_path(rv(0x80123000, RV_PAGE));
	assert_int_equal(mimicd_page_walk(&tables, RV_ADDRESS, false, &walk), 0);
	assert_int_equal(get(2, 7), rv(0x80123000, RV_PAGE | 0x40));
	assert_int_equal(mimicd_page_walk(&tables, RV_ADDRESS, true, &walk), 0);
	assert_int_equal(get(2, 7), rv(0x80123000, RV_PAGE | 0xc0));
	assert_int_equal(get(0, 3), rv(table_at(1), RV_TABLE));
	assert_int_equal(get(1, 5), rv(table_at(2), RV_TABLE));
}

static void svnapot_pages_are_of_64_kb(void **state)
{
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_SV39);
	struct mimicd_walk walk;

	(void)state;
	/* The low four bits of the number are 8: a page of 64 KB, at 0x80120000. */
	put_rv_path(rv(0x80128000, RV_PAGE | 1ull << 63));
	assert_int_equal(mimicd_page_walk(&tables, RV_ADDRESS, false, &walk), 0);
	assert_int_equal(walk.physical, 0x80127123);
	assert_int_equal(walk.size, 64 << 10);
	put_rv_path(rv(0x80124000, RV_PAGE | 1ull << 63));	/* another size is reserved */
	assert_int_equal(mimicd_page_walk(&tables, RV_ADDRESS, false, &walk), -EFAULT);
}

static void svpbmt_types_are_no_address(void **state)
{
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_SV39);
	struct mimicd_walk walk;

	(void)state;
	put_rv_path(rv(0x80123000, RV_PAGE | 1ull << 61));
	assert_int_equal(mimicd_page_walk(&tables, RV_ADDRESS, false, &walk), 0);
	assert_int_equal(walk.physical, 0x80123123);
	put_rv_path(rv(0x80123000, RV_PAGE | 3ull << 61));	/* reserved */
	assert_int_equal(mimicd_page_walk(&tables, RV_ADDRESS, false, &walk), -EFAULT);
}

static void riscv_pages_that_loads_must_not_reach_are_faults(void **state)
{
	static const uint64_t bits[] = {
		0x13 & ~2ull,	/* neither readable nor writable nor executable, at the last level: no table */
		0x15,		/* writable and not readable: reserved */
		0x19,		/* only executable */
		0x07,		/* the kernel's */
		0x16,		/* not valid */
		RV_PAGE | 1ull << 54,	/* a reserved bit */
	};
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_SV39);
	struct mimicd_walk walk;

	(void)state;
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		put_rv_path(rv(0x80123000, bits[i]));
		assert_int_equal(mimicd_page_walk(&tables, RV_ADDRESS, false, &walk), -EFAULT);
		assert_int_equal(get(2, 7), rv(0x80123000, bits[i]));
	}
}

static void riscv_tables_with_bits_of_pages_are_faults(void **state)
{
	static const uint64_t bits[] = { 0x10, 0x40, 0x80, 1ull << 61, 1ull << 63 };
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_SV39);
	struct mimicd_walk walk;

	(void)state;
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		put_rv_path(rv(0x80123000, RV_PAGE));
		put(1, 5, rv(table_at(2), RV_TABLE | bits[i]));
		assert_int_equal(mimicd_page_walk(&tables, RV_ADDRESS, false, &walk), -EFAULT);
	}
}

/* --- errors -------------------------------------------------------------------------- */

static void a_table_outside_of_memory_is_said_to_be(void **state)
{
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_X86_4);
	struct mimicd_walk walk;

	(void)state;
	put(0, 255, 0x1000ull | X86);
	assert_int_equal(mimicd_page_walk(&tables, X86_ADDRESS, false, &walk), -ENXIO);
	tables.root = 0x1000;
	assert_int_equal(mimicd_page_walk(&tables, X86_ADDRESS, false, &walk), -ENXIO);
}

static void modes_that_do_not_exist_translate_nothing(void **state)
{
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_NONE);
	struct mimicd_walk walk;
	unsigned int count = 0;

	(void)state;
	assert_int_equal(mimicd_page_walk(&tables, 0x1000, false, &walk), -EFAULT);
	for (uint64_t mode = 0; mode < 100; mode++)
		count += mimicd_walk_is_mode(mode);
	assert_int_equal(count, 5);
	assert_false(mimicd_walk_is_mode(1ull << 32 | 4));
}

/* The entry of the last level changes after it was read and before it is marked. */
static uint64_t *changing_entry(void *context, uint64_t physical)
{
	uint64_t *place = entry(context, physical);

	if (changed && change_at == ++asked) {
		*changed = change_to;
		changed = NULL;
	}
	return place;
}

static void an_entry_that_changes_meanwhile_is_walked_again(void **state)
{
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_X86_4);
	struct mimicd_walk walk;

	(void)state;
	put_x86_path(0x5000ull | X86);
	/*
	 * While the third table is asked for, the second's entry that was read already becomes
	 * another: the accessed bit must not be set in the old one.
	 */
	tables.entry = changing_entry;
	put(10, 5, table_at(11) | X86);
	put(11, 7, 0x9000ull | X86);
	changed = &ram[1 * 512 + 3];
	change_to = table_at(10) | X86;
	change_at = 3;
	assert_int_equal(mimicd_page_walk(&tables, X86_ADDRESS, true, &walk), 0);
	assert_int_equal(walk.physical, 0x9123);
	assert_int_equal(get(1, 3), table_at(10) | X86 | 0x20);
	assert_int_equal(get(3, 7), 0x5000ull | X86);
	assert_int_equal(get(11, 7), 0x9000ull | X86 | 0x60);
}

static uint64_t *restless_entry(void *context, uint64_t physical)
{
	uint64_t *place = entry(context, physical);

	/* Whichever it is, the topmost changes a bit that is software's. */
	ram[255] ^= 1ull << 52;
	return place;
}

static void tables_that_never_rest_are_given_up(void **state)
{
	struct mimicd_page_tables tables = tables_of(MIMICD_WALK_X86_4);
	struct mimicd_walk walk;

	(void)state;
	put_x86_path(0x5000ull | X86);
	/* Three changes after the topmost entry is read, an odd number: it never has its old value. */
	tables.entry = restless_entry;
	assert_int_equal(mimicd_page_walk(&tables, X86_ADDRESS, false, &walk), -EAGAIN);
}

/* --- at random ------------------------------------------------------------------------ */

struct expected {
	int result;
	uint64_t physical, size;
	bool writable;
	unsigned int marks;
	uint64_t *place[5];
	uint64_t bits[5];
};

static unsigned int field(uint64_t word, unsigned int low, unsigned int count)
{
	return (unsigned int)(word >> low & ((1ull << count) - 1));
}

static void expect_mark(struct expected *e, uint64_t *place, uint64_t bits)
{
	e->place[e->marks] = place;
	e->bits[e->marks++] = bits;
}

/* Recursive, one level a call: Intel's manual, figures 4-8 and 4-11. */
static int second_x86(struct expected *e, unsigned int level, uint64_t table, uint64_t address, bool store)
{
	uint64_t *place = entry(NULL, table + 8 * field(address, 12 + 9 * (level - 1), 9));
	uint64_t low = (1ull << (12 + 9 * (level - 1))) - 1;
	bool leaf;

	if (!place)
		return -ENXIO;
	leaf = level == 1 || field(*place, 7, 1);
	if (!field(*place, 0, 1) || !field(*place, 2, 1))
		return -EFAULT;
	if (!field(*place, 1, 1))
		e->writable = false;
	if (!leaf) {
		expect_mark(e, place, 0x20);
		return second_x86(e, level - 1, (*place & 0xfffffffffffffull) & ~0xfffull, address, store);
	}
	if (level > 3 || (level > 1 && *place & low & ~0x1fffull))
		return -EFAULT;
	if (store && !e->writable)
		return -EFAULT;
	expect_mark(e, place, store ? 0x60 : 0x20);
	e->size = low + 1;
	e->physical = (*place & 0xfffffffffffffull & ~low) | (address & low);
	return 0;
}

/* The privileged specification's "Virtual Address Translation Process", step by step. */
static int second_riscv(struct expected *e, unsigned int levels, uint64_t root, uint64_t address, bool store)
{
	uint64_t a = root, pte = 0, *place = NULL, ppn;
	int i = (int)levels - 1;

	for (;; i--) {
		if (i < 0)
			return -EFAULT;
		place = entry(NULL, a + 8 * field(address, 12 + 9 * (unsigned int)i, 9));
		if (!place)
			return -ENXIO;
		pte = *place;
		if (!field(pte, 0, 1) || field(pte, 1, 2) == 2 || field(pte, 54, 7))
			return -EFAULT;
		if (field(pte, 1, 1) || field(pte, 3, 1))
			break;
		if (field(pte, 4, 1) || field(pte, 6, 2) || field(pte, 61, 3))
			return -EFAULT;
		a = (pte >> 10 & 0xfffffffffffull) * 4096;
	}
	ppn = pte >> 10 & 0xfffffffffffull;
	if (!field(pte, 4, 1) || !field(pte, 1, 1) || field(pte, 61, 2) == 3)
		return -EFAULT;
	e->writable = field(pte, 2, 1);
	if (store && !e->writable)
		return -EFAULT;
	if (i > 0 && field(ppn, 0, 9 * (unsigned int)i))
		return -EFAULT;
	e->size = 4096ull << (9 * i);
	if (field(pte, 63, 1)) {
		if (i > 0 || field(ppn, 0, 4) != 8)
			return -EFAULT;
		ppn &= ~15ull;
		e->size = 65536;
	}
	expect_mark(e, place, store ? 0xc0 : 0x40);
	e->physical = ppn * 4096 + address % e->size;
	return 0;
}

static unsigned int levels_of_mode(enum mimicd_walk_mode mode)
{
	switch (mode) {
	case MIMICD_WALK_SV39:
		return 3;
	case MIMICD_WALK_X86_5:
	case MIMICD_WALK_SV57:
		return 5;
	default:
		return 4;
	}
}

static bool is_riscv(enum mimicd_walk_mode mode)
{
	return mode >= MIMICD_WALK_SV39;
}

static uint64_t random_word(void)
{
	uint64_t word = 0;

	for (int i = 0; i < 4; i++)
		word = word << 16 ^ (uint64_t)rand();
	return word;
}

/* Most entries are good ones that lead on; each of a few has one bit at random turned. */
static uint64_t random_entry(bool riscv)
{
	uint64_t page = RAM_START / 4096 + (unsigned int)rand() % (PAGES + 1);
	bool leaf = rand() % 4 == 0;
	uint64_t value;

	if (leaf && rand() % 2)
		page &= ~0x1ffull;	/* may be a large one */
	if (leaf && rand() % 8 == 0)
		page = 0x80000 << 3;	/* of 1 GB, too */
	if (riscv)
		value = page << 10 | (leaf ? 0x17 | (uint64_t)(rand() % 16) << 4 : 1);
	else
		value = page << 12 | 7 | (leaf ? (uint64_t)(rand() % 2) << 7 : 0) | (uint64_t)(rand() % 4) << 5;
	if (riscv && leaf && rand() % 8 == 0)
		value = (value & ~(15ull << 10)) | 8ull << 10 | 1ull << 63;
	if (rand() % 6 == 0)
		value ^= 1ull << (rand() % 64);
	return value;
}

static uint64_t random_address(unsigned int levels)
{
	uint64_t address = random_word() & ((1ull << (11 + 9 * levels)) - 1);

	/* Few indices, so that walks share tables; rarely one that is not canonical. */
	for (unsigned int i = 0; i < levels; i++)
		address &= ~(0x1f0ull << (12 + 9 * i));
	return rand() % 50 ? address : address | 1ull << 63;
}

static void hold_against(enum mimicd_walk_mode mode, uint64_t address, bool store, uint64_t seen[3])
{
	struct mimicd_page_tables tables = tables_of(mode);
	unsigned int levels = levels_of_mode(mode);
	struct expected e = { .writable = true };
	static uint64_t before[WORDS];
	struct mimicd_walk walk;
	int result;

	if (address >> 63)
		e.result = -EFAULT;
	else if (is_riscv(mode))
		e.result = second_riscv(&e, levels, tables.root, address, store);
	else
		e.result = second_x86(&e, levels, tables.root, address, store);
	memcpy(before, ram, sizeof(ram));
	result = mimicd_page_walk(&tables, address, store, &walk);
	assert_int_equal(result, e.result);
	seen[result == 0 ? 0 : result == -EFAULT ? 1 : 2]++;
	for (unsigned int i = 0; !result && i < e.marks; i++)
		before[e.place[i] - ram] |= e.bits[i];
	assert_memory_equal(before, ram, sizeof(ram));
	if (result)
		return;
	assert_int_equal(walk.physical, e.physical);
	assert_int_equal(walk.size, e.size);
	assert_int_equal(walk.is_writable, e.writable);
}

static void tables_at_random_are_walked_as_the_manuals_say(void **state)
{
	static const enum mimicd_walk_mode modes[] = {
		MIMICD_WALK_X86_4, MIMICD_WALK_X86_5, MIMICD_WALK_SV39, MIMICD_WALK_SV48, MIMICD_WALK_SV57,
	};

	(void)state;
	srand(1);
	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
		uint64_t seen[3] = { 0 };

		for (int round = 0; round < 40; round++) {
			for (size_t i = 0; i < WORDS; i++)
				ram[i] = random_entry(is_riscv(modes[m]));
			for (int i = 0; i < 100; i++)
				hold_against(modes[m], random_address(levels_of_mode(modes[m])), rand() % 2, seen);
		}
		/* Good walks, faults and tables that are nowhere: enough of each. */
		assert_true(seen[0] > 400);
		assert_true(seen[1] > 400);
		assert_true(seen[2] > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(x86_of_4_levels_translates_a_page_of_4_kb, setup),
		cmocka_unit_test_setup(x86_loads_set_accessed_and_stores_dirty, setup),
		cmocka_unit_test_setup(x86_large_pages_are_of_2_mb_and_1_gb, setup),
		cmocka_unit_test_setup(x86_reserved_entries_are_faults, setup),
		cmocka_unit_test_setup(x86_the_user_and_write_bits_of_all_levels_count, setup),
		cmocka_unit_test_setup(x86_of_5_levels_has_one_more_table, setup),
		cmocka_unit_test_setup(sv39_translates_pages_of_4_kb_2_mb_and_1_gb, setup),
		cmocka_unit_test_setup(riscv_marks_only_the_last_entry, setup),
		cmocka_unit_test_setup(svnapot_pages_are_of_64_kb, setup),
		cmocka_unit_test_setup(svpbmt_types_are_no_address, setup),
		cmocka_unit_test_setup(riscv_pages_that_loads_must_not_reach_are_faults, setup),
		cmocka_unit_test_setup(riscv_tables_with_bits_of_pages_are_faults, setup),
		cmocka_unit_test_setup(a_table_outside_of_memory_is_said_to_be, setup),
		cmocka_unit_test_setup(modes_that_do_not_exist_translate_nothing, setup),
		cmocka_unit_test_setup(an_entry_that_changes_meanwhile_is_walked_again, setup),
		cmocka_unit_test_setup(tables_that_never_rest_are_given_up, setup),
		cmocka_unit_test_setup(tables_at_random_are_walked_as_the_manuals_say, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
