/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The cycles of MAPLE's pipes, a test for each figure that was measured on the RTL.
 * They are those of ../shared/facts/maple-mmio.md, section E, "Measured, pipe only (no NoC
 * flits)": the text behind each CITED is from there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/lib/timed_maple.h"

#define CITED(text)	/* so that each figure stands beside its source */
#define WORDS_32 2
#define DRAM 300
#define LLC 30
#define START 1000

static uint32_t memory[4096] __attribute__((aligned(4096)));

static int make(void **state)
{
	struct maple_config config;
	struct sim_parameters parameters = timed_parameters();
	struct timed_maple *timed;

	/* As the RTL (section E, Parameters), but for pointers of 40 bits: this program's are longer. */
	maple_config_profile(&config, "paper");
	config.queues = 4;
	config.scratchpad_words = 128;
	timed = timed_new(&parameters, &config);
	if (!timed)
		return -1;
	for (unsigned int i = 0; i < 4096; i++)
		memory[i] = i;
	timed->dram = DRAM;
	timed->llc = LLC;
	timed_open(timed, WORDS_32, 0);
	for (unsigned int queue = 0; queue < 4; queue++)
		timed_store(timed, 1, MAPLE_STORE_SET_BASE32, queue, 8, (uintptr_t)memory, 10);
	*state = timed;
	return 0;
}

static int throw_away(void **state)
{
	timed_free(*state);
	return 0;
}

/* The figures may be off by one cycle (issue 7); these are not. */
static void expect_end(const struct timed_maple *timed, uint64_t owner, uint64_t time)
{
	assert_true(timed->owner[owner].is_over);
	assert_int_equal(timed->owner[owner].time, time);
}

static void a_load_of_the_configuration_is_answered_after_1_cycle(void **state)
{
	struct timed_maple *timed = *state;

	CITED("config reply 1")
	timed_load(timed, 3, MAPLE_LOAD_DEBUG, 0, 8, START);
	expect_end(timed, 3, START + 1);
}

static void a_store_of_the_configuration_is_acknowledged_after_1_cycle(void **state)
{
	struct timed_maple *timed = *state;

	CITED("Config: next cycle (A3)")
	timed_store(timed, 1, MAPLE_STORE_SET_BASE32, 1, 8, (uintptr_t)memory, START);
	expect_end(timed, 1, START + 1);
}

static void a_produce_is_acknowledged_after_4_cycles(void **state)
{
	struct timed_maple *timed = *state;

	CITED("produce/TLOAD ack 4")
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 7, START);
	expect_end(timed, 1, START + 4);
}

static void a_pointer_is_acknowledged_after_4_cycles(void **state)
{
	struct timed_maple *timed = *state;

	CITED("produce/TLOAD ack 4")
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 5, START);
	expect_end(timed, 1, START + 4);
}

static void a_pointer64_at_4_mod_8_is_acknowledged_after_5_cycles(void **state)
{
	struct timed_maple *timed = *state;

	CITED("4-mod-8 TLOAD64: 5")
	timed_store(timed, 1, MAPLE_STORE_POINTER64, 0, 8, 5, START);
	expect_end(timed, 1, START + 5);
}

static void a_double_pointer_is_acknowledged_after_6_cycles(void **state)
{
	struct timed_maple *timed = *state;

	CITED("double: 6")
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 6ull << 32 | 5, START);
	expect_end(timed, 1, START + 6);
}

static void a_consume_with_data_takes_3_cycles(void **state)
{
	struct timed_maple *timed = *state;

	CITED("consume with data 3")
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 7, START);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 50);
	expect_end(timed, 2, START + 53);
	assert_int_equal(timed->owner[2].data, 7);
}

static void a_waiting_consumer_has_its_word_6_cycles_after_the_produce(void **state)
{
	struct timed_maple *timed = *state;

	CITED("produce to waiting consumer 6")
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START - 100);
	assert_false(timed->owner[2].is_over);
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 7, START);
	expect_end(timed, 2, START + 6);
}

static void a_consume_right_behind_its_produce_ends_as_if_it_had_waited(void **state)
{
	struct timed_maple *timed = *state;

	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 7, START);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 1);
	timed_run(timed);
	expect_end(timed, 2, START + 6);
}

static void a_pointer_reaches_its_consumer_7_cycles_after_dram(void **state)
{
	struct timed_maple *timed = *state;

	CITED("TLOAD to consume with DRAM=D: D+7")
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START - 100);
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 5, START);
	timed_run(timed);
	expect_end(timed, 2, START + DRAM + 7);
	assert_int_equal(timed->owner[2].data, 5);
}

static void a_coherent_pointer_reaches_its_consumer_7_cycles_after_the_llc(void **state)
{
	struct timed_maple *timed = *state;

	CITED("LLC: L+7")
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START - 100);
	timed_store(timed, 1, MAPLE_STORE_LLC_POINTER32, 0, 8, 5, START);
	timed_run(timed);
	expect_end(timed, 2, START + LLC + 7);
}

static void a_queue_accepts_one_store_in_3_cycles(void **state)
{
	struct timed_maple *timed = *state;

	CITED("same-queue accept 1 store/3 cycles")
	for (unsigned int i = 0; i < 8; i++)
		timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, i, START + i);
	timed_run(timed);
	expect_end(timed, 1, START + 7 * 3 + 4);
}

/* Each sends its next pointer when the one before is acknowledged. */
static void produce_pointers(struct timed_maple *timed, unsigned int count)
{
	uint64_t next[5];

	for (unsigned int i = 1; i <= 4; i++)
		next[i] = START;
	for (unsigned int i = 0; i < count; i++) {
		unsigned int first = 1;

		for (unsigned int owner = 2; owner <= 4; owner++)
			first = next[owner] < next[first] ? owner : first;
		timed_store(timed, first, MAPLE_STORE_POINTER32, first - 1, 8, 5, next[first]);
		while (!timed->owner[first].is_over)
			maple_time_advance(timed->device, maple_time_next(timed->device));
		next[first] = timed->owner[first].time;
	}
}

static void pointers_of_4_producers_are_issued_one_in_2_cycles(void **state)
{
	struct timed_maple *timed = *state;

	CITED("TLOAD issue 1/2 cycles from 4 producers")
	for (unsigned int owner = 2; owner <= 4; owner++)
		timed_take_role(timed, owner, true, owner - 1);
	produce_pointers(timed, 64);
	assert_int_equal(timed->requests, 64);
	for (unsigned int i = 1; i < timed->requests; i++)
		assert_int_equal(timed->request[i].time - timed->request[i - 1].time, 2);
}

/* A loop of `words` on the queue: A is memory, B its first words. */
static void start_loop(struct timed_maple *timed, uint64_t owner, unsigned int queue, unsigned int words)
{
	timed_store(timed, owner, MAPLE_STORE_LOOP, queue, 8, words, START);
}

static void set_a(struct timed_maple *timed, unsigned int operation)
{
	timed_store(timed, 1, operation, 1, 8, (uintptr_t)memory, 20);
}

/* When element i of the n-th queue's loop was asked for. */
static unsigned int element_requests(const struct timed_maple *timed, uint64_t *time)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < timed->requests; i++) {
		if (!timed->request[i].through_l2)
			time[count++] = timed->request[i].time;
	}
	return count;
}

static void lima_issues_a_word_in_3_cycles_on_one_queue(void **state)
{
	struct timed_maple *timed = *state;
	uint64_t time[TIMED_LOG];

	CITED("LIMA 1 word/3 cycles on one queue")
	set_a(timed, MAPLE_STORE_LIMA_POINTER32);
	start_loop(timed, 1, 0, 32);
	timed_run(timed);
	assert_int_equal(element_requests(timed, time), 32);
	for (unsigned int i = 1; i < 32; i++)
		assert_int_equal(time[i] - time[i - 1], 3);
}

static void lima_issues_a_word_a_cycle_on_4_queues(void **state)
{
	struct timed_maple *timed = *state;
	uint64_t time[TIMED_LOG];

	CITED("1/cycle with 4")
	for (unsigned int owner = 2; owner <= 4; owner++)
		timed_take_role(timed, owner, true, owner - 1);
	set_a(timed, MAPLE_STORE_LIMA_POINTER32);
	for (unsigned int owner = 1; owner <= 4; owner++)
		start_loop(timed, owner, owner - 1, 32);
	timed_run(timed);
	assert_int_equal(element_requests(timed, time), 128);
	for (unsigned int i = 16; i < 112; i++)
		assert_int_equal(time[i] - time[i - 1], 1);
}

static void the_first_word_of_lima_takes_13_cycles_beside_its_chunk_and_memory(void **state)
{
	struct timed_maple *timed = *state;

	CITED("first LIMA word = L(B chunk)+13+memory latency (343 at L=30, D=300)")
	set_a(timed, MAPLE_STORE_LIMA_POINTER32);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START - 100);
	start_loop(timed, 1, 0, 16);
	timed_run(timed);
	expect_end(timed, 2, START + 343);
}

static void a_loop_is_acknowledged_after_1_cycle(void **state)
{
	struct timed_maple *timed = *state;

	CITED("Config: next cycle (A3); LOOP goes to the config pipe (A1: every config load/store)")
	set_a(timed, MAPLE_STORE_LIMA_POINTER32);
	start_loop(timed, 1, 0, 16);
	expect_end(timed, 1, START + 1);
}

static void a_slot_is_free_when_its_word_is_popped(void **state)
{
	struct timed_maple *timed = *state;

	for (unsigned int i = 0; i < 32; i++)
		timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, i, START + 10 * i);
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 32, START + 400);
	timed_run(timed);
	assert_false(timed->owner[1].is_over);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 500);
	expect_end(timed, 1, START + 504);
}

static void a_slot_of_a_pointer_is_taken_before_its_data_is_there(void **state)
{
	struct timed_maple *timed = *state;

	for (unsigned int i = 0; i < 32; i++)
		timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, i, START + 4 * i);
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 32, START + 140);
	assert_false(timed->owner[1].is_over);
}

static void loads_are_on_their_way_together(void **state)
{
	struct timed_maple *timed = *state;

	for (unsigned int i = 0; i < 8; i++)
		timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, i, START + 4 * i);
	assert_int_equal(timed_run(timed), START + 4 * 7 + 4 + DRAM);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, throw_away)
	const struct CMUnitTest tests[] = {
		TEST(a_load_of_the_configuration_is_answered_after_1_cycle),
		TEST(a_store_of_the_configuration_is_acknowledged_after_1_cycle),
		TEST(a_produce_is_acknowledged_after_4_cycles),
		TEST(a_pointer_is_acknowledged_after_4_cycles),
		TEST(a_pointer64_at_4_mod_8_is_acknowledged_after_5_cycles),
		TEST(a_double_pointer_is_acknowledged_after_6_cycles),
		TEST(a_consume_with_data_takes_3_cycles),
		TEST(a_waiting_consumer_has_its_word_6_cycles_after_the_produce),
		TEST(a_consume_right_behind_its_produce_ends_as_if_it_had_waited),
		TEST(a_pointer_reaches_its_consumer_7_cycles_after_dram),
		TEST(a_coherent_pointer_reaches_its_consumer_7_cycles_after_the_llc),
		TEST(a_queue_accepts_one_store_in_3_cycles),
		TEST(pointers_of_4_producers_are_issued_one_in_2_cycles),
		TEST(lima_issues_a_word_in_3_cycles_on_one_queue),
		TEST(lima_issues_a_word_a_cycle_on_4_queues),
		TEST(the_first_word_of_lima_takes_13_cycles_beside_its_chunk_and_memory),
		TEST(a_loop_is_acknowledged_after_1_cycle),
		TEST(a_slot_is_free_when_its_word_is_popped),
		TEST(a_slot_of_a_pointer_is_taken_before_its_data_is_there),
		TEST(loads_are_on_their_way_together),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
