/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Descriptors that outlive a daemon that can be recovered: each is in the store of its supervisor
 * (daemon/recovery/store.h) by a name of its kind and two numbers. Without a journal nothing is kept.
 */
#ifndef MIMICD_KEEP_H
#define MIMICD_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mimicd_stored;

/* _(NAME, its name in the store, meaning) */
#define MIMICD_KEPT(_) \
	_(JOURNAL, "journal", "the window; its generation") \
	_(LISTEN, "listen", "the socket at which programs connect") \
	_(SOCKET, "socket", "of a client") \
	_(KICK, "kick", "the eventfd by which a client wakes us") \
	_(PROCESS, "process", "a client's pidfd") \
	_(LANE, "lane", "memory of a client's lane") \
	_(RANGE, "range", "memory that a client shares") \
	_(EVENT, "event", "an eventfd for a device's events") \
	_(MEMORY, "memory", "a device's own memory, of the program that has it") \
	_(PACKET, "packet", "a descriptor of a client's message that is put off") \
	_(BUS, "bus", "our end of the kernel's bus")

enum mimicd_kept_kind {
#define _(name, text, meaning) MIMICD_KEEP_##name,
	MIMICD_KEPT(_)
#undef _
	MIMICD_KEPT_KINDS
};

/*
 * Keeps a copy of the descriptor. *number 0 becomes a number that no other has. 0 or -errno: the
 * store takes no more.
 */
int mimicd_keep(enum mimicd_kept_kind kind, uint64_t *number, uint64_t part, int fd);
/*
 * It is kept until the commit of this step (step.h), because a step that is done once more needs it. Number 0:
 * nothing.
 */
void mimicd_keep_drop(enum mimicd_kept_kind kind, uint64_t number, uint64_t part);
/* The same at once: no step needs it, and it is not to outlive us. */
void mimicd_keep_end(enum mimicd_kept_kind kind, uint64_t number, uint64_t part);
/* The step is committed. */
void mimicd_keep_commit(void);

/* --- after a start -------------------------------------------------------------------- */

/* The predecessor's descriptors (daemon/recovery/store.h), which are this part's from now on. */
void mimicd_keep_take(struct mimicd_stored *stored, size_t count);
/* Was it kept, and has not been found yet? */
bool mimicd_keep_has(enum mimicd_kept_kind kind, uint64_t number, uint64_t part);
/* The descriptor is the caller's from now on; -1: it was not kept. */
int mimicd_keep_find(enum mimicd_kept_kind kind, uint64_t number, uint64_t part);
/* The highest number of that kind below that one that was kept; 0: none. */
uint64_t mimicd_keep_last(enum mimicd_kept_kind kind, uint64_t below);
/* All that was not found is closed, and is kept no more. */
void mimicd_keep_forget_rest(void);

#endif
