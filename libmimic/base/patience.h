/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Threads that wait for a device for long report the reason (mimic_patience() of mimic.h). A transport
 * has a struct mimic_wait on the stack of each wait; nothing is done with it before the thread sleeps.
 */
#ifndef LIBMIMIC_PATIENCE_H
#define LIBMIMIC_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "devices/text.h"

/* Of one wait; all 0 when it begins. */
struct mimic_wait {
	uint64_t since;	/* when the thread first slept, or read the clock */
	uint64_t due;	/* when it has to tell; 0: the clock was not read yet, UINT64_MAX: never */
};

/* The line that a waiting thread prints. */
struct mimic_wait_line {
	struct mimic_text text;
	char bytes[400];
};

/* Reads MIMIC_PATIENCE, and the time limit of `mimic run --timeout`; once. */
void mimic_patience_from_environment(void);

/* For the first time the time is set that counts; then the answer is whether it is over. */
bool mimic_wait_looks(struct mimic_wait *wait, uint64_t now);

static inline bool mimic_wait_is_due(struct mimic_wait *wait, uint64_t now)
{
	return now >= wait->due && mimic_wait_looks(wait, now);
}

/* For how many nanoseconds it may sleep; 0: for ever. */
uint64_t mimic_wait_limit(struct mimic_wait *wait);
/* Is it due by the clock? */
bool mimic_wait_has_to_tell(struct mimic_wait *wait);

/* "maple0: thread 4711 has waited 10 s for "; the caller adds the rest. The wait is not due any more. */
void mimic_wait_begin_line(struct mimic_wait *wait, const char *device, struct mimic_wait_line *line);
void mimic_wait_tell(const struct mimic_wait_line *line);

#endif
