/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/bus/bus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "daemon/bus/binding.h"
#include "daemon/loop/log.h"
#include "libmimic/base/probe.h"

#define REGISTER_TRIES 100	/* of 10 ms */

#define INTERRUPT_LINE 0

static int bus_ioctl(struct mimicd_bus *bus, unsigned long request, void *argument)
{
	return bus->is_lost ? -ENODEV : bus->ops->ioctl(bus->fd, request, argument);
}

static int check_version(struct mimicd_bus *bus, struct mimic_bus_info *info, const char *path)
{
	int error;

	*info = (struct mimic_bus_info){ .size = sizeof(*info) };
	error = bus_ioctl(bus, MIMIC_BUS_INFO, info);
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

static void stop_ring(struct mimicd_bus *bus)
{
	if (bus->ring)
		bus->ops->ring_destroy(bus->ring);
	bus->ring = NULL;
	/* From now on the kernel wakes us for each request: it cannot know when we look. */
	if (bus->header)
		__atomic_store_n(&bus->header->sleeping, 1, __ATOMIC_SEQ_CST);
	if (bus->header)
		bus->ops->unmap(bus->header, bus->slots_size);
	bus->header = NULL;
	bus->slots = NULL;
}

static int start_ring(struct mimicd_bus *bus, size_t size)
{
	void *memory = bus->ops->map(bus->fd, size, MIMIC_BUS_SLOTS_OFFSET);
	int error;

	if (!memory)
		return -errno;
	bus->header = memory;
	bus->slots = (struct mimic_bus_slot *)((char *)memory + MIMIC_BUS_HEADER_SIZE);
	bus->slots_size = size;
	error = bus->ops->ring_create(bus->fd, &bus->ring, &bus->ring_fd);
	if (error) {
		bus->ring = NULL;
		stop_ring(bus);
		return error;
	}
	__atomic_store_n(&bus->header->cpu, bus->engine->cpu, __ATOMIC_RELAXED);
	return mimicd_loop_watch(bus->engine->loop, bus->ring_fd, EPOLLIN, &bus->source);
}

static int start_channel(struct mimicd_bus *bus, const struct mimic_bus_info *info)
{
	enum mimicd_channel wanted = bus->options.channel;
	int error;

	if (wanted != MIMICD_CHANNEL_READ) {
		error = start_ring(bus, info->slots_size);
		if (!error)
			return 0;
		if (wanted == MIMICD_CHANNEL_URING) {
			mimicd_log(MIMICD_LOG_ERROR, "--channel uring: %s", strerror(-error));
			return error;
		}
	}
	return mimicd_loop_watch(bus->engine->loop, bus->fd, EPOLLIN, &bus->source);
}

/* The kernel refused a passthrough command; read() and write() mean the same. */
static int leave_ring(struct mimicd_bus *bus, int error)
{
	if (bus->options.channel == MIMICD_CHANNEL_URING)
		return error;
	mimicd_log(MIMICD_LOG_WARNING, "the bus: io_uring commands fail (%s): using read and write",
		   strerror(-error));
	stop_ring(bus);
	bus->is_readable = true;
	return mimicd_loop_watch(bus->engine->loop, bus->fd, EPOLLIN, &bus->source);
}

/* A daemon that was killed a moment ago may still have it: the kernel ends its io_uring later. */
static int register_patiently(struct mimicd_bus *bus, struct mimic_bus_register *wanted)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	int error, tries = 0;

	for (;;) {
		error = bus_ioctl(bus, MIMIC_BUS_REGISTER, wanted);
		if (error != -EEXIST || !bus->is_starting || tries++ == REGISTER_TRIES)
			break;
		nanosleep(&pause, NULL);
	}
	return error;
}

int mimicd_bus_register(struct mimicd_engine *engine, struct mimicd_instance *instance)
{
	struct mimic_bus_register wanted = {
		.size = sizeof(wanted),
		.index = (int32_t)instance->index,
		.pages = instance->kind->device_pages,
		.interrupts = 1,
		.capabilities = MIMIC_BUS_TRAPS | MIMIC_BUS_WINDOW_ACCESS,
		.void_pages = instance->kind->void_pages,
		.memory_size = (uint32_t)instance->device_memory.size,
	};
	int error;

	if (!engine->bus)
		return 0;
	snprintf(wanted.kind, sizeof(wanted.kind), "%s", instance->kind->name);
	error = register_patiently(engine->bus, &wanted);
	if (error) {
		mimicd_log(MIMICD_LOG_WARNING, "%s is not on the kernel's bus: %s", instance->name,
			   error == -EEXIST ? "another daemon has that number, or left it behind with other properties" :
			   strerror(-error));
		return error;
	}
	instance->on_bus = true;
	instance->bus_device = wanted.device;
	return 0;
}

void mimicd_bus_unregister(struct mimicd_engine *engine, struct mimicd_instance *instance)
{
	struct mimic_bus_unregister unwanted = { .size = sizeof(unwanted), .device = instance->bus_device };
	int error;

	if (!instance->on_bus)
		return;
	error = bus_ioctl(engine->bus, MIMIC_BUS_UNREGISTER, &unwanted);
	if (error)
		mimicd_log(MIMICD_LOG_WARNING, "%s cannot be taken off the bus: %s", instance->name,
			   strerror(-error));
	instance->on_bus = false;
}

int mimicd_bus_map_memory(struct mimicd_bus *bus, struct mimicd_instance *instance)
{
	const struct mimicd_device_memory *memory = &instance->device_memory;

	if (!memory->base)
		return 0;
	return bus->ops->map_at(bus->fd, memory->base, memory->size, MIMIC_BUS_MEMORY(instance->bus_device));
}

int mimicd_bus_interrupt(struct mimicd_engine *engine, struct mimicd_instance *instance)
{
	struct mimic_bus_interrupt raise = {
		.size = sizeof(raise), .device = instance->bus_device, .line = INTERRUPT_LINE,
	};

	if (!engine->bus || !instance->on_bus)
		return -ENODEV;
	return bus_ioctl(engine->bus, MIMIC_BUS_INTERRUPT, &raise);
}

static int register_all(struct mimicd_engine *engine)
{
	unsigned int count = 0;
	int error = 0;

	engine->bus->is_starting = true;
	for (unsigned int i = 0; i < engine->named_count; i++) {
		int failed;

		if (!engine->named[i])
			continue;
		failed = mimicd_bus_register(engine, engine->named[i]);
		count += !failed;
		error = error ? error : failed;
		/* Once for all: that much time another daemon's end has had. */
		engine->bus->is_starting &= failed != -EEXIST;
	}
	engine->bus->is_starting = false;
	mimicd_log(MIMICD_LOG_INFO, "%u devices on the kernel's bus at %s (channel: %s)", count,
		   engine->bus->options.path, engine->bus->ring ? "io_uring" : "read and write");
	return error;
}

static int set_up(struct mimicd_bus *bus)
{
	struct mimicd_engine *engine = bus->engine;
	const char *path = bus->options.path;
	bool is_required = bus->options.kernel == MIMICD_KERNEL_REQUIRED;
	struct mimic_bus_info info;
	int error;

	bus->fd = bus->ops->open(path);
	if (bus->fd == -ENOENT && !is_required)
		return -ENOENT;
	if (bus->fd < 0) {
		mimicd_log(is_required ? MIMICD_LOG_ERROR : MIMICD_LOG_WARNING,
			   "no devices in the kernel: cannot open %s: %s%s", path, strerror(-bus->fd),
			   bus->fd == -ENOENT ? " (is mimic.ko loaded?)" : "");
		return bus->fd;
	}
	error = check_version(bus, &info, path);
	/* Reading a page that is not present in a program is a SIGBUS that the probes recover from. */
	if (!error)
		error = mimic_probe_install_handlers();
	if (error)
		return error;
	mimic_probe_unblock_signals();
	error = start_channel(bus, &info);
	if (error) {
		mimicd_log(MIMICD_LOG_ERROR, "%s: no channel: %s", path, strerror(-error));
		return error;
	}
	engine->bus = bus;
	error = register_all(engine);
	return is_required ? error : 0;
}

static void free_bus(struct mimicd_bus *bus)
{
	if (bus->ring)
		bus->ops->ring_destroy(bus->ring);
	if (bus->header)
		bus->ops->unmap(bus->header, bus->slots_size);
	if (bus->fd >= 0)
		bus->ops->close(bus->fd);
	mimicd_timer_destroy(&bus->timer);
	free(bus);
}

void mimicd_bus_lose(struct mimicd_bus *bus, int error)
{
	if (bus->is_lost)
		return;
	bus->is_lost = true;
	bus->engine->reap = true;
	mimicd_log(MIMICD_LOG_ERROR, "the kernel's bus is gone: %s", strerror(-error));
	/* It would wake us for ever. */
	mimicd_loop_forget(bus->engine->loop, bus->ring ? bus->ring_fd : bus->fd);
}

/* What was on the bus when it was lost goes here, where nothing is in the middle of it. */
static void prepare(void *context)
{
	struct mimicd_bus *bus = context;

	if (!bus->is_lost || bus->is_cleared)
		return;
	bus->is_cleared = true;
	while (bus->bindings)
		mimicd_binding_close(bus, bus->bindings);
	for (unsigned int i = 0; i < bus->engine->named_count; i++) {
		if (bus->engine->named[i])
			bus->engine->named[i]->on_bus = false;
	}
}

static void publish_sleep(void *context, bool sleeps)
{
	struct mimicd_bus *bus = context;
	int error = 0;

	if (!bus->ring || bus->is_lost)
		return;
	if (sleeps && !bus->fetch_is_parked) {
		error = bus->ops->ring_fetch(bus->ring, -1);
		bus->fetch_is_parked = !error;
		if (error && leave_ring(bus, error))
			mimicd_bus_lose(bus, error);
	}
	bus->was_asleep |= sleeps;
	if (bus->header)
		__atomic_store_n(&bus->header->sleeping, sleeps, __ATOMIC_RELAXED);
}

static void publish_cpu(void *context, int cpu)
{
	struct mimicd_bus *bus = context;

	if (bus->header)
		__atomic_store_n(&bus->header->cpu, cpu, __ATOMIC_RELAXED);
}

/* The node or the ring has something. */
static void wake(void *context)
{
	struct mimicd_bus *bus = context;
	int got;

	if (!bus->ring) {
		bus->is_readable = true;
		return;
	}
	got = bus->ops->ring_reap(bus->ring);
	if (!got)
		return;
	bus->fetch_is_parked = false;
	if (got == -ENODEV)
		mimicd_bus_lose(bus, got);
	else if (got < 0 && leave_ring(bus, got))
		mimicd_bus_lose(bus, got);
}

static bool poll(void *context, bool is_idle)
{
	return mimicd_bus_round(context, is_idle);
}

static bool has_work(void *context)
{
	return mimicd_bus_has_work(context);
}

static const struct mimicd_front_end_ops front_end_ops = {
	.poll = poll,
	.has_work = has_work,
	.prepare = prepare,
	.publish_cpu = publish_cpu,
	.publish_sleep = publish_sleep,
};

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
	bus->fd = -1;
	bus->current = -1;
	bus->source = (struct mimicd_source){ wake, bus };
	error = mimicd_timer_create(&bus->timer, engine->loop);
	if (!error)
		error = set_up(bus);
	if (!error) {
		bus->front_end = (struct mimicd_front_end){ .ops = &front_end_ops, .context = bus };
		mimicd_front_end_add(engine, &bus->front_end);
		*created = bus;
		return 0;
	}
	engine->bus = NULL;
	for (unsigned int i = 0; i < engine->named_count; i++) {
		if (engine->named[i])
			engine->named[i]->on_bus = false;
	}
	free_bus(bus);
	/* Not the node's own error: a path that is not there is no mistake of the caller here. */
	return options->kernel == MIMICD_KERNEL_REQUIRED ? -ENOTCONN : 0;
}

void mimicd_bus_destroy(struct mimicd_bus *bus)
{
	if (!bus)
		return;
	/* Nothing is answered: a process that waits learns from the closing of the node. */
	bus->is_lost = true;
	while (bus->bindings)
		mimicd_binding_close(bus, bus->bindings);
	mimicd_front_end_remove(bus->engine, &bus->front_end);
	bus->engine->bus = NULL;
	free_bus(bus);
}
