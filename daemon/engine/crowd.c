/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/crowd.h"

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"

#define PERIOD_NS 1000000u
/* Some threads more than CPUs are no crowd: a thread that spins lets others run in between (mimic_yield()). */
#define THREADS_PER_CPU 2u
/* So many in a row: a lane that moves to another shard is counted by both for a moment. */
#define FULL_PERIODS 4u
/* A crowd is one for some time: to change what its lanes say, and which shards have it, takes time. */
#define CROWD_NS 100000000u
/* Lanes that have no more work drop out of the mean by a new account. */
#define ACCOUNT_NS 200000000u
/* Accesses more than the mean that a lane may have, and in a row if it had fewer. */
#define AHEAD_MOST 24u
#define STAY_MOST 48u
/* If most threads do not come back soon, we wait for them in one of so many accounts, to learn whether it is so still. */
#define HURRY_NS 1000000000u
/*
 * A thread spins for less than we wait for the next one, so that it gives its CPU to that; if we do not
 * wait, as good as not at all. With 20 us 64 threads have four times as many accesses as with 60 us.
 */
#define SPIN_MICROSECONDS 20u
#define SPIN_MICROSECONDS_LEAST 1u

void mimicd_crowd_count(struct mimicd_crowd *crowd, struct mimicd_crowd_member *member)
{
	if (member->period == crowd->period)
		return;
	member->period = crowd->period;
	crowd->lanes++;
}

/* A virtual machine has other CPUs than we have. */
void mimicd_crowd_tell(const struct mimicd_crowd *crowd, struct mimicd_lane *lane)
{
	atomic_store_explicit(&lane->memory->spin_most, lane->is_lent ? 0 : crowd->spin_most, memory_order_relaxed);
}

bool mimicd_crowd_is_anywhere(const struct mimicd_engine *engine)
{
	uint64_t now = mimic_now();

	for (unsigned int i = 0; i < engine->shard_count; i++) {
		if (engine->shards[i].crowd.until > now)
			return true;
	}
	return engine->loop_shard.crowd.until > now;
}

/* --- turns ---------------------------------------------------------------------------- */

bool mimicd_crowd_stays(const struct mimicd_shard *shard)
{
	/* Devices that go on by themselves are not to wait for a thread. */
	return shard->crowd.until && !shard->busy && shard->now >= shard->crowd.hurries_until;
}

unsigned int mimicd_crowd_allowance(struct mimicd_crowd *crowd, struct mimicd_crowd_member *member)
{
	uint64_t mean = crowd->members ? crowd->served / crowd->members : 0, left;

	if (member->account != crowd->account) {
		member->account = crowd->account;
		member->served = mean;
		crowd->members++;
		crowd->served += mean;
	}
	if (member->served >= mean + AHEAD_MOST)
		return 0;
	left = mean + AHEAD_MOST - member->served;
	return left < STAY_MOST ? (unsigned int)left : STAY_MOST;
}

void mimicd_crowd_served(struct mimicd_crowd *crowd, struct mimicd_crowd_member *member, unsigned int accesses)
{
	member->served += accesses;
	crowd->served += accesses;
}

/* --- whether there is one ---------------------------------------------------------------- */

static unsigned int lanes_elsewhere(const struct mimicd_shard *shard)
{
	const struct mimicd_engine *engine = shard->engine;
	unsigned int lanes = 0;

	for (unsigned int i = 0; i <= engine->shard_count; i++) {
		const struct mimicd_shard *other = i ? &engine->shards[i - 1] : &engine->loop_shard;

		if (other != shard && atomic_load_explicit(&other->crowd.last_until, memory_order_relaxed) > shard->now)
			lanes += atomic_load_explicit(&other->crowd.last, memory_order_relaxed);
	}
	return lanes;
}

static void begin_account(struct mimicd_crowd *crowd, uint64_t now)
{
	if (crowd->stays_served < crowd->stays / 2)
		crowd->hurries_until = now + HURRY_NS;
	crowd->stays = crowd->stays_served = 0;
	crowd->account++;
	crowd->account_begun = now;
	crowd->members = 0;
	crowd->served = 0;
}

static void set_crowd(struct mimicd_shard *shard, uint64_t until)
{
	struct mimicd_crowd *crowd = &shard->crowd;

	if (!crowd->until != !until) {
		atomic_store(&shard->engine->crowd_changed, true);
		mimicd_shard_call_reap(shard);
	}
	if (until && (!crowd->until || shard->now - crowd->account_begun >= ACCOUNT_NS))
		begin_account(crowd, shard->now);
	crowd->until = until;
}

static void say(struct mimicd_shard *shard)
{
	struct mimicd_crowd *crowd = &shard->crowd;
	uint32_t spin_most = 0;

	if (crowd->until)
		spin_most = mimicd_crowd_stays(shard) ? SPIN_MICROSECONDS : SPIN_MICROSECONDS_LEAST;
	if (crowd->spin_most == spin_most)
		return;
	crowd->spin_most = spin_most;
	for (unsigned int i = 0; i < shard->lane_count; i++)
		mimicd_crowd_tell(crowd, shard->lanes[i]);
}

void mimicd_crowd_look(struct mimicd_shard *shard)
{
	struct mimicd_crowd *crowd = &shard->crowd;
	uint64_t took = shard->now - crowd->begun;

	if (took < PERIOD_NS)
		return;
	/* Of a longer one, in which our thread slept or had no CPU, this is the mean. One is always a little longer: rounded. */
	crowd->lanes = (unsigned int)(((uint64_t)crowd->lanes * PERIOD_NS + took / 2) / took);
	atomic_store_explicit(&crowd->last, crowd->lanes, memory_order_relaxed);
	atomic_store_explicit(&crowd->last_until, shard->now + 2 * took, memory_order_relaxed);
	/* Where devices go on by themselves it is they that take the time, and all shards are to do their part of it. */
	if (!shard->busy && crowd->lanes + lanes_elsewhere(shard) > THREADS_PER_CPU * mimic_cpu_count())
		crowd->full_periods++;
	else
		crowd->full_periods = 0;
	if (crowd->full_periods >= (crowd->until ? 1 : FULL_PERIODS))
		set_crowd(shard, shard->now + CROWD_NS);
	else if (shard->now >= crowd->until)
		set_crowd(shard, 0);
	crowd->lanes = 0;
	crowd->period++;
	crowd->begun = shard->now;
	say(shard);
}
