/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/clients/packet.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/clients/internal.h"
#include "daemon/clients/record.h"
#include "daemon/engine/engine.h"
#include "daemon/loop/closer.h"
#include "daemon/journal/journal.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"

#define DESCRIPTORS_MAX 253	/* SCM_MAX_FD of Linux */
/* A client that goes on sending refused messages would fill the log. */
#define COMPLAINTS_MAX 16

const struct mimicd_message_type mimicd_message_types[MIMIC_MESSAGE_TYPES] = {
#define _(number, name, request, reply, descriptors, meaning) \
	[number] = { #name, sizeof(struct request), descriptors },
	MIMIC_MESSAGES(_)
#undef _
};

/* Trust boundary: the client chooses the descriptor's file, and so how long its close takes. */
static void close_descriptor(struct mimicd_session *session, int fd)
{
	mimicd_closer_close(session->clients->engine->loop->closer, session->client.program.uid, fd);
}

void mimicd_packet_close(struct mimicd_session *session, struct mimicd_packet *packet)
{
	while (packet->fd_count)
		close_descriptor(session, packet->fds[--packet->fd_count]);
}

/* Between two checks of a job that a message waits for. */
#define JOB_PAUSE_NS_MIN 200000u
#define JOB_PAUSE_NS_MAX 20000000u

/* More descriptors than any message has are ours now, too. */
static void take_descriptors(struct mimicd_session *session, struct mimicd_packet *packet, const int *fds,
			     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (packet->fd_count < MIMICD_PACKET_DESCRIPTORS) {
			packet->fds[packet->fd_count++] = fds[i];
			continue;
		}
		close_descriptor(session, fds[i]);
		packet->truncated = true;
	}
}

/* An event that the loop has already may still come: the user is looked at again then. */
void mimicd_packet_pause(struct mimicd_session *session)
{
	if (session->is_paused)
		return;
	session->is_paused = true;
	session->clients->paused++;
	mimicd_loop_forget(session->clients->engine->loop, session->socket);
}

void mimicd_packet_put_off(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	if (session->is_put_off)
		return;
	session->put_off = *packet;
	session->is_put_off = true;
	session->clients->put_off++;
	session->due = 0;
	session->waits_for_job = false;
	if (!session->put_off_since)
		session->put_off_since = mimic_now();
}

uint64_t mimicd_packet_waited(const struct mimicd_session *session)
{
	return session->put_off_since ? mimic_now() - session->put_off_since : 0;
}

void mimicd_packet_put_off_for_job(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	uint64_t pause;

	mimicd_packet_put_off(session, packet);
	session->waits_for_job = true;
	pause = mimicd_packet_waited(session) / 4;
	if (pause < JOB_PAUSE_NS_MIN)
		pause = JOB_PAUSE_NS_MIN;
	session->due = mimic_now() + (pause < JOB_PAUSE_NS_MAX ? pause : JOB_PAUSE_NS_MAX);
	mimicd_packet_pause(session);
}

void mimicd_packet_put_off_for_lock(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	mimicd_packet_put_off(session, packet);
	session->due = mimic_now() + JOB_PAUSE_NS_MAX;
	mimicd_packet_pause(session);
}

static int receive(struct mimicd_session *session, struct mimicd_packet *packet, int flags)
{
	/* Room for all that a message can have: the kernel would close the others, in this thread. */
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
	struct iovec piece = { packet->bytes, sizeof(packet->bytes) };
	struct msghdr message = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	int fds[DESCRIPTORS_MAX];
	struct mimicd_wake_clock clock;
	ssize_t length;
	int error;

	/* There is room for the sender's next one then, which wakes all that watch for it. */
	mimicd_wake_begin(&clock, session->client.user, MIMICD_WAKE_MESSAGE);
	length = recvmsg(session->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | flags);
	error = errno;
	mimicd_wake_end(&clock, session->client.user, MIMICD_WAKE_MESSAGE);
	packet->fd_count = 0;
	packet->truncated = false;
	if (length < 0)
		return error == EAGAIN || error == EINTR ? 0 : -error;
	for (struct cmsghdr *entry = CMSG_FIRSTHDR(&message); entry; entry = CMSG_NXTHDR(&message, entry)) {
		size_t size = entry->cmsg_len - CMSG_LEN(0);

		if (entry->cmsg_level != SOL_SOCKET || entry->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(fds, CMSG_DATA(entry), size);
		take_descriptors(session, packet, fds, size / sizeof(int));
	}
	packet->truncated |= message.msg_flags & (MSG_TRUNC | MSG_CTRUNC);
	packet->length = (size_t)length;
	/* An empty packet and the end of the connection look the same, and are. */
	return length ? 1 : -EPIPE;
}

int mimicd_packet_receive(struct mimicd_session *session, struct mimicd_packet *packet)
{
	/* A daemon that can be recovered leaves it there until it has answered. */
	return receive(session, packet, mimicd_journal_is_on() ? MSG_PEEK : 0);
}

void mimicd_packet_taken(struct mimicd_session *session)
{
	struct mimicd_packet packet;

	/* With its descriptors: the kernel would close those that we have no room for, in this thread. */
	if (mimicd_journal_is_on() && receive(session, &packet, 0))
		mimicd_packet_close(session, &packet);
}

static int send_timed(struct mimicd_session *session, const struct msghdr *message)
{
	struct mimicd_wake_clock clock;
	int error;

	mimicd_wake_begin(&clock, session->client.user, MIMICD_WAKE_MESSAGE);
	error = sendmsg(session->socket, message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
	mimicd_wake_end(&clock, session->client.user, MIMICD_WAKE_MESSAGE);
	return error;
}

void mimicd_reply(struct mimicd_session *session, const struct mimicd_packet *packet, void *reply,
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
	mimicd_session_note_reply(session, packet, reply, size);
	mimicd_journal_place();
	error = send_timed(session, &message);
	mimicd_journal_place_behind_reply();
	if (error == -EAGAIN)
		mimicd_client_break(&session->client, "it does not read its replies");
	else if (error && error != -EPIPE && error != -ECONNRESET)
		mimicd_client_break(&session->client, "cannot send a reply: %s", strerror(-error));
}

void mimicd_reply_plain(struct mimicd_session *session, const struct mimicd_packet *packet, int error)
{
	struct mimic_message reply;

	mimicd_reply(session, packet, &reply, sizeof(reply), error, -1);
}

void mimicd_complain(struct mimicd_session *session, const struct mimicd_packet *packet, int error,
		     const char *why)
{
	const struct mimicd_program *program = &session->client.program;

	mimicd_log_of(program->uid, MIMICD_LOG_WARNING, "process %d (%s): %s was refused: %s (%s)",
		      (int)program->pid, program->name, mimicd_message_types[packet->header.type].name, why, strerror(-error));
	if (++session->complaints > COMPLAINTS_MAX)
		mimicd_client_break(&session->client, "too many refused messages");
	mimicd_reply_plain(session, packet, error);
}
