/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* How many accesses a lane of a crowd may have in a row: docs/design.md says, not many more than the mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/engine/crowd.h"

#define LANES 4
#define ROUNDS 1000
/* Of daemon/engine/crowd.c's figures the one that its users notice. */
#define MOST_AHEAD 24

static struct mimicd_crowd crowd;
static struct mimicd_crowd_member members[LANES + 1];

static int begin(void **state)
{
	(void)state;
	memset(members, 0, sizeof(members));
	crowd = (struct mimicd_crowd){ .account = 1 };
	return 0;
}

/* As the daemon does: the access that it found, and those that follow. Returns how many in all. */
static unsigned int serve(struct mimicd_crowd_member *member, unsigned int wanted)
{
	unsigned int most = mimicd_crowd_allowance(&crowd, member);
	unsigned int served = 1 + (wanted - 1 < most ? wanted - 1 : most);

	mimicd_crowd_served(&crowd, member, served);
	return served;
}

static void a_lane_that_wants_more_has_little_more_than_the_others(void **state)
{
	uint64_t greedy = 0, modest = 0;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		greedy += serve(&members[0], 1000);
		for (unsigned int i = 1; i < LANES; i++)
			modest += serve(&members[i], 3);
	}
	assert_int_equal(modest, 3 * ROUNDS * (LANES - 1));
	/* The mean has the greedy lane's own accesses in it, too. */
	assert_in_range(greedy, 3 * ROUNDS, 3 * ROUNDS + MOST_AHEAD * LANES);
}

static void lanes_that_want_the_same_have_the_same(void **state)
{
	uint64_t least = UINT64_MAX, most = 0;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < LANES; i++)
			serve(&members[i], 1000);
	}
	for (unsigned int i = 0; i < LANES; i++) {
		least = members[i].served < least ? members[i].served : least;
		most = members[i].served > most ? members[i].served : most;
	}
	assert_in_range(most - least, 0, 2 * MOST_AHEAD);
}

/* Else it would have more than all others, until it had as many as they. */
static void a_lane_that_comes_later_does_not_catch_up(void **state)
{
	uint64_t late = 0;

	(void)state;
	for (unsigned int round = 0; round < 2 * ROUNDS; round++) {
		for (unsigned int i = 0; i < LANES; i++)
			serve(&members[i], 20);
		if (round >= ROUNDS)
			late += serve(&members[LANES], 1000);
	}
	assert_in_range(late, 20 * ROUNDS, 20 * ROUNDS + MOST_AHEAD * (LANES + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_lane_that_wants_more_has_little_more_than_the_others, begin),
		cmocka_unit_test_setup(lanes_that_want_the_same_have_the_same, begin),
		cmocka_unit_test_setup(a_lane_that_comes_later_does_not_catch_up, begin),
	};

	return cmocka_run_group_tests_name("shares of a crowd", tests, NULL, NULL);
}
