/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The daemon's end of a descriptor store: the service manager (systemd, or mimicd --supervise) keeps
 * descriptors for a daemon that is killed, and gives them to its successor.
 *
 * Each name is put once: a store keeps both descriptors of two puts. All names of a store together have
 * about 128,000 characters, because the successor gets them in one variable of its environment.
 */
#ifndef MIMICD_STORE_H
#define MIMICD_STORE_H

#include <stdbool.h>
#include <stddef.h>

#define MIMICD_STORE_NAME_MAX 30u

/*
 * $NOTIFY_SOCKET names a manager. It may keep nothing all the same: of systemd FileDescriptorStoreMax= is 0
 * by default.
 */
bool mimicd_store_is_there(void);

/* Letters, digits and '-', from one to MIMICD_STORE_NAME_MAX of them. */
bool mimicd_store_name_is_good(const char *name);

/*
 * The descriptor stays the caller's. 0 when the message is in the store's queue: it outlives the caller
 * from there on. -EINVAL: the name; -ENOTCONN: there is no store; -ETIMEDOUT: its queue was full for
 * seconds; or another -errno.
 */
int mimicd_store_put(const char *name, int fd);
/* All descriptors of this name. The same errors. */
int mimicd_store_drop(const char *name);

struct mimicd_stored {
	char name[32];		/* "": longer than any of ours */
	int fd;			/* -1: it was taken from the list */
};

/*
 * At the start, once: the descriptors that the predecessor left, and those that the manager opened for us
 * (socket activation), all close-on-exec. $LISTEN_PID, $LISTEN_FDS and $LISTEN_FDNAMES are unset. 0, also
 * with none; -EINVAL: the variables are malformed; -EBADF: a descriptor is not open; -ENOMEM.
 */
int mimicd_store_take(struct mimicd_stored **stored, size_t *count);
/* Closes those that are not -1. */
void mimicd_store_free(struct mimicd_stored *stored, size_t count);

#endif
