/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A client's memory that it does not share, by process_vm_readv and process_vm_writev. */
#include <errno.h>
#include <poll.h>

#include "daemon/engine/memory_internal.h"
#include "daemon/loop/log.h"

/*
 * A pid is only a number: was it still the client's while we read? It was if
 * the client has not ended now, because a pid is not given away before that.
 */
bool mimicd_memory_client_lives(const struct mimicd_memory *memory)
{
	struct pollfd entry = { .fd = memory->pidfd, .events = POLLIN };

	return poll(&entry, 1, 0) == 0;
}

static void note_refusal(struct mimicd_memory *memory, const char *why)
{
	atomic_fetch_add_explicit(&memory->refused, 1, memory_order_relaxed);
	if (atomic_exchange_explicit(&memory->refusal_logged, true, memory_order_relaxed))
		return;
	mimicd_log_of(memory->uid, MIMICD_LOG_WARNING,
		   "process %d: its memory cannot be reached (%s): the device reads 0 and counts faults; "
		   "memory that it shares (a library's alloc and register functions) is not affected",
		   (int)memory->pid, why);
}

/*
 * process_vm_readv or writev: bytes moved before the first that cannot be.
 * Not /proc/PID/mem, although it is faster for one block: it reads through
 * PROT_NONE, and a protected page has to be a fault.
 */
size_t mimicd_memory_move(struct mimicd_memory *memory, bool is_write, const struct iovec *local,
			  size_t local_count, const struct iovec *remote, size_t count)
{
	ssize_t moved;

	if (!memory->may_read_process) {
		note_refusal(memory, "it belongs to another user");
		return 0;
	}
	atomic_fetch_add_explicit(&memory->remote_reads, count, memory_order_relaxed);
	if (is_write)
		moved = process_vm_writev(memory->pid, local, local_count, remote, count, 0);
	else
		moved = process_vm_readv(memory->pid, local, local_count, remote, count, 0);
	if (moved < 0) {
		if (errno == EPERM)
			note_refusal(memory, "not permitted: not dumpable, another user's, or Yama");
		return 0;
	}
	return mimicd_memory_client_lives(memory) ? (size_t)moved : 0;
}
