/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A device that a person takes away or resets gives its program an error, and never a value. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/daemon/client.h"
#include "tests/lib/daemon_device.h"

#define WORDS 64

static void take_away(const char *name)
{
	assert_int_equal(mimic_daemon_remove(served.socket, name), 0);
}

static void reset(const char *name)
{
	assert_int_equal(mimic_daemon_reset(served.socket, name), 0);
}

static int open_again(const char *name, struct mimic_device **device)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };

	return mimic_device_open(device, name, &options);
}

/* The daemon refuses a connection while too many of the user's descriptors wait to be closed. */
static int open_in_time(const char *name, struct mimic_device **device)
{
	int error = open_again(name, device);

	for (unsigned int i = 0; i < 500 && error == -EDQUOT; i++) {
		test_sleep_ms(10);
		error = open_again(name, device);
	}
	return error;
}

static int try_load(struct mimic_device *device)
{
	struct mimic_access access = { .offset = AT(CONSUME, 0), .size = 4 };

	return mimic_device_access(device, &access);
}

static int try_store(struct mimic_device *device)
{
	struct mimic_access access = { .offset = AT(PRODUCE, 0), .size = 4, .is_write = 1, .data = 7 };

	return mimic_device_access(device, &access);
}

static void expect_each_call_fails(struct mimic_device *device)
{
	const struct mimic_access produce = { .offset = AT(PRODUCE, 0), .size = 4 };
	const struct mimic_access consume = { .offset = AT(CONSUME, 0), .size = 4 };
	uint64_t values[WORDS] = { 0 };
	uint32_t words[WORDS];

	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(try_load(device), -ENODEV);
		assert_int_equal(try_store(device), -ENODEV);
		assert_int_equal(mimic_device_post(device, &produce, values, WORDS), -ENODEV);
		assert_int_equal(mimic_device_load(device, &consume, words, WORDS), -ENODEV);
		assert_int_equal(mimic_device_counters(device, values, WORDS), -ENODEV);
	}
}

static void begin(void)
{
	served_init(WORDS_32);
	served_open_both(0);
	register_store(PRODUCE, 0, 4, 5);
}

static void each_call_on_a_device_that_was_removed_fails(void **state)
{
	(void)state;
	begin();
	take_away("maple0");
	expect_each_call_fails(served_device);
}

static void each_call_on_a_device_that_was_reset_fails(void **state)
{
	(void)state;
	begin();
	reset("maple0");
	expect_each_call_fails(served_device);
}

static void *wait_for_word(void *result)
{
	register_load(OPEN_CONSUMER, 0, 4);
	*(int *)result = try_load(served_device);
	return NULL;
}

static void *load_word(void *result)
{
	*(int *)result = try_load(served_device);
	return NULL;
}

static void expect_waiting_load_fails(void (*offend)(const char *name))
{
	pthread_t thread;
	int result = 1;

	served_init(WORDS_32);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_word, &result), 0);
	test_sleep_ms(50);
	offend("maple0");
	pthread_join(thread, NULL);
	assert_int_equal(result, -ENODEV);
}

static void a_load_that_waits_fails_when_the_device_is_removed(void **state)
{
	(void)state;
	expect_waiting_load_fails(take_away);
}

static void a_load_that_waits_fails_when_the_device_is_reset(void **state)
{
	(void)state;
	expect_waiting_load_fails(reset);
}

static void a_lane_that_is_made_afterwards_tells_it_too(void **state)
{
	pthread_t thread;
	int result = 1;

	(void)state;
	begin();
	take_away("maple0");
	assert_int_equal(pthread_create(&thread, NULL, load_word, &result), 0);
	pthread_join(thread, NULL);
	assert_int_equal(result, -ENODEV);
}

static void the_next_open_is_not_taken_for_the_device_that_is_gone(void **state)
{
	struct mimic_device *others[8];
	char name[MIMIC_NAME_MAX];

	(void)state;
	begin();
	take_away("maple0");
	for (unsigned int i = 0; i < 8; i++) {
		assert_int_equal(mimic_daemon_add(served.socket, "maple", name), 0);
		assert_int_equal(open_again(name, &others[i]), 0);
		assert_int_equal(try_load(served_device), -ENODEV);
	}
	for (unsigned int i = 0; i < 8; i++)
		mimic_device_close(others[i]);
}

static void a_device_that_is_opened_anew_works(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 600; i++) {
		reset("maple0");
		assert_int_equal(try_load(served_device), -ENODEV);
		mimic_device_close(served_device);
		assert_int_equal(open_in_time("maple0", &served_device), 0);
		begin();
		assert_int_equal(register_load(CONSUME, 0, 4), 5);
	}
}

static void the_second_open_of_a_device_that_was_reset_is_refused_until_the_first_is_closed(void **state)
{
	int socket = raw_client(served.socket);
	uint32_t first, second;

	(void)state;
	assert_int_equal(raw_open(socket, "maple1", &first), 0);
	reset("maple1");
	assert_int_equal(raw_open(socket, "maple1", &second), -EBUSY);
	assert_int_equal(raw_number(socket, MIMIC_MESSAGE_CLOSE, first), 0);
	assert_int_equal(raw_open(socket, "maple1", &second), 0);
	close(socket);
}

static void other_devices_of_the_program_go_on(void **state)
{
	struct mimic_device *lost = served_device;

	(void)state;
	assert_int_equal(open_again("maple1", &served_device), 0);
	take_away("maple0");
	begin();
	assert_int_equal(register_load(CONSUME, 0, 4), 5);
	assert_int_equal(try_load(lost), -ENODEV);
	mimic_device_close(lost);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, daemon_device_setup, daemon_device_teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_call_on_a_device_that_was_removed_fails),
		TEST(each_call_on_a_device_that_was_reset_fails),
		TEST(a_load_that_waits_fails_when_the_device_is_removed),
		TEST(a_load_that_waits_fails_when_the_device_is_reset),
		TEST(a_lane_that_is_made_afterwards_tells_it_too),
		TEST(the_next_open_is_not_taken_for_the_device_that_is_gone),
		TEST(a_device_that_is_opened_anew_works),
		TEST(the_second_open_of_a_device_that_was_reset_is_refused_until_the_first_is_closed),
		TEST(other_devices_of_the_program_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
