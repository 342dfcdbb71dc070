/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The path of the listening socket, and messages to systemd. */
#ifndef MIMICD_SOCKET_H
#define MIMICD_SOCKET_H

#include <sys/types.h>

/* Makes the directory of the default path. Where a user named the path it has to be there. */
int mimicd_socket_make_directory(const char *path);

/* Members of the group may connect, too. 0, or -errno with a log line. */
int mimicd_socket_give_to_group(const char *path, gid_t group);

/* The socket that systemd opened for us, or -1. */
int mimicd_socket_from_systemd(void);

/* "READY=1" to $NOTIFY_SOCKET. Does nothing without one. */
void mimicd_notify(const char *state);

#endif
