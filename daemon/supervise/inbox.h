/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The socket that a supervisor's child sends its messages to.
 *
 * Trust boundary: its name is in the abstract name space, where any process of the machine can send to it.
 * So the kernel says of each message which process has sent it.
 */
#ifndef MIMICD_SUPERVISE_INBOX_H
#define MIMICD_SUPERVISE_INBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "daemon/supervise/message.h"

#define MIMICD_MESSAGE_FDS_MAX 253u /* of the kernel: SCM_MAX_FD */

struct mimicd_inbox {
	int fd;
	char name[32]; /* for $NOTIFY_SOCKET */
};

struct mimicd_letter {
	pid_t sender;	/* 0: the kernel did not say */
	uid_t user;
	bool is_cut;	/* there was no room for all of its text or its descriptors */
	size_t length;
	char text[MIMICD_MESSAGE_SIZE_MAX];
	size_t fd_count;
	int fds[MIMICD_MESSAGE_FDS_MAX];
};

/* 0 or -errno. */
int mimicd_inbox_open(struct mimicd_inbox *inbox);
void mimicd_inbox_close(struct mimicd_inbox *inbox);

/* The next one, whose descriptors are the caller's. -EAGAIN: there is none; or another -errno. */
int mimicd_inbox_receive(const struct mimicd_inbox *inbox, struct mimicd_letter *letter);
/* Closes its descriptors. */
void mimicd_letter_close(struct mimicd_letter *letter);

#endif
