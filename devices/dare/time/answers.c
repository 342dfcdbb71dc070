/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What is on its way, ordered by time. */
#include "devices/dare/time/internal.h"

static bool is_before(const struct answer *a, const struct answer *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

/* The caller has seen that there is room. */
void dare_time_answers_add(struct answers *answers, struct answer *answer)
{
	unsigned int i = answers->count++;

	answer->order = answers->order++;
	for (; i; i = (i - 1) / 2) {
		if (!is_before(answer, &answers->answer[(i - 1) / 2]))
			break;
		answers->answer[i] = answers->answer[(i - 1) / 2];
	}
	answers->answer[i] = *answer;
}

/* The earliest one, answers->answer[0], to *answer. */
void dare_time_answers_take(struct answers *answers, struct answer *answer)
{
	const struct answer *last = &answers->answer[--answers->count];
	unsigned int i = 0, child;

	*answer = answers->answer[0];
	while ((child = 2 * i + 1) < answers->count) {
		if (child + 1 < answers->count && is_before(&answers->answer[child + 1], &answers->answer[child]))
			child++;
		if (is_before(last, &answers->answer[child]))
			break;
		answers->answer[i] = answers->answer[child];
		i = child;
	}
	answers->answer[i] = *last;
}
