/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shows a device to people, and lets them reset it or inject errors. */
#include "daemon/engine/manage.h"

#include <errno.h>
#include <string.h>

#include "daemon/engine/client.h"
#include "daemon/engine/device.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/front_end.h"
#include "daemon/engine/leave.h"
#include "daemon/engine/restored.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"

/* --- permissions ------------------------------------------------------------------------ */

static bool is_others(const struct mimicd_client *client, uid_t uid)
{
	return client && client->program.uid != uid;
}

/* Users that may manage, and the user to whom all programs belong that have the device. */
static bool may_see(const struct mimicd_instance *instance, uid_t uid)
{
	if (mimicd_may_manage(uid))
		return true;
	/* A view shows all contexts, so it is for no user that has only some of them. */
	if (is_others(instance->client, uid))
		return false;
	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (is_others(instance->contexts[i].client, uid))
			return false;
	}
	for (struct mimicd_binding *binding = instance->binding; binding; binding = binding->next_on_device) {
		if (binding->program.uid != uid)
			return false;
	}
	return mimicd_instance_is_held(instance) || mimicd_instance_is_bound(instance);
}

/* --- names ------------------------------------------------------------------------------ */

struct search {
	const char *name;	/* without the process */
	size_t length;
	unsigned int pid;	/* 0: any */
	uid_t uid;
	struct mimicd_instance *found;
	unsigned int visible;
	unsigned int hidden;
};

static void look_at(struct search *search, struct mimicd_instance *instance)
{
	if (strlen(instance->name) != search->length ||
	    strncmp(instance->name, search->name, search->length))
		return;
	if (!may_see(instance, search->uid)) {
		search->hidden++;
		return;
	}
	search->visible++;
	search->found = instance;
}

static void look_at_client(struct search *search, const struct mimicd_client *client)
{
	if (client->broken || (search->pid && search->pid != (unsigned int)client->program.pid))
		return;
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		struct mimicd_instance *instance = client->devices[i].instance;

		if (instance && instance->is_private)
			look_at(search, instance);
	}
}

static int find_private(struct mimicd_engine *engine, const char *name, uid_t uid,
			struct mimicd_instance **found)
{
	struct search search = { .name = name, .length = strcspn(name, ":"), .uid = uid };

	if (name[search.length] &&
	    (!mimic_kind_number(name + search.length + 1, &search.pid) || !search.pid))
		return -ENODEV;
	for (struct mimicd_client *client = engine->clients; client; client = client->next)
		look_at_client(&search, client);
	if (search.visible > 1)
		return -ENOTUNIQ;
	if (!search.visible)
		return search.hidden ? -EPERM : -ENODEV;
	*found = search.found;
	return 0;
}

int mimicd_device_find(struct mimicd_engine *engine, const char *name, uid_t uid,
		       struct mimicd_instance **found)
{
	const char *rest;
	const struct mimic_kind *kind = mimic_kind_of_device(name, &rest);
	int error;

	if (kind && kind->private_count && *rest == '@')
		return find_private(engine, name, uid, found);
	error = mimicd_instance_find(engine, name, found);
	if (error)
		return error;
	return may_see(*found, uid) ? 0 : -EPERM;
}

/* --- changes -------------------------------------------------------------------------------- */

/* Power-on has taken them away; programs that had them have them still. */
static void attach_contexts(struct mimicd_instance *instance, uint64_t now)
{
	for (unsigned int i = 0; i < instance->context_count; i++) {
		uint64_t address_space = instance->contexts[i].address_space;

		if (address_space)
			instance->kind->contexts->attach(instance->model, i, address_space, now);
	}
}

/*
 * A program that goes on would get values of a device that it does not know. One that
 * has it by a driver goes on: a driver resets devices itself.
 */
static void lose_clients(struct mimicd_instance *instance)
{
	if (instance->client)
		mimicd_client_lose(instance->client, instance);
	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (instance->contexts[i].client)
			mimicd_client_lose(instance->contexts[i].client, instance);
	}
}

void mimicd_device_reset(struct mimicd_instance *instance)
{
	const struct mimic_kind *kind = instance->kind;
	struct mimic_model *model = instance->model;
	uint64_t events = 0, now = mimic_now();

	mimicd_log(MIMICD_LOG_INFO, "%s is reset", instance->name);
	/* They are between the program and us, or the driver: not the device's to forget. */
	if (kind->enabled_events)
		events = kind->enabled_events(model, now);
	/* First: power-on answers accesses that wait. */
	lose_clients(instance);
	mimicd_restored_forget(instance);
	model->ops->power_on(model, now);
	mimicd_memory_slot_reset(&instance->memory);
	/* A job that runs ends when it can: the model waits for it before its next work. */
	mimicd_jobs_take_back(&instance->jobs);
	mimicd_inject_reset(&instance->injection);
	attach_contexts(instance, now);
	if (events)
		kind->enable_events(model, events, now);
	instance->shard->busy |= model->ops->busy(model);
}

void mimicd_device_clear_counters(struct mimicd_instance *instance)
{
	instance->model->ops->clear_counters(instance->model);
}

int mimicd_device_inject(struct mimicd_instance *instance, uint32_t what)
{
	struct mimicd_function *function = instance->functions;

	/* Misbehaviour is for a driver to see, and for the accesses that go through it. */
	if (!function)
		return -EOPNOTSUPP;
	if (what == MIMIC_INJECT_SPURIOUS_INTERRUPT)
		return function->ops->interrupt(function);
	return mimicd_inject_set(&instance->injection, what);
}

/* --- added and removed ---------------------------------------------------------------------- */

static void leave_buses(struct mimicd_instance *instance)
{
	while (instance->functions)
		instance->functions->ops->remove(instance->functions);
}

/* 0 or -errno: there is none then. */
static int add_at(struct mimicd_engine *engine, const struct mimic_kind *kind, unsigned int number,
		  struct mimicd_instance **added)
{
	int error = mimicd_device_create(engine, kind, number, added);

	if (error)
		return error;
	error = mimicd_front_ends_add_device(engine, *added);
	if (!error)
		return 0;
	leave_buses(*added);
	mimicd_device_destroy(*added);
	return error;
}

int mimicd_device_add(struct mimicd_engine *engine, const char *name_of_kind, char *name)
{
	const struct mimic_kind *kind = mimic_kind_find(name_of_kind, strlen(name_of_kind));
	int error = -ENOSPC;

	if (!kind)
		return -ENOENT;
	for (unsigned int number = 0; number < MIMIC_KIND_DEVICES_MAX; number++) {
		struct mimicd_instance *instance;

		if (!mimicd_instance_of(engine, kind, number, &instance))
			continue;
		error = add_at(engine, kind, number, &instance);
		/* Another daemon's of that number on a bus is no reason to have none. */
		if (error == -EEXIST)
			continue;
		if (error)
			return error;
		strcpy(name, instance->name);
		mimicd_log(MIMICD_LOG_INFO, "%s was added", name);
		return 0;
	}
	return error;
}

/* Clients that have it, or contexts of it. */
static void detach_clients(struct mimicd_instance *instance)
{
	if (instance->client)
		mimicd_client_detach(instance->client, instance);
	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (instance->contexts[i].client)
			mimicd_client_detach(instance->contexts[i].client, instance);
	}
}

int mimicd_device_remove(struct mimicd_engine *engine, const char *name)
{
	struct mimicd_instance *instance;
	int error = mimicd_instance_find(engine, name, &instance);

	if (error)
		return error;
	mimicd_log(MIMICD_LOG_INFO, "%s is removed%s", instance->name,
		   mimicd_instance_is_held(instance) || mimicd_instance_is_bound(instance) ?
		   " while a program has it" : "");
	/* First there: no access comes from a driver after this. */
	leave_buses(instance);
	detach_clients(instance);
	mimicd_device_hide(instance);
	mimicd_device_leave(instance, true);
	return 0;
}
