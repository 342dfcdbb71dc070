/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Jumps over instructions of any length, in random text: the bytes that are written, and zydis's reading of
 * them. The rule that all else stands on: only bytes of the instruction itself change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "libmimic/preload/patch_plan.h"

#if defined(__x86_64__)

#include <Zydis/Zydis.h>

#include "tests/lib/sanitized.h"

#define TEXT 40u
#define AT 8u /* the instruction, in the text */
#define ROUNDS (IS_SANITIZED ? 20000u : 200000u)

static uint64_t state;

static uint64_t random_bits(void)
{
	uint64_t value = (state += 0x9e3779b97f4a7c15u);

	/* splitmix64 */
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
	return value ^ (value >> 31);
}

static void random_text(uint8_t text[TEXT])
{
	unsigned int i;

	for (i = 0; i < TEXT; i++)
		text[i] = (uint8_t)random_bits();
}

/* An address of a program or of a library. */
static uintptr_t random_address(void)
{
	return (uintptr_t)(random_bits() & 1 ? 0x400000 + random_bits() % 0x10000000
					     : 0x7f0000000000 + random_bits() % 0x1000000000);
}

/* Where the jump at AT leads, of the text as a whole; 0: there is no jump. */
static uintptr_t target_of(const uint8_t text[TEXT], uintptr_t address)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction instruction;
	ZydisDecoder decoder;
	ZyanU64 target;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, text + AT, TEXT - AT, &instruction, operands)) ||
	    instruction.mnemonic != ZYDIS_MNEMONIC_JMP ||
	    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, operands, address, &target)))
		return 0;
	return target;
}

static uintptr_t place_in(const struct patch_window *window)
{
	uint64_t width = window->last - window->first;

	switch (random_bits() % 4) {
	case 0:
		return window->first;
	case 1:
		return window->last;
	default:
		return window->first + (width ? random_bits() % (width + 1) : 0);
	}
}

struct planned {
	uintptr_t address;
	unsigned int length;
	uint8_t text[TEXT], patched[TEXT];
	struct patch_window windows[PATCH_WINDOWS_MAX];
	unsigned int count;
};

static void plan(struct planned *planned, unsigned int length)
{
	random_text(planned->text);
	planned->address = random_address();
	planned->length = length;
	planned->count = mimic_preload_patch_windows(planned->address, planned->text + AT, TEXT - AT, length,
						     planned->windows);
	assert_true(planned->count <= PATCH_WINDOWS_MAX);
}

static void apply(struct planned *planned, const struct patch_window *window, uintptr_t place)
{
	uint8_t bytes[PATCH_JUMP_MAX];

	mimic_preload_patch_jump(window, planned->address, place, bytes);
	memcpy(planned->patched, planned->text, TEXT);
	memcpy(planned->patched + AT, bytes, window->changed);
}

static void each_jump_leads_to_its_place_and_changes_its_own_instruction_only(void **unused)
{
	static const uint8_t prefixes[] = { 0x48, 0x67, 0x26, 0x4f, 0x65, 0x2e, 0x64, 0x3e };
	struct planned planned;
	unsigned int round, i;

	(void)unused;
	for (round = 0; round < ROUNDS; round++) {
		plan(&planned, 2 + (unsigned int)(random_bits() % 14));
		for (i = 0; i < planned.count; i++) {
			struct patch_window *window = &planned.windows[i];
			uintptr_t place = place_in(window);

			window->prefix = prefixes[random_bits() % sizeof(prefixes)];
			apply(&planned, window, place);
			assert_true(window->changed <= planned.length);
			assert_memory_equal(planned.patched, planned.text, AT);
			assert_memory_equal(planned.patched + AT + planned.length,
					    planned.text + AT + planned.length, TEXT - AT - planned.length);
			assert_int_equal(target_of(planned.patched, planned.address), place);
		}
	}
}

static void no_jump_leads_beyond_its_window(void **unused)
{
	struct planned planned;
	unsigned int round, i;

	(void)unused;
	for (round = 0; round < ROUNDS / 4; round++) {
		plan(&planned, 2 + (unsigned int)(random_bits() % 14));
		for (i = 0; i < planned.count; i++) {
			const struct patch_window *window = &planned.windows[i];

			apply(&planned, window, window->last + 1);
			assert_int_not_equal(target_of(planned.patched, planned.address), window->last + 1);
			if (!window->first)
				continue;
			apply(&planned, window, window->first - 1);
			assert_int_not_equal(target_of(planned.patched, planned.address), window->first - 1);
		}
	}
}

static void an_instruction_of_five_bytes_or_more_has_a_jump_of_its_own(void **unused)
{
	struct planned planned;
	unsigned int length;

	(void)unused;
	for (length = 5; length <= 15; length++) {
		plan(&planned, length);
		assert_int_equal(planned.count, 1);
		assert_int_equal(planned.windows[0].way, PATCH_DIRECT);
		assert_int_equal(planned.windows[0].changed, 5);
		assert_int_equal(planned.windows[0].borrowed, 0);
	}
}

/* mov (%rdi), %eax; add $1, %edx at 0x400000: e9 XX and 83 c2 01, or 48 e9 and 83 c2 01 48 */
static void a_jump_over_two_bytes_borrows_three_or_four(void **unused)
{
	static const uint8_t text[] = { 0x8b, 0x07, 0x83, 0xc2, 0x01, 0x48, 0x01, 0xc1 };
	struct patch_window windows[PATCH_WINDOWS_MAX];

	(void)unused;
	assert_int_equal(mimic_preload_patch_windows(0x400000, text, sizeof(text), 2, windows), 2);
	assert_int_equal(windows[0].way, PATCH_PUNNED);
	assert_int_equal(windows[0].borrowed, 3);
	assert_int_equal(windows[0].first, 0x400005 + 0x01c28300);
	assert_int_equal(windows[0].last, 0x400005 + 0x01c283ff);
	assert_int_equal(windows[1].way, PATCH_PADDED);
	assert_int_equal(windows[1].borrowed, 4);
	assert_int_equal(windows[1].first, 0x400006 + 0x4801c283);
	assert_int_equal(windows[1].last, windows[1].first);
}

static void bytes_that_are_not_there_are_not_borrowed(void **unused)
{
	struct patch_window windows[PATCH_WINDOWS_MAX];
	unsigned int available;
	uint8_t *text;

	(void)unused;
	/* An allocation of the exact size, for the address sanitizer. */
	for (available = 3; available <= 8; available++) {
		text = test_malloc(available);
		memset(text, 0x11, available);
		assert_int_equal(mimic_preload_patch_windows(0x400000, text, available, 3, windows),
				 available < 5	 ? 0
				 : available < 7 ? available - 4
						 : 3);
		test_free(text);
	}
}

static void an_instruction_of_one_byte_keeps_trapping(void **unused)
{
	struct planned planned;

	(void)unused;
	plan(&planned, 1);
	assert_int_equal(planned.count, 0);
}

static enum patch_refusal form_of(const char *bytes, size_t length)
{
	struct mimic_instruction instruction;

	assert_int_equal(mimic_decode((const uint8_t *)bytes, length, &instruction), 0);
	return mimic_preload_patch_form(&instruction);
}
#define FORM_OF(bytes) form_of(bytes, sizeof(bytes) - 1)

static void operands_that_a_trampoline_cannot_have_are_refused(void **unused)
{
	(void)unused;
	assert_int_equal(FORM_OF("\x8b\x07"), PATCH_FITS); /* mov (%rdi), %eax */
	assert_int_equal(FORM_OF("\x8a\x27"), PATCH_FITS); /* mov (%rdi), %ah */
	assert_int_equal(FORM_OF("\x8b\x44\x24\x08"), PATCH_FITS); /* mov 8(%rsp), %eax */
	assert_int_equal(FORM_OF("\x8b\x84\x24\xff\xff\xff\x7f"),
			 PATCH_FORM); /* mov 0x7fffffff(%rsp), %eax */
	assert_int_equal(FORM_OF("\x48\x8b\x27"), PATCH_FORM); /* mov (%rdi), %rsp */
	assert_int_equal(FORM_OF("\x48\x89\x27"), PATCH_FORM); /* mov %rsp, (%rdi) */
	assert_int_equal(FORM_OF("\x8b\x05\x00\x00\x00\x00"), PATCH_FORM); /* mov 0(%rip), %eax */
	assert_int_equal(FORM_OF("\x64\x8b\x07"), PATCH_FORM); /* mov %fs:(%rdi), %eax */
	assert_int_equal(FORM_OF("\x67\x8b\x07"), PATCH_FORM); /* mov (%edi), %eax */
}

/* zydis's operands: neither memory nor anything else than flags and general registers but rip. */
static bool is_of_registers(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands)
{
	unsigned int i;

	for (i = 0; i < instruction->operand_count; i++) {
		const ZydisDecodedOperand *operand = &operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			continue;
		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && instruction->mnemonic != ZYDIS_MNEMONIC_NOP &&
		    (operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN || operand->mem.base == ZYDIS_REGISTER_RIP))
			return false;
		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(operand->reg.value) != ZYDIS_REGCLASS_FLAGS &&
		    (ZydisRegisterGetClass(operand->reg.value) < ZYDIS_REGCLASS_GPR8 ||
		     ZydisRegisterGetClass(operand->reg.value) > ZYDIS_REGCLASS_GPR64))
			return false;
	}
	return true;
}

static bool may_lead_elsewhere(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSTEM:
		return true;
	default:
		return instruction->mnemonic == ZYDIS_MNEMONIC_DIV ||
		       instruction->mnemonic == ZYDIS_MNEMONIC_IDIV;
	}
}

/* More often than by chance: an opcode that is likely to be moved, behind the prefixes that it may have. */
static void likely_text(uint8_t text[TEXT])
{
	uint8_t *at = text;

	random_text(text);
	if (random_bits() % 8 == 0)
		*at++ = 0x66;
	if (random_bits() & 1)
		*at++ = (uint8_t)(0x40 | random_bits() % 16);
	if (random_bits() % 4 == 0)
		*at++ = 0x0f;
}

static bool is_jump(const ZydisDecodedInstruction *instruction)
{
	return instruction->meta.category == ZYDIS_CATEGORY_COND_BR ||
	       instruction->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
}

static void a_moved_instruction_computes_with_registers_only_and_has_its_length(void **unused)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction instruction;
	ZydisDecoder decoder;
	uint8_t text[TEXT];
	unsigned int round, moved = 0;

	(void)unused;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (round = 0; round < 10 * ROUNDS; round++) {
		unsigned int length;

		likely_text(text);
		length = mimic_preload_patch_movable(text, TEXT);
		if (!length)
			continue;
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, text, TEXT, &instruction, operands)))
			fail_msg("no instruction: %02x %02x %02x %02x", text[0], text[1], text[2], text[3]);
		/* The next test's. */
		if (is_jump(&instruction))
			continue;
		moved++;
		if (instruction.length != length || may_lead_elsewhere(&instruction) ||
		    !is_of_registers(&instruction, operands))
			fail_msg("%02x %02x %02x %02x: %u bytes; zydis: %s, %u", text[0], text[1], text[2],
				 text[3], length, ZydisMnemonicGetString(instruction.mnemonic),
				 instruction.length);
	}
	assert_true(moved > ROUNDS);
}

/* Where zydis says that the jump at `address` leads; it is one by a distance. */
static uint64_t leads_to(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
			  uint64_t address)
{
	uint64_t target = 0;

	assert_true(is_jump(instruction));
	assert_true(ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(instruction, &operands[0], address, &target)));
	return target;
}

static void a_moved_jump_has_its_condition_and_leads_where_it_led(void **unused)
{
	const uint64_t place = 0x7f0012345678;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT], moved_operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction instruction, moved;
	uint8_t code[PATCH_CODE_MAX];
	unsigned int round, jumps = 0;
	ZydisDecoder decoder;

	(void)unused;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (round = 0; round < 10 * ROUNDS; round++) {
		struct patch_target target = { .address = place + 0x1000000 + random_bits() % 0x1000000 };
		uint8_t text[TEXT];
		uint64_t led;

		likely_text(text);
		memcpy(target.bytes, text, sizeof(target.bytes));
		target.instruction.length = (uint8_t)mimic_preload_patch_movable(text, TEXT);
		if (!target.instruction.length)
			continue;
		assert_true(ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, text, TEXT, &instruction, operands)));
		if (!is_jump(&instruction))
			continue;
		jumps++;
		assert_int_equal(instruction.length, target.instruction.length);
		led = leads_to(&instruction, operands, target.address);
		if (!mimic_preload_patch_moved_code(&target, place, code)) {
			assert_true(led - place + INT32_MAX > UINT32_MAX - 64u);
			continue;
		}
		assert_true(ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, sizeof(code), &moved, moved_operands)));
		assert_int_equal(moved.mnemonic, instruction.mnemonic);
		assert_int_equal(moved.length, mimic_preload_patch_moved_length(&target));
		assert_int_equal(leads_to(&moved, moved_operands, place), led);
		/* And behind it. */
		assert_true(ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + moved.length, sizeof(code) - moved.length,
								&instruction, operands)));
		assert_int_equal(instruction.mnemonic, ZYDIS_MNEMONIC_JMP);
		assert_int_equal(leads_to(&instruction, operands, place + moved.length),
				 target.address + target.instruction.length);
		assert_int_equal(moved.length + instruction.length, mimic_preload_patch_moved_size(&target));
	}
	assert_true(jumps > ROUNDS / 10);
}

static void a_cut_instruction_is_not_moved(void **unused)
{
	static const uint8_t text[] = { 0x48, 0x81, 0xc0, 1, 2, 3, 4 }; /* add $0x4030201, %rax */
	size_t available;

	static const uint8_t jump[] = { 0x0f, 0x84, 1, 2, 3, 4 }; /* je */

	(void)unused;
	for (available = 0; available < sizeof(text); available++)
		assert_int_equal(mimic_preload_patch_movable(text, available), 0);
	assert_int_equal(mimic_preload_patch_movable(text, sizeof(text)), sizeof(text));
	for (available = 0; available < sizeof(jump); available++)
		assert_int_equal(mimic_preload_patch_movable(jump, available), 0);
	assert_int_equal(mimic_preload_patch_movable(jump, sizeof(jump)), sizeof(jump));
}

/* The bytes that it leads to would be changed. To its first one is no harm: there its own jump is. */
static void a_jump_into_itself_is_not_moved(void **unused)
{
	static const struct {
		uint8_t opcode[2];
		unsigned int opcode_size, length;
	} forms[] = { { { 0xeb }, 1, 2 }, { { 0x72 }, 1, 2 }, { { 0xe9 }, 1, 5 }, { { 0x0f, 0x82 }, 2, 6 } };
	uint8_t text[MIMIC_INSTRUCTION_MAX];
	unsigned int i;

	(void)unused;
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		for (int32_t distance = -20; distance < 20; distance++) {
			bool is_inside = distance < 0 && -distance < (int32_t)forms[i].length;

			memcpy(text, forms[i].opcode, sizeof(forms[i].opcode));
			memcpy(text + forms[i].opcode_size, &distance, sizeof(distance));
			assert_int_equal(mimic_preload_patch_movable(text, sizeof(text)),
					 is_inside ? 0 : forms[i].length);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_moved_instruction_computes_with_registers_only_and_has_its_length),
		cmocka_unit_test(a_moved_jump_has_its_condition_and_leads_where_it_led),
		cmocka_unit_test(a_cut_instruction_is_not_moved),
		cmocka_unit_test(a_jump_into_itself_is_not_moved),
		cmocka_unit_test(each_jump_leads_to_its_place_and_changes_its_own_instruction_only),
		cmocka_unit_test(no_jump_leads_beyond_its_window),
		cmocka_unit_test(an_instruction_of_five_bytes_or_more_has_a_jump_of_its_own),
		cmocka_unit_test(a_jump_over_two_bytes_borrows_three_or_four),
		cmocka_unit_test(bytes_that_are_not_there_are_not_borrowed),
		cmocka_unit_test(an_instruction_of_one_byte_keeps_trapping),
		cmocka_unit_test(operands_that_a_trampoline_cannot_have_are_refused),
	};

	return cmocka_run_group_tests_name("the plan of jumps", tests, NULL, NULL);
}

#else

int main(void)
{
	return 0;
}

#endif
