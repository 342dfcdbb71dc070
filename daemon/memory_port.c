/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The memory port of a device in the daemon. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/uio.h>

#include "daemon/log.h"
#include "daemon/memory.h"
#include "devices/atomic.h"
#include "libmimic/probe.h"
#include "mimic/access.h"

#define REMOTE_BATCH 1024	/* IOV_MAX of Linux */
#define ROWS_BATCH 16u
#define ROW_BYTES 64u

/* Makes the range that holds all of [address, address + size) the last one used. */
static bool find_range(struct mimicd_memory *memory, uint64_t address, uint64_t size)
{
	size_t low = 0;
	size_t high = memory->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct mimicd_range *range = &memory->ranges[middle];

		if (address < range->start) {
			high = middle;
		} else if (address - range->start >= range->size) {
			low = middle + 1;
		} else {
			if (range->size - (address - range->start) < size)
				return false;
			memory->last = *range;
			return true;
		}
	}
	return false;
}

static inline bool is_in(const struct mimicd_range *range, uint64_t address, uint64_t size)
{
	return range->size >= size && address - range->start <= range->size - size;
}

/*
 * The two loops that decide what an element costs over rings: nothing in them
 * but one comparison, the load and the store. They stop at the first address
 * that is not shared.
 */
static size_t gather_shared32(struct mimicd_memory *memory, const uint64_t *addresses,
			      size_t count, uint64_t *values)
{
	struct mimicd_range range = memory->last;

	for (size_t i = 0; i < count; i++) {
		uint32_t value;

		if (__builtin_expect(!is_in(&range, addresses[i], sizeof(value)), 0)) {
			if (!find_range(memory, addresses[i], sizeof(value)))
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
		if (__builtin_expect(!is_in(&range, addresses[i], sizeof(uint64_t)), 0)) {
			if (!find_range(memory, addresses[i], sizeof(uint64_t)))
				return i;
			range = memory->last;
		}
		memcpy(&values[i], range.base + (addresses[i] - range.start), sizeof(uint64_t));
	}
	return count;
}

/*
 * A pid is only a number: was it still the client's while we read? It was if
 * the client has not ended now, because a pid is not given away before that.
 */
static bool client_lives(const struct mimicd_memory *memory)
{
	struct pollfd entry = { .fd = memory->pidfd, .events = POLLIN };

	return poll(&entry, 1, 0) == 0;
}

static void note_refusal(struct mimicd_memory *memory, const char *why)
{
	memory->refused++;
	if (memory->refusal_logged)
		return;
	memory->refusal_logged = true;
	mimicd_log(MIMICD_LOG_WARNING,
		   "process %d: its memory cannot be reached (%s): the device reads 0 and counts faults; "
		   "memory that it shares (maple_alloc, dare_alloc, ..._register) is not affected", (int)memory->pid, why);
}

/*
 * process_vm_readv or writev: bytes moved before the first that cannot be.
 * Not /proc/PID/mem, although it is faster for one block: it reads through
 * PROT_NONE, and a protected page has to be a fault.
 */
static size_t move_pieces(struct mimicd_memory *memory, bool is_write, const struct iovec *local,
			  size_t local_count, const struct iovec *remote, size_t count)
{
	ssize_t moved;

	if (!memory->may_read_process) {
		note_refusal(memory, "it belongs to another user");
		return 0;
	}
	memory->remote_reads += count;
	if (is_write)
		moved = process_vm_writev(memory->pid, local, local_count, remote, count, 0);
	else
		moved = process_vm_readv(memory->pid, local, local_count, remote, count, 0);
	if (moved < 0) {
		if (errno == EPERM)
			note_refusal(memory, "not permitted: not dumpable, another user's, or Yama");
		return 0;
	}
	return client_lives(memory) ? (size_t)moved : 0;
}

static size_t move_remote(struct mimicd_memory *memory, bool is_write, const struct iovec *local,
			  const struct iovec *remote, size_t count)
{
	return move_pieces(memory, is_write, local, 1, remote, count);
}

static size_t gather_remote(struct mimicd_memory *memory, const uint64_t *addresses, size_t count,
			    unsigned int size, uint64_t *values)
{
	struct iovec remote[REMOTE_BATCH];
	uint32_t words[REMOTE_BATCH];
	struct iovec local;
	size_t done;

	for (size_t i = 0; i < count; i++) {
		remote[i].iov_base = (void *)(uintptr_t)addresses[i];
		remote[i].iov_len = size;
	}
	local.iov_base = size == sizeof(uint32_t) ? (void *)words : (void *)values;
	local.iov_len = count * size;
	done = move_remote(memory, false, &local, remote, count) / size;
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

	if (count > REMOTE_BATCH)
		count = REMOTE_BATCH;
	for (i = 1; i < count; i++) {
		if (memory->count && find_range(memory, addresses[i], size))
			break;
	}
	return i;
}

static long port_gather(void *context, const uint64_t *addresses, size_t count,
			unsigned int size, uint64_t tag, uint64_t *values)
{
	struct mimicd_memory_slot *slot = context;
	struct mimicd_memory *memory = slot->memory;
	size_t done = 0;

	(void)tag;
	if (slot->window)
		return (long)mimicd_window_gather(slot->window, addresses, count, size, values);
	if (!memory)
		return 0;
	for (;;) {
		size_t wanted, got;

		if (size == sizeof(uint32_t))
			done += gather_shared32(memory, addresses + done, count - done, values + done);
		else
			done += gather_shared64(memory, addresses + done, count - done, values + done);
		if (done == count)
			return (long)count;
		wanted = count_remote(memory, addresses + done, count - done, size);
		got = gather_remote(memory, addresses + done, wanted, size, values + done);
		done += got;
		if (got < wanted || done == count)
			return (long)done;
	}
}

/* A block that is not shared as a whole: page by page, so that a fault ends where its page starts. */
static size_t read_remote(struct mimicd_memory *memory, uint64_t address, char *buffer, size_t size)
{
	struct iovec remote[8];
	struct iovec local = { .iov_base = buffer };
	size_t count = 0;

	while (local.iov_len < size && count < sizeof(remote) / sizeof(remote[0])) {
		uint64_t at = address + local.iov_len;
		size_t piece = MIMIC_PAGE_SIZE - (at & (MIMIC_PAGE_SIZE - 1));

		if (piece > size - local.iov_len)
			piece = size - local.iov_len;
		remote[count].iov_base = (void *)(uintptr_t)at;
		remote[count++].iov_len = piece;
		local.iov_len += piece;
	}
	return move_remote(memory, false, &local, remote, count);
}

static int port_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct mimicd_memory_slot *slot = context;
	struct mimicd_memory *memory = slot->memory;
	size_t done = 0;

	if (slot->window)
		return mimicd_window_read(slot->window, address, buffer, size);
	if (memory && (is_in(&memory->last, address, size) || find_range(memory, address, size))) {
		memcpy(buffer, memory->last.base + (address - memory->last.start), size);
		return 0;
	}
	while (memory && done < size) {
		size_t got = read_remote(memory, address + done, (char *)buffer + done, size - done);

		if (!got)
			break;
		done += got;
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

/*
 * Memory that is not shared: read, then write. Nothing the kernel offers is
 * atomic against the program's own threads there; docs/protocol.md says so.
 */
static int port_atomic(void *context, uint64_t address, enum mimic_atomic operation,
		       uint32_t operand, uint32_t expected, uint32_t *old)
{
	struct mimicd_memory_slot *slot = context;
	struct mimicd_memory *memory = slot->memory;
	struct iovec remote = { (void *)(uintptr_t)address, sizeof(uint32_t) };
	uint32_t value;
	struct iovec local = { &value, sizeof(value) };

	if (slot->window)
		return mimicd_window_atomic(slot->window, address, operation, operand, expected, old);
	if (!memory || address % sizeof(uint32_t))
		return -EFAULT;
	if (find_range(memory, address, sizeof(value))) {
		void *word = memory->last.base + (address - memory->last.start);

		*old = atomic_shared(word, operation, operand, expected);
		return 0;
	}
	if (move_remote(memory, false, &local, &remote, 1) != sizeof(value))
		return -EFAULT;
	*old = value;
	value = mimic_atomic_result(operation, value, operand, expected);
	if (move_remote(memory, true, &local, &remote, 1) != sizeof(value))
		return -EFAULT;
	return 0;
}

static void port_prefetch(void *context, uint64_t address)
{
	struct mimicd_memory_slot *slot = context;
	struct mimicd_memory *memory = slot->memory;

	if (slot->window)
		mimicd_window_prefetch(slot->window, address);
	else if (memory && (is_in(&memory->last, address, 1) || find_range(memory, address, 1)))
		__builtin_prefetch(memory->last.base + (address - memory->last.start));
}

/* --- rows of tiles ---------------------------------------------------------- */

/* Where the rows are mapped here, up to the first that is not shared as a whole. */
static size_t find_rows(struct mimicd_memory *memory, const uint64_t *addresses, size_t count,
			size_t size, uint64_t *places)
{
	for (size_t i = 0; i < count; i++) {
		if (__builtin_expect(!is_in(&memory->last, addresses[i], size), 0) &&
		    !find_range(memory, addresses[i], size))
			return i;
		places[i] = (uint64_t)(uintptr_t)memory->last.base + (addresses[i] - memory->last.start);
	}
	return count;
}

static size_t move_rows_remote(struct mimicd_memory *memory, bool is_write, const uint64_t *addresses,
			       size_t count, size_t size, char *rows)
{
	struct iovec local[ROWS_BATCH], remote[ROWS_BATCH];

	/* For a write, looking afterwards whose memory it was is too late. */
	if (is_write && !client_lives(memory))
		return 0;
	for (size_t i = 0; i < count; i++) {
		local[i] = (struct iovec){ rows + i * ROW_BYTES, size };
		remote[i] = (struct iovec){ (void *)(uintptr_t)addresses[i], size };
		if (!is_write)
			memset(rows + i * ROW_BYTES + size, 0, ROW_BYTES - size);
	}
	return move_pieces(memory, is_write, local, count, remote, count) / size;
}

/* Rows that lie together: all shared, or none of them. At most a batch. */
static size_t move_run(struct mimicd_memory *memory, bool is_write, const uint64_t *addresses,
		       size_t count, size_t size, char *rows, size_t *wanted)
{
	uint64_t places[ROWS_BATCH];
	size_t batch = count < ROWS_BATCH ? count : ROWS_BATCH;

	*wanted = find_rows(memory, addresses, batch, size, places);
	if (*wanted && is_write)
		return mimic_probe_write_rows(places, *wanted, size, rows);
	if (*wanted)
		return mimic_probe_read_rows(places, *wanted, size, rows);
	for (*wanted = 1; *wanted < batch; ++*wanted) {
		if (memory->count && find_range(memory, addresses[*wanted], size))
			break;
	}
	return move_rows_remote(memory, is_write, addresses, *wanted, size, rows);
}

static long move_rows(struct mimicd_memory *memory, bool is_write, const uint64_t *addresses,
		      size_t count, size_t size, char *rows)
{
	size_t done = 0;

	while (memory && done < count) {
		size_t wanted;
		size_t got = move_run(memory, is_write, addresses + done, count - done, size,
				      rows + done * ROW_BYTES, &wanted);

		done += got;
		if (got < wanted)
			break;
	}
	return (long)done;
}

static long port_read_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			   void *rows)
{
	struct mimicd_memory_slot *slot = context;

	if (slot->window)
		return (long)mimicd_window_read_rows(slot->window, addresses, count, size, rows);
	return move_rows(slot->memory, false, addresses, count, size, rows);
}

static long port_write_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			    const void *rows)
{
	struct mimicd_memory_slot *slot = context;

	if (slot->window)
		return (long)mimicd_window_write_rows(slot->window, addresses, count, size, rows);
	/* Only read: the function is one for both directions. */
	return move_rows(slot->memory, true, addresses, count, size, (char *)(uintptr_t)rows);
}

void mimicd_memory_port(struct mimic_memory *port, struct mimicd_memory_slot *slot)
{
	*port = (struct mimic_memory){
		.context = slot,
		.gather = port_gather,
		.read = port_read,
		.read_rows = port_read_rows,
		.write_rows = port_write_rows,
		.atomic = port_atomic,
		.prefetch = port_prefetch,
	};
}
