/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The engine: devices, the programs that have them, and the lanes by which programs give
 * them commands. Its state is one structure, which belongs to the thread that holds its
 * lock (jobs.h): the loop's, but for the time that this sleeps. Clients and devices may be given to further
 * threads (shards.h), each of which has a lock of its own.
 *
 *   front_end.h, client.h, function.h, binding.h, trap.h   structures and calls of front ends
 *   instance.c, device.c, manage.c   a device; made; seen and managed from outside
 *   client.c, client_devices.c       a program that has devices from us
 *   user.c, quota.c                  the user that it belongs to, and the limits of users
 *   lane.c, turn.c, execute.c        its lanes: made; which may go on; their commands
 *   explain.c                        the reason why a lane waits, in words
 *   process.c, binding.c, trap.c     a program that has devices by a driver
 *   memory*.c, device_memory.c       memory of programs, memory of devices
 *   jobs.c, workers.c                long work
 *   errands.c                        calls that may never end
 *   holes.c                          pages of clients that we are not to make
 *   events.c, trace.c, inject.c      events of programs, traces, injected errors
 *   recording.c                      all that devices are asked, answer and ask, in a file
 *   wakes.c, stalls.c                how long it takes to wake programs, and to reach memory that they share
 *   shard*.c, placement.c            the clients of one thread; further threads; the thread of each client
 *   round.c, inspection.c            all of this in turn; inspection requests, too
 */
#ifndef MIMICD_ENGINE_H
#define MIMICD_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/engine/errands.h"
#include "daemon/engine/events.h"
#include "daemon/engine/holes.h"
#include "daemon/engine/jobs.h"
#include "daemon/engine/memory_fix.h"
#include "daemon/engine/quota.h"
#include "daemon/engine/shard.h"
#include "daemon/loop/loop.h"
#include "daemon/loop/timer.h"
#include "libmimic/base/config.h"
#include "libmimic/base/wait.h"

struct mimicd_binding;
struct mimicd_front_end;
struct mimicd_instance;
struct mimicd_predecessor;
struct mimicd_recorder;
struct mimicd_trace;
struct mimicd_user;
struct mimicd_client;
struct record_file;

#define MIMICD_DEVICES_MAX (MIMIC_KIND_DEVICES_MAX * MIMIC_KINDS_MAX)

struct mimicd_engine {
	struct mimicd_loop *loop;
	struct mimic_settings settings;
	struct mimicd_front_end *front_ends;	/* the newest first */

	/* By kind, then by number: number N of the first at N, the next kind's 1024 further; NULL: there is none. */
	struct mimicd_instance *named[MIMICD_DEVICES_MAX];
	struct mimicd_instance *first_named;	/* the same, by `next_named`, in that order */
	uint64_t last_address_space;	/* of the contexts that we give away */
	uint64_t last_owner;		/* serial part of owner numbers */
	struct mimicd_client *clients;
	struct mimicd_quotas quotas;	/* of each of them */
	uint64_t used[MIMICD_QUOTA_COUNT];	/* by all */
	struct mimicd_binding *bindings;	/* of processes that have devices by a driver */
	struct mimicd_trace *bindings_trace;	/* of the client that traces these; NULL: none does */

	struct mimicd_shard loop_shard;	/* the loop's thread's */
	struct mimicd_shard *shards;	/* beside that one (shards.h) */
	unsigned int shard_count;
	unsigned int started;		/* of these, from the first on, that have a thread */
	unsigned int held;		/* how often the loop's thread holds them */
	bool spreads_at_once;		/* for tests: no client that may leave the loop's shard stays there */
	bool shards_stop;		/* with all of their locks */
	atomic_bool crowd_changed;	/* there is one, or no more: fewer shards, or more, are to have the clients (crowd.h) */
	bool must_place;		/* clients may have to change their shard (placement.h) */

	struct mimicd_timer free_timer;	/* when memory of devices that are gone is given back */
	bool frees;			/* it is armed */
	struct mimicd_timer wake_timer;	/* when a wake-up may be that was put off */
	uint64_t wakes_due;		/* for when it is armed; 0: it is not */
	struct mimic_lock lock;		/* see jobs.h */
	struct mimicd_jobs jobs;
	struct mimicd_errands errands;
	struct mimicd_holes holes;
	struct mimicd_memory_fixes memory_fixes;
	struct mimicd_events events;

	uint64_t inspections_rest_until;	/* the lanes' turn, see inspection.h */
	atomic_bool reap;		/* a client or lane waits to be freed */
	struct mimicd_instance *leaving;	/* leave.h */
	struct record_file *recording;	/* recording.h; NULL: devices are not recorded */
	bool recording_is_cut;		/* it could not be written, and the log says so */

	/* Of a daemon that can be recovered (step.h). */
	struct mimicd_predecessor *predecessor;	/* recover.h; NULL: it is over, or never was */
	const struct mimicd_recorder *recorder;	/* NULL: it cannot be, or not yet */
	void *recorder_context;
	bool has_changed;		/* clients, bindings or devices differ from their records */
	bool has_answers;		/* of front ends, that are shown after the commit */
};

/*
 * The devices of the settings, and the loop's work. `threads`: how many the engine has at most, see shards.h.
 * `recording`: a file for the devices' streams, that is not there yet (recording.h); NULL: none. 0 or
 * -errno, with a log line; after either, mimicd_engine_destroy(). The caller holds the lock from then on.
 */
int mimicd_engine_create(struct mimicd_engine *engine, struct mimicd_loop *loop,
			 const struct mimic_settings *settings, const char *recording, unsigned int threads);
/* No program has a device any more. false: a thread is lost, and uses the engine until the process ends. */
bool mimicd_engine_destroy(struct mimicd_engine *engine);

/* A program that needs the CPU that the shard's thread runs on is to have it: no spinning for a while. */
static inline void mimicd_shard_note_crowded(struct mimicd_shard *shard)
{
	shard->crowded_until = shard->now + shard->engine->settings.spin_microseconds * 1000ull;
}

/* Serves every lane once, then front ends that poll, jobs and busy devices. true: something was done. */
bool mimicd_engine_round(struct mimicd_engine *engine);
/* Before the loop asks for events of its descriptors: frees clients and devices that have ended. */
void mimicd_engine_prepare(struct mimicd_engine *engine);

#endif
