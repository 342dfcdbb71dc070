/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A timed MAPLE: its life, and its work that goes on by itself.
 *
 * The cycles were measured on the artifact's RTL (docs/timing-maple.md has them all), without
 * flits: these are a part of the way between core and device.
 */
#include <errno.h>
#include <stdlib.h>

#include "devices/maple/time/desc.h"

#define REPLY_CYCLES 1		/* "config reply 1" */
#define VISIBLE_CYCLES 3	/* "produce to waiting consumer 6", of which a load's pipe is 3 */
#define CHUNK_CYCLES 6		/* "first LIMA word = L(B chunk)+13+memory latency": 4 of a store, 3 of a load */

/* --- time -------------------------------------------------------------------- */

static void happen(struct maple_time *device, const struct event *event)
{
	struct mimic_access access;

	switch (event->kind) {
	case EVENT_FILL:
		maple_time_fill(device, event);
		break;
	case EVENT_LIMA:
		maple_time_lima_go_on(device, event->queue);
		break;
	case EVENT_ACCESS:
		access = device->access[event->access];
		device->access[event->access].owner = 0;
		if (!maple_time_must_hold(device, &access))
			maple_time_finish_held(device, &access);
		break;
	}
	maple_time_let_in_held(device);
}

void maple_time_advance(struct maple_time *device, uint64_t now)
{
	const struct event *first;
	struct event event;

	while ((first = maple_time_event_first(device)) && first->time <= now) {
		maple_time_count_until(device, first->time);
		maple_time_event_take(device, &event);
		device->now = later(device->now, event.time);
		happen(device, &event);
	}
	maple_time_count_until(device, now);
	device->now = later(device->now, now);
}

uint64_t maple_time_next(const struct maple_time *device)
{
	const struct event *first = maple_time_event_first(device);

	return first ? first->time : NEVER;
}

void maple_time_cancel(struct maple_time *device, uint64_t owner, uint64_t now)
{
	maple_time_advance(device, now);
	maple_time_event_drop(device, owner);
	for (unsigned int i = 0; i < device->queue_count; i++) {
		struct queue_time *q = &device->queue[i];

		if (q->is_held && q->held.owner == owner)
			q->is_held = false;
		if (q->store.owner == owner)
			q->store.owner = 0;
		if (q->load.owner == owner)
			q->load.owner = 0;
	}
	device->model->ops->cancel(device->model, owner, device->now);
}

void maple_time_owner_gone(struct maple_time *device, uint64_t owner, uint64_t now)
{
	maple_time_cancel(device, owner, now);
	device->step = (struct step_time){ 0 };
	device->model->ops->owner_gone(device->model, owner, device->now);
	maple_time_let_in_held(device);
}

static void answer_held(struct maple_time *device, uint64_t owner)
{
	device->host.complete(device->host.context, owner, 0, device->now + device->pipes.reply);
}

void maple_time_power_on(struct maple_time *device, uint64_t now)
{
	struct event event;

	maple_time_advance(device, now);
	while (maple_time_event_first(device)) {
		maple_time_event_take(device, &event);
		if (event.kind != EVENT_ACCESS)
			continue;
		answer_held(device, device->access[event.access].owner);
		device->access[event.access].owner = 0;
	}
	device->step = (struct step_time){ 0 };
	device->model->ops->power_on(device->model, device->now);
	for (unsigned int i = 0; i < device->queue_count; i++) {
		if (device->queue[i].is_held)
			answer_held(device, device->queue[i].held.owner);
		device->queue[i] = (struct queue_time){ .lima_wake = NEVER };
	}
	device->loads = 0;
	device->blocked_until = 0;
}

struct mimic_model *maple_time_model(struct maple_time *device)
{
	return device->model;
}

/* --- creation ---------------------------------------------------------------- */

static void report(void *context, const char *text)
{
	struct maple_time *device = context;

	if (device->host.report)
		device->host.report(device->host.context, text);
}

static int size_code_of(uint64_t words)
{
	static const uint16_t sizes[] = MAPLE_SIZE_CODES;

	for (int i = 0; i < (int)(sizeof(sizes) / sizeof(sizes[0])); i++) {
		if (sizes[i] == words)
			return i;
	}
	return -1;
}

/* A program sizes its queues by IDENTIFY's value: there are words for all queues of the usual 32. */
static int config_of(const struct maple_time_parameters *parameters, struct maple_config *config, int *size_code)
{
	uint64_t entries = parameters->maple_queue_entries;
	uint64_t words = parameters->maple_queues * (entries > 32 ? entries : 32);

	maple_config_profile(config, "paper");
	config->queues = (unsigned int)parameters->maple_queues;
	config->scratchpad_words = (unsigned int)(words < MAPLE_MAX_WORDS ? words : MAPLE_MAX_WORDS);
	config->tlb_entries = (unsigned int)parameters->maple_tlb_entries;
	config->lima_chunks = (unsigned int)parameters->maple_lima_chunks;
	*size_code = size_code_of(entries);
	return *size_code < 0 ? -EINVAL : 0;
}

static struct maple_time_pipes maple_pipes(const struct maple_time_parameters *parameters)
{
	return (struct maple_time_pipes){
		.reply = REPLY_CYCLES, .load = MAPLE_TIME_LOAD_PIPE, .visible = VISIBLE_CYCLES,
		.store = MAPLE_TIME_STORE_PIPE, .chunk = CHUNK_CYCLES, .is_shared = true,
		.store_interval = parameters->maple_store_interval,
		.pointer_interval = parameters->maple_pointer_interval,
		.values = (unsigned int)parameters->maple_queue_values,
		.loads = MAPLE_MAX_WORDS,	/* no limit: each takes a word of a queue */
	};
}

static int configure(struct maple_time *device, const struct maple_config *given, struct maple_config *config)
{
	const struct maple_time_parameters *parameters = &device->parameters;

	device->size_code = device->any_size_code = -1;
	device->pipes = parameters->desc_enabled ? maple_desc_pipes(parameters) : maple_pipes(parameters);
	if (given) {
		*config = *given;
		return 0;
	}
	if (!parameters->desc_enabled)
		return config_of(parameters, config, &device->size_code);
	maple_desc_config(parameters, config, &device->any_size_code);
	return 0;
}

void maple_time_parameters(const struct mimic_time_host *host, struct maple_time_parameters *parameters)
{
#define _(section, key) parameters->section##_##key = host->parameter(host->context, #section, #key);
	MAPLE_TIME_PARAMETERS(_)
#undef _
}

struct maple_time *maple_time_create(const struct maple_time_parameters *parameters, const struct maple_config *given,
				     const struct mimic_time_host *host)
{
	struct maple_time *device = calloc(1, sizeof(*device));
	struct mimic_host model_host = { .context = device, .complete = maple_time_complete, .report = report };
	struct maple_config config;
	int error;

	if (!device)
		return NULL;
	device->parameters = *parameters;
	device->host = *host;
	device->pace = maple_time_pace(device);
	model_host.memory = maple_time_memory(device);
	model_host.pace = &device->pace;
	error = configure(device, given, &config);
	if (!error) {
		device->model = maple_model_create(&config, &model_host);
		error = device->model ? 0 : -errno;
	}
	if (error) {
		free(device);
		errno = -error;
		return NULL;
	}
	device->queue_count = config.queues;
	for (unsigned int i = 0; i < MAPLE_MAX_QUEUES; i++)
		device->queue[i].lima_wake = NEVER;
	return device;
}

void maple_time_destroy(struct maple_time *device)
{
	if (!device)
		return;
	maple_model_destroy(device->model);
	free(device);
}
