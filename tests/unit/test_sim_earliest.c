/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The earliest of some times against a search through all of them, from the lowest number on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/earliest.h"

static uint64_t random_state = 88172645463325252ull;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static unsigned int first_of(const uint64_t *times, unsigned int count)
{
	unsigned int first = 0;

	for (unsigned int i = 1; i < count; i++)
		if (times[i] < times[first])
			first = i;
	return first;
}

/* Few times, so that many are the same, and now and then none. */
static uint64_t random_time(void)
{
	uint64_t time = next_random() % 16;

	return time == 15 ? UINT64_MAX : time;
}

static void is_the_lowest_number_of_the_earliest_time(void **state)
{
	(void)state;
	for (unsigned int count = 1; count <= SOC_EARLIEST_MAX; count++) {
		struct soc_earliest earliest;
		uint64_t times[SOC_EARLIEST_MAX];

		soc_earliest_init(&earliest, count);
		for (unsigned int i = 0; i < count; i++)
			times[i] = UINT64_MAX;
		for (unsigned int i = 0; i < 1000; i++) {
			unsigned int number = (unsigned int)(next_random() % count);
			unsigned int first;

			times[number] = random_time();
			soc_earliest_set(&earliest, number, times[number]);
			first = first_of(times, count);
			assert_int_equal(soc_earliest_time(&earliest), times[first]);
			if (times[first] != UINT64_MAX)
				assert_int_equal(soc_earliest_number(&earliest), first);
		}
	}
}

static void of_a_new_one_there_is_none(void **state)
{
	struct soc_earliest earliest;

	(void)state;
	soc_earliest_init(&earliest, 5);
	assert_int_equal(soc_earliest_time(&earliest), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_the_lowest_number_of_the_earliest_time),
		cmocka_unit_test(of_a_new_one_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
