/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What a machine's QEMU says, message by message. Its numbers are trusted in nothing. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/engine/instance.h"
#include "daemon/loop/log.h"
#include "daemon/vfio/internal.h"

static size_t payload_size(const struct mimicd_machine *machine)
{
	return machine->packet.header.size - sizeof(struct mimicd_vfio_header);
}

/* Messages without an answer: so the machine goes on without one if there is an error. */
static void answer(struct mimicd_machine *machine, int error)
{
	if (machine->packet.header.flags & MIMICD_VFIO_NO_REPLY)
		return;
	if (error)
		mimicd_vfio_reply_error(machine, -error);
	else
		mimicd_vfio_reply(machine, NULL, 0, -1);
}

static void do_version(struct mimicd_machine *machine)
{
	static const char capabilities[] =
		"{\"capabilities\":{\"max_msg_fds\":8,\"max_data_xfer_size\":4096}}";
	const struct mimicd_vfio_version *asked = (const void *)machine->packet.payload;
	struct {
		struct mimicd_vfio_version version;
		char capabilities[sizeof(capabilities)];
	} body = { .version = { 0, 0 } };

	if (payload_size(machine) < sizeof(*asked) || asked->major != 0) {
		mimicd_log_of(machine->uid, MIMICD_LOG_WARNING, "%s: a virtual machine speaks another version of vfio-user",
			      machine->function->path);
		mimicd_vfio_reply_error(machine, EPROTO);
		return;
	}
	memcpy(body.capabilities, capabilities, sizeof(capabilities));
	machine->has_version = true;
	mimicd_vfio_reply(machine, &body, sizeof(body.version) + sizeof(capabilities), -1);
}

static void do_map(struct mimicd_machine *machine)
{
	const struct mimicd_vfio_dma_map *asked = (const void *)machine->packet.payload;
	const struct mimicd_vfio_packet *packet = &machine->packet;
	struct mimicd_guest_range range;
	const char *why = "the message is not one";
	int error = -EINVAL;

	if (payload_size(machine) == sizeof(*asked) && packet->fd_count <= 1) {
		range = (struct mimicd_guest_range){
			.address = asked->address, .size = asked->size,
			.is_writable = asked->flags & MIMICD_VFIO_MAP_WRITE,
		};
		error = mimicd_guest_memory_add(&machine->memory, packet->fd_count ? packet->fds[0] : -1,
						asked->offset, range, &why);
		if (error)
			mimicd_log_of(machine->uid, MIMICD_LOG_WARNING, "%s: memory of the machine at %#llx, %#llx bytes: %s",
				      machine->function->path, (unsigned long long)asked->address,
				      (unsigned long long)asked->size, why);
	}
	answer(machine, error);
}

static void do_unmap(struct mimicd_machine *machine)
{
	const struct mimicd_vfio_dma_unmap *asked = (const void *)machine->packet.payload;
	int error = -EINVAL;

	if (payload_size(machine) >= sizeof(*asked)) {
		if (asked->flags & MIMICD_VFIO_UNMAP_ALL) {
			mimicd_guest_memory_clear(&machine->memory);
			error = 0;
		} else {
			error = mimicd_guest_memory_remove(&machine->memory, asked->address, asked->size);
		}
	}
	if (error)
		answer(machine, error);
	else if (!(machine->packet.header.flags & MIMICD_VFIO_NO_REPLY))
		mimicd_vfio_reply(machine, asked, sizeof(*asked), -1);
}

static void do_info(struct mimicd_machine *machine)
{
	const struct mimicd_vfio_info body = {
		.argsz = sizeof(body), .flags = MIMICD_VFIO_DEVICE_RESET | MIMICD_VFIO_DEVICE_PCI,
		.regions = MIMICD_VFIO_REGIONS, .interrupts = MIMICD_VFIO_INTERRUPTS,
	};

	mimicd_vfio_reply(machine, &body, sizeof(body), -1);
}

static void do_region_info(struct mimicd_machine *machine)
{
	const struct mimicd_vfio_region_info *asked = (const void *)machine->packet.payload;
	struct mimicd_vfio_region_info body;
	int fd = -1;

	if (payload_size(machine) < sizeof(*asked) || asked->index >= MIMICD_VFIO_REGIONS) {
		mimicd_vfio_reply_error(machine, EINVAL);
		return;
	}
	mimicd_bars_region(machine, asked->index, &body);
	if (body.flags & MIMICD_VFIO_REGION_MAY_MAP)
		fd = asked->index == MIMIC_PCI_BAR_RINGS ? mimicd_rings_fd(machine) :
							   machine->instance->device_memory.fd;
	mimicd_vfio_reply(machine, &body, sizeof(body), fd);
}

static void do_irq_info(struct mimicd_machine *machine)
{
	const struct mimicd_vfio_irq_info *asked = (const void *)machine->packet.payload;
	struct mimicd_vfio_irq_info body = { .argsz = sizeof(body) };

	if (payload_size(machine) < sizeof(*asked) || asked->index >= MIMICD_VFIO_INTERRUPTS) {
		mimicd_vfio_reply_error(machine, EINVAL);
		return;
	}
	body.index = asked->index;
	body.count = mimicd_interrupt_count(machine, asked->index);
	if (body.count)
		body.flags = MIMICD_VFIO_IRQ_EVENTFD | MIMICD_VFIO_IRQ_NO_RESIZE;
	mimicd_vfio_reply(machine, &body, sizeof(body), -1);
}

static void do_set_irqs(struct mimicd_machine *machine)
{
	const struct mimicd_vfio_irq_set *asked = (const void *)machine->packet.payload;
	int error = -EINVAL;

	if (payload_size(machine) >= sizeof(*asked))
		error = mimicd_interrupt_set(machine, asked, machine->packet.fds, machine->packet.fd_count);
	answer(machine, error);
}

void mimicd_vfio_serve(struct mimicd_machine *machine)
{
	unsigned int command = machine->packet.header.command;

	if (!machine->has_version && command != MIMICD_VFIO_VERSION) {
		mimicd_vfio_reply_error(machine, EPROTO);
		return;
	}
	switch (command) {
	case MIMICD_VFIO_VERSION:
		do_version(machine);
		break;
	case MIMICD_VFIO_DMA_MAP:
		do_map(machine);
		break;
	case MIMICD_VFIO_DMA_UNMAP:
		do_unmap(machine);
		break;
	case MIMICD_VFIO_GET_INFO:
		do_info(machine);
		break;
	case MIMICD_VFIO_GET_REGION_INFO:
		do_region_info(machine);
		break;
	case MIMICD_VFIO_GET_IRQ_INFO:
		do_irq_info(machine);
		break;
	case MIMICD_VFIO_SET_IRQS:
		do_set_irqs(machine);
		break;
	case MIMICD_VFIO_REGION_READ:
		mimicd_region_load(machine);
		break;
	case MIMICD_VFIO_REGION_WRITE:
		mimicd_region_store(machine);
		break;
	case MIMICD_VFIO_RESET:
		answer(machine, mimicd_machine_reset(machine));
		break;
	default:
		answer(machine, -ENOTSUP);
		break;
	}
}
