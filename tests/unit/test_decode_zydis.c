/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The decoder against zydis, over random byte strings. zydis names the
 * instruction and its operands; which of them are plain loads and stores, and
 * with which fields, is derived here from mnemonic and operands alone.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <Zydis/Zydis.h>

#include "libmimic/base/decode.h"
#include "tests/lib/sanitized.h"

#define LENGTH 15

struct decoded {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	const ZydisDecodedOperand *memory;
	const ZydisDecodedOperand *other;	/* register or immediate */
	const ZydisDecodedOperand *merge;	/* second register of vmovlps and its like */
};

/* --- random byte strings ------------------------------------------------- */

static uint64_t state;
static unsigned long seen[ZYDIS_MNEMONIC_MAX_VALUE + 1];	/* taken by both, by mnemonic */

static uint64_t random_bits(void)
{
	uint64_t value = (state += 0x9e3779b97f4a7c15u);

	/* splitmix64 */
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
	return value ^ (value >> 31);
}

static unsigned int below(unsigned int limit)
{
	return (unsigned int)(((random_bits() >> 32) * limit) >> 32);
}

static const uint8_t some_prefixes[] = {
	0x66, 0x66, 0x67, 0xf2, 0xf3, 0x64, 0x65, 0x2e, 0x36, 0x3e, 0x26, 0xf0,
	0x40, 0x41, 0x44, 0x48, 0x49, 0x4c, 0x4f,
};
static const uint8_t primary_opcodes[] = {
	0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xc6, 0xc7,
	0x63, 0x38, 0x39, 0x3a, 0x3b, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0xf6, 0xf7,
	0x02, 0x03, 0x0a, 0x0b, 0x12, 0x13, 0x1a, 0x1b, 0x22, 0x23, 0x2a, 0x2b, 0x32, 0x33,
	0x00, 0x01, 0x08, 0x09, 0x10, 0x11, 0x18, 0x19, 0x20, 0x21, 0x28, 0x29, 0x30, 0x31, 0x3c, 0x86,
	0x87, 0x8f, 0xfe, 0xff, 0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xd1,
};
static const uint8_t secondary_opcodes[] = {
	0xb6, 0xb7, 0xbe, 0xbf, 0xc3, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x28, 0x29, 0x2a,
	0x2b, 0x5a, 0x6e, 0x6f, 0x7e, 0x7f, 0xd6, 0xe7, 0xf0, 0xb8, 0xc2, 0xd7, 0x38, 0x3a,
};
static const uint8_t vector_opcodes[] = {
	0x10, 0x11, 0x12, 0x13, 0x16, 0x17, 0x28, 0x29, 0x2a, 0x2b, 0x6e, 0x6f, 0x7e, 0x7f,
	0xd6, 0xe7, 0xf0, 0x18, 0x58,
};
static const uint8_t tertiary_opcodes[] = { 0xf0, 0xf1, 0x2a, 0x2b, 0x00 };

#define PICK(list) ((list)[below(sizeof(list))])

static unsigned int put_prefixes(uint8_t *bytes)
{
	unsigned int count = below(2) ? below(3) : 0;
	unsigned int position = 0;

	/* Now and then so many that the instruction gets longer than 15 bytes. */
	if (!below(64))
		count = below(14);
	while (position < count)
		bytes[position++] = PICK(some_prefixes);
	return position;
}

static unsigned int put_vex(uint8_t *bytes)
{
	uint8_t last = below(256);

	if (below(4))
		last |= 0x78;
	if (below(2)) {
		bytes[0] = 0xc5;
		bytes[1] = last;
		bytes[2] = PICK(vector_opcodes);
		return 3;
	}
	bytes[0] = 0xc4;
	bytes[1] = (below(256) & 0xe0) | (below(16) ? 1 + below(2) : below(32));
	bytes[2] = last;
	bytes[3] = PICK(vector_opcodes);
	return 4;
}

static unsigned int put_evex(uint8_t *bytes)
{
	static const uint8_t maps[] = { 1, 1, 1, 2, 5, 6 };

	bytes[0] = 0x62;
	bytes[1] = (below(256) & 0xf0) | (below(16) ? PICK(maps) : below(16));
	bytes[2] = below(256) | (below(16) ? 0x04 : 0) | (below(4) ? 0x78 : 0);
	bytes[3] = below(256);
	if (below(8))
		bytes[3] &= 0x68;
	if (below(4))
		bytes[3] |= 0x08;
	bytes[4] = PICK(vector_opcodes);
	return 5;
}

static void random_string(uint8_t *bytes)
{
	uint64_t bits[2] = { random_bits(), random_bits() };
	unsigned int position;

	memcpy(bytes, bits, LENGTH);
	if (!below(4))
		return;
	position = put_prefixes(bytes);
	if (position > LENGTH - 5)
		return;
	switch (below(6)) {
	case 0: case 1:
		bytes[position++] = PICK(primary_opcodes);
		break;
	case 2:
		bytes[position++] = 0x0f;
		bytes[position++] = PICK(secondary_opcodes);
		break;
	case 3:
		bytes[position++] = 0x0f;
		bytes[position++] = 0x38;
		bytes[position++] = PICK(tertiary_opcodes);
		break;
	case 4:
		position += put_vex(bytes + position);
		break;
	case 5:
		position += put_evex(bytes + position);
		break;
	}
	/* Register operands are of no interest: fewer of them. */
	if (position < LENGTH && below(4))
		bytes[position] &= 0xbf;
}

/* --- meaning of zydis' answer -------------------------------------------- */

static bool is_arithmetic(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_OR: case ZYDIS_MNEMONIC_ADC:
	case ZYDIS_MNEMONIC_SBB: case ZYDIS_MNEMONIC_AND: case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_XOR: case ZYDIS_MNEMONIC_CMP: case ZYDIS_MNEMONIC_TEST:
		return true;
	default:
		return false;
	}
}

static bool is_move(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVZX: case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD: case ZYDIS_MNEMONIC_MOVBE: case ZYDIS_MNEMONIC_MOVNTI:
	case ZYDIS_MNEMONIC_MOVD: case ZYDIS_MNEMONIC_VMOVD:
	case ZYDIS_MNEMONIC_MOVQ: case ZYDIS_MNEMONIC_VMOVQ:
	case ZYDIS_MNEMONIC_MOVSS: case ZYDIS_MNEMONIC_VMOVSS:
	case ZYDIS_MNEMONIC_MOVSD: case ZYDIS_MNEMONIC_VMOVSD:
	case ZYDIS_MNEMONIC_MOVUPS: case ZYDIS_MNEMONIC_VMOVUPS:
	case ZYDIS_MNEMONIC_MOVUPD: case ZYDIS_MNEMONIC_VMOVUPD:
	case ZYDIS_MNEMONIC_MOVAPS: case ZYDIS_MNEMONIC_VMOVAPS:
	case ZYDIS_MNEMONIC_MOVAPD: case ZYDIS_MNEMONIC_VMOVAPD:
	case ZYDIS_MNEMONIC_MOVDQA: case ZYDIS_MNEMONIC_VMOVDQA:
	case ZYDIS_MNEMONIC_MOVDQU: case ZYDIS_MNEMONIC_VMOVDQU:
	case ZYDIS_MNEMONIC_VMOVDQA32: case ZYDIS_MNEMONIC_VMOVDQA64:
	case ZYDIS_MNEMONIC_VMOVDQU8: case ZYDIS_MNEMONIC_VMOVDQU16:
	case ZYDIS_MNEMONIC_VMOVDQU32: case ZYDIS_MNEMONIC_VMOVDQU64:
	case ZYDIS_MNEMONIC_MOVNTPS: case ZYDIS_MNEMONIC_VMOVNTPS:
	case ZYDIS_MNEMONIC_MOVNTPD: case ZYDIS_MNEMONIC_VMOVNTPD:
	case ZYDIS_MNEMONIC_MOVNTDQ: case ZYDIS_MNEMONIC_VMOVNTDQ:
	case ZYDIS_MNEMONIC_MOVNTDQA: case ZYDIS_MNEMONIC_VMOVNTDQA:
	case ZYDIS_MNEMONIC_MOVLPS: case ZYDIS_MNEMONIC_VMOVLPS:
	case ZYDIS_MNEMONIC_MOVLPD: case ZYDIS_MNEMONIC_VMOVLPD:
	case ZYDIS_MNEMONIC_MOVHPS: case ZYDIS_MNEMONIC_VMOVHPS:
	case ZYDIS_MNEMONIC_MOVHPD: case ZYDIS_MNEMONIC_VMOVHPD:
	case ZYDIS_MNEMONIC_LDDQU: case ZYDIS_MNEMONIC_VLDDQU:
	case ZYDIS_MNEMONIC_VMOVSH: case ZYDIS_MNEMONIC_VMOVW:
		return true;
	default:
		return false;
	}
}

/* Updates whose only operand is memory. */
static bool is_unary(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_NOT || mnemonic == ZYDIS_MNEMONIC_NEG ||
	       mnemonic == ZYDIS_MNEMONIC_INC || mnemonic == ZYDIS_MNEMONIC_DEC;
}

static bool is_x87(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_FLD: case ZYDIS_MNEMONIC_FST: case ZYDIS_MNEMONIC_FSTP:
	case ZYDIS_MNEMONIC_FILD: case ZYDIS_MNEMONIC_FIST: case ZYDIS_MNEMONIC_FISTP:
	case ZYDIS_MNEMONIC_FISTTP:
	case ZYDIS_MNEMONIC_FADD: case ZYDIS_MNEMONIC_FIADD:
	case ZYDIS_MNEMONIC_FMUL: case ZYDIS_MNEMONIC_FIMUL:
	case ZYDIS_MNEMONIC_FCOM: case ZYDIS_MNEMONIC_FICOM:
	case ZYDIS_MNEMONIC_FCOMP: case ZYDIS_MNEMONIC_FICOMP:
	case ZYDIS_MNEMONIC_FSUB: case ZYDIS_MNEMONIC_FISUB:
	case ZYDIS_MNEMONIC_FSUBR: case ZYDIS_MNEMONIC_FISUBR:
	case ZYDIS_MNEMONIC_FDIV: case ZYDIS_MNEMONIC_FIDIV:
	case ZYDIS_MNEMONIC_FDIVR: case ZYDIS_MNEMONIC_FIDIVR:
		return true;
	default:
		return false;
	}
}

static bool is_any_of_ours(ZydisMnemonic mnemonic)
{
	return is_move(mnemonic) || is_arithmetic(mnemonic) || is_unary(mnemonic) || is_x87(mnemonic);
}

static bool is_half_of_register(ZydisMnemonic mnemonic, bool *high)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MOVLPS: case ZYDIS_MNEMONIC_VMOVLPS:
	case ZYDIS_MNEMONIC_MOVLPD: case ZYDIS_MNEMONIC_VMOVLPD:
		*high = false;
		return true;
	case ZYDIS_MNEMONIC_MOVHPS: case ZYDIS_MNEMONIC_VMOVHPS:
	case ZYDIS_MNEMONIC_MOVHPD: case ZYDIS_MNEMONIC_VMOVHPD:
		*high = true;
		return true;
	default:
		*high = false;
		return false;
	}
}

static bool is_vector(ZydisRegister reg)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(reg);

	return class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM ||
	       class == ZYDIS_REGCLASS_ZMM;
}

static bool is_general(ZydisRegister reg)
{
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8: case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32: case ZYDIS_REGCLASS_GPR64:
		return true;
	default:
		return false;
	}
}

static bool is_high_byte(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
}

/* Sorts the explicit operands; false if they are not one memory operand and registers or an immediate. */
static bool sort_operands(struct decoded *decoded)
{
	unsigned int i;

	decoded->memory = decoded->other = decoded->merge = NULL;
	for (i = 0; i < decoded->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &decoded->operands[i];

		if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			continue;
		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			if (decoded->memory || operand->mem.type != ZYDIS_MEMOP_TYPE_MEM)
				return false;
			decoded->memory = operand;
		} else if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
			if (decoded->other)
				return false;
			decoded->other = operand;
		} else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
			   ZydisRegisterGetClass(operand->reg.value) == ZYDIS_REGCLASS_MASK) {
			/* k0 in this place stands for "no mask"; masks are refused below. */
			continue;
		} else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			if (!is_general(operand->reg.value) && !is_vector(operand->reg.value))
				return false;
			if (!decoded->other)
				decoded->other = operand;
			else if (!decoded->merge)
				decoded->merge = operand;
			else
				return false;
		} else {
			return false;
		}
	}
	return decoded->memory && (decoded->other || is_unary(decoded->instruction.mnemonic));
}

/* The stack's registers are of no interest. 10 bytes are left out. */
static bool has_x87_memory(struct decoded *decoded)
{
	unsigned int i;

	decoded->memory = decoded->other = decoded->merge = NULL;
	for (i = 0; i < decoded->instruction.operand_count; i++) {
		if (decoded->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			decoded->memory = &decoded->operands[i];
	}
	return decoded->memory && decoded->memory->size != 80;
}

/* Is the instruction one of the loads, stores and updates? */
static bool is_ours(struct decoded *decoded)
{
	const ZydisDecodedInstruction *instruction = &decoded->instruction;

	if (is_x87(instruction->mnemonic))
		return has_x87_memory(decoded);
	if (instruction->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	    instruction->encoding != ZYDIS_INSTRUCTION_ENCODING_VEX &&
	    instruction->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX)
		return false;
	if (instruction->avx.mask.reg != ZYDIS_REGISTER_NONE &&
	    instruction->avx.mask.reg != ZYDIS_REGISTER_K0)
		return false;
	if (instruction->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID)
		return false;
	if (!sort_operands(decoded))
		return false;
	return true;
}

static int operation_of(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_ADD: return MIMIC_OPERATION_ADD;
	case ZYDIS_MNEMONIC_OR: return MIMIC_OPERATION_OR;
	case ZYDIS_MNEMONIC_ADC: return MIMIC_OPERATION_ADC;
	case ZYDIS_MNEMONIC_SBB: return MIMIC_OPERATION_SBB;
	case ZYDIS_MNEMONIC_AND: return MIMIC_OPERATION_AND;
	case ZYDIS_MNEMONIC_SUB: return MIMIC_OPERATION_SUB;
	case ZYDIS_MNEMONIC_XOR: return MIMIC_OPERATION_XOR;
	case ZYDIS_MNEMONIC_CMP: return MIMIC_OPERATION_CMP;
	case ZYDIS_MNEMONIC_TEST: return MIMIC_OPERATION_TEST;
	case ZYDIS_MNEMONIC_NOT: return MIMIC_OPERATION_NOT;
	case ZYDIS_MNEMONIC_NEG: return MIMIC_OPERATION_NEG;
	case ZYDIS_MNEMONIC_INC: return MIMIC_OPERATION_INC;
	case ZYDIS_MNEMONIC_DEC: return MIMIC_OPERATION_DEC;
	default: return MIMIC_OPERATION_MOVE;
	}
}

static unsigned int register_id(ZydisRegister reg)
{
	if (reg == ZYDIS_REGISTER_NONE)
		return MIMIC_NO_REGISTER;
	/* zydis numbers ah, ch, dh, bh between bl and spl. */
	if (is_high_byte(reg))
		return reg - ZYDIS_REGISTER_AH;
	if (ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR8)
		return reg < ZYDIS_REGISTER_AH ? reg - ZYDIS_REGISTER_AL :
						 4 + reg - ZYDIS_REGISTER_SPL;
	return ZydisRegisterGetId(reg);
}

static int segment_of(ZydisRegister segment)
{
	if (segment == ZYDIS_REGISTER_FS)
		return MIMIC_SEGMENT_FS;
	return segment == ZYDIS_REGISTER_GS ? MIMIC_SEGMENT_GS : MIMIC_SEGMENT_NONE;
}

static void expect_address(struct mimic_instruction *expected, const struct decoded *decoded)
{
	const ZydisDecodedOperandMem *memory = &decoded->memory->mem;
	const ZydisDecodedInstructionRaw *raw = &decoded->instruction.raw;

	expected->address_size = decoded->instruction.address_width / 8;
	expected->rip_relative = memory->base == ZYDIS_REGISTER_RIP ||
				 memory->base == ZYDIS_REGISTER_EIP;
	expected->base = expected->rip_relative ? MIMIC_NO_REGISTER : register_id(memory->base);
	expected->index = register_id(memory->index);
	expected->scale = memory->index == ZYDIS_REGISTER_NONE ? 0 : memory->scale;
	expected->displacement = memory->disp.has_displacement ? memory->disp.value : 0;
	/*
	 * mod 00 with SIB.base 101 means no base, with any REX.B (table 2-5
	 * of Intel's volume 2, and processors); zydis 4.0 makes it r13 without
	 * displacement where REX.B is set.
	 */
	if (raw->modrm.mod == 0 && raw->modrm.rm == 4 && raw->sib.base == 5) {
		expected->base = MIMIC_NO_REGISTER;
		expected->displacement = raw->disp.value;
	}
	/* zydis sign extends the 4-byte address of mov A0 to A3; an address size of 4 zero extends it. */
	if (decoded->instruction.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	    decoded->memory->encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64 &&
	    expected->address_size == 4)
		expected->displacement = (uint32_t)expected->displacement;
	expected->segment = segment_of(memory->segment);
}

static void expect_vector(struct mimic_instruction *expected, const struct decoded *decoded)
{
	bool high;
	bool half = is_half_of_register(decoded->instruction.mnemonic, &high);

	expected->operand = MIMIC_OPERAND_VECTOR;
	expected->register_offset = high ? 8 : 0;
	expected->register_size = expected->memory_size;
	if (expected->is_write)
		return;
	if (expected->register_size < 16)
		expected->register_size = 16;
	expected->clears_upper =
		decoded->instruction.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY;
	if (half)
		expected->merge_register =
			register_id((decoded->merge ? decoded->merge : decoded->other)->reg.value);
}

static void expect_general(struct mimic_instruction *expected, const struct decoded *decoded)
{
	ZydisMnemonic mnemonic = decoded->instruction.mnemonic;

	expected->operand = MIMIC_OPERAND_GENERAL;
	expected->high_byte = is_high_byte(decoded->other->reg.value);
	expected->register_size = decoded->other->size / 8;
	expected->sign_extend = mnemonic == ZYDIS_MNEMONIC_MOVSX ||
				mnemonic == ZYDIS_MNEMONIC_MOVSXD;
	expected->byte_swap = mnemonic == ZYDIS_MNEMONIC_MOVBE;
}

static unsigned int memory_size(const struct decoded *decoded)
{
	/*
	 * movsxd with a 16-bit register: zydis names 4 bytes, as AMD's manual does;
	 * Intel's has r/m16, and a processor reads 2 without touching the page
	 * behind them.
	 */
	if (decoded->instruction.mnemonic == ZYDIS_MNEMONIC_MOVSXD && decoded->other->size == 16)
		return 2;
	return decoded->memory->size / 8;
}

static struct mimic_instruction expect_x87(struct mimic_instruction expected, const struct decoded *decoded)
{
	expected.operation = MIMIC_OPERATION_MOVE;
	expected.memory_first = 0;
	expected.operand = MIMIC_OPERAND_X87;
	expected.register_size = expected.memory_size;
	expected.reg = (uint8_t)((decoded->instruction.opcode & 7) << 3 | decoded->instruction.raw.modrm.reg);
	return expected;
}

static struct mimic_instruction expectation(const struct decoded *decoded)
{
	struct mimic_instruction expected = { .merge_register = MIMIC_NO_REGISTER };
	const ZydisDecodedOperand *other = decoded->other;

	expected.length = decoded->instruction.length;
	expected.operation = operation_of(decoded->instruction.mnemonic);
	expected.is_write = !!(decoded->memory->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
	expected.is_update = expected.is_write && (decoded->memory->actions & ZYDIS_OPERAND_ACTION_MASK_READ);
	expected.is_write &= !expected.is_update;
	expected.memory_size = memory_size(decoded);
	expected.memory_first = expected.operation != MIMIC_OPERATION_MOVE &&
				decoded->memory == &decoded->operands[0];
	expect_address(&expected, decoded);
	if (is_x87(decoded->instruction.mnemonic))
		return expect_x87(expected, decoded);
	if (is_unary(decoded->instruction.mnemonic)) {
		expected.operand = MIMIC_OPERAND_IMMEDIATE;
		expected.register_size = expected.memory_size;
		expected.immediate = expected.operation == MIMIC_OPERATION_INC ||
				     expected.operation == MIMIC_OPERATION_DEC;
		return expected;
	}
	if (other->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		expected.operand = MIMIC_OPERAND_IMMEDIATE;
		expected.register_size = expected.memory_size;
		expected.immediate = other->imm.value.u;
		return expected;
	}
	expected.reg = register_id(other->reg.value);
	if (is_vector(other->reg.value))
		expect_vector(&expected, decoded);
	else
		expect_general(&expected, decoded);
	return expected;
}

/* --- the comparison ------------------------------------------------------ */

static void complain(const uint8_t *bytes, const char *what, long long ours, long long theirs,
		     const struct decoded *decoded)
{
	char text[3 * LENGTH + 1];
	unsigned int i;

	for (i = 0; i < LENGTH; i++)
		snprintf(text + 3 * i, 4, "%02x ", bytes[i]);
	fail_msg("%s: %s is %lld, zydis says %lld (%s, %u bytes)", text, what, ours, theirs,
		 ZydisMnemonicGetString(decoded->instruction.mnemonic),
		 decoded->instruction.length);
}

static void compare(const uint8_t *bytes, const struct mimic_instruction *ours,
		    const struct decoded *decoded)
{
	struct mimic_instruction theirs = expectation(decoded);
	uint64_t mask = ours->memory_size == 8 ? ~0ull : (1ull << (8 * (ours->memory_size & 7))) - 1;

#define COMPARE(field) do { \
	if (ours->field != theirs.field) \
		complain(bytes, #field, (long long)ours->field, (long long)theirs.field, decoded); \
} while (0)
	COMPARE(length);
	COMPARE(operation);
	COMPARE(is_write);
	COMPARE(is_update);
	COMPARE(memory_size);
	COMPARE(operand);
	COMPARE(reg);
	COMPARE(register_size);
	COMPARE(high_byte);
	COMPARE(sign_extend);
	COMPARE(byte_swap);
	COMPARE(memory_first);
	COMPARE(register_offset);
	COMPARE(merge_register);
	COMPARE(clears_upper);
	COMPARE(base);
	COMPARE(index);
	COMPARE(scale);
	COMPARE(displacement);
	COMPARE(segment);
	COMPARE(rip_relative);
	COMPARE(address_size);
	/* zydis leaves the immediates of test unextended; only these bytes mean anything. */
	if ((ours->immediate ^ theirs.immediate) & mask)
		complain(bytes, "immediate", (long long)ours->immediate,
			 (long long)theirs.immediate, decoded);
}

/* Among the prefixes of an instruction that has a byte after them. */
static bool has_lock_prefix(const uint8_t *bytes)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < LENGTH; i++) {
		if (bytes[i] == 0xf0)
			found = true;
		else if ((bytes[i] & 0xf0) != 0x40 && !memchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf2\xf3", bytes[i], 10))
			return found;
	}
	return false;
}

/* Returns whether both take the string. */
static bool check_string(const ZydisDecoder *zydis, const uint8_t *bytes)
{
	struct mimic_instruction ours;
	struct decoded decoded;
	ZydisDecoderContext context;
	bool supported = false;
	bool locks = false;
	int result, wanted;

	memset(&decoded.instruction, 0, sizeof(decoded.instruction));
	if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(zydis, &context, bytes, LENGTH,
						       &decoded.instruction)) &&
	    (is_any_of_ours(decoded.instruction.mnemonic) ||
	     decoded.instruction.mnemonic == ZYDIS_MNEMONIC_XCHG)) {
		ZydisDecoderDecodeOperands(zydis, &context, &decoded.instruction,
					   decoded.operands, ZYDIS_MAX_OPERAND_COUNT);
		locks = decoded.instruction.mnemonic == ZYDIS_MNEMONIC_XCHG && sort_operands(&decoded);
		supported = is_any_of_ours(decoded.instruction.mnemonic) && is_ours(&decoded);
	}
	/* -ENOLCK before any instruction; zydis takes the prefix only before one that can be locked. */
	if (has_lock_prefix(bytes)) {
		locks = true;
		supported = false;
	}
	wanted = locks ? -ENOLCK : supported ? 0 : -EOPNOTSUPP;
	result = mimic_decode(bytes, LENGTH, &ours);
	if (result != wanted)
		complain(bytes, "the answer", result, wanted, &decoded);
	if (!supported)
		return false;
	compare(bytes, &ours, &decoded);
	seen[decoded.instruction.mnemonic]++;
	/* One byte less is one too few; nothing behind the last one matters. */
	assert_int_equal(mimic_decode(bytes, ours.length - 1u, &ours), -ENODATA);
	assert_int_equal(mimic_decode(bytes, decoded.instruction.length, &ours), 0);
	return true;
}

static void decoder_agrees_with_zydis_on_random_byte_strings(void **unused)
{
	const unsigned long count = UNLESS_SANITIZED(12000000);
	unsigned long taken = 0, i;
	ZydisMnemonic mnemonic;
	ZydisDecoder zydis;
	uint8_t bytes[LENGTH];

	(void)unused;
	state = 20241;
	ZydisDecoderInit(&zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (i = 0; i < count; i++) {
		random_string(bytes);
		taken += check_string(&zydis, bytes);
	}
	print_message("# %lu byte strings compared with zydis, %lu of them loads and stores\n",
		      count, taken);
	/* A generator that no longer hits the instructions would make the test empty. */
	for (mnemonic = 0; mnemonic <= ZYDIS_MNEMONIC_MAX_VALUE; mnemonic++) {
		if (is_any_of_ours(mnemonic) && seen[mnemonic] < 50)
			fail_msg("only %lu times %s", seen[mnemonic], ZydisMnemonicGetString(mnemonic));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decoder_agrees_with_zydis_on_random_byte_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
