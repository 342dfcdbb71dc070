/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The decoder on any bytes. It must read only the bytes that are available
 * (each prefix of the input lies in an allocation of its exact size, for the
 * address sanitizer); ask for more bytes until it can tell, and then give the
 * same answer with more; and accept only loads and stores that the emulation
 * can carry out.
 *
 * And the jumps that may replace it: each leads to where it should, reads no byte that is not
 * there, and changes no byte but the instruction's own. So every other address that a program may
 * jump to has the bytes that it had.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/base/decode.h"
#include "libmimic/preload/patch_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
	if (!condition)
		abort();
}

static int decode_copy(const uint8_t *data, size_t size, struct mimic_instruction *instruction)
{
	uint8_t *copy = malloc(size ? size : 1);
	int result;

	check(copy != NULL);
	memcpy(copy, data, size);
	/* An empty allocation has one byte; beyond it is beyond `available`, too. */
	result = mimic_decode(size ? copy : copy + 1, size, instruction);
	free(copy);
	return result;
}

static int is_power_of_two(unsigned int value)
{
	return value && !(value & (value - 1));
}

static void check_register(const struct mimic_instruction *instruction)
{
	int vector = instruction->operand == MIMIC_OPERAND_VECTOR;
	int x87 = instruction->operand == MIMIC_OPERAND_X87;

	check(instruction->operand <= MIMIC_OPERAND_X87);
	check(instruction->reg < (x87 ? 64 : vector ? 32 : 16));
	check(is_power_of_two(instruction->register_size));
	check(instruction->register_size <= (vector ? 64 : 8));
	check(instruction->register_size >= instruction->memory_size);
	check(vector || (!instruction->register_offset && !instruction->clears_upper));
	check(instruction->register_offset + instruction->memory_size <= 64);
	check(instruction->merge_register == MIMIC_NO_REGISTER ||
	      (vector && instruction->merge_register < 32));
	if (instruction->high_byte)
		check(!vector && instruction->reg < 4 && instruction->register_size == 1);
}

static void check_address(const struct mimic_instruction *instruction)
{
	check(instruction->base == MIMIC_NO_REGISTER || instruction->base < 16);
	check(instruction->index == MIMIC_NO_REGISTER || instruction->index < 16);
	check(instruction->index != 4);
	if (instruction->index == MIMIC_NO_REGISTER)
		check(instruction->scale == 0);
	else
		check(is_power_of_two(instruction->scale) && instruction->scale <= 8);
	check(!instruction->rip_relative || (instruction->base == MIMIC_NO_REGISTER &&
					     instruction->index == MIMIC_NO_REGISTER));
	check(instruction->segment <= MIMIC_SEGMENT_GS);
	check(instruction->address_size == 4 || instruction->address_size == 8);
}

static void check_accepted(const struct mimic_instruction *instruction, size_t available)
{
	check(instruction->length >= 1 && instruction->length <= available);
	check(instruction->length <= MIMIC_INSTRUCTION_MAX);
	check(instruction->operation <= MIMIC_OPERATION_DEC);
	check(!instruction->is_write || instruction->operation == MIMIC_OPERATION_MOVE);
	check(!instruction->is_update || (!instruction->is_write && instruction->memory_first));
	check(instruction->operation <= MIMIC_OPERATION_MOVE || instruction->is_update);
	check(is_power_of_two(instruction->memory_size) && instruction->memory_size <= 64);
	check_register(instruction);
	check_address(instruction);
}

/* Where prefixes, E9 and a distance lead: written a second time, from the manual. */
static uint64_t follow_jump(const uint8_t *text, uint64_t address)
{
	int32_t distance;

	for (; *text == 0x48; text++)
		address++;
	check(*text == 0xe9);
	memcpy(&distance, text + 1, sizeof(distance));
	return address + 5 + (uint64_t)(int64_t)distance;
}

static void check_jump(const struct patch_window *window, const uint8_t *data, size_t size,
		       unsigned int length, uint64_t address, uint64_t place)
{
	uint8_t jump[PATCH_JUMP_MAX];
	uint8_t text[20];

	mimic_preload_patch_jump(window, address, place, jump);
	check(window->changed <= length);
	check((size_t)window->changed + window->borrowed <= size);
	memcpy(text, data, size);
	memcpy(text, jump, window->changed);
	check(follow_jump(text, address) == place);
}

static void check_jumps(const uint8_t *data, size_t size, const struct mimic_instruction *instruction)
{
	struct patch_window windows[PATCH_WINDOWS_MAX];
	uint64_t address = 0x7f0000400000;
	uint8_t *copy = malloc(size);
	unsigned int count, i;

	check(copy != NULL);
	memcpy(copy, data, size);
	count = mimic_preload_patch_windows(address, copy, size, instruction->length, windows);
	free(copy);
	for (i = 0; i < count; i++) {
		check(windows[i].first <= windows[i].last);
		check_jump(&windows[i], data, size, instruction->length, address, windows[i].first);
		check_jump(&windows[i], data, size, instruction->length, address, windows[i].last);
	}
}

/* Nothing of the previous call may be left in the answer. */
static int same(const struct mimic_instruction *a, const struct mimic_instruction *b)
{
	return a->immediate == b->immediate && a->displacement == b->displacement &&
	       !memcmp(&a->length, &b->length,
		       sizeof(*a) - offsetof(struct mimic_instruction, length) -
		       /* padding at the end */
		       (sizeof(*a) - offsetof(struct mimic_instruction, address_size) - 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mimic_instruction first, instruction;
	int decided = -ENODATA;
	size_t available;
	int result;

	if (size > 20)
		size = 20;
	for (available = 0; available <= size; available++) {
		memset(&instruction, 0x5a, sizeof(instruction));
		result = decode_copy(data, available, &instruction);
		check(result == 0 || result == -ENODATA || result == -ENOLCK || result == -EOPNOTSUPP);
		check(result != -ENODATA || available < MIMIC_INSTRUCTION_MAX);
		if (decided != -ENODATA) {
			check(result == decided);
			if (!result)
				check(same(&instruction, &first));
			continue;
		}
		decided = result;
		if (result)
			continue;
		/* It asked for every byte before: it needed the last one. */
		check(instruction.length == available);
		check_accepted(&instruction, available);
		check_jumps(data, size, &instruction);
		first = instruction;
	}
	return 0;
}
