/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/loop/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/loop/log.h"

/* A manager whose queue stays full for so long does not work any more. */
#define SEND_SECONDS 5

/* The length of the manager's address; 0: there is none. */
static socklen_t find_manager(struct sockaddr_un *address)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length;

	if (!path || (path[0] != '/' && path[0] != '@'))
		return 0;
	length = strlen(path);
	if (length >= sizeof(address->sun_path))
		return 0;
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(address->sun_path, path, length);
	if (path[0] == '@')
		address->sun_path[0] = 0;	/* the abstract name space */
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

bool mimicd_notify_has_manager(void)
{
	struct sockaddr_un address;

	return find_manager(&address) > 0;
}

static int open_socket(void)
{
	const struct timeval limit = { .tv_sec = SEND_SECONDS };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return fd;
}

static int send_message(int socket, const struct msghdr *message)
{
	ssize_t sent;

	do {
		sent = sendmsg(socket, message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	if (sent >= 0)
		return 0;
	return errno == EAGAIN ? -ETIMEDOUT : -errno;
}

int mimicd_notify_with(const char *state, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec piece = { (void *)(uintptr_t)state, strlen(state) };
	struct sockaddr_un address;
	struct msghdr message = { .msg_name = &address, .msg_iov = &piece, .msg_iovlen = 1 };
	int socket, error;

	message.msg_namelen = find_manager(&address);
	if (!message.msg_namelen)
		return -ENOTCONN;
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
	socket = open_socket();
	if (socket < 0)
		return socket;
	error = send_message(socket, &message);
	close(socket);
	return error;
}

void mimicd_notify(const char *state)
{
	int error;

	if (!mimicd_notify_has_manager())
		return;
	error = mimicd_notify_with(state, -1);
	if (error)
		mimicd_log(MIMICD_LOG_WARNING, "%s: cannot notify the service manager: %s",
			   getenv("NOTIFY_SOCKET"), strerror(-error));
}
