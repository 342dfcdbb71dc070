/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/loop/hang_up.h"

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#define BYTES 4096u
#define DESCRIPTORS 253u	/* of one message: SCM_MAX_FD of the kernel */

static void reply(int fd, mimicd_last_replies replies, void *note, const char *bytes, size_t size)
{
	char text[BYTES + MIMICD_LAST_REPLY];
	size_t length = replies ? replies(note, bytes, size, text) : 0;

	/* An end that does not take its replies has none. */
	if (length)
		(void)!send(fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static ssize_t receive(int fd, char *bytes, void (*take)(void *context, int fd), void *context)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
	struct iovec part = { bytes, BYTES };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control),
	};
	ssize_t length = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *entry = length >= 0 && take ? CMSG_FIRSTHDR(&message) : NULL;

	for (; entry; entry = CMSG_NXTHDR(&message, entry)) {
		for (size_t i = 0; CMSG_LEN(i * sizeof(int)) < entry->cmsg_len && entry->cmsg_type == SCM_RIGHTS; i++) {
			int received;

			memcpy(&received, CMSG_DATA(entry) + i * sizeof(int), sizeof(int));
			take(context, received);
		}
	}
	return length;
}

/*
 * First nothing more can come: from then on a write is an error at the other end. QEMU would send on after
 * the end of the stream, and wait for replies. Then its messages are answered, so that none waits. Then comes
 * the end.
 */
void mimicd_hang_up(int fd, mimicd_last_replies replies, void *note, void (*take)(void *context, int fd), void *context)
{
	char bytes[BYTES];
	ssize_t length = 0;

	shutdown(fd, SHUT_RD);
	do {
		reply(fd, replies, note, bytes, (size_t)length);
		length = receive(fd, bytes, take, context);
	} while (length > 0);
	shutdown(fd, SHUT_RDWR);
	close(fd);
}
