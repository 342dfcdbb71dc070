/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A thread's lanes: one, and one more for each signal handler that uses a
 * device while it interrupts an operation of the same thread.
 *
 * An operation is the code between begin() and end(). A handler that finds one
 * in progress leaves its lane alone and takes the next. If the interrupted
 * operation waits for answers, its command is withdrawn first, as a processor
 * takes back a load that an interrupt finds waiting; the operation issues it
 * again when (and if) it goes on. It does not if the handler leaves by
 * siglongjmp(): then no withdrawn command can take a word from a queue.
 */
#ifndef LIBMIMIC_DAEMON_LANE_H
#define LIBMIMIC_DAEMON_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "devices/kind.h"
#include "libmimic/base/patience.h"
#include "libmimic/base/prefetch.h"
#include "libmimic/base/thread.h"
#include "libmimic/daemon/device.h"
#include "libmimic/daemon/session.h"
#include "mimic/lane.h"
#include "mimic/protocol.h"

enum daemon_lane_state {
	DAEMON_LANE_FREE,
	DAEMON_LANE_BUSY,	/* the rings are being written or read */
	DAEMON_LANE_WAITING,	/* the rings are whole: another operation could go on from here */
};

/* Where the last posts of other lanes are found (order.c). */
enum daemon_order_source {
	DAEMON_ORDER_ANY_LANE,
	DAEMON_ORDER_FIRST_LANE,
	DAEMON_ORDER_SOURCES,
};

struct daemon_thread;

struct daemon_lane {
	struct daemon_thread *thread; /* once it is made */
	struct mimic_lane *memory;	/* NULL: not made yet */
	size_t size;
	struct mimic_ring_end commands;
	struct mimic_ring_end responses;
	uint32_t number;
	uint32_t level;			/* its place among the thread's */
	int cpu;			/* as published */
	/* Signal handlers on this thread read these. */
	volatile uint32_t due;		/* answers of the command in progress that have not come */
	/* A handler took back commands that were published up to `withdrawn_head`. */
	volatile bool withdrawn;
	volatile uint64_t withdrawn_head;
	volatile enum daemon_lane_state state;
	void *volatile frame;		/* of the operation in progress */
	/* That operation's, which are its caller's: for a wait that has to be explained. */
	const struct daemon_device *device;
	const struct mimic_access *pattern;
	/* Order words that are in the ring, the last of each part of a device: commands that follow need them no more. */
	uint64_t ordered[DAEMON_ORDER_SOURCES][MIMIC_KIND_ORDERS];
};

/* Of one device (credit.h). */
#define DAEMON_CREDIT_DEVICES 4

struct daemon_credit {
	uint32_t number;	/* the device's */
	uint64_t parts;		/* a byte for each */
};

struct daemon_thread {
	struct daemon_thread *older;	/* of a session that is gone, with operations that may not be over */
	uint32_t generation;	/* of the session that the lanes belong to */
	uint32_t number;	/* the daemon's; 0: it has no lane yet */
	volatile unsigned int depth;	/* operations in progress, the outermost has lanes[0] */
	struct daemon_lane lanes[MIMIC_LANE_LEVELS];
	struct daemon_credit credits[DAEMON_CREDIT_DEVICES];
	volatile unsigned int credit_losses;	/* how often something took all of them away */
};

/* Keeps the compiler from moving stores across; a handler runs on this very thread. */
static inline void mimic_daemon_handler_fence(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

/*
 * Starts an operation on the device, by accesses of that pattern; `frame` is a stack address of it. 0, or
 * -ENOTCONN, -ENOMEM, ... and then there is nothing to end.
 */
int mimic_daemon_begin(const struct daemon_device *device, const struct mimic_access *pattern, void *frame,
		       struct daemon_lane **lane);

/*
 * The same for most operations: the thread has a lane, and the operation interrupts none. NULL:
 * mimic_daemon_begin() is called. Before a wait the caller sets lane->device and lane->pattern, which explain it.
 */
static inline struct daemon_lane *mimic_daemon_begin_again(const struct daemon_device *device, void *frame)
{
	const struct mimic_thread *self = mimic_thread_peek();
	uint32_t generation = device->generation;
	struct daemon_thread *thread;
	struct daemon_lane *lane;

	if (!mimic_daemon_session_is_current(generation) || !self)
		return NULL;
	thread = self->daemon[mimic_daemon_session_kind(generation)];
	if (!thread || thread->generation != generation || thread->depth || !thread->lanes[0].memory)
		return NULL;
	lane = &thread->lanes[0];
	thread->depth = 1;
	mimic_daemon_handler_fence();
	lane->frame = frame;
	lane->state = DAEMON_LANE_BUSY;
	return lane;
}

/* Of an operation that has asked for no answers. */
static inline void mimic_daemon_end_post(struct daemon_lane *lane)
{
	struct daemon_thread *thread = lane->thread;

	lane->state = DAEMON_LANE_FREE;
	mimic_daemon_handler_fence();
	thread->depth = lane->level;
}

static inline void mimic_daemon_end(struct daemon_lane *lane)
{
	lane->due = 0;
	lane->withdrawn = false;
	mimic_daemon_end_post(lane);
}

/* Was the command in progress withdrawn? Not if it was published only after a handler tried. */
static inline bool mimic_daemon_is_withdrawn(const struct daemon_lane *lane)
{
	return lane->withdrawn && lane->withdrawn_head == lane->commands.position;
}

/* Publishes `words` that were put into the command ring, and wakes the daemon if it sleeps. */
void mimic_daemon_publish(struct daemon_lane *lane, uint64_t words);
/* As far ahead as a line of another processor takes to come, at the speed of posts. */
#define MIMIC_DAEMON_PREFETCH_WORDS 64

/*
 * Publishes words without waking the daemon: only for words that no thread waits for before more is
 * published on some lane of the session by mimic_daemon_publish(). A wait for room wakes it.
 */
static inline void mimic_daemon_publish_quietly(struct daemon_lane *lane, uint64_t words)
{
	const struct mimic_ring_end *commands = &lane->commands;

	mimic_ring_publish_words(&lane->commands, words);
	/* The daemon read this line a round ago: getting it back takes as long as several posts. */
	mimic_prefetch_to_write(&commands->ring->words[(commands->position + MIMIC_DAEMON_PREFETCH_WORDS) &
						      commands->mask]);
}

/* Waits for room of that many words. -ENOTCONN. */
int mimic_daemon_wait_room(struct daemon_lane *lane, uint32_t generation, uint64_t words);

/* The same without a call, where there is room. */
static inline int mimic_daemon_get_room(struct daemon_lane *lane, uint32_t generation, uint64_t words)
{
	int64_t room = mimic_ring_room(&lane->commands, words);

	return room >= (int64_t)words ? 0 : mimic_daemon_wait_room(lane, generation, words);
}

/*
 * Waits for answers; returns how many are there. -ENOTCONN; -EINTR: a signal
 * handler took the command back, the missing answers have to be asked for again.
 */
int64_t mimic_daemon_wait_answers(struct daemon_lane *lane, uint32_t generation);

/* explain.c: this thread has waited for long, and reports the reason. Keeps errno. */
void mimic_daemon_explain(const struct daemon_lane *lane, uint32_t generation, struct mimic_wait *wait);

void mimic_daemon_thread_gone(void);
void mimic_daemon_lanes_after_fork(void);

#endif
