/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* STATE, RESET, CLEAR_COUNTERS and LIST, asked by the socket, of devices that came by the kernel's bus. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include <cmocka.h>

#include "tests/contract/maple/numbers.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/lib/fake_bus.h"

enum { PRODUCER = 1, CONSUMER = 2 };
enum { BINDING = 1 };

static int start(void **state)
{
	(void)state;
	return fake_bus_start(2, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_AUTO);
}

static int stop(void **state)
{
	(void)state;
	fake_bus_stop();
	return 0;
}

static uint64_t command(uint32_t thread, unsigned int operation, unsigned int field)
{
	return fake_bus_load(BINDING, thread, PAGE_MAPLE, AT(operation, field), 4);
}

static void open_queue(void)
{
	assert_int_equal(fake_bus_open(0, BINDING, 7), 0);
	assert_int_equal(command(PRODUCER, INIT, WORDS_32), 2);
	assert_int_equal(command(PRODUCER, OPEN_PRODUCER, 0) & 3, 2);
	assert_int_equal(command(CONSUMER, OPEN_CONSUMER, 0) & 3, 1);
}

static int ask(int fd, enum mimic_message_type type, const char *device)
{
	struct mimic_open message = { 0 };

	strcpy(message.name, device);
	return raw_request(fd, &message, sizeof(message), type, -1, NULL, 0, NULL);
}

/* STATE of a device, or LIST without one; json_object_put() it. */
static int ask_json(int fd, const char *device, struct json_object **answer)
{
	struct mimic_state_request message = { 0 };
	enum mimic_message_type type = device ? MIMIC_MESSAGE_STATE : MIMIC_MESSAGE_LIST;
	struct mimic_list_reply reply;
	int text_fd = -1, error;
	char text[1 << 17];

	if (device)
		strcpy(message.name, device);
	error = raw_request(fd, &message, device ? sizeof(message) : sizeof(message.header), type, -1, &reply,
			    sizeof(reply), &text_fd);
	if (error)
		return error;
	assert_true(reply.size < sizeof(text));
	assert_int_equal(pread(text_fd, text, reply.size, 0), (ssize_t)reply.size);
	close(text_fd);
	text[reply.size] = 0;
	*answer = json_tokener_parse(text);
	assert_non_null(*answer);
	return 0;
}

/* A path in a tree, with '/' between names: its `value`. */
static struct json_object *value_at(struct json_object *tree, const char *path)
{
	char copy[80], *rest;

	strcpy(copy, path);
	for (char *name = strtok_r(copy, "/", &rest); name; name = strtok_r(NULL, "/", &rest)) {
		if (!json_object_object_get_ex(tree, name, &tree))
			fail_msg("no %s", path);
	}
	assert_true(json_object_object_get_ex(tree, "value", &tree));
	return tree;
}

static void assert_shows(int fd, const char *path, int64_t expected)
{
	struct json_object *tree;

	assert_int_equal(ask_json(fd, "maple0", &tree), 0);
	assert_int_equal(json_object_get_int64(value_at(tree, path)), expected);
	json_object_put(tree);
}

static int64_t number_in(struct json_object *object, const char *key)
{
	struct json_object *value;

	assert_true(json_object_object_get_ex(object, key, &value));
	return json_object_get_int64(value);
}

/* The process that came by the bus has maple0. */
static void assert_listed(int fd)
{
	struct json_object *list, *array, *user;

	assert_int_equal(ask_json(fd, NULL, &list), 0);
	assert_true(json_object_object_get_ex(list, "devices", &array));
	assert_true(json_object_object_get_ex(json_object_array_get_idx(array, 0), "user", &user));
	assert_int_equal(number_in(user, "pid"), getpid());
	assert_true(json_object_object_get_ex(list, "bindings", &array));
	assert_int_equal(json_object_array_length(array), 1);
	json_object_put(list);
}

static void state_reset_and_clear_counters_reach_a_device_that_came_by_the_bus(void **state)
{
	uint64_t data = 99;
	uint32_t slot;
	int fd;

	(void)state;
	open_queue();
	fd = fake_bus_session();
	fake_bus_store(BINDING, PRODUCER, PAGE_MAPLE, AT(PRODUCE, 0), 4, 5);
	fake_bus_store(BINDING, PRODUCER, PAGE_MAPLE, AT(PRODUCE, 0), 4, 6);
	assert_int_equal(command(CONSUMER, CONSUME, 0), 5);
	assert_shows(fd, "counters/produced", 2);
	assert_shows(fd, "counters/consumed", 1);
	assert_shows(fd, "queues/0/level", 1);
	assert_listed(fd);

	assert_int_equal(ask(fd, MIMIC_MESSAGE_CLEAR_COUNTERS, "maple0"), 0);
	assert_shows(fd, "counters/produced", 0);
	assert_shows(fd, "queues/0/level", 1);
	assert_int_equal(command(CONSUMER, CONSUME, 0), 6);

	slot = fake_bus_load_begin(BINDING, CONSUMER, PAGE_MAPLE, AT(CONSUME, 0), 4);
	assert_true(fake_bus_waits(slot));
	assert_int_equal(ask(fd, MIMIC_MESSAGE_RESET, "maple0"), 0);
	assert_int_equal(fake_bus_status(slot, &data), 0);
	assert_int_equal(data, 0);
	assert_shows(fd, "queues/0/allocated", 0);
	assert_listed(fd);
	assert_int_equal(command(PRODUCER, INIT, WORDS_32), 2);
	assert_shows(fd, "queues/0/allocated", 1);
	close(fd);
}

static void a_stranger_may_look_at_a_device_that_it_has_by_the_bus_and_change_nothing(void **state)
{
	const struct mimic_bus_request open_it = {
		.kind = MIMIC_BUS_REQUEST_OPEN, .device = 10, .binding = BINDING, .process = 7,
		.pid = getpid(), .uid = 54321,
	};
	struct json_object *tree = NULL;
	int fd;

	(void)state;
	fake_bus_serve();
	assert_int_equal(fake_bus_status(fake_bus_put(&open_it), NULL), 0);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CONNECT, 0, BINDING, 0), 0);
	fd = fake_bus.connected;
	fake_bus_greet(fd);
	assert_int_equal(ask_json(fd, "maple0", &tree), 0);
	assert_int_equal(json_object_get_int64(value_at(tree, "counters/produced")), 0);
	json_object_put(tree);
	assert_int_equal(ask_json(fd, "maple1", &tree), -EPERM);
	assert_int_equal(ask(fd, MIMIC_MESSAGE_RESET, "maple0"), -EPERM);
	assert_int_equal(ask(fd, MIMIC_MESSAGE_CLEAR_COUNTERS, "maple0"), -EPERM);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(state_reset_and_clear_counters_reach_a_device_that_came_by_the_bus),
		TEST(a_stranger_may_look_at_a_device_that_it_has_by_the_bus_and_change_nothing),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
