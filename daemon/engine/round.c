/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A round over all lanes, then what goes on by itself; and what the loop calls. */
#include <malloc.h>
#include <stdlib.h>

#include "daemon/engine/client.h"
#include "daemon/engine/device.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/execute.h"
#include "daemon/engine/front_end.h"
#include "daemon/engine/inspection.h"
#include "daemon/engine/lane.h"
#include "daemon/engine/leave.h"
#include "daemon/engine/recording.h"
#include "daemon/engine/stalls.h"
#include "daemon/engine/turn.h"
#include "libmimic/base/clock.h"
#include "libmimic/base/wait.h"

/* Words that a lane may move before the next one has its turn. */
#define BUDGET_WORDS 4096
/* How long a daemon that always has work leaves its descriptors alone. */
#define DESCRIPTORS_NS 50000
/* Empty rounds between two readings of the clock. */
#define ROUNDS_PER_CLOCK 16
#define ROUNDS_PER_YIELD 64
/* Without work, while a client needs our CPU: some 20 microseconds if nobody else runs. */
#define CROWDED_ROUNDS 16

/* A retired lane only has stores left to do. */
static bool run_retired(struct mimicd_engine *engine, struct mimicd_lane *lane, uint64_t now)
{
	uint64_t moved = mimicd_lane_run(lane, BUDGET_WORDS, true, now);

	if (!moved)
		engine->reap = true;
	return moved;
}

/* Is there anything that a round would do? */
static bool has_work(struct mimicd_engine *engine)
{
	if (engine->busy || engine->resumes || engine->events.goes_on || mimicd_jobs_have_work(&engine->jobs))
		return true;
	for (struct mimicd_front_end *front_end = engine->front_ends; front_end; front_end = front_end->next) {
		if (front_end->ops->has_work && front_end->ops->has_work(front_end->context))
			return true;
	}
	for (unsigned int i = 0; i < engine->lane_count; i++) {
		struct mimicd_user *user = engine->lanes[i]->client->user;

		if (mimicd_lane_has_work(engine->lanes[i]) &&
		    !(mimicd_stall_is_looked_for(user) && mimicd_stall_puts_off(user)))
			return true;
	}
	return false;
}

static void look_at_clock(struct mimicd_engine *engine)
{
	engine->now = mimic_now();
	mimicd_stalls_look(engine, engine->now);
}

static void tick(struct mimicd_engine *engine, struct mimicd_instance *instance)
{
	struct mimicd_stall_clock clock;
	struct mimicd_user *user;

	if (!instance->model->ops->busy(instance->model))
		return;
	user = instance->client ? instance->client->user : NULL;
	if (mimicd_stall_is_looked_for(user) && mimicd_stall_puts_off(user))
		return;
	mimicd_stall_begin(&clock, user);
	engine->calls++;
	instance->model->ops->tick(instance->model, engine->now);
	engine->busy = true;
	mimicd_stall_end(&clock);
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
		tick(client->engine, instance);
		if (mimicd_turn_is_over(client->engine))
			return false;
	}
	return true;
}

/*
 * Devices go on by themselves, a bounded piece at a time, so that no program holds up the others.
 * Private ones, of which a user may have thousands, go on for a turn of their user.
 */
static void tick_busy(struct mimicd_engine *engine)
{
	engine->busy = false;
	for (struct mimicd_instance *instance = engine->first_named; instance; instance = instance->next_named)
		tick(engine, instance);
	for (struct mimicd_user *user = engine->users; user; user = user->next) {
		bool goes_on = true;

		engine->turn_end = mimic_now() + MIMICD_TURN_NS;
		for (unsigned int left = user->client_count; left && goes_on; left--) {
			goes_on = tick_client(user->clients);
			mimicd_user_rotate(user);
		}
		engine->busy |= !goes_on;
	}
}

/* Of a virtual machine's programs nobody knows it. */
static int cpu_of(const struct mimicd_lane *lane)
{
	if (lane->is_lent)
		return MIMIC_CPU_UNKNOWN;
	return atomic_load_explicit(&lane->memory->client_cpu, memory_order_relaxed);
}

static bool run_lane(struct mimicd_engine *engine, struct mimicd_lane *lane)
{
	bool worked;

	if (lane->retired)
		worked = run_retired(engine, lane, engine->now);
	else
		worked = mimicd_lane_run(lane, BUDGET_WORDS, false, engine->now) > 0;
	if (cpu_of(lane) == engine->cpu)
		mimicd_engine_note_crowded(engine);
	return worked;
}

/* Its lanes, from the one whose turn comes next. *is_over: the turn is, and the others wait for the next. */
static bool run_client(struct mimicd_client *client, bool *is_over)
{
	struct mimicd_engine *engine = client->engine;
	struct mimicd_lane *lane = client->turn ? client->turn : client->lanes;
	bool worked = false;

	/* Lanes come and go between rounds only. */
	for (unsigned int left = client->lane_count; left; left--) {
		struct mimicd_lane *next = lane->next ? lane->next : client->lanes;

		if (mimicd_lane_has_work(lane)) {
			look_at_clock(engine);
			if (engine->turn_end && engine->now >= engine->turn_end) {
				*is_over = true;
				break;
			}
			if (!engine->turn_end)
				engine->turn_end = engine->now + MIMICD_TURN_NS;
			worked |= run_lane(engine, lane);
		}
		lane = next;
	}
	client->turn = lane;
	return worked;
}

/* Programs of one user, from the one whose turn comes next. */
static bool run_user(struct mimicd_engine *engine, struct mimicd_user *user)
{
	bool worked = false, is_over = false;

	if (mimicd_stall_is_looked_for(user) && mimicd_stall_puts_off(user))
		return false;
	engine->turn_end = 0;	/* it begins with the first that has work */
	for (unsigned int left = user->client_count; left && !is_over; left--) {
		bool client_worked = run_client(user->clients, &is_over);

		worked |= client_worked;
		/* The one that finds the turn over is the first of the next. */
		if (client_worked || !is_over)
			mimicd_user_rotate(user);
	}
	return worked;
}

static bool round_lanes(struct mimicd_engine *engine)
{
	bool worked = false;

	for (struct mimicd_user *user = engine->users; user; user = user->next)
		worked |= run_user(engine, user);
	return worked;
}

bool mimicd_engine_round(struct mimicd_engine *engine)
{
	bool worked = round_lanes(engine);

	worked |= mimicd_front_ends_poll(engine, !worked);
	worked |= mimicd_jobs_round(&engine->jobs);
	worked |= engine->resumes && mimicd_stalls_resume(engine);
	if (engine->busy) {
		look_at_clock(engine);
		tick_busy(engine);
		worked = true;
	}
	worked |= mimicd_events_deliver(&engine->events);
	return worked;
}

/* --- the loop's work ------------------------------------------------------------ */

static void end_client(struct mimicd_client *client)
{
	struct mimicd_engine *engine = client->engine;
	bool is_inspection = mimicd_client_only_inspects(client);
	uint64_t begun = mimic_now();

	client->ops->end(client);
	if (is_inspection)
		mimicd_inspection_ended(engine, begun);
}

static void reap(struct mimicd_engine *engine)
{
	struct mimicd_client *client = engine->clients;

	if (!engine->reap)
		return;
	engine->reap = false;
	mimicd_devices_left(engine);
	while (client) {
		struct mimicd_client *next = client->next;

		if (!client->broken)
			mimicd_lanes_reap(client);
		else if (mimicd_client_stops(client))
			end_client(client);
		else if (client->ops->linger)
			client->ops->linger(client);
		client = next;
	}
}

static void publish_cpu(struct mimicd_engine *engine)
{
	int cpu = mimic_cpu_current();

	if (cpu == engine->cpu)
		return;
	engine->cpu = cpu;
	for (struct mimicd_front_end *front_end = engine->front_ends; front_end; front_end = front_end->next) {
		if (front_end->ops->publish_cpu)
			front_end->ops->publish_cpu(front_end->context, cpu);
	}
	for (unsigned int i = 0; i < engine->lane_count; i++) {
		if (!engine->lanes[i]->is_lent)
			atomic_store_explicit(&engine->lanes[i]->memory->daemon_cpu, cpu, memory_order_relaxed);
	}
}

static void publish_lanes_sleep(struct mimicd_engine *engine, bool sleeps)
{
	for (unsigned int i = 0; i < engine->lane_count; i++)
		atomic_store_explicit(&engine->lanes[i]->memory->daemon_sleeping, sleeps,
				      memory_order_relaxed);
}

static void publish_sleep(struct mimicd_engine *engine, bool sleeps)
{
	for (struct mimicd_front_end *front_end = engine->front_ends; front_end; front_end = front_end->next) {
		if (front_end->ops->publish_sleep)
			front_end->ops->publish_sleep(front_end->context, sleeps);
	}
	publish_lanes_sleep(engine, sleeps);
}

/* Serves the lanes until the descriptors are due. true: there was nothing for so long that we should sleep. */
static bool serve_lanes(void *context)
{
	struct mimicd_engine *engine = context;
	const uint64_t spin_ns = engine->settings.spin_microseconds * 1000ull;
	uint64_t due = mimic_now() + DESCRIPTORS_NS;
	unsigned int idle = 0;

	publish_cpu(engine);
	while (!engine->reap) {
		uint64_t now;

		if (mimicd_engine_round(engine)) {
			idle = 0;
			if (engine->now >= due)
				return false;
			continue;
		}
		idle++;
		if (engine->now < engine->crowded_until) {
			/* A client needs this CPU to go on: spinning would keep it waiting. */
			if (idle > CROWDED_ROUNDS || !mimic_yield(&engine->yields))
				return true;
			continue;
		}
		if (mimicd_jobs_need_cpus(&engine->jobs))
			return true;
		mimic_pause_cpu();
		if (idle % ROUNDS_PER_CLOCK)
			continue;
		/* A client may have been moved to our CPU. */
		if (idle % ROUNDS_PER_YIELD == 0)
			mimic_yield(&engine->yields);
		now = mimic_now();
		mimicd_stalls_look(engine, now);
		if (now - engine->now >= spin_ns)
			return true;
		if (now >= due)
			return false;
	}
	return false;
}

/* A job of one program must not wait for those of another one that sleep. */
static void relieve_workers(struct mimicd_engine *engine)
{
	uint64_t due;

	if (!atomic_load_explicit(&engine->jobs.workers.ready, memory_order_relaxed))
		return;
	due = mimicd_workers_relieve(&engine->jobs.workers, mimic_now());
	if (due)
		mimicd_wakes_is_due(engine, due);
}

void mimicd_engine_prepare(struct mimicd_engine *engine)
{
	for (struct mimicd_front_end *front_end = engine->front_ends; front_end; front_end = front_end->next) {
		if (front_end->ops->prepare)
			front_end->ops->prepare(front_end->context);
	}
	relieve_workers(engine);
	reap(engine);
	mimicd_recording_check(engine);
}

static void prepare(void *context)
{
	mimicd_engine_prepare(context);
}

/* Workers may take the lock while nothing comes. */
static bool go_to_sleep(void *context)
{
	struct mimicd_engine *engine = context;

	mimicd_stalls_look(engine, mimic_now());
	publish_sleep(engine, true);
	/* Pairs with the fence of a client between its command and its read of the flag. */
	mimic_lane_fence();
	if (!has_work(engine)) {
		if (mimicd_jobs_unlock(&engine->jobs))
			return true;
		mimicd_jobs_lock(&engine->jobs);
	}
	publish_sleep(engine, false);
	return false;
}

static void wake_up(void *context)
{
	struct mimicd_engine *engine = context;

	mimicd_jobs_lock(&engine->jobs);
	engine->seen = mimic_now();
	publish_sleep(engine, false);
	/* Operands did not wake us (mimic_kind.is_operand); what woke us, such as an inspection, may show them. */
	round_lanes(engine);
}

static const struct mimicd_loop_work work = {
	.run = serve_lanes,
	.prepare = prepare,
	.sleep = go_to_sleep,
	.wake = wake_up,
};

/* --- what jobs set off ------------------------------------------------------------ */

static void note_returned(void *context, struct mimic_model *model)
{
	struct mimicd_engine *engine = context;

	engine->busy |= model->ops->busy(model);
	/* What leaves may have waited for it. */
	engine->reap |= engine->leaving != NULL;
}

static bool go_on(void *context)
{
	struct mimicd_engine *engine = context;
	bool worked = round_lanes(engine);

	return mimicd_events_deliver(&engine->events) || worked;
}

static bool may_watch(void *context)
{
	struct mimicd_engine *engine = context;
	int cpu = mimic_cpu_current();

	if (engine->busy || engine->reap)
		return false;
	for (unsigned int i = 0; i < engine->lane_count; i++) {
		if (cpu_of(engine->lanes[i]) == cpu)
			return false;
	}
	return true;
}

/* Front ends are still told that we sleep: their work is the loop's thread's. */
static void watch(void *context, bool watches)
{
	struct mimicd_engine *engine = context;

	publish_cpu(engine);
	publish_lanes_sleep(engine, !watches);
}

static bool finish(void *context)
{
	struct mimicd_engine *engine = context;

	mimicd_events_deliver(&engine->events);
	relieve_workers(engine);
	return engine->reap || has_work(engine);
}

static const struct mimicd_jobs_ops jobs_ops = {
	.returned = note_returned,
	.go_on = go_on,
	.may_watch = may_watch,
	.watch = watch,
	.finish = finish,
};

/* --- wake-ups that were put off --------------------------------------------------- */

/* A user may no longer be throttled (wakes.h). Front ends look at their messages before the loop asks for more. */
static void wake_again(void *context)
{
	struct mimicd_engine *engine = context;

	engine->wakes_due = 0;
	mimicd_events_go_on(&engine->events);
	mimicd_stalls_go_on(engine);
	for (unsigned int i = 0; i < engine->lane_count; i++)
		mimicd_lane_notify(engine->lanes[i]);
}

/* --- memory ---------------------------------------------------------------------- */

/* After devices were destroyed: the allocator would keep what they had for ever. */
static void give_memory_back(void *context)
{
	struct mimicd_engine *engine = context;

	engine->frees = false;
	malloc_trim(0);
}

/* Clients whose shared memory had a hole that we touched. */
static void end_sparse(void *context)
{
	struct mimicd_engine *engine = context;
	struct mimicd_client *client = engine->clients;

	for (; client; client = client->next) {
		if (atomic_load(&client->memory.has_hole))
			mimicd_client_break(client, "memory that it shares has holes");
	}
}

static void came(void *context, struct mimicd_errand *errand)
{
	struct mimicd_memory *memory;

	if (mimicd_memory_fix_came(context, errand))
		return;
	memory = mimicd_memory_came(errand);
	if (memory)
		mimicd_client_retry(memory);
}

/* --- its life ----------------------------------------------------------------- */

int mimicd_engine_create(struct mimicd_engine *engine, struct mimicd_loop *loop,
			 const struct mimic_settings *settings, const char *recording)
{
	int error;

	engine->loop = loop;
	engine->settings = *settings;
	mimicd_quotas_default(&engine->quotas);
	engine->cpu = mimic_cpu_current();
	engine->seen = mimic_now();
	engine->jobs.lock = &engine->lock;
	engine->jobs.ops = &jobs_ops;
	engine->jobs.context = engine;
	loop->work = &work;
	loop->work_context = engine;
	engine->free_timer = (struct mimicd_timer){ .fd = -1, .expired = give_memory_back, .context = engine };
	engine->wake_timer = (struct mimicd_timer){ .fd = -1, .expired = wake_again, .context = engine };
	error = mimicd_timer_create(&engine->free_timer, loop);
	if (error)
		return error;
	error = mimicd_timer_create(&engine->wake_timer, loop);
	if (error)
		return error;
	engine->events.closer = loop->closer;
	engine->calls = 1;
	engine->holes = (struct mimicd_holes){ .fd = -1, .wake_fd = -1, .source = { end_sparse, engine } };
	error = mimicd_holes_create(&engine->holes, loop);
	if (error)
		return error;
	engine->errands.came = came;
	engine->errands.context = engine;
	error = mimicd_errands_create(&engine->errands, loop, settings->spin_microseconds);
	if (error)
		return error;
	error = mimicd_jobs_create(&engine->jobs, loop, settings->spin_microseconds);
	if (!error && recording)
		error = mimicd_recording_start(engine, recording);
	return error ? error : mimicd_devices_create(engine);
}

bool mimicd_engine_destroy(struct mimicd_engine *engine)
{
	if (!engine->loop)
		return true;
	mimicd_devices_wait_to_leave(engine, NULL);
	mimicd_devices_destroy(engine);
	mimicd_recording_end(engine);
	mimicd_jobs_destroy(&engine->jobs);
	mimicd_timer_destroy(&engine->free_timer);
	mimicd_timer_destroy(&engine->wake_timer);
	mimicd_users_destroy(engine);
	mimicd_events_destroy(&engine->events);
	mimicd_holes_destroy(&engine->holes);
	free(engine->lanes);
	return mimicd_errands_destroy(&engine->errands);
}
