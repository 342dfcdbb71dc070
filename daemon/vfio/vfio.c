/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/vfio/vfio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"
#include "daemon/loop/log.h"
#include "daemon/vfio/function.h"
#include "libmimic/base/clock.h"

/* --- the front end ----------------------------------------------------------------------- */

static bool poll(void *context, bool is_idle)
{
	struct mimicd_vfio *vfio = context;
	uint64_t now = mimic_now();
	bool worked = false;

	(void)is_idle;
	for (struct mimicd_vfio_function *function = vfio->functions; function; function = function->next) {
		if (function->machine)
			worked |= mimicd_accesses_release(function->machine, now);
	}
	return worked;
}

static void prepare(void *context)
{
	struct mimicd_vfio *vfio = context;

	for (struct mimicd_vfio_function *function = vfio->functions; function; function = function->next) {
		if (function->machine && function->machine->is_lost)
			mimicd_machine_end(function->machine);
	}
	mimicd_machines_free(context);
	mimicd_vfio_functions_free(context);
}

/* A device of that name was there before, and had a socket. */
static int add_device(void *context, struct mimicd_instance *instance)
{
	struct mimicd_vfio *vfio = context;

	for (unsigned int i = 0; i < vfio->socket_count; i++) {
		int error;

		if (strcmp(vfio->sockets[i].device, instance->name))
			continue;
		error = mimicd_vfio_function_add(vfio, instance, &vfio->sockets[i]);
		if (error)
			return error;
	}
	return 0;
}

static const struct mimicd_front_end_ops front_end_ops = {
	.transport = "pci",
	.poll = poll,
	.prepare = prepare,
	.add_device = add_device,
};

/* --- what was asked for -------------------------------------------------------------------- */

/* [DEVICE=]PATH[,msi] */
static int parse(struct mimicd_vfio_socket *socket, const char *text)
{
	static const char msi[] = ",msi", suffix[] = ".sock";
	const char *equals = strchr(text, '='), *path = text, *name = text;
	size_t length;

	if (equals && !memchr(text, '/', (size_t)(equals - text)))
		path = equals + 1;
	socket->path = strdup(path);
	if (!socket->path)
		return -ENOMEM;
	length = strlen(socket->path);
	socket->has_msi = length > strlen(msi) && !strcmp(socket->path + length - strlen(msi), msi);
	if (socket->has_msi)
		socket->path[length - strlen(msi)] = 0;
	if (path == text) {
		name = strrchr(socket->path, '/') ? strrchr(socket->path, '/') + 1 : socket->path;
		length = strlen(name);
		if (length > strlen(suffix) && !strcmp(name + length - strlen(suffix), suffix))
			length -= strlen(suffix);
	} else {
		length = (size_t)(equals - text);
	}
	if (!length || length >= sizeof(socket->device))
		return -EINVAL;
	memcpy(socket->device, name, length);
	return 0;
}

static int open_socket(struct mimicd_vfio *vfio, const char *text)
{
	struct mimicd_vfio_socket *socket = &vfio->sockets[vfio->socket_count];
	struct mimicd_instance *instance;
	int error;

	error = parse(socket, text);
	vfio->socket_count++;
	if (!error)
		error = mimicd_instance_find(vfio->engine, socket->device, &instance);
	if (!error)
		return mimicd_vfio_function_add(vfio, instance, socket);
	mimicd_log(MIMICD_LOG_ERROR, "--vfio-user %s: there is no device %s; [DEVICE=]PATH[,msi] is needed, and the "
		   "device is the file's name without .sock if none is named", text, socket->device);
	return error;
}

/* --- made ------------------------------------------------------------------------------------ */

int mimicd_vfio_create(struct mimicd_vfio **created, struct mimicd_engine *engine,
		       const struct mimicd_vfio_options *options)
{
	struct mimicd_vfio *vfio;
	int error = 0;

	if (!options->count)
		return 0;
	vfio = calloc(1, sizeof(*vfio));
	if (!vfio)
		return -ENOMEM;
	vfio->engine = engine;
	vfio->sockets = calloc(options->count, sizeof(*vfio->sockets));
	if (!vfio->sockets) {
		free(vfio);
		return -ENOMEM;
	}
	vfio->front_end = (struct mimicd_front_end){ .ops = &front_end_ops, .context = vfio };
	mimicd_front_end_add(engine, &vfio->front_end);
	for (unsigned int i = 0; i < options->count && !error; i++)
		error = open_socket(vfio, options->sockets[i]);
	if (error)
		mimicd_vfio_destroy(vfio);
	else
		*created = vfio;
	return error;
}

void mimicd_vfio_destroy(struct mimicd_vfio *vfio)
{
	if (!vfio)
		return;
	while (vfio->functions)
		mimicd_vfio_function_remove(vfio->functions);
	prepare(vfio);
	mimicd_front_end_remove(vfio->engine, &vfio->front_end);
	mimicd_signaller_destroy(&vfio->signaller);
	for (unsigned int i = 0; i < vfio->socket_count; i++)
		free(vfio->sockets[i].path);
	free(vfio->sockets);
	free(vfio);
}
