/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The MPU's LLC with its ports and MSHRs, memory behind it, and their counters, by hand.
 * The rules are those of test_dare_time.c.
 */
#include <string.h>

#include "examples/common/random.h"
#include "tests/lib/mpu_program.h"

#define A 0x10000u
#define B 0x20000u

/* --- MSHRs ---------------------------------------------------------------------------------- */

static void prefetches_wait_for_an_mshr(void **state)
{
	struct mpu_program p = mpu_begin("nvr", MPU_SLOW, "llc.mshrs=4", NULL);

	(void)state;
	mpu_hold(&p, 7);
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 7, A, LINE);
	/* Rows 0 to 3 go in 2 to 5 and are there in 112, 114, 116, 118: the next ones go then. */
	p.now = 111;
	assert_int_equal(mpu_prefetched(&p), 4);
	p.now = 112;
	assert_int_equal(mpu_prefetched(&p), 5);
	p.now = 118;
	assert_int_equal(mpu_prefetched(&p), 8);
	dare_mpu_destroy(p.mpu);
}

static void parts_of_lines_are_stored_when_there_is_an_mshr(void **state)
{
	struct mpu_program p = mpu_begin("base", "llc.mshrs=4", NULL);

	(void)state;
	mpu_shape(&p, 16, 32, 16);
	mst(&p, 0, A, LINE);
	/* As sixteen loads that miss: the first four are there in 117, and each four take 110 more. */
	mpu_expect(&p, 117 + 3 * 110);
}

static void whole_lines_need_no_mshr(void **state)
{
	struct mpu_program p = mpu_begin("base", MPU_SLOW, "llc.mshrs=1", NULL);

	(void)state;
	mld(&p, 0, B, 0);
	mpu_shape(&p, 16, 64, 16);
	mst(&p, 1, A, LINE);
	mpu_shape(&p, 1, 4, 1);
	mma(&p, 1, 3, 3);
	/* The load has the MSHR until 111. Rows are stored in 2 to 17, then m1 is free. */
	mpu_expect(&p, 18 + 1001);
}

static void a_hit_needs_no_mshr(void **state)
{
	struct mpu_program p = mpu_begin("base", MPU_SLOW, "llc.mshrs=1", NULL);
	uint64_t t = mpu_warm(&p, A, 1);

	(void)state;
	mpu_shape(&p, 1, 4, 1);
	mld(&p, 0, B, 0);
	mld(&p, 1, A, 0);
	mma(&p, 2, 1, 1);
	/* The first load misses until t + 111; the second is sent in t + 2. */
	mpu_expect(&p, t + 22 + 1001);
}

/* --- ports and banks --------------------------------------------------------------------------- */

static void two_ports_store_rows_of_different_banks_only(void **state)
{
	struct mpu_program p = mpu_begin("oracle", "llc.writes=2", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mst(&p, 0, A, LINE);
	mpu_expect(&p, 8 + 20);

	/* All in one bank: one in each cycle. */
	p = mpu_begin("oracle", "llc.writes=2", NULL);
	mpu_shape(&p, 16, 64, 16);
	mst(&p, 0, A, 16 * LINE);
	mpu_expect(&p, 16 + 20);
}

/* Of 16 rows, how many are prefetched up to and including cycle 9; the first one goes in 2. */
static uint64_t prefetched_by_two_ports(uint64_t stride)
{
	struct mpu_program p = mpu_begin("nvr", MPU_SLOW, "llc.reads=2", NULL);
	uint64_t rows;

	mpu_hold(&p, 7);
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 7, A, stride);
	p.now = 9;
	rows = mpu_prefetched(&p);
	dare_mpu_destroy(p.mpu);
	return rows;
}

static void two_ports_prefetch_rows_of_different_banks_only(void **state)
{
	(void)state;
	assert_int_equal(prefetched_by_two_ports(LINE), 16);
	assert_int_equal(prefetched_by_two_ports(16 * LINE), 8);
}

static void at_the_start_a_prefetch_goes_before_demand(void **state)
{
	struct mpu_program p = mpu_begin("nvr", "mpu.dispatch=2", NULL);

	(void)state;
	mld(&p, 0, A, 0);
	p.now = 0;
	assert_int_equal(mld(&p, 0, B, 0), 0);
	/*
	 * In 1 the first load issues, and the second, which waits for m0, could be prefetched. The prefetch goes
	 * then and has the channel in 21, the load goes in 2 and has it in 23, so it is there in 113. Then the
	 * second one issues and hits.
	 */
	mpu_expect(&p, 113 + 20);
}

static void only_the_next_row_waits_for_the_port(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	struct dare_time_statistics before, after;

	(void)state;
	mpu_warm(&p, A, 32);
	before = mpu_statistics(&p);
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	mld(&p, 1, A + 16 * LINE, LINE);
	mpu_drain(&p);
	after = mpu_statistics(&p);
	/* Issued a cycle behind the first load, the second has its turn 15 cycles later: row i comes 15 + i + 20 behind that. */
	assert_int_equal(after.port_waits - before.port_waits, 0);
	assert_int_equal(after.demand_latency - before.demand_latency, 32 * 20);
	assert_int_equal(after.demand_since_issue - before.demand_since_issue, 16 * 20 + 120 + 16 * 35 + 120);
	dare_mpu_destroy(p.mpu);
}

static void with_two_ports_no_row_waits_a_negative_time(void **state)
{
	struct mpu_program p = mpu_begin("oracle", "llc.reads=2", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	mpu_drain(&p);
	assert_int_equal(mpu_statistics(&p).port_waits, 0);
	assert_int_equal(mpu_statistics(&p).demand_latency, 16 * 20);
	dare_mpu_destroy(p.mpu);
}

/* --- lines ----------------------------------------------------------------------------------------- */

static void a_prefetch_of_a_line_on_its_way_is_redundant(void **state)
{
	struct mpu_program p = mpu_begin("nvr", MPU_SLOW, NULL);

	(void)state;
	mpu_hold(&p, 7);
	mpu_shape(&p, 2, 4, 16);
	mld(&p, 7, A, 4);
	p.now = 3;
	assert_int_equal(mpu_prefetched(&p), 2);
	assert_int_equal(mpu_statistics(&p).prefetch_redundant, 1);
	dare_mpu_destroy(p.mpu);
}

static void a_line_that_is_being_stored_is_on_its_way(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	mpu_shape(&p, 1, 64, 16);
	mst(&p, 1, A + 15 * LINE, 0);
	mpu_drain(&p);
	/* Stored in 2 and in the LLC in 22; the older load's row of the line is sent in 16. */
	assert_int_equal(mpu_statistics(&p).demand_misses, 15);
	assert_int_equal(mpu_statistics(&p).demand_merged, 1);
	dare_mpu_destroy(p.mpu);
}

static void a_stored_line_is_there_for_the_next_store(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mst(&p, 0, A, LINE);
	mst(&p, 0, A, LINE);
	mpu_drain(&p);
	assert_int_equal(mpu_statistics(&p).rows_stored, 32);
	assert_int_equal(mpu_statistics(&p).store_misses, 16);
	dare_mpu_destroy(p.mpu);
}

/* An LLC of one set of 16 lines, whose oldest three lines make room. Returns when the first is asked for. */
static uint64_t replace_three(struct mpu_program *p)
{
	uint64_t t = p->now = mpu_drain(p);

	assert_int_equal(mpu_statistics(p).dram_writes, 0);
	mpu_shape(p, 3, 64, 16);
	mld(p, 1, B, LINE);
	return t;
}

static void a_line_that_is_written_when_it_is_there_is_written_back(void **state)
{
	struct mpu_program p = mpu_begin("base", "llc.size=1K", NULL);

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mld(&p, 0, A, LINE);
	mst(&p, 0, A, LINE);
	replace_three(&p);
	mpu_drain(&p);
	assert_int_equal(mpu_statistics(&p).dram_writes, 3);
	dare_mpu_destroy(p.mpu);
}

static void a_line_that_is_written_in_part_is_written_back(void **state)
{
	struct mpu_program p = mpu_begin("base", "llc.size=1K", NULL);

	(void)state;
	mpu_shape(&p, 16, 32, 16);
	mst(&p, 0, A, LINE);
	replace_three(&p);
	mpu_drain(&p);
	assert_int_equal(mpu_statistics(&p).dram_writes, 3);
	dare_mpu_destroy(p.mpu);
}

static void a_line_that_is_written_back_takes_memory_for_two_cycles(void **state)
{
	struct mpu_program p = mpu_begin("base", "llc.size=1K", NULL);
	uint64_t t;

	(void)state;
	mpu_shape(&p, 16, 64, 16);
	mst(&p, 0, A, LINE);
	t = replace_three(&p);
	/* Sent in t + 1 to t + 3. Memory: read in t + 21, write, read in t + 25, write, read in t + 29. */
	mpu_expect(&p, t + 29 + 90);
}

/* --- statistics ---------------------------------------------------------------------------------------- */

static void entries_are_counted_times_cycles(void **state)
{
	struct mpu_program p = mpu_begin("base", NULL);
	struct dare_time_statistics t;

	(void)state;
	mpu_shape(&p, 2, 64, 16);
	mld(&p, 0, A, LINE);
	mst(&p, 1, B, LINE);
	p.now = 500;
	t = mpu_statistics(&p);
	/* Each is in the queue for a cycle. */
	assert_int_equal(t.riq, 2);
	/* Sent in 1 and 2, there in 111 and 113. */
	assert_int_equal(t.lq, 110 + 111);
	assert_int_equal(t.lq_most, 2);
	/* Sent in 2 and 3. */
	assert_int_equal(t.sq, 2 * 20);
	assert_int_equal(t.sq_most, 2);
	assert_int_equal(t.busy, 113);
	dare_mpu_destroy(p.mpu);
}

static void a_prefetch_takes_the_energy_of_a_read(void **state)
{
	struct mpu_program p = mpu_begin("nvr", MPU_SLOW, NULL);

	(void)state;
	mpu_hold(&p, 7);
	mpu_shape(&p, 4, 64, 16);
	mld(&p, 7, A, LINE);
	mpu_drain(&p);
	assert_int_equal(mpu_statistics(&p).energy_prefetches, 4 * 216000);
	assert_int_equal(mpu_statistics(&p).energy_reads, 4 * 216000);
	dare_mpu_destroy(p.mpu);
}

static void of_two_answers_at_one_time_the_one_sent_first_comes_first(void **state)
{
	static struct answers answers;

	(void)state;
	dare_time_answers_init(&answers);
	dare_time_answers_add(&answers, 30, &(struct answer){ .line = 3 });
	dare_time_answers_add(&answers, 20, &(struct answer){ .line = 1 });
	dare_time_answers_add(&answers, 20, &(struct answer){ .line = 2 });
	for (uint64_t line = 1; line <= 3; line++)
		assert_int_equal(dare_time_answers_take(&answers)->line, line);
	assert_int_equal(answers.count, 0);
}

/* Requests in flight, in the order in which they were sent. */
struct sent {
	uint64_t time, line;
};

/* The earliest, of several the one that was sent first, looked for one by one. */
static uint64_t take_earliest(struct sent *sent, unsigned int *count)
{
	unsigned int earliest = 0;
	uint64_t line;

	for (unsigned int i = 1; i < *count; i++)
		if (sent[i].time < sent[earliest].time)
			earliest = i;
	line = sent[earliest].line;
	memmove(&sent[earliest], &sent[earliest + 1], (--*count - earliest) * sizeof(*sent));
	return line;
}

static void answers_come_in_the_order_of_a_plain_list(void **state)
{
	static const unsigned int latency[] = { 20, 20, 20, 110, 110, 111, 300, 1 };
	static struct answers answers;
	static struct sent sent[ANSWERS_MAX];
	struct random random = { .state = 1 };
	unsigned int count = 0;

	(void)state;
	dare_time_answers_init(&answers);
	for (uint64_t i = 0; i < 20000; i++) {
		/* The list fills and empties by turns. */
		bool adds = count == 0 || (count < ANSWERS_MAX && random_below(&random, 100) < (i / 2000 % 2 ? 35 : 65));

		if (!adds) {
			assert_int_equal(dare_time_answers_take(&answers)->line, take_earliest(sent, &count));
			continue;
		}
		sent[count] = (struct sent){ .time = i / 2 + latency[random_below(&random, 8)], .line = i };
		dare_time_answers_add(&answers, sent[count].time, &(struct answer){ .line = i });
		count++;
		assert_int_equal(answers.count, count);
	}
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(prefetches_wait_for_an_mshr),
		ON(parts_of_lines_are_stored_when_there_is_an_mshr),
		ON(whole_lines_need_no_mshr),
		ON(a_hit_needs_no_mshr),
		ON(two_ports_store_rows_of_different_banks_only),
		ON(two_ports_prefetch_rows_of_different_banks_only),
		ON(at_the_start_a_prefetch_goes_before_demand),
		ON(only_the_next_row_waits_for_the_port),
		ON(with_two_ports_no_row_waits_a_negative_time),
		ON(a_prefetch_of_a_line_on_its_way_is_redundant),
		ON(a_line_that_is_being_stored_is_on_its_way),
		ON(a_stored_line_is_there_for_the_next_store),
		ON(a_line_that_is_written_when_it_is_there_is_written_back),
		ON(a_line_that_is_written_in_part_is_written_back),
		ON(a_line_that_is_written_back_takes_memory_for_two_cycles),
		ON(entries_are_counted_times_cycles),
		ON(a_prefetch_takes_the_energy_of_a_read),
		ON(of_two_answers_at_one_time_the_one_sent_first_comes_first),
		ON(answers_come_in_the_order_of_a_plain_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
