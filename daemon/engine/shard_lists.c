/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The lists of a shard, and the end of its clients. */
#include <errno.h>
#include <stdlib.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/shard.h"

int mimicd_shard_make_room(struct mimicd_shard *shard, unsigned int lanes)
{
	unsigned int capacity = shard->lane_capacity ? shard->lane_capacity : 16;
	struct mimicd_lane **larger;

	while (capacity - shard->lane_count < lanes)
		capacity *= 2;
	if (capacity <= shard->lane_capacity)
		return 0;
	larger = realloc(shard->lanes, capacity * sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	shard->lanes = larger;
	shard->lane_capacity = capacity;
	return 0;
}

void mimicd_shard_add_lane(struct mimicd_shard *shard, struct mimicd_lane *lane)
{
	shard->lanes[shard->lane_count++] = lane;
}

void mimicd_shard_remove_lane(struct mimicd_shard *shard, const struct mimicd_lane *lane)
{
	for (unsigned int i = 0; i < shard->lane_count; i++) {
		if (shard->lanes[i] != lane)
			continue;
		shard->lanes[i] = shard->lanes[--shard->lane_count];
		return;
	}
}

void mimicd_shard_call_reap(struct mimicd_shard *shard)
{
	struct mimicd_engine *engine = shard->engine;

	atomic_store(&engine->reap, true);
	if (shard != &engine->loop_shard)
		mimicd_jobs_wake_loop(&engine->jobs);
}

void mimicd_shard_add_device(struct mimicd_shard *shard, struct mimicd_instance *instance)
{
	instance->shard = shard;
	if (instance->is_private)
		return;
	instance->next_of_shard = shard->devices;
	shard->devices = instance;
}

void mimicd_shard_remove_device(struct mimicd_instance *instance)
{
	struct mimicd_instance **link = &instance->shard->devices;

	while (*link && *link != instance)
		link = &(*link)->next_of_shard;
	if (*link)
		*link = instance->next_of_shard;
}
