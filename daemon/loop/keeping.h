/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The keeper's work, in its own process (keeper.h). */
#ifndef MIMICD_KEEPING_H
#define MIMICD_KEEPING_H

#include <stdint.h>

#include "daemon/loop/hang_up.h"

/* Of 64 machines' registers and memory, twice: mimicd may not have read all of those that have gone. */
#define MIMICD_KEEPING_MAX 256u
#define MIMICD_KEEPING_NOTE 64u

/* A message of mimicd, with a connection. */
struct mimicd_keeping_message {
	uint32_t note;	/* its number */
};

/*
 * In a child of fork(), whose other threads are not there: it calls nothing that takes a lock of the C library's.
 * Connections come in messages of this socket, until mimicd has ended. Notes are memory that is shared.
 */
_Noreturn void mimicd_keeping_run(int mimicd, char *notes, mimicd_last_replies replies);

#endif
