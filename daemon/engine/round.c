/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Whose turn it is: a round over all lanes, then the devices that go on by themselves. When a lane is done. */
#include "daemon/bus/binding.h"
#include "daemon/engine/execute.h"
#include "daemon/engine/execute_internal.h"
#include "libmimic/base/clock.h"

/* Words that a lane may move before the next one has its turn. */
#define BUDGET_WORDS 4096

static bool has_work(struct mimicd_lane *lane)
{
	if (lane->parked || lane->session->broken || mimicd_engine_is_blocked(lane))
		return false;
	if (lane->thread->parked && !(lane->level >= lane->thread->parked->level &&
				      !lane->thread->parked->retired))
		return false;
	if (lane->follows && !mimicd_engine_may_go_on(lane))
		return false;
	if (lane->remaining && !is_store(lane->command.kind))
		return true;
	return mimic_ring_level(&lane->commands, 1) != 0;
}

bool mimicd_engine_is_done(struct mimicd_lane *lane)
{
	struct mimic_command command;
	uint64_t word;

	if (lane->parked || (lane->remaining && !lane->retired))
		return false;
	if (mimic_ring_level(&lane->commands, 1) <= 0)
		return true;
	if (!lane->retired)
		return false;
	/* What wants an answer has no reader any more, and nothing comes after it. */
	if (lane->remaining)
		return has_answers(lane->command.kind);
	word = mimic_ring_get(&lane->commands, 0);
	if (mimic_lane_is_order(word))
		return false;
	return !mimic_command_unpack(word, &command) || has_answers(command.kind);
}

/* A retired lane only has stores left to do. */
static bool run_retired(struct mimicd_server *server, struct mimicd_lane *lane, uint64_t now)
{
	uint64_t moved = mimicd_engine_run(lane, BUDGET_WORDS, true, now);

	if (!moved)
		server->reap = true;
	return moved;
}

bool mimicd_engine_has_work(struct mimicd_server *server)
{
	if (server->busy || (server->bus && mimicd_bus_has_work(server->bus)) ||
	    mimicd_jobs_have_work(server))
		return true;
	for (unsigned int i = 0; i < server->lane_count; i++) {
		if (has_work(server->lanes[i]))
			return true;
	}
	return false;
}

static void tick(struct mimicd_server *server, struct mimicd_instance *instance)
{
	if (!instance || !instance->model->ops->busy(instance->model))
		return;
	instance->model->ops->tick(instance->model, server->now);
	server->busy = true;
}

/* Devices go on by themselves, a bounded piece at a time, so that no program holds up the others. */
static void tick_busy(struct mimicd_server *server)
{
	server->busy = false;
	for (unsigned int i = 0; i < server->named_count; i++)
		tick(server, server->named[i]);
	for (struct mimicd_session *session = server->sessions; session; session = session->next) {
		for (unsigned int i = 0; session->private_devices && i < MIMIC_SESSION_DEVICES; i++) {
			if (session->devices[i].instance && session->devices[i].instance->is_private)
				tick(server, session->devices[i].instance);
		}
	}
}

bool mimicd_engine_round_lanes(struct mimicd_server *server)
{
	bool worked = false;

	/* Lanes come and go between rounds only, so the array stands still here. */
	for (unsigned int i = 0; i < server->lane_count; i++) {
		struct mimicd_lane *lane = server->lanes[i];

		if (!has_work(lane))
			continue;
		server->now = mimic_now();
		if (lane->retired)
			worked |= run_retired(server, lane, server->now);
		else
			worked |= mimicd_engine_run(lane, BUDGET_WORDS, false, server->now) > 0;
		if (atomic_load_explicit(&lane->memory->client_cpu, memory_order_relaxed) == server->cpu)
			server->crowded_until = server->now +
				server->options.settings.spin_microseconds * 1000ull;
	}
	return worked;
}

bool mimicd_engine_round(struct mimicd_server *server)
{
	bool worked = mimicd_engine_round_lanes(server);

	if (server->bus)
		worked |= mimicd_bus_round(server->bus, !worked);
	worked |= mimicd_jobs_round(server);
	if (server->busy) {
		server->now = mimic_now();
		tick_busy(server);
		worked = true;
	}
	mimicd_events_deliver(server);
	return worked;
}
