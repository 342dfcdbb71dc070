/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The decoder on bytes assembled by hand, from the opcode pages and tables 2-2,
 * 2-3 and 2-5 of Intel's manual, volume 2.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "libmimic/base/decode.h"

#define NONE MIMIC_NO_REGISTER
#define BYTES(...) { __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

struct bytes {
	const char *name;
	uint8_t bytes[16];
	size_t count;
};

static void decode_whole(const char *name, const uint8_t *bytes, size_t count,
			 struct mimic_instruction *instruction)
{
	int error = mimic_decode(bytes, count, instruction);

	if (error)
		fail_msg("%s: %d", name, error);
	if (instruction->length != count)
		fail_msg("%s: %u bytes long, not %zu", name, instruction->length, count);
}

#define EXPECT(field, value) do { \
	if (instruction.field != (value)) \
		fail_msg("%s: " #field " is %lld, not %lld", test->name, \
			 (long long)instruction.field, (long long)(value)); \
} while (0)

/* --- general registers --------------------------------------------------- */

struct general_case {
	const char *name;
	uint8_t bytes[16];
	size_t count;
	unsigned int is_write;
	unsigned int memory_size;
	unsigned int register_size;
	unsigned int reg;
	unsigned int high_byte;
	unsigned int sign_extend;
	unsigned int byte_swap;
};

static const struct general_case general_cases[] = {
	{ "mov [rax], cl", BYTES(0x88, 0x08), 1, 1, 1, RCX, 0, 0, 0 },
	{ "mov [rax], ah", BYTES(0x88, 0x20), 1, 1, 1, RAX, 1, 0, 0 },
	{ "mov [rax], bh", BYTES(0x88, 0x38), 1, 1, 1, RBX, 1, 0, 0 },
	{ "mov [rax], spl", BYTES(0x40, 0x88, 0x20), 1, 1, 1, RSP, 0, 0, 0 },
	{ "mov [rax], dil", BYTES(0x40, 0x88, 0x38), 1, 1, 1, RDI, 0, 0, 0 },
	{ "mov [rax], r12b", BYTES(0x44, 0x88, 0x20), 1, 1, 1, R12, 0, 0, 0 },
	{ "mov [rax], dx", BYTES(0x66, 0x89, 0x10), 1, 2, 2, RDX, 0, 0, 0 },
	{ "mov [rax], edx", BYTES(0x89, 0x10), 1, 4, 4, RDX, 0, 0, 0 },
	{ "mov [rax], rdx", BYTES(0x48, 0x89, 0x10), 1, 8, 8, RDX, 0, 0, 0 },
	{ "mov dh, [rax]", BYTES(0x8a, 0x30), 0, 1, 1, RDX, 1, 0, 0 },
	{ "mov sil, [rax]", BYTES(0x40, 0x8a, 0x30), 0, 1, 1, RSI, 0, 0, 0 },
	{ "mov bx, [rax]", BYTES(0x66, 0x8b, 0x18), 0, 2, 2, RBX, 0, 0, 0 },
	{ "mov esp, [rax]", BYTES(0x8b, 0x20), 0, 4, 4, RSP, 0, 0, 0 },
	{ "mov r15, [rax]", BYTES(0x4c, 0x8b, 0x38), 0, 8, 8, R15, 0, 0, 0 },
	{ "mov r15w, [rax]", BYTES(0x66, 0x44, 0x8b, 0x38), 0, 2, 2, R15, 0, 0, 0 },
	{ "mov rax, [rax] with a useless 66", BYTES(0x66, 0x48, 0x8b, 0x00), 0, 8, 8, RAX, 0, 0, 0 },
	{ "mov ax, [rax] with a REX.W before 66", BYTES(0x48, 0x66, 0x8b, 0x00), 0, 2, 2, RAX, 0, 0, 0 },
	{ "mov eax, [rax] with two REX", BYTES(0x4c, 0x40, 0x8b, 0x00), 0, 4, 4, RAX, 0, 0, 0 },
	{ "mov eax, [rax] with a useless repne", BYTES(0xf2, 0x8b, 0x00), 0, 4, 4, RAX, 0, 0, 0 },
	{ "xrelease mov [rax], eax", BYTES(0xf3, 0x89, 0x00), 1, 4, 4, RAX, 0, 0, 0 },
	{ "mov al, [moffs]", BYTES(0xa0, 1, 2, 3, 4, 5, 6, 7, 8), 0, 1, 1, RAX, 0, 0, 0 },
	{ "mov eax, [moffs]", BYTES(0xa1, 1, 2, 3, 4, 5, 6, 7, 8), 0, 4, 4, RAX, 0, 0, 0 },
	{ "mov [moffs], al", BYTES(0xa2, 1, 2, 3, 4, 5, 6, 7, 8), 1, 1, 1, RAX, 0, 0, 0 },
	{ "mov [moffs], rax", BYTES(0x48, 0xa3, 1, 2, 3, 4, 5, 6, 7, 8), 1, 8, 8, RAX, 0, 0, 0 },
	{ "mov ax, [moffs32]", BYTES(0x66, 0x67, 0xa1, 1, 2, 3, 4), 0, 2, 2, RAX, 0, 0, 0 },
	{ "movzx edx, byte [rax]", BYTES(0x0f, 0xb6, 0x10), 0, 1, 4, RDX, 0, 0, 0 },
	{ "movzx edi, byte [rax]", BYTES(0x0f, 0xb6, 0x38), 0, 1, 4, RDI, 0, 0, 0 },
	{ "movzx dx, byte [rax]", BYTES(0x66, 0x0f, 0xb6, 0x10), 0, 1, 2, RDX, 0, 0, 0 },
	{ "movzx r10, word [rax]", BYTES(0x4c, 0x0f, 0xb7, 0x10), 0, 2, 8, R10, 0, 0, 0 },
	{ "movsx edx, byte [rax]", BYTES(0x0f, 0xbe, 0x10), 0, 1, 4, RDX, 0, 1, 0 },
	{ "movsx rdx, byte [rax]", BYTES(0x48, 0x0f, 0xbe, 0x10), 0, 1, 8, RDX, 0, 1, 0 },
	{ "movsx edx, word [rax]", BYTES(0x0f, 0xbf, 0x10), 0, 2, 4, RDX, 0, 1, 0 },
	{ "movsxd r9, dword [rax]", BYTES(0x4c, 0x63, 0x08), 0, 4, 8, R9, 0, 1, 0 },
	{ "movsxd ecx, dword [rax]", BYTES(0x63, 0x08), 0, 4, 4, RCX, 0, 1, 0 },
	{ "movsxd cx, word [rax]", BYTES(0x66, 0x63, 0x08), 0, 2, 2, RCX, 0, 1, 0 },
	{ "movbe cx, [rax]", BYTES(0x66, 0x0f, 0x38, 0xf0, 0x08), 0, 2, 2, RCX, 0, 0, 1 },
	{ "movbe ecx, [rax]", BYTES(0x0f, 0x38, 0xf0, 0x08), 0, 4, 4, RCX, 0, 0, 1 },
	{ "movbe [rax], r9", BYTES(0x4c, 0x0f, 0x38, 0xf1, 0x08), 1, 8, 8, R9, 0, 0, 1 },
	{ "movnti [rax], ecx", BYTES(0x0f, 0xc3, 0x08), 1, 4, 4, RCX, 0, 0, 0 },
	{ "movnti [rax], r9", BYTES(0x4c, 0x0f, 0xc3, 0x08), 1, 8, 8, R9, 0, 0, 0 },
};

static void moves_of_general_registers_are_decoded(void **unused)
{
	const struct general_case *test;
	struct mimic_instruction instruction;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(general_cases) / sizeof(general_cases[0]); i++) {
		test = &general_cases[i];
		decode_whole(test->name, test->bytes, test->count, &instruction);
		EXPECT(operation, MIMIC_OPERATION_MOVE);
		EXPECT(operand, MIMIC_OPERAND_GENERAL);
		EXPECT(is_write, test->is_write);
		EXPECT(memory_size, test->memory_size);
		EXPECT(register_size, test->register_size);
		EXPECT(reg, test->reg);
		EXPECT(high_byte, test->high_byte);
		EXPECT(sign_extend, test->sign_extend);
		EXPECT(byte_swap, test->byte_swap);
	}
}

/* --- immediates and folded operations ------------------------------------ */

struct operation_case {
	const char *name;
	uint8_t bytes[16];
	size_t count;
	enum mimic_operation operation;
	unsigned int memory_size;
	unsigned int memory_first;
	unsigned int reg;
	uint64_t immediate;
};

static const struct operation_case immediate_cases[] = {
	{ "mov byte [rax], 0x80", BYTES(0xc6, 0x00, 0x80),
	  MIMIC_OPERATION_MOVE, 1, 0, 0, 0xffffffffffffff80 },
	{ "mov word [rax], 0x1234", BYTES(0x66, 0xc7, 0x00, 0x34, 0x12),
	  MIMIC_OPERATION_MOVE, 2, 0, 0, 0x1234 },
	{ "mov dword [rax], 0x12345678", BYTES(0xc7, 0x00, 0x78, 0x56, 0x34, 0x12),
	  MIMIC_OPERATION_MOVE, 4, 0, 0, 0x12345678 },
	{ "mov qword [rax], -2", BYTES(0x48, 0xc7, 0x00, 0xfe, 0xff, 0xff, 0xff),
	  MIMIC_OPERATION_MOVE, 8, 0, 0, 0xfffffffffffffffe },
	{ "cmp byte [rax], 5", BYTES(0x80, 0x38, 5), MIMIC_OPERATION_CMP, 1, 1, 0, 5 },
	{ "cmp dword [rax], 0x100", BYTES(0x81, 0x38, 0, 1, 0, 0),
	  MIMIC_OPERATION_CMP, 4, 1, 0, 0x100 },
	{ "cmp word [rax], 0x100", BYTES(0x66, 0x81, 0x38, 0, 1),
	  MIMIC_OPERATION_CMP, 2, 1, 0, 0x100 },
	{ "cmp qword [rax], -1", BYTES(0x48, 0x83, 0x38, 0xff),
	  MIMIC_OPERATION_CMP, 8, 1, 0, 0xffffffffffffffff },
	{ "test byte [rax], 1", BYTES(0xf6, 0x00, 1), MIMIC_OPERATION_TEST, 1, 1, 0, 1 },
	{ "test dword [rax], 1", BYTES(0xf7, 0x00, 1, 0, 0, 0), MIMIC_OPERATION_TEST, 4, 1, 0, 1 },
};

static const struct operation_case folded_cases[] = {
	{ "cmp [rax], cl", BYTES(0x38, 0x08), MIMIC_OPERATION_CMP, 1, 1, RCX, 0 },
	{ "cmp [rax], ecx", BYTES(0x39, 0x08), MIMIC_OPERATION_CMP, 4, 1, RCX, 0 },
	{ "cmp cl, [rax]", BYTES(0x3a, 0x08), MIMIC_OPERATION_CMP, 1, 0, RCX, 0 },
	{ "cmp rcx, [rax]", BYTES(0x48, 0x3b, 0x08), MIMIC_OPERATION_CMP, 8, 0, RCX, 0 },
	{ "test [rax], cl", BYTES(0x84, 0x08), MIMIC_OPERATION_TEST, 1, 1, RCX, 0 },
	{ "test [rax], cx", BYTES(0x66, 0x85, 0x08), MIMIC_OPERATION_TEST, 2, 1, RCX, 0 },
	{ "add ecx, [rax]", BYTES(0x03, 0x08), MIMIC_OPERATION_ADD, 4, 0, RCX, 0 },
	{ "or cl, [rax]", BYTES(0x0a, 0x08), MIMIC_OPERATION_OR, 1, 0, RCX, 0 },
	{ "adc ecx, [rax]", BYTES(0x13, 0x08), MIMIC_OPERATION_ADC, 4, 0, RCX, 0 },
	{ "sbb ecx, [rax]", BYTES(0x1b, 0x08), MIMIC_OPERATION_SBB, 4, 0, RCX, 0 },
	{ "and r9, [rax]", BYTES(0x4c, 0x23, 0x08), MIMIC_OPERATION_AND, 8, 0, R9, 0 },
	{ "sub ecx, [rax]", BYTES(0x2b, 0x08), MIMIC_OPERATION_SUB, 4, 0, RCX, 0 },
	{ "xor ecx, [rax]", BYTES(0x33, 0x08), MIMIC_OPERATION_XOR, 4, 0, RCX, 0 },
};

static void immediates_with_memory_are_decoded(void **unused)
{
	const struct operation_case *test;
	struct mimic_instruction instruction;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(immediate_cases) / sizeof(immediate_cases[0]); i++) {
		test = &immediate_cases[i];
		decode_whole(test->name, test->bytes, test->count, &instruction);
		EXPECT(operand, MIMIC_OPERAND_IMMEDIATE);
		EXPECT(operation, test->operation);
		EXPECT(is_write, test->operation == MIMIC_OPERATION_MOVE);
		EXPECT(memory_size, test->memory_size);
		EXPECT(memory_first, test->memory_first);
		EXPECT(immediate, test->immediate);
	}
}

static void operations_that_only_read_memory_are_decoded(void **unused)
{
	const struct operation_case *test;
	struct mimic_instruction instruction;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(folded_cases) / sizeof(folded_cases[0]); i++) {
		test = &folded_cases[i];
		decode_whole(test->name, test->bytes, test->count, &instruction);
		EXPECT(operand, MIMIC_OPERAND_GENERAL);
		EXPECT(operation, test->operation);
		EXPECT(is_write, 0);
		EXPECT(memory_size, test->memory_size);
		EXPECT(register_size, test->memory_size);
		EXPECT(memory_first, test->memory_first);
		EXPECT(reg, test->reg);
	}
}

/* --- vector registers ---------------------------------------------------- */

struct vector_case {
	const char *name;
	uint8_t bytes[16];
	size_t count;
	unsigned int is_write;
	unsigned int memory_size;
	unsigned int register_size;
	unsigned int reg;
	unsigned int register_offset;
	unsigned int merge_register;
	unsigned int clears_upper;
};

static const struct vector_case vector_cases[] = {
	{ "movups xmm1, [rax]", BYTES(0x0f, 0x10, 0x08), 0, 16, 16, 1, 0, NONE, 0 },
	{ "movups [rax], xmm9", BYTES(0x44, 0x0f, 0x11, 0x08), 1, 16, 16, 9, 0, NONE, 0 },
	{ "movss xmm1, [rax]", BYTES(0xf3, 0x0f, 0x10, 0x08), 0, 4, 16, 1, 0, NONE, 0 },
	{ "movss xmm1, [rax] with a useless 66", BYTES(0x66, 0xf3, 0x0f, 0x10, 0x08),
	  0, 4, 16, 1, 0, NONE, 0 },
	{ "movsd [rax], xmm1", BYTES(0xf2, 0x0f, 0x11, 0x08), 1, 8, 8, 1, 0, NONE, 0 },
	{ "movlps xmm1, [rax]", BYTES(0x0f, 0x12, 0x08), 0, 8, 16, 1, 0, 1, 0 },
	{ "movlpd [rax], xmm1", BYTES(0x66, 0x0f, 0x13, 0x08), 1, 8, 8, 1, 0, NONE, 0 },
	{ "movhps xmm1, [rax]", BYTES(0x0f, 0x16, 0x08), 0, 8, 16, 1, 8, 1, 0 },
	{ "movhpd [rax], xmm1", BYTES(0x66, 0x0f, 0x17, 0x08), 1, 8, 8, 1, 8, NONE, 0 },
	{ "movaps xmm1, [rax]", BYTES(0x0f, 0x28, 0x08), 0, 16, 16, 1, 0, NONE, 0 },
	{ "movntps [rax], xmm1", BYTES(0x0f, 0x2b, 0x08), 1, 16, 16, 1, 0, NONE, 0 },
	{ "movd xmm1, [rax]", BYTES(0x66, 0x0f, 0x6e, 0x08), 0, 4, 16, 1, 0, NONE, 0 },
	{ "movq xmm1, [rax] (6E)", BYTES(0x66, 0x48, 0x0f, 0x6e, 0x08), 0, 8, 16, 1, 0, NONE, 0 },
	{ "movq xmm1, [rax] (7E)", BYTES(0xf3, 0x0f, 0x7e, 0x08), 0, 8, 16, 1, 0, NONE, 0 },
	{ "movd [rax], xmm1", BYTES(0x66, 0x0f, 0x7e, 0x08), 1, 4, 4, 1, 0, NONE, 0 },
	{ "movq [rax], xmm1 (D6)", BYTES(0x66, 0x0f, 0xd6, 0x08), 1, 8, 8, 1, 0, NONE, 0 },
	{ "movdqa xmm1, [rax]", BYTES(0x66, 0x0f, 0x6f, 0x08), 0, 16, 16, 1, 0, NONE, 0 },
	{ "movdqu [rax], xmm1", BYTES(0xf3, 0x0f, 0x7f, 0x08), 1, 16, 16, 1, 0, NONE, 0 },
	{ "movntdq [rax], xmm1", BYTES(0x66, 0x0f, 0xe7, 0x08), 1, 16, 16, 1, 0, NONE, 0 },
	{ "lddqu xmm1, [rax]", BYTES(0xf2, 0x0f, 0xf0, 0x08), 0, 16, 16, 1, 0, NONE, 0 },
	{ "movntdqa xmm1, [rax]", BYTES(0x66, 0x0f, 0x38, 0x2a, 0x08), 0, 16, 16, 1, 0, NONE, 0 },
	{ "vmovups xmm1, [rax]", BYTES(0xc5, 0xf8, 0x10, 0x08), 0, 16, 16, 1, 0, NONE, 1 },
	{ "vmovups ymm1, [rax]", BYTES(0xc5, 0xfc, 0x10, 0x08), 0, 32, 32, 1, 0, NONE, 1 },
	{ "vmovups [rax], ymm9", BYTES(0xc5, 0x7c, 0x11, 0x08), 1, 32, 32, 9, 0, NONE, 0 },
	{ "vmovups ymm1, [r8]", BYTES(0xc4, 0xc1, 0x7c, 0x10, 0x08), 0, 32, 32, 1, 0, NONE, 1 },
	{ "vmovss xmm1, [rax]", BYTES(0xc5, 0xfa, 0x10, 0x08), 0, 4, 16, 1, 0, NONE, 1 },
	{ "vmovss xmm1, [rax] with L", BYTES(0xc5, 0xfe, 0x10, 0x08), 0, 4, 16, 1, 0, NONE, 1 },
	{ "vmovlps xmm1, xmm2, [rax]", BYTES(0xc5, 0xe8, 0x12, 0x08), 0, 8, 16, 1, 0, 2, 1 },
	{ "vmovhps xmm1, xmm15, [rax]", BYTES(0xc5, 0x80, 0x16, 0x08), 0, 8, 16, 1, 8, 15, 1 },
	{ "vmovd xmm1, [rax]", BYTES(0xc5, 0xf9, 0x6e, 0x08), 0, 4, 16, 1, 0, NONE, 1 },
	{ "vmovq xmm1, [rax] (6E)", BYTES(0xc4, 0xe1, 0xf9, 0x6e, 0x08), 0, 8, 16, 1, 0, NONE, 1 },
	{ "vmovdqu [rax], ymm1", BYTES(0xc5, 0xfe, 0x7f, 0x08), 1, 32, 32, 1, 0, NONE, 0 },
	{ "vmovntdqa ymm1, [rax]", BYTES(0xc4, 0xe2, 0x7d, 0x2a, 0x08), 0, 32, 32, 1, 0, NONE, 1 },
	{ "vmovups zmm1, [rax]", BYTES(0x62, 0xf1, 0x7c, 0x48, 0x10, 0x08), 0, 64, 64, 1, 0, NONE, 1 },
	{ "vmovups zmm17, [rax]", BYTES(0x62, 0xe1, 0x7c, 0x48, 0x10, 0x08), 0, 64, 64, 17, 0, NONE, 1 },
	{ "vmovupd [rax], ymm25", BYTES(0x62, 0x61, 0xfd, 0x28, 0x11, 0x08), 1, 32, 32, 25, 0, NONE, 0 },
	{ "vmovdqu8 xmm31, [rax]", BYTES(0x62, 0x61, 0x7f, 0x08, 0x6f, 0x38), 0, 16, 16, 31, 0, NONE, 1 },
	{ "vmovdqu64 [rax], zmm1", BYTES(0x62, 0xf1, 0xfe, 0x48, 0x7f, 0x08), 1, 64, 64, 1, 0, NONE, 0 },
	{ "vmovdqa32 zmm1, [rax]", BYTES(0x62, 0xf1, 0x7d, 0x48, 0x6f, 0x08), 0, 64, 64, 1, 0, NONE, 1 },
	{ "vmovsd xmm17, [rax]", BYTES(0x62, 0xe1, 0xff, 0x08, 0x10, 0x08), 0, 8, 16, 17, 0, NONE, 1 },
	{ "vmovhps xmm1, xmm18, [rax]", BYTES(0x62, 0xf1, 0x6c, 0x00, 0x16, 0x08), 0, 8, 16, 1, 8, 18, 1 },
	{ "vmovsh xmm1, [rax]", BYTES(0x62, 0xf5, 0x7e, 0x08, 0x10, 0x08), 0, 2, 16, 1, 0, NONE, 1 },
};

static void moves_of_vector_registers_are_decoded(void **unused)
{
	const struct vector_case *test;
	struct mimic_instruction instruction;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(vector_cases) / sizeof(vector_cases[0]); i++) {
		test = &vector_cases[i];
		decode_whole(test->name, test->bytes, test->count, &instruction);
		EXPECT(operation, MIMIC_OPERATION_MOVE);
		EXPECT(operand, MIMIC_OPERAND_VECTOR);
		EXPECT(is_write, test->is_write);
		EXPECT(memory_size, test->memory_size);
		EXPECT(register_size, test->register_size);
		EXPECT(reg, test->reg);
		EXPECT(register_offset, test->register_offset);
		EXPECT(merge_register, test->merge_register);
		EXPECT(clears_upper, test->clears_upper);
	}
}

/* --- addresses ----------------------------------------------------------- */

/* Register n holds (n + 1) << 32 plus n << 8; fs 0x7000000000000, gs 0x6000000000000. */
#define GPR(n) (((uint64_t)(n) + 1) << 32 | (uint64_t)(n) << 8)
#define FS 0x7000000000000u
#define GS 0x6000000000000u
#define RIP 0x400000u

struct address_case {
	const char *name;
	uint8_t bytes[16];
	size_t count;
	uint64_t address;
};

static const struct address_case address_cases[] = {
	{ "[rbx]", BYTES(0x8b, 0x03), GPR(RBX) },
	{ "[r11]", BYTES(0x41, 0x8b, 0x03), GPR(R11) },
	{ "[rsp]", BYTES(0x8b, 0x04, 0x24), GPR(RSP) },
	{ "[r12]", BYTES(0x41, 0x8b, 0x04, 0x24), GPR(R12) },
	{ "[rbp+0]", BYTES(0x8b, 0x45, 0x00), GPR(RBP) },
	{ "[r13+0]", BYTES(0x41, 0x8b, 0x45, 0x00), GPR(R13) },
	{ "[rbx-1]", BYTES(0x8b, 0x43, 0xff), GPR(RBX) - 1 },
	{ "[rbx+0x12345678]", BYTES(0x8b, 0x83, 0x78, 0x56, 0x34, 0x12), GPR(RBX) + 0x12345678 },
	{ "[rbx-0x80000000]", BYTES(0x8b, 0x83, 0, 0, 0, 0x80), GPR(RBX) - 0x80000000 },
	{ "[rbx+rcx]", BYTES(0x8b, 0x04, 0x0b), GPR(RBX) + GPR(RCX) },
	{ "[rbx+rcx*8]", BYTES(0x8b, 0x04, 0xcb), GPR(RBX) + 8 * GPR(RCX) },
	{ "[rbx+r12*4]", BYTES(0x42, 0x8b, 0x04, 0xa3), GPR(RBX) + 4 * GPR(R12) },
	{ "[r11+r14*2+1]", BYTES(0x43, 0x8b, 0x44, 0x73, 1), GPR(R11) + 2 * GPR(R14) + 1 },
	{ "[rbp+rcx+0]", BYTES(0x8b, 0x44, 0x0d, 0), GPR(RBP) + GPR(RCX) },
	{ "[rcx*4+0x10]", BYTES(0x8b, 0x04, 0x8d, 0x10, 0, 0, 0), 4 * GPR(RCX) + 0x10 },
	{ "[0x1000]", BYTES(0x8b, 0x04, 0x25, 0, 0x10, 0, 0), 0x1000 },
	{ "[0x1000] with REX.B", BYTES(0x41, 0x8b, 0x04, 0x25, 0, 0x10, 0, 0), 0x1000 },
	{ "[-0x1000]", BYTES(0x8b, 0x04, 0x25, 0, 0xf0, 0xff, 0xff), 0xfffffffffffff000 },
	{ "[rip+0x10]", BYTES(0x8b, 0x05, 0x10, 0, 0, 0), RIP + 6 + 0x10 },
	{ "[rip+0x10] with REX.B", BYTES(0x41, 0x8b, 0x05, 0x10, 0, 0, 0), RIP + 7 + 0x10 },
	{ "[rip-0x10], an immediate behind", BYTES(0xc7, 0x05, 0xf0, 0xff, 0xff, 0xff, 1, 2, 3, 4),
	  RIP + 10 - 0x10 },
	{ "[eip+0x10]", BYTES(0x67, 0x8b, 0x05, 0x10, 0, 0, 0), RIP + 7 + 0x10 },
	{ "[eip-0x500000]", BYTES(0x67, 0x8b, 0x05, 0, 0, 0xb0, 0xff), 0xfff00007 },
	{ "[ebx]", BYTES(0x67, 0x8b, 0x03), 0x300 },
	{ "[ebx+ecx*2-0x600]", BYTES(0x67, 0x8b, 0x84, 0x4b, 0x00, 0xfa, 0xff, 0xff), 0xffffff00 },
	{ "fs:[rbx]", BYTES(0x64, 0x8b, 0x03), FS + GPR(RBX) },
	{ "gs:[0x28]", BYTES(0x65, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0), GS + 0x28 },
	{ "fs:[ebx]", BYTES(0x64, 0x67, 0x8b, 0x03), FS + 0x300 },
	{ "the last of gs and fs counts", BYTES(0x65, 0x64, 0x8b, 0x03), FS + GPR(RBX) },
	{ "ds is not there in 64-bit mode", BYTES(0x3e, 0x8b, 0x03), GPR(RBX) },
	{ "ds does not take fs back", BYTES(0x64, 0x3e, 0x8b, 0x03), FS + GPR(RBX) },
	{ "moffs", BYTES(0xa1, 8, 7, 6, 5, 4, 3, 2, 1), 0x0102030405060708 },
	{ "moffs32", BYTES(0x67, 0xa1, 4, 3, 2, 0xf1), 0xf1020304 },
	{ "fs:moffs", BYTES(0x64, 0xa1, 8, 0, 0, 0, 0, 0, 0, 0), FS + 8 },
	{ "EVEX disp8 times 64", BYTES(0x62, 0xf1, 0x7c, 0x48, 0x10, 0x43, 0xff), GPR(RBX) - 64 },
	{ "EVEX disp8 times 16", BYTES(0x62, 0xf1, 0x7c, 0x08, 0x10, 0x43, 2), GPR(RBX) + 32 },
	{ "EVEX disp8 times 8", BYTES(0x62, 0xf1, 0xff, 0x08, 0x10, 0x43, 2), GPR(RBX) + 16 },
	{ "EVEX disp32 as it is", BYTES(0x62, 0xf1, 0x7c, 0x48, 0x10, 0x83, 1, 0, 0, 0), GPR(RBX) + 1 },
	{ "EVEX r14 and r13", BYTES(0x62, 0x91, 0x7c, 0x48, 0x10, 0x44, 0x35, 0), GPR(R14) + GPR(R13) },
	{ "VEX r14 and r13", BYTES(0xc4, 0x81, 0x78, 0x10, 0x44, 0x35, 0), GPR(R14) + GPR(R13) },
};

static void effective_addresses_follow_the_tables(void **unused)
{
	const struct address_case *test;
	struct mimic_instruction instruction;
	uint64_t gpr[16], address;
	size_t i;

	(void)unused;
	for (i = 0; i < 16; i++)
		gpr[i] = GPR(i);
	for (i = 0; i < sizeof(address_cases) / sizeof(address_cases[0]); i++) {
		test = &address_cases[i];
		decode_whole(test->name, test->bytes, test->count, &instruction);
		address = mimic_effective_address(&instruction, gpr, RIP, FS, GS);
		if (address != test->address)
			fail_msg("%s: %#llx, not %#llx", test->name, (unsigned long long)address,
				 (unsigned long long)test->address);
	}
}

/* --- refusals ------------------------------------------------------------ */

static const struct bytes refused_cases[] = {
	{ "mov eax, ecx", BYTES(0x89, 0xc8) },
	{ "mov [rax], ds", BYTES(0x8c, 0x18) },
	{ "lea eax, [rax]", BYTES(0x8d, 0x00) },
	{ "shl dword [rax], 1", BYTES(0xd1, 0x20) },
	{ "mul dword [rax]", BYTES(0xf7, 0x20) },
	{ "call [rax]", BYTES(0xff, 0x10) },
	{ "FE /2, no instruction", BYTES(0xfe, 0x10) },
	{ "fld tbyte [rax]", BYTES(0xdb, 0x28) },
	{ "fstp tbyte [rax]", BYTES(0xdb, 0x38) },
	{ "fldcw [rax]", BYTES(0xd9, 0x28) },
	{ "fnstenv [rax]", BYTES(0xd9, 0x30) },
	{ "fnsave [rax]", BYTES(0xdd, 0x30) },
	{ "fnstsw [rax]", BYTES(0xdd, 0x38) },
	{ "fbld [rax]", BYTES(0xdf, 0x20) },
	{ "D9 /1, no instruction", BYTES(0xd9, 0x08) },
	{ "fld st1", BYTES(0xd9, 0xc1) },
	{ "push qword [rax]", BYTES(0xff, 0x30) },
	{ "pop qword [rax]", BYTES(0x8f, 0x00) },
	{ "cmpxchg [rax], ecx", BYTES(0x0f, 0xb1, 0x08) },
	{ "movsd, the string", BYTES(0xa5) },
	{ "rep stosd", BYTES(0xf3, 0xab) },
	{ "C6 /1, no instruction", BYTES(0xc6, 0x08, 0x01) },
	{ "82 /7, not in 64-bit mode", BYTES(0x82, 0x38, 0x01) },
	{ "popcnt eax, [rax]", BYTES(0xf3, 0x0f, 0xb8, 0x00) },
	{ "crc32 eax, [rax]", BYTES(0xf2, 0x0f, 0x38, 0xf1, 0x00) },
	{ "66 0F C3, no instruction", BYTES(0x66, 0x0f, 0xc3, 0x00) },
	{ "movq mm0, [rax]", BYTES(0x0f, 0x6f, 0x00) },
	{ "movd mm0, [rax]", BYTES(0x0f, 0x6e, 0x00) },
	{ "movntq [rax], mm0", BYTES(0x0f, 0xe7, 0x00) },
	{ "movhlps xmm0, xmm0", BYTES(0x0f, 0x12, 0xc0) },
	{ "movddup xmm0, [rax]", BYTES(0xf2, 0x0f, 0x12, 0x00) },
	{ "movaps with F3, no instruction", BYTES(0xf3, 0x0f, 0x28, 0x00) },
	{ "addss xmm0, [rax]", BYTES(0xf3, 0x0f, 0x58, 0x00) },
	{ "vmovups with vvvv", BYTES(0xc5, 0xf0, 0x10, 0x00) },
	{ "vmovd with L", BYTES(0xc5, 0xfd, 0x6e, 0x00) },
	{ "VEX after 66", BYTES(0x66, 0xc5, 0xf8, 0x10, 0x00) },
	{ "VEX after REX", BYTES(0x40, 0xc5, 0xf8, 0x10, 0x00) },
	{ "EVEX after F3", BYTES(0xf3, 0x62, 0xf1, 0x7c, 0x48, 0x10, 0x00) },
	{ "vmovups zmm0{k1}, [rax]", BYTES(0x62, 0xf1, 0x7c, 0x49, 0x10, 0x00) },
	{ "EVEX with z and no mask", BYTES(0x62, 0xf1, 0x7c, 0xc8, 0x10, 0x00) },
	{ "EVEX with b", BYTES(0x62, 0xf1, 0x7c, 0x58, 0x10, 0x00) },
	{ "EVEX with length 3", BYTES(0x62, 0xf1, 0x7c, 0x68, 0x10, 0x00) },
	{ "EVEX vmovups with W", BYTES(0x62, 0xf1, 0xfc, 0x48, 0x10, 0x00) },
	{ "EVEX with V'", BYTES(0x62, 0xf1, 0x7c, 0x40, 0x10, 0x00) },
	{ "EVEX with a reserved bit", BYTES(0x62, 0xf9, 0x7c, 0x48, 0x10, 0x00) },
	{ "vpgatherdd", BYTES(0xc4, 0xe2, 0x75, 0x90, 0x04, 0x08) },
	{ "vmaskmovps", BYTES(0xc4, 0xe2, 0x75, 0x2c, 0x00) },
	{ "15 prefixes", BYTES(0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
			       0x66, 0x66, 0x66) },
	{ "16 bytes", BYTES(0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
			    0x66, 0x66, 0x8b, 0x00) },
};

static void anything_else_is_refused(void **unused)
{
	struct mimic_instruction instruction;
	const struct bytes *test;
	uint8_t bytes[16];
	size_t i;
	int result;

	(void)unused;
	for (i = 0; i < sizeof(refused_cases) / sizeof(refused_cases[0]); i++) {
		test = &refused_cases[i];
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, test->bytes, test->count);
		result = mimic_decode(bytes, sizeof(bytes), &instruction);
		if (result != -EOPNOTSUPP)
			fail_msg("%s: %d", test->name, result);
	}
}

static const struct bytes locked_cases[] = {
	{ "lock add [rax], eax", BYTES(0xf0, 0x01, 0x00) },
	{ "lock or dword [rax], 1", BYTES(0xf0, 0x83, 0x08, 0x01) },
	{ "lock xadd [rax], ecx", BYTES(0xf0, 0x0f, 0xc1, 0x08) },
	{ "lock cmpxchg16b [rax]", BYTES(0xf0, 0x48, 0x0f, 0xc7, 0x08) },
	{ "lock mov, no instruction", BYTES(0xf0, 0x89, 0x00) },
	{ "xchg [rax], eax", BYTES(0x87, 0x00) },
	{ "xchg [rax], cl", BYTES(0x86, 0x08) },
};

static void instructions_that_lock_memory_are_recognised(void **unused)
{
	struct mimic_instruction instruction;
	uint8_t bytes[16];
	size_t i;
	int result;

	(void)unused;
	for (i = 0; i < sizeof(locked_cases) / sizeof(locked_cases[0]); i++) {
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, locked_cases[i].bytes, locked_cases[i].count);
		result = mimic_decode(bytes, sizeof(bytes), &instruction);
		if (result != -ENOLCK)
			fail_msg("%s: %d", locked_cases[i].name, result);
	}
}

/* --- updates and x87 ------------------------------------------------------ */

struct update_case {
	const char *name;
	uint8_t bytes[16];
	size_t count;
	unsigned int operation;
	unsigned int memory_size;
	unsigned int operand;
	unsigned int reg;
	uint64_t immediate;
};

static const struct update_case update_cases[] = {
	{ "add [rax], cl", BYTES(0x00, 0x08), MIMIC_OPERATION_ADD, 1, MIMIC_OPERAND_GENERAL, RCX, 0 },
	{ "or [rax], r9d", BYTES(0x44, 0x09, 0x08), MIMIC_OPERATION_OR, 4, MIMIC_OPERAND_GENERAL, R9, 0 },
	{ "adc [rax], dx", BYTES(0x66, 0x11, 0x10), MIMIC_OPERATION_ADC, 2, MIMIC_OPERAND_GENERAL, RDX, 0 },
	{ "xor [rax], rsi", BYTES(0x48, 0x31, 0x30), MIMIC_OPERATION_XOR, 8, MIMIC_OPERAND_GENERAL, RSI, 0 },
	{ "or dword [rax], 1", BYTES(0x83, 0x08, 0x01), MIMIC_OPERATION_OR, 4, MIMIC_OPERAND_IMMEDIATE, 0, 1 },
	{ "and qword [rax], -2", BYTES(0x48, 0x83, 0x20, 0xfe), MIMIC_OPERATION_AND, 8,
	  MIMIC_OPERAND_IMMEDIATE, 0, ~1ull },
	{ "sbb word [rax], 0x1234", BYTES(0x66, 0x81, 0x18, 0x34, 0x12), MIMIC_OPERATION_SBB, 2,
	  MIMIC_OPERAND_IMMEDIATE, 0, 0x1234 },
	{ "sub byte [rax], 5", BYTES(0x80, 0x28, 0x05), MIMIC_OPERATION_SUB, 1, MIMIC_OPERAND_IMMEDIATE, 0, 5 },
	{ "not dword [rax]", BYTES(0xf7, 0x10), MIMIC_OPERATION_NOT, 4, MIMIC_OPERAND_IMMEDIATE, 0, 0 },
	{ "neg byte [rax]", BYTES(0xf6, 0x18), MIMIC_OPERATION_NEG, 1, MIMIC_OPERAND_IMMEDIATE, 0, 0 },
	{ "inc qword [rax]", BYTES(0x48, 0xff, 0x00), MIMIC_OPERATION_INC, 8, MIMIC_OPERAND_IMMEDIATE, 0, 1 },
	{ "dec byte [rax]", BYTES(0xfe, 0x08), MIMIC_OPERATION_DEC, 1, MIMIC_OPERAND_IMMEDIATE, 0, 1 },
};

static void updates_of_memory_are_decoded(void **unused)
{
	const struct update_case *test;
	struct mimic_instruction instruction;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(update_cases) / sizeof(update_cases[0]); i++) {
		test = &update_cases[i];
		decode_whole(test->name, test->bytes, test->count, &instruction);
		EXPECT(is_update, 1);
		EXPECT(is_write, 0);
		EXPECT(memory_first, 1);
		EXPECT(operation, test->operation);
		EXPECT(operand, test->operand);
		EXPECT(memory_size, test->memory_size);
		EXPECT(register_size, test->memory_size);
		EXPECT(reg, test->reg);
		EXPECT(immediate, test->immediate);
	}
}

struct x87_case {
	const char *name;
	uint8_t bytes[16];
	size_t count;
	unsigned int is_write;
	unsigned int memory_size;
};

static const struct x87_case x87_cases[] = {
	{ "fld dword [rax]", BYTES(0xd9, 0x00), 0, 4 },
	{ "fld qword [rax]", BYTES(0xdd, 0x00), 0, 8 },
	{ "fst dword [rax]", BYTES(0xd9, 0x10), 1, 4 },
	{ "fstp qword [rax]", BYTES(0xdd, 0x18), 1, 8 },
	{ "fild word [rax]", BYTES(0xdf, 0x00), 0, 2 },
	{ "fild dword [rax]", BYTES(0xdb, 0x00), 0, 4 },
	{ "fild qword [rax]", BYTES(0xdf, 0x28), 0, 8 },
	{ "fist word [rax]", BYTES(0xdf, 0x10), 1, 2 },
	{ "fistp qword [rax]", BYTES(0xdf, 0x38), 1, 8 },
	{ "fisttp dword [rax]", BYTES(0xdb, 0x08), 1, 4 },
	{ "fadd dword [rax]", BYTES(0xd8, 0x00), 0, 4 },
	{ "fidivr word [rax]", BYTES(0xde, 0x38), 0, 2 },
	{ "fcomp qword [rax]", BYTES(0xdc, 0x18), 0, 8 },
};

static void x87_with_memory_is_decoded(void **unused)
{
	const struct x87_case *test;
	struct mimic_instruction instruction;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(x87_cases) / sizeof(x87_cases[0]); i++) {
		test = &x87_cases[i];
		decode_whole(test->name, test->bytes, test->count, &instruction);
		EXPECT(operand, MIMIC_OPERAND_X87);
		EXPECT(operation, MIMIC_OPERATION_MOVE);
		EXPECT(is_write, test->is_write);
		EXPECT(is_update, 0);
		EXPECT(memory_size, test->memory_size);
		EXPECT(reg, (test->bytes[0] & 7) << 3 | (test->bytes[1] >> 3 & 7));
	}
}

/* --- length -------------------------------------------------------------- */

static void too_few_bytes_ask_for_more(void **unused)
{
	static const struct bytes cases[] = {
		{ "mov [rbx+rcx*8+disp32], imm32",
		  BYTES(0x64, 0x66, 0x48, 0xc7, 0x84, 0xcb, 1, 2, 3, 4, 5, 6, 7, 8) },
		{ "mov rax, moffs64", BYTES(0x48, 0xa1, 1, 2, 3, 4, 5, 6, 7, 8) },
		{ "movbe", BYTES(0x0f, 0x38, 0xf0, 0x40, 1) },
		{ "vmovdqu", BYTES(0xc4, 0xc1, 0x7e, 0x6f, 0x44, 0x24, 1) },
		{ "vmovups zmm", BYTES(0x62, 0xf1, 0x7c, 0x48, 0x10, 0x84, 0x24, 1, 2, 3, 4) },
	};
	struct mimic_instruction instruction;
	size_t i, count;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		decode_whole(cases[i].name, cases[i].bytes, cases[i].count, &instruction);
		for (count = 0; count < cases[i].count; count++)
			assert_int_equal(mimic_decode(cases[i].bytes, count, &instruction), -ENODATA);
	}
}

static void the_longest_instruction_has_fifteen_bytes(void **unused)
{
	static const uint8_t bytes[] = {
		0x66, 0x66, 0x66, 0x64, 0x67, 0x48, 0xc7, 0x80, 1, 2, 3, 4, 5, 6, 7, 8,
	};
	struct mimic_instruction instruction;

	(void)unused;
	/* The last 15 of these 16 bytes are an instruction, all 16 are too many. */
	assert_int_equal(mimic_decode(bytes + 1, 15, &instruction), 0);
	assert_int_equal(instruction.length, 15);
	assert_int_equal(mimic_decode(bytes, 14, &instruction), -ENODATA);
	assert_int_equal(mimic_decode(bytes, 15, &instruction), -EOPNOTSUPP);
	assert_int_equal(mimic_decode(bytes, 16, &instruction), -EOPNOTSUPP);
}

static void bytes_behind_the_instruction_do_not_matter(void **unused)
{
	static const uint8_t bytes[] = { 0x48, 0x8b, 0x07, 0x0f, 0x0b, 0xf0 };
	struct mimic_instruction instruction;

	(void)unused;
	assert_int_equal(mimic_decode(bytes, sizeof(bytes), &instruction), 0);
	assert_int_equal(instruction.length, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_of_general_registers_are_decoded),
		cmocka_unit_test(immediates_with_memory_are_decoded),
		cmocka_unit_test(operations_that_only_read_memory_are_decoded),
		cmocka_unit_test(updates_of_memory_are_decoded),
		cmocka_unit_test(x87_with_memory_is_decoded),
		cmocka_unit_test(instructions_that_lock_memory_are_recognised),
		cmocka_unit_test(moves_of_vector_registers_are_decoded),
		cmocka_unit_test(effective_addresses_follow_the_tables),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(too_few_bytes_ask_for_more),
		cmocka_unit_test(the_longest_instruction_has_fifteen_bytes),
		cmocka_unit_test(bytes_behind_the_instruction_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
