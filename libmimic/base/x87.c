/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/x87.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)

/* Section 10.5.1 of volume 1 of Intel's manual: the 64-bit form of FXSAVE. */
#define IMAGE_SIZE	512u
#define CONTROL		0u
#define STATUS		2u
#define LAST_RIP	8u
#define LAST_ADDRESS	16u
#define RECORD_END	24u
#define STACK		32u
#define STACK_END	160u

#define CONTROL_INITIAL	0x37fu
#define STATUS_SUMMARY	0x80u	/* an exception that is not masked */

#define SIZE_OF_ENTRY	4	/* of the table below: opcode, ModRM for (%rdi), ret, int3 */

/* All of D8 to DF. Those that the decoder refuses are in it, too, and never called. */
__asm__(
"	.pushsection .text\n"
"	.p2align 4\n"
"mimic_x87_table:\n"
"	.set	op, 0xd8\n"
"	.rept	8\n"
"	.set	reg, 0\n"
"	.rept	8\n"
"	.byte	op, reg << 3 | 7, 0xc3, 0xcc\n"
"	.set	reg, reg + 1\n"
"	.endr\n"
"	.set	op, op + 1\n"
"	.endr\n"
"	.popsection\n");

extern const uint8_t mimic_x87_table[] __attribute__((visibility("hidden")));

static void copy_x87(uint8_t *to, const uint8_t *from)
{
	memcpy(to, from, RECORD_END);
	memcpy(to + STACK, from + STACK, STACK_END - STACK);
}

void mimic_x87_initial(uint8_t *image)
{
	const uint16_t control = CONTROL_INITIAL;

	memset(image, 0, RECORD_END);
	memset(image + STACK, 0, STACK_END - STACK);
	memcpy(image + CONTROL, &control, sizeof(control));
}

/* The rest of `image`, MXCSR and vector registers, has the thread's current values: it changes nothing. */
static void run(const uint8_t *entry, uint8_t *image, uint64_t *value)
{
	/* The table lies in the middle of a text whose red zone a call would write to. */
	__asm__ volatile("lea	-128(%%rsp), %%rsp\n\t"
			 "fxrstor64 (%[image])\n\t"
			 "call	*%[entry]\n\t"
			 "fxsave64 (%[image])\n\t"
			 "lea	128(%%rsp), %%rsp"
			 :
			 : [image] "r"(image), [entry] "r"(entry), "D"(value)
			 : "memory");
}

static void note(uint8_t *image, unsigned int place, uint64_t value)
{
	memcpy(image + place, &value, sizeof(value));
}

static bool has_unmasked(const uint8_t *image)
{
	return image[STATUS] & STATUS_SUMMARY;
}

int mimic_x87_execute(unsigned int which, bool is_store, uint8_t *image, uint64_t *value, uint64_t rip,
		      uint64_t address)
{
	_Alignas(16) uint8_t own[IMAGE_SIZE], work[IMAGE_SIZE];
	uint64_t result = *value;

	__asm__ volatile("fxsave64 (%0)" : : "r"(own) : "memory");
	memcpy(work, own, sizeof(work));
	copy_x87(work, image);
	run(mimic_x87_table + (size_t)SIZE_OF_ENTRY * which, work, &result);
	__asm__ volatile("fxrstor64 (%0)" : : "r"(own) : "memory");
	/* Whether the store was done depends on which exception it is; a load that raises one is complete. */
	if (is_store && has_unmasked(work))
		return -EOPNOTSUPP;
	note(work, LAST_RIP, rip);
	note(work, LAST_ADDRESS, address);
	copy_x87(image, work);
	*value = result;
	return 0;
}

#else

void mimic_x87_initial(uint8_t *image)
{
	(void)image;
}

int mimic_x87_execute(unsigned int which, bool is_store, uint8_t *image, uint64_t *value, uint64_t rip,
		      uint64_t address)
{
	(void)is_store, (void)which, (void)image, (void)value, (void)rip, (void)address;
	return -EOPNOTSUPP;
}

#endif
