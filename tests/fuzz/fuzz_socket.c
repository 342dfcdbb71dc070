/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Messages of any kind to the daemon, in one process with it.
 *
 * The oracle is a few lines that know the protocol's outer rules: which packets
 * end the session, which get a reply, and its size and type. After each input
 * everything that the client had is free again, descriptors included.
 *
 * An input is a list of packets: kind, type, length, descriptors, then the
 * bytes. Bit 0 of the kind: a header that fits the type is put in front.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/clients/internal.h"
#include "daemon/clients/session.h"
#include "daemon/loop/closer.h"
#include "daemon/loop/log.h"
#include "daemon/server.h"
#include "mimic/protocol.h"
#include "tests/fuzz/check.h"

#define COMPLAINTS 17

static const struct {
	size_t request;
	size_t reply;
	unsigned int fds;
} sizes[] = {
	[1] = { 32, 40, 0 }, [2] = { 48, 72, 0 }, [3] = { 24, 16, 0 }, [4] = { 32, 32, 0 },
	[5] = { 24, 16, 0 }, [6] = { 24, 16, 0 }, [7] = { 24, 16, 0 }, [8] = { 40, 16, 1 },
	[9] = { 40, 16, 0 }, [10] = { 16, 24, 0 }, [11] = { 32, 48, 0 },
	[12] = { 48, 16, 0 }, [13] = { 56, 16, 0 }, [14] = { 32, 16, 1 },
	[15] = { 56, 24, 0 }, [16] = { 48, 16, 0 }, [17] = { 48, 16, 0 }, [18] = { 16, 16, 1 },
	[19] = { 16, 16, 1 }, [20] = { 24, 240, 0 }, [21] = { 48, 24, 0 }, [22] = { 56, 256, 1 },
};

#define TYPES (sizeof(sizes) / sizeof(sizes[0]))

struct client {
	int socket;
	bool greeted;
	unsigned int errors;
};

static struct mimicd_server *server;
static int good_memfd, bad_memfd, event_fd;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void set_up(void)
{
	struct mimicd_options options = { .clients.listen_fd = -1 };

	mimic_config_default(&options.settings);
	mimicd_log_set_level(MIMICD_LOG_ERROR);
	CHECK(mimicd_server_create(&server, &options) == 0);
	good_memfd = memfd_create("good", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	bad_memfd = memfd_create("bad", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK(ftruncate(good_memfd, 1 << 20) == 0 && ftruncate(bad_memfd, 1 << 20) == 0);
	CHECK(fallocate(good_memfd, 0, 0, 1 << 20) == 0);
	CHECK(fcntl(good_memfd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
	event_fd = eventfd(0, EFD_CLOEXEC);
	CHECK(event_fd >= 0);
}

static int count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	CHECK(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* An eventfd is of use to EVENTFD, a memfd to everybody else. */
static int first_descriptor(const uint8_t *packet, size_t size)
{
	return size > 4 && packet[4] == MIMIC_MESSAGE_EVENTFD ? event_fd : good_memfd;
}

static bool send_packet(int socket, const void *bytes, size_t size, unsigned int fds)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = { 0 };
	struct iovec piece = { (void *)(uintptr_t)bytes, size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	const int list[] = { first_descriptor(bytes, size), bad_memfd, good_memfd, bad_memfd, 0, 1, 2, 2 };

	if (fds) {
		struct cmsghdr *entry;

		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(fds * sizeof(int));
		entry = CMSG_FIRSTHDR(&message);
		entry->cmsg_level = SOL_SOCKET;
		entry->cmsg_type = SCM_RIGHTS;
		entry->cmsg_len = CMSG_LEN(fds * sizeof(int));
		memcpy(CMSG_DATA(entry), list, fds * sizeof(int));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

/* Does the daemon have to hang up on this packet? */
static bool ends_session(const struct client *client, const uint8_t *packet, size_t size,
			 unsigned int fds)
{
	struct mimic_message header;

	if (size < sizeof(header) || size > MIMIC_MESSAGE_MAX || fds > 4)
		return true;
	memcpy(&header, packet, sizeof(header));
	if (header.size != size || header.type == 0 || header.type >= TYPES)
		return true;
	return sizes[header.type].request != size || (!client->greeted && header.type != MIMIC_MESSAGE_HELLO);
}

/* Is it refused for its outside alone? */
static bool is_refused(const struct client *client, const uint8_t *packet, unsigned int fds)
{
	struct mimic_message header;
	uint32_t reserved = 0;

	memcpy(&header, packet, sizeof(header));
	if (header.type == 1)
		memcpy(&reserved, packet + 28, sizeof(reserved));
	else if (header.type == 4)
		memcpy(&reserved, packet + 28, sizeof(reserved));
	else if (header.type == 13 || header.type == 15 || header.type == 22)
		memcpy(&reserved, packet + 52, sizeof(reserved));
	else if (header.type == 3 || (header.type >= 5 && header.type <= 7) || header.type == 14 ||
		 header.type == 20)
		memcpy(&reserved, packet + 20, sizeof(reserved));
	return header.flags || header.error || reserved ||
	       (fds != sizes[header.type].fds && !(header.type == 14 && !fds)) ||
	       (client->greeted && header.type == MIMIC_MESSAGE_HELLO);
}

/* Bytes of the next reply; 0: hung up. The descriptor that came along is closed. */
static ssize_t receive(int socket, void *reply, size_t size)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec piece = { reply, size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	ssize_t length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *entry;
	int fd;

	if (length <= 0)
		return length < 0 && errno == EAGAIN ? -1 : 0;
	entry = CMSG_FIRSTHDR(&message);
	if (entry && entry->cmsg_type == SCM_RIGHTS) {
		memcpy(&fd, CMSG_DATA(entry), sizeof(fd));
		close(fd);
	}
	return length;
}

static void check_reply(struct client *client, const uint8_t *packet, unsigned int fds)
{
	struct mimic_message header, reply;
	char bytes[MIMIC_MESSAGE_MAX];
	ssize_t length = receive(client->socket, bytes, sizeof(bytes));
	bool refused = is_refused(client, packet, fds);

	memcpy(&header, packet, sizeof(header));
	CHECK(length != -1);
	if (!length) {
		/* No client of ours, or refused too often. */
		CHECK(header.type == MIMIC_MESSAGE_HELLO || client->errors >= COMPLAINTS);
		return;
	}
	memcpy(&reply, bytes, sizeof(reply));
	CHECK((size_t)length >= sizeof(reply) && reply.size == (size_t)length);
	CHECK(reply.type == (header.type | MIMIC_MESSAGE_REPLY) && reply.sequence == header.sequence);
	CHECK(reply.error <= 0 && !reply.flags);
	CHECK(reply.error || (size_t)length == sizes[header.type].reply);
	CHECK(!refused || reply.error);
	client->errors += reply.error != 0;
	client->greeted |= header.type == MIMIC_MESSAGE_HELLO && !reply.error;
}

static void settle(void)
{
	mimicd_server_settle(server);
	/* Threads beside the loop close descriptors of clients. */
	while (mimicd_closer_backlog(server->loop.closer, getuid()))
		sched_yield();
}

/* false: the session is over. */
static bool send_one(struct client *client, const uint8_t *packet, size_t size, unsigned int fds)
{
	bool end = ends_session(client, packet, size, fds);
	char byte;

	if (!send_packet(client->socket, packet, size, fds))
		return false;
	settle();
	if (end) {
		CHECK(receive(client->socket, &byte, 1) == 0);
		return false;
	}
	check_reply(client, packet, fds);
	return server->clients->count == 1;
}

static void greet(struct client *client)
{
	struct mimic_hello hello = {
		.header = { .size = sizeof(hello), .type = MIMIC_MESSAGE_HELLO },
		.magic = MIMIC_PROTOCOL_MAGIC,
		.version = MIMIC_PROTOCOL_VERSION,
	};

	CHECK(send_one(client, (uint8_t *)&hello, sizeof(hello), 0));
	CHECK(client->greeted);
}

static void run(struct client *client, const uint8_t *data, size_t size)
{
	while (size >= 4) {
		uint8_t kind = data[0], type = data[1];
		size_t length = data[2];
		unsigned int fds = data[3] % 9;
		uint8_t packet[2 * MIMIC_MESSAGE_MAX] = { 0 };

		data += 4;
		size -= 4;
		if (length > size)
			length = size;
		if (kind & 1) {
			struct mimic_message header = { .type = type % TYPES, .sequence = kind };

			header.size = (uint32_t)sizes[header.type].request;
			if (header.size < sizeof(header))
				header.size = sizeof(header);
			memcpy(packet, &header, sizeof(header));
			if (length > header.size - sizeof(header))
				length = header.size - sizeof(header);
			memcpy(packet + sizeof(header), data, length);
			if (kind & 2)
				fds = sizes[header.type].fds;
			if (!send_one(client, packet, header.size, fds))
				return;
		} else {
			memcpy(packet, data, length);
			if (!send_one(client, packet, length, fds))
				return;
		}
		data += length;
		size -= length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct client client = { 0 };
	int ends[2], before;

	if (!server)
		set_up();
	if (!size)
		return 0;
	before = count_descriptors();
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
	CHECK(mimicd_session_create(server->clients, ends[0]) == 0);
	client.socket = ends[1];
	if (data[0] & 1)
		greet(&client);
	run(&client, data + 1, size - 1);
	close(client.socket);
	settle();
	CHECK(server->clients->count == 0 && server->engine.loop_shard.lane_count == 0);
	for (const struct mimicd_instance *device = server->engine.first_named; device; device = device->next_named)
		CHECK(!device->client);
	CHECK(count_descriptors() == before);
	return 0;
}
