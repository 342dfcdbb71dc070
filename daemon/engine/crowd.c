/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/crowd.h"

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "libmimic/base/wait.h"

/* In which each thread of a crowd has its turn: 64 threads need a third of it. */
#define PERIOD_NS 1000000u
/* Some threads more than CPUs are no crowd: a thread that spins lets others run in between (mimic_yield()). */
#define THREADS_PER_CPU 2u

void mimicd_crowd_count(struct mimicd_crowd *crowd, struct mimicd_lane *lane)
{
	if (lane->counted_in == crowd->period)
		return;
	lane->counted_in = crowd->period;
	crowd->lanes++;
}

/* A virtual machine has other CPUs than we have. */
void mimicd_crowd_tell(const struct mimicd_crowd *crowd, struct mimicd_lane *lane)
{
	atomic_store_explicit(&lane->memory->no_spin, crowd->is_there && !lane->is_lent, memory_order_relaxed);
}

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

void mimicd_crowd_look(struct mimicd_shard *shard)
{
	struct mimicd_crowd *crowd = &shard->crowd;
	uint64_t took = shard->now - crowd->begun;
	bool is_there;

	if (took < PERIOD_NS)
		return;
	/* Of a longer one, in which our thread slept or had no CPU, this is the mean. */
	crowd->lanes = (unsigned int)((uint64_t)crowd->lanes * PERIOD_NS / took);
	atomic_store_explicit(&crowd->last, crowd->lanes, memory_order_relaxed);
	atomic_store_explicit(&crowd->last_until, shard->now + 2 * took, memory_order_relaxed);
	is_there = crowd->lanes + lanes_elsewhere(shard) > THREADS_PER_CPU * mimic_cpu_count();
	crowd->lanes = 0;
	crowd->period++;
	crowd->begun = shard->now;
	if (is_there == crowd->is_there)
		return;
	crowd->is_there = is_there;
	for (unsigned int i = 0; i < shard->lane_count; i++)
		mimicd_crowd_tell(crowd, shard->lanes[i]);
}
