/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMICD_HANG_UP_H
#define MIMICD_HANG_UP_H

#include <stddef.h>

#define MIMICD_LAST_REPLY 64u

/*
 * Makes the replies to unread bytes of a connection that ends. In the first call `size` is 0, and the bytes
 * are those that follow the bytes read before, which `note` describes. Writes at most MIMICD_LAST_REPLY bytes
 * more than `size`. Returns their number.
 */
typedef size_t (*mimicd_last_replies)(void *note, const char *bytes, size_t size, char *replies);

/*
 * Closes a stream socket so that its other end finds an end, and no ECONNRESET: unread bytes are read, and
 * answered, if there are replies (NULL: there are none). epoll has forgotten it. Descriptors that come are
 * given to `take`, because to close them may take long; NULL: they stay open until the process ends.
 */
void mimicd_hang_up(int fd, mimicd_last_replies replies, void *note, void (*take)(void *context, int fd), void *context);

#endif
