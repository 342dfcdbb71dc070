/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef __KERNEL__
#include <stdbool.h>
#endif

#include "libmimic/base/operate.h"

#define FLAG_CF 0x001u
#define FLAG_PF 0x004u
#define FLAG_AF 0x010u
#define FLAG_ZF 0x040u
#define FLAG_SF 0x080u
#define FLAG_OF 0x800u
#define FLAGS_ARITHMETIC (FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF | FLAG_OF)

unsigned int mimic_operate_piece(uint64_t address, unsigned int left)
{
	unsigned int size = 8;

	while (size > left || address % size)
		size /= 2;
	return size;
}

/* --- registers ----------------------------------------------------------- */

static uint64_t mimic_operate_swap_bytes(uint64_t value, unsigned int size)
{
	return __builtin_bswap64(value) >> (64 - 8 * size);
}

static uint64_t mimic_operate_sign_extend(uint64_t value, unsigned int size)
{
	unsigned int shift = 64 - 8 * size;

	return (uint64_t)((int64_t)(value << shift) >> shift);
}

/* The register or immediate operand, cut to its size. */
static uint64_t mimic_operate_operand_value(const struct mimic_instruction *instruction,
					    const struct mimic_registers *registers)
{
	uint64_t value = instruction->immediate;

	if (instruction->operand == MIMIC_OPERAND_GENERAL)
		value = registers->gpr[instruction->reg];
	if (instruction->high_byte)
		value >>= 8;
	return value & mimic_operate_mask(instruction->register_size);
}

static void mimic_operate_set_register(const struct mimic_instruction *instruction,
				       struct mimic_registers *registers, uint64_t value)
{
	uint64_t *gpr = &registers->gpr[instruction->reg];
	uint64_t mask = mimic_operate_mask(instruction->register_size);
	unsigned int shift = instruction->high_byte ? 8 : 0;

	/* A result of 4 bytes zeroes the upper half; of 1 or 2 it leaves the rest alone. */
	if (instruction->register_size == 4)
		*gpr = value & mask;
	else
		*gpr = (*gpr & ~(mask << shift)) | (value & mask) << shift;
}

/* --- arithmetic ---------------------------------------------------------- */

/* By hand: the compiler's builtin may call libgcc, which the kernel does not have. */
static bool mimic_operate_has_odd_parity(uint8_t byte)
{
	return 0x6996 >> ((byte ^ byte >> 4) & 15) & 1;
}

static uint32_t mimic_operate_flags_of_result(uint64_t result, unsigned int size)
{
	uint32_t flags = 0;

	if (!result)
		flags |= FLAG_ZF;
	if (result >> (8 * size - 1))
		flags |= FLAG_SF;
	if (!mimic_operate_has_odd_parity((uint8_t)result))
		flags |= FLAG_PF;
	return flags;
}

/* first + second + carry, or first - second - carry; all cut to `size` bytes. */
static uint64_t mimic_operate_add_or_subtract(uint64_t first, uint64_t second, bool carry, bool subtract,
					      unsigned int size, uint32_t *flags)
{
	uint64_t result = subtract ? first - second - carry : first + second + carry;
	uint64_t carries, overflow;

	result &= mimic_operate_mask(size);
	/* Bit n: the carry (borrow) out of bit n, of a full adder (subtractor). */
	if (subtract)
		carries = (~first & second) | (~(first ^ second) & result);
	else
		carries = (first & second) | ((first | second) & ~result);
	overflow = subtract ? (first ^ second) & (first ^ result) :
			      (first ^ result) & (second ^ result);
	*flags = mimic_operate_flags_of_result(result, size);
	if (carries >> (8 * size - 1) & 1)
		*flags |= FLAG_CF;
	if (carries & 8)
		*flags |= FLAG_AF;
	if (overflow >> (8 * size - 1) & 1)
		*flags |= FLAG_OF;
	return result;
}

static uint64_t mimic_operate_compute(unsigned int operation, uint64_t first, uint64_t second, bool carry,
				      unsigned int size, uint32_t *flags)
{
	uint64_t result;

	switch (operation) {
	case MIMIC_OPERATION_ADD:
		return mimic_operate_add_or_subtract(first, second, false, false, size, flags);
	case MIMIC_OPERATION_ADC:
		return mimic_operate_add_or_subtract(first, second, carry, false, size, flags);
	case MIMIC_OPERATION_SUB: case MIMIC_OPERATION_CMP:
		return mimic_operate_add_or_subtract(first, second, false, true, size, flags);
	case MIMIC_OPERATION_SBB:
		return mimic_operate_add_or_subtract(first, second, carry, true, size, flags);
	case MIMIC_OPERATION_OR:
		result = first | second;
		break;
	case MIMIC_OPERATION_XOR:
		result = first ^ second;
		break;
	default:
		result = first & second;
		break;
	}
	*flags = mimic_operate_flags_of_result(result, size);
	return result;
}

/* The result of an operation on `memory`, and the flags after it. */
static uint64_t mimic_operate_result(const struct mimic_instruction *instruction,
				     const struct mimic_registers *registers, uint64_t memory, uint32_t *flags)
{
	uint64_t other = mimic_operate_operand_value(instruction, registers);
	uint32_t carry = registers->flags & FLAG_CF;
	unsigned int size = instruction->memory_size;
	uint64_t result;

	switch (instruction->operation) {
	case MIMIC_OPERATION_NOT:
		*flags = registers->flags & FLAGS_ARITHMETIC;
		return ~memory & mimic_operate_mask(size);
	case MIMIC_OPERATION_NEG:
		return mimic_operate_add_or_subtract(0, memory, false, true, size, flags);
	case MIMIC_OPERATION_INC: case MIMIC_OPERATION_DEC:
		result = mimic_operate_add_or_subtract(memory, other, false,
						       instruction->operation == MIMIC_OPERATION_DEC, size,
						       flags);
		*flags = (*flags & ~FLAG_CF) | carry;
		return result;
	}
	return mimic_operate_compute(instruction->operation, instruction->memory_first ? memory : other,
				     instruction->memory_first ? other : memory, carry, size, flags);
}

static void mimic_operate_arithmetic(const struct mimic_instruction *instruction,
				     struct mimic_registers *registers, uint64_t memory)
{
	uint64_t result;
	uint32_t flags;

	result = mimic_operate_result(instruction, registers, memory, &flags);
	registers->flags = (registers->flags & ~(uint64_t)FLAGS_ARITHMETIC) | flags;
	/* Where memory is the first operand, the result goes to memory, or is dropped. */
	if (!instruction->memory_first && instruction->operation != MIMIC_OPERATION_TEST &&
	    instruction->operation != MIMIC_OPERATION_CMP)
		mimic_operate_set_register(instruction, registers, result);
}

/* --- the calls ----------------------------------------------------------- */

uint64_t mimic_operate_store_value(const struct mimic_instruction *instruction,
				   const struct mimic_registers *registers)
{
	uint64_t value = mimic_operate_operand_value(instruction, registers);

	return instruction->byte_swap ? mimic_operate_swap_bytes(value, instruction->memory_size) : value;
}

uint64_t mimic_operate_update_value(const struct mimic_instruction *instruction,
				    const struct mimic_registers *registers, uint64_t memory)
{
	uint32_t flags;

	return mimic_operate_result(instruction, registers,
				    memory & mimic_operate_mask(instruction->memory_size), &flags);
}

void mimic_operate_load(const struct mimic_instruction *instruction,
			struct mimic_registers *registers, uint64_t memory)
{
	unsigned int size = instruction->memory_size;

	memory &= mimic_operate_mask(size);
	if (instruction->operation != MIMIC_OPERATION_MOVE) {
		mimic_operate_arithmetic(instruction, registers, memory);
		return;
	}
	if (instruction->byte_swap)
		memory = mimic_operate_swap_bytes(memory, size);
	if (instruction->sign_extend)
		memory = mimic_operate_sign_extend(memory, size);
	mimic_operate_set_register(instruction, registers, memory);
}
