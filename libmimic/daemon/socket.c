/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Connections to mimicd: messages over the socket. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "libmimic/base/clock.h"
#include "libmimic/base/error.h"
#include "libmimic/base/runtime_folder.h"
#include "libmimic/daemon/client.h"
#include "libmimic/daemon/session.h"

/* A daemon that is stopped in a debugger, or hangs, must not take its clients along for ever. */
#define REPLY_SECONDS 10
/* That end before the first answer. */
#define CONNECTIONS_MAX 3
/* Replies of earlier requests that one request drops: a daemon that sends more is no daemon of ours. */
#define OLD_REPLIES_MAX 64

static _Atomic unsigned int patience = REPLY_SECONDS;

void mimic_daemon_set_patience(unsigned int seconds)
{
	patience = seconds;
}

int mimic_daemon_socket_path(const char *wanted, char *path, size_t size)
{
	char folder[PATH_MAX];
	int length;

	if (!wanted)
		wanted = secure_getenv("MIMIC_SOCKET");
	if (wanted && *wanted)
		length = snprintf(path, size, "%s", wanted);
	else if (mimic_runtime_folder(folder, sizeof(folder)))
		return -ENAMETOOLONG;
	else
		length = snprintf(path, size, "%s/mimicd.sock", folder);
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

static int send_request(struct daemon_connection *connection, struct daemon_request *request, int flags)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec piece = { request->message, request->size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	ssize_t sent;

	*request->message = (struct mimic_message){
		.size = (uint32_t)request->size,
		.type = request->type,
		.sequence = ++connection->sequence,
	};
	if (request->fd >= 0) {
		struct cmsghdr *entry;

		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		entry = CMSG_FIRSTHDR(&message);
		entry->cmsg_level = SOL_SOCKET;
		entry->cmsg_type = SCM_RIGHTS;
		entry->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(entry), &request->fd, sizeof(int));
	}
	do {
		sent = sendmsg(connection->socket, &message, MSG_NOSIGNAL | flags);
	} while (sent < 0 && errno == EINTR);
	if (sent >= 0 || errno == EPIPE)
		return 0;	/* it may have left a last word: receive_reply() finds out */
	return errno == EAGAIN ? -ETIMEDOUT : -ENOTCONN;
}

static int received_descriptor(struct msghdr *message)
{
	int fd = -1;

	for (struct cmsghdr *entry = CMSG_FIRSTHDR(message); entry; entry = CMSG_NXTHDR(message, entry)) {
		if (entry->cmsg_level == SOL_SOCKET && entry->cmsg_type == SCM_RIGHTS)
			memcpy(&fd, CMSG_DATA(entry), sizeof(int));
	}
	return fd;
}

/* One packet, whosever reply it is. Its length, or -errno. */
static ssize_t receive_packet(struct daemon_connection *connection, struct daemon_request *request)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec piece = { request->reply, request->reply_size };
	struct msghdr message = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t length;

	do {
		length = recvmsg(connection->socket, &message, MSG_CMSG_CLOEXEC);
	} while (length < 0 && errno == EINTR);
	request->reply_fd = -1;
	if (length <= 0)
		return length < 0 && errno == EAGAIN ? -ETIMEDOUT : -ENOTCONN;
	request->reply_fd = received_descriptor(&message);
	return length;
}

/*
 * An earlier request's: of one that was given up (without a descriptor then), or sent again by the
 * successor of a daemon that ended before it had noted that it sent the reply.
 */
static bool is_old(struct daemon_connection *connection, const struct daemon_request *request,
		   ssize_t length)
{
	const struct mimic_message *header = request->reply;
	uint32_t age;

	if (length < (ssize_t)sizeof(*header) || !(header->type & MIMIC_MESSAGE_REPLY))
		return false;
	age = connection->sequence - header->sequence;
	if (!age || age > INT32_MAX)
		return false;
	if (connection->late && header->type == (MIMIC_MESSAGE_EXPLAIN | MIMIC_MESSAGE_REPLY) &&
	    request->reply_fd < 0) {
		connection->late--;
		return true;
	}
	return connection->recovery_seconds;
}

/* end: of the monotonic clock; 0: as long as any reply may take. */
static int await_packet(const struct daemon_connection *connection, uint64_t end)
{
	struct pollfd entry = { .fd = connection->socket, .events = POLLIN };
	uint64_t now;

	if (!end)
		return 0;
	now = mimic_now();
	return poll(&entry, 1, now < end ? (int)((end - now + 999999) / 1000000) : 0) > 0 ? 0 : -ETIMEDOUT;
}

/* The next packet that is not an earlier request's. Its length, or -errno. */
static ssize_t receive_own(struct daemon_connection *connection, struct daemon_request *request, uint64_t end)
{
	for (unsigned int dropped = 0; dropped <= OLD_REPLIES_MAX; dropped++) {
		ssize_t length = await_packet(connection, end);

		if (!length)
			length = receive_packet(connection, request);
		if (!is_old(connection, request, length))
			return length;
		if (request->reply_fd >= 0)
			close(request->reply_fd);
		request->reply_fd = -1;
	}
	return -EPROTO;
}

static int receive_reply(struct daemon_connection *connection, struct daemon_request *request, uint64_t end)
{
	const struct mimic_message *header = request->reply;
	ssize_t length = receive_own(connection, request, end);

	if (length < 0)
		return (int)length;
	if ((size_t)length < sizeof(*header) || header->size != (size_t)length || header->flags ||
	    header->type != (request->type | MIMIC_MESSAGE_REPLY) || header->error > 0 ||
	    (!header->error && (size_t)length != request->reply_size))
		return -EPROTO;
	/* A daemon that refuses a connection does not wait for its HELLO. */
	if (header->sequence != connection->sequence &&
	    !(request->type == MIMIC_MESSAGE_HELLO && header->error))
		return -EPROTO;
	return 0;
}

int mimic_daemon_exchange(struct daemon_connection *connection, struct daemon_request *request)
{
	int saved = errno;
	int error = send_request(connection, request, 0);

	if (error)
		request->reply_fd = -1;
	else
		error = receive_reply(connection, request, 0);
	if (error)
		shutdown(connection->socket, SHUT_RDWR);	/* out of step: no further use */
	else
		error = ((struct mimic_message *)request->reply)->error;
	if (error && request->reply_fd >= 0) {
		close(request->reply_fd);
		request->reply_fd = -1;
	}
	errno = saved;
	return error;
}

int mimic_daemon_exchange_within(struct daemon_connection *connection, struct daemon_request *request,
				 unsigned int milliseconds)
{
	uint64_t end = mimic_now() + milliseconds * 1000000ull;
	struct pollfd entry = { .fd = connection->socket, .events = POLLIN };
	int saved = errno;
	int error;

	request->reply_fd = -1;
	/* A daemon that has left one without an answer would do the same with this one. */
	if (connection->late && poll(&entry, 1, 0) <= 0)
		return -ETIMEDOUT;
	error = send_request(connection, request, MSG_DONTWAIT);
	if (!error) {
		error = receive_reply(connection, request, end);
		if (!error)
			error = ((struct mimic_message *)request->reply)->error;
		else if (error == -ETIMEDOUT)
			connection->late++;
		else
			shutdown(connection->socket, SHUT_RDWR);
	}
	errno = saved;
	return error;
}

/* Nothing that the daemon does, or leaves undone, takes longer; nor its successor, once that is there. */
static void limit_waits(int fd, unsigned int recovery_seconds)
{
	struct timeval limit = { .tv_sec = (time_t)patience + recovery_seconds };

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

static int open_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred peer;
	socklen_t length = sizeof(peer);
	int fd, error;

	if (strlen(path) >= sizeof(address.sun_path))
		return mimic_error(-EINVAL, "%.200s: too long for a socket's path", path);
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return mimic_error(-errno, "no socket: %s", strerror(errno));
	limit_waits(fd, 0);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		error = errno;
		close(fd);
		mimic_error(-error, "no mimicd at %s: %s", path, strerror(error));
		return error == EACCES || error == EPERM ? -EACCES : -ECONNREFUSED;
	}
	/* The daemon reads our memory: it has to be root's or this user's. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0 ||
	    (peer.uid != geteuid() && peer.uid != 0)) {
		close(fd);
		return mimic_error(-EACCES, "mimicd at %s is of another user", path);
	}
	return fd;
}

static int explain_hello(int error, const char *path, const struct mimic_hello_reply *hello)
{
	switch (error) {
	case -EPROTO:
		return mimic_error(error, "mimicd at %s speaks version %u of the protocol, this library %u",
				   path, hello->magic == MIMIC_PROTOCOL_MAGIC ? hello->version : 0,
				   MIMIC_PROTOCOL_VERSION);
	case -EACCES:
		return mimic_error(error, "mimicd at %s does not serve this user", path);
	case -EDQUOT:
		return mimic_error(error, "mimicd at %s: as many programs of this user are connected as may be", path);
	case -ENOSPC:
		return mimic_error(error, "mimicd at %s: as many programs are connected as can be", path);
	default:
		return mimic_error(error, "mimicd at %s: %s", path, strerror(-error));
	}
}

int mimic_daemon_greet(struct daemon_connection *connection, int fd, const char *path,
		       struct mimic_hello_reply *hello, int *event_fd)
{
	struct mimic_hello message = {
		.magic = MIMIC_PROTOCOL_MAGIC,
		.version = MIMIC_PROTOCOL_VERSION,
	};
	struct daemon_request request = {
		.message = &message.header,
		.size = sizeof(message),
		.type = MIMIC_MESSAGE_HELLO,
		.fd = -1,
		.reply = hello,
		.reply_size = sizeof(*hello),
	};
	int error;

	limit_waits(fd, 0);
	memset(hello, 0, sizeof(*hello));
	*connection = (struct daemon_connection){ .socket = fd };
	error = mimic_daemon_exchange(connection, &request);
	if (!error && (hello->magic != MIMIC_PROTOCOL_MAGIC || request.reply_fd < 0))
		error = -EPROTO;
	if (error) {
		if (request.reply_fd >= 0)
			close(request.reply_fd);
		close(fd);
		return explain_hello(error, path, hello);
	}
	connection->recovery_seconds = hello->recovery_seconds;
	limit_waits(fd, hello->recovery_seconds);
	if (event_fd)
		*event_fd = request.reply_fd;
	else
		close(request.reply_fd);
	return 0;
}

int mimic_daemon_connect(struct daemon_connection *connection, const char *path,
			 struct mimic_hello_reply *hello, int *event_fd)
{
	int error = -ENOTCONN;

	/* A daemon that is killed when it has just accepted us leaves no trace of that to the next one. */
	for (int tries = 0; error == -ENOTCONN && tries < CONNECTIONS_MAX; tries++) {
		int fd = open_socket(path);

		error = fd < 0 ? fd : mimic_daemon_greet(connection, fd, path, hello, event_fd);
	}
	return error;
}

int mimic_daemon_read_text(int fd, uint64_t size, char **json)
{
	char *text = size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
	size_t done = 0;

	if (!text)
		return -ENOMEM;
	while (done < size) {
		ssize_t got = pread(fd, text + done, (size_t)size - done, (off_t)done);

		if (got <= 0) {
			free(text);
			return got < 0 ? -errno : -EPROTO;
		}
		done += (size_t)got;
	}
	text[done] = 0;
	*json = text;
	return 0;
}

int mimic_daemon_list(const char *socket_path, char **json)
{
	struct mimic_message message;
	struct mimic_list_reply reply;
	struct mimic_hello_reply hello;
	struct daemon_connection connection;
	struct daemon_request request = {
		.message = &message,
		.size = sizeof(message),
		.type = MIMIC_MESSAGE_LIST,
		.fd = -1,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};
	char path[sizeof(mimic_daemon_sessions[0].path)];
	int error = mimic_daemon_socket_path(socket_path, path, sizeof(path));

	if (error)
		return mimic_error(-EINVAL, "the socket's path is too long");
	error = mimic_daemon_connect(&connection, path, &hello, NULL);
	if (error)
		return error;
	error = mimic_daemon_exchange(&connection, &request);
	if (!error)
		error = request.reply_fd < 0 ? -EPROTO : mimic_daemon_read_text(request.reply_fd, reply.size, json);
	if (request.reply_fd >= 0)
		close(request.reply_fd);
	close(connection.socket);
	return error ? mimic_error(error, "mimicd at %s: %s", path, strerror(-error)) : 0;
}
