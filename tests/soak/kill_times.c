/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/soak/kill_times.h"

#include <stdlib.h>

int kill_times_make(struct kill_times *times, size_t room)
{
	times->microseconds = calloc(room + 1, sizeof(*times->microseconds));
	times->count = 0;
	times->room = room;
	return times->microseconds ? 0 : -1;
}

void kill_times_free(struct kill_times *times)
{
	free(times->microseconds);
}

void kill_times_add(struct kill_times *times, uint64_t nanoseconds)
{
	uint64_t microseconds = nanoseconds / 1000;

	if (times->count < times->room)
		times->microseconds[times->count++] = microseconds < UINT32_MAX ? (uint32_t)microseconds : UINT32_MAX;
}

static int compare(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

double kill_times_percentile(struct kill_times *times, double fraction)
{
	size_t index;

	if (!times->count)
		return 0;
	qsort(times->microseconds, times->count, sizeof(*times->microseconds), compare);
	index = (size_t)(fraction * (double)times->count);
	return times->microseconds[index < times->count ? index : times->count - 1] / 1000.0;
}
