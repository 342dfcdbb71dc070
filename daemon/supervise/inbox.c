/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/supervise/inbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int bind_somewhere(struct mimicd_inbox *inbox)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(sa_family_t);
	const int on = 1;

	if (setsockopt(inbox->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		return -errno;
	/* An address without a name: the kernel finds one. */
	if (bind(inbox->fd, (struct sockaddr *)&address, size))
		return -errno;
	size = sizeof(address);
	if (getsockname(inbox->fd, (struct sockaddr *)&address, &size))
		return -errno;
	snprintf(inbox->name, sizeof(inbox->name), "@%.*s",
		 (int)(size - offsetof(struct sockaddr_un, sun_path) - 1), address.sun_path + 1);
	return 0;
}

int mimicd_inbox_open(struct mimicd_inbox *inbox)
{
	int error;

	inbox->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (inbox->fd < 0)
		return -errno;
	error = bind_somewhere(inbox);
	if (error)
		mimicd_inbox_close(inbox);
	return error;
}

void mimicd_inbox_close(struct mimicd_inbox *inbox)
{
	close(inbox->fd);
	inbox->fd = -1;
}

static void take_entry(struct mimicd_letter *letter, const struct cmsghdr *entry)
{
	size_t size = entry->cmsg_len - CMSG_LEN(0);

	if (entry->cmsg_level != SOL_SOCKET)
		return;
	if (entry->cmsg_type == SCM_CREDENTIALS && size == sizeof(struct ucred)) {
		struct ucred sender;

		memcpy(&sender, CMSG_DATA(entry), sizeof(sender));
		letter->sender = sender.pid;
		letter->user = sender.uid;
	} else if (entry->cmsg_type == SCM_RIGHTS) {
		letter->fd_count = size / sizeof(int);
		memcpy(letter->fds, CMSG_DATA(entry), size);
	}
}

int mimicd_inbox_receive(const struct mimicd_inbox *inbox, struct mimicd_letter *letter)
{
	_Alignas(struct cmsghdr) char
		control[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(letter->fds))];
	struct iovec piece = { letter->text, sizeof(letter->text) };
	struct msghdr message = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t length = recvmsg(inbox->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (length < 0)
		return -errno;
	letter->length = (size_t)length;
	letter->is_cut = message.msg_flags & (MSG_TRUNC | MSG_CTRUNC);
	letter->sender = 0;
	letter->user = (uid_t)-1;
	letter->fd_count = 0;
	for (struct cmsghdr *entry = CMSG_FIRSTHDR(&message); entry; entry = CMSG_NXTHDR(&message, entry))
		take_entry(letter, entry);
	return 0;
}

void mimicd_letter_close(struct mimicd_letter *letter)
{
	for (size_t i = 0; i < letter->fd_count; i++)
		close(letter->fds[i]);
	letter->fd_count = 0;
}
