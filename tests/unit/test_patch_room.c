/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Jumps for instructions that stand side by side, in random text, where a part of the addresses is free: zydis says
 * where each leads when all are written. And rows that have jumps only if each has a certain one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "libmimic/preload/patch_row.h"

#if defined(__x86_64__)

#include <Zydis/Zydis.h>

#include "tests/lib/sanitized.h"

#define ROUNDS (IS_SANITIZED ? 300u : 3000u)
#define LOW_TEXT 0x401000ul
#define MIB (1ul << 20)
#define LOOKS 1024u

static uint64_t state;

static uint64_t random_bits(void)
{
	uint64_t value = (state += 0x9e3779b97f4a7c15u);

	/* splitmix64 */
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
	return value ^ (value >> 31);
}

/* --- addresses: the library's functions that the search asks ------------------------- */

static struct {
	uintptr_t kept, kept_end; /* for the heap */
	unsigned int free_of_eight; /* pages */
	struct {
		uintptr_t start, end;
	} reserved[PATCH_ROW_MAX];
	unsigned int reserved_count;
	struct patch_site *site; /* of one member, from before */
} memory;

static bool is_free(uintptr_t start, uintptr_t end)
{
	unsigned int i;

	for (i = 0; i < memory.reserved_count; i++)
		if (start < memory.reserved[i].end && end > memory.reserved[i].start)
			return false;
	return start >= 0x10000 && end <= 0x7ff000000000 && (end <= memory.kept || start >= memory.kept_end) &&
	       ((start >> 12) * 0x9e3779b97f4a7c15u >> 61) < memory.free_of_eight;
}

uintptr_t mimic_preload_patch_place(const struct patch_window *window, size_t size)
{
	uintptr_t step = (window->last - window->first) / 64 + 1, place;

	for (place = window->first; place <= window->last; place += step)
		if (is_free(place, place + size))
			return place;
	return 0;
}

bool mimic_preload_patch_may_lead(const struct patch_window *window)
{
	return window->last >= 0x10000 && !(window->first >= memory.kept && window->last < memory.kept_end);
}

void mimic_preload_patch_reserve(uintptr_t place, size_t size)
{
	assert_true(memory.reserved_count < PATCH_ROW_MAX);
	memory.reserved[memory.reserved_count].start = place;
	memory.reserved[memory.reserved_count++].end = place + size;
}

void mimic_preload_patch_release(void)
{
	assert_true(memory.reserved_count > 0);
	memory.reserved_count--;
}

struct patch_site *mimic_preload_patch_find(uintptr_t address)
{
	return memory.site && memory.site->target.address == address ? memory.site : NULL;
}

struct patch_site *mimic_preload_patch_former(const struct patch_site *site)
{
	(void)site;
	return NULL;
}

/* --- rows ------------------------------------------------------------------------------ */

static struct patch_row row;

static void begin_row(uintptr_t start, uintptr_t kept, uintptr_t kept_end, unsigned int free_of_eight)
{
	memset(&row, 0, sizeof(row));
	memset(&memory, 0, sizeof(memory));
	memory.kept = kept;
	memory.kept_end = kept_end;
	memory.free_of_eight = free_of_eight;
	row.start = start;
	row.available = sizeof(row.text);
	row.looks = LOOKS;
}

/* Of `length` bytes at `offset`; its bytes are the text's. */
static void add_member(size_t offset, unsigned int length)
{
	struct patch_member *member = &row.members[row.count++];

	member->target.address = row.start + offset;
	member->target.instruction.length = (uint8_t)length;
	/* Which address it accesses is of no interest here. */
	member->target.instruction.index = MIMIC_NO_REGISTER;
	memcpy(member->target.bytes, row.text + offset, length);
	member->block.shift = 28;
}

static uintptr_t target_of(const uint8_t *text, uintptr_t address)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction instruction;
	ZydisDecoder decoder;
	ZyanU64 target;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, text, MIMIC_INSTRUCTION_MAX, &instruction, operands)) ||
	    instruction.mnemonic != ZYDIS_MNEMONIC_JMP ||
	    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, operands, address, &target)))
		return 0;
	return target;
}

/* Each jump that was found, in the text that was; none changes a byte that is not its own instruction's. */
static void check_jumps(const uint8_t *text)
{
	uint8_t patched[PATCH_ROW_TEXT], jump[PATCH_JUMP_MAX];
	unsigned int i;

	memcpy(patched, text, sizeof(patched));
	for (i = 0; i < row.count; i++) {
		const struct patch_member *member = &row.members[i];

		assert_true(member->chosen.changed <= member->target.instruction.length);
		mimic_preload_patch_jump(&member->chosen, member->target.address, member->place, jump);
		memcpy(patched + (member->target.address - row.start), jump, member->chosen.changed);
	}
	for (i = 0; i < row.count; i++) {
		const struct patch_member *member = &row.members[i];

		assert_int_equal(target_of(patched + (member->target.address - row.start), member->target.address),
				 member->place);
	}
}

static void check_places(void)
{
	unsigned int i, other;

	assert_int_equal(memory.reserved_count, row.count);
	for (i = 0; i < row.count; i++)
		for (other = 0; other < i; other++)
			assert_true(memory.reserved[i].start >= memory.reserved[other].end ||
				    memory.reserved[i].end <= memory.reserved[other].start);
}

static void the_jumps_of_a_random_row_lead_to_places_of_their_own(void **unused)
{
	unsigned int round, i, found = 0;
	uint8_t text[PATCH_ROW_TEXT];

	(void)unused;
	for (round = 0; round < ROUNDS; round++) {
		bool is_low = random_bits() & 1;
		uintptr_t kept = (random_bits() % 1024) * MIB;
		size_t offset = 0;

		begin_row(is_low ? LOW_TEXT : 0x555555555000 + random_bits() % 0x1000, is_low ? kept : 0,
			  is_low ? kept + 1024 * MIB : 0, 1 + (unsigned int)(random_bits() % 8));
		for (i = 0; i < sizeof(row.text); i++)
			row.text[i] = (uint8_t)random_bits();
		memcpy(text, row.text, sizeof(text));
		do {
			unsigned int length = 2 + (unsigned int)(random_bits() % (random_bits() & 1 ? 3 : 9));

			/* In front there may be instructions that keep theirs. */
			add_member(offset, length);
			offset += length + (random_bits() % 4 ? 0 : random_bits() % 3);
		} while (row.count < PATCH_ROW_MAX && random_bits() % 8);
		if (!mimic_preload_patch_room(&row)) {
			assert_int_equal(memory.reserved_count, 0);
			continue;
		}
		found++;
		check_jumps(text);
		check_places();
	}
	assert_true(found > ROUNDS / 4);
}

/* mov (%rdi), %eax or the like, add $imm32, %eax */
static void put_loads(unsigned int count)
{
	static const uint8_t modrm[] = { 0x07, 0x0f, 0x17, 0x37 };
	static const uint8_t behind[] = { 0x05, 0x04, 0x03, 0x02, 0x01, 0xc3 };
	unsigned int i;

	memset(row.text, 0xcc, sizeof(row.text));
	for (i = 0; i < count; i++) {
		row.text[2 * i] = 0x8b;
		row.text[2 * i + 1] = modrm[i % 4];
	}
	memcpy(row.text + 2 * count, behind, sizeof(behind));
	for (i = 0; i < count; i++)
		add_member(2 * i, 2);
	add_member(2 * count, 5);
}

static void twelve_loads_have_jumps_wherever_the_heap_is(void **unused)
{
	uint8_t text[PATCH_ROW_TEXT];
	uintptr_t kept;

	(void)unused;
	for (kept = 4 * MIB; kept <= 1024 * MIB; kept += 60 * MIB) {
		begin_row(LOW_TEXT, kept, kept + 1024 * MIB, 8);
		put_loads(12);
		memcpy(text, row.text, sizeof(text));
		if (!mimic_preload_patch_room(&row))
			fail_msg("the heap at %lu MiB", kept / MIB);
		check_jumps(text);
		check_places();
	}
}

static void loads_without_an_instruction_behind_them_have_none(void **unused)
{
	(void)unused;
	/* The bytes behind say -0x33 to the jumps of the last ones, and there is nothing. */
	begin_row(LOW_TEXT, 4 * MIB, 1028 * MIB, 8);
	put_loads(12);
	row.text[24] = 0xcc;
	row.count--;
	assert_false(mimic_preload_patch_room(&row));
	assert_int_equal(memory.reserved_count, 0);
}

static void a_trampoline_that_fits_serves_again(void **unused)
{
	static struct patch_site site;
	uint8_t text[PATCH_ROW_TEXT];

	(void)unused;
	begin_row(LOW_TEXT, 4 * MIB, 1028 * MIB, 8);
	put_loads(3);
	memcpy(text, row.text, sizeof(text));
	assert_true(mimic_preload_patch_room(&row));
	/* The last one as it is now, in another row. */
	site = (struct patch_site){
		.target = row.members[3].target,
		.block = row.members[3].block,
		.window = row.members[3].chosen,
		.place = row.members[3].place,
		.size = 100,
	};
	mimic_preload_patch_jump(&site.window, site.target.address, site.place, site.jump);
	begin_row(LOW_TEXT, 4 * MIB, 1028 * MIB, 8);
	put_loads(3);
	memory.site = &site;
	assert_true(mimic_preload_patch_room(&row));
	assert_ptr_equal(row.members[3].again, &site);
	assert_int_equal(row.members[3].place, site.place);
	check_jumps(text);
	assert_int_equal(memory.reserved_count, 3);
	/* Not for accesses of other pages. */
	site.block.key++;
	begin_row(LOW_TEXT, 4 * MIB, 1028 * MIB, 8);
	put_loads(3);
	memory.site = &site;
	assert_true(mimic_preload_patch_room(&row));
	assert_null(row.members[3].again);
}

static void no_jump_borrows_where_a_debugger_sets_breakpoints(void **unused)
{
	(void)unused;
	begin_row(LOW_TEXT, 4 * MIB, 1028 * MIB, 8);
	put_loads(3);
	row.is_traced = true;
	assert_false(mimic_preload_patch_room(&row));
	assert_true(row.has_skipped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_jumps_of_a_random_row_lead_to_places_of_their_own),
		cmocka_unit_test(twelve_loads_have_jumps_wherever_the_heap_is),
		cmocka_unit_test(loads_without_an_instruction_behind_them_have_none),
		cmocka_unit_test(a_trampoline_that_fits_serves_again),
		cmocka_unit_test(no_jump_borrows_where_a_debugger_sets_breakpoints),
	};

	return cmocka_run_group_tests_name("jumps that hang together", tests, NULL, NULL);
}

#else

int main(void)
{
	return 0;
}

#endif
