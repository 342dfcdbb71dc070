/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A process beside mimicd that ends connections well when mimicd is killed.
 *
 * The last close of a stream socket makes ECONNRESET at its other end if messages lie in it that nobody has
 * read, and QEMU aborts there, with all of the machine. So the keeper has each such connection, too. Mimicd's
 * end is no last close then, and the keeper answers messages that wait, and makes the other end find an end
 * of the stream.
 *
 * Trust boundary: the keeper reads bytes that the other end has sent, and discards them. It has nothing
 * else, and few system calls.
 */
#ifndef MIMICD_KEEPER_H
#define MIMICD_KEEPER_H

#include "daemon/loop/keeping.h"

struct mimicd_keeper;
struct mimicd_loop;

/* Before there are threads. Replies are the keeper's. NULL, with a log line: there is none. */
struct mimicd_keeper *mimicd_keeper_create(mimicd_last_replies replies);
/* It ends, as no connection should be left. NULL: nothing. Before the loop is destroyed. */
void mimicd_keeper_destroy(struct mimicd_keeper *keeper);

/* A line of the log says when it has ended. NULL: nothing. 0 or -errno. */
int mimicd_keeper_watch(struct mimicd_keeper *keeper, struct mimicd_loop *loop);
/*
 * A connection, until both of its directions are shut down or its other end has closed. The descriptor stays the
 * caller's. Returns MIMICD_KEEPING_NOTE bytes of 0, which the keeper sees, too: the note that `replies` gets. NULL: it
 * is not kept, with a log line; or the keeper is NULL.
 */
void *mimicd_keeper_keep(struct mimicd_keeper *keeper, int fd);
/* The note of a connection that is shut down. One that is not of the keeper's, or NULL: nothing. */
void mimicd_keeper_forget(struct mimicd_keeper *keeper, void *note);

#endif
