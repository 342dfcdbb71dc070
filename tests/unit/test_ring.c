/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The ring of include/mimic/ring.h, and the command word of command.h. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mimic/command.h"
#include "mimic/ring.h"

#define WORDS 16

struct pair {
	struct mimic_ring *ring;
	struct mimic_ring_end producer, consumer;
};

static int make_pair(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	pair->ring = aligned_alloc(128, mimic_ring_size(WORDS));
	memset(pair->ring, 0, mimic_ring_size(WORDS));
	mimic_ring_attach(&pair->producer, pair->ring, WORDS);
	mimic_ring_attach(&pair->consumer, pair->ring, WORDS);
	*state = pair;
	return 0;
}

static int free_pair(void **state)
{
	struct pair *pair = *state;

	free(pair->ring);
	free(pair);
	return 0;
}

static void put(struct pair *pair, uint64_t word)
{
	assert_true(mimic_ring_room(&pair->producer, 1) >= 1);
	mimic_ring_put(&pair->producer, 0, word);
	mimic_ring_publish(&pair->producer, 1);
}

static void words_are_invisible_until_published(void **state)
{
	struct pair *pair = *state;

	mimic_ring_put(&pair->producer, 0, 7);
	assert_int_equal(mimic_ring_level(&pair->consumer, 1), 0);
	assert_true(mimic_ring_is_empty(pair->ring));
	mimic_ring_publish(&pair->producer, 1);
	assert_int_equal(mimic_ring_level(&pair->consumer, 1), 1);
	assert_false(mimic_ring_is_empty(pair->ring));
	assert_int_equal(mimic_ring_get(&pair->consumer, 0), 7);
}

static void a_ring_of_n_words_takes_n_words(void **state)
{
	struct pair *pair = *state;

	for (uint64_t i = 0; i < WORDS; i++)
		put(pair, i);
	assert_int_equal(mimic_ring_room(&pair->producer, 1), 0);
	assert_int_equal(mimic_ring_level(&pair->consumer, WORDS), WORDS);
}

static void released_words_are_room_again(void **state)
{
	struct pair *pair = *state;

	for (uint64_t i = 0; i < WORDS; i++)
		put(pair, i);
	mimic_ring_level(&pair->consumer, 1);
	mimic_ring_release(&pair->consumer, 3);
	assert_int_equal(mimic_ring_room(&pair->producer, 1), 3);
}

static void order_is_kept_over_many_wraps(void **state)
{
	struct pair *pair = *state;
	uint64_t next = 0, expected = 0;

	/* 5 and 16 have no common divisor: every index is a batch's start. */
	for (int round = 0; round < 1000; round++) {
		for (int i = 0; i < 5; i++)
			put(pair, next++);
		assert_int_equal(mimic_ring_level(&pair->consumer, 5), 5);
		for (uint64_t i = 0; i < 5; i++)
			assert_int_equal(mimic_ring_get(&pair->consumer, i), expected++);
		mimic_ring_release(&pair->consumer, 5);
	}
}

static void a_piece_ends_at_the_ring_s_end(void **state)
{
	struct pair *pair = *state;
	uint64_t piece, *words;

	for (uint64_t i = 0; i < 13; i++)
		put(pair, i);
	mimic_ring_level(&pair->consumer, 13);
	mimic_ring_release(&pair->consumer, 13);
	words = mimic_ring_piece(&pair->consumer, 0, 10, &piece);
	assert_int_equal(piece, 3);
	assert_ptr_equal(words, &pair->ring->words[13]);
	words = mimic_ring_piece(&pair->consumer, 3, 7, &piece);
	assert_int_equal(piece, 7);
	assert_ptr_equal(words, &pair->ring->words[0]);
}

static void a_position_that_cannot_be_is_a_protocol_error(void **state)
{
	struct pair *pair = *state;

	put(pair, 1);
	/* A value that a hostile client may write. */
	atomic_store(&pair->ring->head, WORDS + 1);
	assert_int_equal(mimic_ring_level(&pair->consumer, 1), -EPROTO);
	assert_int_equal(mimic_ring_level(&pair->consumer, 1), -EPROTO);
	atomic_store(&pair->ring->tail, 2);
	assert_int_equal(mimic_ring_room(&pair->producer, WORDS), -EPROTO);
	assert_int_equal(mimic_ring_room(&pair->producer, WORDS), -EPROTO);
}

static void *produce_numbers(void *argument)
{
	struct mimic_ring_end *producer = argument;

	for (uint64_t next = 0; next < 200000;) {
		if (mimic_ring_room(producer, 3) < 3) {
			sched_yield();
			continue;
		}
		for (uint64_t i = 0; i < 3; i++)
			mimic_ring_put(producer, i, next++);
		mimic_ring_publish(producer, 3);
	}
	return NULL;
}

static void two_threads_see_every_word_in_order(void **state)
{
	struct pair *pair = *state;
	uint64_t expected = 0;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, produce_numbers, &pair->producer), 0);
	while (expected < 200000) {
		int64_t level = mimic_ring_level(&pair->consumer, 1);

		for (int64_t i = 0; i < level; i++)
			assert_int_equal(mimic_ring_get(&pair->consumer, (uint64_t)i), expected++);
		mimic_ring_release(&pair->consumer, (uint64_t)level);
		if (!level)
			sched_yield();
	}
	pthread_join(thread, NULL);
}

static void a_command_word_holds_each_field_at_its_bits(void **state)
{
	struct mimic_command command = {
		.kind = MIMIC_COMMAND_LOAD, .device = 0xab, .page = 0xc, .size = 8,
		.offset = 0xdef, .count = 0x7654321,
	};
	struct mimic_command back;

	(void)state;
	assert_int_equal(mimic_command_pack(&command), 0x7654321def8cab03ull);
	assert_true(mimic_command_unpack(0x7654321def8cab03ull, &back));
	assert_int_equal(back.kind, MIMIC_COMMAND_LOAD);
	assert_int_equal(back.device, 0xab);
	assert_int_equal(back.page, 0xc);
	assert_int_equal(back.size, 8);
	assert_int_equal(back.offset, 0xdef);
	assert_int_equal(back.count, 0x7654321);
}

static void words_that_are_no_command_are_refused(void **state)
{
	struct mimic_command command;

	(void)state;
	assert_true(mimic_command_unpack(0x1000400001ull | 1ull << 36, &command));
	assert_false(mimic_command_unpack(0, &command));
	assert_true(mimic_command_unpack(1ull << 36 | 4 << 20 | 5, &command));
	assert_false(mimic_command_unpack(2ull << 36 | 4 << 20 | 5, &command));	/* credits are for one store */
	assert_false(mimic_command_unpack(1ull << 36 | 4 << 20 | 6, &command));	/* kind */
	assert_false(mimic_command_unpack(1ull << 36 | 4 << 20 | 0, &command));
	assert_false(mimic_command_unpack(1ull << 36 | 3 << 20 | 1, &command));	/* size */
	assert_false(mimic_command_unpack(1ull << 36 | 0 << 20 | 1, &command));
	assert_false(mimic_command_unpack(4 << 20 | 1, &command));		/* count */
}

#define RING_TEST(name) cmocka_unit_test_setup_teardown(name, make_pair, free_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RING_TEST(words_are_invisible_until_published),
		RING_TEST(a_ring_of_n_words_takes_n_words),
		RING_TEST(released_words_are_room_again),
		RING_TEST(order_is_kept_over_many_wraps),
		RING_TEST(a_piece_ends_at_the_ring_s_end),
		RING_TEST(a_position_that_cannot_be_is_a_protocol_error),
		RING_TEST(two_threads_see_every_word_in_order),
		cmocka_unit_test(a_command_word_holds_each_field_at_its_bits),
		cmocka_unit_test(words_that_are_no_command_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
