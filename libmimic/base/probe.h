/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Access to this process's memory at unchecked addresses: unmapped,
 * protected, not canonical, past the end of a file. A bad address is an answer,
 * never a signal that reaches the program.
 *
 * The accesses are a few known instructions. When one of them faults, the
 * handler of SIGSEGV and SIGBUS asks mimic_fault_fixup() (mimic.h) where to go on.
 */
#ifndef LIBMIMIC_PROBE_H
#define LIBMIMIC_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "devices/model.h"

/* Values of 4 or 8 bytes, zero extended. Returns how many were read before the first fault. */
size_t mimic_probe_gather32(const uint64_t *addresses, size_t count, uint64_t *values);
size_t mimic_probe_gather64(const uint64_t *addresses, size_t count, uint64_t *values);

/* 0 or -EFAULT; then the buffer holds the bytes that could be read, and zeros. */
int mimic_probe_read(uint64_t address, void *buffer, size_t size);

/*
 * `count` rows of `size` (1 to 64) bytes: row i from addresses[i] to rows + 64 * i, the rest of
 * those 64 bytes 0. Returns how many were read before the first that faulted; the
 * buffer from there on is undefined.
 */
size_t mimic_probe_read_rows(const uint64_t *addresses, size_t count, size_t size, void *rows);
/* The same the other way; some bytes of the row that faulted may have been written. */
size_t mimic_probe_write_rows(const uint64_t *addresses, size_t count, size_t size, const void *rows);

/*
 * `count` rows of `size` bytes (at least 1), the first at `address`, each `stride` bytes after the
 * one before, to rows `buffer_stride` apart. Returns how many were read before the first that
 * faulted; the buffer's bytes of that one are undefined.
 */
size_t mimic_probe_read_block(uint64_t address, uint64_t stride, size_t size, size_t count,
			      void *buffer, size_t buffer_stride);
/* The same the other way; some bytes of the row that faulted may have been written. */
size_t mimic_probe_write_block(uint64_t address, uint64_t stride, size_t size, size_t count,
			       const void *buffer, size_t buffer_stride);

/* A real atomic on the program's memory. 0 or -EFAULT; -EINVAL for an unknown operation. */
int mimic_probe_atomic(uint64_t address, enum mimic_atomic operation, uint32_t operand,
		       uint32_t expected, uint32_t *old);

/* Brings the line of `address` into the CPU's caches. Any address will do. */
static inline void mimic_probe_prefetch(uint64_t address)
{
	__builtin_prefetch((const void *)(uintptr_t)address);
}

/*
 * Installs the handlers of SIGSEGV and SIGBUS, once; later calls do nothing, and so do all after
 * mimic_faults_are_handled(). The handler that was there before gets every fault that is not ours.
 */
int mimic_probe_install_handlers(void);

/*
 * A blocked SIGSEGV kills the process at a fault, handler or not: let the two
 * through on this thread.
 */
void mimic_probe_unblock_signals(void);

#endif
