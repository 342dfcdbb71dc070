/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The memory port of jobs: blocks of rows. Worker threads use it, several at once,
 * beside the engine's thread. So it remembers nothing from one call to the next.
 *
 * Ranges that a client shares are locked while bytes of them are moved, and no longer: a
 * range can go while a job is in flight. The message that takes it away waits for
 * one piece of a block. Helpers (errands.h) move memory that the client does not share, and a
 * job waits for them a moment.
 */
#include <string.h>

#include "daemon/engine/memory_internal.h"

#define REMOTE_BYTES (64u << 10)

struct block {
	bool is_write;
	uint64_t address;	/* of the next row */
	uint64_t stride;
	size_t size;
	char *buffer;
	size_t buffer_stride;
};

static void skip(struct block *block, size_t rows)
{
	block->address += rows * block->stride;
	block->buffer += rows * block->buffer_stride;
}

static size_t rows_inside(const struct mimicd_range *range, const struct block *block, size_t count)
{
	uint64_t left = range->size - (block->address - range->start) - block->size;
	uint64_t rows = block->stride ? left / block->stride + 1 : count;

	return rows < count ? (size_t)rows : count;
}

static void copy_rows(const struct block *block, char *shared, size_t rows)
{
	char *buffer = block->buffer;

	for (size_t i = 0; i < rows; i++) {
		if (block->is_write)
			memcpy(shared, buffer, block->size);
		else
			memcpy(buffer, shared, block->size);
		shared += block->stride;
		buffer += block->buffer_stride;
	}
}

/* Rows from the next one on that lie in one range. 0: it is not shared. */
static size_t move_shared(struct mimicd_memory *memory, const struct block *block, size_t count)
{
	const struct mimicd_range *range;
	size_t rows = 0;

	pthread_rwlock_rdlock(&memory->lock);
	range = mimicd_memory_find(memory, block->address, block->size);
	/* In the place of a hole (holes.h) are pages of our own, which other clients must not see. */
	if (range && !atomic_load_explicit(&memory->has_hole, memory_order_relaxed)) {
		rows = rows_inside(range, block, count);
		copy_rows(block, range->base + (block->address - range->start), rows);
	}
	pthread_rwlock_unlock(&memory->lock);
	return rows;
}

/* How many from the next one on are not shared; at most one batch. */
static size_t count_remote(struct mimicd_memory *memory, const struct block *block, size_t count)
{
	size_t rows = 1;

	if (count > MIMICD_REMOTE_BATCH)
		count = MIMICD_REMOTE_BATCH;
	/* They are copied on their way. */
	if (count > REMOTE_BYTES / block->size)
		count = REMOTE_BYTES / block->size;
	pthread_rwlock_rdlock(&memory->lock);
	while (rows < count &&
	       !mimicd_memory_find(memory, block->address + rows * block->stride, block->size))
		rows++;
	pthread_rwlock_unlock(&memory->lock);
	return rows;
}

/* All of them are moved, or those before the first that cannot be. */
static size_t move_remote(struct mimicd_memory_slot *slot, const struct block *block, size_t rows)
{
	struct iovec local[MIMICD_REMOTE_BATCH], remote[MIMICD_REMOTE_BATCH];

	for (size_t i = 0; i < rows; i++) {
		uint64_t address = block->address + i * block->stride;

		local[i] = (struct iovec){ block->buffer + i * block->buffer_stride, block->size };
		remote[i] = (struct iovec){ (void *)(uintptr_t)address, block->size };
	}
	return mimicd_memory_move(slot->memory, &(struct mimicd_move){
		.slot = slot, .address = block->address, .is_write = block->is_write, .local = local,
		.local_count = rows, .remote = remote, .count = rows }) / block->size;
}

static long move_block(struct mimicd_memory_slot *slot, struct block block, size_t count)
{
	struct mimicd_memory *memory = slot->memory;
	size_t done = 0;

	while (memory && block.size && done < count) {
		size_t wanted = 0, rows = move_shared(memory, &block, count - done);

		if (!rows) {
			wanted = count_remote(memory, &block, count - done);
			rows = move_remote(slot, &block, wanted);
		}
		done += rows;
		if (rows < wanted)
			break;
		skip(&block, rows);
	}
	return (long)done;
}

static long port_read_block(void *context, uint64_t address, uint64_t stride, size_t size,
			    size_t count, void *buffer, size_t buffer_stride)
{
	struct mimicd_memory_slot *slot = context;

	if (slot->port)
		return slot->port->read_block(slot->port->context, address, stride, size, count, buffer,
					      buffer_stride);
	return move_block(slot,
			  (struct block){ false, address, stride, size, buffer, buffer_stride }, count);
}

static long port_write_block(void *context, uint64_t address, uint64_t stride, size_t size,
			     size_t count, const void *buffer, size_t buffer_stride)
{
	struct mimicd_memory_slot *slot = context;
	/* Only read: the functions are for both directions. */
	char *from = (char *)(uintptr_t)buffer;

	if (slot->port)
		return slot->port->write_block(slot->port->context, address, stride, size, count, buffer,
					       buffer_stride);
	return move_block(slot,
			  (struct block){ true, address, stride, size, from, buffer_stride }, count);
}

void mimicd_memory_job_port(struct mimic_memory *port, struct mimicd_memory_slot *slot)
{
	slot->is_of_jobs = true;
	*port = (struct mimic_memory){
		.context = slot,
		.read_block = port_read_block,
		.write_block = port_write_block,
	};
}
