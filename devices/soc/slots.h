/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Something of which a part has a number, such as MSHRs, and that is taken for a time.
 * It may be asked about in another order than that of the times.
 */
#ifndef MIMIC_DEVICES_SLOTS_H
#define MIMIC_DEVICES_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mimic_slots {
	/* Ascending: so many are taken from `begin` until the next step. The last one, for ever, has none. */
	struct mimic_slots_step {
		uint64_t begin;
		uint64_t taken;
	} *steps;
	size_t first, end;	/* of them, those that are not over; at least one */
	size_t room;
	unsigned int count;
};

/* 0 or -ENOMEM. */
int mimic_slots_init(struct mimic_slots *slots, unsigned int count);
void mimic_slots_free(struct mimic_slots *slots);

/* Is none taken from `now` on? */
static inline bool mimic_slots_all_free(const struct mimic_slots *slots, uint64_t now)
{
	return slots->steps[slots->end - 1].begin <= now;
}

/* mimic_slots_take() where none is taken from some cycle on, and no caller will ask about one before that. */
static inline void mimic_slots_take_first(struct mimic_slots *slots, uint64_t begin, uint64_t end)
{
	slots->steps[0] = (struct mimic_slots_step){ 0, 0 };
	slots->steps[1] = (struct mimic_slots_step){ begin, 1 };
	slots->steps[2] = (struct mimic_slots_step){ end, 0 };
	slots->first = 0;
	slots->end = 3;
}

/* The first cycle from `when` on in which one is free. */
uint64_t mimic_slots_free_at(const struct mimic_slots *slots, uint64_t when);
/* One is taken from `begin` until before `end`. */
void mimic_slots_take(struct mimic_slots *slots, uint64_t begin, uint64_t end);
/* No caller will ask about a cycle before `now`. */
void mimic_slots_forget(struct mimic_slots *slots, uint64_t now);

#endif
