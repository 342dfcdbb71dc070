/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What is on its way, ordered by time. */
#include "devices/dare/time/internal.h"

void dare_time_answers_init(struct answers *answers)
{
	answers->first = answers->count = 0;
	for (unsigned int i = 0; i < ANSWERS_MAX; i++)
		answers->place[i] = (uint16_t)i;
}

/* The caller has seen that there is room. */
void dare_time_answers_add(struct answers *answers, uint64_t time, const struct answer *answer)
{
	unsigned int at = (answers->first + answers->count) % ANSWERS_MAX;
	uint16_t place = answers->place[at];

	answers->answer[place] = *answer;
	for (unsigned int i = answers->count++; i; i--) {
		unsigned int before = (at - 1) % ANSWERS_MAX;

		if (answers->time[before] <= time)
			break;
		answers->time[at] = answers->time[before];
		answers->place[at] = answers->place[before];
		at = before;
	}
	answers->time[at] = time;
	answers->place[at] = place;
}

const struct answer *dare_time_answers_take(struct answers *answers)
{
	const struct answer *first = answer_at(answers, 0);

	answers->first = (answers->first + 1) % ANSWERS_MAX;
	answers->count--;
	return first;
}
