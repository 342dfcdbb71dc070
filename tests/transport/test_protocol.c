/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the daemon makes of messages, good and bad. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/server.h"
#include "daemon/socket.h"
#include "tests/lib/daemon_fixture.h"

#define DEVICES 2
#define NOBODY 65534

static struct served daemon_served;

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
};

#define REQUESTS (sizeof(requests) / sizeof(requests[0]))

static int start(void **state)
{
	(void)state;
	alarm(120);
	return served_start(&daemon_served, DEVICES, false) ? 0 : -1;
}

static int end(void **state)
{
	int status = served_end(&daemon_served, SIGTERM);

	(void)state;
	served_clean(&daemon_served);
	return status;
}

/* A client that has got as far as sending this request. */
static int client_for(enum mimic_message_type type)
{
	int fd = type == MIMIC_MESSAGE_HELLO ? raw_connect(daemon_served.socket) :
		 raw_client(daemon_served.socket);

	assert_true(fd >= 0);
	return fd;
}

static void expect_end(int fd)
{
	char reply[MIMIC_MESSAGE_MAX];
	int ignored;

	assert_int_equal(raw_receive(fd, reply, sizeof(reply), &ignored), 0);
	close(fd);
}

static void expect_daemon_serves(void)
{
	uint32_t device;
	int fd = raw_client(daemon_served.socket);

	assert_true(fd >= 0);
	assert_int_equal(raw_open(fd, "maple0", &device), 0);
	close(fd);
}

static int make_memfd(size_t size, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static void a_request_cut_at_any_byte_ends_its_session_only(void **state)
{
	int before = served_descriptors(&daemon_served);

	(void)state;
	for (size_t i = 0; i < REQUESTS; i++) {
		for (size_t size = 1; size < requests[i].size; size++) {
			char message[MIMIC_MESSAGE_MAX] = { 0 };
			int fd = client_for(requests[i].type);

			raw_header(message, requests[i].size, requests[i].type);
			assert_true(raw_send(fd, message, size, NULL, 0));
			expect_end(fd);
		}
	}
	expect_daemon_serves();
	assert_int_equal(served_descriptors(&daemon_served), before);
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
			expect_end(fd);
		}
	}
	expect_daemon_serves();
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
			expect_end(fd);
			free(message);
		}
	}
	expect_daemon_serves();
}

static void an_empty_message_ends_the_session(void **state)
{
	int fd = raw_client(daemon_served.socket);

	(void)state;
	assert_true(raw_send(fd, "", 0, NULL, 0));
	expect_end(fd);
}

static void an_unknown_type_ends_the_session_with_a_line_that_names_it(void **state)
{
	const unsigned int types[] = { 0, 14, 15, 0x7fff, 0x8001, 0xffff };

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct mimic_message message;
		int fd = raw_client(daemon_served.socket);

		raw_header(&message, sizeof(message), (enum mimic_message_type)types[i]);
		assert_true(raw_send(fd, &message, sizeof(message), NULL, 0));
		expect_end(fd);
	}
	assert_true(served_said(&daemon_served, "message type 32767 is unknown"));
}

static void another_version_is_answered_with_the_daemons_own(void **state)
{
	const uint32_t versions[] = { 0, 1, 3, 0xffffffff };

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = versions[i] };
		struct mimic_hello_reply reply = { 0 };
		int fd = raw_connect(daemon_served.socket);
		int event_fd;

		assert_int_equal(raw_request(fd, &hello, sizeof(hello), MIMIC_MESSAGE_HELLO, -1, &reply,
					     sizeof(reply), &event_fd), -EPROTO);
		assert_int_equal(reply.version, 2);
		assert_int_equal(event_fd, -1);
		expect_end(fd);
	}
	assert_true(served_said(&daemon_served, "it speaks version 3 of the protocol, this daemon 2"));
}

static void a_hello_without_the_magic_number_is_not_answered(void **state)
{
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC ^ 1, .version = 1 };
	int fd = raw_connect(daemon_served.socket);

	(void)state;
	raw_header(&hello, sizeof(hello), MIMIC_MESSAGE_HELLO);
	assert_true(raw_send(fd, &hello, sizeof(hello), NULL, 0));
	expect_end(fd);
}

static void nothing_is_served_before_hello(void **state)
{
	(void)state;
	for (size_t i = 1; i < REQUESTS; i++) {
		char message[MIMIC_MESSAGE_MAX] = { 0 };
		int fd = raw_connect(daemon_served.socket);

		raw_header(message, requests[i].size, requests[i].type);
		assert_true(raw_send(fd, message, requests[i].size, NULL, 0));
		expect_end(fd);
	}
	assert_true(served_said(&daemon_served, "OPEN before HELLO"));
}

static void a_second_hello_is_refused(void **state)
{
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = 2 };
	int fd = raw_client(daemon_served.socket);
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
		int fd = raw_client(daemon_served.socket);

		for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++)
			assert_int_equal(send_spoilt(fd, i, fields[k], 1), -EINVAL);
		close(fd);
	}
}

static void reserved_fields_have_to_be_0(void **state)
{
	int fd = raw_client(daemon_served.socket);

	(void)state;
	/* CLOSE, LANE_DROP, THREAD_GONE and CANCEL have one at byte 20, LANE and INJECT at the end. */
	assert_int_equal(send_spoilt(fd, 2, 20, 1), -EINVAL);
	assert_int_equal(send_spoilt(fd, 3, 28, 1), -EINVAL);
	assert_int_equal(send_spoilt(fd, 12, 55, 1), -EINVAL);
	assert_int_equal(send_spoilt(fd, 4, 20, 1), -EINVAL);
	assert_int_equal(send_spoilt(fd, 5, 23, 1), -EINVAL);
	assert_int_equal(send_spoilt(fd, 6, 20, 1), -EINVAL);
	close(fd);
}

static void a_client_that_goes_on_being_refused_is_dropped(void **state)
{
	int fd = raw_client(daemon_served.socket);
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
	assert_true(served_said(&daemon_served, "too many refused messages"));
}

static void descriptors_that_no_message_takes_are_closed(void **state)
{
	int before = served_descriptors(&daemon_served);
	int fds[8];

	(void)state;
	for (int i = 0; i < 8; i++)
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (size_t i = 1; i < REQUESTS; i++) {
		int fd = raw_client(daemon_served.socket);
		char message[MIMIC_MESSAGE_MAX] = { 0 };
		struct mimic_message reply;
		int ignored;

		raw_header(message, requests[i].size, requests[i].type);
		assert_true(raw_send(fd, message, requests[i].size, fds, 2));
		assert_true(raw_receive(fd, &reply, sizeof(reply), &ignored) > 0);
		assert_int_equal(reply.error, -EINVAL);
		/* Too many to receive at all; cut with descriptors; unknown with descriptors. */
		assert_true(raw_send(fd, message, requests[i].size, fds, 8));
		expect_end(fd);
		fd = raw_client(daemon_served.socket);
		assert_true(raw_send(fd, message, 5, fds, 4));
		expect_end(fd);
	}
	for (int i = 0; i < 8; i++)
		close(fds[i]);
	assert_int_equal(served_descriptors(&daemon_served), before);
}

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
		{ "maple@0", 0 }, { "maple", 0 },
	};
	int fd = raw_client(daemon_served.socket);

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
	int fd = raw_client(daemon_served.socket);

	(void)state;
	memset(message.name, 'm', sizeof(message.name));
	assert_int_equal(raw_request(fd, &message, sizeof(message), MIMIC_MESSAGE_OPEN, -1, NULL, 0, NULL),
			 -EINVAL);
	close(fd);
}

static void an_instance_belongs_to_one_session_at_a_time(void **state)
{
	int first = raw_client(daemon_served.socket);
	int second = raw_client(daemon_served.socket);
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
	int fd = raw_client(daemon_served.socket);

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		assert_int_equal(raw_number(fd, MIMIC_MESSAGE_CLOSE, numbers[i]), -ENODEV);
	close(fd);
}

static void private_instances_are_a_sessions_own(void **state)
{
	int first = raw_client(daemon_served.socket);
	int second = raw_client(daemon_served.socket);
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
	int fd = raw_client(daemon_served.socket);

	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint32_t device;

		assert_int_equal(raw_open(fd, "maple@5", &device), 0);
		assert_int_equal(raw_number(fd, MIMIC_MESSAGE_CLOSE, device), 0);
	}
	close(fd);
}

static void lanes_of_nobody_and_beyond_the_limits_are_refused(void **state)
{
	int fd = raw_client(daemon_served.socket);
	int before = served_descriptors(&daemon_served);
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
	assert_int_equal(served_descriptors(&daemon_served), before);
	for (uint32_t thread = 1; thread <= 256; thread++)
		assert_int_equal(raw_number(fd, MIMIC_MESSAGE_THREAD_GONE, thread), 0);
	assert_int_equal(raw_number(fd, MIMIC_MESSAGE_THREAD_GONE, 1), -ENOENT);
	assert_int_equal(raw_lane(fd, 0, 0, &lane), 0);
	raw_lane_unmap(&lane);
	close(fd);
}

#define ADDRESS 0x10000000ull
#define PAGES(n) ((n) * 4096ull)

static void add_refused(int client, int fd, uint64_t address, uint64_t size, uint64_t offset, int error)
{
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, address, size, offset), error);
}

static void only_sealed_memfds_are_taken_as_memory(void **state)
{
	int client = raw_client(daemon_served.socket);
	int before = served_descriptors(&daemon_served);
	int good = make_memfd(PAGES(4), F_SEAL_SHRINK);
	int unsealed = make_memfd(PAGES(4), F_SEAL_GROW);
	int unwritable = make_memfd(PAGES(4), F_SEAL_SHRINK | F_SEAL_WRITE);
	int null = open("/dev/zero", O_RDWR | O_CLOEXEC);
	int file = open(daemon_served.log, O_RDWR | O_CLOEXEC);

	(void)state;
	add_refused(client, null, ADDRESS, PAGES(1), 0, -EINVAL);
	add_refused(client, file, ADDRESS, PAGES(1), 0, -EINVAL);
	add_refused(client, client, ADDRESS, PAGES(1), 0, -EINVAL);
	add_refused(client, unsealed, ADDRESS, PAGES(4), 0, -EPERM);
	add_refused(client, unwritable, ADDRESS, PAGES(4), 0, -EPERM);
	add_refused(client, -1, ADDRESS, PAGES(1), 0, -EINVAL);
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, good, ADDRESS, PAGES(4), 0), 0);
	assert_int_equal(served_descriptors(&daemon_served), before);
	close(good);
	close(unsealed);
	close(unwritable);
	close(null);
	close(file);
	close(client);
	assert_true(served_said(&daemon_served, "the memfd is not sealed against shrinking"));
}

static void ranges_that_cannot_be_are_refused(void **state)
{
	int client = raw_client(daemon_served.socket);
	int fd = make_memfd(PAGES(4), F_SEAL_SHRINK);

	(void)state;
	add_refused(client, fd, ADDRESS, 0, 0, -EINVAL);
	add_refused(client, fd, ADDRESS + 1, PAGES(1), 0, -EINVAL);
	add_refused(client, fd, ADDRESS, PAGES(1) + 1, 0, -EINVAL);
	add_refused(client, fd, ADDRESS, PAGES(1), 1, -EINVAL);
	add_refused(client, fd, ADDRESS, PAGES(5), 0, -EINVAL);
	add_refused(client, fd, ADDRESS, PAGES(1), PAGES(4), -EINVAL);
	add_refused(client, fd, ADDRESS, PAGES(2), PAGES(3), -EINVAL);
	add_refused(client, fd, ADDRESS, PAGES(1), 0xfffffffffffff000, -EINVAL);
	add_refused(client, fd, 0xfffffffffffff000, PAGES(2), 0, -EINVAL);
	close(client);
	client = raw_client(daemon_served.socket);
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, ADDRESS, PAGES(2), PAGES(1)), 0);
	add_refused(client, fd, ADDRESS, PAGES(1), 0, -EEXIST);
	add_refused(client, fd, ADDRESS + PAGES(1), PAGES(2), 0, -EEXIST);
	add_refused(client, fd, ADDRESS - PAGES(1), PAGES(2), 0, -EEXIST);
	add_refused(client, fd, ADDRESS - PAGES(1), PAGES(4), 0, -EEXIST);
	/* Right before and right after is no overlap. */
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, ADDRESS - PAGES(1), PAGES(1), 0), 0);
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, ADDRESS + PAGES(2), PAGES(1), 0), 0);
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_REMOVE, -1, ADDRESS, PAGES(1), 0), -ENOENT);
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_REMOVE, -1, ADDRESS, PAGES(2), 0), 0);
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_REMOVE, -1, ADDRESS, PAGES(2), 0), -ENOENT);
	close(client);
	close(fd);
}

static void a_client_that_does_not_read_its_replies_is_dropped(void **state)
{
	int fd = raw_client(daemon_served.socket);
	struct mimic_message message;
	int sent = 0;

	(void)state;
	raw_header(&message, sizeof(message), MIMIC_MESSAGE_LIST);
	while (sent < 100000 && raw_send(fd, &message, sizeof(message), NULL, 0))
		sent++;
	assert_true(sent < 100000);
	close(fd);
	assert_true(served_said(&daemon_served, "it does not read its replies"));
	expect_daemon_serves();
}

/* Exit status of the child: 0 refused as it should be. */
static int be_nobody(void)
{
	struct mimic_hello_reply reply = { 0 };
	int ignored, fd;

	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		return 77;
	fd = raw_connect(daemon_served.socket);
	if (fd < 0)
		return 2;
	if (raw_receive(fd, &reply, sizeof(reply), &ignored) != (ssize_t)sizeof(reply))
		return 3;
	if (reply.header.error != -EACCES || ignored != -1)
		return 4;
	return raw_receive(fd, &reply, sizeof(reply), &ignored) ? 5 : 0;
}

static void another_user_is_refused_with_a_reason_in_the_log(void **state)
{
	int status;
	pid_t child;

	(void)state;
	if (geteuid())
		skip();
	/* The file's permissions are the first hurdle; take it away to meet the second. */
	assert_int_equal(chmod(daemon_served.socket, 0666), 0);
	child = fork();
	if (!child)
		_exit(be_nobody());
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(served_said(&daemon_served, "it is of user 65534, this daemon serves user 0 (--allow-users)"));
}

static void the_socket_is_for_its_user_only(void **state)
{
	struct stat status;

	(void)state;
	assert_int_equal(stat(daemon_served.socket, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

static void a_second_daemon_at_the_same_socket_gives_up(void **state)
{
	struct stat status;

	(void)state;
	assert_int_equal(mimicd_socket_listen(daemon_served.socket, false, &status), -EADDRINUSE);
	expect_daemon_serves();
}

static void the_socket_of_a_killed_daemon_is_replaced(void **state)
{
	(void)state;
	served_end(&daemon_served, SIGKILL);
	assert_int_equal(access(daemon_served.socket, F_OK), 0);
	assert_true(served_restart(&daemon_served, DEVICES));
	expect_daemon_serves();
}

static void a_file_that_is_no_socket_is_left_alone(void **state)
{
	struct stat status;
	int fd;

	(void)state;
	served_end(&daemon_served, SIGTERM);
	assert_int_equal(access(daemon_served.socket, F_OK), -1);
	fd = open(daemon_served.socket, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "mine", 4), 4);
	close(fd);
	assert_int_equal(mimicd_socket_listen(daemon_served.socket, false, &status), -EEXIST);
	assert_int_equal(stat(daemon_served.socket, &status), 0);
	assert_int_equal(status.st_size, 4);
	unlink(daemon_served.socket);
	assert_true(served_restart(&daemon_served, DEVICES));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
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
		TEST(device_names_are_answered_as_the_manual_says),
		TEST(a_name_that_does_not_end_is_refused),
		TEST(an_instance_belongs_to_one_session_at_a_time),
		TEST(a_number_that_is_no_device_cannot_be_closed),
		TEST(private_instances_are_a_sessions_own),
		TEST(device_numbers_do_not_run_out),
		TEST(lanes_of_nobody_and_beyond_the_limits_are_refused),
		TEST(only_sealed_memfds_are_taken_as_memory),
		TEST(ranges_that_cannot_be_are_refused),
		TEST(a_client_that_does_not_read_its_replies_is_dropped),
		TEST(another_user_is_refused_with_a_reason_in_the_log),
		TEST(the_socket_is_for_its_user_only),
		TEST(a_second_daemon_at_the_same_socket_gives_up),
		TEST(the_socket_of_a_killed_daemon_is_replaced),
		TEST(a_file_that_is_no_socket_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
