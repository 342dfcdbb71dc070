/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A round over all lanes, then work that goes on by itself; and the functions that the loop calls. */
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
#include "daemon/engine/placement.h"
#include "daemon/engine/recording.h"
#include "daemon/engine/recover.h"
#include "daemon/engine/shards.h"
#include "daemon/engine/stalls.h"
#include "daemon/engine/step.h"
#include "daemon/engine/turn.h"
#include "libmimic/base/clock.h"
#include "libmimic/base/wait.h"

/* How long a daemon that always has work leaves its descriptors alone. */
#define DESCRIPTORS_NS 50000
/* Empty rounds between two readings of the clock. */
#define ROUNDS_PER_CLOCK 16
#define ROUNDS_PER_YIELD 64
/* Between two empty rounds: looks at the lanes, which most commands come by. */
#define LOOKS_PER_ROUND 32
/* A pause takes 20 to 80 ns, in which no command is seen. */
#define LOOKS_PER_PAUSE 8
/* Without work, while a client needs our CPU: some 20 microseconds if nobody else runs. */
#define CROWDED_ROUNDS 16

/* Is there anything that a round would do? */
static bool has_work(struct mimicd_engine *engine)
{
	if (engine->events.goes_on || mimicd_jobs_have_work(&engine->jobs))
		return true;
	for (struct mimicd_front_end *front_end = engine->front_ends; front_end; front_end = front_end->next) {
		if (front_end->ops->has_work && front_end->ops->has_work(front_end->context))
			return true;
	}
	return mimicd_shard_has_work(&engine->loop_shard);
}

bool mimicd_engine_round(struct mimicd_engine *engine)
{
	bool worked = mimicd_shard_round(&engine->loop_shard);

	worked |= mimicd_front_ends_poll(engine, !worked);
	worked |= mimicd_jobs_round(&engine->jobs);
	worked |= mimicd_shard_go_on(&engine->loop_shard);
	worked |= mimicd_events_deliver(&engine->events);
	mimicd_step_commit(engine);
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
	mimicd_shards_hold(engine);
	atomic_store(&engine->reap, false);
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
	mimicd_placement_update(engine);
	mimicd_shards_release(engine);
	mimicd_step_commit(engine);
}

static void publish_cpu(struct mimicd_engine *engine)
{
	if (!mimicd_shard_publish_cpu(&engine->loop_shard))
		return;
	for (struct mimicd_front_end *front_end = engine->front_ends; front_end; front_end = front_end->next) {
		if (front_end->ops->publish_cpu)
			front_end->ops->publish_cpu(front_end->context, engine->loop_shard.cpu);
	}
}

static void publish_sleep(struct mimicd_engine *engine, bool sleeps)
{
	for (struct mimicd_front_end *front_end = engine->front_ends; front_end; front_end = front_end->next) {
		if (front_end->ops->publish_sleep)
			front_end->ops->publish_sleep(front_end->context, sleeps);
	}
	mimicd_shard_publish_sleep(&engine->loop_shard, sleeps);
}

/* Serves the lanes until the descriptors are due. true: there was nothing for so long that we should sleep. */
static bool serve_lanes(void *context)
{
	struct mimicd_engine *engine = context;
	struct mimicd_shard *shard = &engine->loop_shard;
	const uint64_t spin_ns = engine->settings.spin_microseconds * 1000ull;
	uint64_t due = mimic_now() + DESCRIPTORS_NS;
	unsigned int idle = 0;

	publish_cpu(engine);
	while (!engine->reap) {
		uint64_t now;

		if (mimicd_engine_round(engine)) {
			idle = 0;
			if (shard->now >= due)
				return false;
			continue;
		}
		idle++;
		if (shard->now < shard->crowded_until) {
			/* A client needs this CPU to go on: spinning would keep it waiting. */
			if (idle > CROWDED_ROUNDS || !mimic_yield(&shard->yields))
				return true;
			continue;
		}
		if (mimicd_jobs_need_cpus(&engine->jobs))
			return true;
		for (unsigned int looks = 1; looks <= LOOKS_PER_ROUND && !mimicd_shard_has_work(shard); looks++) {
			if (looks % LOOKS_PER_PAUSE == 0)
				mimic_pause_cpu();
		}
		if (idle % ROUNDS_PER_CLOCK)
			continue;
		/* A client may have been moved to our CPU. */
		if (idle % ROUNDS_PER_YIELD == 0)
			mimic_yield(&shard->yields);
		now = mimic_now();
		mimicd_stalls_look(&engine->loop_shard, now);
		if (now - shard->now >= spin_ns)
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

	mimicd_stalls_look(&engine->loop_shard, mimic_now());
	mimicd_step_commit(engine);
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
	engine->loop_shard.seen = mimic_now();
	publish_sleep(engine, false);
	/* Operands did not wake us (mimic_kind.is_operand); the cause, say an inspection, may show them. */
	mimicd_shard_round(&engine->loop_shard);
}

static void begin(void *context)
{
	mimicd_shards_hold(context);
}

static void end(void *context)
{
	mimicd_placement_update(context);
	mimicd_shards_release(context);
}

static const struct mimicd_loop_work work = {
	.run = serve_lanes,
	.prepare = prepare,
	.sleep = go_to_sleep,
	.wake = wake_up,
	.begin = begin,
	.end = end,
};

/* --- ends of jobs ----------------------------------------------------------------- */

static void note_returned(void *context, struct mimic_model *model)
{
	struct mimicd_engine *engine = context;

	engine->loop_shard.busy |= model->ops->busy(model);
	/* A device that leaves may have waited for this job. */
	if (engine->leaving)
		atomic_store(&engine->reap, true);
}

static bool go_on(void *context)
{
	struct mimicd_engine *engine = context;
	bool worked = mimicd_shard_round(&engine->loop_shard);

	return mimicd_events_deliver(&engine->events) || worked;
}

static bool may_watch(void *context)
{
	struct mimicd_engine *engine = context;
	struct mimicd_shard *shard = &engine->loop_shard;

	return !shard->busy && !engine->reap && !mimicd_shard_needs_cpu(shard, mimic_cpu_current());
}

/* Front ends are still told that we sleep: their work is the loop's thread's. */
static void watch(void *context, bool watches)
{
	struct mimicd_engine *engine = context;

	publish_cpu(engine);
	mimicd_shard_publish_sleep(&engine->loop_shard, !watches);
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
	mimicd_shard_wake_again(&engine->loop_shard);
}

/* --- memory ---------------------------------------------------------------------- */

/* After devices were destroyed: the allocator would keep their memory for ever. */
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
			 const struct mimic_settings *settings, const char *recording, unsigned int threads)
{
	int error;

	engine->loop = loop;
	engine->settings = *settings;
	mimicd_quotas_default(&engine->quotas);
	mimicd_shard_init(&engine->loop_shard, engine);
	engine->jobs.lock = &engine->lock;
	engine->jobs.ops = &jobs_ops;
	engine->jobs.context = engine;
	loop->work = &work;
	loop->work_context = engine;
	engine->free_timer = (struct mimicd_timer){ .fd = -1, .expired = give_memory_back, .context = engine };
	engine->wake_timer = (struct mimicd_timer){ .fd = -1, .expired = wake_again, .context = engine };
	error = mimicd_shards_create(engine, threads);
	if (error)
		return error;
	error = mimicd_timer_create(&engine->free_timer, loop);
	if (error)
		return error;
	error = mimicd_timer_create(&engine->wake_timer, loop);
	if (error)
		return error;
	engine->events.closer = loop->closer;
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
	if (error)
		return error;
	return mimicd_recover_is_on(engine) ? mimicd_recover_devices(engine) : mimicd_devices_create(engine);
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
	mimicd_shards_destroy(engine);
	mimicd_shard_destroy(&engine->loop_shard);
	mimicd_events_destroy(&engine->events);
	mimicd_holes_destroy(&engine->holes);
	return mimicd_errands_destroy(&engine->errands);
}
