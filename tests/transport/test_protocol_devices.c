/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Messages about devices and lanes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/protocol_fixture.h"

static void device_names_are_answered_as_the_manual_says(void **state)
{
	static const struct {
		const char *name;
		int error;
	} names[] = {
		{ "", -ENOENT }, { "mapl", -ENOENT }, { "pear0", -ENOENT }, { "dare0", -ENODEV }, { "Maple0", -ENOENT },
		{ "maple00", -ENOENT }, { "maple-1", -ENOENT }, { "maple 0", -ENOENT },
		{ "maple0x", -ENOENT }, { "maple+1", -ENOENT }, { "maple2", -ENODEV },
		{ "maple99999999", -ENODEV }, { "maple@", -ENOENT }, { "maple@64", -ENODEV },
		{ "maple@-1", -ENOENT }, { "maple@063", -ENOENT }, { "maple1", 0 }, { "maple@63", 0 },
		{ "maple@0", 0 }, { "maple", 0 }, { "virgo1", -ENODEV }, { "virgo@0", -ENOENT }, { "virgo", 0 },
	};
	int fd = raw_client(protocol_served.socket);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint32_t device;

		assert_int_equal(raw_open(fd, names[i].name, &device), names[i].error);
	}
	close(fd);
}

static void a_name_that_does_not_end_is_refused(void **state)
{
	struct mimic_open message;
	int fd = raw_client(protocol_served.socket);

	(void)state;
	memset(message.name, 'm', sizeof(message.name));
	assert_int_equal(raw_request(fd, &message, sizeof(message), MIMIC_MESSAGE_OPEN, -1, NULL, 0, NULL),
			 -EINVAL);
	close(fd);
}

static void an_instance_belongs_to_one_session_at_a_time(void **state)
{
	int first = raw_client(protocol_served.socket);
	int second = raw_client(protocol_served.socket);
	uint32_t device, again;

	(void)state;
	assert_int_equal(raw_open(first, "maple0", &device), 0);
	assert_int_equal(raw_open(second, "maple0", &again), -EBUSY);
	assert_int_equal(raw_open(first, "maple0", &again), 0);
	assert_int_equal(again, device);
	assert_int_equal(raw_open(second, "maple", &again), 0);
	assert_int_equal(raw_open(second, "maple", &again), -EBUSY);
	/* Two opens need two closes. */
	assert_int_equal(raw_number(first, MIMIC_MESSAGE_CLOSE, device), 0);
	assert_int_equal(raw_open(second, "maple0", &again), -EBUSY);
	assert_int_equal(raw_number(first, MIMIC_MESSAGE_CLOSE, device), 0);
	assert_int_equal(raw_open(second, "maple0", &again), 0);
	assert_int_equal(raw_number(first, MIMIC_MESSAGE_CLOSE, device), -ENODEV);
	close(first);
	close(second);
}

static void a_number_that_is_no_device_cannot_be_closed(void **state)
{
	const uint32_t numbers[] = { 0, 1, 255, 256, 0xffffffff };
	int fd = raw_client(protocol_served.socket);

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		assert_int_equal(raw_number(fd, MIMIC_MESSAGE_CLOSE, numbers[i]), -ENODEV);
	close(fd);
}

static void private_instances_are_a_sessions_own(void **state)
{
	int first = raw_client(protocol_served.socket);
	int second = raw_client(protocol_served.socket);
	uint32_t device;

	(void)state;
	for (int tile = 0; tile < 64; tile++) {
		char name[16];

		snprintf(name, sizeof(name), "maple@%d", tile);
		assert_int_equal(raw_open(first, name, &device), 0);
		assert_int_equal(raw_open(second, name, &device), 0);
	}
	close(first);
	close(second);
}

static void device_numbers_do_not_run_out(void **state)
{
	int fd = raw_client(protocol_served.socket);

	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint32_t device;

		assert_int_equal(raw_open(fd, "maple@5", &device), 0);
		assert_int_equal(raw_number(fd, MIMIC_MESSAGE_CLOSE, device), 0);
	}
	close(fd);
}

/* With an eventfd, if fd is one. */
static int ask_for_events(int socket, uint32_t device, uint64_t events, int fd)
{
	struct mimic_event_request message = { .device = device, .events = events };

	return raw_request(socket, &message, sizeof(message), MIMIC_MESSAGE_EVENTFD, fd, NULL, 0, NULL);
}

static void events_are_told_by_an_eventfd_and_by_nothing_else(void **state)
{
	int socket = raw_client(protocol_served.socket);
	int before, event = eventfd(0, EFD_CLOEXEC);
	uint32_t maple, virgo;

	(void)state;
	assert_int_equal(ask_for_events(socket, 0, 1, event), -ENODEV);
	assert_int_equal(ask_for_events(socket, 0xffffffff, 1, event), -ENODEV);
	assert_int_equal(raw_open(socket, "maple0", &maple), 0);
	assert_int_equal(raw_open(socket, "virgo0", &virgo), 0);
	/* The first has the daemon open null_fd, which all others use. */
	assert_int_equal(ask_for_events(socket, virgo, 1, event), 0);
	assert_int_equal(ask_for_events(socket, virgo, 0, -1), 0);
	before = served_descriptors(&protocol_served);
	assert_int_equal(ask_for_events(socket, maple, 1, event), -ENXIO);
	assert_int_equal(ask_for_events(socket, virgo, 1, socket), -EINVAL);
	assert_int_equal(ask_for_events(socket, virgo, 1, STDERR_FILENO), -EINVAL);
	/* There are no such events. */
	assert_int_equal(ask_for_events(socket, virgo, 1ull << 25, event), -EINVAL);
	protocol_expect_descriptors(before);
	assert_int_equal(ask_for_events(socket, virgo, 1, event), 0);
	protocol_expect_descriptors(before + 1);
	assert_int_equal(ask_for_events(socket, virgo, 2, event), 0);
	protocol_expect_descriptors(before + 1);
	assert_int_equal(ask_for_events(socket, virgo, 0, event), 0);
	protocol_expect_descriptors(before);
	assert_int_equal(ask_for_events(socket, virgo, 1, event), 0);
	assert_int_equal(ask_for_events(socket, virgo, 1, -1), 0);
	protocol_expect_descriptors(before);
	close(event);
	close(socket);
}

static void lanes_of_nobody_and_beyond_the_limits_are_refused(void **state)
{
	int fd = raw_client(protocol_served.socket);
	int before = served_descriptors(&protocol_served);
	struct raw_lane lane;
	int count = 0;

	(void)state;
	assert_int_equal(raw_lane(fd, 1, 0, &lane), -ENOENT);
	assert_int_equal(raw_lane(fd, 0xffffffff, 0, &lane), -ENOENT);
	assert_int_equal(raw_lane(fd, 0, 8, &lane), -EINVAL);
	while (raw_lane(fd, 0, 0, &lane) == 0) {
		raw_lane_unmap(&lane);
		count++;
	}
	assert_int_equal(count, 256);
	/* A lane is memory, not a descriptor that stays. */
	protocol_expect_descriptors(before);
	for (uint32_t thread = 1; thread <= 256; thread++)
		assert_int_equal(raw_number(fd, MIMIC_MESSAGE_THREAD_GONE, thread), 0);
	assert_int_equal(raw_number(fd, MIMIC_MESSAGE_THREAD_GONE, 1), -ENOENT);
	assert_int_equal(raw_lane(fd, 0, 0, &lane), 0);
	raw_lane_unmap(&lane);
	close(fd);
}

static int receive_text(int socket)
{
	struct mimic_list_reply reply;
	int fd;

	assert_true(raw_receive(socket, &reply, sizeof(reply), &fd) >= (ssize_t)sizeof(reply.header));
	assert_true((fd >= 0) == !reply.header.error);
	if (fd >= 0)
		close(fd);
	return reply.header.error;
}

static void a_text_that_is_not_read_is_the_only_one(void **unused)
{
	struct mimic_state_request state = { .name = "maple0", .flags = MIMIC_STATE_WITH_BYTES };
	struct mimic_message list;
	int fd = raw_client(protocol_served.socket);

	(void)unused;
	raw_header(&state, sizeof(state), MIMIC_MESSAGE_STATE);
	raw_header(&list, sizeof(list), MIMIC_MESSAGE_LIST);
	for (unsigned int round = 0; round < 2; round++) {
		assert_true(raw_send(fd, &state, sizeof(state), NULL, 0));
		assert_true(raw_send(fd, &state, sizeof(state), NULL, 0));
		assert_true(raw_send(fd, &list, sizeof(list), NULL, 0));
		/* All are answered before the first is read. */
		protocol_expect_served();
		assert_int_equal(receive_text(fd), 0);
		assert_int_equal(receive_text(fd), -EAGAIN);
		assert_int_equal(receive_text(fd), -EAGAIN);
	}
	close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, protocol_start, protocol_end)
	const struct CMUnitTest tests[] = {
		TEST(device_names_are_answered_as_the_manual_says),
		TEST(a_name_that_does_not_end_is_refused),
		TEST(an_instance_belongs_to_one_session_at_a_time),
		TEST(a_number_that_is_no_device_cannot_be_closed),
		TEST(private_instances_are_a_sessions_own),
		TEST(device_numbers_do_not_run_out),
		TEST(events_are_told_by_an_eventfd_and_by_nothing_else),
		TEST(lanes_of_nobody_and_beyond_the_limits_are_refused),
		TEST(a_text_that_is_not_read_is_the_only_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
