/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Recoverable accesses on arm64 and RISC-V: loops in C around steps in assembly, which are all that may
 * fault. probe_x86.c has whole loops.
 */
#include "libmimic/base/probe_internal.h"

#if MIMIC_PROBE_STEPS

#include <errno.h>
#include <string.h>

#include "libmimic/mimic.h"

/* arm64's processors ignore the top byte of an address, devices do not. */
static bool can_be(uint64_t address)
{
#if defined(__aarch64__)
	return !(address >> 56);
#else
	(void)address;
	return true;
#endif
}

size_t mimic_probe_gather32(const uint64_t *addresses, size_t count, uint64_t *values)
{
	uint32_t value;

	for (size_t i = 0; i < count; i++) {
		if (mimic_probe_load32(addresses[i], &value))
			return i;
		values[i] = value;
	}
	return count;
}

size_t mimic_probe_gather64(const uint64_t *addresses, size_t count, uint64_t *values)
{
	for (size_t i = 0; i < count; i++) {
		if (!can_be(addresses[i]) || mimic_probe_step_load64(addresses[i], &values[i]))
			return i;
	}
	return count;
}

size_t mimic_probe_copy(void *buffer, uint64_t address, size_t size)
{
	return can_be(address) ? mimic_probe_step_copy(buffer, (const void *)(uintptr_t)address, size) : size;
}

size_t mimic_probe_read_rows(const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	for (size_t i = 0; i < count; i++) {
		char *row = (char *)rows + i * 64;

		if (mimic_probe_copy(row, addresses[i], size))
			return i;
		memset(row + size, 0, 64 - size);
	}
	return count;
}

static bool write_row(uint64_t address, const void *row, size_t size)
{
	return can_be(address) && !mimic_probe_step_copy((void *)(uintptr_t)address, row, size);
}

size_t mimic_probe_write_rows(const uint64_t *addresses, size_t count, size_t size, const void *rows)
{
	for (size_t i = 0; i < count; i++) {
		if (!write_row(addresses[i], (const char *)rows + i * 64, size))
			return i;
	}
	return count;
}

size_t mimic_probe_read_block(uint64_t address, uint64_t stride, size_t size, size_t count,
			      void *buffer, size_t buffer_stride)
{
	for (size_t i = 0; i < count; i++) {
		if (mimic_probe_copy((char *)buffer + i * buffer_stride, address + i * stride, size))
			return i;
	}
	return count;
}

size_t mimic_probe_write_block(uint64_t address, uint64_t stride, size_t size, size_t count,
			       const void *buffer, size_t buffer_stride)
{
	for (size_t i = 0; i < count; i++) {
		if (!write_row(address + i * stride, (const char *)buffer + i * buffer_stride, size))
			return i;
	}
	return count;
}

int mimic_probe_load32(uint64_t address, uint32_t *value)
{
	return !can_be(address) || mimic_probe_step_load32(address, value) ? -EFAULT : 0;
}

int mimic_probe_add32(uint64_t address, uint32_t operand, uint32_t *old)
{
	return !can_be(address) || mimic_probe_step_add32(address, operand, old) ? -EFAULT : 0;
}

int mimic_probe_swap32(uint64_t address, uint32_t operand, uint32_t *old)
{
	return !can_be(address) || mimic_probe_step_swap32(address, operand, old) ? -EFAULT : 0;
}

int mimic_probe_cas32(uint64_t address, uint32_t expected, uint32_t desired, uint32_t *old)
{
	return !can_be(address) || mimic_probe_step_cas32(address, desired, old, expected) ? -EFAULT : 0;
}

uintptr_t mimic_fault_fixup(uintptr_t instruction_pointer)
{
	uintptr_t start = (uintptr_t)mimic_probe_steps_start, end = (uintptr_t)mimic_probe_steps_end;
	uintptr_t bytes = (uintptr_t)mimic_probe_steps_bytes;

	if (instruction_pointer < start || instruction_pointer >= end)
		return 0;
	/* Some bytes of a word may be there. */
	return instruction_pointer < bytes ? bytes : (uintptr_t)mimic_probe_steps_failed;
}

#endif
