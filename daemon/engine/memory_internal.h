/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the files of the memory port call of each other.
 *
 *   memory.c         the ranges that a client shares
 *   memory_remote.c  everything else of it, by the kernel
 *   memory_port.c    the port as the engine's models use it: words, atomics
 *   memory_rows.c    the same: rows of tiles
 *   memory_block.c   the port of jobs, which several threads use at once
 */
#ifndef MIMICD_MEMORY_INTERNAL_H
#define MIMICD_MEMORY_INTERNAL_H

#include <sys/uio.h>

#include "daemon/engine/memory.h"

#define MIMICD_REMOTE_BATCH 1024	/* IOV_MAX of Linux */

static inline bool mimicd_range_holds(const struct mimicd_range *range, uint64_t address, uint64_t size)
{
	return range->size >= size && address - range->start <= range->size - size;
}

/* The range that holds all of [address, address + size). NULL: none does. */
const struct mimicd_range *mimicd_memory_find(const struct mimicd_memory *memory, uint64_t address,
					      uint64_t size);
/* The same, which is then the last one used. For the holder of the engine's lock. */
static inline bool mimicd_memory_use(struct mimicd_memory *memory, uint64_t address, uint64_t size)
{
	const struct mimicd_range *range = mimicd_memory_find(memory, address, size);

	if (range)
		memory->last = *range;
	return range;
}

/* memory_remote.c; any thread */

/* Does the process that this is the memory of still live? */
bool mimicd_memory_client_lives(const struct mimicd_memory *memory);
/* Moves at most MIMICD_REMOTE_BATCH pieces: bytes before the first that cannot be. */
size_t mimicd_memory_move(struct mimicd_memory *memory, bool is_write, const struct iovec *local,
			  size_t local_count, const struct iovec *remote, size_t count);

/* memory_rows.c */
long mimicd_memory_read_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			     void *rows);
long mimicd_memory_write_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			      const void *rows);

#endif
