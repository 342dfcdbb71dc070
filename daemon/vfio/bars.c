/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The function that a device is on the bus: its number, its BARs. */
#include "daemon/engine/instance.h"
#include "daemon/vfio/internal.h"

uint16_t mimicd_vfio_device_number(const char *kind)
{
	uint32_t hash = 0x811c9dc5;	/* FNV-1a of 32 bits */

	for (; *kind; kind++)
		hash = (hash ^ (unsigned char)*kind) * 0x01000193;
	return (uint16_t)(hash >> 16 ^ hash);
}

static uint64_t power_of_two(uint64_t size)
{
	uint64_t rounded = MIMIC_PAGE_SIZE;

	while (rounded < size)
		rounded *= 2;
	return rounded;
}

/* BARs of memory: of the device's function, or of the one beside it. */
static void describe_memory(const struct mimicd_machine *machine,
			    struct mimicd_config_description *description)
{
	size_t size = machine->instance->device_memory.size;

	if (size) {
		description->bar_sizes[MIMIC_PCI_BAR_MEMORY] = power_of_two(size);
		description->wide_bars = 1u << MIMIC_PCI_BAR_MEMORY;
	}
	if (machine->rings)
		description->bar_sizes[MIMIC_PCI_BAR_RINGS] = mimicd_rings_size();
}

void mimicd_bars_describe(const struct mimicd_machine *machine, struct mimicd_config_description *description)
{
	const struct mimicd_vfio_function *function = machine->function;
	const struct mimic_kind *kind = machine->instance->kind;

	*description = (struct mimicd_config_description){
		.device = mimicd_vfio_device_number(kind->name),
		.class = MIMIC_PCI_CLASS,
		.interrupts = function->has_msi ? MIMICD_CONFIG_MSI : MIMICD_CONFIG_MSIX,
	};
	description->bar_sizes[MIMIC_PCI_BAR_REGISTERS] =
		power_of_two(MIMIC_PCI_DEVICE_PAGE(kind->device_pages));
	if (!function->memory_path)
		describe_memory(machine, description);
	if (!function->has_msi)
		description->bar_sizes[MIMIC_PCI_BAR_MSIX] = MIMIC_PCI_PAGE_SIZE;
}

void mimicd_bars_describe_memory(const struct mimicd_machine *machine,
				 struct mimicd_config_description *description)
{
	*description = (struct mimicd_config_description){
		.device = MIMIC_PCI_MEMORY_DEVICE,
		.class = MIMIC_PCI_MEMORY_CLASS,
		.interrupts = MIMICD_CONFIG_NO_INTERRUPTS,
	};
	description->bar_sizes[MIMIC_PCI_BAR_REGISTERS] = MIMIC_PCI_PAGE_SIZE;
	describe_memory(machine, description);
}

struct mimicd_bar_memory mimicd_bars_memory(const struct mimicd_machine *machine, unsigned int bar)
{
	const struct mimicd_device_memory *memory = &machine->instance->device_memory;

	if (bar == MIMIC_PCI_BAR_MEMORY)
		return (struct mimicd_bar_memory){ memory->base, memory->size, memory->fd };
	if (bar == MIMIC_PCI_BAR_RINGS && machine->rings)
		return (struct mimicd_bar_memory){
			mimicd_rings_memory(machine), mimicd_rings_size(), mimicd_rings_fd(machine),
		};
	return (struct mimicd_bar_memory){ .fd = -1 };
}
