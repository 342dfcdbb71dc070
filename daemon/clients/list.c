/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The text behind `mimic list`: devices and the programs that use them. docs/protocol.md names the fields. */
#include <json-c/json.h>
#include <string.h>
#include <unistd.h>

#include "daemon/clients/texts.h"
#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"

static void add_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, json_object_new_string(text));
}

static void add_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_int64((int64_t)number));
}

static struct json_object *describe_process(pid_t pid, const char *program)
{
	struct json_object *user = json_object_new_object();

	add_number(user, "pid", (uint64_t)pid);
	add_text(user, "program", program);
	return user;
}

/* The program that has all of it. */
static struct json_object *describe_user(const struct mimicd_instance *instance)
{
	if (instance->kind->contexts)
		return NULL;
	if (instance->binding)
		return describe_process(instance->binding->program.pid, instance->binding->program.name);
	if (instance->client)
		return describe_process(instance->client->program.pid, instance->client->program.name);
	return NULL;
}

static struct json_object *describe_values(const struct mimic_kind *kind, const uint64_t *values)
{
	struct json_object *counters = json_object_new_object();

	for (size_t i = 0; i < kind->counter_count; i++)
		add_number(counters, kind->counters[i], values[i]);
	return counters;
}

static struct json_object *describe_counters(const struct mimicd_instance *instance)
{
	uint64_t values[MIMIC_KIND_COUNTERS_MAX] = { 0 };

	instance->model->ops->counters(instance->model, values, instance->kind->counter_count);
	return describe_values(instance->kind, values);
}

/* NULL: no program has it. */
static struct json_object *describe_context_user(const struct mimicd_instance *instance,
						 unsigned int index)
{
	const struct mimicd_client *client = instance->contexts[index].client;
	const struct mimicd_binding *binding = mimicd_instance_context_binding(instance, index);

	if (client)
		return describe_process(client->program.pid, client->program.name);
	return binding ? describe_process(binding->program.pid, binding->program.name) : NULL;
}

static struct json_object *describe_context(const struct mimicd_instance *instance, unsigned int index)
{
	const struct mimic_contexts *contexts = instance->kind->contexts;
	struct json_object *context = describe_context_user(instance, index);
	uint64_t values[MIMIC_KIND_COUNTERS_MAX] = { 0 };
	char state[256];
	size_t length;

	if (!context)
		return NULL;
	length = contexts->describe(instance->model, index, state, sizeof(state));
	contexts->counters(instance->model, index, values, instance->kind->counter_count);
	state[length < sizeof(state) ? length : sizeof(state) - 1] = 0;
	add_number(context, "context", index);
	add_text(context, "state", state);
	json_object_object_add(context, "counters", describe_values(instance->kind, values));
	return context;
}

/* All programs that have a context of it. */
static struct json_object *describe_contexts(const struct mimicd_instance *instance)
{
	struct json_object *users = json_object_new_array();

	for (unsigned int i = 0; i < instance->context_count; i++) {
		struct json_object *user = describe_context(instance, i);

		if (user)
			json_object_array_add(users, user);
	}
	return users;
}

static struct json_object *describe_device(const struct mimicd_instance *instance)
{
	struct json_object *device = json_object_new_object();
	const struct mimic_model_ops *ops = instance->model->ops;
	char state[256];
	size_t length = ops->describe(instance->model, state, sizeof(state));

	state[length < sizeof(state) ? length : sizeof(state) - 1] = 0;
	add_text(device, "name", instance->name);
	add_text(device, "kind", instance->kind->name);
	json_object_object_add(device, "private", json_object_new_boolean(instance->is_private));
	add_text(device, "state", state);
	json_object_object_add(device, "kernel",
			       json_object_new_boolean(mimicd_instance_is_on(instance, "kernel")));
	json_object_object_add(device, "pci", json_object_new_boolean(mimicd_instance_is_on(instance, "pci")));
	if (instance->device_memory.size)
		add_number(device, "memory", instance->device_memory.size);
	json_object_object_add(device, "user", describe_user(instance));
	json_object_object_add(device, "counters", describe_counters(instance));
	if (instance->kind->contexts) {
		add_number(device, "contexts", instance->context_count);
		json_object_object_add(device, "users", describe_contexts(instance));
	}
	return device;
}

static unsigned int count_threads(const struct mimicd_client *client)
{
	unsigned int count = 0;

	for (uint32_t i = 1; i <= MIMIC_SESSION_THREADS; i++)
		count += client->threads[i] != NULL;
	return count;
}

static uint64_t count_shared(const struct mimicd_memory *memory)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < memory->count; i++)
		bytes += memory->ranges[i].size;
	return bytes;
}

/* The numbers by which a device's state names the client's threads. */
static struct json_object *describe_threads(const struct mimicd_client *client)
{
	struct json_object *owners = json_object_new_array();

	for (uint32_t i = 1; i <= MIMIC_SESSION_THREADS; i++) {
		if (client->threads[i])
			json_object_array_add(owners, json_object_new_int64((int64_t)mimicd_thread_owner(client->threads[i])));
	}
	return owners;
}

/* The same on devices that it has through the kernel. */
static struct json_object *describe_owners(const struct mimicd_process *process)
{
	struct json_object *owners = json_object_new_array();

	for (unsigned int i = 0; i < MIMICD_THREAD_CHAINS; i++) {
		for (struct mimicd_owner *owner = process->owners[i]; owner; owner = owner->next)
			json_object_array_add(owners, json_object_new_int64((int64_t)owner->number));
	}
	return owners;
}

static struct json_object *describe_client(const struct mimicd_client *client)
{
	struct json_object *object = describe_process(client->program.pid, client->program.name);
	struct json_object *devices = json_object_new_array();

	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		const struct mimicd_instance *instance = client->devices[i].instance;

		if (instance)
			json_object_array_add(devices, json_object_new_string(instance->name));
	}
	add_number(object, "uid", client->program.uid);
	json_object_object_add(object, "kernel",
			       json_object_new_boolean(client->process && !client->program.is_machine));
	json_object_object_add(object, "machine", json_object_new_boolean(client->program.is_machine));
	json_object_object_add(object, "devices", devices);
	add_number(object, "threads", count_threads(client));
	json_object_object_add(object, "owners", describe_threads(client));
	add_number(object, "commands", client->commands);
	add_number(object, "shared_bytes", count_shared(&client->memory));
	add_number(object, "remote_reads", client->memory.remote_reads);
	add_number(object, "refused_reads", client->memory.refused);
	return object;
}

static struct json_object *describe_binding(const struct mimicd_binding *binding)
{
	struct json_object *object = describe_process(binding->program.pid, binding->program.name);

	add_number(object, "uid", binding->program.uid);
	add_text(object, "device", binding->instance->name);
	json_object_object_add(object, "machine", json_object_new_boolean(binding->program.is_machine));
	add_number(object, "accesses", binding->accesses);
	json_object_object_add(object, "owners", describe_owners(binding->process));
	return object;
}

static struct json_object *describe_bindings(const struct mimicd_engine *engine)
{
	struct json_object *bindings = json_object_new_array();

	for (struct mimicd_binding *binding = engine->bindings; binding; binding = binding->next)
		json_object_array_add(bindings, describe_binding(binding));
	return bindings;
}

char *mimicd_list_text(const struct mimicd_engine *engine, const struct mimicd_client *asking)
{
	struct json_object *root = json_object_new_object();
	struct json_object *devices = json_object_new_array();
	struct json_object *sessions = json_object_new_array();
	char *text;

	add_text(root, "version", MIMIC_VERSION);
	add_number(root, "protocol", MIMIC_PROTOCOL_VERSION);
	add_number(root, "pid", (uint64_t)getpid());
	add_text(root, "profile", mimic_config_profile_name(&engine->settings));
	for (const struct mimicd_instance *device = engine->first_named; device; device = device->next_named)
		json_object_array_add(devices, describe_device(device));
	for (struct mimicd_client *client = engine->clients; client; client = client->next) {
		if (!client->is_shown || client->broken ||
		    (client == asking && mimicd_client_only_inspects(client)))
			continue;
		json_object_array_add(sessions, describe_client(client));
		for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
			const struct mimicd_instance *instance = client->devices[i].instance;

			if (instance && instance->is_private)
				json_object_array_add(devices, describe_device(instance));
		}
	}
	json_object_object_add(root, "devices", devices);
	json_object_object_add(root, "sessions", sessions);
	json_object_object_add(root, "bindings", describe_bindings(engine));
	text = strdup(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY));
	json_object_put(root);
	return text;
}
