/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The daemon's handling of good and bad messages: their headers and sizes. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/protocol_fixture.h"

/* The whole size of each request, written down a second time from docs/protocol.md. */
static const struct {
	enum mimic_message_type type;
	size_t size;
	unsigned int fds;
} requests[] = {
	{ MIMIC_MESSAGE_HELLO, 32, 0 },
	{ MIMIC_MESSAGE_OPEN, 48, 0 },
	{ MIMIC_MESSAGE_CLOSE, 24, 0 },
	{ MIMIC_MESSAGE_LANE, 32, 0 },
	{ MIMIC_MESSAGE_LANE_DROP, 24, 0 },
	{ MIMIC_MESSAGE_THREAD_GONE, 24, 0 },
	{ MIMIC_MESSAGE_CANCEL, 24, 0 },
	{ MIMIC_MESSAGE_MEMORY_ADD, 40, 1 },
	{ MIMIC_MESSAGE_MEMORY_REMOVE, 40, 0 },
	{ MIMIC_MESSAGE_LIST, 16, 0 },
	{ MIMIC_MESSAGE_ADD, 32, 0 },
	{ MIMIC_MESSAGE_REMOVE, 48, 0 },
	{ MIMIC_MESSAGE_INJECT, 56, 0 },
	{ MIMIC_MESSAGE_EVENTFD, 32, 1 },
	{ MIMIC_MESSAGE_STATE, 56, 0 },
	{ MIMIC_MESSAGE_RESET, 48, 0 },
	{ MIMIC_MESSAGE_CLEAR_COUNTERS, 48, 0 },
};

#define REQUESTS (sizeof(requests) / sizeof(requests[0]))

/* A client that has got as far as sending this request. */
static int client_for(enum mimic_message_type type)
{
	int fd = type == MIMIC_MESSAGE_HELLO ? raw_connect(protocol_served.socket) :
		 raw_client(protocol_served.socket);

	assert_true(fd >= 0);
	return fd;
}

static void a_request_cut_at_any_byte_ends_its_session_only(void **state)
{
	int before = served_descriptors(&protocol_served);

	(void)state;
	for (size_t i = 0; i < REQUESTS; i++) {
		for (size_t size = 1; size < requests[i].size; size++) {
			char message[MIMIC_MESSAGE_MAX] = { 0 };
			int fd = client_for(requests[i].type);

			raw_header(message, requests[i].size, requests[i].type);
			assert_true(raw_send(fd, message, size, NULL, 0));
			protocol_expect_end(fd);
		}
	}
	protocol_expect_served();
	protocol_expect_descriptors(before);
}

static void a_request_whose_size_field_is_that_of_a_cut_one_ends_its_session(void **state)
{
	(void)state;
	for (size_t i = 0; i < REQUESTS; i++) {
		for (size_t size = sizeof(struct mimic_message); size < requests[i].size; size++) {
			char message[MIMIC_MESSAGE_MAX] = { 0 };
			int fd = client_for(requests[i].type);

			raw_header(message, size, requests[i].type);
			assert_true(raw_send(fd, message, size, NULL, 0));
			protocol_expect_end(fd);
		}
	}
	protocol_expect_served();
}

static void a_request_longer_than_its_type_ends_its_session(void **state)
{
	const size_t sizes[] = { 4, 64, 200, 4096, 100000 };

	(void)state;
	for (size_t i = 0; i < REQUESTS; i++) {
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			size_t size = requests[i].size + sizes[k];
			char *message = calloc(1, size);
			int fd = client_for(requests[i].type);

			raw_header(message, size, requests[i].type);
			assert_true(raw_send(fd, message, size, NULL, 0));
			protocol_expect_end(fd);
			free(message);
		}
	}
	protocol_expect_served();
}

static void an_empty_message_ends_the_session(void **state)
{
	int fd = raw_client(protocol_served.socket);

	(void)state;
	assert_true(raw_send(fd, "", 0, NULL, 0));
	protocol_expect_end(fd);
}

static void an_unknown_type_ends_the_session_with_a_line_that_names_it(void **state)
{
	const unsigned int types[] = { 0, 15, 16, 0x7fff, 0x8001, 0xffff };

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct mimic_message message;
		int fd = raw_client(protocol_served.socket);

		raw_header(&message, sizeof(message), (enum mimic_message_type)types[i]);
		assert_true(raw_send(fd, &message, sizeof(message), NULL, 0));
		protocol_expect_end(fd);
	}
	assert_true(served_said(&protocol_served, "message type 32767 is unknown"));
}

static void another_version_is_answered_with_the_daemons_own(void **state)
{
	const uint32_t versions[] = { 0, 1, 2, 3, 4, 6, 0xffffffff };

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = versions[i] };
		struct mimic_hello_reply reply = { 0 };
		int fd = raw_connect(protocol_served.socket);
		int event_fd;

		assert_int_equal(raw_request(fd, &hello, sizeof(hello), MIMIC_MESSAGE_HELLO, -1, &reply,
					     sizeof(reply), &event_fd), -EPROTO);
		assert_int_equal(reply.version, 5);
		assert_int_equal(event_fd, -1);
		protocol_expect_end(fd);
	}
	assert_true(served_said(&protocol_served, "it speaks version 4 of the protocol, this daemon 5"));
}

static void a_hello_without_the_magic_number_is_not_answered(void **state)
{
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC ^ 1, .version = 1 };
	int fd = raw_connect(protocol_served.socket);

	(void)state;
	raw_header(&hello, sizeof(hello), MIMIC_MESSAGE_HELLO);
	assert_true(raw_send(fd, &hello, sizeof(hello), NULL, 0));
	protocol_expect_end(fd);
}

static void nothing_is_served_before_hello(void **state)
{
	(void)state;
	for (size_t i = 1; i < REQUESTS; i++) {
		char message[MIMIC_MESSAGE_MAX] = { 0 };
		int fd = raw_connect(protocol_served.socket);

		raw_header(message, requests[i].size, requests[i].type);
		assert_true(raw_send(fd, message, requests[i].size, NULL, 0));
		protocol_expect_end(fd);
	}
	assert_true(served_said(&protocol_served, "OPEN before HELLO"));
}

static void a_second_hello_is_refused(void **state)
{
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = 3 };
	int fd = raw_client(protocol_served.socket);
	uint32_t device;

	(void)state;
	assert_int_equal(raw_request(fd, &hello, sizeof(hello), MIMIC_MESSAGE_HELLO, -1, NULL, 0, NULL),
			 -EALREADY);
	assert_int_equal(raw_open(fd, "maple0", &device), 0);
	close(fd);
}

/* Sends a request of that type after `spoil` changed it; the error of the reply. */
static int send_spoilt(int fd, size_t request, size_t at, uint8_t value)
{
	char message[MIMIC_MESSAGE_MAX] = { 0 };
	struct mimic_hello_reply reply;
	int ignored;

	raw_header(message, requests[request].size, requests[request].type);
	message[at] = (char)value;
	assert_true(raw_send(fd, message, requests[request].size, NULL, 0));
	assert_true(raw_receive(fd, &reply, sizeof(reply), &ignored) > 0);
	return reply.header.error;
}

static void flags_and_the_error_field_of_a_request_have_to_be_0(void **state)
{
	const size_t fields[] = { 6, 7, 12, 15 };

	(void)state;
	for (size_t i = 1; i < REQUESTS; i++) {
		int fd = raw_client(protocol_served.socket);

		for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++)
			assert_int_equal(send_spoilt(fd, i, fields[k], 1), -EINVAL);
		close(fd);
	}
}

static void reserved_fields_have_to_be_0(void **state)
{
	int fd = raw_client(protocol_served.socket);

	(void)state;
	/* CLOSE, LANE_DROP, THREAD_GONE, CANCEL and EVENTFD have one at byte 20, LANE and INJECT at the end. */
	assert_int_equal(send_spoilt(fd, 2, 20, 1), -EINVAL);
	assert_int_equal(send_spoilt(fd, 3, 28, 1), -EINVAL);
	assert_int_equal(send_spoilt(fd, 12, 55, 1), -EINVAL);
	assert_int_equal(send_spoilt(fd, 4, 20, 1), -EINVAL);
	assert_int_equal(send_spoilt(fd, 5, 23, 1), -EINVAL);
	assert_int_equal(send_spoilt(fd, 6, 20, 1), -EINVAL);
	assert_int_equal(send_spoilt(fd, 13, 22, 1), -EINVAL);
	close(fd);
}

static void a_client_that_goes_on_being_refused_is_dropped(void **state)
{
	int fd = raw_client(protocol_served.socket);
	int error = -ENOENT;
	int refused = 0;

	(void)state;
	while (error == -ENOENT && refused < 100) {
		error = raw_number(fd, MIMIC_MESSAGE_CANCEL, 1234);
		refused++;
	}
	assert_int_equal(error, 1);
	assert_in_range(refused, 16, 20);
	close(fd);
	assert_true(served_said(&protocol_served, "too many refused messages"));
}

static void descriptors_that_no_message_takes_are_closed(void **state)
{
	int before = served_descriptors(&protocol_served);
	int fds[8];

	(void)state;
	for (int i = 0; i < 8; i++)
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (size_t i = 1; i < REQUESTS; i++) {
		int fd = raw_client(protocol_served.socket);
		char message[MIMIC_MESSAGE_MAX] = { 0 };
		struct mimic_message reply;
		int ignored;

		raw_header(message, requests[i].size, requests[i].type);
		assert_true(raw_send(fd, message, requests[i].size, fds, 2));
		assert_true(raw_receive(fd, &reply, sizeof(reply), &ignored) > 0);
		assert_int_equal(reply.error, -EINVAL);
		/* Too many to receive at all; cut with descriptors; unknown with descriptors. */
		assert_true(raw_send(fd, message, requests[i].size, fds, 8));
		protocol_expect_end(fd);
		fd = raw_client(protocol_served.socket);
		assert_true(raw_send(fd, message, 5, fds, 4));
		protocol_expect_end(fd);
	}
	for (int i = 0; i < 8; i++)
		close(fds[i]);
	protocol_expect_descriptors(before);
}

static void a_client_that_does_not_read_its_replies_is_dropped(void **state)
{
	int fd = raw_client(protocol_served.socket);
	struct mimic_message message;
	int sent = 0;

	(void)state;
	raw_header(&message, sizeof(message), MIMIC_MESSAGE_LIST);
	while (sent < 100000 && raw_send(fd, &message, sizeof(message), NULL, 0))
		sent++;
	assert_true(sent < 100000);
	close(fd);
	assert_true(served_said(&protocol_served, "it does not read its replies"));
	protocol_expect_served();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, protocol_start, protocol_end)
	const struct CMUnitTest tests[] = {
		TEST(a_request_cut_at_any_byte_ends_its_session_only),
		TEST(a_request_whose_size_field_is_that_of_a_cut_one_ends_its_session),
		TEST(a_request_longer_than_its_type_ends_its_session),
		TEST(an_empty_message_ends_the_session),
		TEST(an_unknown_type_ends_the_session_with_a_line_that_names_it),
		TEST(another_version_is_answered_with_the_daemons_own),
		TEST(a_hello_without_the_magic_number_is_not_answered),
		TEST(nothing_is_served_before_hello),
		TEST(a_second_hello_is_refused),
		TEST(flags_and_the_error_field_of_a_request_have_to_be_0),
		TEST(reserved_fields_have_to_be_0),
		TEST(a_client_that_goes_on_being_refused_is_dropped),
		TEST(descriptors_that_no_message_takes_are_closed),
		TEST(a_client_that_does_not_read_its_replies_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
