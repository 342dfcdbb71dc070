/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The address spaces of a machine: for the engine, each is a process that has the device. */
#include <errno.h>
#include <string.h>

#include "daemon/engine/binding.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/process.h"
#include "daemon/loop/log.h"
#include "daemon/vfio/internal.h"

/* A device without contexts belongs to the machine whole, by its first space, in any mode of that. */
static bool is_wanted(const struct mimicd_machine *machine, unsigned int number)
{
	if (!machine->instance->kind->contexts)
		return number == 0;
	return machine->spaces[number].mode != MIMIC_PCI_MODE_NONE;
}

static int open_space(struct mimicd_machine *machine, unsigned int number)
{
	const struct mimic_kind *kind = machine->instance->kind;
	struct mimicd_machine_space *space = &machine->spaces[number];
	struct mimicd_binding *binding = &space->binding;
	int error;

	if (!mimicd_binding_may_open(machine->instance))
		return -EBUSY;
	memset(binding, 0, sizeof(*binding));
	binding->function = &machine->function->function;
	binding->process = mimicd_process_get(&machine->processes, 1);
	binding->number = number + 1;
	binding->program = (struct mimicd_program){
		.pid = machine->connection.pid, .uid = machine->connection.uid, .is_machine = true,
	};
	strcpy(binding->program.name, "virtual machine");
	mimicd_space_init(&space->space, &machine->memory, &machine->aperture, kind->jobs != NULL,
			  !kind->jobs && kind->is_flush, &binding->port);
	error = binding->process ? mimicd_binding_open(binding) : -ENOMEM;
	space->is_open = !error;
	return error;
}

static void close_space(struct mimicd_machine *machine, unsigned int number)
{
	struct mimicd_machine_space *space = &machine->spaces[number];

	if (!space->is_open)
		return;
	mimicd_rings_end_space(machine, number);
	space->is_open = false;
	mimicd_binding_close(&space->binding);
}

void mimicd_spaces_set(struct mimicd_machine *machine, unsigned int number)
{
	struct mimicd_machine_space *space = &machine->spaces[number];
	int error = 0;

	if (!is_wanted(machine, number)) {
		close_space(machine, number);
		return;
	}
	if (space->mode == MIMIC_PCI_MODE_NONE)
		mimicd_rings_end_space(machine, number);
	if (!space->is_open)
		error = open_space(machine, number);
	if (!error)
		error = mimicd_space_set(&space->space, space->mode, space->root);
	if (error)
		mimicd_log_of(machine->connection.uid, MIMICD_LOG_WARNING, "%s: space %u with mode %llu: %s",
			      machine->connection.path,
			      number + 1, (unsigned long long)space->mode, strerror(-error));
}

void mimicd_spaces_flush(struct mimicd_machine *machine)
{
	for (unsigned int i = 0; i < MIMIC_PCI_SPACES; i++) {
		if (machine->spaces[i].is_open)
			mimicd_space_flush(&machine->spaces[i].space);
	}
}

/* Where the machine has placed the device's memory; 0: nowhere. */
static uint64_t memory_address(const struct mimicd_machine *machine)
{
	const struct mimicd_connection *connection = &machine->connection;

	if (machine->function->memory_path && !machine->memory_function)
		return 0;
	if (machine->memory_function)
		connection = &machine->memory_function->connection;
	return mimicd_config_bar(&connection->config, MIMIC_PCI_BAR_MEMORY);
}

void mimicd_spaces_place_memory(struct mimicd_machine *machine)
{
	uint64_t address = memory_address(machine);
	struct mimicd_aperture aperture = { .address = address, .base = machine->instance->device_memory.base };

	if (address)
		aperture.size = machine->instance->device_memory.size;
	if (aperture.address == machine->aperture.address && aperture.size == machine->aperture.size)
		return;
	pthread_rwlock_wrlock(&machine->memory.lock);
	machine->aperture = aperture;
	pthread_rwlock_unlock(&machine->memory.lock);
	mimicd_spaces_flush(machine);
}

int mimicd_spaces_begin(struct mimicd_machine *machine)
{
	return is_wanted(machine, 0) ? open_space(machine, 0) : 0;
}

void mimicd_spaces_end(struct mimicd_machine *machine)
{
	for (unsigned int i = 0; i < MIMIC_PCI_SPACES; i++)
		close_space(machine, i);
}
