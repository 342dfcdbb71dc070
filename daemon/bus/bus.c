/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/bus/bus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/bus/internal.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/recover.h"
#include "daemon/journal/journal.h"
#include "daemon/loop/log.h"
#include "libmimic/base/probe.h"

static int check_version(struct mimicd_bus *bus, struct mimic_bus_info *info, const char *path)
{
	int error;

	*info = (struct mimic_bus_info){ .size = sizeof(*info) };
	error = mimicd_bus_ioctl(bus, MIMIC_BUS_INFO, info);
	if (error == -ENOTTY) {
		mimicd_log(MIMICD_LOG_ERROR, "%s is no emulated bus", path);
	} else if (error) {
		mimicd_log(MIMICD_LOG_ERROR, "%s: INFO: %s", path, strerror(-error));
	} else if (info->version != MIMIC_BUS_VERSION || info->slots != MIMIC_BUS_SLOTS ||
		   info->slot_size != sizeof(struct mimic_bus_slot) ||
		   info->slots_size < MIMIC_BUS_SLOTS_SIZE) {
		mimicd_log(MIMICD_LOG_ERROR, "%s: mimic.ko speaks version %u of the bus, this daemon %u",
			   path, info->version, MIMIC_BUS_VERSION);
		error = -EPROTO;
	}
	return error;
}

static int register_all(struct mimicd_bus *bus)
{
	struct mimicd_engine *engine = bus->engine;
	unsigned int count = 0;
	int error = 0;

	bus->is_starting = true;
	for (struct mimicd_instance *device = engine->first_named; device; device = device->next_named) {
		int failed = mimicd_bus_function_add(bus, device);

		count += !failed;
		error = error ? error : failed;
		/* Once for all: that much time another daemon's end has had. */
		bus->is_starting &= failed != -EEXIST;
	}
	bus->is_starting = false;
	mimicd_log(MIMICD_LOG_INFO, "%u devices on the kernel's bus at %s (channel: %s)", count,
		   bus->options.path, bus->ring ? "io_uring" : "read and write");
	return error;
}

static int open_node(struct mimicd_bus *bus)
{
	const char *path = bus->options.path;
	bool is_required = bus->options.kernel == MIMICD_KERNEL_REQUIRED;

	if (mimicd_bus_take_over(bus))
		return 0;
	bus->fd = bus->ops->open(path);
	if (bus->fd == -ENOENT && !is_required)
		return -ENOENT;
	if (bus->fd >= 0)
		return 0;
	mimicd_log(is_required ? MIMICD_LOG_ERROR : MIMICD_LOG_WARNING,
		   "no devices in the kernel: cannot open %s: %s%s", path, strerror(-bus->fd),
		   bus->fd == -ENOENT ? " (is mimic.ko loaded?)" : "");
	return bus->fd;
}

static int set_up(struct mimicd_bus *bus)
{
	const char *path = bus->options.path;
	struct mimic_bus_info info;
	int error = open_node(bus);

	if (error)
		return error;
	error = check_version(bus, &info, path);
	/* Reading a page that is not present in a program is a SIGBUS that the probes recover from. */
	if (!error)
		error = mimic_probe_install_handlers();
	if (error)
		return error;
	mimic_probe_unblock_signals();
	error = mimicd_bus_channel_start(bus, info.slots_size);
	if (error) {
		mimicd_log(MIMICD_LOG_ERROR, "%s: no channel: %s", path, strerror(-error));
		return error;
	}
	error = mimicd_bus_keep(bus);
	if (error)
		return error;
	error = register_all(bus);
	mimicd_bus_recover(bus);
	return bus->options.kernel == MIMICD_KERNEL_REQUIRED ? error : 0;
}

static void free_bus(struct mimicd_bus *bus)
{
	mimicd_bus_channel_stop(bus);
	if (bus->fd >= 0)
		bus->ops->close(bus->fd);
	mimicd_timer_destroy(&bus->timer);
	free(bus);
}

/* Frees the functions of a lost bus here, where no call is using them. */
static void prepare(void *context)
{
	struct mimicd_bus *bus = context;

	if (!bus->is_lost || bus->is_cleared)
		return;
	bus->is_cleared = true;
	mimicd_bus_functions_forget(bus);
	mimicd_bus_keep_end(bus);
}

static int add_device(void *context, struct mimicd_instance *instance)
{
	return mimicd_bus_function_add(context, instance);
}

static const struct mimicd_front_end_ops front_end_ops = {
	.transport = "kernel",
	.poll = mimicd_bus_poll,
	.has_work = mimicd_bus_has_work,
	.prepare = prepare,
	.publish_cpu = mimicd_bus_publish_cpu,
	.publish_sleep = mimicd_bus_publish_sleep,
	.add_device = add_device,
	.record = mimicd_bus_record,
	.publish = mimicd_bus_publish,
	.recovered = mimicd_bus_recovered,
};

static int start(struct mimicd_bus *bus)
{
	int error = mimicd_timer_create(&bus->timer, bus->engine->loop);

	if (!error)
		error = set_up(bus);
	if (error)
		return error;
	bus->front_end = (struct mimicd_front_end){ .ops = &front_end_ops, .context = bus };
	mimicd_front_end_add(bus->engine, &bus->front_end);
	return 0;
}

/* We go on without the bus. Programs do not wait for a successor: it would find no record of the node. */
static void give_up(struct mimicd_bus *bus)
{
	if (!bus->before)
		return;
	mimicd_log(MIMICD_LOG_ERROR, "recovery: programs lose the devices that they have through the kernel");
	bus->engine->predecessor->has_lost_programs = true;
	bus->before = NULL;
}

int mimicd_bus_create(struct mimicd_bus **created, struct mimicd_engine *engine,
		      const struct mimicd_bus_options *options)
{
	struct mimicd_bus *bus;
	int error;

	if (options->kernel == MIMICD_KERNEL_OFF)
		return 0;
	bus = calloc(1, sizeof(*bus));
	if (!bus)
		return -ENOMEM;
	bus->engine = engine;
	bus->options = *options;
	bus->ops = options->ops ? options->ops : &mimicd_bus_system;
	/* A request that read() has taken is nowhere when we are killed. */
	if (mimicd_journal_is_on())
		bus->options.channel = MIMICD_CHANNEL_URING;
	bus->fd = -1;
	bus->current = -1;
	error = start(bus);
	if (!error) {
		*created = bus;
		return 0;
	}
	mimicd_bus_functions_forget(bus);
	if (options->kernel != MIMICD_KERNEL_REQUIRED)
		give_up(bus);
	mimicd_bus_keep_end(bus);
	free_bus(bus);
	/* Not the node's own error: a path that is not there is no mistake of the caller here. */
	return options->kernel == MIMICD_KERNEL_REQUIRED ? -ENOTCONN : 0;
}

void mimicd_bus_destroy(struct mimicd_bus *bus)
{
	if (!bus)
		return;
	mimicd_bus_keep_end(bus);
	/* Nothing is answered: a process that waits learns from the closing of the node. */
	bus->is_lost = true;
	mimicd_bus_functions_forget(bus);
	mimicd_front_end_remove(bus->engine, &bus->front_end);
	free_bus(bus);
}
