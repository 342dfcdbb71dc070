/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The order of work in the MPU, counted by hand: instructions of the window, rows of the load/store
 * unit, mmas in the array. The rules are those of test_dare_time.c. With MPU_SLOW an mma of one element
 * takes 1001 cycles, so a program ends 1001 cycles after the mma's operands are there.
 */
#include "tests/lib/mpu_program.h"

#define A 0x10000u
#define B 0x20000u
#define C 0x30000u

/* --- lines in the window ------------------------------------------------------------------- */

static void a_store_does_not_pass_a_load_of_its_line_that_waits(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	uint64_t t = mpu_warm(&p, A, 1);

	(void)state;
	mld(&p, 0, C, 0);
	mld(&p, 0, A, 0);
	mst(&p, 3, A, 0);
	mld(&p, 4, A, 0);
	/*
	 * The first load misses, so m0 is free in t + 111: the second load and with it the store issue. The store
	 * is in the LLC in t + 131, and only then the third load is sent.
	 */
	mpu_expect(&p, t + 131 + 20);
}

static void two_loads_of_a_line_pass_each_other(void **state)
{
	struct mpu_program p = mpu_begin("base", MPU_SLOW, NULL);
	uint64_t t = mpu_warm(&p, A, 1);

	(void)state;
	mpu_shape(&p, 1, 4, 1);
	mld(&p, 0, C, 0);
	mld(&p, 0, A, 0);
	mld(&p, 1, A, 0);
	mma(&p, 2, 1, 1);
	/* The second load waits for m0 until t + 111, the third goes in t + 3 and is there in t + 23. */
	mpu_expect(&p, t + 23 + 1001);
}

static void a_store_passes_a_load_of_other_lines_that_waits(void **state)
{
	struct mpu_program p = mpu_begin("base", MPU_SLOW, NULL);

	(void)state;
	mld(&p, 0, C, 0);
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	mst(&p, 3, B, LINE);
	mpu_shape(&p, 1, 4, 1);
	mma(&p, 3, 4, 5);
	/* The second load waits until 111. The store's rows go in 3 to 18, so that m3 is free in 19. */
	mpu_expect(&p, 19 + 1001);
}

/* --- registers in the window ---------------------------------------------------------------- */

static void a_load_waits_for_an_older_load_of_its_register_that_waits(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	uint64_t t = mpu_warm(&p, A, 2);

	(void)state;
	mld(&p, 0, C, 0);
	mgather(&p, 2, 0, A, 0);
	mld(&p, 2, A + LINE, 0);
	/* Addresses in t + 111, the mgather's row in t + 131, and only then the load of the same register. */
	mpu_expect(&p, t + 131 + 20);
}

static void a_mscatter_waits_for_its_data(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mma(&p, 2, 0, 1);
	mpu_shape(&p, 1, 64, 16);
	mscatter(&p, 2, 3, A, 0);
	/* The mma is done in 1 + 62. */
	mpu_expect(&p, 63 + 20);
}

static void an_mma_waits_for_a_load_of_its_sums_even_with_forwarding(void **state)
{
	struct mpu_program p = mpu_begin("base", "mpu.forward=1", NULL);

	(void)state;
	mpu_shape(&p, 1, 4, 1);
	mld(&p, 2, A, 0);
	mma(&p, 2, 0, 1);
	mpu_expect(&p, 111 + 17);
}

static void sums_are_forwarded_and_sources_are_not(void **state)
{
	struct mpu_program p = mpu_begin("base", "mpu.forward=1", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mma(&p, 2, 0, 1);
	mma(&p, 2, 2, 1);
	/* m2 is a source of the second one, too, and there in 1 + 62. */
	mpu_expect(&p, 63 + 62);
}

static void sources_are_free_when_they_are_taken_in_whatever_else_runs(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mma(&p, 2, 0, 1);
	mma(&p, 3, 0, 1);
	mma(&p, 4, 0, 1);
	mma(&p, 5, 6, 7);
	mpu_shape(&p, 1, 64, 16);
	mld(&p, 6, A, 0);
	/* They begin in 1, 17, 33, 49, and the last one has m6 until 65; the first one's result comes in 63. */
	mpu_expect(&p, 65 + 110);
}

/* --- window and width ------------------------------------------------------------------------ */

static uint64_t issued(struct mpu_program *p, uint64_t now)
{
	p->now = now;
	return mpu_statistics(p).issued;
}

static void the_fifth_oldest_is_not_in_a_window_of_four(void **state)
{
	struct mpu_program p = mpu_begin("fre", MPU_SLOW, NULL);

	(void)state;
	mpu_hold(&p, 7);
	for (unsigned int i = 0; i < 4; i++)
		mld(&p, 7, A + i * LINE, 0);
	mld(&p, 0, B, 0);
	/* Of the queue's five nothing issues before m7 is free; then the first, and it is the fifth's turn a cycle later. */
	assert_int_equal(issued(&p, MPU_HOLD - 1), 1);
	assert_int_equal(issued(&p, MPU_HOLD), 2);
	assert_int_equal(issued(&p, MPU_HOLD + 1), 3);
	dare_mpu_destroy(p.mpu);
}

static void instructions_beyond_those_of_a_cycle_issue_in_the_next(void **state)
{
	struct mpu_program p = mpu_begin("base", MPU_SLOW, "mpu.dispatch=2", "mpu.issue=1", NULL);
	uint64_t t = mpu_warm(&p, A, 16);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	p.now = t;
	mpu_shape(&p, 1, 4, 1);
	assert_int_equal(mma(&p, 2, 3, 4), t);
	/* Both are dispatched in t: the load issues in t + 1, the mma in t + 2. */
	mpu_expect(&p, t + 2 + 1001);
}

/* --- rows that are loaded and rows that are stored --------------------------------------------- */

static void a_store_to_a_line_on_its_way_waits_for_it(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 1, 32, 16);
	mld(&p, 0, A, 0);
	mst(&p, 3, A + 32, 0);
	mld(&p, 1, A + 32, 0);
	/* The line is there in 111; the store, sent in 2, is in it then, and the second load is sent. */
	mpu_expect(&p, 111 + 20);
}

static void a_load_does_not_wait_for_a_younger_store_in_the_sq(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	uint64_t t = mpu_warm(&p, A, 16);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	mpu_shape(&p, 1, 64, 16);
	mst(&p, 1, A + 15 * LINE, 0);
	/* The store is sent in t + 2 and in the LLC in t + 22; the load's row of the same line goes in t + 16. */
	mpu_expect(&p, t + 16 + 20);
}

static void a_load_does_not_wait_for_a_younger_store_that_is_not_sent(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	uint64_t t = mpu_warm(&p, A, 16);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	mst(&p, 1, A, LINE);
	/* Row i is loaded in t + 1 + i and stored in t + 2 + i, the last one in t + 17. */
	mpu_expect(&p, t + 17 + 20);
}

static void a_load_waits_for_its_row_of_a_store_and_for_no_other(void **state)
{
	struct mpu_program p = mpu_begin("base", MPU_SLOW, "mpu.sq=1", NULL);

	(void)state;
	/* The second row's line has the first one's place in the filter of stores. */
	mpu_shape(&p, 2, 64, 16);
	mst(&p, 0, A, 0x4040);
	mpu_shape(&p, 1, 4, 1);
	mld(&p, 1, A, 0);
	mma(&p, 2, 1, 1);
	/* The first row is in the LLC in 21, when the load and the second row are sent. */
	mpu_expect(&p, 41 + 1001);
}

static void eight_stores_are_issued_and_not_all_sent(void **state)
{
	struct mpu_program p = mpu_begin("base", "mpu.sq=1", NULL);

	(void)state;
	/*
	 * Store 0 is sent in 1, so that store 1 goes in 21. Until then 1 to 8 have issued, and 9 to 12 are the
	 * queue; 9 issues in 22, which makes room.
	 */
	for (unsigned int i = 0; i < 13; i++)
		assert_int_equal(mst(&p, 0, A + i * LINE, 0), i);
	assert_int_equal(mst(&p, 0, A + 13 * LINE, 0), 22);
	dare_mpu_destroy(p.mpu);
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(a_store_does_not_pass_a_load_of_its_line_that_waits),
		ON(two_loads_of_a_line_pass_each_other),
		ON(a_store_passes_a_load_of_other_lines_that_waits),
		ON(a_load_waits_for_an_older_load_of_its_register_that_waits),
		ON(a_mscatter_waits_for_its_data),
		ON(an_mma_waits_for_a_load_of_its_sums_even_with_forwarding),
		ON(sums_are_forwarded_and_sources_are_not),
		ON(sources_are_free_when_they_are_taken_in_whatever_else_runs),
		ON(the_fifth_oldest_is_not_in_a_window_of_four),
		ON(instructions_beyond_those_of_a_cycle_issue_in_the_next),
		ON(a_store_to_a_line_on_its_way_waits_for_it),
		ON(a_load_does_not_wait_for_a_younger_store_in_the_sq),
		ON(a_load_does_not_wait_for_a_younger_store_that_is_not_sent),
		ON(a_load_waits_for_its_row_of_a_store_and_for_no_other),
		ON(eight_stores_are_issued_and_not_all_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
