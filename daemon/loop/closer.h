/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Closes descriptors that clients made.
 *
 * Trust boundary: the last close of a file takes as long as the file's maker likes: a socket lingers, and a
 * file of FUSE waits for its server, for ever and without heed of signals; all that watch it are told. So
 * threads beside the loop do it. Sockets leave our table and are closed by threads that end (leaver.h). Other
 * closes that may not end have threads that may be lost: a few for each owner (a user), and so many in all
 * that some are always left for closes that end. A descriptor whose owner's threads are busy stays open, and
 * holds up no other owner.
 */
#ifndef MIMICD_CLOSER_H
#define MIMICD_CLOSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mimicd_closer;

/* mimicd_closer_is_full() when there is more of one owner. */
#define MIMICD_CLOSER_BACKLOG 256u

/* Before there is a descriptor of a client's. NULL: no memory. */
struct mimicd_closer *mimicd_closer_create(void);
/* Waits a little for closes in progress; lost threads stay until the process has ended. NULL: nothing. */
void mimicd_closer_destroy(struct mimicd_closer *closer);

/* Takes the descriptor over; epoll has forgotten it. Without memory it is closed here. */
void mimicd_closer_close(struct mimicd_closer *closer, uint32_t owner, int fd);
/* The same with one that is no socket and that we made: clients may watch it, and that is all. */
void mimicd_closer_close_ours(struct mimicd_closer *closer, uint32_t owner, int fd);
/* The same with a connection, by which this (NULL: nothing) is sent before. Its other end hears of the end at once. */
void mimicd_closer_hang_up(struct mimicd_closer *closer, uint32_t owner, int fd, const void *message, size_t size);
/* The same with a mapping, whose last end frees the file's pages. */
void mimicd_closer_unmap(struct mimicd_closer *closer, uint32_t owner, void *start, size_t size);
/* Wakes a thread that waits for a futex of shared memory. That may be unmapped by then: no thread is woken. */
void mimicd_closer_wake(struct mimicd_closer *closer, uint32_t owner, void *word);
/* The number of descriptors that have been handed over and are not closed. */
unsigned int mimicd_closer_backlog(struct mimicd_closer *closer, uint32_t owner);
/* Nothing more should be taken from the owner: too much waits of it, or of all, which does not bind root and our user. */
bool mimicd_closer_is_full(struct mimicd_closer *closer, uint32_t owner);
/* So much waits that ends soon that no connection should be accepted before. */
bool mimicd_closer_is_busy(struct mimicd_closer *closer);

#endif
