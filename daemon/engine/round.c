/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A round over all lanes, then what goes on by itself; and what the loop calls. */
#include <stdlib.h>

#include "daemon/engine/client.h"
#include "daemon/engine/device.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/execute.h"
#include "daemon/engine/front_end.h"
#include "daemon/engine/inspection.h"
#include "daemon/engine/lane.h"
#include "daemon/engine/turn.h"
#include "libmimic/base/clock.h"
#include "libmimic/base/wait.h"

/* Words that a lane may move before the next one has its turn. */
#define BUDGET_WORDS 4096
/* How long a daemon that always has work leaves its descriptors alone. */
#define DESCRIPTORS_NS 50000
/* Empty rounds between two readings of the clock. */
#define ROUNDS_PER_CLOCK 16

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
	if (engine->busy || mimicd_jobs_have_work(&engine->jobs))
		return true;
	for (struct mimicd_front_end *front_end = engine->front_ends; front_end; front_end = front_end->next) {
		if (front_end->ops->has_work && front_end->ops->has_work(front_end->context))
			return true;
	}
	for (unsigned int i = 0; i < engine->lane_count; i++) {
		if (mimicd_lane_has_work(engine->lanes[i]))
			return true;
	}
	return false;
}

static void tick(struct mimicd_engine *engine, struct mimicd_instance *instance)
{
	if (!instance || !instance->model->ops->busy(instance->model))
		return;
	instance->model->ops->tick(instance->model, engine->now);
	engine->busy = true;
}

/* Devices go on by themselves, a bounded piece at a time, so that no program holds up the others. */
static void tick_busy(struct mimicd_engine *engine)
{
	engine->busy = false;
	for (unsigned int i = 0; i < engine->named_count; i++)
		tick(engine, engine->named[i]);
	for (struct mimicd_client *client = engine->clients; client; client = client->next) {
		for (unsigned int i = 0; client->private_devices && i < MIMIC_SESSION_DEVICES; i++) {
			if (client->devices[i].instance && client->devices[i].instance->is_private)
				tick(engine, client->devices[i].instance);
		}
	}
}

static bool round_lanes(struct mimicd_engine *engine)
{
	bool worked = false;

	/* Lanes come and go between rounds only, so the array stands still here. */
	for (unsigned int i = 0; i < engine->lane_count; i++) {
		struct mimicd_lane *lane = engine->lanes[i];

		if (!mimicd_lane_has_work(lane))
			continue;
		engine->now = mimic_now();
		if (lane->retired)
			worked |= run_retired(engine, lane, engine->now);
		else
			worked |= mimicd_lane_run(lane, BUDGET_WORDS, false, engine->now) > 0;
		if (atomic_load_explicit(&lane->memory->client_cpu, memory_order_relaxed) == engine->cpu)
			mimicd_engine_note_crowded(engine);
	}
	return worked;
}

bool mimicd_engine_round(struct mimicd_engine *engine)
{
	bool worked = round_lanes(engine);

	worked |= mimicd_front_ends_poll(engine, !worked);
	worked |= mimicd_jobs_round(&engine->jobs);
	if (engine->busy) {
		engine->now = mimic_now();
		tick_busy(engine);
		worked = true;
	}
	mimicd_events_deliver(&engine->events);
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
	while (client) {
		struct mimicd_client *next = client->next;

		if (client->broken)
			end_client(client);
		else
			mimicd_lanes_reap(client);
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
	for (unsigned int i = 0; i < engine->lane_count; i++)
		atomic_store_explicit(&engine->lanes[i]->memory->daemon_cpu, cpu, memory_order_relaxed);
}

static void publish_sleep(struct mimicd_engine *engine, bool sleeps)
{
	for (struct mimicd_front_end *front_end = engine->front_ends; front_end; front_end = front_end->next) {
		if (front_end->ops->publish_sleep)
			front_end->ops->publish_sleep(front_end->context, sleeps);
	}
	for (unsigned int i = 0; i < engine->lane_count; i++)
		atomic_store_explicit(&engine->lanes[i]->memory->daemon_sleeping, sleeps,
				      memory_order_relaxed);
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
			/*
			 * A client needs this CPU to go on: spinning would keep it waiting. Nor
			 * do we yield: a thread that yields to programs that compute gets the CPU back
			 * a time slice later, one that sleeps gets it when there is work.
			 */
			return true;
		}
		if (mimicd_jobs_need_cpus(&engine->jobs))
			return true;
		__builtin_ia32_pause();
		if (idle % ROUNDS_PER_CLOCK)
			continue;
		now = mimic_now();
		if (now - engine->now >= spin_ns)
			return true;
		if (now >= due)
			return false;
	}
	return false;
}

void mimicd_engine_prepare(struct mimicd_engine *engine)
{
	for (struct mimicd_front_end *front_end = engine->front_ends; front_end; front_end = front_end->next) {
		if (front_end->ops->prepare)
			front_end->ops->prepare(front_end->context);
	}
	reap(engine);
}

static void prepare(void *context)
{
	mimicd_engine_prepare(context);
}

/* Workers may take the lock while nothing comes. */
static bool go_to_sleep(void *context)
{
	struct mimicd_engine *engine = context;

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
	publish_sleep(engine, false);
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
}

static bool go_on(void *context)
{
	return round_lanes(context);
}

static bool finish(void *context)
{
	struct mimicd_engine *engine = context;

	mimicd_events_deliver(&engine->events);
	return engine->reap || has_work(engine);
}

static const struct mimicd_jobs_ops jobs_ops = {
	.returned = note_returned,
	.go_on = go_on,
	.finish = finish,
};

/* --- its life ----------------------------------------------------------------- */

int mimicd_engine_create(struct mimicd_engine *engine, struct mimicd_loop *loop,
			 const struct mimic_settings *settings)
{
	int error;

	engine->loop = loop;
	engine->settings = *settings;
	engine->cpu = mimic_cpu_current();
	engine->jobs.lock = &engine->lock;
	engine->jobs.ops = &jobs_ops;
	engine->jobs.context = engine;
	loop->work = &work;
	loop->work_context = engine;
	error = mimicd_jobs_create(&engine->jobs, loop, settings->spin_microseconds);
	return error ? error : mimicd_devices_create(engine);
}

void mimicd_engine_destroy(struct mimicd_engine *engine)
{
	if (!engine->loop)
		return;
	mimicd_devices_destroy(engine);
	mimicd_jobs_destroy(&engine->jobs);
	mimicd_events_destroy(&engine->events);
	free(engine->lanes);
}
