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
		if (function->machine && function->machine->connection.is_lost)
			mimicd_machine_end(function->machine);
	}
	mimicd_memory_functions_free(context);
	mimicd_machines_free(context);
	mimicd_vfio_functions_free(context);
}

/* A device of that name was there before: its socket still is. */
static int add_device(void *context, struct mimicd_instance *instance)
{
	struct mimicd_vfio *vfio = context;

	for (unsigned int i = 0; i < vfio->listener_count; i++) {
		struct mimicd_vfio_listener *listener = &vfio->listeners[i];
		int error = 0;

		if (!listener->function && !strcmp(listener->device, instance->name))
			error = mimicd_vfio_function_add(listener, instance);
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

/* --- listeners of the options -------------------------------------------------------------- */

static int open_listener(struct mimicd_vfio *vfio, const char *text)
{
	struct mimicd_vfio_listener *listener = &vfio->listeners[vfio->listener_count++];
	struct mimicd_instance *instance;
	const char *why = NULL;
	int error;

	listener->vfio = vfio;
	error = mimicd_vfio_listener_parse(listener, text, &why);
	if (!error)
		error = mimicd_instance_find(vfio->engine, listener->device, &instance);
	if (error && !why) {
		mimicd_log(MIMICD_LOG_ERROR, "--vfio-user %s: there is no device %s; [DEVICE=]PATH[,msi][,rings]"
			   "[,memory=PATH] is needed, and the device is the file's name without .sock if none is "
			   "named", text, listener->device);
		return error;
	}
	if (!error && listener->memory.path && !instance->device_memory.size && !listener->has_rings)
		why = "it has neither memory nor ,rings, so that a function with memory= would have nothing";
	if (why) {
		mimicd_log(MIMICD_LOG_ERROR, "--vfio-user %s: %s", text, why);
		return -EINVAL;
	}
	error = mimicd_vfio_listener_open(listener);
	return error ? error : mimicd_vfio_function_add(listener, instance);
}

/* --- made ------------------------------------------------------------------------------------ */

int mimicd_vfio_create(struct mimicd_vfio **created, struct mimicd_engine *engine,
		       struct mimicd_keeper *keeper, const struct mimicd_vfio_options *options)
{
	struct mimicd_vfio *vfio;
	int error = 0;

	if (!options->count)
		return 0;
	vfio = calloc(1, sizeof(*vfio));
	if (!vfio)
		return -ENOMEM;
	vfio->engine = engine;
	vfio->keeper = keeper;
	vfio->listeners = calloc(options->count, sizeof(*vfio->listeners));
	if (!vfio->listeners) {
		free(vfio);
		return -ENOMEM;
	}
	vfio->front_end = (struct mimicd_front_end){ .ops = &front_end_ops, .context = vfio };
	mimicd_front_end_add(engine, &vfio->front_end);
	for (unsigned int i = 0; i < options->count && !error; i++)
		error = open_listener(vfio, options->sockets[i]);
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
	for (unsigned int i = 0; i < vfio->listener_count; i++)
		mimicd_vfio_listener_close(&vfio->listeners[i]);
	free(vfio->listeners);
	free(vfio);
}
