/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The bytes of an instruction, and operands in memory.
 *
 * Reading past the available bytes yields 0 and marks the decoder short. mimic_decode()
 * then answers -ENODATA, so an answer never depends on a byte that was not there.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include "libmimic/base/decode_internal.h"

uint64_t mimic_decode_fetch(struct decoder *decoder, unsigned int size)
{
	const uint8_t *bytes = decoder->bytes + decoder->position;
	uint64_t value = 0;
	unsigned int i;

	if (decoder->available - decoder->position < size) {
		decoder->is_short = true;
		return 0;
	}
	for (i = 0; i < size; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	decoder->position += size;
	return value;
}

uint8_t mimic_decode_fetch_byte(struct decoder *decoder)
{
	if (decoder->position == decoder->available) {
		decoder->is_short = true;
		return 0;
	}
	return decoder->bytes[decoder->position++];
}

int64_t mimic_decode_fetch_signed(struct decoder *decoder, unsigned int size)
{
	uint64_t value = mimic_decode_fetch(decoder, size);

	if (size == 1)
		return (int8_t)value;
	if (size == 2)
		return (int16_t)value;
	return (int32_t)value;
}

/* --- memory operands ----------------------------------------------------- */

static void mimic_decode_displacement(struct decoder *decoder, unsigned int mod)
{
	struct mimic_instruction *instruction = decoder->instruction;

	if (mod == 1)
		instruction->displacement = mimic_decode_fetch_signed(decoder, 1) * decoder->displacement_unit;
	else if (mod == 2)
		instruction->displacement = mimic_decode_fetch_signed(decoder, 4);
}

static void mimic_decode_sib(struct decoder *decoder, unsigned int mod)
{
	struct mimic_instruction *instruction = decoder->instruction;
	uint8_t byte = mimic_decode_fetch_byte(decoder);
	uint8_t index = ((byte >> 3) & 7) | decoder->index_high;

	if (index != 4) {
		instruction->index = index;
		instruction->scale = 1 << (byte >> 6);
	}
	if ((byte & 7) == 5 && mod == 0) {
		instruction->displacement = mimic_decode_fetch_signed(decoder, 4);
		return;
	}
	instruction->base = (byte & 7) | decoder->base_high;
	mimic_decode_displacement(decoder, mod);
}

int mimic_decode_memory(struct decoder *decoder)
{
	struct mimic_instruction *instruction = decoder->instruction;
	uint8_t byte = mimic_decode_fetch_byte(decoder);
	unsigned int mod = byte >> 6;
	unsigned int rm = byte & 7;

	if (mod == 3)
		return -EOPNOTSUPP;
	decoder->modrm_reg = (byte >> 3) & 7;
	if (rm == 4) {
		mimic_decode_sib(decoder, mod);
	} else if (rm == 5 && mod == 0) {
		instruction->rip_relative = 1;
		instruction->displacement = mimic_decode_fetch_signed(decoder, 4);
	} else {
		instruction->base = rm | decoder->base_high;
		mimic_decode_displacement(decoder, mod);
	}
	return 0;
}
