/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Closes what clients made.
 *
 * Trust boundary: the last close of a file does what the file's maker likes: a socket lingers, a
 * file of FUSE waits for its server, for ever and without heed of signals; all that watch it are told. So threads
 * beside the loop do it, which may be lost. They are a few for each owner (a user); what an owner hands over
 * when all of those are busy stays open until one is free, and holds up no other owner.
 */
#ifndef MIMICD_CLOSER_H
#define MIMICD_CLOSER_H

#include <stddef.h>
#include <stdint.h>

struct mimicd_closer;

/* More than this of one owner, and nothing more should be taken from it. */
#define MIMICD_CLOSER_BACKLOG 256u

/* No thread yet. NULL: no memory. */
struct mimicd_closer *mimicd_closer_create(void);
/* Waits a little for what is not done; what is lost stays lost until the process has ended. NULL: nothing. */
void mimicd_closer_destroy(struct mimicd_closer *closer);

/* Takes the descriptor over; epoll has forgotten it. Without memory it is closed here. */
void mimicd_closer_close(struct mimicd_closer *closer, uint32_t owner, int fd);
/* The same with a socket, by which this is sent before. */
void mimicd_closer_send_last(struct mimicd_closer *closer, uint32_t owner, int fd, const void *message, size_t size);
/* The same with a mapping, whose last end frees the file's pages. */
void mimicd_closer_unmap(struct mimicd_closer *closer, uint32_t owner, void *start, size_t size);
/* Wakes a thread that waits for a futex of shared memory. That may be unmapped by then: nobody is woken. */
void mimicd_closer_wake(struct mimicd_closer *closer, uint32_t owner, void *word);
/* What has been handed over and is not done. */
unsigned int mimicd_closer_backlog(struct mimicd_closer *closer, uint32_t owner);

#endif
