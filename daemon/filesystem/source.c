/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/filesystem/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/front_end.h"
#include "daemon/engine/manage.h"

/* --- the root ----------------------------------------------------------------------- */

static void visit_transports(const struct mimicd_engine *engine, const struct mimic_state_visitor *visitor)
{
	const struct mimicd_front_end *front_end = engine->front_ends;
	char names[64] = "";
	size_t length = 0;

	for (; front_end; front_end = front_end->next) {
		if (front_end->ops->transport && length < sizeof(names))
			length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%s",
						   length ? " " : "", front_end->ops->transport);
	}
	mimic_state_text(visitor, "transport", names, "how programs reach the devices");
}

static void visit_root(const struct mimicd_engine *engine, const struct mimic_state_visitor *visitor)
{
	char *config = mimicd_source_config(engine);

	mimic_state_text(visitor, "version", MIMIC_VERSION, "of mimicd");
	visit_transports(engine, visitor);
	mimic_state_decimal(visitor, "pid", (uint64_t)getpid(), "of mimicd");
	if (config)
		mimic_state_text(visitor, "config", config, "the settings, as a configuration file");
	free(config);
	mimic_state_enter(visitor, "devices");
	mimic_state_leave(visitor, "devices");
	mimic_state_enter(visitor, "clients");
	mimic_state_leave(visitor, "clients");
}

/* --- devices -------------------------------------------------------------------------- */

static void folder(const struct mimic_state_visitor *visitor, const char *name)
{
	mimic_state_enter(visitor, name);
	mimic_state_leave(visitor, name);
}

static void visit_private(const struct mimicd_client *client,
			  const struct mimic_state_visitor *visitor)
{
	for (uint32_t i = 0; client->private_devices && i < MIMIC_SESSION_DEVICES; i++) {
		const struct mimicd_instance *instance = client->devices[i].instance;
		char name[MIMIC_NAME_MAX + 16];

		if (!instance || !instance->is_private)
			continue;
		/* As mimicd_device_find() knows it: each process may have one of that name. */
		snprintf(name, sizeof(name), "%s:%d", instance->name, (int)client->program.pid);
		folder(visitor, name);
	}
}

static void visit_devices(const struct mimicd_engine *engine, const struct mimic_state_visitor *visitor)
{
	for (const struct mimicd_instance *device = engine->first_named; device; device = device->next_named)
		folder(visitor, device->name);
	for (struct mimicd_client *client = engine->clients; client; client = client->next) {
		if (!client->broken)
			visit_private(client, visitor);
	}
}

/* --- clients ---------------------------------------------------------------------------- */

/* A process, which may have several sessions and several devices through the kernel. */
struct summary {
	bool is_there;
	const char *program;
	uid_t uid;
	uint64_t threads, commands, accesses, shared_bytes, remote_reads, refused_reads;
	char devices[1024];
};

static void add_device(struct summary *summary, const char *name)
{
	size_t length = strlen(summary->devices);

	snprintf(summary->devices + length, sizeof(summary->devices) - length, "%s%s", length ? "\n" : "",
		 name);
}

static void add_client(struct summary *summary, const struct mimicd_client *client)
{
	summary->is_there = true;
	summary->program = client->program.name;
	summary->uid = client->program.uid;
	summary->commands += client->commands;
	summary->remote_reads += client->memory.remote_reads;
	summary->refused_reads += client->memory.refused;
	for (uint32_t i = 1; i <= MIMIC_SESSION_THREADS; i++)
		summary->threads += client->threads[i] != NULL;
	for (size_t i = 0; i < client->memory.count; i++)
		summary->shared_bytes += client->memory.ranges[i].size;
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		if (client->devices[i].instance)
			add_device(summary, client->devices[i].instance->name);
	}
}

static void add_binding(struct summary *summary, const struct mimicd_binding *binding)
{
	summary->is_there = true;
	summary->program = binding->program.name;
	summary->uid = binding->program.uid;
	summary->accesses += binding->accesses;
	add_device(summary, binding->instance->name);
}

static bool is_shown(const struct mimicd_client *client)
{
	return client->is_shown && !client->broken;
}

static void look_for(const struct mimicd_engine *engine, pid_t pid, struct summary *summary)
{
	for (struct mimicd_client *client = engine->clients; client; client = client->next) {
		if (client->program.pid == pid && is_shown(client))
			add_client(summary, client);
	}
	for (struct mimicd_binding *binding = engine->bindings; binding;
	     binding = binding->next) {
		if (binding->program.pid == pid)
			add_binding(summary, binding);
	}
}

static void visit_owner(const struct mimic_state_visitor *visitor, uint64_t number, uint64_t thread)
{
	char name[24];

	snprintf(name, sizeof(name), "%llu", (unsigned long long)number);
	mimic_state_decimal(visitor, name, thread, "the thread that devices call so");
}

static void visit_owners(const struct mimicd_engine *engine, pid_t pid,
			 const struct mimic_state_visitor *visitor)
{
	const struct mimicd_process *seen = NULL;

	for (struct mimicd_client *client = engine->clients; client; client = client->next) {
		for (uint32_t i = 1; client->program.pid == pid && is_shown(client) && i <= MIMIC_SESSION_THREADS; i++) {
			if (client->threads[i])
				visit_owner(visitor, client->threads[i]->owner, i);
		}
	}
	for (struct mimicd_binding *binding = engine->bindings; binding;
	     binding = binding->next) {
		/* All bindings of a process have the same threads. */
		if (binding->program.pid != pid || binding->process == seen)
			continue;
		seen = binding->process;
		for (unsigned int i = 0; i < MIMICD_THREAD_CHAINS; i++) {
			for (struct mimicd_owner *owner = seen->owners[i]; owner; owner = owner->next)
				visit_owner(visitor, owner->number, (uint64_t)owner->tid);
		}
	}
}

static void visit_client(const struct mimicd_tree_source *source,
			 const struct mimic_state_visitor *visitor)
{
	struct summary summary = { 0 };

	look_for(source->engine, source->pid, &summary);
	if (!summary.is_there)
		return;
	mimic_state_text(visitor, "program", summary.program, "its name");
	mimic_state_decimal(visitor, "uid", summary.uid, "its user");
	mimic_state_text(visitor, "devices", summary.devices, "devices that it has open, one a line");
	mimic_state_decimal(visitor, "threads", summary.threads, "that have lanes");
	mimic_state_decimal(visitor, "commands", summary.commands, "executed for it");
	mimic_state_decimal(visitor, "accesses", summary.accesses, "trapped by the kernel for it");
	mimic_state_decimal(visitor, "shared_bytes", summary.shared_bytes, "memory that it shares");
	mimic_state_decimal(visitor, "remote_reads", summary.remote_reads,
			    "reads and writes of memory that it does not share");
	mimic_state_decimal(visitor, "refused_reads", summary.refused_reads, "those that were refused");
	mimic_state_enter(visitor, "owners");
	visit_owners(source->engine, source->pid, visitor);
	mimic_state_leave(visitor, "owners");
}

/* A pid that an earlier one in the lists had has its folder already. */
static bool is_first(const struct mimicd_engine *engine, const struct mimicd_client *client,
		     const struct mimicd_binding *binding, pid_t pid)
{
	struct mimicd_client *other = engine->clients;
	struct mimicd_binding *earlier = engine->bindings;

	for (; other && other != client; other = other->next) {
		if (other->program.pid == pid && is_shown(other))
			return false;
	}
	for (; !client && earlier && earlier != binding; earlier = earlier->next) {
		if (earlier->program.pid == pid)
			return false;
	}
	return true;
}

static void visit_clients(const struct mimicd_engine *engine, const struct mimic_state_visitor *visitor)
{
	for (struct mimicd_client *client = engine->clients; client; client = client->next) {
		if (!is_shown(client) || !is_first(engine, client, NULL, client->program.pid))
			continue;
		mimic_state_enter_number(visitor, (unsigned int)client->program.pid);
		mimic_state_leave_number(visitor, (unsigned int)client->program.pid);
	}
	for (struct mimicd_binding *binding = engine->bindings; binding;
	     binding = binding->next) {
		if (!is_first(engine, NULL, binding, binding->program.pid))
			continue;
		mimic_state_enter_number(visitor, (unsigned int)binding->program.pid);
		mimic_state_leave_number(visitor, (unsigned int)binding->program.pid);
	}
}

/* --- paths --------------------------------------------------------------------------------- */

/* The rest of the path behind `name`; NULL: the path does not begin with it. */
static const char *after_name(const char *path, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(path, name, length) || (path[length] && path[length] != '/'))
		return NULL;
	return path + length + (path[length] == '/');
}

static int find_device(const char *path, uid_t uid, struct mimicd_tree_source *source,
		       const char **rest)
{
	size_t length = strcspn(path, "/");
	char name[MIMIC_NAME_MAX + 16];
	int error;

	if (length >= sizeof(name))
		return -ENOENT;
	snprintf(name, sizeof(name), "%.*s", (int)length, path);
	error = mimicd_device_find(source->engine, name, uid, &source->instance);
	if (error)
		return error == -EPERM ? -EACCES : -ENOENT;
	source->of = MIMICD_OF_DEVICE;
	*rest = path + length + (path[length] == '/');
	return 0;
}

static int find_client(const char *path, struct mimicd_tree_source *source, const char **rest)
{
	size_t length = strcspn(path, "/");
	struct summary summary = { 0 };
	unsigned int pid;
	char name[16];

	if (length >= sizeof(name))
		return -ENOENT;
	snprintf(name, sizeof(name), "%.*s", (int)length, path);
	if (!mimic_kind_number(name, &pid))
		return -ENOENT;
	look_for(source->engine, (pid_t)pid, &summary);
	if (!summary.is_there)
		return -ENOENT;
	source->of = MIMICD_OF_CLIENT;
	source->pid = (pid_t)pid;
	*rest = path + length + (path[length] == '/');
	return 0;
}

size_t mimicd_source_length(const char *path)
{
	const char *name = after_name(path, "devices");

	if (!name)
		name = after_name(path, "clients");
	return name ? (size_t)(name - path) + strcspn(name, "/") : 0;
}

int mimicd_source_find(struct mimicd_engine *engine, const char *path, uid_t uid,
		       struct mimicd_tree_source *source, const char **rest)
{
	const char *devices = after_name(path, "devices"), *clients = after_name(path, "clients");

	*source = (struct mimicd_tree_source){ .engine = engine };
	*rest = "";
	if (devices && *devices)
		return find_device(devices, uid, source, rest);
	if (clients && *clients)
		return find_client(clients, source, rest);
	source->of = devices ? MIMICD_OF_DEVICES : clients ? MIMICD_OF_CLIENTS : MIMICD_OF_ROOT;
	if (source->of == MIMICD_OF_ROOT)
		*rest = path;
	return 0;
}

void mimicd_source_visit(const struct mimicd_tree_source *source, uint64_t now,
			 const struct mimic_state_visitor *visitor)
{
	switch (source->of) {
	case MIMICD_OF_ROOT:
		visit_root(source->engine, visitor);
		return;
	case MIMICD_OF_DEVICES:
		visit_devices(source->engine, visitor);
		return;
	case MIMICD_OF_DEVICE:
		source->instance->kind->state(source->instance->model, now, visitor);
		return;
	case MIMICD_OF_CLIENTS:
		visit_clients(source->engine, visitor);
		return;
	case MIMICD_OF_CLIENT:
		visit_client(source, visitor);
		return;
	}
}
