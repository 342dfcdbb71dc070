/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Devices on the bus. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/bus/binding.h"
#include "daemon/bus/internal.h"
#include "daemon/engine/engine.h"
#include "daemon/loop/log.h"

#define REGISTER_TRIES 100	/* of 10 ms */
#define INTERRUPT_LINE 0

static struct mimicd_bus_function *function_of(struct mimicd_function *function)
{
	return (struct mimicd_bus_function *)function;
}

static int raise_interrupt(struct mimicd_function *function)
{
	const struct mimicd_bus_function *self = function_of(function);
	struct mimic_bus_interrupt raise = {
		.size = sizeof(raise), .device = self->device, .line = INTERRUPT_LINE,
	};

	return mimicd_bus_ioctl(self->bus, MIMIC_BUS_INTERRUPT, &raise);
}

static void free_function(struct mimicd_bus_function *function)
{
	struct mimicd_bus_function **link = &function->bus->functions;

	mimicd_instance_remove_function(function->function.instance, &function->function);
	while (*link != function)
		link = &(*link)->next;
	*link = function->next;
	free(function);
}

/* First in the kernel: no access comes after this. */
static void remove_function(struct mimicd_function *function)
{
	struct mimicd_bus_function *self = function_of(function);
	struct mimicd_instance *instance = function->instance;
	struct mimic_bus_unregister unwanted = { .size = sizeof(unwanted), .device = self->device };
	int error = mimicd_bus_ioctl(self->bus, MIMIC_BUS_UNREGISTER, &unwanted);

	if (error)
		mimicd_log(MIMICD_LOG_WARNING, "%s cannot be taken off the bus: %s", instance->name,
			   strerror(-error));
	mimicd_bus_bindings_close(self);
	mimicd_requests_drop(self->bus, instance);
	free_function(self);
}

static const struct mimicd_function_ops function_ops = {
	.transport = "kernel",
	.interrupt = raise_interrupt,
	.remove = remove_function,
	.map_memory = mimicd_bus_binding_map_memory,
	.fault_in = mimicd_bus_binding_fault_in,
	.lose = mimicd_bus_binding_lose,
};

/* A daemon that was killed a moment ago may still have it: the kernel ends its io_uring later. */
static int register_patiently(struct mimicd_bus *bus, struct mimic_bus_register *wanted)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	int error, tries = 0;

	for (;;) {
		error = mimicd_bus_ioctl(bus, MIMIC_BUS_REGISTER, wanted);
		if (error != -EEXIST || !bus->is_starting || tries++ == REGISTER_TRIES)
			break;
		nanosleep(&pause, NULL);
	}
	return error;
}

static int register_device(struct mimicd_bus *bus, const struct mimicd_instance *instance,
			   uint32_t *device)
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

	snprintf(wanted.kind, sizeof(wanted.kind), "%s", instance->kind->name);
	error = register_patiently(bus, &wanted);
	*device = wanted.device;
	if (error)
		mimicd_log(MIMICD_LOG_WARNING, "%s is not on the kernel's bus: %s", instance->name,
			   error == -EEXIST ? "another daemon has that number, or left it behind with other properties" :
			   strerror(-error));
	return error;
}

int mimicd_bus_function_add(struct mimicd_bus *bus, struct mimicd_instance *instance)
{
	struct mimicd_bus_function *function = calloc(1, sizeof(*function));
	int error = function ? register_device(bus, instance, &function->device) : -ENOMEM;

	if (error) {
		free(function);
		return error;
	}
	function->bus = bus;
	function->function.ops = &function_ops;
	function->next = bus->functions;
	bus->functions = function;
	mimicd_instance_add_function(instance, &function->function);
	return 0;
}

void mimicd_bus_functions_forget(struct mimicd_bus *bus)
{
	while (bus->functions) {
		struct mimicd_bus_function *function = bus->functions;

		mimicd_bus_bindings_close(function);
		mimicd_requests_drop(bus, function->function.instance);
		free_function(function);
	}
}

struct mimicd_bus_function *mimicd_bus_function_find(struct mimicd_bus *bus, uint32_t device)
{
	struct mimicd_bus_function *function = bus->functions;

	while (function && function->device != device)
		function = function->next;
	return function;
}
