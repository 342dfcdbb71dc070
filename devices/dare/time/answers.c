/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Answers that are on their way, ordered by time. */
#include "devices/dare/time/internal.h"

void dare_time_answers_init(struct answers *answers)
{
	answers->first = answers->count = 0;
	for (unsigned int i = 0; i < ANSWERS_MAX; i++)
		answers->place[i] = (uint16_t)i;
}

static void move(struct answers *answers, unsigned int from, unsigned int to)
{
	answers->time[to] = answers->time[from];
	answers->place[to] = answers->place[from];
}

/* Later ones move back by one. Returns where it goes. */
static unsigned int make_room_behind(struct answers *answers, uint64_t time)
{
	unsigned int at = (answers->first + answers->count) % ANSWERS_MAX;

	for (unsigned int i = answers->count; i; i--) {
		unsigned int before = (at - 1) % ANSWERS_MAX;

		if (answers->time[before] <= time)
			break;
		move(answers, before, at);
		at = before;
	}
	return at;
}

/* Earlier ones move forward by one, likewise. One is later. */
static unsigned int make_room_before(struct answers *answers, uint64_t time)
{
	unsigned int at = answers->first = (answers->first - 1) % ANSWERS_MAX;

	for (;;) {
		unsigned int behind = (at + 1) % ANSWERS_MAX;

		if (answers->time[behind] > time)
			return at;
		move(answers, behind, at);
		at = behind;
	}
}

/* The caller has seen that there is room. A hit among many misses is among the first, a miss among the last. */
void dare_time_answers_add(struct answers *answers, uint64_t time, const struct answer *answer)
{
	unsigned int middle = (answers->first + answers->count / 2) % ANSWERS_MAX;
	bool is_early = answers->count && answers->time[middle] > time;
	uint16_t place = answers->place[(is_early ? answers->first - 1 : answers->first + answers->count) % ANSWERS_MAX];
	unsigned int at = is_early ? make_room_before(answers, time) : make_room_behind(answers, time);

	answers->answer[place] = *answer;
	answers->time[at] = time;
	answers->place[at] = place;
	answers->count++;
}

const struct answer *dare_time_answers_take(struct answers *answers)
{
	const struct answer *first = answer_at(answers, 0);

	answers->first = (answers->first + 1) % ANSWERS_MAX;
	answers->count--;
	return first;
}
