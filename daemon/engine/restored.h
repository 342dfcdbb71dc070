/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A device with a restored state (docs/save.md), until a program opens it. Nothing of it moves meanwhile: it is not
 * ticked, and its jobs are not done, because its work needs a program's memory. The program that opens it finds
 * the state, but for threads that are gone: roles of theirs are free, and their accesses do not wait any more.
 * Contexts go to the programs that open the device next, one to each.
 */
#ifndef MIMICD_RESTORED_H
#define MIMICD_RESTORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mimicd_instance;

/* In the window, where the daemon has one, so that a successor finds it. */
struct mimicd_restored {
	uint64_t memory_size;	/* of the device's memory, which lies behind `owners`: a program that opens it gets another file */
	uint64_t owner_count;
	uint64_t owners[];	/* threads that had roles when it was saved */
};

/* Of the structure with all that lies behind it. */
static inline uint64_t mimicd_restored_bytes(uint64_t owner_count, uint64_t memory_size)
{
	return sizeof(struct mimicd_restored) + owner_count * sizeof(uint64_t) + memory_size;
}

/* NULL: no memory. */
struct mimicd_restored *mimicd_restored_make(const struct mimicd_instance *instance, const uint64_t *owners,
					     size_t owner_count);
void mimicd_restored_drop(struct mimicd_restored *restored);
/* The device, which no program has, has got a state; `restored` is its own from now on. */
void mimicd_restored_begin(struct mimicd_instance *instance, struct mimicd_restored *restored);
/*
 * The same for the successor of a daemon whose device had `old`; NULL: it had none, or a program has opened it since,
 * and the contexts with a bit in `waiting` still wait for theirs. 0 or -errno.
 */
int mimicd_restored_take_over(struct mimicd_instance *instance, struct mimicd_restored *old, uint64_t waiting);
/* A program opens the context. true: it gets a restored state. */
bool mimicd_restored_take_context(struct mimicd_instance *instance, unsigned int index);
/* A program has it, or a context of it, from now on, and its memory can be reached. Also where nothing was restored. */
void mimicd_restored_wake(struct mimicd_instance *instance);
/* A driver has it, which gives contexts away itself: those that wait are detached. */
void mimicd_restored_wake_bound(struct mimicd_instance *instance);
/* The device is reset, or ends. */
void mimicd_restored_forget(struct mimicd_instance *instance);

#endif
