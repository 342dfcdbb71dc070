/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The memory port of a device in the daemon: rows of tiles. */
#include <string.h>

#include "daemon/engine/memory_internal.h"
#include "daemon/engine/stalls.h"
#include "libmimic/base/probe.h"

#define ROWS_BATCH 16u
#define ROW_BYTES 64u

/* Are all rows in the range that was used last? Without a branch for each: nearly always they are. */
static inline bool find_in_last(const struct mimicd_range *last, const uint64_t *addresses, size_t count, size_t size,
				uint64_t *places)
{
	const uint64_t start = last->start, base = (uint64_t)(uintptr_t)last->base, room = last->size - size;
	bool is_outside = last->size < size;

#pragma GCC unroll 4
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = addresses[i] - start;

		is_outside |= offset > room;
		places[i] = base + offset;
	}
	return !is_outside;
}

/* Where the rows are mapped here, up to the first that is not shared as a whole. */
static size_t find_rows(struct mimicd_memory *memory, const uint64_t *addresses, size_t count,
			size_t size, uint64_t *places)
{
	for (size_t i = 0; i < count; i++) {
		if (__builtin_expect(!mimicd_range_holds(&memory->last, addresses[i], size), 0) &&
		    !mimicd_memory_use(memory, addresses[i], size))
			return i;
		/* Devices that load tiles from one place after the other change the range with the tile. */
		if (i == 0 && find_in_last(&memory->last, addresses, count, size, places))
			return count;
		places[i] = (uint64_t)(uintptr_t)memory->last.base + (addresses[i] - memory->last.start);
	}
	return count;
}

static size_t move_rows_remote(struct mimicd_memory_slot *slot, bool is_write, const uint64_t *addresses,
			       size_t count, size_t size, char *rows)
{
	struct iovec local[ROWS_BATCH], remote[ROWS_BATCH];

	for (size_t i = 0; i < count; i++) {
		local[i] = (struct iovec){ rows + i * ROW_BYTES, size };
		remote[i] = (struct iovec){ (void *)(uintptr_t)addresses[i], size };
		if (!is_write)
			memset(rows + i * ROW_BYTES + size, 0, ROW_BYTES - size);
	}
	return mimicd_memory_move(slot->memory, &(struct mimicd_move){
		.slot = slot, .address = addresses[0], .is_write = is_write, .local = local, .local_count = count,
		.remote = remote, .count = count }) / size;
}

/* Rows that lie together: all shared, or none of them. At most a batch. */
static size_t move_run(struct mimicd_memory_slot *slot, bool is_write, const uint64_t *addresses,
		       size_t count, size_t size, char *rows, size_t *wanted)
{
	struct mimicd_memory *memory = slot->memory;
	uint64_t places[ROWS_BATCH];
	size_t batch = count < ROWS_BATCH ? count : ROWS_BATCH;

	*wanted = find_rows(memory, addresses, batch, size, places);
	if (*wanted && is_write)
		return mimic_probe_write_rows(places, *wanted, size, rows);
	if (*wanted)
		return mimic_probe_read_rows(places, *wanted, size, rows);
	for (*wanted = 1; *wanted < batch; ++*wanted) {
		if (memory->count && mimicd_memory_use(memory, addresses[*wanted], size))
			break;
	}
	return move_rows_remote(slot, is_write, addresses, *wanted, size, rows);
}

static long move_rows(struct mimicd_memory_slot *slot, bool is_write, const uint64_t *addresses,
		      size_t count, size_t size, char *rows)
{
	struct mimicd_stall_clock clock;
	size_t done = 0;

	slot->waits = false;
	if (!mimicd_stall_begin_access(&clock, slot))
		return 0;
	/* Bytes that were read ahead are older than this write. */
	if (is_write && slot->ahead)
		slot->ahead->call = 0;
	while (slot->memory && done < count) {
		size_t wanted;
		size_t got = move_run(slot, is_write, addresses + done, count - done, size,
				      rows + done * ROW_BYTES, &wanted);

		done += got;
		if (got < wanted)
			break;
	}
	mimicd_stall_end(&clock);
	return (long)done;
}

long mimicd_memory_read_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			     void *rows)
{
	struct mimicd_memory_slot *slot = context;

	if (slot->port)
		return slot->port->read_rows(slot->port->context, addresses, count, size, rows);
	return move_rows(slot, false, addresses, count, size, rows);
}

long mimicd_memory_write_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			      const void *rows)
{
	struct mimicd_memory_slot *slot = context;

	if (slot->port)
		return slot->port->write_rows(slot->port->context, addresses, count, size, rows);
	/* Only read: the function is one for both directions. */
	return move_rows(slot, true, addresses, count, size, (char *)(uintptr_t)rows);
}
