/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* arm64's registers in the context of a signal. */
#include "libmimic/base/emulate_registers.h"

#if defined(__aarch64__)

#include <asm/sigcontext.h>
#include <string.h>

#include "libmimic/base/context.h"

#define ZERO_REGISTER 31u /* or, as a base, the stack pointer */

bool mimic_registers_is_fetch(const ucontext_t *context)
{
	return mimic_context_is_fetch(context, context->uc_mcontext.fault_address);
}

size_t mimic_registers_length(const uint8_t *instruction)
{
	(void)instruction;
	return 4;
}

int mimic_registers_decode(uintptr_t instruction, struct mimic_load_store *decoded)
{
	return mimic_decode_arm64(*(const uint32_t *)instruction, decoded);
}

uint64_t mimic_registers_general(const ucontext_t *context, unsigned int number)
{
	return number == ZERO_REGISTER ? 0 : context->uc_mcontext.regs[number];
}

void mimic_registers_set_general(ucontext_t *context, unsigned int number, uint64_t value)
{
	if (number != ZERO_REGISTER)
		context->uc_mcontext.regs[number] = value;
}

uint64_t mimic_registers_base(const ucontext_t *context, unsigned int number)
{
	return number == ZERO_REGISTER ? context->uc_mcontext.sp : context->uc_mcontext.regs[number];
}

void mimic_registers_set_base(ucontext_t *context, unsigned int number, uint64_t value)
{
	if (number == ZERO_REGISTER)
		context->uc_mcontext.sp = value;
	else
		context->uc_mcontext.regs[number] = value;
}

/* A record of the frame that ends with one of size 0 (asm/sigcontext.h); NULL: there is none. */
static struct _aarch64_ctx *find_record(const ucontext_t *context, uint32_t magic)
{
	uint8_t *start = (uint8_t *)context->uc_mcontext.__reserved;
	size_t offset = 0;

	while (offset + sizeof(struct _aarch64_ctx) <= sizeof(context->uc_mcontext.__reserved)) {
		struct _aarch64_ctx *record = (struct _aarch64_ctx *)(start + offset);

		if (record->magic == magic)
			return record;
		if (!record->magic || record->size < sizeof(*record))
			return NULL;
		offset += record->size;
	}
	return NULL;
}

bool mimic_registers_get_vector(const ucontext_t *context, unsigned int number, uint8_t value[16])
{
	const struct fpsimd_context *vectors = (const struct fpsimd_context *)find_record(context, FPSIMD_MAGIC);

	if (vectors)
		memcpy(value, &vectors->vregs[number], 16);
	return vectors != NULL;
}

/*
 * The same register where the frame has SVE's, too. Linux takes the low 16 bytes from the other record,
 * qemu-user from here.
 */
static void set_long_vector(const ucontext_t *context, unsigned int number, const uint8_t value[16])
{
	struct sve_context *record = (struct sve_context *)find_record(context, SVE_MAGIC);
	unsigned int quads = record ? sve_vq_from_vl(record->vl) : 0;
	uint8_t *place;

	if (!quads || record->head.size < SVE_SIG_CONTEXT_SIZE(quads))
		return;
	place = (uint8_t *)record + SVE_SIG_ZREG_OFFSET(quads, number);
	memset(place, 0, SVE_SIG_ZREG_SIZE(quads));
	memcpy(place, value, 16);
}

void mimic_registers_set_vector(ucontext_t *context, unsigned int number, const uint8_t value[16],
				unsigned int size)
{
	struct fpsimd_context *vectors = (struct fpsimd_context *)find_record(context, FPSIMD_MAGIC);

	(void)size;
	if (vectors)
		memcpy(&vectors->vregs[number], value, 16);
	set_long_vector(context, number, value);
}

#endif
