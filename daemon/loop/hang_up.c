/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/loop/hang_up.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#define BYTES 4096u

static void reply(int fd, mimicd_last_replies replies, void *note, const char *bytes, size_t size)
{
	char text[BYTES + MIMICD_LAST_REPLY];
	size_t length = replies ? replies(note, bytes, size, text) : 0;

	/* An end that does not take its replies has none. */
	if (length)
		(void)!send(fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/*
 * First nothing more can come: from then on a write is an error at the other end. QEMU would send on after the end of
 * the stream, and wait for replies. Then what has come is answered, so that nothing waits. Then there is the end.
 */
void mimicd_hang_up(int fd, mimicd_last_replies replies, void *note)
{
	char bytes[BYTES];
	ssize_t length = 0;

	shutdown(fd, SHUT_RD);
	do {
		reply(fd, replies, note, bytes, (size_t)length);
		length = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	} while (length > 0);
	shutdown(fd, SHUT_RDWR);
	close(fd);
}
