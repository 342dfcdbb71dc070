/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The channel to the kernel: shared slots and io_uring, or read() and write(); sleeping and waking. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "daemon/bus/internal.h"
#include "daemon/engine/engine.h"
#include "daemon/loop/log.h"

static void stop_ring(struct mimicd_bus *bus)
{
	if (bus->ring)
		bus->ops->ring_destroy(bus->ring);
	bus->ring = NULL;
	/* From now on the kernel wakes us for each request: it cannot know when we poll. */
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
	__atomic_store_n(&bus->header->cpu, bus->engine->loop_shard.cpu, __ATOMIC_RELAXED);
	return mimicd_loop_watch(bus->engine->loop, bus->ring_fd, EPOLLIN, &bus->source);
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

int mimicd_bus_channel_start(struct mimicd_bus *bus, size_t slots_size)
{
	enum mimicd_channel wanted = bus->options.channel;
	int error;

	bus->source = (struct mimicd_source){ wake, bus };
	if (wanted != MIMICD_CHANNEL_READ) {
		error = start_ring(bus, slots_size);
		if (!error)
			return 0;
		if (wanted == MIMICD_CHANNEL_URING) {
			mimicd_log(MIMICD_LOG_ERROR, "--channel uring: %s", strerror(-error));
			return error;
		}
	}
	return mimicd_loop_watch(bus->engine->loop, bus->fd, EPOLLIN, &bus->source);
}

void mimicd_bus_channel_stop(struct mimicd_bus *bus)
{
	if (bus->ring)
		bus->ops->ring_destroy(bus->ring);
	if (bus->header)
		bus->ops->unmap(bus->header, bus->slots_size);
}

void mimicd_bus_publish_sleep(void *context, bool sleeps)
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

void mimicd_bus_publish_cpu(void *context, int cpu)
{
	struct mimicd_bus *bus = context;

	if (bus->header)
		__atomic_store_n(&bus->header->cpu, cpu, __ATOMIC_RELAXED);
}
