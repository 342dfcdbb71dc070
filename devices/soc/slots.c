/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/soc/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD 1024	/* that are taken for later: more than all store buffers hold */

int mimic_slots_init(struct mimic_slots *slots, unsigned int count)
{
	memset(slots, 0, sizeof(*slots));
	slots->count = count;
	slots->room = count + AHEAD;
	slots->taken = calloc(slots->room, sizeof(*slots->taken));
	return slots->taken ? 0 : -ENOMEM;
}

void mimic_slots_free(struct mimic_slots *slots)
{
	free(slots->taken);
	memset(slots, 0, sizeof(*slots));
}

uint64_t mimic_slots_free_at(const struct mimic_slots *slots, uint64_t when)
{
	for (;;) {
		uint64_t first_end = UINT64_MAX;
		size_t busy = 0;

		for (size_t i = 0; i < slots->used; i++) {
			const struct mimic_slot *slot = &slots->taken[i];

			if (when < slot->begin || when >= slot->end)
				continue;
			busy++;
			if (slot->end < first_end)
				first_end = slot->end;
		}
		if (busy < slots->count)
			return when;
		when = first_end;
	}
}

static size_t first_to_end(const struct mimic_slots *slots)
{
	size_t first = 0;

	for (size_t i = 1; i < slots->used; i++)
		if (slots->taken[i].end < slots->taken[first].end)
			first = i;
	return first;
}

void mimic_slots_take(struct mimic_slots *slots, uint64_t begin, uint64_t end)
{
	size_t at = slots->used < slots->room ? slots->used++ : first_to_end(slots);

	slots->taken[at] = (struct mimic_slot){ begin, end };
}

void mimic_slots_forget(struct mimic_slots *slots, uint64_t now)
{
	for (size_t i = 0; i < slots->used;) {
		if (slots->taken[i].end <= now)
			slots->taken[i] = slots->taken[--slots->used];
		else
			i++;
	}
}
