/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The path of the listening socket, and sockets that a service manager opened or kept. */
#ifndef MIMICD_SOCKET_H
#define MIMICD_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

#include "daemon/recovery/store.h"

/* Makes the directory of the default path. Where a user named the path it has to be there. */
int mimicd_socket_make_directory(const char *path);

/* Members of the group may connect, too. 0, or -errno with a log line. */
int mimicd_socket_give_to_group(const char *path, gid_t group);

/* The name of a daemon's listening socket in its descriptor store. */
#define MIMICD_SOCKET_STORED "listen"

/*
 * The listening socket among the descriptors that the service manager gave us, taken from the list; -1:
 * there is none. It has the name above, or is the only one that listens.
 */
int mimicd_socket_from_manager(struct mimicd_stored *stored, size_t count);

#endif
