/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A virtual machine that has a device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "daemon/engine/binding.h"
#include "daemon/engine/restored.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/process.h"
#include "daemon/loop/log.h"
#include "daemon/vfio/internal.h"
#include "libmimic/base/clock.h"

static struct mimicd_engine *engine_of(const struct mimicd_machine *machine)
{
	return machine->function->vfio->engine;
}

/* --- owners -------------------------------------------------------------------------- */

static int make_owner(struct mimicd_machine *machine, struct mimicd_machine_access *access)
{
	access->machine = machine;
	access->owner = mimicd_owner_create(engine_of(machine), machine->processes, 0);
	if (!access->owner)
		return -ENOMEM;
	access->owner->traps++;
	return 0;
}

static int make_owners(struct mimicd_machine *machine)
{
	int error;

	if (!mimicd_process_get(&machine->processes, 1))
		return -ENOMEM;
	error = make_owner(machine, &machine->load);
	machine->loads_owner = machine->load.owner;
	machine->load.complete = mimicd_registers_load_is_done;
	for (unsigned int i = 0; i < MIMIC_KIND_PAGES_MAX && !error; i++) {
		machine->stores[i].complete = mimicd_registers_store_is_done;
		error = make_owner(machine, &machine->stores[i]);
	}
	for (unsigned int i = 0; i < MIMIC_PCI_SLOTS && !error; i++)
		error = make_owner(machine, &machine->slots[i]);
	return error;
}

static void free_owner(struct mimicd_machine *machine, struct mimicd_owner **owner)
{
	if (!*owner)
		return;
	(*owner)->traps--;
	mimicd_owner_free_unused(machine->processes, *owner);
	*owner = NULL;
}

static void free_owners(struct mimicd_machine *machine)
{
	free_owner(machine, &machine->loads_owner);
	for (unsigned int i = 0; i < MIMIC_KIND_PAGES_MAX; i++)
		free_owner(machine, &machine->stores[i].owner);
	for (unsigned int i = 0; i < MIMIC_PCI_SLOTS; i++)
		free_owner(machine, &machine->slots[i].owner);
	if (machine->processes)
		mimicd_process_free_unused(machine->processes);
}

/* --- reset ----------------------------------------------------------------------------- */

static void power_on(struct mimicd_machine *machine)
{
	struct mimicd_config_description description;

	mimicd_bars_describe(machine, &description);
	mimicd_config_init(&machine->connection.config, &description);
	mimicd_spaces_place_memory(machine);
}

/* No access waits afterwards, and no job reads the machine's memory. */
static void power_off(struct mimicd_machine *machine)
{
	mimicd_access_withdraw(&machine->load);
	machine->has_pending_store = machine->has_pending_load = false;
	mimicd_posted_forget(machine);
	for (unsigned int i = 0; i < MIMIC_KIND_PAGES_MAX; i++)
		mimicd_access_withdraw(&machine->stores[i]);
	mimicd_bus_page_reset(machine);
	mimicd_spaces_end(machine);
	mimicd_rings_reset(machine);
	/* Clears values stored without a space, too. Not if others have contexts of the device by now. */
	if (mimicd_instance_is_held(machine->instance) || mimicd_instance_is_bound(machine->instance))
		return;
	mimicd_restored_forget(machine->instance);
	machine->instance->model->ops->power_on(machine->instance->model, mimic_now());
}

/* Device, registers and spaces are as after power-on; memory and interrupts stay. */
static int reset(struct mimicd_connection *connection)
{
	struct mimicd_machine *machine = mimicd_machine_of(connection);
	struct mimicd_device_memory *memory = &machine->instance->device_memory;

	power_off(machine);
	power_on(machine);
	/* The machine keeps the descriptor of the device's memory: the same file, empty. */
	if (memory->base)
		memset(memory->base, 0, memory->size);
	return mimicd_spaces_begin(machine);
}

/* --- messages of its QEMU ---------------------------------------------------------------- */

static void describe(const struct mimicd_connection *connection,
		     struct mimicd_config_description *description)
{
	mimicd_bars_describe(mimicd_machine_of(connection), description);
}

static struct mimicd_bar_memory bar_memory(const struct mimicd_connection *connection, unsigned int bar)
{
	return mimicd_bars_memory(mimicd_machine_of(connection), bar);
}

static void access_registers(struct mimicd_connection *connection, bool is_write, uint64_t value)
{
	mimicd_registers_access(mimicd_machine_of(connection), is_write, value);
}

static void placed(struct mimicd_connection *connection)
{
	mimicd_spaces_place_memory(mimicd_machine_of(connection));
}

static int map(struct mimicd_connection *connection, const struct mimicd_vfio_dma_map *wanted, int fd)
{
	struct mimicd_machine *machine = mimicd_machine_of(connection);
	const struct mimicd_guest_range range = {
		.address = wanted->address, .size = wanted->size,
		.is_writable = wanted->flags & MIMICD_VFIO_MAP_WRITE,
	};
	const char *why;
	int error = mimicd_guest_memory_add(&machine->memory, fd, wanted->offset, range, &why);

	if (error)
		mimicd_log_of(connection->uid, MIMICD_LOG_WARNING,
			      "%s: memory of the machine at %#llx, %#llx bytes: %s", connection->path,
			      (unsigned long long)wanted->address, (unsigned long long)wanted->size, why);
	return error;
}

static int unmap(struct mimicd_connection *connection, const struct mimicd_vfio_dma_unmap *wanted)
{
	struct mimicd_machine *machine = mimicd_machine_of(connection);

	if (!(wanted->flags & MIMICD_VFIO_UNMAP_ALL))
		return mimicd_guest_memory_remove(&machine->memory, wanted->address, wanted->size);
	mimicd_guest_memory_clear(&machine->memory);
	return 0;
}

static unsigned int interrupt_count(const struct mimicd_connection *connection, unsigned int index)
{
	return mimicd_interrupt_count(mimicd_machine_of(connection), index);
}

static int set_interrupts(struct mimicd_connection *connection, const struct mimicd_vfio_irq_set *set,
			  const int *fds, unsigned int fd_count)
{
	return mimicd_interrupt_set(mimicd_machine_of(connection), set, fds, fd_count);
}

static void end(struct mimicd_connection *connection)
{
	mimicd_machine_end(mimicd_machine_of(connection));
}

static const struct mimicd_connection_ops machine_ops = {
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

/* --- made ------------------------------------------------------------------------------ */

static int take_device(struct mimicd_machine *machine)
{
	struct mimicd_instance *instance = machine->instance;
	int error = 0;

	if (machine->function->machine || !mimicd_binding_may_open(instance))
		return -EBUSY;
	if (instance->device_memory.base)
		error = mimicd_device_memory_open(&instance->device_memory, &instance->engine->memory_fixes);
	if (error)
		return error;
	error = mimicd_spaces_begin(machine);
	if (error && instance->device_memory.base)
		mimicd_device_memory_close(&instance->device_memory);
	return error;
}

/* By it a guest knows which functions belong together, of this daemon and others, now or plugged in anew. */
static int make_pair(struct mimicd_machine *machine)
{
	while (!machine->pair) {
		if (getrandom(&machine->pair, sizeof(machine->pair), 0) < 0 && errno != EINTR)
			return -errno;
	}
	return 0;
}

static int start(struct mimicd_machine *machine)
{
	int error = make_owners(machine);

	if (!error && machine->function->memory_path)
		error = make_pair(machine);
	if (!error && machine->function->has_rings)
		error = mimicd_rings_create(machine, mimicd_spaces_flush);
	machine->patience.expired = mimicd_registers_patience_ends;
	machine->patience.context = machine;
	machine->store_is_done.expired = mimicd_registers_posted_may_go_on;
	machine->store_is_done.context = machine;
	if (!error)
		error = mimicd_timer_create(&machine->patience, machine->connection.loop);
	if (!error)
		error = mimicd_timer_create(&machine->store_is_done, machine->connection.loop);
	if (error)
		return error;
	mimicd_bus_page_reset(machine);
	power_on(machine);
	return mimicd_connection_start(&machine->connection, machine->function->vfio->keeper);
}

static void free_machine(struct mimicd_machine *machine)
{
	mimicd_timer_destroy(&machine->patience);
	mimicd_timer_destroy(&machine->store_is_done);
	mimicd_guest_memory_destroy(&machine->memory);
	free(machine);
}

static struct mimicd_machine *allocate(struct mimicd_vfio_function *function, int fd)
{
	struct mimicd_machine *machine = calloc(1, sizeof(*machine));
	struct mimicd_loop *loop = function->vfio->engine->loop;

	if (!machine)
		return NULL;
	mimicd_connection_init(&machine->connection, &machine_ops, loop, function->path, fd);
	machine->function = function;
	machine->instance = function->function.instance;
	machine->patience.fd = -1;
	machine->store_is_done.fd = -1;
	memset(machine->eventfds, -1, sizeof(machine->eventfds));
	mimicd_guest_memory_init(&machine->memory, loop->closer);
	machine->memory.owner = machine->connection.uid;
	return machine;
}

int mimicd_machine_create(struct mimicd_vfio_function *function, int fd)
{
	struct mimicd_machine *machine = allocate(function, fd);
	int error;

	if (!machine) {
		mimicd_connection_turn_away(function->vfio->engine->loop, fd);
		return -ENOMEM;
	}
	/* One that is started anew at once is not to be refused. */
	if (function->machine && mimicd_connection_is_dead(&function->machine->connection))
		mimicd_machine_end(function->machine);
	error = mimicd_connection_check_user(&machine->connection);
	if (!error)
		error = take_device(machine);
	if (error) {
		mimicd_log_of(machine->connection.uid, MIMICD_LOG_WARNING,
			      "%s: a virtual machine (pid %d) does not get %s: %s", function->path,
			      (int)machine->connection.pid, machine->instance->name, strerror(-error));
		free_owners(machine);
		mimicd_connection_close(&machine->connection);
		free_machine(machine);
		return error;
	}
	function->machine = machine;
	error = start(machine);
	if (error) {
		mimicd_log(MIMICD_LOG_ERROR, "%s: %s", function->path, strerror(-error));
		mimicd_machine_end(machine);
		return error;
	}
	mimicd_log(MIMICD_LOG_INFO, "%s: a virtual machine (pid %d) has %s", function->path,
		   (int)machine->connection.pid, machine->instance->name);
	return 0;
}

/* --- ended ---------------------------------------------------------------------------- */

void mimicd_machine_end(struct mimicd_machine *machine)
{
	struct mimicd_vfio *vfio = machine->function->vfio;

	if (machine->connection.has_ended)
		return;
	machine->connection.has_ended = true;
	if (machine->memory_function)
		mimicd_memory_function_end(machine->memory_function);
	power_off(machine);
	mimicd_rings_destroy(machine);
	free_owners(machine);
	if (machine->instance->device_memory.base)
		mimicd_device_memory_close(&machine->instance->device_memory);
	mimicd_interrupt_forget(machine);
	mimicd_guest_memory_clear(&machine->memory);
	mimicd_connection_close(&machine->connection);
	machine->function->machine = NULL;
	machine->next = vfio->ended;
	vfio->ended = machine;
}

void mimicd_machines_free(struct mimicd_vfio *vfio)
{
	while (vfio->ended) {
		struct mimicd_machine *machine = vfio->ended;

		vfio->ended = machine->next;
		free_machine(machine);
	}
}
