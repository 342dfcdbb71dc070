/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/fake_daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "libmimic/base/memory.h"
#include "libmimic/base/wait.h"

#define LANE_WORDS MIMIC_LANE_WORDS_MIN

union packet {
	struct mimic_message header;
	struct mimic_hello_reply hello;
	struct mimic_open name;
	struct mimic_open_reply open;
	struct mimic_lane_reply lane;
	struct mimic_explain_reply explain;
	char bytes[MIMIC_MESSAGE_MAX];
};

static void send_reply(struct fake_daemon *daemon, const struct mimic_message *request, union packet *reply,
		       size_t size, int fd)
{
	unsigned int copies = request->type == MIMIC_MESSAGE_HELLO ? 0 : atomic_load(&daemon->copies);

	reply->header = (struct mimic_message){
		.size = (uint32_t)size,
		.type = request->type | MIMIC_MESSAGE_REPLY,
		.sequence = request->sequence,
	};
	for (unsigned int i = 0; i <= copies; i++)
		raw_send(daemon->client, reply, size, &fd, fd >= 0);
}

static int make_lane(struct fake_daemon *daemon, struct raw_lane *lane)
{
	int fd;

	lane->size = mimic_lane_size(LANE_WORDS, LANE_WORDS);
	fd = mimic_memory_file("fake lane", lane->size);
	if (fd < 0)
		return fd;
	lane->memory = mmap(NULL, lane->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (lane->memory == MAP_FAILED)
		abort();
	mimic_ring_attach(&lane->commands, mimic_lane_commands(lane->memory), LANE_WORDS);
	mimic_ring_attach(&lane->responses, mimic_lane_responses(lane->memory, LANE_WORDS), LANE_WORDS);
	lane->memory->daemon_cpu = MIMIC_CPU_UNKNOWN;
	lane->memory->spin_most = atomic_load(&daemon->spin_most);
	lane->number = daemon->lane_count;
	return fd;
}

static void do_lane(struct fake_daemon *daemon, const struct mimic_message *request, union packet *reply)
{
	unsigned int number = daemon->lane_count;

	if (number == FAKE_DAEMON_LANES)
		abort();
	daemon->files[number] = make_lane(daemon, &daemon->lanes[number]);
	daemon->lane_count++;
	reply->lane.lane = number;
	reply->lane.thread = number + 1;
	reply->lane.command_words = reply->lane.response_words = LANE_WORDS;
	send_reply(daemon, request, reply, sizeof(reply->lane), daemon->files[number]);
}

static void do_message(struct fake_daemon *daemon, const union packet *packet)
{
	const struct mimic_message *request = &packet->header;
	union packet reply = { .bytes = { 0 } };

	switch (request->type) {
	case MIMIC_MESSAGE_HELLO:
		reply.hello.magic = MIMIC_PROTOCOL_MAGIC;
		reply.hello.version = MIMIC_PROTOCOL_VERSION;
		reply.hello.daemon_pid = daemon->pid;
		reply.hello.spin_microseconds = daemon->spin_microseconds ? daemon->spin_microseconds
									  : MIMIC_SPIN_MICROSECONDS;
		reply.hello.recovery_seconds = daemon->recovery_seconds;
		send_reply(daemon, request, &reply, sizeof(reply.hello), daemon->event);
		break;
	case MIMIC_MESSAGE_OPEN:
		memcpy(reply.open.name, packet->name.name, sizeof(reply.open.name));
		send_reply(daemon, request, &reply, sizeof(reply.open), -1);
		break;
	case MIMIC_MESSAGE_LANE:
		do_lane(daemon, request, &reply);
		break;
	case MIMIC_MESSAGE_EXPLAIN:
		strcpy(reply.explain.text, "a load of a fake");
		send_reply(daemon, request, &reply, sizeof(reply.explain), -1);
		break;
	default:
		send_reply(daemon, request, &reply, sizeof(reply.header), -1);
		break;
	}
}

static void wake(struct mimic_lane *memory)
{
	mimic_lane_fence();
	if (atomic_exchange(&memory->client_sleeping, MIMIC_LANE_AWAKE))
		mimic_futex_wake(&memory->client_sleeping, 1, MIMIC_FUTEX_SHARED);
}

/* Loads of one word: there is nothing else that it knows. */
static void serve_lane(struct fake_daemon *daemon, struct raw_lane *lane)
{
	while (!atomic_load(&daemon->silent) && mimic_ring_level(&lane->commands, 1) > 0) {
		mimic_ring_put(&lane->responses, 0, daemon->loads++);
		mimic_ring_release(&lane->commands, 1);
		mimic_ring_publish(&lane->responses, 1);
		wake(lane->memory);
	}
}

static void forget_program(struct fake_daemon *daemon)
{
	close(daemon->client);
	daemon->client = -1;
	for (unsigned int i = 0; i < daemon->lane_count; i++) {
		raw_lane_unmap(&daemon->lanes[i]);
		close(daemon->files[i]);
	}
	daemon->lane_count = 0;
}

static void serve_client(struct fake_daemon *daemon)
{
	struct pollfd entry = { .fd = daemon->client, .events = POLLIN };
	union packet request;
	int fd;

	for (unsigned int i = 0; i < daemon->lane_count; i++)
		serve_lane(daemon, &daemon->lanes[i]);
	/* Read again: what was sent after it had left stays in the socket. */
	if (poll(&entry, 1, 1) <= 0 || atomic_load(&daemon->away))
		return;
	if (raw_receive(daemon->client, &request, sizeof(request), &fd) < (ssize_t)sizeof(request.header)) {
		forget_program(daemon);
		return;
	}
	if (fd >= 0)
		close(fd);
	do_message(daemon, &request);
}

static void *serve(void *context)
{
	struct fake_daemon *daemon = context;
	struct pollfd entry = { .fd = daemon->listener, .events = POLLIN };

	while (!atomic_load(&daemon->stops)) {
		if (atomic_load(&daemon->away))
			test_sleep_ms(1);
		else if (daemon->client >= 0)
			serve_client(daemon);
		else if (poll(&entry, 1, 1) > 0)
			daemon->client = accept4(daemon->listener, NULL, NULL, SOCK_CLOEXEC);
	}
	return NULL;
}

bool fake_daemon_start(struct fake_daemon *daemon)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strcpy(daemon->directory, "/tmp/mimic-fake-XXXXXX");
	if (!mkdtemp(daemon->directory))
		return false;
	snprintf(daemon->socket, sizeof(daemon->socket), "%s/mimicd.sock", daemon->directory);
	strcpy(address.sun_path, daemon->socket);
	daemon->client = -1;
	daemon->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	daemon->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	return bind(daemon->listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	       listen(daemon->listener, 4) == 0 && pthread_create(&daemon->thread, NULL, serve, daemon) == 0;
}

void fake_daemon_end(struct fake_daemon *daemon)
{
	atomic_store(&daemon->stops, true);
	pthread_join(daemon->thread, NULL);
	if (daemon->client >= 0)
		forget_program(daemon);
	close(daemon->listener);
	close(daemon->event);
	unlink(daemon->socket);
	rmdir(daemon->directory);
}
