/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Addresses ahead of time (DMU, VMR) and the order of prefetches (RIQ), counted by hand. The rules are those
 * of test_dare_runahead.c. "m1: 2 to 5, there in 112" says that the rows of the load of m1 are sent in cycles 2
 * to 5 and that the last one is back in 112.
 */
#include "tests/lib/mpu_program.h"

#define A 0x10000u
#define B 0x20000u
#define C 0x30000u
#define D 0x40000u
#define E 0x50000u
#define F 0x60000u

static uint64_t prefetched_at(struct mpu_program *p, uint64_t now)
{
	p->now = now;
	return mpu_prefetched(p);
}

/* Four addresses, all in one line. */
static void load_addresses(struct mpu_program *p, unsigned int md, uint64_t address)
{
	mpu_shape(p, 4, 8, 16);
	mld(p, md, address, 8);
}

/* Four rows, each a line. */
static void gather(struct mpu_program *p, unsigned int md, unsigned int ms1, uint64_t address)
{
	mpu_shape(p, 4, 64, 16);
	mgather(p, md, ms1, address, LINE);
}

/* --- which instruction is the producer ------------------------------------------------------- */

static void the_newest_older_load_of_the_register_is_the_producer(void **state)
{
	struct mpu_program p = mpu_begin("fre", MPU_SLOW, NULL);
	uint64_t t = mpu_warm(&p, B, 4), rows = mpu_prefetched(&p);

	(void)state;
	mpu_hold(&p, 1);
	mpu_shape(&p, 1, 64, 16);
	mld(&p, 1, C, 0);
	mpu_shape(&p, 4, 64, 16);
	mld(&p, 1, B, LINE);
	gather(&p, 2, 1, D);
	/* The first load's row: t + 2, a miss. The second's, unfiltered: t + 3 to t + 6, there in t + 26, as they hit. */
	assert_int_equal(prefetched_at(&p, t + 25) - rows, 1 + 4);
	/* The mgather: t + 26, there in t + 136, then t + 136 to t + 138. */
	assert_int_equal(prefetched_at(&p, t + 26) - rows, 1 + 4 + 1);
	assert_int_equal(prefetched_at(&p, t + 138) - rows, 1 + 4 + 4);
	dare_mpu_destroy(p.mpu);
}

static void a_younger_load_of_the_register_is_no_producer(void **state)
{
	struct mpu_program p = mpu_begin("fre", MPU_SLOW, "mpu.vmr=1", "mpu.window=1", NULL);

	(void)state;
	mpu_hold(&p, 1);
	load_addresses(&p, 1, A);
	gather(&p, 2, 1, B);
	load_addresses(&p, 3, C);
	gather(&p, 4, 3, D);
	mpu_shape(&p, 1, 64, 16);
	mld(&p, 3, E, 0);
	/*
	 * m1: 2 to 5, there in 112. m3's first row: 6, there in 116, the others then. The younger load of m3, of one
	 * row: 7. m2: 112, there in 222, then 222 to 224; the entry of the VMR is free.
	 */
	assert_int_equal(prefetched_at(&p, 224), 4 + 4 + 1 + 4);
	/* For the VMR m3 is fetched again, from the older load: 225 to 228, there in 248. Then m4. */
	assert_int_equal(prefetched_at(&p, 228), 4 + 4 + 1 + 4 + 4);
	assert_int_equal(prefetched_at(&p, 247), 4 + 4 + 1 + 4 + 4);
	assert_int_equal(prefetched_at(&p, 248), 4 + 4 + 1 + 4 + 4 + 1);
	dare_mpu_destroy(p.mpu);
}

static void a_mgather_that_has_no_addresses_ahead_of_time_is_no_producer(void **state)
{
	struct mpu_program p = mpu_begin("fre", MPU_SLOW, NULL);

	(void)state;
	mpu_hold(&p, 2);
	gather(&p, 2, 1, A);
	gather(&p, 3, 2, B);
	mpu_drain(&p);
	assert_int_equal(mpu_prefetched(&p), 0);
	assert_int_equal(mpu_statistics(&p).vmr_most, 0);
	assert_int_equal(mpu_statistics(&p).chains_dropped, 0);
	dare_mpu_destroy(p.mpu);
}

static void a_mgather_whose_rows_are_all_prefetched_is_no_producer(void **state)
{
	struct mpu_program p = mpu_begin("fre", MPU_SLOW, NULL);

	(void)state;
	mpu_hold(&p, 1);
	load_addresses(&p, 1, A);
	gather(&p, 2, 1, B);
	p.now = 300;
	gather(&p, 3, 2, C);
	/*
	 * m1: 2 to 5, there in 112; m2: 112, there in 222, then 222 to 224, when it gives its addresses back.
	 * On demand m1 and m2 take 3 + 20 each, and m3's rows miss: the first one's line is there 110 later,
	 * the fourth one's 6 more.
	 */
	assert_int_equal(mpu_drain(&p), MPU_HOLD + 2 * 23 + 110 + 6);
	assert_int_equal(mpu_prefetched(&p), 4 + 4);
	assert_int_equal(mpu_statistics(&p).vmr, 224 - 2);
	assert_int_equal(mpu_statistics(&p).chains_dropped, 0);
	dare_mpu_destroy(p.mpu);
}

/* --- rows of a producer ------------------------------------------------------------------------- */

static void rows_from_before_the_vmr_had_a_place_do_not_count(void **state)
{
	struct mpu_program p = mpu_begin("fre", MPU_SLOW, NULL);

	(void)state;
	mpu_hold(&p, 1);
	mpu_shape(&p, 4, 64, 16);
	mld(&p, 1, A, LINE);
	/* Row 0: 2, there in 112 and a miss; the others: 112 to 114, there in 222, 224, 226. */
	p.now = 150;
	gather(&p, 2, 1, B);
	/* All again, for the VMR: 151 to 154. Row 0 hits, the others wait for their lines: the last one in 226. */
	assert_int_equal(prefetched_at(&p, 225), 4 + 4);
	assert_int_equal(prefetched_at(&p, 226), 4 + 4 + 1);
	dare_mpu_destroy(p.mpu);
}

static void a_producer_is_not_judged_by_its_first_row(void **state)
{
	struct mpu_program p = mpu_begin("fre", MPU_SLOW, NULL);
	struct dare_time_statistics before;
	uint64_t t = mpu_warm(&p, B, 4);

	(void)state;
	before = mpu_statistics(&p);
	mpu_hold(&p, 1);
	load_addresses(&p, 1, A);
	gather(&p, 2, 1, B);
	gather(&p, 3, 2, C);
	/* m1: t + 2 to t + 5, there in t + 112. m2 hits: t + 112 to t + 115, there in t + 135. m3: t + 135, a miss. */
	assert_int_equal(prefetched_at(&p, t + 135) - before.rows_prefetched, 4 + 4 + 1);
	mpu_drain(&p);
	assert_int_equal(mpu_statistics(&p).suppressed - before.suppressed, 0);
	assert_int_equal(mpu_statistics(&p).granted - before.granted, 1);
	dare_mpu_destroy(p.mpu);
}

static void addresses_that_are_there_serve_a_mgather_that_comes_later(void **state)
{
	struct mpu_program p = mpu_begin("fre", MPU_SLOW, NULL);

	(void)state;
	mpu_hold(&p, 1);
	load_addresses(&p, 1, A);
	gather(&p, 2, 1, B);
	p.now = 150;
	gather(&p, 3, 1, C);
	/* m1: 2 to 5, there in 112. m2: 112, there in 222. m3: 151, there in 261. */
	assert_int_equal(prefetched_at(&p, 151), 4 + 1 + 1);
	assert_int_equal(prefetched_at(&p, 263), 4 + 4 + 4);
	assert_int_equal(mpu_statistics(&p).chains, 2);
	assert_int_equal(mpu_statistics(&p).vmr_most, 1);
	dare_mpu_destroy(p.mpu);
}

static void a_producer_that_issues_with_its_rows_there_keeps_the_chain(void **state)
{
	struct mpu_program p = mpu_begin("fre", "array.drain=200", NULL);

	(void)state;
	mpu_hold(&p, 1);
	load_addresses(&p, 1, A);
	gather(&p, 2, 1, B);
	/*
	 * m1: 2 to 5, there in 112. m2's first row: 112, there in 222. m1 is free in 202: on demand 202 to 205,
	 * there in 225. m2's others: 222 to 224, which memory has in 242, 244, 246. On demand m2 waits for them.
	 */
	assert_int_equal(mpu_drain(&p), 246 + 90);
	assert_int_equal(mpu_prefetched(&p), 4 + 4);
	assert_int_equal(mpu_statistics(&p).chains_dropped, 0);
	dare_mpu_destroy(p.mpu);
}

/* --- entries of the VMR ---------------------------------------------------------------------------- */

static void a_mgather_that_issues_gives_its_vmr_entry_back(void **state)
{
	struct mpu_program p = mpu_begin("fre", "array.drain=150", NULL);

	(void)state;
	mpu_hold(&p, 1);
	load_addresses(&p, 1, A);
	gather(&p, 2, 1, B);
	/*
	 * m1: 2 to 5, there in 112; on demand 152 to 155, there in 175. m2's first row: 112, on its way until 222.
	 * In 175 the mgather issues: rows 175 to 178, of which memory has the last three in 196, 198, 200.
	 */
	assert_int_equal(mpu_drain(&p), 200 + 90);
	assert_int_equal(mpu_statistics(&p).vmr, 175 - 2);
	dare_mpu_destroy(p.mpu);
}

/* All that is fetched hits, so that an mgather has its first row prefetched and no other. */
static void the_oldest_that_waits_for_the_vmr_comes_first(void **state)
{
	struct mpu_program p = mpu_begin("fre", MPU_SLOW, "mpu.vmr=1", "mpu.window=1", NULL);
	uint64_t rows, t;

	(void)state;
	mpu_warm(&p, A, 1);
	mpu_warm(&p, B, 1);
	mpu_warm(&p, C, 1);
	t = mpu_warm(&p, D, 4);
	rows = mpu_prefetched(&p);
	mpu_hold(&p, 1);
	load_addresses(&p, 1, A);
	gather(&p, 2, 1, D);
	load_addresses(&p, 3, B);
	gather(&p, 4, 3, D);
	load_addresses(&p, 5, C);
	gather(&p, 6, 5, D);
	gather(&p, 0, 3, D);
	/*
	 * m1: 4 rows, m2: 1. m3: 1 before there is an entry for it, 4 for m4, which has 1. m5: 1 and 4 for m6,
	 * which has 1. The last mgather has to wait for that, though m3 had an entry before: m3 again, 4, then 1.
	 */
	assert_int_equal(prefetched_at(&p, t + MPU_HOLD - 1) - rows, (4 + 1) + (1 + 4 + 1) + (1 + 4 + 1) + (4 + 1));
	assert_int_equal(mpu_statistics(&p).vmr_waits, 3);
	dare_mpu_destroy(p.mpu);
}

static void one_that_waited_for_the_vmr_may_find_its_addresses_there(void **state)
{
	struct mpu_program p = mpu_begin("fre", MPU_SLOW, "mpu.vmr=2", "mpu.window=1", NULL);
	uint64_t rows, t;

	(void)state;
	mpu_warm(&p, A, 4);
	t = mpu_warm(&p, D, 4);
	rows = mpu_prefetched(&p);
	mpu_hold(&p, 1);
	load_addresses(&p, 1, A);
	gather(&p, 2, 1, D);
	load_addresses(&p, 3, A + LINE);
	gather(&p, 4, 3, E);
	load_addresses(&p, 5, A + 2 * LINE);
	gather(&p, 0, 5, F);
	load_addresses(&p, 6, A + 3 * LINE);
	gather(&p, 7, 6, D);
	gather(&p, 2, 5, D);
	/*
	 * m1 and m3 have the entries: 4 rows each. m2 hits: 1, and m5 has its entry: 1 before, 4 now. Its mgather m0
	 * begins about t + 72 and misses: 4, but the last three not before t + 182. m4 misses, too: 4, the last in t + 141
	 * or so. Then m6 has that entry, 1 before and 4 now, for m7, 1. Next in turn is the last mgather, whose m5 is there: 1.
	 */
	assert_int_equal(prefetched_at(&p, t + MPU_HOLD - 1) - rows, (4 + 1) + (4 + 4) + (1 + 4 + 4) + (1 + 4 + 1) + 1);
	assert_int_equal(mpu_statistics(&p).vmr_waits, 3);
	assert_int_equal(mpu_statistics(&p).vmr_most, 2);
	dare_mpu_destroy(p.mpu);
}

static void a_dropped_instruction_gives_the_vmr_back(void **state)
{
	struct mpu_program p = mpu_begin("fre", MPU_SLOW, "mpu.vmr=1", NULL);

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		mpu_hold(&p, 1);
		load_addresses(&p, 1, A);
		gather(&p, 2, 1, B);
		if (!i)
			dare_mpu_drop(p.mpu, p.now++);
	}
	mpu_drain(&p);
	assert_int_equal(mpu_statistics(&p).vmr_waits, 0);
	assert_int_equal(mpu_statistics(&p).vmr_most, 1);
	assert_int_equal(mpu_statistics(&p).chains, 1);
	dare_mpu_destroy(p.mpu);
}

/* --- answers to prefetches ---------------------------------------------------------------------------- */

static void an_instruction_that_has_issued_is_judged_no_more(void **state)
{
	struct mpu_program p = mpu_begin("fre", NULL);

	(void)state;
	mld(&p, 0, C, 0);
	mld(&p, 0, A, 0);
	/* The second load's prefetch: 2, there in 113. It issues in 111, when the first is there. */
	assert_int_equal(mpu_drain(&p), 111 + 20);
	assert_int_equal(mpu_prefetched(&p), 1);
	assert_int_equal(mpu_statistics(&p).granted, 0);
	assert_int_equal(mpu_statistics(&p).suppressed, 0);
	dare_mpu_destroy(p.mpu);
}

/* 16 sets of one line each, and memory that takes 1000 cycles: a line can come back before its prefetch does. */
static void an_answer_to_a_prefetch_is_not_that_of_a_later_instruction(void **state)
{
	struct mpu_program p = mpu_begin("fre", "llc.size=1K", "llc.ways=1", "dram.latency=1000", "array.drain=100", NULL);
	uint64_t t = mpu_warm(&p, A + LINE, 1);

	(void)state;
	/* m7 is not free before t + 1 + 101. The load's prefetch: t + 3, on its way until t + 1023. */
	mpu_hold(&p, 7);
	mst(&p, 7, A, 0);
	mld(&p, 7, A, 0);
	/* Sent in t + 4, this line takes the other's place. */
	mld(&p, 0, A + 16 * LINE, 0);
	/*
	 * The store puts the whole line there in t + 102 to t + 122; then the load is sent and hits, and is over in
	 * t + 142. Its entry is the next mma's, then, from t + 951 on, that of a load whose first row hits.
	 */
	p.now = t + 950;
	mpu_hold(&p, 6);
	mpu_shape(&p, 4, 64, 16);
	mld(&p, 6, A + LINE, LINE);
	/*
	 * m6 is free in t + 951 + 101: rows t + 1052 to t + 1055, of which the last three miss and have memory in
	 * t + 1073, t + 1075, t + 1077. None of these was prefetched.
	 */
	assert_int_equal(mpu_drain(&p), t + 1077 + 1000);
	assert_int_equal(mpu_prefetched(&p), 1 + 1);
	assert_int_equal(mpu_statistics(&p).granted, 0);
	dare_mpu_destroy(p.mpu);
}

/* --- order of prefetches --------------------------------------------------------------------------------- */

static void an_older_instruction_that_gets_its_addresses_goes_before_younger_ones(void **state)
{
	struct mpu_program p = mpu_begin("nvr", MPU_SLOW, "mpu.window=1", NULL);
	struct dare_time_statistics before, after;
	uint64_t t = mpu_warm(&p, B, 4);

	(void)state;
	before = mpu_statistics(&p);
	mpu_hold(&p, 1);
	load_addresses(&p, 1, A);
	gather(&p, 2, 1, B);
	mpu_shape(&p, 16, 64, 16);
	for (unsigned int i = 0; i < 4; i++)
		mld(&p, 5, C + i * 16 * LINE, LINE);
	/*
	 * m1: t + 2 to t + 5, three of them redundant, all there in t + 112. Then 44 rows of the younger loads, which
	 * fill the LQ; the first of these is there in t + 116. In t + 112 to t + 115 the mgather's rows go, which hit.
	 */
	p.now = t + 115;
	after = mpu_statistics(&p);
	assert_int_equal(after.rows_prefetched - before.rows_prefetched, 48 + 4);
	assert_int_equal(after.prefetch_redundant - before.prefetch_redundant, 3 + 4);
	dare_mpu_destroy(p.mpu);
}

static void the_oldest_load_is_prefetched_first(void **state)
{
	struct mpu_program p = mpu_begin("nvr", MPU_SLOW, NULL);
	struct dare_time_statistics before, after;
	uint64_t t = mpu_warm(&p, B, 16);

	(void)state;
	before = mpu_statistics(&p);
	mpu_hold(&p, 7);
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 7, A, LINE);
	mld(&p, 7, B, LINE);
	/* The first load's rows, which miss: t + 2 to t + 17. */
	p.now = t + 17;
	after = mpu_statistics(&p);
	assert_int_equal(after.rows_prefetched - before.rows_prefetched, 16);
	assert_int_equal(after.prefetch_redundant - before.prefetch_redundant, 0);
	p.now = t + 33;
	after = mpu_statistics(&p);
	assert_int_equal(after.rows_prefetched - before.rows_prefetched, 32);
	assert_int_equal(after.prefetch_redundant - before.prefetch_redundant, 16);
	dare_mpu_destroy(p.mpu);
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(the_newest_older_load_of_the_register_is_the_producer),
		ON(a_younger_load_of_the_register_is_no_producer),
		ON(a_mgather_that_has_no_addresses_ahead_of_time_is_no_producer),
		ON(a_mgather_whose_rows_are_all_prefetched_is_no_producer),
		ON(rows_from_before_the_vmr_had_a_place_do_not_count),
		ON(a_producer_is_not_judged_by_its_first_row),
		ON(addresses_that_are_there_serve_a_mgather_that_comes_later),
		ON(a_producer_that_issues_with_its_rows_there_keeps_the_chain),
		ON(a_mgather_that_issues_gives_its_vmr_entry_back),
		ON(the_oldest_that_waits_for_the_vmr_comes_first),
		ON(one_that_waited_for_the_vmr_may_find_its_addresses_there),
		ON(a_dropped_instruction_gives_the_vmr_back),
		ON(an_instruction_that_has_issued_is_judged_no_more),
		ON(an_answer_to_a_prefetch_is_not_that_of_a_later_instruction),
		ON(an_older_instruction_that_gets_its_addresses_goes_before_younger_ones),
		ON(the_oldest_load_is_prefetched_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
