/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Lanes written by hand: the cost of an idle one, and the end of a bad one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/daemon_device.h"

static int start_idle(void **state)
{
	(void)state;
	return daemon_device_start(17);
}

static void an_idle_daemon_costs_next_to_nothing(void **state)
{
	struct raw_lane lanes[8];
	int clients[8];
	uint64_t before;

	(void)state;
	for (int i = 0; i < 8; i++) {
		int event_fd;
		uint32_t number;
		uint64_t answer, command;

		clients[i] = raw_client_with_event(served.socket, &event_fd);
		assert_int_equal(raw_open(clients[i], "maple", &number), 0);
		assert_int_equal(raw_open(clients[i], "maple", &number), 0);
		assert_int_equal(raw_lane(clients[i], 0, 0, &lanes[i]), 0);
		lanes[i].event_fd = event_fd;
		/* Every one has worked, the last waits in a device for ever. */
		command = mimic_command_pack(&(struct mimic_command){ .kind = MIMIC_COMMAND_LOAD,
			.device = (uint8_t)number, .size = 4, .offset = AT(INIT, 0), .count = 1 });
		raw_post(&lanes[i], &command, 1);
		assert_true(raw_answer(&lanes[i], &answer));
		assert_int_equal(answer, 2);
	}
	test_sleep_ms(100);
	before = served_cpu_ns(&served);
	test_sleep_ms(1000);
	/* 0.5 % of a second. */
	assert_true(served_cpu_ns(&served) - before < 5000000);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_true(served_resident(&served) < 16u << 20);
#endif
	for (int i = 0; i < 8; i++) {
		close(lanes[i].event_fd);
		raw_lane_unmap(&lanes[i]);
		close(clients[i]);
	}
}

struct bad_client {
	int socket;
	struct raw_lane lane;
	uint32_t device;
};

static void bad_client_start(struct bad_client *client)
{
	int event_fd;

	client->socket = raw_client_with_event(served.socket, &event_fd);
	assert_int_equal(raw_open(client->socket, "maple1", &client->device), 0);
	assert_int_equal(raw_lane(client->socket, 0, 0, &client->lane), 0);
	client->lane.event_fd = event_fd;
}

/* The session ends with that reason, the device is free, and others are served. */
static void bad_client_expect_end(struct bad_client *client, const char *reason)
{
	char reply[MIMIC_MESSAGE_MAX];
	uint32_t number;
	int ignored, other;

	assert_int_equal(raw_receive(client->socket, reply, sizeof(reply), &ignored), 0);
	assert_true(served_said(&served, reason));
	close(client->socket);
	close(client->lane.event_fd);
	raw_lane_unmap(&client->lane);
	other = raw_client(served.socket);
	assert_int_equal(raw_open(other, "maple1", &number), 0);
	close(other);
	served_init(WORDS_32);
}

static uint64_t command_word(unsigned int kind, unsigned int number, unsigned int size, uint32_t count)
{
	return mimic_command_pack(&(struct mimic_command){ .kind = (enum mimic_command_kind)kind,
		.device = (uint8_t)number, .size = (uint8_t)size, .count = count,
		.offset = AT(OPEN_PRODUCER, 0) });
}

/* The client's eventfd is the daemon's: its open file lives on. The sanitizers find uses after free. */
static void a_kick_of_a_session_that_has_ended_is_nobody_s(void **state)
{
	const uint64_t no_command = 0, one = 1;
	const struct timespec pause = { .tv_nsec = 5000000 };
	char reply[MIMIC_MESSAGE_MAX];
	struct bad_client client;
	int ignored, kicks;

	(void)state;
	bad_client_start(&client);
	kicks = dup(client.lane.event_fd);
	raw_post(&client.lane, &no_command, 1);
	assert_int_equal(raw_receive(client.socket, reply, sizeof(reply), &ignored), 0);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(write(kicks, &one, sizeof(one)), sizeof(one));
		nanosleep(&pause, NULL);
	}
	bad_client_expect_end(&client, "a word that is no command");
	close(kicks);
}

static void words_that_are_no_commands_end_the_session(void **state)
{
	const uint64_t words[] = {
		0, ~0ull, command_word(0, 0, 4, 1), command_word(6, 0, 4, 1), command_word(0xff, 0, 4, 1),
		command_word(MIMIC_COMMAND_LOAD, 0, 0, 1), command_word(MIMIC_COMMAND_LOAD, 0, 3, 1),
		command_word(MIMIC_COMMAND_LOAD, 0, 4, 0), command_word(MIMIC_COMMAND_STORE_FOR_CREDIT, 0, 4, 2),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct bad_client client;

		bad_client_start(&client);
		raw_post(&client.lane, &words[i], 1);
		bad_client_expect_end(&client, "a word that is no command");
	}
}

static void a_command_for_a_device_of_somebody_else_ends_the_session(void **state)
{
	struct bad_client client;
	uint64_t word;

	(void)state;
	bad_client_start(&client);
	word = command_word(MIMIC_COMMAND_LOAD, client.device + 1, 4, 1);
	raw_post(&client.lane, &word, 1);
	bad_client_expect_end(&client, "a command for a device that it has not opened");
}

static void more_answers_than_the_ring_holds_end_the_session(void **state)
{
	const uint32_t counts[] = { MIMIC_LANE_RESPONSE_WORDS + 1, MIMIC_COMMAND_COUNT_MAX };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct bad_client client;
		uint64_t word;

		bad_client_start(&client);
		word = command_word(MIMIC_COMMAND_LOAD, client.device, 4, counts[i]);
		raw_post(&client.lane, &word, 1);
		bad_client_expect_end(&client, "more answers than its ring has room for");
	}
}

static void ring_positions_that_cannot_be_end_the_session(void **state)
{
	const uint64_t heads[] = { MIMIC_LANE_COMMAND_WORDS + 1, 1ull << 40, ~0ull };
	const uint64_t one = 1;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct bad_client client;

		bad_client_start(&client);
		atomic_store(&client.lane.commands.ring->head, heads[i]);
		(void)!write(client.lane.event_fd, &one, sizeof(one));
		bad_client_expect_end(&client, "a ring position that cannot be");
	}
}

static void a_response_position_that_cannot_be_ends_the_session(void **state)
{
	struct bad_client client;
	uint64_t word;

	(void)state;
	bad_client_start(&client);
	atomic_store(&client.lane.responses.ring->tail, 1000);
	word = command_word(MIMIC_COMMAND_LOAD, client.device, 4, MIMIC_LANE_RESPONSE_WORDS);
	raw_post(&client.lane, &word, 1);
	/* By any count there is room for these; the next check of the position finds that it is false. */
	raw_post(&client.lane, &word, 1);
	bad_client_expect_end(&client, "lane");
}

static void half_a_command_is_waited_for_at_no_cost(void **state)
{
	struct bad_client client;
	uint64_t words[2], answer, before;

	(void)state;
	bad_client_start(&client);
	words[0] = command_word(MIMIC_COMMAND_STORE_ACKNOWLEDGED, client.device, 8, 2);
	words[1] = 0;
	raw_post(&client.lane, words, 2);
	test_sleep_ms(50);
	before = served_cpu_ns(&served);
	test_sleep_ms(300);
	assert_true(served_cpu_ns(&served) - before < 5000000);
	raw_post(&client.lane, words + 1, 1);
	assert_true(raw_answer(&client.lane, &answer));
	assert_int_equal(answer, 0);
	close(client.socket);
	close(client.lane.event_fd);
	raw_lane_unmap(&client.lane);
}

static void words_of_order_may_name_anything(void **state)
{
	struct bad_client client;
	uint64_t answer, load_word;

	(void)state;
	bad_client_start(&client);
	load_word = command_word(MIMIC_COMMAND_LOAD, client.device, 4, 1);
	for (uint32_t i = 0; i < 200; i++) {
		uint64_t words[2] = { mimic_lane_order(i * 977, i * 0x123456789abull), load_word };

		raw_post(&client.lane, words, 2);
		assert_true(raw_answer(&client.lane, &answer));
	}
	close(client.socket);
	close(client.lane.event_fd);
	raw_lane_unmap(&client.lane);
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, daemon_device_setup, daemon_device_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_idle_daemon_costs_next_to_nothing, start_idle,
						daemon_device_teardown),
		TEST(a_kick_of_a_session_that_has_ended_is_nobody_s),
		TEST(words_that_are_no_commands_end_the_session),
		TEST(a_command_for_a_device_of_somebody_else_ends_the_session),
		TEST(more_answers_than_the_ring_holds_end_the_session),
		TEST(ring_positions_that_cannot_be_end_the_session),
		TEST(a_response_position_that_cannot_be_ends_the_session),
		TEST(half_a_command_is_waited_for_at_no_cost),
		TEST(words_of_order_may_name_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
