/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A round over the lanes of a shard, and its work that goes on by itself. */
#include "daemon/engine/shard.h"

#include <stdlib.h>

#include "daemon/engine/client.h"
#include "daemon/engine/crowd.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/execute.h"
#include "daemon/engine/stalls.h"
#include "daemon/engine/step.h"
#include "daemon/engine/turn.h"
#include "libmimic/base/clock.h"

/* Words that a lane may move before the next one has its turn. */
#define BUDGET_WORDS 4096
/* Empty rounds of a thread that spins: some two microseconds. */
#define RECENT_ROUNDS 16
/* Commands that have the time of an earlier one. */
#define UNTIMED_MOST 3

void mimicd_shard_init(struct mimicd_shard *shard, struct mimicd_engine *engine)
{
	shard->engine = engine;
	shard->cpu = mimic_cpu_current();
	shard->seen = mimic_now();
	shard->calls = 1;
	shard->crowd.period = 1;
	shard->idle_rounds = RECENT_ROUNDS;
}

void mimicd_shard_destroy(struct mimicd_shard *shard)
{
	mimicd_users_destroy(shard);
	free(shard->lanes);
}

static void note_now(struct mimicd_shard *shard, uint64_t now)
{
	shard->now = now;
	mimicd_stalls_look(shard, now);
}

static void look_at_clock(struct mimicd_shard *shard)
{
	note_now(shard, mimic_now());
}

/*
 * For the lane's next command. A model that asks for the time itself, if it needs it, has an older one: of some commands
 * that came one right after the other, one waits until the clock is read.
 */
static void look_at_clock_for(struct mimicd_shard *shard, const struct mimicd_lane *lane)
{
	if (!lane->target || !lane->target->model->ops->asks_now) {
		look_at_clock(shard);
	} else if (shard->idle_rounds < RECENT_ROUNDS && shard->untimed < UNTIMED_MOST) {
		shard->untimed++;
	} else {
		shard->untimed = 0;
		note_now(shard, mimic_now_recent(&shard->recent));
	}
}

bool mimicd_shard_has_work(struct mimicd_shard *shard)
{
	if (shard->busy || shard->resumes)
		return true;
	for (unsigned int i = 0; i < shard->lane_count; i++) {
		struct mimicd_user *user = shard->lanes[i]->client->user;

		if (mimicd_lane_has_work(shard->lanes[i]) &&
		    !(mimicd_stall_is_looked_for(user) && mimicd_stall_puts_off(user)))
			return true;
	}
	return false;
}

/* --- devices ------------------------------------------------------------------- */

static void tick(struct mimicd_shard *shard, struct mimicd_instance *instance)
{
	struct mimicd_stall_clock clock;
	struct mimicd_user *user;

	if (instance->restored || !instance->model->ops->busy(instance->model))
		return;
	user = instance->client ? instance->client->user : NULL;
	if (mimicd_stall_is_looked_for(user) && mimicd_stall_puts_off(user))
		return;
	mimicd_stall_begin(&clock, user);
	shard->calls++;
	instance->model->ops->tick(instance->model, shard->now);
	shard->busy = true;
	mimicd_stall_end(&clock);
	mimicd_step_commit(shard->engine);
}

/* Its private devices, from the one whose turn comes next. false: the turn is over. */
static bool tick_client(struct mimicd_client *client)
{
	for (unsigned int i = 0; client->private_devices && i < MIMIC_SESSION_DEVICES; i++) {
		unsigned int number = client->tick_turn;
		struct mimicd_instance *instance = client->devices[number].instance;

		client->tick_turn = (number + 1) % MIMIC_SESSION_DEVICES;
		if (!instance || !instance->is_private || !instance->model->ops->busy(instance->model))
			continue;
		tick(client->shard, instance);
		if (mimicd_turn_is_over(client->shard))
			return false;
	}
	return true;
}

/*
 * Devices go on by themselves, a bounded piece at a time, so that no program holds up the others.
 * Private ones, of which a user may have thousands, go on for a turn of their user.
 */
static void tick_busy(struct mimicd_shard *shard)
{
	shard->busy = false;
	for (struct mimicd_instance *instance = shard->devices; instance; instance = instance->next_of_shard)
		tick(shard, instance);
	for (struct mimicd_user *user = shard->users; user; user = user->next) {
		bool goes_on = true;

		shard->turn_end = mimic_now() + MIMICD_TURN_NS;
		for (unsigned int left = user->client_count; left && goes_on; left--) {
			goes_on = tick_client(user->clients);
			mimicd_user_rotate(user);
		}
		shard->busy |= !goes_on;
	}
}

/* --- lanes --------------------------------------------------------------------- */

/* A retired lane only has stores left to do. */
static bool run_retired(struct mimicd_shard *shard, struct mimicd_lane *lane, uint64_t now)
{
	uint64_t moved = mimicd_lane_run(lane, BUDGET_WORDS, true, now);

	if (!moved)
		mimicd_shard_call_reap(shard);
	return moved;
}

/* The CPU that the lane's thread runs on. It is not known of a virtual machine's programs. */
static int cpu_of(const struct mimicd_lane *lane)
{
	if (lane->is_lent)
		return MIMIC_CPU_UNKNOWN;
	return atomic_load_explicit(&lane->memory->client_cpu, memory_order_relaxed);
}

static bool run_lane(struct mimicd_shard *shard, struct mimicd_lane *lane)
{
	bool worked;

	if (lane->retired)
		worked = run_retired(shard, lane, shard->now);
	else
		worked = mimicd_lane_run(lane, BUDGET_WORDS, false, shard->now) > 0;
	if (cpu_of(lane) == shard->cpu)
		mimicd_shard_note_crowded(shard);
	return worked;
}

/* Does its thread make one more access at once? */
static bool comes_back(struct mimicd_shard *shard, struct mimicd_lane *lane)
{
	uint64_t limit = mimic_now() + MIMICD_CROWD_STAY_NS;

	while (!mimicd_lane_has_work(lane)) {
		/* It cannot while we are on its CPU. */
		if (cpu_of(lane) == shard->cpu || mimic_now() >= limit)
			return false;
		mimic_pause_cpu();
	}
	look_at_clock(shard);
	return true;
}

/* For some accesses more, which cost less than to wake another thread. Other users' turns are not put off. */
static void stay(struct mimicd_shard *shard, struct mimicd_lane *lane)
{
	unsigned int served = 0, most = lane->retired ? 0 : mimicd_crowd_allowance(&shard->crowd, &lane->member);
	uint64_t end = shard->users->next ? shard->turn_end : shard->now + MIMICD_CROWD_TURN_NS;

	while (served < most && shard->now < end && comes_back(shard, lane)) {
		/* A store that waits for room is no access that was served. */
		if (!mimicd_lane_run(lane, BUDGET_WORDS, false, shard->now))
			break;
		served++;
	}
	mimicd_crowd_served(&shard->crowd, &lane->member, served + 1);
	/* A thread on our CPU is no sign that threads do not come back. */
	if (most && (served || cpu_of(lane) != shard->cpu))
		mimicd_crowd_note_stay(&shard->crowd, served);
}

/* Its lanes, from the one whose turn comes next. *is_over: the turn is, and the others wait for the next. */
static bool run_client(struct mimicd_client *client, bool *is_over)
{
	struct mimicd_shard *shard = client->shard;
	struct mimicd_lane *lane = client->turn ? client->turn : client->lanes;
	bool worked = false;

	/* Lanes come and go between rounds only. */
	for (unsigned int left = client->lane_count; left; left--) {
		struct mimicd_lane *next = lane->next ? lane->next : client->lanes;

		if (mimicd_lane_has_work(lane)) {
			look_at_clock_for(shard, lane);
			if (shard->turn_end && shard->now >= shard->turn_end) {
				*is_over = true;
				break;
			}
			if (!shard->turn_end)
				shard->turn_end = shard->now + MIMICD_TURN_NS;
			mimicd_crowd_count(&shard->crowd, &lane->member);
			worked |= run_lane(shard, lane);
			if (mimicd_crowd_stays(shard))
				stay(shard, lane);
		}
		lane = next;
	}
	client->turn = lane;
	return worked;
}

/* Programs of one user, from the one whose turn comes next. */
static bool run_user(struct mimicd_shard *shard, struct mimicd_user *user)
{
	bool worked = false, is_over = false;

	if (mimicd_stall_is_looked_for(user) && mimicd_stall_puts_off(user))
		return false;
	shard->turn_end = 0;	/* it begins with the first that has work */
	for (unsigned int left = user->client_count; left && !is_over; left--) {
		bool client_worked = run_client(user->clients, &is_over);

		worked |= client_worked;
		/* The one that finds the turn over is the first of the next. */
		if (client_worked || !is_over)
			mimicd_user_rotate(user);
	}
	return worked;
}

bool mimicd_shard_round(struct mimicd_shard *shard)
{
	bool worked = false;

	for (struct mimicd_user *user = shard->users; user; user = user->next)
		worked |= run_user(shard, user);
	if (worked)
		mimicd_crowd_look(shard);
	if (worked)
		shard->idle_rounds = 0;
	else if (shard->idle_rounds < RECENT_ROUNDS)
		shard->idle_rounds++;
	return worked;
}

bool mimicd_shard_go_on(struct mimicd_shard *shard)
{
	bool worked = shard->resumes && mimicd_stalls_resume(shard);

	if (!shard->busy)
		return worked;
	look_at_clock(shard);
	tick_busy(shard);
	return true;
}

void mimicd_shard_wake_again(struct mimicd_shard *shard)
{
	mimicd_stalls_go_on(shard);
	for (unsigned int i = 0; i < shard->lane_count; i++)
		mimicd_lane_notify(shard->lanes[i]);
}

/* --- wakes of programs ------------------------------------------------------------ */

bool mimicd_shard_publish_cpu(struct mimicd_shard *shard)
{
	int cpu = mimic_cpu_current();

	if (cpu == shard->cpu)
		return false;
	shard->cpu = cpu;
	for (unsigned int i = 0; i < shard->lane_count; i++) {
		if (!shard->lanes[i]->is_lent)
			atomic_store_explicit(&shard->lanes[i]->memory->daemon_cpu, cpu, memory_order_relaxed);
	}
	return true;
}

void mimicd_shard_publish_sleep(struct mimicd_shard *shard, bool sleeps)
{
	for (unsigned int i = 0; i < shard->lane_count; i++)
		atomic_store_explicit(&shard->lanes[i]->memory->daemon_sleeping, sleeps,
				      memory_order_relaxed);
}

bool mimicd_shard_needs_cpu(const struct mimicd_shard *shard, int cpu)
{
	for (unsigned int i = 0; i < shard->lane_count; i++) {
		if (cpu_of(shard->lanes[i]) == cpu)
			return true;
	}
	return false;
}
