/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Messages as they lie in the stream: received, answered. */
#include "daemon/vfio/connection.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/loop/closer.h"
#include "daemon/loop/log.h"

#define DESCRIPTORS_MOST 253u	/* of one message: SCM_MAX_FD of the kernel */

/* --- received ---------------------------------------------------------------------- */

static void take_descriptors(struct mimicd_connection *connection, struct msghdr *message)
{
	struct mimicd_vfio_packet *packet = &connection->packet;

	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
		size_t count;

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
			if (packet->fd_count < MIMICD_VFIO_DESCRIPTORS)
				packet->fds[packet->fd_count++] = fd;
			else
				mimicd_closer_close(connection->loop->closer, connection->uid, fd);
		}
	}
}

/* Of the message so many bytes more. 1, 0: not now, or -errno. */
static int receive(struct mimicd_connection *connection, void *to, size_t size)
{
	union {
		struct cmsghdr header;
		/* Room for all: the kernel would close the others in our thread, which may take long. */
		char bytes[CMSG_SPACE(DESCRIPTORS_MOST * sizeof(int))];
	} control;
	struct iovec part = { .iov_base = to, .iov_len = size };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t got = recvmsg(connection->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	take_descriptors(connection, &message);
	if (!got)
		return -ECONNRESET;
	connection->packet.have += (size_t)got;
	connection->note->have = (uint32_t)connection->packet.have;
	return 1;
}

static const char *check_header(const struct mimicd_vfio_header *header)
{
	if (header->size < sizeof(*header))
		return "a message is shorter than its header";
	if (header->size > sizeof(*header) + MIMICD_VFIO_PAYLOAD)
		return "a message is too long";
	if (header->flags & MIMICD_VFIO_TYPE)
		return "a message is no command";
	return NULL;
}

int mimicd_vfio_receive(struct mimicd_connection *connection, const char **why)
{
	struct mimicd_vfio_packet *packet = &connection->packet;
	const size_t header = sizeof(packet->header);
	int got = 1;

	while (got > 0 && packet->have < header)
		got = receive(connection, (char *)&connection->note->header + packet->have, header - packet->have);
	if (got <= 0)
		return got;
	packet->header = connection->note->header;
	*why = check_header(&packet->header);
	if (*why)
		return -EPROTO;
	/* Messages follow without gaps: never more than this one is read. */
	while (got > 0 && packet->have < packet->header.size)
		got = receive(connection, (char *)packet->payload + (packet->have - header),
			      packet->header.size - packet->have);
	return got;
}

void mimicd_vfio_packet_close(struct mimicd_connection *connection)
{
	struct mimicd_vfio_packet *packet = &connection->packet;

	for (unsigned int i = 0; i < packet->fd_count; i++)
		mimicd_closer_close(connection->loop->closer, connection->uid, packet->fds[i]);
	packet->fd_count = 0;
	packet->have = 0;
	connection->note->header.size = 0;
	connection->note->have = 0;
	connection->note->is_answered = false;
}

/* --- answered ---------------------------------------------------------------------- */

static void send_reply(struct mimicd_connection *connection, struct mimicd_vfio_header *header,
		       const void *body, size_t size, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec parts[2] = {
		{ .iov_base = header, .iov_len = sizeof(*header) },
		{ .iov_base = (void *)(uintptr_t)body, .iov_len = size },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t sent;

	if (fd >= 0) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	header->size = (uint32_t)(sizeof(*header) + size);
	/* Not afterwards: that wakes QEMU, on our processor maybe; and two answers are worse for QEMU than none. */
	connection->note->is_answered = true;
	sent = sendmsg(connection->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent == (ssize_t)header->size)
		return;
	/* It sends commands and does not take the answers: its buffer is full. */
	if (!connection->is_lost && errno != EPIPE && errno != ECONNRESET)
		mimicd_log_of(connection->uid, MIMICD_LOG_WARNING,
			      "%s: a virtual machine (pid %d) does not take its answers", connection->path,
			      (int)connection->pid);
	connection->is_lost = true;
}

void mimicd_vfio_reply(struct mimicd_connection *connection, const void *body, size_t size, int fd)
{
	struct mimicd_vfio_header header = {
		.id = connection->packet.header.id, .command = connection->packet.header.command,
		.flags = MIMICD_VFIO_REPLY,
	};

	send_reply(connection, &header, body, size, fd);
}

void mimicd_vfio_reply_error(struct mimicd_connection *connection, int error)
{
	struct mimicd_vfio_header header = {
		.id = connection->packet.header.id, .command = connection->packet.header.command,
		.flags = MIMICD_VFIO_REPLY | MIMICD_VFIO_ERROR, .error = (uint32_t)error,
	};

	send_reply(connection, &header, NULL, 0, -1);
}

/* --- a machine whose messages wait for a while --------------------------------------- */

void mimicd_vfio_pause(struct mimicd_connection *connection)
{
	connection->is_paused = true;
	mimicd_loop_forget(connection->loop, connection->fd);
}

void mimicd_vfio_resume(struct mimicd_connection *connection)
{
	if (connection->has_ended || !connection->is_paused)
		return;
	connection->is_paused = false;
	mimicd_vfio_packet_close(connection);
	if (mimicd_loop_watch(connection->loop, connection->fd, EPOLLIN, &connection->source))
		connection->is_lost = true;
}
