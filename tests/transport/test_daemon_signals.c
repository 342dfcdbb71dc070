/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Signal handlers that interrupt a wait in the daemon transport: they use devices, return, or jump. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/types.h>

#include <cmocka.h>

#include "libmimic/transport.h"
#include "tests/lib/daemon_device.h"

static volatile uint64_t seen_by_handler;
static sigjmp_buf jump;
static volatile sig_atomic_t jump_wanted;

static void use_device(int signal_number)
{
	(void)signal_number;
	seen_by_handler = register_load(OPEN_PRODUCER, 1, 4);
	if (jump_wanted)
		siglongjmp(jump, 1);
}

static void only_jump(int signal_number)
{
	(void)signal_number;
	siglongjmp(jump, 1);
}

static void *interrupt_and_produce(void *argument)
{
	pthread_t waiter = *(pthread_t *)argument;
	const uint64_t value = 4711;

	assert_true(register_load(OPEN_PRODUCER, 0, 4) & 2);
	for (int i = 0; i < 5; i++) {
		test_sleep_ms(20);
		pthread_kill(waiter, SIGUSR1);
	}
	test_sleep_ms(20);
	register_post(PRODUCE, 0, 4, &value, 1);
	return NULL;
}

static void handle(int signal_number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(signal_number, &action, NULL);
}

static void a_signal_handler_uses_the_device_while_its_thread_waits(void **state)
{
	pthread_t self = pthread_self();
	pthread_t thread;

	(void)state;
	jump_wanted = 0;
	seen_by_handler = 0;
	handle(SIGUSR1, use_device);
	served_init(WORDS_32);
	assert_true(register_load(OPEN_CONSUMER, 0, 4) & 1);
	pthread_create(&thread, NULL, interrupt_and_produce, &self);
	assert_int_equal(register_load(CONSUME, 0, 4), 4711);
	/* By our own thread: the handler has the same owner. */
	assert_int_equal(seen_by_handler, 2);
	pthread_join(thread, NULL);
}

static void a_handler_interrupts_a_batch_without_a_word_lost_or_doubled(void **state)
{
	size_t count = 30;
	struct mimic_access pattern = { .offset = AT(CONSUME, 0), .size = 4 };
	pthread_t self = pthread_self();
	uint32_t values[31];
	pthread_t producer, interrupter;

	(void)state;
	jump_wanted = 0;
	handle(SIGUSR1, use_device);
	served_init(WORDS_32);
	assert_true(register_load(OPEN_CONSUMER, 0, 4) & 1);
	pthread_create(&producer, NULL, produce_thread, &count);
	pthread_join(producer, NULL);
	/* The first 30 are there, the last comes after five signals. */
	pthread_create(&interrupter, NULL, interrupt_and_produce, &self);
	assert_int_equal(mimic_device_load(served_device, &pattern, values, 31), 31);
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(values[i], i * 3 + 1);
	assert_int_equal(values[30], 4711);
	pthread_join(interrupter, NULL);
}

struct piece_taker {
	uint32_t count, wrong;
	pthread_t self, interrupter;
};

/* A handler uses the device while the first piece is taken. */
static void take_and_be_interrupted(void *context, const void *values, size_t count)
{
	struct piece_taker *taker = context;
	const uint32_t *words = values;

	for (size_t i = 0; i < count; i++, taker->count++)
		taker->wrong += words[i] != (taker->count < 30 ? taker->count * 3 + 1 : 4711);
	if (taker->interrupter)
		return;
	raise(SIGUSR1);
	/* The thread reads it when this function has returned. */
	taker->self = pthread_self();
	pthread_create(&taker->interrupter, NULL, interrupt_and_produce, &taker->self);
}

static void a_handler_interrupts_the_taking_of_pieces_without_a_word_lost_or_doubled(void **state)
{
	size_t count = 30;
	struct mimic_access pattern = { .offset = AT(CONSUME, 0), .size = 4 };
	struct piece_taker taker = { .count = 0 };
	pthread_t producer;

	(void)state;
	jump_wanted = 0;
	handle(SIGUSR1, use_device);
	served_init(WORDS_32);
	assert_true(register_load(OPEN_CONSUMER, 0, 4) & 1);
	pthread_create(&producer, NULL, produce_thread, &count);
	pthread_join(producer, NULL);
	assert_int_equal(mimic_device_load_pieces(served_device, &pattern, 31, take_and_be_interrupted, &taker), 31);
	assert_int_equal(taker.count, 31);
	assert_int_equal(taker.wrong, 0);
	pthread_join(taker.interrupter, NULL);
}

static void *signal_soon(void *argument)
{
	pthread_t waiter = *(pthread_t *)argument;

	test_sleep_ms(30);
	pthread_kill(waiter, SIGUSR1);
	return NULL;
}

static void wait_and_be_jumped_out(void)
{
	pthread_t self = pthread_self();
	pthread_t thread;

	pthread_create(&thread, NULL, signal_soon, &self);
	if (!sigsetjmp(jump, 1)) {
		register_load(CONSUME, 0, 4);
		fail();
	}
	pthread_join(thread, NULL);
}

static void check_nothing_was_stolen(void)
{
	for (uint32_t i = 0; i < 20; i++) {
		const uint64_t value = 900 + i;

		register_post(PRODUCE, 0, 4, &value, 1);
		assert_int_equal(register_load(CONSUME, 0, 4), 900 + i);
	}
}

static void a_wait_left_by_siglongjmp_takes_no_word(void **state)
{
	(void)state;
	handle(SIGUSR1, only_jump);
	served_init(WORDS_32);
	served_open_both(0);
	/* More often than there are levels of nesting. */
	for (int i = 0; i < 12; i++) {
		wait_and_be_jumped_out();
		check_nothing_was_stolen();
	}
}

__attribute__((noinline)) static void jump_deeper(int depth)
{
	volatile char filler[512];

	filler[0] = (char)depth;
	if (depth)
		jump_deeper(depth - 1);
	else
		wait_and_be_jumped_out();
	(void)filler[0];
}

static void waits_left_at_growing_depths_do_not_add_up(void **state)
{
	(void)state;
	handle(SIGUSR1, only_jump);
	served_init(WORDS_32);
	served_open_both(0);
	for (int depth = 0; depth < 12; depth++)
		jump_deeper(depth);
	check_nothing_was_stolen();
}

static void a_handler_that_used_the_device_may_leave_by_siglongjmp(void **state)
{
	(void)state;
	jump_wanted = 1;
	handle(SIGUSR1, use_device);
	served_init(WORDS_32);
	served_open_both(0);
	for (int i = 0; i < 4; i++) {
		wait_and_be_jumped_out();
		check_nothing_was_stolen();
	}
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, daemon_device_setup, daemon_device_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_signal_handler_uses_the_device_while_its_thread_waits),
		TEST(a_handler_interrupts_a_batch_without_a_word_lost_or_doubled),
		TEST(a_handler_interrupts_the_taking_of_pieces_without_a_word_lost_or_doubled),
		TEST(a_wait_left_by_siglongjmp_takes_no_word),
		TEST(waits_left_at_growing_depths_do_not_add_up),
		TEST(a_handler_that_used_the_device_may_leave_by_siglongjmp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
