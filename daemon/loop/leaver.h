/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Closes sockets in threads that end.
 *
 * Trust boundary: the last close of a socket lingers for as long as its maker likes, and so do those in
 * messages that nobody has read. None lingers where a thread ends that alone has the descriptors. So
 * sockets go to a thread with a table of its own, and others end with copies of it. A descriptor that is
 * never closed even so (a file of FUSE that is written back, in a message) stays in a table that is not ours.
 */
#ifndef MIMICD_LEAVER_H
#define MIMICD_LEAVER_H

#include <stdbool.h>

struct mimicd_leaver;

/* Before there is a descriptor of a client's. NULL: the kernel, or a filter, does not have it. */
struct mimicd_leaver *mimicd_leaver_create(void);
/* Waits for no close. NULL: nothing. */
void mimicd_leaver_destroy(struct mimicd_leaver *leaver);

/* Takes the socket over, from any thread. false: it cannot, and the socket stays the caller's. */
bool mimicd_leaver_take(struct mimicd_leaver *leaver, int fd);

#endif
