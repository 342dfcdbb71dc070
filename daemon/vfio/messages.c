/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The messages of a machine's QEMU. None of their numbers is trusted. */
#include "daemon/vfio/connection.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/loop/log.h"

static size_t payload_size(const struct mimicd_connection *connection)
{
	return connection->packet.header.size - sizeof(struct mimicd_vfio_header);
}

/* Messages without an answer: so the machine goes on without one if there is an error. */
static void answer(struct mimicd_connection *connection, int error)
{
	if (connection->packet.header.flags & MIMICD_VFIO_NO_REPLY)
		return;
	if (error)
		mimicd_vfio_reply_error(connection, -error);
	else
		mimicd_vfio_reply(connection, NULL, 0, -1);
}

static void do_version(struct mimicd_connection *connection)
{
	static const char capabilities[] =
		"{\"capabilities\":{\"max_msg_fds\":8,\"max_data_xfer_size\":4096}}";
	const struct mimicd_vfio_version *asked = (const void *)connection->packet.payload;
	struct {
		struct mimicd_vfio_version version;
		char capabilities[sizeof(capabilities)];
	} body = { .version = { 0, 0 } };

	if (payload_size(connection) < sizeof(*asked) || asked->major != 0) {
		mimicd_log_of(connection->uid, MIMICD_LOG_WARNING,
			      "%s: a virtual machine speaks another version of vfio-user", connection->path);
		mimicd_vfio_reply_error(connection, EPROTO);
		return;
	}
	memcpy(body.capabilities, capabilities, sizeof(capabilities));
	connection->has_version = true;
	mimicd_vfio_reply(connection, &body, sizeof(body.version) + sizeof(capabilities), -1);
}

static void do_map(struct mimicd_connection *connection)
{
	const struct mimicd_vfio_dma_map *asked = (const void *)connection->packet.payload;
	const struct mimicd_vfio_packet *packet = &connection->packet;
	int error = -EINVAL;

	if (payload_size(connection) == sizeof(*asked) && packet->fd_count <= 1)
		error = connection->ops->map(connection, asked, packet->fd_count ? packet->fds[0] : -1);
	answer(connection, error);
}

static void do_unmap(struct mimicd_connection *connection)
{
	const struct mimicd_vfio_dma_unmap *asked = (const void *)connection->packet.payload;
	int error = -EINVAL;

	if (payload_size(connection) >= sizeof(*asked))
		error = connection->ops->unmap(connection, asked);
	if (error)
		answer(connection, error);
	else if (!(connection->packet.header.flags & MIMICD_VFIO_NO_REPLY))
		mimicd_vfio_reply(connection, asked, sizeof(*asked), -1);
}

static void do_info(struct mimicd_connection *connection)
{
	const struct mimicd_vfio_info body = {
		.argsz = sizeof(body), .flags = MIMICD_VFIO_DEVICE_RESET | MIMICD_VFIO_DEVICE_PCI,
		.regions = MIMICD_VFIO_REGIONS, .interrupts = MIMICD_VFIO_INTERRUPTS,
	};

	mimicd_vfio_reply(connection, &body, sizeof(body), -1);
}

static void do_region_info(struct mimicd_connection *connection)
{
	const struct mimicd_vfio_region_info *asked = (const void *)connection->packet.payload;
	struct mimicd_vfio_region_info body;
	int fd = -1;

	if (payload_size(connection) < sizeof(*asked) || asked->index >= MIMICD_VFIO_REGIONS) {
		mimicd_vfio_reply_error(connection, EINVAL);
		return;
	}
	mimicd_region_info(connection, asked->index, &body);
	if (body.flags & MIMICD_VFIO_REGION_MAY_MAP)
		fd = connection->ops->bar_memory(connection, asked->index).fd;
	mimicd_vfio_reply(connection, &body, sizeof(body), fd);
}

static void do_irq_info(struct mimicd_connection *connection)
{
	const struct mimicd_vfio_irq_info *asked = (const void *)connection->packet.payload;
	struct mimicd_vfio_irq_info body = { .argsz = sizeof(body) };

	if (payload_size(connection) < sizeof(*asked) || asked->index >= MIMICD_VFIO_INTERRUPTS) {
		mimicd_vfio_reply_error(connection, EINVAL);
		return;
	}
	body.index = asked->index;
	body.count = connection->ops->interrupt_count(connection, asked->index);
	if (body.count)
		body.flags = MIMICD_VFIO_IRQ_EVENTFD | MIMICD_VFIO_IRQ_NO_RESIZE;
	mimicd_vfio_reply(connection, &body, sizeof(body), -1);
}

static void do_set_irqs(struct mimicd_connection *connection)
{
	const struct mimicd_vfio_irq_set *asked = (const void *)connection->packet.payload;
	int error = -EINVAL;

	if (payload_size(connection) >= sizeof(*asked))
		error = connection->ops->set_interrupts(connection, asked, connection->packet.fds,
							connection->packet.fd_count);
	answer(connection, error);
}

void mimicd_vfio_serve(struct mimicd_connection *connection)
{
	unsigned int command = connection->packet.header.command;

	if (!connection->has_version && command != MIMICD_VFIO_VERSION) {
		mimicd_vfio_reply_error(connection, EPROTO);
		return;
	}
	switch (command) {
	case MIMICD_VFIO_VERSION:
		do_version(connection);
		break;
	case MIMICD_VFIO_DMA_MAP:
		do_map(connection);
		break;
	case MIMICD_VFIO_DMA_UNMAP:
		do_unmap(connection);
		break;
	case MIMICD_VFIO_GET_INFO:
		do_info(connection);
		break;
	case MIMICD_VFIO_GET_REGION_INFO:
		do_region_info(connection);
		break;
	case MIMICD_VFIO_GET_IRQ_INFO:
		do_irq_info(connection);
		break;
	case MIMICD_VFIO_SET_IRQS:
		do_set_irqs(connection);
		break;
	case MIMICD_VFIO_REGION_READ:
		mimicd_region_load(connection);
		break;
	case MIMICD_VFIO_REGION_WRITE:
		mimicd_region_store(connection);
		break;
	case MIMICD_VFIO_RESET:
		answer(connection, connection->ops->reset(connection));
		break;
	default:
		answer(connection, -ENOTSUP);
		break;
	}
}
