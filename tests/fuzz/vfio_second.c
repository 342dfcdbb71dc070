/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Interrupts, and the function that has a split device's memory. */
#include "tests/fuzz/vfio_machine.h"

#include <errno.h>

#include "tests/fuzz/check.h"

void machine_set_interrupts(struct input *input)
{
	const struct mimicd_vfio_irq_set set = {
		.argsz = sizeof(set), .flags = byte(input), .index = byte(input) % 8, .start = byte(input) % 4,
		.count = byte(input) % 4,
	};
	int fd = byte(input) % 3 ? machine.event_fd : machine.ram_fd, error;
	unsigned int vectors = set.index == MIMICD_VFIO_MSIX ? MIMIC_PCI_VECTORS : 0;

	error = machine_ask(MIMICD_VFIO_SET_IRQS, &set, sizeof(set), fd, NULL, NULL);
	if (set.index >= MIMICD_VFIO_INTERRUPTS || set.start + set.count > vectors)
		CHECK(error == EINVAL);
	else if (set.flags & MIMICD_VFIO_SET_DATA_EVENTFD && set.count != 1)
		CHECK(error == EINVAL);
	else if (!(set.flags & MIMICD_VFIO_SET_DATA_EVENTFD) || fd == machine.event_fd)
		CHECK(!error);
	else if (set.flags & MIMICD_VFIO_SET_ACTION_TRIGGER)
		CHECK(error == EINVAL);
}

/* Of the second function: neither is the device told of the machine's memory by it, nor has it interrupts. */
static void map_for_nobody(struct input *input)
{
	int fd = byte(input) % 2 ? machine.ram_fd : -1;
	const struct mimicd_vfio_dma_map range = {
		.argsz = sizeof(range), .address = bytes(input, 8), .size = bytes(input, 8), .offset = bytes(input, 8),
	};

	CHECK(!machine_ask(MIMICD_VFIO_DMA_MAP, &range, sizeof(range), fd, NULL, NULL));
}

static void set_no_interrupts(struct input *input)
{
	const struct mimicd_vfio_irq_set set = {
		.argsz = sizeof(set), .index = byte(input) % 8, .count = byte(input) % 4, .flags = byte(input),
	};

	CHECK(machine_ask(MIMICD_VFIO_SET_IRQS, &set, sizeof(set), machine.event_fd, NULL, NULL) == EINVAL);
}

/* Messages to the memory function change nothing of the device. */
void machine_use_memory_function(struct input *input)
{
	unsigned int what = byte(input);
	uint32_t region = what & 0x10 ? MIMICD_VFIO_REGION_CONFIG : MIMIC_PCI_BAR_REGISTERS;
	unsigned int command = what & 0x20 ? MIMICD_VFIO_REGION_WRITE : MIMICD_VFIO_REGION_READ;
	struct transfer body = { .access = { .region = region, .count = 1 } };

	if (!machine.is_split)
		return;
	machine.fd = machine.fds[1];
	switch (what % 5) {
	case 0:
		body.access.offset = byte(input);
		CHECK(!machine_ask(command, &body, sizeof(body.access) + (what & 0x20 ? 1 : 0), -1, NULL, NULL));
		break;
	case 1:
		map_for_nobody(input);
		break;
	case 2:
		set_no_interrupts(input);
		break;
	case 3:
		CHECK(!machine_ask(MIMICD_VFIO_RESET, NULL, 0, -1, NULL, NULL));
		break;
	default:
		machine_send_anything(input);
		break;
	}
	machine.fd = machine.fds[0];
}
