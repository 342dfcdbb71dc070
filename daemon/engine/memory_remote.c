/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A client's memory that it does not share, by process_vm_readv and process_vm_writev. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/memory_internal.h"
#include "daemon/engine/user.h"
#include "daemon/loop/log.h"
#include "devices/atomic.h"
#include "libmimic/base/clock.h"

/*
 * How long an access waits for its page before it is put off. Others wait as long. A page on a
 * disk comes in that time, and a helper gets a CPU. A program that has just let us
 * wait for nothing has less.
 */
#define WAIT_NS 2000000u
#define HURRIED_WAIT_NS 200000u

/* The kernel has room for 8 pieces and 16 pages of a call on its stack. */
#define PIECE_BYTES (15 * 4096u)

/*
 * A pid is only a number: was it still the client's while we read? It was if
 * the client has not ended now, because a pid is not given away before that.
 */
bool mimicd_memory_client_lives(const struct mimicd_memory *memory)
{
	struct pollfd entry = { .fd = memory->pidfd, .events = POLLIN };
	int count;

	/* A signal of ours that is pending ends even a poll() that does not wait. */
	do {
		count = poll(&entry, 1, 0);
	} while (count < 0 && errno == EINTR);
	return count == 0;
}

int mimicd_memory_try_remote(void)
{
	char here = 0, there = 0;
	const struct iovec local = { &here, 1 }, remote = { &there, 1 };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 ? 0 : -errno;
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

/* --- on a helper ------------------------------------------------------------------ */

static ssize_t call(pid_t pid, const struct iovec *local, const struct iovec *remote, size_t count, bool is_write)
{
	return is_write ? process_vm_writev(pid, local, 1, remote, count, 0) :
			  process_vm_readv(pid, local, 1, remote, count, 0);
}

/*
 * The kernel has no memory for its own lists of pieces and pages. Memory of ours is short, none of the
 * program's is missing: so few at a time that it needs no list. Returns as the calls do.
 */
static ssize_t move_by_pieces(const struct mimicd_memory_errand *errand, bool is_write)
{
	ssize_t done = 0, moved;

	for (size_t i = 0; i < errand->move.count; i++) {
		struct iovec there = errand->remote[i];

		for (size_t left = there.iov_len; left; left -= there.iov_len) {
			struct iovec here = { errand->data + done, left < PIECE_BYTES ? left : PIECE_BYTES };

			there.iov_len = here.iov_len;
			moved = call(errand->pid, &here, &there, 1, is_write);
			if (moved < 0)
				return done ? done : moved;
			done += moved;
			if ((size_t)moved < there.iov_len)
				return done;
			there.iov_base = (char *)there.iov_base + moved;
		}
	}
	return done;
}

/*
 * Not /proc/PID/mem, although it is faster for one block: it reads through
 * PROT_NONE, and a protected page has to be a fault.
 */
static void move_bytes(struct mimicd_memory_errand *errand, bool is_write)
{
	errand->moved = call(errand->pid, &errand->local, errand->remote, errand->move.count, is_write);
	if (errand->moved < 0 && errno == ENOMEM)
		errand->moved = move_by_pieces(errand, is_write);
	errand->error = errand->moved < 0 ? errno : 0;
}

/*
 * Read, then write. Nothing the kernel offers is atomic against the program's own
 * threads there; docs/protocol.md says so.
 */
static void do_atomic(struct mimicd_memory_errand *errand)
{
	const struct mimicd_move *move = &errand->move;
	uint32_t old, value;

	move_bytes(errand, false);
	if (errand->moved != sizeof(old))
		return;
	memcpy(&old, errand->data, sizeof(old));
	value = mimic_atomic_result(move->operation, old, move->operand, move->expected);
	memcpy(errand->data, &value, sizeof(value));
	move_bytes(errand, true);
	memcpy(errand->data, &old, sizeof(old));
}

static void run(struct mimicd_errand *context)
{
	struct mimicd_memory_errand *errand = (struct mimicd_memory_errand *)context;

	if (errand->move.is_atomic)
		do_atomic(errand);
	else
		move_bytes(errand, errand->move.is_write);
}

/* --- on the thread that wants it ---------------------------------------------------- */

/* `size` bytes of the local pieces. */
static void copy_local(const struct mimicd_move *move, char *data, size_t size, bool is_in)
{
	for (size_t i = 0; i < move->local_count && size; i++) {
		const struct iovec *piece = &move->local[i];
		size_t length = piece->iov_len < size ? piece->iov_len : size;

		if (is_in)
			memcpy(data, piece->iov_base, length);
		else
			memcpy(piece->iov_base, data, length);
		data += length;
		size -= length;
	}
}

static struct mimicd_memory_errand *make(struct mimicd_memory *memory, const struct mimicd_move *move)
{
	const size_t head = sizeof(struct mimicd_memory_errand) + move->count * sizeof(struct iovec);
	struct mimicd_memory_errand *errand;
	size_t bytes = 0;

	for (size_t i = 0; i < move->count; i++)
		bytes += move->remote[i].iov_len;
	errand = malloc(head + bytes);
	if (!errand)
		return NULL;
	*errand = (struct mimicd_memory_errand){
		.errand = { .run = run, .leave = mimicd_memory_leave },
		.memory = memory, .move = *move, .pid = memory->pid, .bytes = bytes,
		.data = (char *)errand + head,
	};
	errand->local = (struct iovec){ errand->data, bytes };
	memcpy(errand->remote, move->remote, move->count * sizeof(struct iovec));
	if (move->is_write && !move->is_atomic)
		copy_local(move, errand->data, bytes, true);
	return errand;
}

/* Takes the errand's result and frees the errand. */
static size_t finish(struct mimicd_memory *memory, const struct mimicd_move *move,
		     struct mimicd_memory_errand *errand)
{
	size_t moved = errand->moved > 0 && mimicd_memory_client_lives(memory) ? (size_t)errand->moved : 0;

	if (errand->moved < 0 && errand->error == EPERM)
		note_refusal(memory, "not permitted: not dumpable, another user's, or Yama");
	if (errand->moved < 0 && errand->error == ENOMEM)
		note_refusal(memory, "mimicd has no memory for it");
	if (!move->is_write || move->is_atomic)
		copy_local(move, errand->data, moved, false);
	free(errand);
	return moved;
}

static size_t send(struct mimicd_memory *memory, const struct mimicd_move *move,
		   struct mimicd_memory_errand *errand, bool is_hurried)
{
	uint64_t begun = mimic_now(), took;
	int error = mimicd_errands_send(memory->errands, &errand->errand, is_hurried ? HURRIED_WAIT_NS : WAIT_NS);

	took = mimic_now() - begun;
	/* No sleep that stalls.h is about: it is as long as we want. Jobs are not the engine's thread. */
	if (memory->user && !move->slot->is_of_jobs)
		memory->user->shard->stalls_counted += took;
	if (!error) {
		/* A page that comes just in time each time holds up others as one that does not. */
		if (took > HURRIED_WAIT_NS)
			mimicd_memory_hurry(memory);
		return finish(memory, move, errand);
	}
	if (error == -EAGAIN) {
		note_refusal(memory, "too many threads wait for pages that do not come");
		free(errand);
	}
	return 0;
}

size_t mimicd_memory_move(struct mimicd_memory *memory, const struct mimicd_move *move)
{
	struct mimicd_memory_errand *errand, *done = NULL;
	bool must_wait, is_hurried;

	if (!memory->may_read_process) {
		note_refusal(memory, "it belongs to another user");
		return 0;
	}
	errand = make(memory, move);
	if (!errand)
		note_refusal(memory, "mimicd has no memory for it");
	/* For a write, looking afterwards whose memory it was is too late. */
	if (!errand || (move->is_write && !mimicd_memory_client_lives(memory))) {
		free(errand);
		return 0;
	}
	pthread_mutex_lock(&memory->errands->lock);
	if (move->is_atomic)
		done = mimicd_memory_take_atomic(memory, move);
	must_wait = !done && mimicd_memory_must_wait(memory, move);
	is_hurried = mimic_now() < memory->hurry_until;
	pthread_mutex_unlock(&memory->errands->lock);
	if (done || must_wait)
		free(errand);
	if (done)
		return finish(memory, move, done);
	if (must_wait)
		return 0;
	atomic_fetch_add_explicit(&memory->remote_reads, move->count, memory_order_relaxed);
	return send(memory, move, errand, is_hurried);
}
