/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A device's memory and lanes as a function of their own. QEMU connects its devices one after the other
 * and asks for the sizes of BARs at once, so the registers have to be there before: they are the device,
 * and with them this function goes. It is given to the process that has them, and to no other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"
#include "daemon/loop/log.h"
#include "daemon/vfio/internal.h"

static struct mimicd_memory_function *memory_of(const struct mimicd_connection *connection)
{
	return (struct mimicd_memory_function *)(uintptr_t)connection;
}

/* --- messages of its QEMU ---------------------------------------------------------------- */

static void describe(const struct mimicd_connection *connection,
		     struct mimicd_config_description *description)
{
	mimicd_bars_describe_memory(memory_of(connection)->machine, description);
}

static struct mimicd_bar_memory bar_memory(const struct mimicd_connection *connection, unsigned int bar)
{
	return mimicd_bars_memory(memory_of(connection)->machine, bar);
}

static void access_registers(struct mimicd_connection *connection, bool is_write, uint64_t value)
{
	const struct mimicd_vfio_region_access *access = mimicd_region_asked(connection);
	const struct mimicd_machine *machine = memory_of(connection)->machine;
	unsigned int size = access->count;

	if (is_write) {
		mimicd_region_answer_store(connection);
		return;
	}
	if (size >= 4 && access->offset % size == 0)
		value = mimicd_bus_page_load_memory(machine, (unsigned int)access->offset, size);
	mimicd_region_answer_load(connection, &value, size);
}

static void placed(struct mimicd_connection *connection)
{
	mimicd_spaces_place_memory(memory_of(connection)->machine);
}

/* The device has the machine's memory by the registers' connection. */
static int map(struct mimicd_connection *connection, const struct mimicd_vfio_dma_map *wanted, int fd)
{
	(void)connection;
	(void)wanted;
	(void)fd;
	return 0;
}

static int unmap(struct mimicd_connection *connection, const struct mimicd_vfio_dma_unmap *wanted)
{
	(void)connection;
	(void)wanted;
	return 0;
}

static unsigned int interrupt_count(const struct mimicd_connection *connection, unsigned int index)
{
	(void)connection;
	(void)index;
	return 0;
}

static int set_interrupts(struct mimicd_connection *connection, const struct mimicd_vfio_irq_set *set,
			  const int *fds, unsigned int fd_count)
{
	(void)connection;
	(void)set;
	(void)fds;
	(void)fd_count;
	return -EINVAL;
}

/* The memory's content is the device's: a reset of the device clears it. */
static int reset(struct mimicd_connection *connection)
{
	struct mimicd_config_description description;

	describe(connection, &description);
	mimicd_config_init(&connection->config, &description);
	placed(connection);
	return 0;
}

static void end(struct mimicd_connection *connection)
{
	mimicd_memory_function_end(memory_of(connection));
}

static const struct mimicd_connection_ops memory_ops = {
	.describe = describe,
	.bar_memory = bar_memory,
	.access_registers = access_registers,
	.placed = placed,
	.map = map,
	.unmap = unmap,
	.interrupt_count = interrupt_count,
	.set_interrupts = set_interrupts,
	.reset = reset,
	.end = end,
};

/* --- made -------------------------------------------------------------------------------- */

/* NULL: the connection may have it. */
static const char *refusal(const struct mimicd_connection *connection, const struct mimicd_machine *machine)
{
	if (mimicd_connection_check_user(connection))
		return "the machine is another user's";
	if (!machine)
		return "they have to be connected first";
	if (connection->pid != machine->connection.pid || connection->uid != machine->connection.uid)
		return "another process has them";
	if (machine->memory_function)
		return "it has it already";
	return NULL;
}

/* NULL: it is the machine's. */
static const char *take(struct mimicd_memory_function *memory, struct mimicd_machine *machine)
{
	const char *why = refusal(&memory->connection, machine);

	if (why)
		return why;
	memory->machine = machine;
	reset(&memory->connection);
	if (mimicd_connection_start(&memory->connection, machine->function->vfio->keeper))
		return strerror(ENOMEM);
	machine->memory_function = memory;
	return NULL;
}

int mimicd_memory_function_create(struct mimicd_vfio_function *function, int fd)
{
	struct mimicd_memory_function *memory = calloc(1, sizeof(*memory));
	struct mimicd_loop *loop = function->vfio->engine->loop;
	struct mimicd_machine *machine = function->machine;
	const char *name = function->function.instance->name, *path = function->memory_path, *why;
	int pid;

	if (!memory) {
		mimicd_connection_turn_away(loop, fd);
		return -ENOMEM;
	}
	mimicd_connection_init(&memory->connection, &memory_ops, loop, path, fd);
	pid = (int)memory->connection.pid;
	/* The same QEMU may plug it in anew before the loop has come to the end of the last one. */
	if (machine && machine->memory_function &&
	    mimicd_connection_is_dead(&machine->memory_function->connection))
		mimicd_memory_function_end(machine->memory_function);
	why = take(memory, machine);
	if (!why) {
		mimicd_log(MIMICD_LOG_INFO, "%s: a virtual machine (pid %d) has the memory of %s", path, pid, name);
		return 0;
	}
	mimicd_log_of(memory->connection.uid, MIMICD_LOG_WARNING,
		      "%s: a virtual machine (pid %d) does not get the memory of %s, whose registers are at %s: %s",
		      path, pid, name, function->path, why);
	mimicd_connection_close(&memory->connection);
	free(memory);
	return -EPERM;
}

/* --- ended ------------------------------------------------------------------------------- */

void mimicd_memory_function_end(struct mimicd_memory_function *memory)
{
	struct mimicd_machine *machine = memory->machine;
	struct mimicd_vfio *vfio = machine->function->vfio;

	if (memory->connection.has_ended)
		return;
	machine->memory_function = NULL;
	mimicd_spaces_place_memory(machine);
	mimicd_connection_close(&memory->connection);
	memory->next = vfio->ended_memories;
	vfio->ended_memories = memory;
}

void mimicd_memory_functions_free(struct mimicd_vfio *vfio)
{
	while (vfio->ended_memories) {
		struct mimicd_memory_function *memory = vfio->ended_memories;

		vfio->ended_memories = memory->next;
		free(memory);
	}
}
