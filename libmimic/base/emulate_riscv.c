/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* RISC-V's registers in the context of a signal. */
#include "libmimic/base/emulate_registers.h"

#if defined(__riscv)

#include <string.h>

/* The place of register 0 is the instruction's address. */

bool mimic_registers_is_fetch(const ucontext_t *context)
{
	(void)context;
	return false;
}

size_t mimic_registers_length(const uint8_t *instruction)
{
	return (instruction[0] & 3) == 3 ? 4 : 2;
}

/* It may end with the last two bytes of a page, or go on in the next, which is there then. */
int mimic_registers_decode(uintptr_t instruction, struct mimic_load_store *decoded)
{
	uint32_t word = 0;

	memcpy(&word, (const void *)instruction, 2);
	if ((word & 3) == 3)
		memcpy(&word, (const void *)instruction, 4);
	return mimic_decode_riscv(word, decoded);
}

uint64_t mimic_registers_general(const ucontext_t *context, unsigned int number)
{
	return number ? context->uc_mcontext.__gregs[number] : 0;
}

void mimic_registers_set_general(ucontext_t *context, unsigned int number, uint64_t value)
{
	if (number)
		context->uc_mcontext.__gregs[number] = value;
}

uint64_t mimic_registers_base(const ucontext_t *context, unsigned int number)
{
	return mimic_registers_general(context, number);
}

void mimic_registers_set_base(ucontext_t *context, unsigned int number, uint64_t value)
{
	mimic_registers_set_general(context, number, value);
}

bool mimic_registers_get_vector(const ucontext_t *context, unsigned int number, uint8_t value[16])
{
	memset(value, 0, 16);
	memcpy(value, &context->uc_mcontext.__fpregs.__d.__f[number], 8);
	return true;
}

/* A narrow number has ones above it. */
void mimic_registers_set_vector(ucontext_t *context, unsigned int number, const uint8_t value[16],
				unsigned int size)
{
	uint64_t bits;

	memcpy(&bits, value, sizeof(bits));
	if (size < 8)
		bits |= ~0ull << 8 * size;
	context->uc_mcontext.__fpregs.__d.__f[number] = bits;
}

#endif
