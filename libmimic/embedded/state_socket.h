/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The socket by which a process with embedded devices shows them: mimicd's protocol, of
 * which it knows HELLO, LIST, STATE, RESET and CLEAR_COUNTERS. Only if MIMIC_STATE asks for
 * it: a library does not start threads unasked.
 */
#ifndef LIBMIMIC_STATE_SOCKET_H
#define LIBMIMIC_STATE_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

#define MIMIC_STATE_SOCKET_PREFIX "embedded-"

/* The folder of these sockets: MIMIC_STATE if it is a path, else mimicd's default folder. 0 or -ENAMETOOLONG. */
int mimic_embedded_socket_directory(char *path, size_t size);
/* Makes it, or finds it made. 0 or -errno; -EPERM: the default folder is another user's, or others may write to it. */
int mimic_embedded_socket_make_directory(const char *path);
/* Of one process. The same errors. */
int mimic_embedded_socket_path(pid_t pid, char *path, size_t size);

/* A device has been opened: starts the socket, if that is possible. Under the device table's lock. */
void mimic_embedded_socket_start(void);
void mimic_embedded_socket_after_fork(void);

#endif
