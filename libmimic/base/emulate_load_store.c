/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Trapped accesses on arm64 and RISC-V. emulate.c has those of x86-64. */
#include <errno.h>
#include <string.h>

#include "libmimic/base/context.h"
#include "libmimic/base/emulate.h"
#include "libmimic/base/emulate_registers.h"
#include "libmimic/base/emulate_transfer.h"
#include "libmimic/base/load_store.h"

#if MIMIC_HAS_LOAD_STORE

static uint64_t extend(uint64_t value, unsigned int size)
{
	unsigned int shift = 64 - 8 * size;

	return (uint64_t)((int64_t)(value << shift) >> shift);
}

static uint64_t cut(uint64_t value, unsigned int size)
{
	return size < 8 ? value & ((1ull << 8 * size) - 1) : value;
}

static uint64_t base_of(const struct mimic_load_store *decoded, const ucontext_t *context)
{
	if (decoded->base == MIMIC_LOAD_STORE_NONE)
		return mimic_context_instruction(context);
	return mimic_registers_base(context, decoded->base);
}

static uintptr_t address_of(const struct mimic_load_store *decoded, const ucontext_t *context)
{
	uint64_t address = base_of(decoded, context), index;

	if (decoded->index != MIMIC_LOAD_STORE_NONE) {
		index = cut(mimic_registers_general(context, decoded->index), decoded->index_size);
		if (decoded->index_is_signed)
			index = extend(index, decoded->index_size);
		address += index << decoded->shift;
	}
	return address + (decoded->is_behind ? 0 : (uint64_t)decoded->displacement);
}

/* The value of a general register after a load of these bytes of memory, the rest of which is 0. */
static uint64_t loaded(const struct mimic_load_store *decoded, uint64_t memory)
{
	if (!decoded->sign_size)
		return memory;
	return cut(extend(memory, decoded->memory_size), decoded->sign_size);
}

static int store(const struct mimic_load_store *decoded, ucontext_t *context, mimic_bus_access access, void *bus)
{
	uintptr_t address = address_of(decoded, context);
	unsigned int size = decoded->memory_size;
	uint8_t value[16];
	uint64_t general;
	int error = 0;

	for (unsigned int i = 0; !error && i < decoded->count; i++) {
		general = 0;
		if (!decoded->is_vector)
			general = mimic_registers_general(context, decoded->reg[i]);
		else if (!mimic_registers_get_vector(context, decoded->reg[i], value))
			return -EOPNOTSUPP;
		if (!decoded->is_vector)
			memcpy(value, &general, sizeof(general));
		error = mimic_emulate_transfer(access, bus, address + i * size, size, true, value);
	}
	return error;
}

static void set_register(const struct mimic_load_store *decoded, ucontext_t *context, unsigned int number,
			 const uint8_t value[16])
{
	uint64_t general;

	memcpy(&general, value, sizeof(general));
	if (decoded->is_vector)
		mimic_registers_set_vector(context, number, value, decoded->memory_size);
	else
		mimic_registers_set_general(context, number, loaded(decoded, general));
}

/* Registers change when all of it is here. */
static int load(const struct mimic_load_store *decoded, ucontext_t *context, mimic_bus_access access, void *bus)
{
	uintptr_t address = address_of(decoded, context);
	unsigned int size = decoded->memory_size;
	uint8_t values[2][16] = { 0 };
	int error;

	if (decoded->is_vector && !mimic_registers_get_vector(context, decoded->reg[0], values[0]))
		return -EOPNOTSUPP;
	memset(values, 0, sizeof(values));
	for (unsigned int i = 0; i < decoded->count; i++) {
		error = mimic_emulate_transfer(access, bus, address + i * size, size, false, values[i]);
		if (error)
			return error;
	}
	for (unsigned int i = 0; i < decoded->count; i++)
		set_register(decoded, context, decoded->reg[i], values[i]);
	return 0;
}

int mimic_emulate(ucontext_t *context, mimic_bus_access access, void *bus)
{
	uintptr_t instruction = mimic_context_instruction(context);
	struct mimic_load_store decoded;
	uint64_t base;
	int error;

	if (mimic_registers_is_fetch(context))
		return -EOPNOTSUPP;
	error = mimic_registers_decode(instruction, &decoded);
	if (error)
		return error;
	base = base_of(&decoded, context);
	error = decoded.is_write ? store(&decoded, context, access, bus) : load(&decoded, context, access, bus);
	if (error)
		return error;
	if (decoded.writes_base)
		mimic_registers_set_base(context, decoded.base, base + (uint64_t)decoded.displacement);
	mimic_context_go_to(context, instruction + decoded.length);
	return 0;
}

size_t mimic_instruction_text(const ucontext_t *context, char *text, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *bytes = (const uint8_t *)mimic_context_instruction(context);
	size_t count, used = 0, i;

	if (!size)
		return 0;
	count = mimic_registers_is_fetch(context) ? 0 : mimic_registers_length(bytes);
	for (i = 0; i < count && used + 4 <= size; i++) {
		if (i)
			text[used++] = ' ';
		text[used++] = digits[bytes[i] >> 4];
		text[used++] = digits[bytes[i] & 15];
	}
	text[used] = '\0';
	return used;
}

#endif
