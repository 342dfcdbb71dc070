/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/instance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	struct mimicd_session *session = instance->session;

	if (!session || session->reported)
		return;
	session->reported = true;
	mimicd_log(MIMICD_LOG_WARNING, "%s (%s, pid %d): %s", instance->name, session->program,
		   (int)session->pid, text);
}

static int create_model(struct mimicd_server *server, struct mimicd_instance *instance)
{
	struct mimic_host host = {
		.context = instance,
		.complete = mimicd_engine_complete,
		.report = log_report,
	};

	mimicd_memory_port(&host.memory, &instance->memory);
	instance->model = maple_model_create(&server->options.settings.maple, &host);
	return instance->model ? 0 : -errno;
}

int mimicd_instances_create(struct mimicd_server *server)
{
	unsigned int count = server->options.settings.maple_count;

	server->named = calloc(count ? count : 1, sizeof(*server->named));
	if (!server->named)
		return -ENOMEM;
	for (unsigned int i = 0; i < count; i++) {
		struct mimicd_instance *instance = &server->named[i];
		int error;

		snprintf(instance->name, sizeof(instance->name), KIND "%u", i);
		error = create_model(server, instance);
		if (!error)
			continue;
		mimicd_log(MIMICD_LOG_ERROR, "cannot make %s: %s", instance->name, strerror(-error));
		return error;
	}
	return 0;
}

void mimicd_instances_destroy(struct mimicd_server *server)
{
	if (!server->named)
		return;
	for (unsigned int i = 0; i < server->options.settings.maple_count; i++) {
		if (server->named[i].model)
			maple_model_destroy(server->named[i].model);
	}
	free(server->named);
	server->named = NULL;
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

static int find_named(struct mimicd_session *session, const char *name,
		      struct mimicd_instance **found)
{
	struct mimicd_server *server = session->server;
	unsigned int count = server->options.settings.maple_count;
	unsigned int number;

	if (!*name) {
		for (number = 0; number < count && server->named[number].session; number++)
			;
		if (number == count)
			return count ? -EBUSY : -ENODEV;
	} else if (parse_number(name, &number) < 0) {
		return -ENOENT;
	}
	if (number >= count)
		return -ENODEV;
	*found = &server->named[number];
	if ((*found)->session && (*found)->session != session)
		return -EBUSY;
	return 0;
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
		free(instance);
		return error;
	}
	session->private_devices++;
	*created = instance;
	return 0;
}

static struct mimicd_instance *find_held(struct mimicd_session *session, const char *name,
					 uint32_t *number)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		struct mimicd_instance *instance = session->devices[i].instance;

		if (!instance || strcmp(instance->name, name))
			continue;
		*number = i;
		return instance;
	}
	return NULL;
}

int mimicd_instance_open(struct mimicd_session *session, const char *name, uint32_t *number)
{
	struct mimicd_instance *instance = find_held(session, name, number);
	const char *rest = name + strlen(KIND);
	int error;

	if (instance) {
		instance->opens++;
		return 0;
	}
	if (strncmp(name, KIND, strlen(KIND)))
		return -ENOENT;
	error = find_slot(session, number);
	if (!error && *rest == '@')
		error = create_private(session, rest + 1, &instance);
	else if (!error)
		error = find_named(session, rest, &instance);
	if (error)
		return error;
	instance->session = session;
	instance->memory.memory = &session->memory;
	instance->opens = 1;
	session->devices[*number].instance = instance;
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

static void give_back(struct mimicd_session *session, struct mimicd_device_slot *slot)
{
	struct mimicd_instance *instance = slot->instance;

	detach_lanes(session, instance);
	slot->instance = NULL;
	slot->closed = true;
	if (instance->is_private) {
		maple_model_destroy(instance->model);
		free(instance);
		session->private_devices--;
		return;
	}
	instance->model->ops->power_on(instance->model, mimic_now());
	instance->session = NULL;
	instance->memory.memory = NULL;
	instance->opens = 0;
}

int mimicd_instance_close(struct mimicd_session *session, uint32_t number)
{
	struct mimicd_device_slot *slot;

	if (number >= MIMIC_SESSION_DEVICES || !session->devices[number].instance)
		return -ENODEV;
	slot = &session->devices[number];
	if (--slot->instance->opens)
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
