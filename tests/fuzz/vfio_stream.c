/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Messages of the machine, and replies to them. */
#include "tests/fuzz/vfio_machine.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/check.h"

static void send_bytes(const void *bytes, size_t size, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec piece = { (void *)(uintptr_t)bytes, size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *entry;

		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		entry = CMSG_FIRSTHDR(&message);
		entry->cmsg_level = SOL_SOCKET;
		entry->cmsg_type = SCM_RIGHTS;
		entry->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(entry), &fd, sizeof(int));
	}
	CHECK(sendmsg(machine.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size);
}

/* Loads may be given a millisecond. -1: nothing comes, 0: cut off. */
static ssize_t receive_some(void *bytes, size_t size, bool wants_more)
{
	ssize_t got = -1;

	for (int i = 0; i < 2000 && got < 0; i++) {
		machine_settle();
		got = recv(machine.fd, bytes, size, MSG_DONTWAIT);
		if (got < 0 && !wants_more)
			break;
		if (got < 0)
			usleep(200);
	}
	return got;
}

/* The reply of a command: 0 or the errno in it; *size is that of the reply. */
static int receive_reply(unsigned int command, void *body, size_t *size)
{
	struct mimicd_vfio_header header;
	size_t rest;

	CHECK(receive_some(&header, sizeof(header), true) == sizeof(header));
	CHECK(header.id == machine.id && header.command == command);
	CHECK((header.flags & MIMICD_VFIO_TYPE) == MIMICD_VFIO_REPLY);
	rest = header.size - sizeof(header);
	CHECK(header.size >= sizeof(header) && rest <= *size);
	if (rest)
		CHECK(receive_some(body, rest, true) == (ssize_t)rest);
	*size = rest;
	if (!(header.flags & MIMICD_VFIO_ERROR)) {
		CHECK(!header.error);
		return 0;
	}
	CHECK(header.error && !rest);
	return (int)header.error;
}

int machine_ask(unsigned int command, const void *body, size_t body_size, int fd, void *reply, size_t *size)
{
	static char message[8192];
	struct mimicd_vfio_header header = {
		.id = ++machine.id, .command = (uint16_t)command,
		.size = (uint32_t)(sizeof(header) + body_size),
	};
	static char nothing[8192];
	size_t room = sizeof(nothing);

	memcpy(message, &header, sizeof(header));
	if (body_size)
		memcpy(message + sizeof(header), body, body_size);
	send_bytes(message, sizeof(header) + body_size, fd);
	return receive_reply(command, reply ? reply : nothing, size ? size : &room);
}

/* A header of any kind: one that cannot be ends the connection, a command that is not known is refused. */
void machine_send_anything(struct input *input)
{
	struct mimicd_vfio_header header = {
		.id = ++machine.id, .command = (uint16_t)(bytes(input, 2) | 0x100),
		.size = (uint32_t)bytes(input, byte(input) % 5), .flags = byte(input), .error = byte(input),
	};
	static char rest[4096 + 64];
	size_t size = 0;

	send_bytes(&header, sizeof(header), byte(input) % 2 ? machine.ram_fd : -1);
	if (header.size < sizeof(header) || header.size > sizeof(header) + sizeof(rest) || header.flags & 0xf) {
		CHECK(receive_some(rest, 1, true) == 0);
		machine.is_cut_off = true;
		return;
	}
	if (header.size > sizeof(header))
		send_bytes(rest, header.size - sizeof(header), -1);
	if (header.flags & MIMICD_VFIO_NO_REPLY)
		CHECK(receive_some(rest, 1, false) < 0);
	else
		CHECK(receive_reply(header.command, rest, &size) == ENOTSUP);
}

/* Memory and lanes are the second function's, if there is one. */
int machine_transfer(bool is_store, struct transfer *body)
{
	size_t size = sizeof(body->access) + (is_store ? body->access.count : 0), room = sizeof(*body);
	unsigned int command = is_store ? MIMICD_VFIO_REGION_WRITE : MIMICD_VFIO_REGION_READ;
	uint32_t region = body->access.region;
	static struct transfer reply;
	int error;

	if (machine.is_split && (region == MIMIC_PCI_BAR_MEMORY || region == MIMIC_PCI_BAR_RINGS))
		machine.fd = machine.fds[1];
	error = machine_ask(command, body, size, -1, &reply, &room);
	machine.fd = machine.fds[0];
	if (error)
		return error;
	CHECK(room == sizeof(body->access) + (is_store ? 0 : body->access.count));
	CHECK(!memcmp(&reply.access, &body->access, sizeof(body->access)));
	if (!is_store)
		memcpy(body->data, reply.data, body->access.count);
	return 0;
}
