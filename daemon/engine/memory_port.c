/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The memory port of a device in the daemon: words and atomics. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/memory_internal.h"
#include "daemon/engine/stalls.h"
#include "daemon/engine/user.h"
#include "devices/atomic.h"
#include "mimic/access.h"

/*
 * The two loops that decide the cost of an element over rings: they have
 * only one comparison, the load and the store. They stop at the first address
 * that is not shared.
 */
static size_t gather_shared32(struct mimicd_memory *memory, const uint64_t *addresses,
			      size_t count, uint64_t *values)
{
	struct mimicd_range range = memory->last;

	for (size_t i = 0; i < count; i++) {
		uint32_t value;

		if (__builtin_expect(!mimicd_range_holds(&range, addresses[i], sizeof(value)), 0)) {
			if (!mimicd_memory_use(memory, addresses[i], sizeof(value)))
				return i;
			range = memory->last;
		}
		memcpy(&value, range.base + (addresses[i] - range.start), sizeof(value));
		values[i] = value;
	}
	return count;
}

static size_t gather_shared64(struct mimicd_memory *memory, const uint64_t *addresses,
			      size_t count, uint64_t *values)
{
	struct mimicd_range range = memory->last;

	for (size_t i = 0; i < count; i++) {
		if (__builtin_expect(!mimicd_range_holds(&range, addresses[i], sizeof(uint64_t)), 0)) {
			if (!mimicd_memory_use(memory, addresses[i], sizeof(uint64_t)))
				return i;
			range = memory->last;
		}
		memcpy(&values[i], range.base + (addresses[i] - range.start), sizeof(uint64_t));
	}
	return count;
}

static size_t read_pieces(struct mimicd_memory_slot *slot, uint64_t address, const struct iovec *local,
			  const struct iovec *remote, size_t count)
{
	return mimicd_memory_move(slot->memory, &(struct mimicd_move){
		.slot = slot, .address = address, .local = local, .local_count = 1,
		.remote = remote, .count = count });
}

static size_t gather_remote(struct mimicd_memory_slot *slot, const uint64_t *addresses, size_t count,
			    unsigned int size, uint64_t *values)
{
	struct iovec remote[MIMICD_REMOTE_BATCH];
	uint32_t words[MIMICD_REMOTE_BATCH];
	struct iovec local;
	size_t done;

	for (size_t i = 0; i < count; i++) {
		remote[i].iov_base = (void *)(uintptr_t)addresses[i];
		remote[i].iov_len = size;
	}
	local.iov_base = size == sizeof(uint32_t) ? (void *)words : (void *)values;
	local.iov_len = count * size;
	done = read_pieces(slot, addresses[0], &local, remote, count) / size;
	if (size == sizeof(uint32_t)) {
		for (size_t i = 0; i < done; i++)
			values[i] = words[i];
	}
	return done;
}

/* How many from the first on are not shared; at most one batch. */
static size_t count_remote(struct mimicd_memory *memory, const uint64_t *addresses, size_t count,
			   unsigned int size)
{
	size_t i;

	if (count > MIMICD_REMOTE_BATCH)
		count = MIMICD_REMOTE_BATCH;
	for (i = 1; i < count; i++) {
		if (memory->count && mimicd_memory_use(memory, addresses[i], size))
			break;
	}
	return i;
}

/* The last range used, or another that is then the last one. */
static bool find(struct mimicd_memory *memory, uint64_t address, uint64_t size)
{
	return mimicd_range_holds(&memory->last, address, size) ||
	       mimicd_memory_use(memory, address, size);
}

static size_t gather(struct mimicd_memory_slot *slot, const uint64_t *addresses, size_t count, unsigned int size,
		     uint64_t *values)
{
	struct mimicd_memory *memory = slot->memory;
	size_t done = 0;

	for (;;) {
		size_t wanted, got;

		if (size == sizeof(uint32_t))
			done += gather_shared32(memory, addresses + done, count - done, values + done);
		else
			done += gather_shared64(memory, addresses + done, count - done, values + done);
		if (done == count)
			return count;
		wanted = count_remote(memory, addresses + done, count - done, size);
		got = gather_remote(slot, addresses + done, wanted, size, values + done);
		done += got;
		if (got < wanted || done == count)
			return done;
	}
}

static long port_gather(void *context, const uint64_t *addresses, size_t count,
			unsigned int size, uint64_t tag, uint64_t *values)
{
	struct mimicd_memory_slot *slot = context;
	struct mimicd_stall_clock clock;
	size_t done;

	if (slot->port)
		return slot->port->gather(slot->port->context, addresses, count, size, tag, values);
	if (!slot->memory)
		return 0;
	slot->waits = false;
	if (!mimicd_stall_begin_access(&clock, slot))
		return 0;
	done = gather(slot, addresses, count, size, values);
	mimicd_stall_end(&clock);
	return (long)done;
}

/* The rest of the page from here on, as far as there is any. */
static bool fill_ahead(struct mimicd_memory_slot *slot, uint64_t start, uint64_t address)
{
	size_t size = MIMIC_PAGE_SIZE - (address & (MIMIC_PAGE_SIZE - 1));
	struct iovec remote = { (void *)(uintptr_t)address, size };
	struct mimicd_ahead *ahead = slot->ahead;
	struct iovec local;

	if (!ahead)
		ahead = slot->ahead = malloc(sizeof(*ahead));
	if (!ahead)
		return false;
	local = (struct iovec){ ahead->bytes, size };
	ahead->start = address;
	ahead->size = read_pieces(slot, start, &local, &remote, 1);
	/* A page that has to be waited for may be there at the next access. */
	ahead->call = slot->waits ? 0 : slot->memory->user->shard->calls;
	return true;
}

static bool is_ahead(const struct mimicd_memory_slot *slot, uint64_t address)
{
	const struct mimicd_ahead *ahead = slot->ahead;

	return ahead && ahead->call == slot->memory->user->shard->calls && address >= ahead->start &&
	       address / MIMIC_PAGE_SIZE == ahead->start / MIMIC_PAGE_SIZE;
}

/* From `start` on: the bytes in the page of start + done. Returns how many of them can be read. */
static size_t read_remote(struct mimicd_memory_slot *slot, uint64_t start, size_t done, char *buffer, size_t size)
{
	uint64_t address = start + done;
	size_t piece = MIMIC_PAGE_SIZE - (address & (MIMIC_PAGE_SIZE - 1));
	size_t offset, left;

	if (!is_ahead(slot, address) && !fill_ahead(slot, start, address))
		return 0;
	offset = address - slot->ahead->start;
	left = offset < slot->ahead->size ? slot->ahead->size - offset : 0;
	if (piece > size)
		piece = size;
	if (piece > left)
		piece = left;
	memcpy(buffer, slot->ahead->bytes + offset, piece);
	return piece;
}

/* Returns how much of it can be read. */
static size_t read_bytes(struct mimicd_memory_slot *slot, uint64_t address, void *buffer, size_t size)
{
	struct mimicd_memory *memory = slot->memory;
	size_t done = 0;

	if (memory && find(memory, address, size)) {
		memcpy(buffer, memory->last.base + (address - memory->last.start), size);
		return size;
	}
	while (memory && done < size) {
		size_t got = read_remote(slot, address, done, (char *)buffer + done, size - done);

		if (!got)
			break;
		done += got;
	}
	return done;
}

static int port_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct mimicd_memory_slot *slot = context;
	struct mimicd_stall_clock clock;
	size_t done = 0;

	if (slot->port)
		return slot->port->read(slot->port->context, address, buffer, size);
	slot->waits = false;
	if (mimicd_stall_begin_access(&clock, slot)) {
		done = read_bytes(slot, address, buffer, size);
		mimicd_stall_end(&clock);
	}
	if (done == size)
		return 0;
	memset((char *)buffer + done, 0, size - done);
	return -EFAULT;
}

static uint32_t atomic_shared(uint32_t *word, enum mimic_atomic operation, uint32_t operand,
			      uint32_t expected)
{
	uint32_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST);

	/* The client's threads write here too: every operation is one compare and swap. */
	while (!__atomic_compare_exchange_n(word, &old,
					    mimic_atomic_result(operation, old, operand, expected),
					    false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	return old;
}

static int do_atomic(struct mimicd_memory_slot *slot, uint64_t address, enum mimic_atomic operation,
		     uint32_t operand, uint32_t expected, uint32_t *old)
{
	struct mimicd_memory *memory = slot->memory;
	struct iovec remote = { (void *)(uintptr_t)address, sizeof(uint32_t) };
	struct iovec local = { old, sizeof(*old) };
	struct mimicd_move move;

	/* Bytes that were read ahead are older than this access. */
	if (slot->ahead)
		slot->ahead->call = 0;
	if (!memory || address % sizeof(uint32_t))
		return -EFAULT;
	if (mimicd_memory_use(memory, address, sizeof(*old))) {
		void *word = memory->last.base + (address - memory->last.start);

		*old = atomic_shared(word, operation, operand, expected);
		return 0;
	}
	move = (struct mimicd_move){
		.slot = slot, .address = address, .is_write = true, .is_atomic = true,
		.operation = operation, .operand = operand, .expected = expected,
		.local = &local, .local_count = 1, .remote = &remote, .count = 1,
	};
	return mimicd_memory_move(memory, &move) == sizeof(*old) ? 0 : -EFAULT;
}

static int port_atomic(void *context, uint64_t address, enum mimic_atomic operation,
		       uint32_t operand, uint32_t expected, uint32_t *old)
{
	struct mimicd_memory_slot *slot = context;
	struct mimicd_stall_clock clock;
	int error;

	if (slot->port)
		return slot->port->atomic(slot->port->context, address, operation, operand, expected, old);
	slot->waits = false;
	if (!mimicd_stall_begin_access(&clock, slot))
		return -EFAULT;
	error = do_atomic(slot, address, operation, operand, expected, old);
	mimicd_stall_end(&clock);
	return error;
}

static void port_prefetch(void *context, uint64_t address)
{
	struct mimicd_memory_slot *slot = context;
	struct mimicd_memory *memory = slot->memory;

	/* A machine's memory has nothing to bring nearer. */
	if (slot->port && slot->port->prefetch)
		slot->port->prefetch(slot->port->context, address);
	else if (!slot->port && memory && find(memory, address, 1))
		__builtin_prefetch(memory->last.base + (address - memory->last.start));
}

/* Of the range that has the first address, as the others mostly are. */
static void port_announce(void *context, const uint64_t *addresses, size_t count)
{
	struct mimicd_memory_slot *slot = context;
	struct mimicd_memory *memory = slot->memory;
	struct mimicd_range range;

	if (slot->port || !memory || !count || !find(memory, addresses[0], 1))
		return;
	range = memory->last;
#pragma GCC unroll 4
	for (size_t i = 0; i < count; i++) {
		if (mimicd_range_holds(&range, addresses[i], 1))
			__builtin_prefetch(range.base + (addresses[i] - range.start));
	}
}

void mimicd_memory_port(struct mimic_memory *port, struct mimicd_memory_slot *slot)
{
	*port = (struct mimic_memory){
		.context = slot,
		.gather = port_gather,
		.read = port_read,
		.read_rows = mimicd_memory_read_rows,
		.write_rows = mimicd_memory_write_rows,
		.atomic = port_atomic,
		.prefetch = port_prefetch,
		.announce = port_announce,
	};
}
