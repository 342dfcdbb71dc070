/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/step.h"

#include "daemon/engine/engine.h"
#include "daemon/engine/front_end.h"
#include "daemon/engine/function.h"
#include "daemon/engine/keep.h"
#include "daemon/engine/notify.h"

/* Of the thread that runs. The loop's may have all shards. */
static struct mimicd_shard *own_shard(struct mimicd_engine *engine)
{
	unsigned int log = mimicd_journal_log();

	return log ? &engine->shards[log - 1] : &engine->loop_shard;
}

void mimicd_step_note(struct mimicd_lane *lane)
{
	struct mimicd_shard *shard;

	if (lane->has_changed || !mimicd_journal_is_on())
		return;
	shard = own_shard(lane->client->engine);
	lane->has_changed = true;
	lane->next_changed = shard->changed_lanes;
	shard->changed_lanes = lane;
}

void mimicd_step_note_client(struct mimicd_client *client)
{
	if (!mimicd_journal_is_on())
		return;
	client->has_changed = true;
	client->engine->has_changed = true;
}

void mimicd_step_note_binding(struct mimicd_binding *binding)
{
	if (!mimicd_journal_is_on())
		return;
	binding->has_changed = true;
	binding->function->instance->engine->has_changed = true;
}

void mimicd_step_note_devices(struct mimicd_engine *engine)
{
	if (mimicd_journal_is_on())
		engine->has_changed = true;
}

void mimicd_step_forget(struct mimicd_lane *lane)
{
	struct mimicd_lane **link = &own_shard(lane->client->engine)->changed_lanes;

	if (!lane->has_changed)
		return;
	while (*link != lane)
		link = &(*link)->next_changed;
	*link = lane->next_changed;
	lane->has_changed = false;
}

static void record(struct mimicd_lane *lane)
{
	struct mimicd_lane_record record = {
		.commands = lane->commands.position,
		.responses = lane->responses.position,
		.follows = lane->follows,
		.client_commands = lane->client->commands,
		.command = lane->command,
		.remaining = lane->remaining,
		.has_target = lane->target != NULL,
		.target = (uint8_t)(lane->target ? lane->target - lane->client->devices : 0),
		.parked = lane->parked,
		.withdrawn = lane->withdrawn,
		.cancel_pending = lane->cancel_pending,
		.retired = lane->retired,
	};

	mimicd_journal_write(lane->record, &record, sizeof(record));
}

/* The answers before the room: a program that sees room for a command can see the answers of those before. */
static void show(struct mimicd_lane *lane)
{
	uint64_t count = lane->unpublished;

	lane->has_changed = false;
	lane->unpublished = 0;
	mimicd_journal_place();
	if (count) {
		lane->responses.position -= count;
		mimic_ring_publish(&lane->responses, count);
	}
	mimicd_journal_place();
	mimic_ring_release(&lane->commands, 0);
	mimicd_journal_place();
	mimicd_lane_notify(lane);
}

static void commit_lanes(struct mimicd_shard *shard)
{
	struct mimicd_lane *lane;

	for (lane = shard->changed_lanes; lane; lane = lane->next_changed)
		record(lane);
	mimicd_journal_commit();
}

static void show_lanes(struct mimicd_shard *shard)
{
	while (shard->changed_lanes) {
		struct mimicd_lane *lane = shard->changed_lanes;

		shard->changed_lanes = lane->next_changed;
		show(lane);
	}
}

/* Records, descriptors and answers of front ends are the loop's thread's. */
static void commit_all(struct mimicd_engine *engine)
{
	if (engine->has_changed) {
		engine->has_changed = false;
		engine->recorder->record(engine->recorder_context);
		mimicd_front_ends_record(engine);
	}
	commit_lanes(&engine->loop_shard);
	mimicd_keep_commit();
	show_lanes(&engine->loop_shard);
	if (engine->has_answers) {
		engine->has_answers = false;
		mimicd_front_ends_publish(engine);
	}
}

void mimicd_step_commit(struct mimicd_engine *engine)
{
	struct mimicd_shard *shard;
	bool is_loop;

	/* Before its first step a daemon may have taken over a half of the clients. */
	if (!engine->recorder)
		return;
	shard = own_shard(engine);
	is_loop = shard == &engine->loop_shard;
	if (!shard->changed_lanes && !(is_loop && engine->has_changed) && !mimicd_journal_level())
		return;
	if (is_loop) {
		commit_all(engine);
		return;
	}
	commit_lanes(shard);
	show_lanes(shard);
}
