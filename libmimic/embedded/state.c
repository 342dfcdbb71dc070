/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/embedded/state.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libmimic/base/clock.h"
#include "libmimic/base/kinds.h"
#include "libmimic/base/state_copy.h"
#include "libmimic/base/state_json.h"
#include "libmimic/base/thread.h"
#include "libmimic/embedded/embedded.h"
#include "libmimic/embedded/instance.h"
#include "mimic/protocol.h"

#define TEXT_SIZE 256
#define TRY_NANOSECONDS 50000
#define TRIES 20000u
/* How much longer a tree may be than when its size was asked for. */
#define SPARE (64u << 10)
#define JOB_NANOSECONDS 1000000
#define JOB_TRIES 100u

/* --- the lock ------------------------------------------------------------------------ */

static void pause_for(long nanoseconds)
{
	const struct timespec time = { .tv_nsec = nanoseconds };

	nanosleep(&time, NULL);
}

/* With the lock if 0: the device is open, its time is now. Else -EBUSY, -ENODEV or -ENOMEM. */
static int enter(struct embedded_instance *instance)
{
	struct mimic_thread *self = mimic_thread_self();
	unsigned int tries = 0;

	if (!self)
		return -ENOMEM;
	while (!mimic_embedded_try(instance, self->number)) {
		if (++tries == TRIES)
			return -EBUSY;
		pause_for(TRY_NANOSECONDS);
	}
	if (!instance->open) {
		mimic_embedded_release(instance);
		return -ENODEV;
	}
	mimic_now_recent(&instance->clock);
	return 0;
}

/* After a snapshot, which leaves nothing to be done. */
static void leave(struct embedded_instance *instance)
{
	mimic_embedded_release(instance);
}

/* 0 or -errno. "maple@0:1234", if that is us, is "maple@0". */
static int find(const char *name, struct embedded_instance **found)
{
	char wanted[MIMIC_NAME_MAX], own[MIMIC_NAME_MAX];
	const char *rest, *colon = strchr(name, ':');
	unsigned int pid;

	if (!mimic_kind_of_device(name, &rest))
		return -ENOENT;
	if (colon && (!mimic_kind_number(colon + 1, &pid) || pid != (unsigned int)getpid()))
		return -ENODEV;
	strncpy(wanted, name, sizeof(wanted) - 1);
	wanted[sizeof(wanted) - 1] = 0;
	wanted[strcspn(wanted, ":")] = 0;
	for (unsigned int slot = 0; slot < MIMIC_THREAD_SLOTS; slot++) {
		*found = mimic_embedded_instance_at(slot);
		if (!*found)
			continue;
		mimic_embedded_instance_name(*found, own, sizeof(own));
		if (!strcmp(own, wanted))
			return 0;
	}
	return -ENODEV;
}

/* --- a tree ---------------------------------------------------------------------------- */

static int take_copy(struct embedded_instance *instance, struct mimic_state_copy *copy)
{
	bool is_whole = false;
	int error;

	while (!is_whole) {
		char *larger;

		error = enter(instance);
		if (error)
			return error;
		is_whole = mimic_state_copy_take(copy, instance->kind, instance->model, instance->clock.now);
		leave(instance);
		if (is_whole)
			return 0;
		larger = realloc(copy->buffer, copy->size + SPARE);
		if (!larger)
			return -ENOMEM;
		copy->buffer = larger;
		copy->room = copy->size + SPARE;
	}
	return 0;
}

static char *print(struct json_object *object, int flags)
{
	const char *printed = object ? json_object_to_json_string_ext(object, flags) : NULL;
	char *text = printed ? strdup(printed) : NULL;

	json_object_put(object);
	return text;
}

int mimic_embedded_state_text(const char *name, bool with_bytes, char **text)
{
	struct mimic_state_copy copy = { .with_bytes = with_bytes };
	struct embedded_instance *instance;
	int error = find(name, &instance);

	if (!error)
		error = take_copy(instance, &copy);
	if (!error) {
		*text = print(mimic_state_copy_json(&copy), JSON_C_TO_STRING_PLAIN);
		error = *text ? 0 : -ENOMEM;
	}
	free(copy.buffer);
	return error;
}

/* --- reset ------------------------------------------------------------------------------- */

static bool is_open(struct embedded_instance *instance, unsigned int context)
{
	const struct embedded_device *handle = instance->handles[context];

	return handle && handle->open;
}

static void power_on(struct embedded_instance *instance)
{
	const struct mimic_kind *kind = instance->kind;
	struct mimic_model *model = instance->model;
	uint64_t events = kind->enabled_events ? kind->enabled_events(model, instance->clock.now) : 0;

	model->ops->power_on(model, instance->clock.now);
	/* Contexts, and the eventfds that hear of events, stay as they are. */
	for (unsigned int i = 0; kind->contexts && i < instance->handle_count; i++) {
		if (is_open(instance, i))
			kind->contexts->attach(model, i, 1, instance->clock.now);
	}
	if (events)
		kind->enable_events(model, events, instance->clock.now);
	mimic_embedded_drain(instance);
}

int mimic_embedded_state_reset(const char *name)
{
	struct embedded_instance *instance;
	int error = find(name, &instance);

	if (!error)
		error = enter(instance);
	if (error)
		return error;
	power_on(instance);
	mimic_embedded_leave(instance);
	/* Waits for outstanding jobs, which end soon. Not for long: the program may have begun others. */
	for (unsigned int i = 0; i < JOB_TRIES && atomic_load(&instance->jobs.out); i++)
		pause_for(JOB_NANOSECONDS);
	return 0;
}

int mimic_embedded_state_clear_counters(const char *name)
{
	struct embedded_instance *instance;
	int error = find(name, &instance);

	if (!error)
		error = enter(instance);
	if (error)
		return error;
	instance->model->ops->clear_counters(instance->model);
	leave(instance);
	return 0;
}

/* --- the list ------------------------------------------------------------------------------ */

/* Of a device, or of one of its contexts. */
struct part {
	char text[TEXT_SIZE];
	uint64_t counters[MIMIC_KIND_COUNTERS_MAX];
};

struct snapshot {
	unsigned int contexts;
	bool is_open[MIMIC_KIND_CONTEXTS_MAX];
	size_t memory;
	struct part device;
	struct part context[MIMIC_KIND_CONTEXTS_MAX];
};

static void end_text(struct part *part, size_t length)
{
	part->text[length < sizeof(part->text) ? length : sizeof(part->text) - 1] = 0;
}

static void snapshot_context(struct embedded_instance *instance, unsigned int context, struct part *part)
{
	const struct mimic_contexts *contexts = instance->kind->contexts;

	end_text(part, contexts->describe(instance->model, context, part->text, sizeof(part->text)));
	contexts->counters(instance->model, context, part->counters, instance->kind->counter_count);
}

static int take_snapshot(struct embedded_instance *instance, struct snapshot *snapshot)
{
	const struct mimic_model_ops *ops;
	int error = enter(instance);

	if (error)
		return error;
	memset(snapshot, 0, sizeof(*snapshot));
	ops = instance->model->ops;
	end_text(&snapshot->device, ops->describe(instance->model, snapshot->device.text, TEXT_SIZE));
	ops->counters(instance->model, snapshot->device.counters, instance->kind->counter_count);
	snapshot->memory = instance->device_memory.address ? instance->device_memory.size : 0;
	snapshot->contexts = instance->kind->contexts ? instance->handle_count : 0;
	for (unsigned int i = 0; i < snapshot->contexts; i++) {
		snapshot->is_open[i] = is_open(instance, i);
		if (snapshot->is_open[i])
			snapshot_context(instance, i, &snapshot->context[i]);
	}
	leave(instance);
	return 0;
}

static void add_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, json_object_new_string(text));
}

static void add_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static struct json_object *describe_process(void)
{
	struct json_object *user = json_object_new_object();

	add_number(user, "pid", (uint64_t)getpid());
	add_text(user, "program", program_invocation_short_name);
	return user;
}

static void add_part(struct json_object *object, const struct mimic_kind *kind, const struct part *part)
{
	struct json_object *counters = json_object_new_object();

	for (size_t i = 0; i < kind->counter_count; i++)
		add_number(counters, kind->counters[i], part->counters[i]);
	add_text(object, "state", part->text);
	json_object_object_add(object, "counters", counters);
}

static struct json_object *describe_users(const struct mimic_kind *kind, const struct snapshot *snapshot)
{
	struct json_object *users = json_object_new_array();

	for (unsigned int i = 0; i < snapshot->contexts; i++) {
		struct json_object *user;

		if (!snapshot->is_open[i])
			continue;
		user = describe_process();
		add_number(user, "context", i);
		add_part(user, kind, &snapshot->context[i]);
		json_object_array_add(users, user);
	}
	return users;
}

static struct json_object *describe(const struct embedded_instance *instance, const struct snapshot *snapshot)
{
	struct json_object *device = json_object_new_object();
	char name[MIMIC_NAME_MAX];

	mimic_embedded_instance_name(instance, name, sizeof(name));
	add_text(device, "name", name);
	add_text(device, "kind", instance->kind->name);
	json_object_object_add(device, "private",
			       json_object_new_boolean(mimic_embedded_instance_is_private(instance)));
	json_object_object_add(device, "kernel", json_object_new_boolean(false));
	if (snapshot->memory)
		add_number(device, "memory", snapshot->memory);
	json_object_object_add(device, "user", snapshot->contexts ? NULL : describe_process());
	add_part(device, instance->kind, &snapshot->device);
	if (snapshot->contexts) {
		add_number(device, "contexts", snapshot->contexts);
		json_object_object_add(device, "users", describe_users(instance->kind, snapshot));
	}
	return device;
}

char *mimic_embedded_state_list(void)
{
	struct snapshot *snapshot = malloc(sizeof(*snapshot));
	struct json_object *root = json_object_new_object(), *devices = json_object_new_array();

	add_text(root, "version", MIMIC_VERSION);
	add_number(root, "protocol", MIMIC_PROTOCOL_VERSION);
	add_number(root, "pid", (uint64_t)getpid());
	add_text(root, "program", program_invocation_short_name);
	for (unsigned int slot = 0; snapshot && slot < MIMIC_THREAD_SLOTS; slot++) {
		struct embedded_instance *instance = mimic_embedded_instance_at(slot);

		if (instance && !take_snapshot(instance, snapshot))
			json_object_array_add(devices, describe(instance, snapshot));
	}
	free(snapshot);
	json_object_object_add(root, "devices", devices);
	json_object_object_add(root, "sessions", json_object_new_array());
	json_object_object_add(root, "bindings", json_object_new_array());
	return print(root, JSON_C_TO_STRING_PRETTY);
}
