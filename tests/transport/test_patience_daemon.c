/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Threads that wait for a device of mimicd for long say what they wait for; mimicd says why. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/daemon_device.h"
#include "tests/lib/told.h"

static int setup(void **state)
{
	int error = daemon_device_setup(state);

	told_begin(300);
	if (!error)
		served_init(WORDS_32);
	return error;
}

static int teardown(void **state)
{
	told_end();
	return daemon_device_teardown(state);
}

static void consume_one(void)
{
	register_load(OPEN_CONSUMER, 0, 4);
	register_load(CONSUME, 0, 4);
}

static void produce_one(void)
{
	register_load(OPEN_PRODUCER, 0, 4);
	register_store(PRODUCE, 0, 4, 1);
}

static void a_load_of_an_empty_queue_is_told_once(void **state)
{
	struct told_thread thread;

	(void)state;
	told_start(&thread, consume_one);
	assert_true(told_wait(1));
	assert_string_equal(told_wait_of("maple0"),
			    "a load of MAPLE CONSUME [0]: queue 0 is empty, and nobody produces");
	usleep(700000);
	assert_int_equal(told_count(), 1);
	produce_one();
	told_join(&thread);
}

static void store_one_by_one(void)
{
	register_load(OPEN_PRODUCER, 0, 4);
	for (unsigned int i = 0; i < 33; i++)
		register_store(PRODUCE, 0, 4, i);
}

static void a_store_to_a_full_queue_is_told(void **state)
{
	struct told_thread thread;

	(void)state;
	told_start(&thread, store_one_by_one);
	assert_true(told_wait(1));
	assert_string_equal(
		told_wait_of("maple0"),
		"a store of MAPLE PRODUCE [0]: queue 0 is full (32 of 32 words), and nobody consumes");
	register_load(RESET, 0, 4);
	told_join(&thread);
}

static void post_more_than_fits(void)
{
	static const uint64_t values[40];

	served_open_both(0);
	register_post(PRODUCE, 0, 4, values, 40);
	register_load(CONSUME, 0, 4);
}

static void an_earlier_post_that_does_not_fit_is_told(void **state)
{
	struct told_thread thread;

	(void)state;
	told_start(&thread, post_more_than_fits);
	assert_true(told_wait(1));
	assert_string_equal(told_wait_of("maple0"),
			    "its earlier store of MAPLE PRODUCE [0]: "
			    "queue 0 is full (32 of 32 words), and its consumer is this same thread");
	register_load(RESET, 0, 4);
	told_join(&thread);
}

/* The thread says that mimicd is silent; its session and access go on with mimicd. */
static void a_daemon_that_does_not_answer_is_named_and_the_session_goes_on(void **state)
{
	const struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	struct mimic_device *other;
	struct told_thread thread;

	(void)state;
	told_begin(1000);
	told_start(&thread, consume_one);
	usleep(300000);
	assert_int_equal(kill(served.pid, SIGSTOP), 0);
	assert_true(told_wait(1));
	assert_string_equal(told_wait_of("maple0"), "a load of MAPLE CONSUME [0]: mimicd does not answer");
	assert_int_equal(kill(served.pid, SIGCONT), 0);
	produce_one();
	told_join(&thread);
	/* The late reply is not taken for this one's. */
	assert_int_equal(mimic_device_open(&other, "maple1", &options), 0);
	mimic_device_close(other);
}

static void a_lane_of_nobody_is_refused(void **state)
{
	struct mimic_number_request request = { .number = 12345 };
	struct mimic_explain_reply reply;
	int socket = raw_client(served.socket), fd;

	(void)state;
	assert_int_equal(raw_request(socket, &request, sizeof(request), MIMIC_MESSAGE_EXPLAIN, -1, &reply,
				     sizeof(reply), &fd),
			 -ENOENT);
	close(socket);
}

static void a_lane_that_waits_for_nothing_has_no_text(void **state)
{
	struct mimic_number_request request;
	struct mimic_explain_reply reply;
	int socket = raw_client(served.socket), fd;
	struct raw_lane lane;

	(void)state;
	assert_int_equal(raw_lane(socket, 0, 0, &lane), 0);
	request = (struct mimic_number_request){ .number = lane.number };
	memset(&reply, 1, sizeof(reply));
	assert_int_equal(raw_request(socket, &request, sizeof(request), MIMIC_MESSAGE_EXPLAIN, -1, &reply,
				     sizeof(reply), &fd),
			 0);
	assert_string_equal(reply.text, "");
	raw_lane_unmap(&lane);
	close(socket);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_load_of_an_empty_queue_is_told_once),
		TEST(a_store_to_a_full_queue_is_told),
		TEST(an_earlier_post_that_does_not_fit_is_told),
		TEST(a_daemon_that_does_not_answer_is_named_and_the_session_goes_on),
		TEST(a_lane_of_nobody_is_refused),
		TEST(a_lane_that_waits_for_nothing_has_no_text),
	};

	return cmocka_run_group_tests_name("patience, daemon", tests, NULL, NULL);
}
