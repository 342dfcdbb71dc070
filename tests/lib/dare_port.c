/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/dare_port.h"

#include <stdlib.h>
#include <string.h>

static uint8_t *byte_at(struct dare_port *port, uint64_t address)
{
	for (size_t i = 0; i < DARE_PORT_RANGES; i++) {
		uint64_t offset = address - (uintptr_t)port->ranges[i].start;

		if (offset < port->ranges[i].size)
			return port->ranges[i].start + offset;
	}
	return NULL;
}

static int read_byte(void *context, uint64_t address, uint8_t *byte)
{
	const uint8_t *at = byte_at(context, address);

	if (!at)
		return -EFAULT;
	*byte = *at;
	return 0;
}

static int write_byte(void *context, uint64_t address, uint8_t byte)
{
	uint8_t *at = byte_at(context, address);

	if (!at)
		return -EFAULT;
	*at = byte;
	return 0;
}

void dare_port_allow(struct dare_port *port, void *start, size_t size)
{
	for (size_t i = 0; i < DARE_PORT_RANGES; i++) {
		if (port->ranges[i].start)
			continue;
		port->ranges[i].start = start;
		port->ranges[i].size = size;
		return;
	}
	abort();
}

static int port_post(void *context, const uint64_t *values, size_t count)
{
	struct dare_port *port = context;

	port->posts++;
	port->values += count;
	if (port->post_error)
		return dare_fail(port->post_error, "posts fail here");
	for (size_t i = 0; i < count; i++)
		dare_oracle_stream(&port->oracle, values[i]);
	return 0;
}

static int port_load(void *context, unsigned int offset, uint64_t *value)
{
	struct dare_port *port = context;
	const struct dare_oracle *oracle = &port->oracle;

	*value = 0;
	switch (offset) {
	case DARE_IDENTIFY:
		*value = DARE_MAGIC << 32 | DARE_VERSION << 24;
		return 0;
	case DARE_FENCE:
		*value = oracle->error ? DARE_STATUS_ERROR : 0;
		return 0;
	case DARE_ERROR:
		*value = oracle->error;
		return 0;
	case DARE_ERROR_INSTRUCTION:
		*value = oracle->error_instruction;
		return 0;
	case DARE_ERROR_POSITION:
		*value = oracle->error_position;
		return 0;
	case DARE_ERROR_ADDRESS:
		*value = oracle->error_address;
		return 0;
	case DARE_ERROR_ROW:
		*value = oracle->error_row;
		return 0;
	case DARE_MATRIX_M:
		*value = oracle->matrix_m;
		return 0;
	case DARE_MATRIX_K:
		*value = oracle->matrix_k;
		return 0;
	case DARE_MATRIX_N:
		*value = oracle->matrix_n;
		return 0;
	default:
		/* Each counter answers its place in the list and one thousand. */
		*value = 1000 + (offset - DARE_COUNTER_OFFSET) / 8;
		return 0;
	}
}

static int port_store(void *context, unsigned int offset, uint64_t value)
{
	struct dare_port *port = context;

	(void)value;
	if (offset == DARE_ERROR)
		dare_oracle_clear_error(&port->oracle);
	else if (offset == DARE_RESET)
		dare_oracle_reset(&port->oracle);
	return 0;
}

static void *port_alloc(void *context, size_t size)
{
	struct dare_port *port = context;
	void *memory = NULL;

	if (port->alloc_fails || posix_memalign(&memory, 4096, size)) {
		errno = ENOMEM;
		return NULL;
	}
	memset(memory, 0, size);
	for (size_t i = 0; i < DARE_PORT_RANGES; i++) {
		if (port->ranges[i].start)
			continue;
		port->ranges[i].start = memory;
		port->ranges[i].size = size;
		port->ranges[i].is_allocated = true;
		return memory;
	}
	abort();
}

static int port_free(void *context, void *memory)
{
	struct dare_port *port = context;

	for (size_t i = 0; i < DARE_PORT_RANGES; i++) {
		if (port->ranges[i].start != memory || !port->ranges[i].is_allocated)
			continue;
		memset(&port->ranges[i], 0, sizeof(port->ranges[i]));
		free(memory);
		return 0;
	}
	return dare_fail(-EINVAL, "not allocated");
}

static int port_share(void *context, void *memory, size_t size)
{
	dare_port_allow(context, memory, size);
	return 0;
}

static int port_unshare(void *context, void *memory, size_t size)
{
	struct dare_port *port = context;

	for (size_t i = 0; i < DARE_PORT_RANGES; i++) {
		if (port->ranges[i].start != memory || port->ranges[i].size != size)
			continue;
		memset(&port->ranges[i], 0, sizeof(port->ranges[i]));
		return 0;
	}
	return dare_fail(-EINVAL, "not shared");
}

static const char *port_name(void *context)
{
	(void)context;
	return "interpreter";
}

static const char *port_transport(void *context)
{
	(void)context;
	return "test";
}

static void port_close(void *context)
{
	((struct dare_port *)context)->is_closed = true;
}

static const struct dare_port_ops port_ops = {
	.post = port_post,
	.load = port_load,
	.store = port_store,
	.alloc = port_alloc,
	.free = port_free,
	.share = port_share,
	.unshare = port_unshare,
	.name = port_name,
	.transport = port_transport,
	.close = port_close,
};

struct dare *dare_port_open(struct dare_port *port)
{
	struct dare *dare;

	memset(port, 0, sizeof(*port));
	port->memory = (struct dare_oracle_memory){ port, read_byte, write_byte };
	dare_oracle_power_on(&port->oracle, &port->memory);
	return dare_open_port(&dare, &port_ops, port) ? NULL : dare;
}
