/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The last replies to a machine whose connection ends, also when mimicd has been killed
 * (daemon/loop/keeper.h): each message that waits for a reply gets an error. QEMU does not take the
 * connection's end for an answer: it would go on waiting, with all processors, until its time is over.
 */
#ifndef MIMICD_VFIO_LAST_REPLIES_H
#define MIMICD_VFIO_LAST_REPLIES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/vfio/protocol.h"

/* The message that mimicd reads or serves, in memory that outlives it. All 0: none. */
struct mimicd_vfio_note {
	struct mimicd_vfio_header header;	/* recv() writes it here: no moment is between that and its being noted */
	_Atomic uint32_t have;			/* bytes of the message that mimicd has read, or fewer */
	atomic_bool is_answered;
	bool is_unsure;				/* for the replies alone: its rest may have been read */
};

/*
 * Replies to the message of the note (the first time: `size` is 0), and to those that begin in these bytes, which
 * follow the bytes already read. Returns their size, which is at most that of a header more than `size`.
 */
size_t mimicd_vfio_last_replies(void *note, const char *bytes, size_t size, char *replies);

#endif
