/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Runahead in cycles, counted by hand: RIQ, DMU with VMR, RFU. The rules are those of
 * test_dare_time.c, and: an instruction can be prefetched from the cycle behind its dispatch;
 * an answer takes effect in its own cycle. A hit takes 20 cycles, a miss 110.
 * mpu_hold() keeps instructions in the RIQ.
 */
#include "tests/lib/mpu_program.h"

#define A 0x10000u
#define B 0x20000u
#define C 0x30000u
#define D 0x40000u
#define SLOW MPU_SLOW
#define HOLD MPU_HOLD

/* --- RIQ and RFU ------------------------------------------------------------------------- */

static void a_first_row_that_misses_has_all_rows_prefetched(void **state)
{
	struct mpu_program p = mpu_begin("fre", SLOW, NULL);

	(void)state;
	mpu_hold(&p, 7);
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 7, A, LINE);
	/* Row 0 is sent in 2 and is there in 112, rows 1 to 15 in 112 to 126. */
	dare_mpu_advance(p.mpu, 111);
	assert_int_equal(mpu_prefetched(&p), 1);
	p.now = 126;
	assert_int_equal(mpu_prefetched(&p), 16);
	/* On demand all hit, in HOLD to HOLD + 15. */
	assert_int_equal(mpu_drain(&p), HOLD + 15 + 20);
	assert_int_equal(mpu_statistics(&p).demand_hits, 16);
	assert_int_equal(mpu_statistics(&p).granted, 1);
	assert_int_equal(mpu_statistics(&p).prefetch_redundant, 0);
	dare_mpu_destroy(p.mpu);
}

static void a_first_row_that_hits_suppresses_the_others(void **state)
{
	struct mpu_program p = mpu_begin("fre", SLOW, NULL);
	uint64_t t = mpu_warm(&p, A, 1), rows = mpu_prefetched(&p);

	(void)state;
	mpu_hold(&p, 7);
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 7, A, LINE);
	/* Row 1 misses in t + HOLD + 1; the channel gives row 15 in 28 cycles more. */
	assert_int_equal(mpu_drain(&p), t + HOLD + 1 + 110 + 28);
	assert_int_equal(mpu_prefetched(&p) - rows, 1);
	assert_int_equal(mpu_statistics(&p).suppressed, 1);
	dare_mpu_destroy(p.mpu);
}

static void without_the_filter_all_rows_are_prefetched(void **state)
{
	struct mpu_program p = mpu_begin("nvr", SLOW, NULL);
	uint64_t t = mpu_warm(&p, A, 1);

	(void)state;
	mpu_hold(&p, 7);
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 7, A, LINE);
	p.now = t + 17;
	assert_int_equal(mpu_prefetched(&p), 16);
	assert_int_equal(mpu_statistics(&p).prefetch_redundant, 1);
	mpu_expect(&p, t + HOLD + 15 + 20);
}

static void a_latency_of_the_threshold_is_a_hit(void **state)
{
	static const char *const latency[] = { "llc.latency=64", "llc.latency=65" };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct mpu_program p = mpu_begin("static", SLOW, latency[i], NULL);
		uint64_t rows;

		mpu_warm(&p, A, 16);
		rows = mpu_prefetched(&p);
		mpu_hold(&p, 7);
		mpu_shape(&p, 16, 64, 16);
		mld(&p, 7, A, LINE);
		mpu_drain(&p);
		assert_int_equal(mpu_prefetched(&p) - rows, i ? 16 : 1);
		dare_mpu_destroy(p.mpu);
	}
}

static void an_instruction_that_issues_is_prefetched_no_more(void **state)
{
	struct mpu_program p = mpu_begin("nvr", NULL);

	(void)state;
	/* Load 1 is there in 111. Load 2 is in the RIQ from 1 on: rows in 2 to 111, less those issued. */
	mld(&p, 7, A, 0);
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 7, B, LINE);
	mpu_drain(&p);
	assert_int_equal(mpu_prefetched(&p), 16);
	dare_mpu_destroy(p.mpu);

	/* One entry of the LQ: it is the first load's until 111, when the second issues. */
	p = mpu_begin("nvr", "mpu.lq=1", NULL);
	mld(&p, 7, A, 0);
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 7, B, LINE);
	mpu_drain(&p);
	assert_int_equal(mpu_prefetched(&p), 0);
	dare_mpu_destroy(p.mpu);
}

static void the_riq_has_as_many_entries_as_is_said(void **state)
{
	struct mpu_program p = mpu_begin("fre", SLOW, "mpu.riq=2", "mpu.window=2", NULL);

	(void)state;
	mpu_hold(&p, 7);
	assert_int_equal(mld(&p, 7, A, 0), 1);
	assert_int_equal(mld(&p, 7, B, 0), 2);
	/* The first one issues in HOLD. */
	assert_int_equal(mld(&p, 7, C, 0), HOLD);
	assert_int_equal(mpu_statistics(&p).riq_most, 2);
	dare_mpu_destroy(p.mpu);
}

static void stores_are_not_prefetched(void **state)
{
	struct mpu_program p = mpu_begin("nvr", SLOW, NULL);

	(void)state;
	mpu_hold(&p, 7);
	mst(&p, 7, A, 0);
	mscatter(&p, 7, 5, B, 0);
	mpu_drain(&p);
	assert_int_equal(mpu_prefetched(&p), 0);
	dare_mpu_destroy(p.mpu);
}

/* --- port --------------------------------------------------------------------------------- */

/* 16 rows are demanded, and 16 of a load that waits for them are prefetched meanwhile. All hit. */
static uint64_t contend(const char *mode, const char *change, struct dare_time_statistics *statistics)
{
	struct mpu_program p = mpu_begin(mode, change, NULL);
	uint64_t t = mpu_warm(&p, A, 32), end;
	struct dare_time_statistics before = mpu_statistics(&p);

	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	mld(&p, 0, A + 16 * LINE, LINE);
	end = mpu_drain(&p) - t;
	*statistics = mpu_statistics(&p);
	statistics->port_waits -= before.port_waits;
	statistics->demand_since_issue -= before.demand_since_issue;
	statistics->rows_prefetched -= before.rows_prefetched;
	dare_mpu_destroy(p.mpu);
	return end;
}

static void demand_and_prefetch_take_turns_at_the_port(void **state)
{
	struct dare_time_statistics statistics;

	(void)state;
	/*
	 * Row 0 in 1; then a prefetch in each even cycle and a row in each odd one, the last in 31.
	 * The last row is there in 51, the second load's rows go in 51 to 66. 15 rows have waited a cycle.
	 */
	assert_int_equal(contend("nvr", NULL, &statistics), 66 + 20);
	assert_int_equal(statistics.port_waits, 15);
	/* Row i of the first load comes 20 + 2 i behind its issue in 1, of the second 20 + i behind 51. */
	assert_int_equal(statistics.demand_since_issue, 16 * 20 + 240 + 16 * 20 + 120);
	assert_int_equal(statistics.rows_prefetched, 16);
}

static void demand_may_go_first(void **state)
{
	struct dare_time_statistics statistics;

	(void)state;
	/* Rows in 1 to 16, there in 36; then 36 to 51. */
	assert_int_equal(contend("nvr", "llc.demand_first=1", &statistics), 51 + 20);
	assert_int_equal(statistics.port_waits, 0);
	assert_int_equal(statistics.demand_since_issue, 2 * (16 * 20 + 120));
	assert_int_equal(contend("base", NULL, &statistics), 51 + 20);
}

static void a_second_port_ends_the_contention(void **state)
{
	struct dare_time_statistics statistics;

	(void)state;
	/* Two rows in 1, then one beside a prefetch: the last one in 15, there in 35. Two in each of 35 to 42. */
	assert_int_equal(contend("nvr", "llc.reads=2", &statistics), 42 + 20);
}

/* --- DMU ------------------------------------------------------------------------------------ */

static void a_mgather_is_prefetched_when_its_addresses_are_there(void **state)
{
	struct mpu_program p = mpu_begin("fre", SLOW, NULL);

	(void)state;
	mpu_hold(&p, 1);
	mpu_shape(&p, 4, 8, 16);
	mld(&p, 1, A, 8);
	mpu_shape(&p, 4, 64, 16);
	mgather(&p, 2, 1, B, LINE);
	/* Addresses: rows in 2 to 5, of one line, there in 112. */
	dare_mpu_advance(p.mpu, 111);
	assert_int_equal(mpu_prefetched(&p), 4);
	/* The first row in 112, there in 222, then the others in 222 to 224. */
	p.now = 112;
	assert_int_equal(mpu_prefetched(&p), 5);
	p.now = 221;
	assert_int_equal(mpu_prefetched(&p), 5);
	p.now = 224;
	assert_int_equal(mpu_prefetched(&p), 8);
	/* Addresses on demand in HOLD to HOLD + 3, there in HOLD + 23; rows from then on. */
	assert_int_equal(mpu_drain(&p), HOLD + 23 + 3 + 20);
	assert_int_equal(mpu_statistics(&p).chains, 1);
	assert_int_equal(mpu_statistics(&p).demand_hits, 8);
	dare_mpu_destroy(p.mpu);
}

static void a_chain_of_two_mgathers_is_followed(void **state)
{
	struct mpu_program p = mpu_begin("fre", SLOW, NULL);

	(void)state;
	mpu_hold(&p, 1);
	mpu_shape(&p, 4, 8, 16);
	mld(&p, 1, A, 8);
	mgather(&p, 2, 1, B, LINE);
	mgather(&p, 3, 2, C, LINE);
	/* m1: 2 to 5, there in 112. m2, unfiltered: 112 to 115, of four lines, there in 222 to 228. */
	p.now = 227;
	assert_int_equal(mpu_prefetched(&p), 8);
	/* m3, filtered: 228, there in 338, then 338 to 340. */
	p.now = 337;
	assert_int_equal(mpu_prefetched(&p), 9);
	p.now = 340;
	assert_int_equal(mpu_prefetched(&p), 12);
	assert_int_equal(mpu_drain(&p), HOLD + 3 * 23);
	assert_int_equal(mpu_statistics(&p).chains, 2);
	assert_int_equal(mpu_statistics(&p).vmr_most, 2);
	assert_int_equal(mpu_statistics(&p).demand_hits, 12);
	dare_mpu_destroy(p.mpu);
}

static void a_mgather_waits_for_an_entry_of_the_vmr(void **state)
{
	struct mpu_program p = mpu_begin("fre", SLOW, "mpu.vmr=1", "mpu.window=1", NULL);

	(void)state;
	mpu_hold(&p, 1);
	mpu_shape(&p, 4, 8, 16);
	mld(&p, 1, A, 8);
	mgather(&p, 2, 1, B, LINE);
	mld(&p, 3, C, 8);
	mgather(&p, 4, 3, D, LINE);
	/*
	 * m1: 2 to 5, there in 112. m3's first row: 6, there in 116 and a miss: the others then.
	 * m2: 112, there in 222, then 222 to 224; the entry is free. m3 is fetched again, for the
	 * VMR: 225 to 228, there in 248. m4: 248, there in 358, then 358 to 360.
	 */
	p.now = 224;
	assert_int_equal(mpu_prefetched(&p), 4 + 4 + 4);
	p.now = 247;
	assert_int_equal(mpu_prefetched(&p), 4 + 4 + 4 + 4);
	p.now = 357;
	assert_int_equal(mpu_prefetched(&p), 4 + 4 + 4 + 4 + 1);
	p.now = 360;
	assert_int_equal(mpu_prefetched(&p), 4 + 4 + 4 + 4 + 4);
	mpu_drain(&p);
	assert_int_equal(mpu_statistics(&p).vmr_waits, 1);
	assert_int_equal(mpu_statistics(&p).vmr_most, 1);
	assert_int_equal(mpu_statistics(&p).chains, 2);
	dare_mpu_destroy(p.mpu);
}

static void without_a_vmr_no_mgather_is_prefetched(void **state)
{
	struct mpu_program p = mpu_begin("fre", SLOW, "mpu.vmr=0", NULL);

	(void)state;
	mpu_hold(&p, 1);
	mpu_shape(&p, 4, 8, 16);
	mld(&p, 1, A, 8);
	mgather(&p, 2, 1, B, LINE);
	/* m1's first row: 2, there in 112 and a miss: the others then. */
	p.now = 111;
	assert_int_equal(mpu_prefetched(&p), 1);
	p.now = 115;
	assert_int_equal(mpu_prefetched(&p), 4);
	mpu_drain(&p);
	assert_int_equal(mpu_prefetched(&p), 4);
	assert_int_equal(mpu_statistics(&p).chains, 0);
	assert_int_equal(mpu_statistics(&p).vmr_most, 0);
	dare_mpu_destroy(p.mpu);
}

static void two_mgathers_share_the_addresses_of_one_load(void **state)
{
	struct mpu_program p = mpu_begin("fre", SLOW, NULL);

	(void)state;
	mpu_hold(&p, 1);
	mpu_shape(&p, 4, 8, 16);
	mld(&p, 1, A, 8);
	mgather(&p, 2, 1, B, LINE);
	mgather(&p, 3, 1, C, LINE);
	mpu_drain(&p);
	assert_int_equal(mpu_statistics(&p).vmr_most, 1);
	assert_int_equal(mpu_statistics(&p).chains, 2);
	assert_int_equal(mpu_prefetched(&p), 12);
	dare_mpu_destroy(p.mpu);
}

static void a_mgather_whose_first_row_hits_gives_its_vmr_entry_back(void **state)
{
	struct mpu_program p = mpu_begin("fre", SLOW, NULL);
	struct dare_time_statistics before;
	uint64_t rows;

	(void)state;
	mpu_warm(&p, B, 4);
	rows = mpu_prefetched(&p);
	mpu_hold(&p, 1);
	mpu_shape(&p, 4, 8, 16);
	mld(&p, 1, A, 8);
	before = mpu_statistics(&p);
	mgather(&p, 2, 1, B, LINE);
	mpu_drain(&p);
	assert_int_equal(mpu_prefetched(&p) - rows, 4 + 1);
	/* Of the hold's cycles: from its dispatch in 2 until its first row is there, in 112 + 20. */
	assert_int_equal(mpu_statistics(&p).vmr - before.vmr, 132 - 2);
	dare_mpu_destroy(p.mpu);
}

static void a_chain_whose_load_issues_too_early_is_dropped(void **state)
{
	struct mpu_program p = mpu_begin("fre", NULL);

	(void)state;
	mld(&p, 1, C, 0);
	mpu_shape(&p, 4, 8, 16);
	mld(&p, 1, A, 8);
	mgather(&p, 2, 1, B, LINE);
	/* The first load is there in 111, so that the second issues; its rows, sent from 2 on, are there in 113. */
	mpu_drain(&p);
	assert_int_equal(mpu_statistics(&p).chains_dropped, 1);
	assert_int_equal(mpu_statistics(&p).chains, 0);
	assert_int_equal(mpu_prefetched(&p), 4);
	dare_mpu_destroy(p.mpu);
}

static void a_mgather_whose_addresses_come_from_no_load_is_not_prefetched(void **state)
{
	struct mpu_program p = mpu_begin("nvr", SLOW, NULL);

	(void)state;
	/* Nothing in the RIQ writes m1, and an mma m3. */
	mpu_hold(&p, 2);
	mgather(&p, 2, 1, A, 0);
	mpu_shape(&p, 1, 4, 1);
	mma(&p, 3, 2, 2);
	mgather(&p, 4, 3, B, 0);
	mpu_drain(&p);
	assert_int_equal(mpu_prefetched(&p), 0);
	dare_mpu_destroy(p.mpu);
}

/* --- threshold ---------------------------------------------------------------------------- */

struct latencies {
	unsigned int count, latency;
};

/* The threshold after these, up to a count of 0. */
static uint64_t threshold(struct dare_mpu *mpu, const struct latencies *latencies)
{
	for (; latencies->count; latencies++)
		for (unsigned int i = 0; i < latencies->count; i++)
			dare_time_rfu_add(mpu, latencies->latency);
	return mpu->rfu.threshold;
}

static void expect_threshold_with(const char *mode, const char *change, const struct latencies *latencies,
				  uint64_t expected)
{
	struct mpu_program p = mpu_begin(mode, change, NULL);

	assert_int_equal(threshold(p.mpu, latencies), expected);
	dare_mpu_destroy(p.mpu);
}

static void expect_threshold(const char *mode, const struct latencies *latencies, uint64_t expected)
{
	expect_threshold_with(mode, NULL, latencies, expected);
}

static void the_threshold_is_64_with_one_peak(void **state)
{
	(void)state;
	expect_threshold("fre", (const struct latencies[]){ { 32, 20 }, { 0 } }, 64);
	expect_threshold("fre", (const struct latencies[]){ { 64, 110 }, { 0 } }, 64);
}

static void the_threshold_lies_between_two_peaks(void **state)
{
	(void)state;
	/* Bins 2 and 13; bin 3 is the first empty one: 24 + 32. */
	expect_threshold("fre", (const struct latencies[]){ { 16, 20 }, { 16, 110 }, { 0 } }, 56);
	/* Bins 3 to 8 have one each, 9 has none: 72 + 32. */
	expect_threshold("fre", (const struct latencies[]){ { 13, 20 }, { 1, 24 }, { 1, 32 }, { 1, 40 }, { 1, 48 }, { 1, 56 },
							     { 1, 64 }, { 13, 110 }, { 0 } }, 104);
}

static void of_three_peaks_the_outermost_count(void **state)
{
	(void)state;
	/* Bins 2, 7 and 13, and one in each of 3 to 6 and 8 to 11; bin 12 is empty: 96 + 32. */
	expect_threshold("fre", (const struct latencies[]){ { 8, 20 }, { 8, 60 }, { 8, 110 }, { 1, 24 }, { 1, 32 }, { 1, 40 },
							     { 1, 48 }, { 1, 64 }, { 1, 72 }, { 1, 80 }, { 1, 88 }, { 0 } }, 128);
}

static void seven_of_32_are_a_peak_and_six_are_not(void **state)
{
	(void)state;
	expect_threshold("fre", (const struct latencies[]){ { 26, 20 }, { 6, 110 }, { 0 } }, 64);
	expect_threshold("fre", (const struct latencies[]){ { 25, 20 }, { 7, 110 }, { 0 } }, 56);
}

static void peaks_four_bins_apart_are_too_near(void **state)
{
	(void)state;
	expect_threshold("fre", (const struct latencies[]){ { 16, 20 }, { 16, 48 }, { 0 } }, 64);
	expect_threshold("fre", (const struct latencies[]){ { 16, 20 }, { 16, 56 }, { 0 } }, 56);
}

static void the_threshold_needs_32_latencies(void **state)
{
	(void)state;
	expect_threshold("fre", (const struct latencies[]){ { 16, 20 }, { 15, 110 }, { 0 } }, 64);
}

static void only_the_latest_32_latencies_count(void **state)
{
	(void)state;
	/* 104 from the first 32; of the second 32 there are two peaks, and bin 3 is empty. */
	expect_threshold("fre", (const struct latencies[]){ { 13, 20 }, { 1, 24 }, { 1, 32 }, { 1, 40 }, { 1, 48 }, { 1, 56 },
							     { 1, 64 }, { 13, 110 }, { 16, 20 }, { 16, 110 }, { 0 } }, 56);
	/* With one peak the threshold stays. */
	expect_threshold("fre", (const struct latencies[]){ { 16, 20 }, { 16, 110 }, { 100, 20 }, { 0 } }, 56);
}

static void a_static_threshold_stays(void **state)
{
	(void)state;
	expect_threshold("static", (const struct latencies[]){ { 16, 20 }, { 16, 110 }, { 0 } }, 64);
}

static void without_the_filter_the_threshold_stays(void **state)
{
	(void)state;
	expect_threshold_with("fre", "rfu.enabled=0", (const struct latencies[]){ { 16, 20 }, { 16, 110 }, { 0 } }, 64);
}

static void a_bin_that_loses_latencies_is_a_peak_down_to_seven(void **state)
{
	(void)state;
	/* Bins 2 and 13 have 9 and 23; of those in 2 each later one takes the place of one: 8, 7, 6 are left. */
	expect_threshold("fre", (const struct latencies[]){ { 9, 20 }, { 23, 110 }, { 0 } }, 24 + 32);
	expect_threshold("fre", (const struct latencies[]){ { 9, 20 }, { 23, 110 }, { 1, 24 }, { 0 } }, 32 + 32);
	expect_threshold("fre", (const struct latencies[]){ { 9, 20 }, { 23, 110 }, { 1, 24 }, { 1, 32 }, { 0 } }, 40 + 32);
	/* Bin 2 is no peak any more, so the emptiest bin is not looked for. */
	expect_threshold("fre", (const struct latencies[]){ { 9, 20 }, { 23, 110 }, { 1, 24 }, { 1, 32 }, { 1, 40 }, { 0 } },
			 40 + 32);
}

static void peaks_lie_anywhere_in_the_histogram(void **state)
{
	(void)state;
	/* Bins 2 and 75: bin 3 is the first empty one. */
	expect_threshold("fre", (const struct latencies[]){ { 16, 20 }, { 16, 600 }, { 0 } }, 24 + 32);
	/* The last of 256 bins has all that is longer: 2068 = 8 * 256 + 20. */
	expect_threshold("fre", (const struct latencies[]){ { 16, 20 }, { 16, 2068 }, { 0 } }, 24 + 32);
}

static void the_emptiest_bin_lies_between_the_peaks(void **state)
{
	(void)state;
	/* Bins 2, 3 and 4 have 7, 18 and 7: between the peaks there is bin 3 alone. */
	expect_threshold_with("fre", "rfu.margin=1", (const struct latencies[]){ { 7, 20 }, { 18, 28 }, { 7, 36 }, { 0 } },
			      24 + 32);
	/* Between bins 2 and 3 there is none. */
	expect_threshold_with("fre", "rfu.margin=0", (const struct latencies[]){ { 16, 20 }, { 16, 28 }, { 0 } }, 64);
}

/* 16 rows of lines that are not there, then the same rows: demanded, as nothing keeps them in the RIQ. */
static uint64_t demand_misses_and_hits(struct mpu_program *p)
{
	mpu_shape(p, 16, 64, 16);
	mld(p, 0, A, LINE);
	p->now = mpu_drain(p);
	mld(p, 1, A, LINE);
	p->now = mpu_drain(p);
	assert_int_equal(mpu_prefetched(p), 0);
	return p->mpu->rfu.threshold;
}

static void the_filter_learns_from_demand_if_that_is_said(void **state)
{
	struct mpu_program p = mpu_begin("fre", "rfu.demand=1", NULL);

	(void)state;
	/* Row i takes 110 + i (sent in 1 + i, the channel has it in 21 + 2 i): bins 13, 14, 15 have 2, 8, 6; bin 2 has 16. */
	assert_int_equal(demand_misses_and_hits(&p), 24 + 32);
	dare_mpu_destroy(p.mpu);
	p = mpu_begin("fre", "rfu.demand=0", NULL);
	assert_int_equal(demand_misses_and_hits(&p), 64);
	dare_mpu_destroy(p.mpu);
}

static void the_filter_learns_from_prefetches_alone_if_that_is_said(void **state)
{
	struct mpu_program p = mpu_begin("fre", SLOW, "rfu.demand=0", NULL);

	(void)state;
	demand_misses_and_hits(&p);
	mpu_hold(&p, 7);
	mpu_shape(&p, 1, 64, 16);
	for (unsigned int i = 0; i < 16; i++)
		mld(&p, 7, A + i * LINE, 0);
	for (unsigned int i = 0; i < 16; i++)
		mld(&p, 7, B + i * LINE, 0);
	/* All are first rows, one in each cycle: 16 hits, and misses that take 110 to 125 as above. The last is dispatched now. */
	p.now += 1 + 125;
	assert_int_equal(mpu_prefetched(&p), 32);
	assert_int_equal(p.mpu->rfu.threshold, 24 + 32);
	dare_mpu_destroy(p.mpu);
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(a_first_row_that_misses_has_all_rows_prefetched),
		ON(a_first_row_that_hits_suppresses_the_others),
		ON(without_the_filter_all_rows_are_prefetched),
		ON(a_latency_of_the_threshold_is_a_hit),
		ON(an_instruction_that_issues_is_prefetched_no_more),
		ON(the_riq_has_as_many_entries_as_is_said),
		ON(stores_are_not_prefetched),
		ON(demand_and_prefetch_take_turns_at_the_port),
		ON(demand_may_go_first),
		ON(a_second_port_ends_the_contention),
		ON(a_mgather_is_prefetched_when_its_addresses_are_there),
		ON(a_chain_of_two_mgathers_is_followed),
		ON(a_mgather_waits_for_an_entry_of_the_vmr),
		ON(without_a_vmr_no_mgather_is_prefetched),
		ON(two_mgathers_share_the_addresses_of_one_load),
		ON(a_mgather_whose_first_row_hits_gives_its_vmr_entry_back),
		ON(a_chain_whose_load_issues_too_early_is_dropped),
		ON(a_mgather_whose_addresses_come_from_no_load_is_not_prefetched),
		ON(the_threshold_is_64_with_one_peak),
		ON(the_threshold_lies_between_two_peaks),
		ON(of_three_peaks_the_outermost_count),
		ON(seven_of_32_are_a_peak_and_six_are_not),
		ON(peaks_four_bins_apart_are_too_near),
		ON(the_threshold_needs_32_latencies),
		ON(only_the_latest_32_latencies_count),
		ON(a_static_threshold_stays),
		ON(without_the_filter_the_threshold_stays),
		ON(a_bin_that_loses_latencies_is_a_peak_down_to_seven),
		ON(peaks_lie_anywhere_in_the_histogram),
		ON(the_emptiest_bin_lies_between_the_peaks),
		ON(the_filter_learns_from_demand_if_that_is_said),
		ON(the_filter_learns_from_prefetches_alone_if_that_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
