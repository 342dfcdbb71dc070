/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Sockets that listen at a path. */
#ifndef MIMICD_LISTEN_H
#define MIMICD_LISTEN_H

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Listens at `path`, with a socket of that type (SOCK_STREAM, SOCK_SEQPACKET); a socket file that
 * nobody answers on is replaced. Fills *status with the file's. A descriptor, or -errno with a
 * log line; -EADDRINUSE: another daemon answers; -ENAMETOOLONG, -ENOENT, -ENOTDIR: no path for a socket.
 */
int mimicd_listen(const char *path, int type, bool allow_users, struct stat *status);

#endif
