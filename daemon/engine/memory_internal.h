/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Functions of the memory port that several of its files call.
 *
 *   memory.c         the ranges that a client shares
 *   memory_fix.c     makes them immutable, so that they keep their pages
 *   memory_remote.c  the rest of the client's memory, read and written by the kernel
 *   memory_wait.c    reads and writes of that which have to wait
 *   memory_port.c    the port as the engine's models use it: words, atomics
 *   memory_rows.c    the same: rows of tiles
 *   memory_block.c   the port of jobs, which several threads use at once
 */
#ifndef MIMICD_MEMORY_INTERNAL_H
#define MIMICD_MEMORY_INTERNAL_H

#include <sys/uio.h>

#include "daemon/engine/errands.h"
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

/* Bytes of the process, and where they are or go here. */
struct mimicd_move {
	struct mimicd_memory_slot *slot;
	uint64_t address;	/* that the model's fault has if nothing is moved */
	bool is_write;
	bool is_atomic;		/* a read and a write of one word, to which `local` is the old value */
	enum mimic_atomic operation;
	uint32_t operand, expected;
	const struct iovec *local, *remote;
	size_t local_count, count;	/* of remote pieces: at most MIMICD_REMOTE_BATCH */
};

/* Bytes before the first that cannot be moved, or cannot yet. */
size_t mimicd_memory_move(struct mimicd_memory *memory, const struct mimicd_move *move);

/* A move, for a helper. */
struct mimicd_memory_errand {
	struct mimicd_errand errand;
	struct mimicd_memory_errand *next;	/* of the memory */
	struct mimicd_memory *memory;	/* NULL: it is gone */
	struct mimicd_move move;	/* its local pieces are the helper's own, `bytes` at `data` */
	pid_t pid;
	ssize_t moved;
	int error;
	size_t bytes;
	char *data;
	struct iovec local;
	struct iovec remote[];
};

/* memory_wait.c; with errands->lock */

/* Does the slot's access to this page wait, or have to because too many do? Then it does afterwards. */
bool mimicd_memory_must_wait(struct mimicd_memory *memory, const struct mimicd_move *move);
void mimicd_memory_leave(struct mimicd_errand *errand);
/* An atomic that was done when the model had been told to wait, if this is the same once more. NULL: it is not. */
struct mimicd_memory_errand *mimicd_memory_take_atomic(struct mimicd_memory *memory, const struct mimicd_move *again);
/* Without the lock. The client has let us wait: it gets less time for a while. */
void mimicd_memory_hurry(struct mimicd_memory *memory);
/* Without the lock. */
void mimicd_memory_forget(struct mimicd_memory *memory, const struct mimicd_memory_slot *slot);

/* memory_rows.c */
long mimicd_memory_read_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			     void *rows);
long mimicd_memory_write_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			      const void *rows);

#endif
