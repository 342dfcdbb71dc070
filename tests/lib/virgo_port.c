/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/virgo_port.h"

#include <stdlib.h>
#include <string.h>

static int port_post(void *context, unsigned int unit, const uint64_t *values, size_t count)
{
	struct virgo_port *port = context;

	port->posts++;
	if (port->on_post)
		port->on_post(port);
	if (port->post_error)
		return virgo_fail(port->post_error, "posts fail here");
	for (size_t i = 0; i < count; i++) {
		if (i % 3 == 2 && port->count < VIRGO_PORT_COMMANDS) {
			port->commands[port->count].unit = unit;
			port->commands[port->count].rs1 = values[i - 2];
			port->commands[port->count].rs2 = values[i - 1];
			port->commands[port->count++].word = (uint32_t)values[i];
		}
		if (!virgo_store(port->fixture, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(unit, STREAM), 8,
				 values[i]))
			virgo_run(port->fixture);
	}
	return 0;
}

/* What is loaded instead: the same, or what a device answers that has no room for one more who waits. */
static unsigned int wait_at(struct virgo_port *port, unsigned int offset)
{
	const unsigned int block = offset / VIRGO_BLOCK_SIZE * VIRGO_BLOCK_SIZE;

	port->waits++;
	port->last_wait = offset - block;
	if (port->on_wait)
		port->on_wait(port);
	if (!port->at_once)
		return offset;
	port->at_once--;
	return block + (port->last_wait == VIRGO_FENCE ? VIRGO_STATUS : VIRGO_LOOPS);
}

static int port_load(void *context, unsigned int page, unsigned int offset, uint64_t *value)
{
	struct virgo_port *port = context;

	if (port->identity && page == VIRGO_PAGE_CONTROL && offset == VIRGO_CONTROL_IDENTIFY) {
		*value = port->identity;
		return 0;
	}
	if (page == VIRGO_PAGE_UNITS && offset % VIRGO_BLOCK_SIZE >= VIRGO_FENCE)
		offset = wait_at(port, offset);
	*value = virgo_load(port->fixture, page, offset, 8);
	return 0;
}

static int port_store(void *context, unsigned int page, unsigned int offset, uint64_t value)
{
	struct virgo_port *port = context;

	virgo_store(port->fixture, page, offset, 8, value);
	return 0;
}

static int port_shared(void *context, void **memory, size_t *size)
{
	struct virgo_port *port = context;

	*memory = port->fixture->shared;
	*size = (size_t)port->fixture->config.shared_kb << 10;
	return 0;
}

static int port_eventfd(void *context, int fd, uint64_t events)
{
	struct virgo_port *port = context;

	port->fd = fd;
	port->events = events;
	return 0;
}

/* The last megabyte of the arena, once: the commands reach nothing else. */
static void *port_alloc(void *context, size_t size)
{
	struct virgo_port *port = context;

	if (port->alloc_fails || size > 1u << 20) {
		errno = ENOMEM;
		virgo_fail(-ENOMEM, "no memory here");
		return NULL;
	}
	return memset(port->fixture->arena + ARENA_BYTES - (1u << 20), 0, size);
}

static int port_free(void *context, void *memory)
{
	struct virgo_port *port = context;

	if (port->on_free)
		port->on_free(port, memory);
	if (memory != port->fixture->arena + ARENA_BYTES - (1u << 20))
		return virgo_fail(-EINVAL, "not allocated");
	return 0;
}

static int port_share(void *context, void *memory, size_t size)
{
	(void)context;
	(void)memory;
	return size ? 0 : virgo_fail(-EINVAL, "0 bytes");
}

static const char *port_name(void *context)
{
	(void)context;
	return "model";
}

static const char *port_transport(void *context)
{
	(void)context;
	return "test";
}

static void port_closed(void *context)
{
	((struct virgo_port *)context)->is_closed = true;
}

static const struct virgo_port_ops port_ops = {
	.post = port_post,
	.load = port_load,
	.store = port_store,
	.shared = port_shared,
	.eventfd = port_eventfd,
	.alloc = port_alloc,
	.free = port_free,
	.share = port_share,
	.unshare = port_share,
	.name = port_name,
	.transport = port_transport,
	.close = port_closed,
};

int virgo_port_try(struct virgo_port *port, struct virgo **virgo)
{
	return virgo_open_port(virgo, &port_ops, port);
}

struct virgo *virgo_port_open(struct virgo_port *port, const struct virgo_config *config)
{
	struct virgo_config one;
	struct virgo *virgo;

	memset(port, 0, sizeof(*port));
	if (config)
		one = *config;
	else
		virgo_config_default(&one);
	one.inline_jobs = 1;
	port->fixture = virgo_fixture_create(&one, 0);
	return virgo_port_try(port, &virgo) ? NULL : virgo;
}

void virgo_port_close(struct virgo_port *port, struct virgo *virgo)
{
	virgo_close(virgo);
	virgo_fixture_destroy(port->fixture);
}
