/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program's own stores to a MAPLE of a daemon, as mimic run makes them: posted as far as the thread has credits
 * (mimic_kind.credits), so that no program sees a difference.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/transport.h"
#include "tests/lib/daemon_device.h"

enum { CLOSE_PRODUCER = 4, LIMA_PRODUCE = 50, QUEUE_STATE = 17 };

static int try_store(unsigned int operation, unsigned int queue, unsigned int size, uint64_t value)
{
	struct mimic_access access = {
		.offset = AT(operation, queue), .size = (uint8_t)size, .is_write = 1, .data = value,
	};

	return mimic_device_plain_access(served_device, &access);
}

static void store(unsigned int operation, unsigned int queue, unsigned int size, uint64_t value)
{
	assert_int_equal(try_store(operation, queue, size, value), 0);
}

static void produce(unsigned int queue, uint32_t first, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		store(PRODUCE, queue, 4, first + i);
}

static void expect(unsigned int queue, uint32_t first, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(register_load(CONSUME, queue, 4), first + i);
}

/* Words that a queue holds. */
static unsigned int level(unsigned int queue)
{
	return register_load(QUEUE_STATE, queue, 8) & 0xffff;
}

/* A thread that does one thing, and whether it is over. */
struct doer {
	pthread_t thread;
	void (*function)(void);
	atomic_bool is_over;
};

static void *work(void *argument)
{
	struct doer *doer = argument;

	doer->function();
	atomic_store(&doer->is_over, true);
	return NULL;
}

static void begin(struct doer *doer, void (*function)(void))
{
	*doer = (struct doer){ .function = function };
	assert_int_equal(pthread_create(&doer->thread, NULL, work, doer), 0);
}

static void end(struct doer *doer)
{
	pthread_join(doer->thread, NULL);
	assert_true(doer->is_over);
}

/* It has had time enough, and is not over. */
static void expect_wait(struct doer *doer)
{
	test_sleep_ms(100);
	assert_false(doer->is_over);
}

static void be_producer(void)
{
	assert_true(register_load(OPEN_PRODUCER, 0, 4) & 2);
}

static void open_queue_of_32(void)
{
	served_init(WORDS_32);
	assert_true(register_load(OPEN_CONSUMER, 0, 4) & 1);
}

/* --- posted ----------------------------------------------------------------------- */

static volatile sig_atomic_t went_on;

static void go_on(int number)
{
	(void)number;
	went_on = 1;
	kill(served.pid, SIGCONT);
}

/* Stops the daemon, and lets it go on when that has lasted for a second. */
static void stop_daemon(void)
{
	went_on = 0;
	signal(SIGALRM, go_on);
	alarm(1);
	kill(served.pid, SIGSTOP);
}

static void let_daemon_go_on(void)
{
	raise(SIGALRM);
	signal(SIGALRM, SIG_DFL);
	alarm(120);
}

static void stores_wait_for_no_answer_while_their_queue_has_room(void **state)
{
	bool waited;

	(void)state;
	served_init(WORDS_32);
	served_open_both(0);
	produce(0, 100, 1);
	stop_daemon();
	produce(0, 101, 31);
	waited = went_on;
	let_daemon_go_on();
	assert_false(waited);
	expect(0, 100, 32);
}

static int setup_without_posts(void **state)
{
	int error;

	setenv("MIMIC_POST", "0", 1);
	error = daemon_device_setup(state);
	unsetenv("MIMIC_POST");
	return error;
}

/* `mimic run --no-post`. */
static void without_posts_each_store_waits_for_its_answer(void **state)
{
	bool waited;

	(void)state;
	served_init(WORDS_32);
	served_open_both(0);
	produce(0, 100, 1);
	stop_daemon();
	produce(0, 101, 1);
	waited = went_on;
	let_daemon_go_on();
	assert_true(waited);
	expect(0, 100, 2);
}

/* They come to the device in one call, as far as they are the same. */
static void stores_of_several_registers_keep_their_order(void **state)
{
	static uint32_t table[4] = { 7, 8, 9, 10 };

	(void)state;
	served_init(WORDS_32);
	served_open_both(0);
	served_open_both(1);
	produce(0, 1, 1);
	produce(1, 50, 1);
	kill(served.pid, SIGSTOP);
	produce(0, 2, 3);
	store(FULL_POINTER32, 0, 8, (uintptr_t)&table[0]);
	store(FULL_POINTER32, 0, 8, (uintptr_t)&table[1]);
	produce(1, 51, 2);
	store(PRODUCE, 0, 8, 0x600000005);
	store(FULL_POINTER32, 0, 8, (uintptr_t)&table[2]);
	kill(served.pid, SIGCONT);
	expect(0, 1, 4);
	expect(0, 7, 2);
	expect(0, 5, 2);
	expect(0, 9, 1);
	expect(1, 50, 3);
}

/* --- no program sees it ------------------------------------------------------------- */

static void store_33_words(void)
{
	be_producer();
	produce(0, 0, 33);
}

static void a_thread_waits_in_the_store_that_finds_its_queue_full(void **state)
{
	struct doer doer;

	(void)state;
	open_queue_of_32();
	begin(&doer, store_33_words);
	expect_wait(&doer);
	assert_int_equal(level(0), 32);
	expect(0, 0, 33);
	end(&doer);
}

static void store_17_doubles(void)
{
	be_producer();
	for (uint64_t i = 0; i < 17; i++)
		store(PRODUCE, 0, 8, (2 * i + 1) << 32 | 2 * i);
}

static void a_store_of_two_words_costs_two(void **state)
{
	struct doer doer;

	(void)state;
	open_queue_of_32();
	begin(&doer, store_17_doubles);
	expect_wait(&doer);
	expect(0, 0, 34);
	end(&doer);
}

static uint32_t numbers[40];

static void store_17_double_pointers(void)
{
	be_producer();
	store(SET_BASE32, 0, 8, (uintptr_t)numbers);
	for (uint64_t i = 0; i < 17; i++)
		store(POINTER32, 0, 8, (2 * i + 1) << 32 | (2 * i + 2));
}

static void a_pointer_that_names_two_words_costs_two(void **state)
{
	struct doer doer;

	(void)state;
	for (uint32_t i = 0; i < 40; i++)
		numbers[i] = i;
	open_queue_of_32();
	begin(&doer, store_17_double_pointers);
	expect_wait(&doer);
	expect(0, 1, 34);
	end(&doer);
}

static atomic_uint told;

static void store_and_tell(void)
{
	be_producer();
	for (unsigned int i = 1; i <= 20; i++) {
		produce(0, i, 1);
		atomic_store(&told, i);
		while (atomic_load(&told) == i)
			sched_yield();
	}
}

static void a_thread_that_was_told_of_stores_finds_their_effect(void **state)
{
	struct doer doer;

	(void)state;
	open_queue_of_32();
	atomic_store(&told, 0);
	begin(&doer, store_and_tell);
	for (unsigned int i = 1; i <= 20; i++) {
		while (atomic_load(&told) != i)
			sched_yield();
		assert_int_equal(level(0), i);
		atomic_store(&told, 100 + i);
	}
	end(&doer);
}

static void an_atomic_has_changed_memory_when_its_store_returns(void **state)
{
	static uint32_t counter;

	(void)state;
	served_init(WORDS_32);
	served_open_both(0);
	store(SET_BASE32, 0, 8, (uintptr_t)&counter);
	for (uint32_t i = 1; i <= 30; i++) {
		store(ATOMIC_ADD, 0, 8, 1);
		assert_int_equal(*(volatile uint32_t *)&counter, i);
	}
}

/* The daemon gives such a store to the device only when half of the queue is free, or after a while. */
static void store_20_words_and_then_some(void)
{
	be_producer();
	produce(0, 0, 20);
	register_post(PRODUCE, 0, 4, (uint64_t[]){ 20 }, 1);
	store(PRODUCE, 0, 4, 21);
}

static void a_store_to_a_queue_that_no_thread_empties_takes_effect_while_there_is_room(void **state)
{
	struct doer doer;

	(void)state;
	open_queue_of_32();
	begin(&doer, store_20_words_and_then_some);
	end(&doer);
	assert_int_equal(level(0), 22);
}

static void end_with_stores_in_the_ring(void)
{
	be_producer();
	produce(0, 0, 1);
	stop_daemon();
	produce(0, 1, 31);
}

static void stores_of_a_thread_that_ends_take_effect(void **state)
{
	struct doer doer;

	(void)state;
	open_queue_of_32();
	begin(&doer, end_with_stores_in_the_ring);
	end(&doer);
	let_daemon_go_on();
	expect(0, 0, 32);
}

/* --- credits that do not hold -------------------------------------------------------- */

static void fill_as_producer(void)
{
	be_producer();
	produce(0, 1, 31);
	register_load(CLOSE_PRODUCER, 0, 4);
}

static void give_the_role_away_and_take_it(void)
{
	struct doer other;

	be_producer();
	produce(0, 0, 1);
	register_load(CLOSE_PRODUCER, 0, 4);
	begin(&other, fill_as_producer);
	end(&other);
	be_producer();
	produce(0, 32, 1);
}

static void post_by_the_library(void)
{
	uint64_t values[31];

	for (unsigned int i = 0; i < 31; i++)
		values[i] = i + 1;
	be_producer();
	produce(0, 0, 1);
	register_post(PRODUCE, 0, 4, values, 31);
	produce(0, 32, 1);
}

static void access_by_the_library(void)
{
	be_producer();
	produce(0, 0, 1);
	for (unsigned int i = 1; i < 32; i++)
		register_store(PRODUCE, 0, 4, i);
	produce(0, 32, 1);
}

static void store_a_loop(void)
{
	be_producer();
	store(SET_BASE32, 0, 8, (uintptr_t)numbers);
	store(LIMA_PRODUCE, 0, 8, 0);
	produce(0, 0, 1);
	store(LOOP, 0, 8, 1ull << 32 | 32);
	produce(0, 32, 1);
}

static void fill_by_handler(int number)
{
	(void)number;
	for (uint32_t i = 1; i < 32; i++)
		(void)try_store(PRODUCE, 0, 4, i);
}

static atomic_bool is_ready;

static void store_in_a_handler(void)
{
	signal(SIGUSR1, fill_by_handler);
	be_producer();
	produce(0, 0, 1);
	assert_true(register_load(OPEN_CONSUMER, 1, 4) & 1);
	atomic_store(&is_ready, true);
	/* The handler comes while this waits. */
	assert_int_equal(register_load(CONSUME, 1, 4), 4711);
	produce(0, 32, 1);
}

/* The last of 33 words waits for room, whatever has used up what the first one's answer said. */
static void expect_no_credit(struct doer *doer)
{
	expect_wait(doer);
	assert_int_equal(level(0), 32);
	expect(0, 0, 33);
	end(doer);
}

static void credits_end_with_the_role(void **state)
{
	struct doer doer;

	(void)state;
	open_queue_of_32();
	begin(&doer, give_the_role_away_and_take_it);
	expect_no_credit(&doer);
}

static void credits_end_with_a_post_of_the_library(void **state)
{
	struct doer doer;

	(void)state;
	open_queue_of_32();
	begin(&doer, post_by_the_library);
	expect_no_credit(&doer);
}

static void credits_end_with_an_access_of_the_library(void **state)
{
	struct doer doer;

	(void)state;
	open_queue_of_32();
	begin(&doer, access_by_the_library);
	expect_no_credit(&doer);
}

static void credits_end_with_a_loop(void **state)
{
	struct doer doer;

	(void)state;
	for (uint32_t i = 0; i < 40; i++)
		numbers[i] = i;
	open_queue_of_32();
	begin(&doer, store_a_loop);
	expect_no_credit(&doer);
}

static void credits_end_with_stores_of_a_signal_handler(void **state)
{
	struct doer doer;

	(void)state;
	open_queue_of_32();
	assert_true(register_load(OPEN_PRODUCER, 1, 4) & 2);
	atomic_store(&is_ready, false);
	begin(&doer, store_in_a_handler);
	while (!atomic_load(&is_ready))
		sched_yield();
	test_sleep_ms(50);
	pthread_kill(doer.thread, SIGUSR1);
	test_sleep_ms(50);
	produce(1, 4711, 1);
	expect_no_credit(&doer);
}

static void stores_to_a_dead_daemon_fail_at_the_latest_without_credits(void **state)
{
	int error = 0;

	(void)state;
	served_init(WORDS_32);
	served_open_both(0);
	produce(0, 0, 1);
	served_end(&served, SIGKILL);
	for (uint32_t i = 0; i < 33 && !error; i++)
		error = try_store(PRODUCE, 0, 4, i);
	assert_int_equal(error, -ENOTCONN);
}

static int clean_up(void **state)
{
	(void)state;
	mimic_device_close(served_device);
	served_clean(&served);
	return 0;
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, daemon_device_setup, daemon_device_teardown)
	const struct CMUnitTest tests[] = {
		TEST(stores_wait_for_no_answer_while_their_queue_has_room),
		cmocka_unit_test_setup_teardown(without_posts_each_store_waits_for_its_answer,
						setup_without_posts, daemon_device_teardown),
		TEST(stores_of_several_registers_keep_their_order),
		TEST(a_thread_waits_in_the_store_that_finds_its_queue_full),
		TEST(a_store_of_two_words_costs_two),
		TEST(a_pointer_that_names_two_words_costs_two),
		TEST(a_thread_that_was_told_of_stores_finds_their_effect),
		TEST(an_atomic_has_changed_memory_when_its_store_returns),
		TEST(a_store_to_a_queue_that_no_thread_empties_takes_effect_while_there_is_room),
		TEST(stores_of_a_thread_that_ends_take_effect),
		TEST(credits_end_with_the_role),
		TEST(credits_end_with_a_post_of_the_library),
		TEST(credits_end_with_an_access_of_the_library),
		TEST(credits_end_with_a_loop),
		TEST(credits_end_with_stores_of_a_signal_handler),
		cmocka_unit_test_setup_teardown(stores_to_a_dead_daemon_fail_at_the_latest_without_credits,
						daemon_device_setup, clean_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
