/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The decoders of arm64 and RISC-V on any words. The answer must be complete and depend on the word alone; an
 * accepted word must be a load or store that the emulation can carry out; and the answer must agree with the
 * manuals, read a second time: of RISC-V the word is made again from the answer, of arm64 registers lie in
 * fields of their own, which change nothing else, and displacements have the limits of their form.
 */
#include <errno.h>
#include <string.h>

#include "libmimic/base/load_store.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/input.h"

#define NONE MIMIC_LOAD_STORE_NONE
#define ARM64_FIELD(low) (31u << (low))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef int decoder(uint32_t instruction, struct mimic_load_store *result);

/* Nothing of the previous answer may be left in it; padding may. */
static void check_same(const struct mimic_load_store *a, const struct mimic_load_store *b)
{
	CHECK(a->displacement == b->displacement);
	CHECK(!memcmp(&a->length, &b->length, &a->writes_base + 1 - &a->length));
}

static int decode(decoder *decoder, uint32_t instruction, struct mimic_load_store *result)
{
	struct mimic_load_store again;
	int error;

	memset(result, 0x5a, sizeof(*result));
	memset(&again, 0xa5, sizeof(again));
	error = decoder(instruction, result);
	CHECK(error == 0 || error == -ENOLCK || error == -EOPNOTSUPP);
	CHECK(decoder(instruction, &again) == error);
	if (!error)
		check_same(result, &again);
	return error;
}

static void check_accepted(const struct mimic_load_store *result)
{
	unsigned int size = result->memory_size;

	CHECK(size && size <= 16 && !(size & (size - 1)));
	CHECK(size <= 8 || result->is_vector);
	CHECK(result->count == 1 || result->count == 2);
	CHECK(result->reg[0] < 32 && result->reg[1] < 32);
	CHECK(result->is_write <= 1 && result->is_vector <= 1);
	CHECK(!result->sign_size || (!result->is_write && !result->is_vector));
	CHECK(!result->sign_size || ((result->sign_size == 4 || result->sign_size == 8) && result->sign_size >= size));
	CHECK(result->base < 32 || result->base == NONE);
	CHECK(result->index < 32 || result->index == NONE);
	CHECK(result->index == NONE || (!result->displacement && !result->writes_base && result->base != NONE));
	CHECK(result->index != NONE || !(result->index_size | result->index_is_signed | result->shift));
	CHECK(!result->is_behind || result->writes_base);
	CHECK(result->base != NONE || !result->writes_base);
}

/* --- RISC-V ---------------------------------------------------------------------------------- */

static uint32_t encode_riscv(const struct mimic_load_store *result)
{
	uint32_t displacement = (uint32_t)result->displacement & 0xfff;
	uint32_t width = (uint32_t)__builtin_ctz(result->memory_size);

	/* Of 8 bytes all are there: neither signs nor zeros are added. */
	if (!result->is_write && !result->is_vector && !result->sign_size)
		width |= 4;
	if (result->is_write)
		return (displacement >> 5) << 25 | (uint32_t)result->reg[0] << 20 | (uint32_t)result->base << 15 | width << 12 |
		       (displacement & 31) << 7 | (result->is_vector ? 0x27 : 0x23);
	return displacement << 20 | (uint32_t)result->base << 15 | width << 12 | (uint32_t)result->reg[0] << 7 |
	       (result->is_vector ? 0x07 : 0x03);
}

static void check_riscv(uint32_t instruction)
{
	struct mimic_load_store result, other;
	int error = decode(mimic_decode_riscv, instruction, &result);

	if ((instruction & 3) != 3) {
		CHECK(decode(mimic_decode_riscv, instruction ^ 0xffff0000, &other) == error);
		if (!error)
			check_same(&result, &other);
	}
	CHECK(error != -ENOLCK || (instruction & 0x7f) == 0x2f);
	if (error)
		return;
	check_accepted(&result);
	CHECK(result.count == 1 && result.index == NONE && result.base != NONE && !result.writes_base);
	if (result.length == 4) {
		CHECK((instruction & 3) == 3 && encode_riscv(&result) == instruction);
		return;
	}
	CHECK(result.length == 2 && (instruction & 3) != 3);
	CHECK(result.displacement >= 0 && result.displacement < 512 && !(result.displacement % result.memory_size));
	/* A long one does the same. */
	CHECK(decode(mimic_decode_riscv, encode_riscv(&result), &other) == 0);
	other.length = 2;
	check_same(&result, &other);
}

/* --- arm64 ------------------------------------------------------------------------------------ */

/* The word with another register in that field: the same access but for that register, which is set right in the answer. */
static void check_field(uint32_t instruction, unsigned int low, const struct mimic_load_store *result, const uint8_t *reg)
{
	struct mimic_load_store other;
	ptrdiff_t place = reg - (const uint8_t *)result;
	uint32_t changed = instruction ^ ARM64_FIELD(low);

	CHECK(*reg == (instruction >> low & 31));
	CHECK(decode(mimic_decode_arm64, changed, &other) == 0);
	CHECK(((uint8_t *)&other)[place] == (changed >> low & 31));
	((uint8_t *)&other)[place] = *reg;
	check_same(result, &other);
}

static void check_displacement(uint32_t instruction, const struct mimic_load_store *result)
{
	int64_t displacement = result->displacement, unit = result->memory_size;

	if (result->base == NONE)
		CHECK(displacement >= -0x100000 && displacement < 0x100000 && !(displacement % 4));
	else if (result->count == 2)
		CHECK(displacement >= -64 * unit && displacement < 64 * unit && !(displacement % unit));
	/* The form whose number is never negative has this bit; of the ordered ones it is another's. */
	else if ((instruction >> 24 & 0x3b) == 0x39)
		CHECK(displacement >= 0 && displacement < 4096 * unit && !(displacement % unit));
	else
		CHECK(displacement >= -256 && displacement < 256);
}

static void check_arm64(uint32_t instruction)
{
	struct mimic_load_store result;
	int error = decode(mimic_decode_arm64, instruction, &result);

	/* Loads and stores have these two bits (C4.1). */
	CHECK(error == -EOPNOTSUPP || (instruction >> 25 & 5) == 4);
	if (error)
		return;
	check_accepted(&result);
	CHECK(result.length == 4);
	CHECK(result.index == NONE || (result.shift <= 4 && (!result.shift || 1u << result.shift == result.memory_size)));
	check_displacement(instruction, &result);
	check_field(instruction, 0, &result, &result.reg[0]);
	if (result.base != NONE)
		check_field(instruction, 5, &result, &result.base);
	if (result.index != NONE)
		check_field(instruction, 16, &result, &result.index);
	if (result.count == 2)
		check_field(instruction, 10, &result, &result.reg[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	while (input.size) {
		uint32_t instruction = (uint32_t)bytes(&input, 4);

		check_arm64(instruction);
		check_riscv(instruction);
	}
	return 0;
}
