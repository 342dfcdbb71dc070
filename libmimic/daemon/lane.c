/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Making lanes, and finding the right one. Everything here may run in a signal
 * handler: system calls, no malloc().
 */
#include "libmimic/daemon/lane.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmimic/base/thread.h"
#include "libmimic/daemon/credit.h"
#include "libmimic/daemon/device.h"
#include "libmimic/daemon/session.h"

/* Of mimic_daemon_begin(), which begins each access: inlined there, it would have it save all registers. */
#define RARE __attribute__((noinline, cold))

_Static_assert(MIMIC_THREAD_SESSIONS == (int)DAEMON_SESSION_KINDS, "a place for each session");

static void unmap_lane(const struct daemon_thread *thread, struct daemon_lane *lane)
{
	struct mimic_lane *memory = lane->memory;
	size_t size = lane->size;

	/* First: a handler that comes meanwhile must not read unmapped memory. */
	memset(lane, 0, sizeof(*lane));
	mimic_daemon_handler_fence();
	if (memory)
		mimic_daemon_mapping_end(thread->generation, memory, size);
}

/* Another connection, another daemon perhaps: the old lanes are of no use. */
static void reset_thread(struct daemon_thread *thread, uint32_t generation)
{
	for (unsigned int i = 0; i < MIMIC_LANE_LEVELS; i++)
		unmap_lane(thread, &thread->lanes[i]);
	mimic_daemon_credits_drop(thread);
	thread->number = 0;
	thread->depth = 0;
	thread->generation = generation;
}

/* A record for this session in place of `older`, unless a signal handler has made one. */
static struct daemon_thread *make_thread(struct daemon_thread **place, struct daemon_thread *older,
					 uint32_t generation)
{
	struct daemon_thread *thread;
	int saved = errno;
	sigset_t signals;

	mimic_daemon_block_signals(&signals);
	if (*place == older) {
		thread = mmap(NULL, sizeof(*thread), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (thread == MAP_FAILED) {
			thread = NULL;
		} else {
			thread->older = older;
			thread->generation = generation;
			*place = thread;
		}
	}
	thread = *place;
	mimic_daemon_restore_signals(&signals);
	errno = saved;
	return thread && thread->generation == generation ? thread : NULL;
}

static bool is_ring_size(uint32_t words)
{
	return words >= MIMIC_LANE_WORDS_MIN && words <= MIMIC_LANE_WORDS_MAX && !(words & (words - 1));
}

static int map_lane(uint32_t generation, struct daemon_lane *lane, const struct daemon_lane_place *place)
{
	size_t size;
	void *memory;
	int error;

	if (place->fd < 0 || !is_ring_size(place->command_words) || !is_ring_size(place->response_words))
		return -EPROTO;
	size = mimic_lane_size(place->command_words, place->response_words);
	error = mimic_daemon_mapping_make(generation, place, size, &memory);
	if (error)
		return error;
	lane->memory = memory;
	lane->size = size;
	lane->number = place->number;
	lane->cpu = MIMIC_CPU_UNKNOWN;
	mimic_ring_attach(&lane->commands, mimic_lane_commands(memory), place->command_words);
	mimic_ring_attach(&lane->responses, mimic_lane_responses(memory, place->command_words),
			  place->response_words);
	return 0;
}

static int request_lane(struct daemon_thread *thread, unsigned int level)
{
	struct daemon_lane_place place = { .fd = -1 };
	int error = mimic_daemon_session_lane(thread->generation, thread->number, level, &place);

	if (error)
		return error;
	thread->number = place.thread;
	error = map_lane(thread->generation, &thread->lanes[level], &place);
	thread->lanes[level].thread = thread;
	thread->lanes[level].level = level;
	if (place.fd >= 0)
		close(place.fd);
	return error;
}

static int make_lane(struct daemon_thread *thread, unsigned int level)
{
	int saved = errno;
	sigset_t signals;
	int error = 0;

	/* Whole or not at all: a handler in between would make the thread known twice. */
	mimic_daemon_block_signals(&signals);
	if (!thread->lanes[level].memory)
		error = request_lane(thread, level);
	mimic_daemon_restore_signals(&signals);
	errno = saved;
	return error;
}

/* Takes back the command that the lane's operation waits for. Answers that came already stay in the ring. */
static void withdraw(struct daemon_thread *thread, struct daemon_lane *lane)
{
	uint64_t head;

	if (!lane->due || !lane->memory)
		return;
	head = atomic_load_explicit(&lane->commands.ring->head, memory_order_relaxed);
	if (lane->withdrawn && lane->withdrawn_head == head)
		return;
	mimic_daemon_session_tell(thread->generation, MIMIC_MESSAGE_CANCEL, lane->number);
	lane->withdrawn_head = head;
	lane->withdrawn = true;
	/* It may be about to sleep for an answer that does not come. */
	atomic_store(&lane->memory->client_sleeping, MIMIC_LANE_AWAKE);
}

/* An operation that will never go on: siglongjmp() passed over it. */
static void clear_abandoned(struct daemon_thread *thread, struct daemon_lane *lane)
{
	int64_t level;

	if (!lane->memory)
		return;
	mimic_daemon_credits_drop(thread);
	withdraw(thread, lane);
	if (lane->state == DAEMON_LANE_BUSY) {
		/* Half a command may be in the ring: begin anew. Commands that were published before are still done. */
		mimic_daemon_session_tell(thread->generation, MIMIC_MESSAGE_LANE_DROP, lane->number);
		unmap_lane(thread, lane);
		return;
	}
	level = mimic_ring_level(&lane->responses, UINT32_MAX);
	if (level > 0)
		mimic_ring_release(&lane->responses, (uint64_t)level);
	lane->due = 0;
	lane->withdrawn = false;
	lane->state = DAEMON_LANE_FREE;
}

static bool is_inside(const stack_t *stack, const void *address)
{
	const char *start = stack->ss_sp;

	return !(stack->ss_flags & SS_DISABLE) && (const char *)address >= start &&
	       (const char *)address < start + stack->ss_size;
}

/*
 * Is the operation that started at `frame` over, though it did not end? Surely
 * if we stand above it on the same stack. If below, it may be interrupted by
 * us, and is taken for that.
 */
static bool is_abandoned(const struct daemon_lane *lane, const void *frame)
{
	int saved = errno;
	stack_t stack;
	bool known;

	known = sigaltstack(NULL, &stack) == 0;
	errno = saved;
	if (!known || is_inside(&stack, lane->frame) != is_inside(&stack, frame))
		return false;
	return (const char *)frame >= (const char *)lane->frame;
}

/* Whole or not at all: a handler in between would clear the same lanes, or jump away from them. */
static unsigned int clear_all_abandoned(struct daemon_thread *thread, const void *frame)
{
	unsigned int depth;
	sigset_t signals;

	mimic_daemon_block_signals(&signals);
	depth = thread->depth;
	while (depth && is_abandoned(&thread->lanes[depth - 1], frame))
		clear_abandoned(thread, &thread->lanes[--depth]);
	/* Handlers do not nest that deep: the rest are operations that were jumped out of. */
	if (depth == MIMIC_LANE_LEVELS) {
		while (depth)
			clear_abandoned(thread, &thread->lanes[--depth]);
	}
	thread->depth = depth;
	mimic_daemon_restore_signals(&signals);
	return depth;
}

/* Operations of this thread have begun and not ended: are we inside them? Returns our level. */
static unsigned int settle_outer(struct daemon_thread *thread, const void *frame)
{
	unsigned int depth = thread->depth;

	if (depth == MIMIC_LANE_LEVELS || is_abandoned(&thread->lanes[depth - 1], frame))
		depth = clear_all_abandoned(thread, frame);
	if (depth)
		withdraw(thread, &thread->lanes[depth - 1]);
	return depth;
}

/* It has none for this session yet. */
static struct daemon_thread *renew_thread(struct daemon_thread **place, uint32_t generation,
					  const void *frame)
{
	struct daemon_thread *thread = *place;
	unsigned int level;

	if (!thread)
		return make_thread(place, NULL, generation);
	for (level = thread->depth; level; level--) {
		if (!is_abandoned(&thread->lanes[level - 1], frame))
			break;
	}
	/* An operation of the old session fails as soon as it goes on; until then it needs its lane. */
	if (level)
		return make_thread(place, thread, generation);
	reset_thread(thread, generation);
	return thread;
}

/* This thread's record for the session. */
static struct daemon_thread *get_thread(uint32_t generation, const void *frame)
{
	struct mimic_thread *self = mimic_thread_self();
	struct daemon_thread **place, *thread;

	if (!self)
		return NULL;
	place = &self->daemon[mimic_daemon_session_kind(generation)];
	thread = *place;
	return thread && thread->generation == generation ? thread : renew_thread(place, generation, frame);
}

static inline struct daemon_lane *take_lane(struct daemon_thread *thread, unsigned int level,
					    const struct daemon_device *device, const struct mimic_access *pattern,
					    void *frame)
{
	struct daemon_lane *lane = &thread->lanes[level];

	thread->depth = level + 1;
	mimic_daemon_handler_fence();
	lane->frame = frame;
	lane->device = device;
	lane->pattern = pattern;
	lane->state = DAEMON_LANE_BUSY;
	return lane;
}

/* The thread has no lane yet, or its operation interrupts another one. */
static RARE int begin_anyhow(const struct daemon_device *device, const struct mimic_access *pattern, void *frame,
			     struct daemon_lane **found)
{
	struct daemon_thread *thread;
	unsigned int level;
	int error;

	if (!mimic_daemon_session_is_current(device->generation))
		return -ENOTCONN;
	thread = get_thread(device->generation, frame);
	if (!thread)
		return -ENOMEM;
	level = thread->depth;
	if (level)
		level = settle_outer(thread, frame);
	if (!thread->lanes[level].memory) {
		error = make_lane(thread, level);
		if (error)
			return error;
	}
	*found = take_lane(thread, level, device, pattern, frame);
	return 0;
}

int mimic_daemon_begin(const struct daemon_device *device, const struct mimic_access *pattern, void *frame,
		       struct daemon_lane **found)
{
	struct daemon_lane *lane = mimic_daemon_begin_again(device, frame);

	if (!lane)
		return begin_anyhow(device, pattern, frame, found);
	lane->device = device;
	lane->pattern = pattern;
	*found = lane;
	return 0;
}

static void end_thread(struct daemon_thread *thread)
{
	if (thread->number)
		mimic_daemon_session_tell(thread->generation, MIMIC_MESSAGE_THREAD_GONE, thread->number);
	while (thread) {
		struct daemon_thread *older = thread->older;

		reset_thread(thread, 0);
		munmap(thread, sizeof(*thread));
		thread = older;
	}
}

void mimic_daemon_thread_gone(void)
{
	struct mimic_thread *self = mimic_thread_peek();

	for (unsigned int kind = 0; self && kind < DAEMON_SESSION_KINDS; kind++) {
		struct daemon_thread *thread = self->daemon[kind];

		self->daemon[kind] = NULL;
		if (thread)
			end_thread(thread);
	}
}

void mimic_daemon_lanes_after_fork(void)
{
	struct mimic_thread *self = mimic_thread_peek();

	/* The lanes are not mapped here (MADV_DONTFORK). */
	for (unsigned int kind = 0; self && kind < DAEMON_SESSION_KINDS; kind++) {
		if (self->daemon[kind])
			memset(self->daemon[kind], 0, sizeof(*self->daemon[kind]));
	}
}
