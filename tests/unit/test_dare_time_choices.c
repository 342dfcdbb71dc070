/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The other values of choices that the paper leaves, in cycles counted by hand (rules: test_dare_time.c). */
#include "tests/lib/mpu_program.h"

#define A 0x10000u
#define B 0x20000u
#define C 0x30000u

/* --- stores ------------------------------------------------------------------------------- */

static void a_store_waits_for_its_place_in_the_lsu(void **state)
{
	static const char *const stores[] = { "mpu.stores=1", "mpu.stores=8" };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct mpu_program p = mpu_begin("base", "mpu.window=1", stores[i], NULL);

		mpu_shape(&p, 16, 64, 16);
		mst(&p, 0, A, LINE);
		mst(&p, 1, B, LINE);
		mpu_shape(&p, 1, 64, 16);
		/* The first store sends its rows in 1 to 16. The second one is in front of the load until it issues: in 17, or in 2. */
		assert_int_equal(mld(&p, 2, C, 0), i ? 2 : 17);
		mpu_expect(&p, (i ? 3 : 18) + 110);
	}
}

/* 16 rows that hit are loaded, and 16 others stored from `address` on. Returns the cycle in which all is done, after the dispatch. */
static uint64_t load_and_store(const char *order, uint64_t address)
{
	struct mpu_program p = mpu_begin("base", order, NULL);
	uint64_t t = mpu_warm(&p, A, 16), end;

	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	mst(&p, 1, address, LINE);
	end = mpu_drain(&p) - t;
	dare_mpu_destroy(p.mpu);
	return end;
}

static void a_store_waits_for_older_loads_as_is_said(void **state)
{
	(void)state;
	/* The load sends its rows in 1 to 16. The store issues in 2, its last row is sent 15 cycles behind its first. */
	assert_int_equal(load_and_store("mpu.store_order=0", A + 15 * LINE), 2 + 15 + 20);
	/* Its first row is the load's last. */
	assert_int_equal(load_and_store("mpu.store_order=1", A + 15 * LINE), 16 + 15 + 20);
	assert_int_equal(load_and_store("mpu.store_order=1", B), 2 + 15 + 20);
	assert_int_equal(load_and_store("mpu.store_order=2", B), 16 + 15 + 20);
}

/*
 * The younger store issues first, and waits for the third load as for all; that one waits for the older store, which must not
 * wait behind the younger one.
 */
static void stores_that_wait_for_loads_keep_their_order(void **state)
{
	struct mpu_program p = mpu_begin("base", "mpu.window=8", "mpu.store_order=2", NULL);
	uint64_t t = mpu_warm(&p, A, 16);

	(void)state;
	mpu_shape(&p, 1, 64, 16);
	mld(&p, 0, A, 0);
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 3, A, LINE);
	mld(&p, 4, A, LINE);
	mpu_shape(&p, 1, 64, 16);
	mst(&p, 0, B, 0);
	mld(&p, 1, B, 0);
	mst(&p, 2, C, 0);
	/*
	 * Loads send their rows in 1, 2 to 17 and 18 to 33. m0 is there in 21, when the first store issues; it is sent in 33 and
	 * in the LLC in 53. Then the load of its line is sent, and the other store.
	 */
	mpu_expect(&p, t + 53 + 20);
}

/* --- LLC ------------------------------------------------------------------------------------ */

static void the_first_line_is_in_a_warm_llc(void **state)
{
	struct mpu_program p = mpu_begin("base", "llc.warm=1", NULL);

	(void)state;
	mld(&p, 0, A, 0);
	mpu_expect(&p, 1 + 20);
}

static void a_warm_llc_has_no_more_lines_than_places(void **state)
{
	/* 16 sets of one line each. */
	struct mpu_program p = mpu_begin("base", "llc.warm=1", "llc.size=1024", "llc.ways=1", NULL);

	(void)state;
	mld(&p, 0, A, 0);
	/* The same place: it waits for m0, and misses. */
	mld(&p, 0, A + 1024, 0);
	mpu_expect(&p, 1 + 20 + 110);
}

static void a_store_of_a_part_of_a_line_fetches_nothing_into_a_warm_llc(void **state)
{
	static const char *const warm[] = { "llc.warm=0", "llc.warm=1" };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct mpu_program p = mpu_begin("base", warm[i], NULL);

		mpu_shape(&p, 1, 4, 16);
		mst(&p, 0, A, 0);
		mpu_expect(&p, i ? 1 + 20 : 1 + 110);
	}
}

static void a_row_of_a_warm_llc_waits_for_no_mshr(void **state)
{
	/* 16 sets of one line each. */
	struct mpu_program p = mpu_begin("base", "llc.warm=1", "llc.size=1024", "llc.ways=1", "llc.mshrs=1", NULL);
	uint64_t t = mpu_warm(&p, A, 1);

	(void)state;
	mld(&p, 0, A + 1024, 0);
	mld(&p, 1, A + LINE, 0);
	/* The first one has the MSHR in 1 to 111; the other one is sent in 2. */
	dare_mpu_advance(p.mpu, t + 2);
	assert_int_equal(mpu_statistics(&p).rows_demanded, 1 + 2);
	mpu_expect(&p, t + 111);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_store_waits_for_its_place_in_the_lsu),
		cmocka_unit_test(a_store_waits_for_older_loads_as_is_said),
		cmocka_unit_test(stores_that_wait_for_loads_keep_their_order),
		cmocka_unit_test(the_first_line_is_in_a_warm_llc),
		cmocka_unit_test(a_warm_llc_has_no_more_lines_than_places),
		cmocka_unit_test(a_store_of_a_part_of_a_line_fetches_nothing_into_a_warm_llc),
		cmocka_unit_test(a_row_of_a_warm_llc_waits_for_no_mshr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
