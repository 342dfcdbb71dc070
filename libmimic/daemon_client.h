/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The daemon transport's client side, for the rest of mimic. The transport itself is in transport.h. */
#ifndef LIBMIMIC_DAEMON_CLIENT_H
#define LIBMIMIC_DAEMON_CLIENT_H

#include <stddef.h>

/*
 * Where mimicd listens: `wanted` if it is not NULL, else $MIMIC_SOCKET, else
 * the default place of this user. -ENOENT: there is none (XDG_RUNTIME_DIR is
 * not set); -ENAMETOOLONG.
 */
int mimic_daemon_socket_path(const char *wanted, char *path, size_t size);

/*
 * The daemon's devices and their users as JSON text (docs/protocol.md); free()
 * it. socket_path as in mimic_daemon_socket_path(). 0 or -errno with a text in
 * mimic_error_text(); -ECONNREFUSED: no daemon answers.
 */
int mimic_daemon_list(const char *socket_path, char **json);

#endif
