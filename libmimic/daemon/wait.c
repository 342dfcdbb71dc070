/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* How a thread waits for the daemon: spin, then sleep on the lane's futex word. */
#include <errno.h>
#include <unistd.h>

#include "libmimic/daemon/lane.h"
#include "libmimic/daemon/session.h"

/* Less than a microsecond. Of some looks one pauses: it takes 20 to 80 ns, a quarter of a whole access at best. */
#define FIRST_LOOKS 80
#define LOOKS_PER_PAUSE 8
/* How long a thread sleeps before it checks whether the daemon is there. */
#define CHECK_NS 100000000ull

static struct mimic_yield yields;

/* Published words are in memory before the flag is read. */
static void wake_daemon(struct daemon_lane *lane)
{
	/* Pairs with the daemon's fence between its flag and its last read of the rings. */
	mimic_lane_fence();
	if (!atomic_load_explicit(&lane->memory->daemon_sleeping, memory_order_relaxed))
		return;
	/* The side that clears the flag wakes: once is enough. */
	if (!atomic_exchange_explicit(&lane->memory->daemon_sleeping, 0, memory_order_relaxed))
		return;
	mimic_daemon_session_kick(lane->thread->generation);
}

/* For the daemon, which leaves the CPU to a thread that waits on the same one. */
static void publish_cpu(struct daemon_lane *lane)
{
	int cpu = mimic_cpu_current();

	if (cpu == lane->cpu)
		return;
	lane->cpu = cpu;
	atomic_store_explicit(&lane->memory->client_cpu, cpu, memory_order_relaxed);
}

void mimic_daemon_publish(struct daemon_lane *lane, uint64_t words)
{
	mimic_ring_publish(&lane->commands, words);
	/* Behind the words, on which the daemon may be at work already. */
	publish_cpu(lane);
	wake_daemon(lane);
}

/* Words of room, or of answers, that the ring has; -EINTR, -EPROTO. */
static int64_t available(struct daemon_lane *lane, enum mimic_lane_sleep what, uint64_t wanted)
{
	int64_t words;
	bool withdrawn;

	if (what == MIMIC_LANE_WAITS_FOR_ROOM)
		return mimic_ring_room(&lane->commands, wanted);
	withdrawn = mimic_daemon_is_withdrawn(lane);
	words = mimic_ring_level(&lane->responses, wanted);
	return words || !withdrawn ? words : -EINTR;
}

/* Without a yield: the daemon waits for our next access, for a moment, while others sleep. */
static int64_t spin_in_a_crowd(struct daemon_lane *lane, enum mimic_lane_sleep what, uint64_t wanted,
			       unsigned int microseconds)
{
	struct mimic_spin spin;
	int64_t words;

	mimic_spin_start(&spin, microseconds, true);
	do {
		words = available(lane, what, wanted);
		if (words < 0 || (uint64_t)words >= wanted)
			return words;
	} while (mimic_spin_step(&spin));
	return 0;
}

/*
 * Most answers come within that time. No clock is read: where both CPUs are of one core, that would hold up the daemon.
 */
static int64_t look_for(struct daemon_lane *lane, enum mimic_lane_sleep what, uint64_t wanted)
{
	int64_t words = 0;

	for (unsigned int look = 0; look < FIRST_LOOKS; look++) {
		words = available(lane, what, wanted);
		if (words < 0 || (uint64_t)words >= wanted)
			break;
		if (look % LOOKS_PER_PAUSE == LOOKS_PER_PAUSE - 1)
			mimic_pause_cpu();
	}
	return words;
}

static int64_t spin_for(struct daemon_lane *lane, enum mimic_lane_sleep what, uint64_t wanted)
{
	int daemon_cpu = atomic_load_explicit(&lane->memory->daemon_cpu, memory_order_relaxed);
	uint32_t most = atomic_load_explicit(&lane->memory->spin_most, memory_order_relaxed);
	struct mimic_spin spin;
	int64_t words;
	bool is_elsewhere = mimic_cpu_is_elsewhere(daemon_cpu);

	if (is_elsewhere) {
		words = look_for(lane, what, wanted);
		if (words < 0 || (uint64_t)words >= wanted)
			return words;
	}
	if (most)
		return is_elsewhere ? spin_in_a_crowd(lane, what, wanted, most) : 0;
	mimic_spin_start(&spin, mimic_daemon_session_of(lane->thread->generation)->spin_microseconds, true);
	do {
		words = available(lane, what, wanted);
		if (words < 0 || (uint64_t)words >= wanted)
			return words;
		if (!is_elsewhere && !mimic_yield(&yields))
			return 0;
		/* It may have been moved to our CPU since it last said where it is. */
	} while (mimic_spin_step_yielding(&spin, &yields));
	return 0;
}

/* 0 or -ENOTCONN. */
static int sleep_for(struct daemon_lane *lane, uint32_t generation, enum mimic_lane_sleep what,
		     uint64_t wanted, struct mimic_wait *wait)
{
	uint64_t limit = mimic_wait_limit(wait);
	int64_t words;
	int error = 0;

	atomic_store_explicit(&lane->memory->client_sleeping, what, memory_order_relaxed);
	/* Pairs with the daemon's fence between its answer and its read of the flag. */
	mimic_lane_fence();
	words = available(lane, what, wanted);
	if (words >= 0 && (uint64_t)words < wanted)
		error = mimic_daemon_session_wait(generation, lane, what,
						  limit && limit < CHECK_NS ? limit : CHECK_NS);
	atomic_store_explicit(&lane->memory->client_sleeping, MIMIC_LANE_AWAKE, memory_order_relaxed);
	if (error == -ETIMEDOUT && !mimic_daemon_session_is_alive(generation))
		return -ENOTCONN;
	return mimic_daemon_session_is_current(generation) ? 0 : -ENOTCONN;
}

static int64_t wait_for(struct daemon_lane *lane, uint32_t generation, enum mimic_lane_sleep what,
			uint64_t wanted)
{
	int64_t words = available(lane, what, wanted);
	struct mimic_wait wait = { 0 };

	if (words >= 0 && (uint64_t)words >= wanted)
		return words;
	lane->state = DAEMON_LANE_WAITING;
	/* The ring may be full of posts that were published without a wake. */
	if (what == MIMIC_LANE_WAITS_FOR_ROOM) {
		publish_cpu(lane);
		wake_daemon(lane);
	}
	if (words >= 0)
		words = spin_for(lane, what, wanted);
	while (words >= 0 && (uint64_t)words < wanted) {
		int error = sleep_for(lane, generation, what, wanted, &wait);

		words = error ? error : available(lane, what, wanted);
		if (words >= 0 && (uint64_t)words < wanted && mimic_wait_has_to_tell(&wait))
			mimic_daemon_explain(lane, generation, &wait);
	}
	lane->state = DAEMON_LANE_BUSY;
	/* A ring position that cannot be: that is no daemon of ours. */
	return words == -EPROTO ? -ENOTCONN : words;
}

int mimic_daemon_wait_room(struct daemon_lane *lane, uint32_t generation, uint64_t words)
{
	int64_t room = wait_for(lane, generation, MIMIC_LANE_WAITS_FOR_ROOM, words);

	return room < 0 ? (int)room : 0;
}

int64_t mimic_daemon_wait_answers(struct daemon_lane *lane, uint32_t generation)
{
	int64_t level = wait_for(lane, generation, MIMIC_LANE_WAITS_FOR_ANSWER, 1);

	if (level == -EINTR) {
		lane->withdrawn = false;
		lane->due = 0;
	}
	return level;
}
