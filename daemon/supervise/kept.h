/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The descriptors that a supervisor keeps for its child. */
#ifndef MIMICD_SUPERVISE_KEPT_H
#define MIMICD_SUPERVISE_KEPT_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/recovery/store.h"

/* A string of a process's environment has 128 KiB at most, with its name and the byte 0 (execve(2)). */
#define MIMICD_KEPT_NAMES_MAX (131072u - sizeof("LISTEN_FDNAMES="))

#define MIMICD_KEPT_FIRST 3	/* as sd_listen_fds(3) says */

struct mimicd_kept {
	struct mimicd_stored *list;
	size_t count;
	size_t room;		/* of the list */
	size_t given;		/* the first ones, of our own service manager: no message removes them */
	size_t most;
	size_t name_bytes;	/* of all names, each with the ':' behind it */
	bool was_full;		/* a line has said so since the last drop */
};

/* Takes the list over, which mimicd_store_take() returned. */
void mimicd_kept_begin(struct mimicd_kept *kept, struct mimicd_stored *given, size_t count, size_t most);
/* Closes all. */
void mimicd_kept_end(struct mimicd_kept *kept);

/*
 * Takes the descriptor over: it is kept, or closed. -ENOSPC, with one log line for all that come while it
 * is full.
 */
int mimicd_kept_put(struct mimicd_kept *kept, const char *name, int fd);
/* Closes all descriptors of that name. */
void mimicd_kept_drop(struct mimicd_kept *kept, const char *name);

/* The names in the order of the list, with ':' between them, to be freed. NULL: no memory. */
char *mimicd_kept_names(const struct mimicd_kept *kept);
/*
 * In a forked child: the descriptors become 3, 4 and so on, over any others there, and stay open over exec.
 * 0 or -errno. The list is of no use after it.
 */
int mimicd_kept_line_up(struct mimicd_kept *kept);

#endif
