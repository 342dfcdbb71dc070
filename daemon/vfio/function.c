/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Devices for virtual machines: the engine's side of them. */
#include "daemon/vfio/function.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/engine/instance.h"
#include "daemon/loop/log.h"

static struct mimicd_vfio_function *function_of(struct mimicd_function *function)
{
	return (struct mimicd_vfio_function *)function;
}

static int raise_interrupt(struct mimicd_function *function)
{
	struct mimicd_machine *machine = function_of(function)->machine;

	if (!machine)
		return -ENOTCONN;
	return mimicd_interrupt_raise(machine, MIMIC_PCI_STATUS_DEVICE, MIMIC_PCI_VECTOR_DEVICE);
}

/* Its machine sees the device go: loads give all ones, as with hardware that is pulled out. */
static void remove_function(struct mimicd_function *function)
{
	mimicd_vfio_function_remove(function_of(function));
}

static const struct mimicd_function_ops function_ops = {
	.transport = "pci",
	.interrupt = raise_interrupt,
	.remove = remove_function,
};

int mimicd_vfio_function_add(struct mimicd_vfio_listener *listener, struct mimicd_instance *instance)
{
	struct mimicd_vfio *vfio = listener->vfio;
	struct mimicd_vfio_function *function = calloc(1, sizeof(*function));

	if (!function)
		return -ENOMEM;
	function->vfio = vfio;
	function->listener = listener;
	function->path = listener->registers.path;
	function->memory_path = listener->memory.path;
	function->has_msi = listener->has_msi;
	function->has_rings = listener->has_rings;
	function->function.ops = &function_ops;
	function->next = vfio->functions;
	vfio->functions = function;
	listener->function = function;
	mimicd_instance_add_function(instance, &function->function);
	mimicd_log(MIMICD_LOG_INFO, "%s: %s waits for a virtual machine, as PCI function %04x:%04x",
		   function->path, instance->name, MIMIC_PCI_VENDOR, mimicd_vfio_device_number(instance->kind->name));
	if (function->memory_path)
		mimicd_log(MIMICD_LOG_INFO, "%s: so does its memory, as PCI function %04x:%04x",
			   function->memory_path, MIMIC_PCI_VENDOR, MIMIC_PCI_MEMORY_DEVICE);
	return 0;
}

void mimicd_vfio_function_remove(struct mimicd_vfio_function *function)
{
	struct mimicd_vfio_function **link = &function->vfio->functions;

	if (function->machine)
		mimicd_machine_end(function->machine);
	function->listener->function = NULL;
	mimicd_instance_remove_function(function->function.instance, &function->function);
	while (*link != function)
		link = &(*link)->next;
	*link = function->next;
	/* A machine that has ended still names it. */
	function->next = function->vfio->gone;
	function->vfio->gone = function;
}

void mimicd_vfio_functions_free(struct mimicd_vfio *vfio)
{
	while (vfio->gone) {
		struct mimicd_vfio_function *function = vfio->gone;

		vfio->gone = function->next;
		free(function);
	}
}
