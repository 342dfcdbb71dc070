/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/leave.h"

#include "daemon/engine/client.h"
#include "daemon/engine/device.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/placement.h"
#include "libmimic/base/clock.h"

/* Messages that wait for the device, such as a CLOSE, go on. */
static void forget(struct mimicd_client *client, const struct mimicd_instance *instance)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		if (client->devices[i].leaving == instance)
			client->devices[i].leaving = NULL;
	}
}

/* All jobs are back, or are waited for here. */
static void finish(struct mimicd_instance *instance)
{
	mimicd_jobs_close(&instance->jobs);
	if (instance->client)
		forget(instance->client, instance);
	instance->leaves = false;
	if (instance->is_ending) {
		mimicd_device_destroy(instance);
		return;
	}
	mimicd_trace_close(instance);
	mimicd_events_forget(&instance->events);
	mimicd_device_memory_close(&instance->device_memory);
	mimicd_inject_reset(&instance->injection);
	instance->client = NULL;
	mimicd_memory_slot_clear(&instance->memory);
	mimicd_placement_of_device(instance);
}

bool mimicd_device_leave(struct mimicd_instance *instance, bool is_ending)
{
	struct mimicd_engine *engine = instance->engine;

	if (instance->leaves) {
		instance->is_ending |= is_ending;
		return false;
	}
	instance->is_ending = is_ending;
	if (instance->jobs.places || !is_ending)
		instance->model->ops->power_on(instance->model, mimic_now());
	if (mimicd_jobs_take_back(&instance->jobs)) {
		finish(instance);
		return true;
	}
	instance->leaves = true;
	instance->next_leaving = engine->leaving;
	engine->leaving = instance;
	return false;
}

void mimicd_devices_left(struct mimicd_engine *engine)
{
	struct mimicd_instance **link = &engine->leaving;

	while (*link) {
		struct mimicd_instance *instance = *link;

		if (!mimicd_jobs_take_back(&instance->jobs)) {
			link = &instance->next_leaving;
			continue;
		}
		*link = instance->next_leaving;
		finish(instance);
	}
}

bool mimicd_client_has_leaving(const struct mimicd_client *client)
{
	const struct mimicd_instance *instance = client->engine->leaving;

	while (instance && instance->client != client)
		instance = instance->next_leaving;
	return instance;
}

void mimicd_devices_wait_to_leave(struct mimicd_engine *engine, const struct mimicd_client *client)
{
	struct mimicd_instance **link = &engine->leaving;

	while (*link) {
		struct mimicd_instance *instance = *link;

		if (client && instance->client != client) {
			link = &instance->next_leaving;
			continue;
		}
		*link = instance->next_leaving;
		finish(instance);
	}
}
