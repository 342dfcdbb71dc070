/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The daemon's end of the socket. What is no message at all ends the session;
 * a message that is refused gets an error. Either way one log line says why,
 * and no descriptor that came along stays open.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/clients/session.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/events.h"
#include "daemon/engine/execute.h"
#include "daemon/engine/state.h"
#include "daemon/loop/log.h"

#define DESCRIPTORS_MAX 4
/* A client that goes on sending what we refuse would fill the log. */
#define COMPLAINTS_MAX 16
/* Messages taken from one client before others have their turn. */
#define MESSAGES_PER_TURN 16

struct packet {
	union {
		struct mimic_message header;
		struct mimic_hello hello;
		struct mimic_open open;
		struct mimic_device_request device;
		struct mimic_lane_request lane;
		struct mimic_number_request number;
		struct mimic_memory_request memory;
		struct mimic_add add;
		struct mimic_inject inject;
		struct mimic_event_request event;
		struct mimic_state_request state;
		char bytes[MIMIC_MESSAGE_MAX];
	};
	size_t length;
	int fds[DESCRIPTORS_MAX];
	unsigned int fd_count;
	bool truncated;
};

static const struct {
	const char *name;
	size_t size;
	unsigned int fds;
} types[MIMIC_MESSAGE_TYPES] = {
#define _(number, name, request, reply, descriptors, meaning) \
	[number] = { #name, sizeof(struct request), descriptors },
	MIMIC_MESSAGES(_)
#undef _
};

static void close_descriptors(struct packet *packet)
{
	while (packet->fd_count)
		close(packet->fds[--packet->fd_count]);
}

/* 1: a packet, 0: none now, -errno: the client is gone. */
static int receive(int socket, struct packet *packet)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
	struct iovec piece = { packet->bytes, sizeof(packet->bytes) };
	struct msghdr message = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	packet->fd_count = 0;
	if (length < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (struct cmsghdr *entry = CMSG_FIRSTHDR(&message); entry; entry = CMSG_NXTHDR(&message, entry)) {
		size_t size = entry->cmsg_len - CMSG_LEN(0);

		if (entry->cmsg_level != SOL_SOCKET || entry->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(packet->fds, CMSG_DATA(entry), size);
		packet->fd_count = (unsigned int)(size / sizeof(int));
	}
	packet->truncated = message.msg_flags & (MSG_TRUNC | MSG_CTRUNC);
	packet->length = (size_t)length;
	/* An empty packet and the end of the connection look the same, and are. */
	return length ? 1 : -EPIPE;
}

static void send_reply(struct mimicd_session *session, const struct packet *packet, void *reply,
		       size_t size, int error, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct mimic_message *header = reply;
	struct iovec piece = { reply, size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

	*header = (struct mimic_message){
		.size = (uint32_t)size,
		.type = packet->header.type | MIMIC_MESSAGE_REPLY,
		.sequence = packet->header.sequence,
		.error = error,
	};
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
	if (sendmsg(session->socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return;
	if (errno == EAGAIN)
		mimicd_client_break(&session->client, "it does not read its replies");
	else if (errno != EPIPE && errno != ECONNRESET)
		mimicd_client_break(&session->client, "cannot send a reply: %s", strerror(errno));
}

static void reply_plain(struct mimicd_session *session, const struct packet *packet, int error)
{
	struct mimic_message reply;

	send_reply(session, packet, &reply, sizeof(reply), error, -1);
}

static void complain(struct mimicd_session *session, const struct packet *packet, int error,
		     const char *why)
{
	mimicd_log(MIMICD_LOG_WARNING, "process %d (%s): %s was refused: %s (%s)", (int)session->client.program.pid,
		   session->client.program.name, types[packet->header.type].name, why, strerror(-error));
	if (++session->complaints > COMPLAINTS_MAX)
		mimicd_client_break(&session->client, "too many refused messages");
	reply_plain(session, packet, error);
}

static void do_hello(struct mimicd_session *session, const struct packet *packet)
{
	struct mimic_hello_reply reply = {
		.magic = MIMIC_PROTOCOL_MAGIC,
		.version = MIMIC_PROTOCOL_VERSION,
		.daemon_pid = (uint32_t)getpid(),
		.spin_microseconds = session->clients->engine->settings.spin_microseconds,
	};

	if (packet->hello.magic != MIMIC_PROTOCOL_MAGIC) {
		mimicd_client_break(&session->client, "HELLO without the magic number: no client of mimic");
		return;
	}
	if (packet->hello.version != MIMIC_PROTOCOL_VERSION) {
		send_reply(session, packet, &reply, sizeof(reply), -EPROTO, -1);
		mimicd_client_break(&session->client, "it speaks version %u of the protocol, this daemon %u",
				     packet->hello.version, MIMIC_PROTOCOL_VERSION);
		return;
	}
	session->greeted = session->client.is_shown = true;
	send_reply(session, packet, &reply, sizeof(reply), 0, session->event_fd);
}

static void do_open(struct mimicd_session *session, const struct packet *packet)
{
	struct mimic_open_reply reply = { 0 };
	struct mimicd_instance *instance;
	uint64_t none;
	uint32_t number;
	int error;

	if (packet->open.name[MIMIC_NAME_MAX - 1]) {
		complain(session, packet, -EINVAL, "the name does not end");
		return;
	}
	error = mimicd_client_open(&session->client, packet->open.name, &number);
	if (error) {
		reply_plain(session, packet, error);
		return;
	}
	instance = session->client.devices[number].instance;
	reply.device = number;
	reply.counters = (uint32_t)instance->model->ops->counters(instance->model, &none, 0);
	memcpy(reply.name, instance->name, sizeof(reply.name));
	/* A process that has the device through the kernel maps its node. */
	if (instance->device_memory.fd >= 0)
		reply.memory_size = instance->device_memory.size;
	mimicd_log(MIMICD_LOG_DEBUG, "process %d (%s) opened %s", (int)session->client.program.pid,
		   session->client.program.name, instance->name);
	send_reply(session, packet, &reply, sizeof(reply), 0, instance->device_memory.fd);
}

static void do_eventfd(struct mimicd_session *session, const struct packet *packet)
{
	uint32_t number = packet->event.device;
	struct mimicd_instance *instance = NULL;
	int error = -ENODEV;

	if (number < MIMIC_SESSION_DEVICES)
		instance = session->client.devices[number].instance;
	if (instance && mimicd_instance_is_bound(instance))
		error = -EOPNOTSUPP;	/* the function driver has its events */
	else if (instance)
		error = mimicd_events_set(instance, packet->fd_count ? packet->fds[0] : -1,
					  packet->event.events);
	if (error == -EINVAL)
		complain(session, packet, error, "no eventfd, or no such events");
	else
		reply_plain(session, packet, error);
}

static void do_trace(struct mimicd_session *session, const struct packet *packet)
{
	bool is_of_bus = packet->header.type == MIMIC_MESSAGE_TRACE_BUS;
	const char *why;
	int error = is_of_bus ? mimicd_trace_bus_start(&session->client, packet->fds[0], &why) :
				mimicd_trace_start(&session->client, packet->fds[0], &why);

	if (error)
		complain(session, packet, error, why ? why : "no trace");
	else
		reply_plain(session, packet, 0);
}

/* A new thread of a process that has its devices by a driver is known by its number. */
static pid_t find_tid(struct mimicd_session *session, const struct mimic_lane_request *request)
{
	if (!session->client.process || request->thread)
		return 0;
	/* Threads whose end the driver has told: a new thread may have the number of one. */
	mimicd_front_ends_poll(session->clients->engine, true);
	return mimicd_thread_id(session->client.program.pid, request->tid);
}

static void do_lane(struct mimicd_session *session, const struct packet *packet)
{
	const struct mimic_lane_request *request = &packet->lane;
	struct mimic_lane_reply reply = {
		.command_words = MIMIC_LANE_COMMAND_WORDS,
		.response_words = MIMIC_LANE_RESPONSE_WORDS,
	};
	pid_t tid = find_tid(session, request);
	struct mimicd_lane *lane;
	int fd, error;

	error = mimicd_lane_create(&session->client, request->thread, request->level, tid, &lane, &fd);
	if (error) {
		complain(session, packet, error, "no lane");
		return;
	}
	reply.lane = lane->number;
	reply.thread = lane->thread->number;
	send_reply(session, packet, &reply, sizeof(reply), 0, fd);
	close(fd);
}

static void do_lane_number(struct mimicd_session *session, const struct packet *packet)
{
	struct mimicd_lane *lane = mimicd_lane_find(&session->client, packet->number.number);

	if (!lane) {
		complain(session, packet, -ENOENT, "no such lane");
		return;
	}
	if (packet->header.type == MIMIC_MESSAGE_CANCEL)
		mimicd_lane_cancel(lane);
	else
		mimicd_lane_retire(lane);
	reply_plain(session, packet, 0);
}

static void do_thread_gone(struct mimicd_session *session, const struct packet *packet)
{
	int error = mimicd_thread_end(&session->client, packet->number.number);

	if (error)
		complain(session, packet, error, "no such thread");
	else
		reply_plain(session, packet, 0);
}

static void do_memory_add(struct mimicd_session *session, const struct packet *packet)
{
	const struct mimic_memory_request *request = &packet->memory;
	const char *why;
	int error = mimicd_memory_add(&session->client.memory, packet->fds[0], request->address,
				      request->size, request->offset, &why);

	if (error)
		complain(session, packet, error, why ? why : "no memory");
	else
		reply_plain(session, packet, 0);
}

static void do_memory_remove(struct mimicd_session *session, const struct packet *packet)
{
	const struct mimic_memory_request *request = &packet->memory;
	int error;

	/* What was posted while the range was there may still use it. */
	mimicd_lanes_drain(&session->client);
	error = request->offset ? -EINVAL :
		mimicd_memory_remove(&session->client.memory, request->address, request->size);
	if (error)
		complain(session, packet, error, "no such range");
	else
		reply_plain(session, packet, 0);
}

static int memfd_with(const char *text, size_t size)
{
	int fd = memfd_create("mimic text", MFD_CLOEXEC);
	size_t done = 0;

	if (fd < 0)
		return -errno;
	while (done < size) {
		ssize_t written = write(fd, text + done, size - done);

		if (written <= 0) {
			close(fd);
			return -EIO;
		}
		done += (size_t)written;
	}
	return fd;
}

static bool has_read_all(const struct mimicd_session *session)
{
	int unread = 0;

	return ioctl(session->socket, SIOCOUTQ, &unread) || !unread;
}

/* Texts that wait in a socket are memory that counts for nobody: one is the most that a client leaves there. */
static bool may_have_text(struct mimicd_session *session, const struct packet *packet)
{
	if (session->text_is_out)
		reply_plain(session, packet, -EAGAIN);
	return !session->text_is_out;
}

/* Takes the text; NULL: there was no memory for it. */
static void reply_text(struct mimicd_session *session, const struct packet *packet, char *text)
{
	struct mimic_list_reply reply = { 0 };
	int fd = -ENOMEM;

	if (text) {
		reply.size = strlen(text);
		fd = memfd_with(text, reply.size);
	}
	free(text);
	if (fd < 0) {
		reply_plain(session, packet, fd);
		return;
	}
	send_reply(session, packet, &reply, sizeof(reply), 0, fd);
	session->text_is_out = true;
	close(fd);
}

static void do_list(struct mimicd_session *session, const struct packet *packet)
{
	if (may_have_text(session, packet))
		reply_text(session, packet, mimicd_list_text(session->clients->engine, &session->client));
}

static void do_state(struct mimicd_session *session, const struct packet *packet)
{
	const struct mimic_state_request *request = &packet->state;
	struct mimicd_instance *instance;
	int error;

	if (request->name[MIMIC_NAME_MAX - 1] || request->flags & ~(uint32_t)MIMIC_STATE_WITH_BYTES) {
		complain(session, packet, -EINVAL, "the name does not end, or no such flags");
		return;
	}
	error = mimicd_state_find(session->clients->engine, request->name, session->client.program.uid, &instance);
	if (error)
		reply_plain(session, packet, error);
	else if (may_have_text(session, packet))
		reply_text(session, packet, mimicd_state_text(session->clients->engine, instance,
							      request->flags & MIMIC_STATE_WITH_BYTES));
}

static void do_add(struct mimicd_session *session, const struct packet *packet)
{
	struct mimic_add_reply reply = { 0 };
	int error = mimicd_instance_add(session->clients->engine, packet->add.kind, reply.name);

	if (error)
		reply_plain(session, packet, error);
	else
		send_reply(session, packet, &reply, sizeof(reply), 0, -1);
}

static int inject(struct mimicd_engine *engine, const struct mimic_inject *request)
{
	struct mimicd_instance *instance;
	int error = mimicd_instance_find(engine, request->name, &instance);

	return error ? error : mimicd_inject(instance, request->what);
}

static int reset(struct mimicd_session *session, const struct packet *packet)
{
	struct mimicd_instance *instance;
	int error = mimicd_state_find(session->clients->engine, packet->open.name, session->client.program.uid, &instance);

	if (error)
		return error;
	if (packet->header.type == MIMIC_MESSAGE_RESET)
		return mimicd_state_reset(session->clients->engine, instance);
	return mimicd_state_clear_counters(session->clients->engine, instance);
}

/* ADD, REMOVE, INJECT, RESET, CLEAR_COUNTERS: for whoever may stop the daemon. */
static void do_manage(struct mimicd_session *session, const struct packet *packet)
{
	const char *text = packet->header.type == MIMIC_MESSAGE_INJECT ? packet->inject.name :
			   packet->header.type == MIMIC_MESSAGE_ADD ? packet->add.kind : packet->open.name;
	size_t size = packet->header.type == MIMIC_MESSAGE_ADD ? MIMIC_KIND_MAX : MIMIC_NAME_MAX;

	if (!mimicd_state_may_manage(session->client.program.uid))
		complain(session, packet, -EPERM, "it is neither root's nor the daemon's user's");
	else if (text[size - 1])
		complain(session, packet, -EINVAL, "the name does not end");
	else if (packet->header.type == MIMIC_MESSAGE_ADD)
		do_add(session, packet);
	else if (packet->header.type == MIMIC_MESSAGE_REMOVE)
		reply_plain(session, packet, mimicd_instance_remove(session->clients->engine, text));
	else if (packet->header.type == MIMIC_MESSAGE_INJECT)
		reply_plain(session, packet, inject(session->clients->engine, &packet->inject));
	else
		reply_plain(session, packet, reset(session, packet));
}

/* What is wrong with the packet as a message; NULL: nothing that ends the session. */
static const char *find_damage(const struct packet *packet)
{
	const struct mimic_message *header = &packet->header;

	if (packet->truncated)
		return "a message that is too long or has too many descriptors";
	if (packet->length < sizeof(*header))
		return "a message that is shorter than its header";
	if (header->size != packet->length)
		return "a message that is not as long as it says";
	return NULL;
}

/* Reserved fields, all where a later version could give them a meaning. */
static bool reserved_is_set(const struct packet *packet)
{
	switch (packet->header.type) {
	case MIMIC_MESSAGE_HELLO:
		return packet->hello.reserved;
	case MIMIC_MESSAGE_CLOSE:
		return packet->device.reserved;
	case MIMIC_MESSAGE_LANE:
		return packet->lane.reserved;
	case MIMIC_MESSAGE_INJECT:
		return packet->inject.reserved;
	case MIMIC_MESSAGE_EVENTFD:
		return packet->event.reserved;
	case MIMIC_MESSAGE_STATE:
		return packet->state.reserved;
	case MIMIC_MESSAGE_LANE_DROP:
	case MIMIC_MESSAGE_THREAD_GONE:
	case MIMIC_MESSAGE_CANCEL:
		return packet->number.reserved;
	default:
		return false;
	}
}

static void dispatch(struct mimicd_session *session, const struct packet *packet)
{
	switch ((enum mimic_message_type)packet->header.type) {
	case MIMIC_MESSAGE_HELLO:
		do_hello(session, packet);
		return;
	case MIMIC_MESSAGE_OPEN:
		do_open(session, packet);
		return;
	case MIMIC_MESSAGE_CLOSE:
		reply_plain(session, packet, mimicd_client_close(&session->client, packet->device.device));
		return;
	case MIMIC_MESSAGE_LANE:
		do_lane(session, packet);
		return;
	case MIMIC_MESSAGE_LANE_DROP:
	case MIMIC_MESSAGE_CANCEL:
		do_lane_number(session, packet);
		return;
	case MIMIC_MESSAGE_THREAD_GONE:
		do_thread_gone(session, packet);
		return;
	case MIMIC_MESSAGE_MEMORY_ADD:
		do_memory_add(session, packet);
		return;
	case MIMIC_MESSAGE_MEMORY_REMOVE:
		do_memory_remove(session, packet);
		return;
	case MIMIC_MESSAGE_LIST:
		do_list(session, packet);
		return;
	case MIMIC_MESSAGE_STATE:
		do_state(session, packet);
		return;
	case MIMIC_MESSAGE_ADD:
	case MIMIC_MESSAGE_REMOVE:
	case MIMIC_MESSAGE_INJECT:
	case MIMIC_MESSAGE_RESET:
	case MIMIC_MESSAGE_CLEAR_COUNTERS:
		do_manage(session, packet);
		return;
	case MIMIC_MESSAGE_EVENTFD:
		do_eventfd(session, packet);
		return;
	case MIMIC_MESSAGE_TRACE:
	case MIMIC_MESSAGE_TRACE_BUS:
		do_trace(session, packet);
		return;
	case MIMIC_MESSAGE_TYPES:
		return;
	}
}

static bool has_its_descriptors(const struct packet *packet)
{
	if (packet->fd_count == types[packet->header.type].fds)
		return true;
	return packet->header.type == MIMIC_MESSAGE_EVENTFD && !packet->fd_count;
}

static void handle(struct mimicd_session *session, const struct packet *packet)
{
	const struct mimic_message *header = &packet->header;
	const char *damage = find_damage(packet);

	if (damage) {
		mimicd_client_break(&session->client, "%s (%zu bytes)", damage, packet->length);
		return;
	}
	if (!header->type || header->type >= MIMIC_MESSAGE_TYPES) {
		mimicd_client_break(&session->client, "message type %u is unknown", header->type);
		return;
	}
	if (packet->length != types[header->type].size) {
		mimicd_client_break(&session->client, "%s of %zu bytes, not %zu", types[header->type].name,
				     packet->length, types[header->type].size);
		return;
	}
	if (!session->greeted && header->type != MIMIC_MESSAGE_HELLO) {
		mimicd_client_break(&session->client, "%s before HELLO", types[header->type].name);
		return;
	}
	if (session->text_is_out)
		session->text_is_out = !has_read_all(session);
	if (session->greeted && header->type == MIMIC_MESSAGE_HELLO)
		complain(session, packet, -EALREADY, "a second one");
	else if (header->flags || header->error || reserved_is_set(packet))
		complain(session, packet, -EINVAL, "unknown flags or a reserved field");
	else if (!has_its_descriptors(packet))
		complain(session, packet, -EINVAL, "the wrong number of descriptors");
	else
		dispatch(session, packet);
}

void mimicd_session_receive(struct mimicd_session *session)
{
	struct packet packet;

	for (int i = 0; i < MESSAGES_PER_TURN && !session->client.broken; i++) {
		int got = receive(session->socket, &packet);

		if (!got)
			return;
		if (got < 0) {
			mimicd_client_leave(&session->client);
			close_descriptors(&packet);
			return;
		}
		handle(session, &packet);
		close_descriptors(&packet);
	}
}
