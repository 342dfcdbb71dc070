/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The same by system calls: the kernel does the risky part. Hundreds of times slower, and nothing to recover. */
#include "libmimic/base/probe_internal.h"

#if !MIMIC_PROBE_X86

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libmimic/mimic.h"

#define BATCH 64

static ssize_t read_self(const struct iovec *to, const struct iovec *from, size_t count)
{
	int saved = errno;
	ssize_t got = process_vm_readv(getpid(), to, 1, from, count, 0);

	errno = saved;
	return got < 0 ? 0 : got;
}

static size_t gather(const uint64_t *addresses, size_t count, void *packed, size_t size)
{
	struct iovec from[BATCH];
	struct iovec to = { .iov_base = packed, .iov_len = count * size };

	for (size_t i = 0; i < count; i++) {
		from[i].iov_base = (void *)(uintptr_t)addresses[i];
		from[i].iov_len = size;
	}
	return (size_t)read_self(&to, from, count) / size;
}

size_t mimic_probe_gather32(const uint64_t *addresses, size_t count, uint64_t *values)
{
	uint32_t packed[BATCH];
	size_t done = 0;

	while (done < count) {
		size_t wanted = count - done < BATCH ? count - done : BATCH;
		size_t got = gather(addresses + done, wanted, packed, 4);

		for (size_t i = 0; i < got; i++)
			values[done + i] = packed[i];
		done += got;
		if (got < wanted)
			break;
	}
	return done;
}

size_t mimic_probe_gather64(const uint64_t *addresses, size_t count, uint64_t *values)
{
	size_t done = 0;

	while (done < count) {
		size_t wanted = count - done < BATCH ? count - done : BATCH;
		size_t got = gather(addresses + done, wanted, values + done, 8);

		done += got;
		if (got < wanted)
			break;
	}
	return done;
}

size_t mimic_probe_copy(void *buffer, uint64_t address, size_t size)
{
	size_t done = 0;

	/* A transfer stops at the start of a piece that fails: page by page finds the last good byte. */
	while (done < size) {
		size_t piece = 4096 - (address + done) % 4096;
		struct iovec to, from;

		if (piece > size - done)
			piece = size - done;
		to = (struct iovec) { (char *)buffer + done, piece };
		from = (struct iovec) { (void *)(uintptr_t)(address + done), piece };
		if ((size_t)read_self(&to, &from, 1) < piece)
			break;
		done += piece;
	}
	return size - done;
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
	struct iovec from = { (void *)row, size };
	struct iovec to = { (void *)(uintptr_t)address, size };
	int saved = errno;
	ssize_t done = process_vm_writev(getpid(), &from, 1, &to, 1, 0);

	errno = saved;
	return done >= 0 && (size_t)done == size;
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
	return mimic_probe_copy(value, address, sizeof(*value)) ? -EFAULT : 0;
}

/* The kernel offers no atomic with an answer: look first, then trust that the page stays. */
int mimic_probe_add32(uint64_t address, uint32_t operand, uint32_t *old)
{
	if (mimic_probe_load32(address, old))
		return -EFAULT;
	*old = __atomic_fetch_add((uint32_t *)(uintptr_t)address, operand, __ATOMIC_SEQ_CST);
	return 0;
}

int mimic_probe_swap32(uint64_t address, uint32_t operand, uint32_t *old)
{
	if (mimic_probe_load32(address, old))
		return -EFAULT;
	*old = __atomic_exchange_n((uint32_t *)(uintptr_t)address, operand, __ATOMIC_SEQ_CST);
	return 0;
}

int mimic_probe_cas32(uint64_t address, uint32_t expected, uint32_t desired, uint32_t *old)
{
	if (mimic_probe_load32(address, old))
		return -EFAULT;
	*old = expected;
	__atomic_compare_exchange_n((uint32_t *)(uintptr_t)address, old, desired, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return 0;
}

uintptr_t mimic_fault_fixup(uintptr_t instruction_pointer)
{
	(void)instruction_pointer;
	return 0;
}

bool mimic_probe_recover(void *context)
{
	(void)context;
	return false;
}

#endif
