/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The embedded transport: the device model lives in this process.
 *
 * Each thread has a lane to each instance. mimic_device_post() writes commands
 * into the lane's ring without any lock; a thread that takes the instance's lock
 * drains all lanes into the model first. So the model's cache lines stay with
 * the thread that consumes, and a thread that only posts writes only its ring.
 *
 * Lock order: the device table's lock (device.c), then an instance's lock.
 */
#ifndef LIBMIMIC_EMBEDDED_H
#define LIBMIMIC_EMBEDDED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "devices/model.h"
#include "libmimic/base/clock.h"
#include "libmimic/base/patience.h"
#include "libmimic/base/thread.h"
#include "libmimic/base/wait.h"
#include "libmimic/transport.h"
#include "mimic/command.h"
#include "mimic/ring.h"

#define EMBEDDED_RING_WORDS 4096
/* A poster whose ring is full goes on when it has this much room, not for each word. */
#define EMBEDDED_POST_ROOM (EMBEDDED_RING_WORDS / 16)
#define EMBEDDED_KEPT_ANSWERS 8
#define EMBEDDED_WAKES 8
#define EMBEDDED_WORKERS_MAX 8
/* Stores behind a full queue whose data is prefetched: about the capacity of a queue. */
#define EMBEDDED_PREFETCH_AHEAD 64

/* The reason why a lane's thread waits. */
enum embedded_wait {
	EMBEDDED_WAIT_NONE,
	EMBEDDED_WAIT_ANSWER,	/* its access is parked in the model */
	EMBEDDED_WAIT_ROOM,	/* `wanted` words of its ring are to be free */
	EMBEDDED_WAIT_ORDER,	/* posts of lane `behind`, up to position `wanted`, come first */
};

enum embedded_state {
	EMBEDDED_AWAKE,
	EMBEDDED_ASLEEP,
	EMBEDDED_SETTLED,
};

struct embedded_answer {
	uint64_t ticket;
	uint64_t data;
};

/*
 * Lives as long as the process: other threads walk the list without the lock.
 * A lane whose thread ended is given to the next new thread.
 */
struct embedded_lane {
	/* The thread's own. */
	struct mimic_ring_end producer;
	_Atomic int cpu;	/* where the thread ran last */

	/* Under the instance's lock. */
	_Alignas(128) struct embedded_lane *_Atomic next;
	uint32_t left;			/* of the payload of the command at the ring's head */
	uint32_t holder;		/* the thread's number, for the lock */
	uint32_t tid;			/* the system's, for a debugger */
	atomic_bool blocked;		/* the store at the ring's head would have to wait */
	atomic_bool in_use;
	bool ending;			/* the thread is gone, its posts are not */
	bool at_rest;			/* nothing of the lane is left to do, unless it posts again */
	struct mimic_ring_end consumer;	/* with what is above, all that each section reads lies in one line */
	struct mimic_access pattern;	/* of the command at the ring's head */

	/*
	 * The wait. In the lane and not on the stack, because a signal handler of
	 * the program may siglongjmp() out of it: the thread's next access finds it
	 * and withdraws it. A handler may also make an access of its own and
	 * return; the ticket tells the outer one that it has to ask again.
	 */
	_Alignas(128) _Atomic uint32_t state;	/* enum embedded_state; the futex */
	_Atomic int waiting;			/* enum embedded_wait */
	_Atomic uint64_t ticket;
	uint64_t wanted;
	struct embedded_lane *behind;
	struct mimic_access access;		/* that is parked */
	uint64_t answer;
	struct mimic_trace_source trace;	/* of this wait, unless the device traces it */
	/* Answers that came, but whose access was interrupted by another before it could take them. */
	struct embedded_answer kept[EMBEDDED_KEPT_ANSWERS];

	struct mimic_ring ring;		/* last: its words follow */
};

/* Memory of the device that the program maps: a file of memory, and where we have it. */
struct embedded_memory {
	void *address;	/* NULL: the kind has none */
	size_t size;
	int fd;
};

struct embedded_instance;

/*
 * The jobs of a kind that has some (devices/kind.h) are done by workers, threads of ours,
 * and threads of the program while they wait. The first worker is made with the device;
 * it is also the one that makes others, because a program's signal handler cannot make
 * threads. There are never more threads at jobs than CPUs.
 *
 * A job that is available is seen by a worker in any case: one that is awake takes the
 * lock and checks for jobs before it sleeps, and a section that leaves a job while none is awake
 * wakes one (mimic_embedded_jobs_settle()).
 */
struct embedded_worker {
	struct embedded_instance *instance;
	pthread_t thread;
	bool exists;			/* written by its creator */
	bool is_looking;		/* its own */
	_Atomic uint32_t state;		/* EMBEDDED_AWAKE or _ASLEEP; the futex; changed under the lock */
	_Atomic int cpu;		/* where it ran last */
};

struct embedded_jobs {
	const struct mimic_jobs *kind;	/* NULL: there are none */
	atomic_uint most;		/* workers that there can be */
	atomic_uint cpus;
	/* Under the lock. */
	unsigned int made;
	unsigned int asleep;
	unsigned int waking;		/* woken, and not seen since */
	/* Written under the lock. */
	_Atomic uint32_t out;		/* jobs at work; a futex for the thread that closes */
	atomic_uint looking;		/* workers that spin until there is something to do */
	atomic_bool available;		/* there is a job that no thread has taken */
	atomic_bool ending;
	struct embedded_worker worker[EMBEDDED_WORKERS_MAX];
};

/*
 * A handle of a program: an instance, or one of its contexts. Once made it stays, as
 * its instance does. Written under the device table's lock and the instance's.
 */
struct embedded_device {
	struct mimic_device device;	/* first */
	struct embedded_instance *instance;
	unsigned int context;
	/* Read without a lock, too: a close may come between, and the access then finds the instance closed. */
	_Atomic uint8_t first_page;	/* the program's page 0 is this one of the device */
	_Atomic uint8_t pages;		/* that it has; 0: closed */
	atomic_bool open;
	/* Of kinds with ordered posts: the lane of the last post, by the part of the device. */
	struct embedded_lane *_Atomic last_post[MIMIC_KIND_ORDERS];
};

struct embedded_instance {
	const struct mimic_kind *kind;
	unsigned int slot;
	unsigned int spin_microseconds;
	struct embedded_instance *forgotten;	/* list of the parent's, in a forked child */
	struct mimic_memory memory;		/* of this process: every context's */
	/* One; or by context. Under the device table's lock. */
	struct embedded_device *_Atomic handles[MIMIC_KIND_CONTEXTS_MAX];
	unsigned int handle_count;	/* that there can be, while it is open */
	unsigned int users;		/* handles that are open */
	struct embedded_memory device_memory;	/* of the open model */
	struct embedded_lane *_Atomic lanes;	/* grows only */

	_Alignas(128) struct mimic_lock lock;
	struct mimic_model *model;
	bool open;
	bool reads_clock;		/* for each section: the model does not ask for the time by itself */
	struct mimic_recent clock;
	unsigned int blocked;		/* lanes, at the last drain */
	_Atomic uint32_t *wakes[EMBEDDED_WAKES];	/* futexes to wake once the lock is free */
	unsigned int wake_count;
	bool has_ordered;		/* a lane may wait for another one's posts */
	bool events_raised;
	int event_fd;			/* the program's, our copy; -1: none */

	/* A thread may be asleep that a post would wake. Read by every post. */
	_Alignas(128) _Atomic uint32_t sleepers;
	_Atomic uint32_t pauses;	/* times that a thread began to wait, and left the lock to others */
	const char *_Atomic report;	/* the device's message, not yet asked for */
	atomic_bool busy;		/* the model has work that goes on without an access */

	_Alignas(128) struct embedded_jobs jobs;
};

/*
 * A hint for values on their way to the device: those that could be addresses
 * are probably about to be fetched. Between a post and the drain, and between a
 * full queue and the next load, there is time for memory to answer; without
 * this every batch waits for its slowest fetch. Prefetching never faults.
 */
static inline void mimic_embedded_prefetch(const uint64_t *values, size_t count, unsigned int size)
{
	if (size != sizeof(*values))
		return;
	for (size_t i = 0; i < count; i++) {
		/* Between the lowest mappings and the end of user space. */
		if (values[i] - 0x10000 < 0x7fffffff0000ull)
			__builtin_prefetch((const void *)(uintptr_t)values[i]);
	}
	/* gcc drops calls of a function that does nothing but prefetch. */
	__asm__ volatile("");
}

/* lane.c */

/* For a thread that has none. */
struct embedded_lane *mimic_embedded_lane_make(struct embedded_instance *instance, int *error);

/* This thread's lane; made if there is none. NULL: no memory. -EDEADLK in *error: see enter. */
static inline struct embedded_lane *mimic_embedded_lane_get(struct embedded_instance *instance, int *error)
{
	const struct mimic_thread *thread = mimic_thread_peek();
	struct embedded_lane *lane = thread ? thread->lanes[instance->slot] : NULL;

	return lane ? lane : mimic_embedded_lane_make(instance, error);
}

void mimic_embedded_lane_end(struct embedded_instance *instance, struct embedded_lane *lane);

/*
 * The lock, and nothing else. A thread that has it, or waits for it, holds its signals off
 * (libmimic/base/hold.h). 0 or -EDEADLK.
 */
int mimic_embedded_take(struct embedded_instance *instance, uint32_t holder);
bool mimic_embedded_try(struct embedded_instance *instance, uint32_t holder);
void mimic_embedded_release(struct embedded_instance *instance);
/* Takes the lock and reads the clock. 0 or -EDEADLK. */
int mimic_embedded_lock_as(struct embedded_instance *instance, uint32_t holder);
/* The same, and the others know where this thread runs. */
int mimic_embedded_lock(struct embedded_instance *instance, struct embedded_lane *lane);
/*
 * Takes the lock, withdraws this thread's abandoned accesses, and drains all lanes.
 * 0, or without the lock: -ENODEV (closed), -EDEADLK (a signal handler
 * interrupted this thread inside this very section).
 */
int mimic_embedded_enter(struct embedded_instance *instance, struct embedded_lane *lane);
void mimic_embedded_leave(struct embedded_instance *instance);

/* drain.c */

/* With the lock: is there nothing in the lane's ring, and nothing to be told to its thread? */
static inline bool mimic_embedded_is_idle(const struct embedded_lane *lane)
{
	return lane->at_rest &&
	       atomic_load_explicit(&lane->ring.head, memory_order_relaxed) == lane->consumer.position;
}

/* With the lock: has a drain nothing to do? Most sections begin so. */
static inline bool mimic_embedded_is_quiet(struct embedded_instance *instance)
{
	struct embedded_lane *lane;

	/* acquire: pairs with the release of make_lane() */
	for (lane = atomic_load_explicit(&instance->lanes, memory_order_acquire); lane;
	     lane = atomic_load_explicit(&lane->next, memory_order_relaxed)) {
		if (!mimic_embedded_is_idle(lane))
			return false;
	}
	return !atomic_load_explicit(&instance->busy, memory_order_relaxed);
}

/* With the lock: everything that can take effect does. Did anything? */
bool mimic_embedded_drain(struct embedded_instance *instance);
/* With the lock: drops all posts and lets every waiting thread go on; its answer is 0. */
void mimic_embedded_discard(struct embedded_instance *instance);

/* wait.c */

/* With the lock: begin to wait. Then leave, and wait for the ticket. */
uint64_t mimic_embedded_park(struct embedded_instance *instance, struct embedded_lane *lane,
			     enum embedded_wait waiting, uint64_t wanted);
/* false: a signal handler's access came between, and the wait has to be started again. */
bool mimic_embedded_await(struct embedded_instance *instance, struct embedded_lane *lane,
			  uint64_t ticket, uint64_t *answer);
/* It has its answer, or another one began. */
bool mimic_embedded_is_over(struct embedded_lane *lane, uint64_t ticket);
/* With the lock: the wait of this lane is over. */
void mimic_embedded_settle(struct embedded_instance *instance, struct embedded_lane *lane);
/* With the lock: the thread starts something new; its access that still waits is withdrawn. */
void mimic_embedded_abandon(struct embedded_instance *instance, struct embedded_lane *lane);
/* Does a thread that could help run on another CPU, as far as we know? */
bool mimic_embedded_peer_is_elsewhere(struct embedded_instance *instance, struct embedded_lane *lane);
/* After a post: wakes a thread that sleeps for it. */
void mimic_embedded_notify(struct embedded_instance *instance, struct embedded_lane *lane);
/* Is there something that a drain could take or do? No promise: rings change all the time. */
bool mimic_embedded_has_news(struct embedded_instance *instance);

/* explain.c */

/* Without the lock: this thread has waited for long, and reports the reason. */
void mimic_embedded_explain(struct embedded_instance *instance, struct embedded_lane *lane, uint64_t ticket,
			    struct mimic_wait *wait);

/* jobs.c; `instance->jobs.kind` says whether there is anything to call */

/* A worker for a device that is about to open. 0 or -errno. */
int mimic_embedded_jobs_start(struct embedded_instance *instance, const void *parameters);
/* With the lock, of a device that is not open any more: no thread takes another job. */
void mimic_embedded_jobs_end(struct embedded_instance *instance);
/* Then, without the lock: waits for the outstanding jobs, and for the workers. */
void mimic_embedded_jobs_stop(struct embedded_instance *instance);
/* With the lock, at the end of every section: is there a job, and which thread takes it? */
void mimic_embedded_jobs_settle(struct embedded_instance *instance, bool is_worker);
/* Is there a job that no worker is about to take? No promise. */
bool mimic_embedded_jobs_need_help(struct embedded_instance *instance);
/* While a thread waits: drains, and does a job if there is one that no worker is about to take. */
void mimic_embedded_jobs_help(struct embedded_instance *instance, struct embedded_lane *lane);

/* events.c */

int mimic_embedded_device_eventfd(struct mimic_device *device, int fd, uint64_t events);
/* With the lock, after the model has raised its interrupt. */
void mimic_embedded_events_signal(struct embedded_instance *instance);

#endif
