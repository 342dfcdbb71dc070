/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The daemon transport's client side, for the rest of mimic. The transport itself is in transport.h. */
#ifndef LIBMIMIC_DAEMON_CLIENT_H
#define LIBMIMIC_DAEMON_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mimic/protocol.h"

/*
 * Where mimicd listens: `wanted` if it is not NULL, else $MIMIC_SOCKET, else
 * mimicd.sock in the default folder of this user (runtime_folder.h). 0 or
 * -ENAMETOOLONG.
 */
int mimic_daemon_socket_path(const char *wanted, char *path, size_t size);

/* How long an answer may take, on connections made from now on; 10 s by default. */
void mimic_daemon_set_patience(unsigned int seconds);

/*
 * The daemon's devices and their users as JSON text (docs/protocol.md); free()
 * it. socket_path as in mimic_daemon_socket_path(). 0 or -errno with a text in
 * mimic_error_text(); -ECONNREFUSED: no daemon answers.
 */
int mimic_daemon_list(const char *socket_path, char **json);

/*
 * add() makes another device of that kind ("maple"); `name` has room for MIMIC_NAME_MAX.
 * remove() takes a device away, also one that a program has. inject() has a device misbehave that
 * is on the kernel's bus or in a virtual machine (docs/bus.md); -EOPNOTSUPP: it is neither. Each:
 * 0 or -errno with a text in mimic_error_text(); -ENOENT: no such kind; -ENODEV: no such device;
 * -EPERM; -ECONNREFUSED: no daemon answers.
 */
int mimic_daemon_add(const char *socket_path, const char *kind, char *name);
int mimic_daemon_remove(const char *socket_path, const char *name);
int mimic_daemon_inject(const char *socket_path, const char *name, enum mimic_injection what);

/*
 * The state of a device (docs/state.md) as JSON text; free() it. flags: MIMIC_STATE_*.
 * reset() makes a device as after power-on, clear_counters() its counters 0. Errors as above,
 * and -ENOTUNIQ: several processes have a private device of that name.
 */
int mimic_daemon_state(const char *socket_path, const char *name, uint32_t flags, char **json);
int mimic_daemon_reset(const char *socket_path, const char *name);
int mimic_daemon_clear_counters(const char *socket_path, const char *name);
/* The record of a device's state (libmimic/record/snapshot.h); free() it. */
int mimic_daemon_save(const char *socket_path, const char *name, void **record, size_t *size);
/* The device gets it; check_only: no, but the answer is the same. The error's text says why not. */
int mimic_daemon_restore(const char *socket_path, const char *name, const void *record, size_t size,
			 bool check_only);

/*
 * Writes the events of devices that programs have through the kernel, or virtual machines have,
 * into the spool (docs/trace.md) as long as the connection is open that is returned; close() it.
 * The spool is a memfd, sealed against shrinking. Errors as above, and -EBUSY: another connection
 * does so already; -EOPNOTSUPP: mimicd has neither the kernel's bus nor a virtual machine's socket.
 */
int mimic_daemon_trace_bus(const char *socket_path, int spool_fd);

#endif
