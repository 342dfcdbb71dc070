/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/embedded/state_socket.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "libmimic/base/quiet_thread.h"
#include "libmimic/base/runtime_folder.h"
#include "libmimic/embedded/state.h"
#include "mimic/protocol.h"

/* A client that sends nothing does not keep others waiting for longer. */
#define PATIENCE_MS 1000
/* A program that closed our descriptors is noticed so soon. */
#define CHECK_MS 1000
/* There was no descriptor or memory for a client: the program may give some back. */
#define REST_MS 100
#define BACKLOG 16

/*
 * A program may close descriptors that are not its own, and open files of its own with their
 * numbers: a number is ours only as long as it is the same file.
 */
struct descriptor {
	int fd;
	dev_t device;
	ino_t inode;
};

/* Of this process; a forked child has none until it opens a device. */
static struct {
	bool is_there;
	bool was_tried;
	pid_t pid;
	struct descriptor listener;
	struct descriptor stop;		/* the thread's end of a pair */
	struct descriptor stopper;	/* the other one */
	atomic_bool is_over;
	pthread_t thread;
	struct sockaddr_un address;
} own;

/* fd may be -1: then it has no client. */
static struct descriptor describe(int fd)
{
	struct descriptor made = { .fd = fd };
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		return (struct descriptor){ .fd = -1 };
	made.device = status.st_dev;
	made.inode = status.st_ino;
	return made;
}

static bool is_ours(const struct descriptor *descriptor)
{
	struct stat status;

	return descriptor->fd >= 0 && !fstat(descriptor->fd, &status) &&
	       status.st_dev == descriptor->device && status.st_ino == descriptor->inode;
}

static void close_ours(struct descriptor *descriptor)
{
	if (is_ours(descriptor))
		close(descriptor->fd);
	descriptor->fd = -1;
}

/* The folder that the user names for the sockets; NULL: none. */
static const char *named_folder(void)
{
	const char *wanted = secure_getenv("MIMIC_STATE");

	return wanted && *wanted == '/' ? wanted : NULL;
}

int mimic_embedded_socket_directory(char *path, size_t size)
{
	const char *named = named_folder();
	int length;

	if (!named)
		return mimic_runtime_folder(path, size);
	length = snprintf(path, size, "%s", named);
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int mimic_embedded_socket_make_directory(const char *path)
{
	if (!named_folder())
		return mimic_runtime_folder_make(path);
	return mkdir(path, 0755) && errno != EEXIST ? -errno : 0;
}

int mimic_embedded_socket_path(pid_t pid, char *path, size_t size)
{
	int error = mimic_embedded_socket_directory(path, size), length;
	size_t used;

	if (error)
		return error;
	used = strlen(path);
	length = snprintf(path + used, size - used, "/" MIMIC_STATE_SOCKET_PREFIX "%d", (int)pid);
	return length < 0 || (size_t)length >= size - used ? -ENAMETOOLONG : 0;
}

/* --- messages ------------------------------------------------------------------------- */

union request {
	struct mimic_message header;
	struct mimic_hello hello;
	struct mimic_open open;
	struct mimic_state_request state;
	char bytes[MIMIC_MESSAGE_MAX];
};

static void send_reply(const struct descriptor *client, const union request *request, void *reply, size_t size,
		       int error, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec piece = { reply, size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

	*(struct mimic_message *)reply = (struct mimic_message){
		.size = (uint32_t)size,
		.type = request->header.type | MIMIC_MESSAGE_REPLY,
		.sequence = request->header.sequence,
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
	if (is_ours(client))
		(void)!sendmsg(client->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void reply_plain(const struct descriptor *client, const union request *request, int error)
{
	struct mimic_message reply;

	send_reply(client, request, &reply, sizeof(reply), error, -1);
}

static void do_hello(const struct descriptor *client, const union request *request)
{
	struct mimic_hello_reply reply = {
		.magic = MIMIC_PROTOCOL_MAGIC,
		.version = MIMIC_PROTOCOL_VERSION,
		.daemon_pid = (uint32_t)getpid(),
	};
	bool speaks_it = request->hello.magic == MIMIC_PROTOCOL_MAGIC &&
			 request->hello.version == MIMIC_PROTOCOL_VERSION;
	/* A client of the protocol expects one, though there are no lanes here to kick. */
	struct descriptor event = describe(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));

	send_reply(client, request, &reply, sizeof(reply), speaks_it ? 0 : -EPROTO, speaks_it ? event.fd : -1);
	close_ours(&event);
}

/* Takes the text; NULL: there was no memory for it. */
static void reply_text(const struct descriptor *client, const union request *request, char *text)
{
	struct mimic_list_reply reply = { .size = text ? strlen(text) : 0 };
	struct descriptor file = describe(text ? memfd_create("mimic text", MFD_CLOEXEC) : -1);
	uint64_t done = 0;

	while (done < reply.size && is_ours(&file)) {
		ssize_t written = write(file.fd, text + done, reply.size - done);

		if (written <= 0)
			break;
		done += (uint64_t)written;
	}
	if (is_ours(&file) && done == reply.size)
		send_reply(client, request, &reply, sizeof(reply), 0, file.fd);
	else
		reply_plain(client, request, -ENOMEM);
	close_ours(&file);
	free(text);
}

static void do_state(const struct descriptor *client, const union request *request)
{
	uint32_t flags = request->state.flags;
	char *text = NULL;
	int error = -EINVAL;

	if (!(flags & ~(uint32_t)MIMIC_STATE_WITH_BYTES) && !request->state.reserved)
		error = mimic_embedded_state_text(request->state.name, flags & MIMIC_STATE_WITH_BYTES, &text);
	if (error)
		reply_plain(client, request, error);
	else
		reply_text(client, request, text);
}

static size_t size_of(unsigned int type)
{
	switch (type) {
	case MIMIC_MESSAGE_HELLO:
		return sizeof(struct mimic_hello);
	case MIMIC_MESSAGE_STATE:
		return sizeof(struct mimic_state_request);
	case MIMIC_MESSAGE_RESET:
	case MIMIC_MESSAGE_CLEAR_COUNTERS:
		return sizeof(struct mimic_open);
	default:
		return sizeof(struct mimic_message);
	}
}

/* A request whose length is that of its header and of its type; the others end the connection. */
static bool is_sound(union request *request, ssize_t length)
{
	if (length < (ssize_t)sizeof(request->header) || request->header.size != (size_t)length ||
	    request->header.flags || request->header.error || (size_t)length < size_of(request->header.type))
		return false;
	/* Where all that have a name have it. */
	request->state.name[MIMIC_NAME_MAX - 1] = 0;
	return true;
}

static void answer(const struct descriptor *client, const union request *request)
{
	switch (request->header.type) {
	case MIMIC_MESSAGE_HELLO:
		do_hello(client, request);
		return;
	case MIMIC_MESSAGE_LIST:
		reply_text(client, request, mimic_embedded_state_list());
		return;
	case MIMIC_MESSAGE_STATE:
		do_state(client, request);
		return;
	case MIMIC_MESSAGE_RESET:
		reply_plain(client, request, mimic_embedded_state_reset(request->open.name));
		return;
	case MIMIC_MESSAGE_CLEAR_COUNTERS:
		reply_plain(client, request, mimic_embedded_state_clear_counters(request->open.name));
		return;
	default:
		reply_plain(client, request, -EOPNOTSUPP);
		return;
	}
}

_Static_assert(offsetof(struct mimic_open, name) == offsetof(struct mimic_state_request, name),
	       "names are at one place");

/* --- the thread ---------------------------------------------------------------------------- */

static bool is_over(void)
{
	return atomic_load(&own.is_over) || !is_ours(&own.listener) || !is_ours(&own.stop);
}

/* 1: it has something to say; 0: not for so long; -1: it will not. */
static int wait_for(const struct descriptor *descriptor, int milliseconds)
{
	struct pollfd entries[] = {
		{ .fd = descriptor->fd, .events = POLLIN },
		{ .fd = own.stop.fd, .events = POLLIN },
	};
	int count;

	do {
		count = poll(entries, 2, milliseconds);
	} while (count < 0 && errno == EINTR);
	if (count < 0 || entries[1].revents || is_over() || !is_ours(descriptor))
		return -1;
	if (!count)
		return 0;
	return entries[0].revents == POLLIN ? 1 : -1;
}

static bool is_welcome(const struct descriptor *client)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	return !getsockopt(client->fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

static void serve_client(const struct descriptor *client)
{
	union request request;

	while (wait_for(client, PATIENCE_MS) > 0) {
		ssize_t length = recv(client->fd, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);

		if (length > (ssize_t)sizeof(request) || !is_sound(&request, length))
			return;
		answer(client, &request);
	}
}

static void rest(void)
{
	struct pollfd entry = { .fd = own.stop.fd, .events = POLLIN };

	poll(&entry, 1, REST_MS);
}

static void accept_client(void)
{
	struct descriptor client = describe(accept4(own.listener.fd, NULL, NULL, SOCK_CLOEXEC));

	if (client.fd < 0) {
		rest();
		return;
	}
	if (is_welcome(&client))
		serve_client(&client);
	close_ours(&client);
}

static void *serve(void *argument)
{
	int ready;

	(void)argument;
	pthread_setname_np(pthread_self(), "mimic-state");
	while ((ready = wait_for(&own.listener, CHECK_MS)) >= 0) {
		if (ready)
			accept_client();
	}
	/* No client may wait for an answer that does not come. */
	unlink(own.address.sun_path);
	close_ours(&own.listener);
	return NULL;
}

/* --- beginning and end --------------------------------------------------------------------- */

static bool is_asked_for(void)
{
	const char *value = secure_getenv("MIMIC_STATE");

	return value && *value && strcmp(value, "0") != 0;
}

static int listen_at(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	/* This process before an exec, or an earlier one with its number, may have left a socket. */
	unlink(address->sun_path);
	/* The file gets this mode; umask() would be for all threads of the program. */
	if (!fchmod(fd, 0600) && !bind(fd, (const struct sockaddr *)address, sizeof(*address)) &&
	    !listen(fd, BACKLOG))
		return fd;
	close(fd);
	return -1;
}

static void close_all(void)
{
	close_ours(&own.listener);
	close_ours(&own.stop);
	close_ours(&own.stopper);
}

/* All three, or none. */
static bool open_all(void)
{
	int pair[2] = { -1, -1 };

	(void)!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair);
	own.stop = describe(pair[0]);
	own.stopper = describe(pair[1]);
	own.listener = describe(pair[0] < 0 ? -1 : listen_at(&own.address));
	return own.listener.fd >= 0;
}

void mimic_embedded_socket_start(void)
{
	char directory[sizeof(own.address.sun_path)];
	int saved = errno;

	if (own.was_tried || !is_asked_for())
		return;
	own.was_tried = true;
	own.address.sun_family = AF_UNIX;
	if (mimic_embedded_socket_directory(directory, sizeof(directory)) ||
	    mimic_embedded_socket_path(getpid(), own.address.sun_path, sizeof(own.address.sun_path)))
		return;
	if (mimic_embedded_socket_make_directory(directory))
		return;
	own.pid = getpid();
	own.is_there = open_all() && !mimic_quiet_thread(&own.thread, serve, NULL);
	if (!own.is_there) {
		if (own.listener.fd >= 0)
			unlink(own.address.sun_path);
		close_all();
	}
	errno = saved;
}

void mimic_embedded_socket_after_fork(void)
{
	if (own.is_there)
		close_all();
	memset(&own, 0, sizeof(own));
}

__attribute__((destructor))
static void end(void)
{
	if (!own.is_there || own.pid != getpid())
		return;
	unlink(own.address.sun_path);
	atomic_store(&own.is_over, true);
	/* If it is not, the thread notices within CHECK_MS. */
	if (is_ours(&own.stopper))
		shutdown(own.stopper.fd, SHUT_WR);
	pthread_join(own.thread, NULL);
	close_all();
	own.is_there = false;
}
