/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/instance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/binding.h"
#include "daemon/engine.h"
#include "daemon/log.h"
#include "daemon/session.h"
#include "devices/maple/maple_model.h"
#include "libmimic/transport.h"

#define KIND "maple"

/* Once a session: a program can make its device hang as often as it likes. */
static void log_report(void *context, const char *text)
{
	struct mimicd_instance *instance = context;
	bool *reported;

	if (instance->binding)
		reported = &instance->binding->reported;
	else if (instance->session)
		reported = &instance->session->reported;
	else
		return;
	if (*reported)
		return;
	*reported = true;
	mimicd_log(MIMICD_LOG_WARNING, "%s (%s, pid %d): %s", instance->name,
		   instance->binding ? instance->binding->program : instance->session->program,
		   (int)(instance->binding ? instance->binding->pid : instance->session->pid), text);
}

/*
 * Where a driver serves the device's faults, it makes the page present. The
 * interrupt is raised here and not by the model, which raises none after a
 * program has waived it: that is between program and operating system on the
 * hardware, and here only the driver can end the wait.
 */
static enum mimic_fault_answer page_fault(void *context, uint64_t address, unsigned int source)
{
	struct mimicd_instance *instance = context;

	(void)address;
	(void)source;
	if (!instance->binding)
		return MIMIC_FAULT_BAD;
	if (!mimicd_inject_interrupt(instance))
		return MIMIC_FAULT_STALL;
	return mimicd_bus_interrupt(instance->server, instance) ? MIMIC_FAULT_BAD : MIMIC_FAULT_STALL;
}

static int create_model(struct mimicd_server *server, struct mimicd_instance *instance)
{
	struct mimic_host host = {
		.context = instance,
		.complete = mimicd_engine_complete,
		.report = log_report,
		.page_fault = page_fault,
	};

	instance->server = server;
	mimicd_memory_port(&host.memory, &instance->memory);
	instance->model = maple_model_create(&server->options.settings.maple, &host);
	return instance->model ? 0 : -errno;
}

static void destroy(struct mimicd_instance *instance)
{
	if (instance->model)
		maple_model_destroy(instance->model);
	free(instance);
}

static int create_named(struct mimicd_server *server, unsigned int number)
{
	struct mimicd_instance *instance = calloc(1, sizeof(*instance));
	int error;

	if (!instance)
		return -ENOMEM;
	instance->index = number;
	snprintf(instance->name, sizeof(instance->name), KIND "%u", number);
	error = create_model(server, instance);
	if (error) {
		mimicd_log(MIMICD_LOG_ERROR, "cannot make %s: %s", instance->name, strerror(-error));
		destroy(instance);
		return error;
	}
	server->named[number] = instance;
	if (number >= server->named_count)
		server->named_count = number + 1;
	return 0;
}

static void remove_named(struct mimicd_server *server, unsigned int number)
{
	destroy(server->named[number]);
	server->named[number] = NULL;
	while (server->named_count && !server->named[server->named_count - 1])
		server->named_count--;
}

int mimicd_instances_create(struct mimicd_server *server)
{
	int error = 0;

	for (unsigned int i = 0; !error && i < server->options.settings.maple_count; i++)
		error = create_named(server, i);
	return error;
}

void mimicd_instances_destroy(struct mimicd_server *server)
{
	for (unsigned int i = 0; i < server->named_count; i++) {
		if (server->named[i])
			destroy(server->named[i]);
		server->named[i] = NULL;
	}
	server->named_count = 0;
}

/* A decimal number as it is written in a device's name: no sign, no leading 0, nothing after it. */
static int parse_number(const char *text, unsigned int *number)
{
	char canonical[12];

	if (sscanf(text, "%9u", number) != 1)
		return -EINVAL;
	snprintf(canonical, sizeof(canonical), "%u", *number);
	return strcmp(canonical, text) ? -EINVAL : 0;
}

/* A number that no command in any lane can still mean. */
static int find_slot(struct mimicd_session *session, uint32_t *number)
{
	*number = 0;
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		if (session->devices[i].instance || session->devices[i].closed)
			continue;
		*number = i;
		return 0;
	}
	for (struct mimicd_lane *lane = session->lanes; lane; lane = lane->next) {
		if (!mimicd_engine_is_done(lane))
			return -EMFILE;
	}
	for (uint32_t i = MIMIC_SESSION_DEVICES; i-- > 0;) {
		session->devices[i].closed = false;
		if (!session->devices[i].instance)
			*number = i;
	}
	return session->devices[*number].instance ? -EMFILE : 0;
}

/* May this session have it? One of a kernel's process only gets what the process has open. */
static bool is_for(const struct mimicd_session *session, const struct mimicd_instance *instance)
{
	if (session->process)
		return instance->binding && instance->binding->process == session->process;
	return !instance->binding && (!instance->session || instance->session == session);
}

static int find_any(const struct mimicd_session *session, struct mimicd_instance **found)
{
	const struct mimicd_server *server = session->server;
	int error = -ENODEV;

	for (unsigned int i = 0; i < server->named_count; i++) {
		struct mimicd_instance *instance = server->named[i];

		if (!instance)
			continue;
		error = -EBUSY;
		/* One that the session holds already is not another one. */
		if (instance->session || !is_for(session, instance))
			continue;
		*found = instance;
		return 0;
	}
	return error;
}

static int find_named(const struct mimicd_session *session, const char *name,
		      struct mimicd_instance **found)
{
	const struct mimicd_server *server = session->server;
	unsigned int number;

	if (!*name)
		return find_any(session, found);
	if (parse_number(name, &number) < 0)
		return -ENOENT;
	if (number >= server->named_count || !server->named[number])
		return -ENODEV;
	*found = server->named[number];
	return is_for(session, *found) ? 0 : -EBUSY;
}

static int create_private(struct mimicd_session *session, const char *tile,
			  struct mimicd_instance **created)
{
	struct mimicd_instance *instance;
	unsigned int number;
	int error;

	if (parse_number(tile, &number) < 0)
		return -ENOENT;
	if (number >= MAPLE_PHYSICAL_TILES)
		return -ENODEV;
	if (session->private_devices == MIMIC_SESSION_PRIVATE_DEVICES)
		return -EMFILE;
	instance = calloc(1, sizeof(*instance));
	if (!instance)
		return -ENOMEM;
	snprintf(instance->name, sizeof(instance->name), KIND "@%u", number);
	instance->is_private = true;
	error = create_model(session->server, instance);
	if (error) {
		destroy(instance);
		return error;
	}
	session->private_devices++;
	*created = instance;
	return 0;
}

static struct mimicd_device_slot *find_slot_of(struct mimicd_session *session,
					       const struct mimicd_instance *instance)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		if (session->devices[i].instance == instance)
			return &session->devices[i];
	}
	return NULL;
}

static struct mimicd_device_slot *find_held(struct mimicd_session *session, const char *name)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		const struct mimicd_instance *instance = session->devices[i].instance;

		if (instance && !strcmp(instance->name, name))
			return &session->devices[i];
	}
	return NULL;
}

static int find(struct mimicd_session *session, const char *name, struct mimicd_instance **found)
{
	const char *rest = name + strlen(KIND);

	if (strncmp(name, KIND, strlen(KIND)))
		return -ENOENT;
	if (*rest == '@')
		return create_private(session, rest + 1, found);
	return find_named(session, rest, found);
}

int mimicd_instance_open(struct mimicd_session *session, const char *name, uint32_t *number)
{
	struct mimicd_device_slot *slot = find_held(session, name);
	struct mimicd_instance *instance = NULL;
	uint32_t free_number;
	int error;

	if (!slot) {
		error = find_slot(session, &free_number);
		if (!error)
			error = find(session, name, &instance);
		if (error)
			return error;
		/* "maple" may name one of the process's that this session has already. */
		slot = find_slot_of(session, instance);
	}
	if (slot) {
		slot->opens++;
		*number = (uint32_t)(slot - session->devices);
		return 0;
	}
	if (!instance->binding) {
		instance->session = session;
		instance->memory.memory = &session->memory;
	}
	session->devices[free_number].instance = instance;
	session->devices[free_number].opens = 1;
	*number = free_number;
	return 0;
}

/* Nobody waits in the device any more, and what is still in a lane for it has no effect. */
static void detach_lanes(struct mimicd_session *session, struct mimicd_instance *instance)
{
	for (struct mimicd_lane *lane = session->lanes; lane; lane = lane->next) {
		if (lane->target != instance)
			continue;
		if (lane->parked)
			mimicd_engine_withdraw(lane);
		lane->target = NULL;
	}
}

void mimicd_instance_detach(struct mimicd_session *session, struct mimicd_instance *instance)
{
	struct mimicd_device_slot *slot = find_slot_of(session, instance);

	if (!slot)
		return;
	detach_lanes(session, instance);
	slot->instance = NULL;
	slot->opens = 0;
	slot->closed = true;
}

static void give_back(struct mimicd_session *session, struct mimicd_device_slot *slot)
{
	struct mimicd_instance *instance = slot->instance;

	mimicd_instance_detach(session, instance);
	/* The process still has it, by its node. */
	if (instance->binding)
		return;
	if (instance->is_private) {
		destroy(instance);
		session->private_devices--;
		return;
	}
	instance->model->ops->power_on(instance->model, mimic_now());
	mimicd_inject_reset(instance);
	instance->session = NULL;
	instance->memory.memory = NULL;
}

int mimicd_instance_find(struct mimicd_server *server, const char *name,
			 struct mimicd_instance **found)
{
	unsigned int number;

	if (strncmp(name, KIND, strlen(KIND)) || parse_number(name + strlen(KIND), &number))
		return -ENOENT;
	if (number >= server->named_count || !server->named[number])
		return -ENODEV;
	*found = server->named[number];
	return 0;
}

int mimicd_instance_add(struct mimicd_server *server, const char *kind, char *name)
{
	int error = -ENOSPC;

	if (strcmp(kind, KIND))
		return -ENOENT;
	for (unsigned int number = 0; number < MIMICD_DEVICES_MAX; number++) {
		if (server->named[number])
			continue;
		error = create_named(server, number);
		if (error)
			return error;
		error = mimicd_bus_register(server, server->named[number]);
		if (!error) {
			strcpy(name, server->named[number]->name);
			mimicd_log(MIMICD_LOG_INFO, "%s was added", name);
			return 0;
		}
		remove_named(server, number);
		/* Another daemon's of that number is no reason to have none. */
		if (error != -EEXIST)
			return error;
	}
	return error;
}

int mimicd_instance_remove(struct mimicd_server *server, const char *name)
{
	struct mimicd_instance *instance;
	int error = mimicd_instance_find(server, name, &instance);

	if (error)
		return error;
	mimicd_log(MIMICD_LOG_INFO, "%s is removed%s", instance->name,
		   instance->session || instance->binding ? " while a program has it" : "");
	/* First in the kernel: no access comes after this. */
	mimicd_bus_unregister(server, instance);
	if (instance->binding)
		mimicd_binding_close(server->bus, instance->binding);
	if (instance->session)
		mimicd_instance_detach(instance->session, instance);
	if (server->bus)
		mimicd_requests_drop(server->bus, instance);
	remove_named(server, instance->index);
	return 0;
}

int mimicd_instance_close(struct mimicd_session *session, uint32_t number)
{
	struct mimicd_device_slot *slot;

	if (number >= MIMIC_SESSION_DEVICES || !session->devices[number].instance)
		return -ENODEV;
	slot = &session->devices[number];
	if (--slot->opens)
		return 0;
	/* What was posted before the close still counts where it can. */
	mimicd_engine_drain(session);
	give_back(session, slot);
	return 0;
}

void mimicd_instances_release(struct mimicd_session *session)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		if (session->devices[i].instance)
			give_back(session, &session->devices[i]);
	}
}
