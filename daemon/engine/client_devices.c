/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* How clients get devices and contexts, and give them back. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/engine/client.h"
#include "daemon/engine/device.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/execute.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/lane.h"
#include "daemon/engine/leave.h"
#include "daemon/engine/placement.h"
#include "daemon/engine/restored.h"
#include "daemon/engine/step.h"
#include "daemon/engine/turn.h"
#include "libmimic/base/clock.h"

/* A number that no command in any lane can still mean. */
static int find_slot(struct mimicd_client *client, uint32_t *number)
{
	*number = 0;
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		const struct mimicd_device_slot *slot = &client->devices[i];

		if (slot->instance || slot->closed || slot->lost || slot->closing)
			continue;
		*number = i;
		return 0;
	}
	for (struct mimicd_lane *lane = client->lanes; lane; lane = lane->next) {
		if (!mimicd_lane_is_done(lane))
			return -EMFILE;
	}
	*number = MIMIC_SESSION_DEVICES;
	for (uint32_t i = MIMIC_SESSION_DEVICES; i-- > 0;) {
		/* A lane that is done has no command for it, but the program has a handle. */
		if (client->devices[i].lost || client->devices[i].closing)
			continue;
		client->devices[i].closed = false;
		if (!client->devices[i].instance)
			*number = i;
	}
	return *number == MIMIC_SESSION_DEVICES ? -EMFILE : 0;
}

/* May this client have it? One of a bound process only gets devices that the process has open. */
static bool is_for(const struct mimicd_client *client, const struct mimicd_instance *instance)
{
	if (instance->leaves)
		return false;
	if (client->process)
		return instance->binding && instance->binding->process == client->process;
	return !mimicd_instance_is_bound(instance) &&
	       (!instance->client || instance->client == client);
}

static unsigned int count_free(const struct mimicd_instance *instance)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < instance->context_count; i++)
		count += !instance->contexts[i].client;
	return count;
}

/* How much of it this client could have more than it has: the device, or so many contexts. */
static unsigned int room_for(const struct mimicd_client *client, const struct mimicd_instance *instance)
{
	/* One that the client holds already is not another one. */
	if (instance->client || !is_for(client, instance))
		return 0;
	return instance->kind->contexts ? count_free(instance) : 1;
}

/* The one that most can be had of; of several the first. */
static int find_any(const struct mimicd_client *client, const struct mimic_kind *kind,
		    struct mimicd_instance **found)
{
	unsigned int most = 0;
	int error = -ENODEV;

	for (unsigned int i = 0; i < MIMIC_KIND_DEVICES_MAX; i++) {
		struct mimicd_instance *instance;
		unsigned int room;

		if (mimicd_instance_of(client->engine, kind, i, &instance))
			continue;
		if (error)
			error = -EBUSY;
		room = room_for(client, instance);
		if (room <= most)
			continue;
		most = room;
		*found = instance;
		error = 0;
	}
	return error;
}

static int find_named(const struct mimicd_client *client, const struct mimic_kind *kind,
		      const char *text, struct mimicd_instance **found)
{
	unsigned int number;
	int error;

	if (!*text)
		return find_any(client, kind, found);
	if (!mimic_kind_number(text, &number))
		return -ENOENT;
	error = mimicd_instance_of(client->engine, kind, number, found);
	if (error)
		return error;
	return is_for(client, *found) ? 0 : -EBUSY;
}

static int create_private(struct mimicd_client *client, const struct mimic_kind *kind,
			  const char *text, struct mimicd_instance **created)
{
	unsigned int number;
	int error;

	if (!kind->private_count || !mimic_kind_number(text, &number))
		return -ENOENT;
	if (number >= kind->private_count)
		return -ENODEV;
	if (client->private_devices == MIMIC_SESSION_PRIVATE_DEVICES)
		return -EMFILE;
	error = mimicd_device_create_private(client->engine, kind, number, created);
	if (!error)
		client->private_devices++;
	return error;
}

static struct mimicd_device_slot *find_slot_of(struct mimicd_client *client,
					       const struct mimicd_instance *instance)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		if (client->devices[i].instance == instance)
			return &client->devices[i];
	}
	return NULL;
}

static struct mimicd_device_slot *find_held(struct mimicd_client *client, const char *name)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		const struct mimicd_instance *instance = client->devices[i].instance;

		if (instance && !strcmp(instance->name, name))
			return &client->devices[i];
	}
	return NULL;
}

/* Has no other client a part of the device? */
static bool is_alone(const struct mimicd_client *client, const struct mimicd_instance *instance)
{
	for (unsigned int i = 0; i < instance->context_count; i++) {
		const struct mimicd_client *other = instance->contexts[i].client;

		if (other && other != client)
			return false;
	}
	return true;
}

/* The client gets it whole. */
static int take(struct mimicd_client *client, struct mimicd_instance *instance)
{
	int error = mimicd_device_memory_open(&instance->device_memory, &client->engine->memory_fixes);

	if (!error)
		error = mimicd_jobs_open(&instance->jobs, mimicd_instance_parameters(instance), false);
	if (error) {
		mimicd_device_memory_close(&instance->device_memory);
		return error;
	}
	instance->client = client;
	instance->memory.memory = &client->memory;
	mimicd_restored_wake(instance);
	mimicd_trace_open(&client->trace, instance, client->program.pid, is_alone(client, instance));
	mimicd_placement_of_device(instance);
	return 0;
}

static void fill_slot(struct mimicd_device_slot *slot, struct mimicd_instance *instance)
{
	slot->instance = instance;
	slot->model = instance->model;
	slot->context = 0;
	slot->first_page = 0;
	slot->pages = UINT8_MAX;	/* the model knows which there are */
	slot->opens = 1;
}

static int open_whole(struct mimicd_client *client, const struct mimic_kind *kind, const char *name,
		      const char *rest, uint32_t *number)
{
	struct mimicd_device_slot *slot = find_held(client, name);
	struct mimicd_instance *instance = NULL;
	uint32_t free_number;
	int error;

	if (!slot) {
		error = find_slot(client, &free_number);
		if (!error)
			error = *rest == '@' ? create_private(client, kind, rest + 1, &instance) :
					       find_named(client, kind, rest, &instance);
		if (error)
			return error;
		/* "maple" may name one of the process's that this client has already. */
		slot = find_slot_of(client, instance);
	}
	if (slot && slot->lost)
		return -EBUSY;
	if (slot) {
		slot->opens++;
		*number = (uint32_t)(slot - client->devices);
		return 0;
	}
	error = mimicd_instance_is_bound(instance) ? 0 : take(client, instance);
	if (error) {
		if (instance->is_private) {
			mimicd_device_destroy(instance);
			client->private_devices--;
		}
		return error;
	}
	fill_slot(&client->devices[free_number], instance);
	*number = free_number;
	return 0;
}

/* The page numbers of a context. */
static void fill_context(struct mimicd_device_slot *slot, struct mimicd_instance *instance,
			 unsigned int context)
{
	fill_slot(slot, instance);
	slot->context = context;
	slot->first_page = (uint8_t)instance->kind->contexts->first_page(context);
	slot->pages = (uint8_t)instance->kind->pages;
}

/*
 * "0/3": the context that the function driver has given to a node of this client's process. It
 * was attached then, and is detached with the node.
 */
static int open_given(struct mimicd_client *client, const struct mimic_kind *kind, const char *rest,
		      uint32_t *number)
{
	size_t digits = strcspn(rest, "/");
	const struct mimicd_binding *binding;
	struct mimicd_instance *instance;
	unsigned int index, context;
	char text[MIMIC_NAME_MAX];
	int error;

	snprintf(text, sizeof(text), "%.*s", (int)digits, rest);
	if (!rest[digits] || !mimic_kind_number(text, &index) ||
	    !mimic_kind_number(rest + digits + 1, &context))
		return -ENOENT;
	error = mimicd_instance_of(client->engine, kind, index, &instance);
	if (error)
		return error;
	binding = mimicd_instance_context_binding(instance, context);
	if (!binding || binding->process != client->process)
		return -EBUSY;
	error = find_slot(client, number);
	if (!error)
		fill_context(&client->devices[*number], instance, context);
	return error;
}

/* Of those that are free: one with a restored state, else the first. One is. */
static unsigned int choose_context(const struct mimicd_instance *instance)
{
	unsigned int index = 0;

	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (instance->contexts[i].is_restored)
			return i;
	}
	while (instance->contexts[index].client)
		index++;
	return index;
}

/* It keeps a restored state. */
static void take_context(struct mimicd_client *client, struct mimicd_instance *instance, unsigned int index)
{
	struct mimicd_context *context = &instance->contexts[index];
	bool keeps_state = mimicd_restored_take_context(instance, index);

	context->client = client;
	context->memory.memory = &client->memory;
	if (!keeps_state) {
		context->address_space = ++client->engine->last_address_space;
		instance->kind->contexts->attach(instance->model, index, context->address_space, mimic_now());
	}
	mimicd_restored_wake(instance);
	/* The device may have been woken before, and have waited for this program's memory since then. */
	if (keeps_state)
		mimicd_client_retry_device(client, instance);
}

/* Each open has a context of its own. */
static int open_context(struct mimicd_client *client, const struct mimic_kind *kind, const char *rest,
			uint32_t *number)
{
	struct mimicd_instance *instance = NULL;
	unsigned int index;
	int error = find_slot(client, number);

	if (!error)
		error = find_named(client, kind, rest, &instance);
	if (error)
		return error;
	if (!count_free(instance))
		return -EBUSY;
	index = choose_context(instance);
	take_context(client, instance, index);
	fill_context(&client->devices[*number], instance, index);
	mimicd_placement_of_device(instance);
	mimicd_trace_open(&client->trace, instance, client->program.pid, is_alone(client, instance));
	return 0;
}

static int open_device(struct mimicd_client *client, const struct mimic_kind *kind, const char *name,
		       const char *rest, uint32_t *number)
{
	if (kind->contexts && client->process)
		return open_given(client, kind, rest, number);
	if (kind->contexts)
		return open_context(client, kind, rest, number);
	return open_whole(client, kind, name, rest, number);
}

/* The loop is about to end a client that has it, or a context of it. */
static bool has_broken_client(const struct mimicd_instance *instance)
{
	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (instance->contexts[i].client && instance->contexts[i].client->broken)
			return true;
	}
	return instance->client && instance->client->broken;
}

/* Is such a device given back now, or when a job has come back? */
static bool one_leaves(const struct mimicd_engine *engine, const struct mimic_kind *kind, const char *rest)
{
	struct mimicd_instance *instance;

	for (unsigned int i = 0; i < MIMIC_KIND_DEVICES_MAX; i++) {
		if (mimicd_instance_of(engine, kind, i, &instance) || !(instance->leaves || has_broken_client(instance)))
			continue;
		if (!*rest || !strcmp(instance->name + strlen(kind->name), rest))
			return true;
	}
	return false;
}

int mimicd_client_open(struct mimicd_client *client, const char *name, uint32_t *number)
{
	const char *rest;
	const struct mimic_kind *kind = mimic_kind_of_device(name, &rest);
	int error;

	if (!kind)
		return -ENOENT;
	error = mimicd_quota_take(client->user, MIMICD_QUOTA_devices, 1);
	if (error)
		return error;
	error = open_device(client, kind, name, rest, number);
	/* One that it has open already is no other one. */
	if (error || client->devices[*number].opens > 1)
		mimicd_quota_give_back(client->user, MIMICD_QUOTA_devices, 1);
	if (!error)
		mimicd_placement_note(client);
	if (error == -EBUSY && !client->process && one_leaves(client->engine, kind, rest))
		return -EINPROGRESS;
	return error;
}

/* No thread waits in the device any more, and commands for it that are still in a lane have no effect. */
static void detach_slot(struct mimicd_client *client, struct mimicd_device_slot *slot)
{
	for (struct mimicd_lane *lane = client->lanes; lane; lane = lane->next) {
		if (lane->target != slot)
			continue;
		if (lane->parked)
			mimicd_lane_withdraw(lane);
		mimicd_step_note(lane);
		lane->target = NULL;
	}
	mimicd_step_note_client(client);
	slot->instance = NULL;
	slot->model = NULL;
	slot->closed = true;
	mimicd_placement_note(client);
	mimicd_quota_give_back(client->user, MIMICD_QUOTA_devices, 1);
}

static void set_lost(struct mimicd_client *client, struct mimicd_device_slot *slot, bool lost)
{
	uint32_t number = (uint32_t)(slot - client->devices);
	uint64_t bit = 1ull << number % 64;

	mimicd_step_note_client(client);
	slot->lost = lost;
	/* Before any answer: the release with which that is published is the barrier. */
	for (struct mimicd_lane *lane = client->lanes; lane; lane = lane->next) {
		_Atomic uint64_t *word = &lane->memory->lost[number / 64];

		if (lost)
			atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
		else
			atomic_fetch_and_explicit(word, ~bit, memory_order_relaxed);
	}
}

int mimicd_client_give(struct mimicd_client *client, uint32_t number, struct mimicd_instance *instance,
		       unsigned int context)
{
	struct mimicd_device_slot *slot = &client->devices[number];
	int error = slot->instance ? 0 : mimicd_quota_take(client->user, MIMICD_QUOTA_devices, 1);

	if (error)
		return error;
	fill_slot(slot, instance);
	if (instance->kind->contexts)
		fill_context(slot, instance, context);
	slot->pages = (uint8_t)instance->kind->pages;
	slot->closed = false;
	set_lost(client, slot, false);
	return 0;
}

/* No other client has it already; of a bound process: the process still has it. */
static bool has_room_for_adopted(const struct mimicd_client *client, const struct mimicd_instance *instance,
				 uint32_t context)
{
	const struct mimicd_binding *binding = instance->kind->contexts ?
		mimicd_instance_context_binding(instance, context) : instance->binding;

	if (instance->kind->contexts && context >= instance->context_count)
		return false;
	if (client->process && !instance->is_private)
		return binding && binding->process == client->process;
	if (mimicd_instance_is_bound(instance))
		return false;
	if (!instance->kind->contexts)
		return !instance->client;
	return context < instance->context_count && !instance->contexts[context].client;
}

static void fill_adopted(struct mimicd_client *client, struct mimicd_device_slot *slot,
			 const struct mimicd_adopted_slot *adopted)
{
	struct mimicd_instance *instance = adopted->instance;
	/* The client's process has it, and not the client. */
	bool is_bound = mimicd_instance_is_bound(instance);

	if (instance->kind->contexts) {
		struct mimicd_context *context = &instance->contexts[adopted->context];

		fill_context(slot, instance, adopted->context);
		if (is_bound)
			return;
		context->client = client;
		context->address_space = adopted->address_space;
		context->memory.memory = &client->memory;
	} else {
		fill_slot(slot, instance);
		if (is_bound)
			return;
		instance->client = client;
		instance->memory.memory = &client->memory;
		client->private_devices += instance->is_private;
	}
	mimicd_placement_of_device(instance);
}

int mimicd_client_adopt(struct mimicd_client *client, const struct mimicd_adopted_slot *adopted)
{
	struct mimicd_device_slot *slot = &client->devices[adopted->number];
	struct mimicd_instance *instance = adopted->instance;
	int error;

	if (slot->instance || slot->closed || slot->lost || slot->closing ||
	    (instance && !has_room_for_adopted(client, instance, adopted->context)))
		return -EINVAL;
	error = instance ? mimicd_quota_take(client->user, MIMICD_QUOTA_devices, 1) : 0;
	if (error)
		return error;
	if (instance)
		fill_adopted(client, slot, adopted);
	slot->opens = adopted->opens;
	slot->closed = adopted->closed;
	slot->closing = adopted->closing;
	if (adopted->lost)
		set_lost(client, slot, true);
	return 0;
}

void mimicd_client_lose(struct mimicd_client *client, struct mimicd_instance *instance)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		if (client->devices[i].instance == instance)
			set_lost(client, &client->devices[i], true);
	}
}

void mimicd_client_detach(struct mimicd_client *client, struct mimicd_instance *instance)
{
	mimicd_client_lose(client, instance);
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		if (client->devices[i].instance != instance)
			continue;
		detach_slot(client, &client->devices[i]);
		if (instance->client == client)
			client->devices[i].leaving = instance;
	}
}

void mimicd_client_detach_context(struct mimicd_client *client, struct mimicd_instance *instance,
				  unsigned int context)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		struct mimicd_device_slot *slot = &client->devices[i];

		if (slot->instance != instance || slot->context != context)
			continue;
		set_lost(client, slot, true);
		detach_slot(client, slot);
	}
}

static void give_back_context(struct mimicd_instance *instance, unsigned int index)
{
	struct mimicd_context *context = &instance->contexts[index];

	instance->kind->contexts->attach(instance->model, index, 0, mimic_now());
	context->client = NULL;
	context->address_space = 0;
	mimicd_memory_slot_clear(&context->memory);
	if (!mimicd_instance_is_held(instance))
		mimicd_trace_close(instance);
	if (!mimicd_instance_is_held(instance))
		mimicd_inject_reset(&instance->injection);
	mimicd_placement_of_device(instance);
}

static void give_back(struct mimicd_client *client, struct mimicd_device_slot *slot)
{
	struct mimicd_instance *instance = slot->instance;
	unsigned int context = slot->context;

	detach_slot(client, slot);
	/* The process still has it, by its node. */
	if (mimicd_instance_is_bound(instance))
		return;
	if (instance->kind->contexts) {
		give_back_context(instance, context);
		return;
	}
	client->private_devices -= instance->is_private;
	slot->leaving = instance;
	mimicd_device_leave(instance, instance->is_private);
}

static int begin_close(struct mimicd_client *client, struct mimicd_device_slot *slot)
{
	if (!slot->instance && !slot->lost)
		return -ENODEV;
	/* Posts before the close are executed if they can be. */
	if (slot->opens == 1 && !mimicd_lanes_drain(client))
		return -EAGAIN;
	if (--slot->opens)
		return 0;
	if (slot->instance)
		give_back(client, slot);
	slot->closing = true;
	return 0;
}

int mimicd_client_close(struct mimicd_client *client, uint32_t number)
{
	struct mimicd_device_slot *slot;
	int error;

	if (number >= MIMIC_SESSION_DEVICES)
		return -ENODEV;
	slot = &client->devices[number];
	error = slot->closing ? 0 : begin_close(client, slot);
	if (error || !slot->closing)
		return error;
	/* Its job may still write to the program's memory. */
	if (slot->leaving)
		return -EINPROGRESS;
	slot->closing = false;
	if (slot->lost)
		set_lost(client, slot, false);
	return 0;
}

/* Those that a process has by a driver go on. */
static void give_back_all(struct mimicd_client *client, bool with_jobs_only)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		struct mimicd_instance *instance = client->devices[i].instance;

		if (instance && !mimicd_instance_is_bound(instance) && (!with_jobs_only || instance->jobs.in_flight))
			give_back(client, &client->devices[i]);
	}
}

bool mimicd_client_stops(struct mimicd_client *client)
{
	give_back_all(client, true);
	if (!mimicd_client_has_leaving(client))
		return true;
	/* Others are not to wait for those that no job keeps. */
	give_back_all(client, false);
	return false;
}

static void close_all(struct mimicd_client *client)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		if (client->devices[i].instance)
			give_back(client, &client->devices[i]);
	}
	mimicd_devices_wait_to_leave(client->engine, client);
}

void mimicd_client_destroy(struct mimicd_client *client)
{
	struct mimicd_client **link = &client->engine->clients;

	mimicd_placement_end(client);
	while (client->lanes)
		mimicd_lane_destroy(client->lanes);
	mimicd_threads_leave(client);
	close_all(client);
	mimicd_trace_end(client->engine, &client->trace);
	if (client->process) {
		client->process->clients--;
		mimicd_process_free_unused(client->process);
	}
	mimicd_memory_destroy(&client->memory);
	while (*link != client)
		link = &(*link)->next;
	*link = client->next;
	mimicd_user_leave(client);
}
