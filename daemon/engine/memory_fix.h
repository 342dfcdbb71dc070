/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Memory that is shared keeps its pages.
 *
 * Trust boundary: while a program punches pages out of a memfd, a thread that accesses one of them sleeps in
 * the kernel until all of it is punched, and heeds no signal: the loop's thread, too. So memfds that
 * programs of other users have, too, are made immutable before we access them: the kernel then refuses
 * fallocate() and MADV_REMOVE, and only a capability takes that back. Mappings and writes go on.
 */
#ifndef MIMICD_MEMORY_FIX_H
#define MIMICD_MEMORY_FIX_H

#include <stdbool.h>

struct mimicd_engine;
struct mimicd_errand;
struct mimicd_memory;
struct mimicd_memory_fix;

struct mimicd_memory_fixes {
	bool is_possible;	/* with this kernel, and our capabilities; and other users may come at all */
	struct mimicd_memory_fix *sent;	/* that are not over */
};

/* Other users may have devices: from now on, if it is possible, else a log line says so. */
void mimicd_memory_fixes_begin(struct mimicd_memory_fixes *fixes);
/* A memfd of ours that nobody else has yet. 0, also if it is not possible, or -errno. */
int mimicd_memory_fix_ours(const struct mimicd_memory_fixes *fixes, int fd);
/*
 * A memfd of the client's, which may not shrink. 0, also if it need not be, or is not possible at all.
 * -EINPROGRESS: ask again when mimicd_memory_fix_waits() no longer says so. Other errors: *why.
 */
int mimicd_memory_fix(struct mimicd_memory *memory, int fd, const char **why);
bool mimicd_memory_fix_waits(const struct mimicd_memory *memory);
/* The memory ends. */
void mimicd_memory_fix_forget(struct mimicd_memory *memory);
/* An errand comes back. false: it is another kind of errand. */
bool mimicd_memory_fix_came(struct mimicd_engine *engine, struct mimicd_errand *errand);

#endif
