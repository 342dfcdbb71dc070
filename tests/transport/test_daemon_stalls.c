/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shared memory whose pages let the daemon sleep holds up the programs of the user that shares it, and nobody else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/base/clock.h"
#include "mimic/dare_registers.h"
#include "mimic/maple_registers.h"
#include "tests/lib/dare_context.h"
#include "tests/lib/slow_memory.h"
#include "tests/lib/turns_fixture.h"

#define SLEEP_US 10000u
#define AT(operation, field) ((operation) << 3 | (field) << 9)
#define WORDS_32 2u
#define FETCH_WORDS 3
#define BURST 4u	/* the queue has some more words */

static void load(struct turns_program *program, unsigned int lane, unsigned int offset)
{
	uint64_t word = turns_word(MIMIC_COMMAND_LOAD, program->device, offset, 1);

	raw_post(&program->lanes[lane], &word, 1);
}

static void open_queue(struct turns_program *program)
{
	load(program, 0, AT(MAPLE_LOAD_INIT, WORDS_32));
	load(program, 0, AT(MAPLE_LOAD_OPEN_PRODUCER, 0));
	load(program, 0, AT(MAPLE_LOAD_OPEN_CONSUMER, 0));
}

static void fetch(struct turns_program *program, unsigned int page)
{
	const uint64_t words[] = {
		turns_word(MIMIC_COMMAND_STORE, program->device, AT(MAPLE_STORE_FULL_POINTER64, 0), 1), SLOW_ADDRESS + page * SLOW_PAGE,
	};

	raw_post(&program->lanes[0], words, 2);
	load(program, 0, AT(MAPLE_LOAD_CONSUME, 0));
}

/* Takes the answers of the ring: the last one and how many. */
static void take_answers(struct raw_lane *lane, uint64_t *last, unsigned int *count)
{
	while (mimic_ring_level(&lane->responses, 1) > 0) {
		*last = mimic_ring_get(&lane->responses, 0);
		mimic_ring_release(&lane->responses, 1);
		++*count;
	}
}

static struct turns_program *start_hog(unsigned int sleep_us)
{
	struct turns_program *hog = turns_program(TURNS_STRANGER, "maple@0", 1);

	slow_memory.sleep_us = sleep_us;
	slow_memory_share(hog);
	open_queue(hog);
	return hog;
}

/* Did it come late? By the wall's clock: the daemon does not work while it sleeps. */
static bool is_late(struct turns_program *victim)
{
	unsigned int before = atomic_load(&slow_memory.served), answers = 0;
	uint64_t last;

	load(victim, 0, AT(MAPLE_LOAD_IDENTIFY, 0));
	while (!answers) {
		turns_step();
		take_answers(&victim->lanes[0], &last, &answers);
	}
	return atomic_load(&slow_memory.served) != before;
}

static void a_user_whose_pages_are_slow_holds_up_others_seldom(void **state)
{
	struct turns_program *hog, *victim;
	unsigned int late = 0, answers = 0;
	uint64_t last, begun;

	(void)state;
	if (!slow_memory_begin())
		skip();
	hog = start_hog(SLEEP_US);
	begun = mimic_now();
	victim = turns_program(getuid(), "maple0", 1);
	for (unsigned int i = 0; i < 200; i++) {
		if (mimic_ring_room(&hog->lanes[0].commands, FETCH_WORDS) >= FETCH_WORDS)
			fetch(hog, i);
		late += is_late(victim);
		take_answers(&hog->lanes[0], &last, &answers);
		test_sleep_ms(4);
	}
	print_message("%u of 200 answers came late\n", late);
	/* The first that nobody expects, one that makes its user suspect, one that is measured; and one behind each pause. */
	assert_in_range(late, 1, 3 + (mimic_now() - begun) / (100000ull * SLEEP_US));
	slow_memory_end();
}

static void accesses_of_a_user_that_is_throttled_are_made_later(void **state)
{
	struct turns_program *hog;
	unsigned int answers = 0, page = 0;
	uint64_t begun, last = ~0ull;

	(void)state;
	if (!slow_memory_begin())
		skip();
	hog = start_hog(SLEEP_US);
	begun = mimic_now();
	/* Three answers of open_queue(), then the words that were fetched. */
	for (; page < 5; page++) {
		fetch(hog, page);
		while (answers < 4 + page) {
			turns_step();
			take_answers(&hog->lanes[0], &last, &answers);
		}
		assert_int_equal((uint32_t)last, page);
	}
	/* The fourth at the latest is throttled. */
	assert_true(mimic_now() - begun > SLEEP_US * 1000ull * 90);
	slow_memory_end();
}

static void fetch_tile(struct turns_program *program, unsigned int page, struct tile *to)
{
	const uint64_t words[] = {
		turns_word(MIMIC_COMMAND_STORE, program->device, DARE_STREAM, 6),
		WORD_MLD(0), SLOW_ADDRESS + page * SLOW_PAGE, SLOW_PAGE, WORD_MST(0), address_of(to), sizeof(to->at[0]),
	};

	raw_post(&program->lanes[0], words, 7);
	load(program, 0, DARE_FENCE);
}

/* Each row lies in a page of its own. */
static void tiles_of_a_context_come_later_and_whole(void **state)
{
	struct turns_program *hog;
	unsigned int answers = 0;
	uint64_t begun, last;
	struct tile tile;
	uint32_t word;

	(void)state;
	if (!slow_memory_begin())
		skip();
	hog = turns_program(TURNS_STRANGER, "dare0", 1);
	slow_memory.sleep_us = 1000;
	slow_memory_share(hog);
	begun = mimic_now();
	for (unsigned int i = 0; i < 5; i++) {
		fetch_tile(hog, 16 * i, &tile);
		while (answers <= i) {
			turns_step();
			take_answers(&hog->lanes[0], &last, &answers);
		}
		for (unsigned int row = 0; row < 16; row++) {
			memcpy(&word, &tile.at[row][15], sizeof(word));
			assert_int_equal(word, 16 * i + row);
		}
	}
	assert_true(mimic_now() - begun > 1000000000);
	slow_memory_end();
}

/* The first command sleeps long enough to be noticed. Then each command sleeps for less than others may wait. */
static void short_sleeps_count_together(void **state)
{
	uint64_t words[1 + BURST] = { 0 }, last, begun;
	struct turns_program *hog;
	unsigned int answers = 0, page = 0;

	(void)state;
	if (!slow_memory_begin())
		skip();
	hog = start_hog(600);
	begun = mimic_now();
	for (unsigned int i = 0; i < 400; i++) {
		words[0] = turns_word(MIMIC_COMMAND_STORE, hog->device, AT(MAPLE_STORE_FULL_POINTER64, 0), BURST);
		for (unsigned int n = 1; n <= BURST; n++)
			words[n] = SLOW_ADDRESS + (page + n - 1) * SLOW_PAGE;
		if (mimic_ring_room(&hog->lanes[0].commands, 1 + 2 * BURST) >= 1 + 2 * (int)BURST) {
			raw_post(&hog->lanes[0], words, 1 + BURST);
			for (unsigned int n = 0; n < BURST; n++)
				load(hog, 0, AT(MAPLE_LOAD_CONSUME, 0));
			page += BURST;
		}
		turns_step();
		take_answers(&hog->lanes[0], &last, &answers);
		if (page)
			slow_memory.sleep_us = 300;
		test_sleep_ms(1);
	}
	print_message("%u pages were waited for\n", atomic_load(&slow_memory.served));
	/* Some bursts until the user is throttled, and one behind each pause, which is more than 100 ms. */
	assert_in_range(atomic_load(&slow_memory.served), BURST, BURST * (12 + (mimic_now() - begun) / 100000000));
	slow_memory_end();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, turns_start, turns_end)
	const struct CMUnitTest tests[] = {
		TEST(a_user_whose_pages_are_slow_holds_up_others_seldom),
		TEST(accesses_of_a_user_that_is_throttled_are_made_later),
		TEST(tiles_of_a_context_come_later_and_whole),
		TEST(short_sleeps_count_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
