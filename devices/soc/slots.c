/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How many are taken is a step function of time. Nothing is given back before its time, so cycles in which
 * all are taken stay so, and accesses that overlap there need no step of their own: with many that wait,
 * steps stay few.
 */
#include "devices/soc/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD 8192	/* that are taken for later: as many stores and prefetches as 64 cores can have in flight */

int mimic_slots_init(struct mimic_slots *slots, unsigned int count)
{
	memset(slots, 0, sizeof(*slots));
	slots->count = count;
	slots->room = 2 * ((size_t)count + AHEAD);
	slots->steps = calloc(slots->room, sizeof(*slots->steps));
	/* The first step is there: none is taken from 0 on. */
	slots->end = 1;
	return slots->steps ? 0 : -ENOMEM;
}

void mimic_slots_free(struct mimic_slots *slots)
{
	free(slots->steps);
	memset(slots, 0, sizeof(*slots));
}

/* The step that `when` is in, from step `at` on. */
static inline size_t step_at(const struct mimic_slots *slots, size_t at, uint64_t when)
{
	while (at + 1 < slots->end && slots->steps[at + 1].begin <= when)
		at++;
	return at;
}

uint64_t mimic_slots_free_at(const struct mimic_slots *slots, uint64_t when)
{
	size_t at = step_at(slots, slots->first, when);

	if (slots->steps[at].taken < slots->count)
		return when;
	/* The last step ends it: none is taken there. */
	while (slots->steps[at].taken >= slots->count)
		at++;
	return slots->steps[at].begin;
}

/* For two steps more. */
static void make_room(struct mimic_slots *slots)
{
	if (slots->end + 2 <= slots->room)
		return;
	/* The earliest is the one that is least likely to be asked about. */
	if (slots->end - slots->first + 2 > slots->room)
		slots->first += 2;
	slots->end -= slots->first;
	memmove(slots->steps, &slots->steps[slots->first], slots->end * sizeof(*slots->steps));
	slots->first = 0;
}

/* The step that begins at `when`, made if there is none; it is not before step `at`. */
static size_t split(struct mimic_slots *slots, size_t at, uint64_t when)
{
	at = step_at(slots, at, when);
	if (slots->steps[at].begin >= when)
		return at;
	at++;
	memmove(&slots->steps[at + 1], &slots->steps[at], (slots->end - at) * sizeof(*slots->steps));
	slots->steps[at] = (struct mimic_slots_step){ when, slots->steps[at - 1].taken };
	slots->end++;
	return at;
}

/* From step `at` on, those that are as high as the one before them go. */
static void merge(struct mimic_slots *slots, size_t at)
{
	size_t kept = at;

	while (++at < slots->end)
		if (slots->steps[at].taken != slots->steps[kept].taken)
			slots->steps[++kept] = slots->steps[at];
	slots->end = kept + 1;
}

void mimic_slots_take(struct mimic_slots *slots, uint64_t begin, uint64_t end)
{
	size_t from, until;

	if (slots->first + 1 == slots->end) {
		mimic_slots_take_first(slots, begin, end);
		return;
	}
	make_room(slots);
	from = split(slots, slots->first, begin);
	until = split(slots, from, end);
	for (size_t i = from; i < until; i++)
		slots->steps[i].taken += slots->steps[i].taken < slots->count;
	merge(slots, from > slots->first ? from - 1 : from);
}

void mimic_slots_forget(struct mimic_slots *slots, uint64_t now)
{
	slots->first = step_at(slots, slots->first, now);
}
