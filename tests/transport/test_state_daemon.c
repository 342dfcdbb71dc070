/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* STATE, RESET and CLEAR_COUNTERS, asked by hand of a daemon in this process. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "daemon/clients/internal.h"
#include "daemon/clients/session.h"
#include "daemon/loop/log.h"
#include "daemon/server.h"
#include "libmimic/base/clock.h"
#include "libmimic/base/state_json.h"
#include "mimic/dare_isa.h"
#include "mimic/dare_registers.h"
#include "mimic/virgo_commands.h"
#include "mimic/virgo_registers.h"
#include "tests/contract/maple/numbers.h"
#include "tests/lib/daemon_fixture.h"

#define STRANGER 54321u	/* a user, neither root nor the daemon's */
#define MCFG (0xfe00002bu | 11u << 20 | 10u << 15)

struct client {
	int socket;
	struct mimicd_session *session;
	struct raw_lane lane;
};

static struct mimicd_server *server;
static pthread_t thread;

static void *serve(void *argument)
{
	(void)argument;
	mimicd_server_run(server);
	return NULL;
}

static void go_on(void)
{
	eventfd_t value;

	eventfd_read(server->loop.stop_fd, &value);
	server->loop.is_stopping = false;
	assert_int_equal(pthread_create(&thread, NULL, serve, NULL), 0);
}

/* The models are this thread's to look at. */
static void pause_server(void)
{
	mimicd_server_stop(server);
	pthread_join(thread, NULL);
}

static int start(void **state)
{
	struct mimicd_options options = { .clients.listen_fd = -1 };

	(void)state;
	alarm(200);
	mimic_config_default(&options.settings);
	mimicd_log_set_level(MIMICD_LOG_ERROR);
	assert_int_equal(mimicd_server_create(&server, &options), 0);
	go_on();
	return 0;
}

static int stop(void **state)
{
	(void)state;
	pause_server();
	mimicd_server_destroy(server);
	return 0;
}

/* --- a client ---------------------------------------------------------------------- */

static void connect_client(struct client *client, uid_t uid, pid_t pid)
{
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = MIMIC_PROTOCOL_VERSION };
	struct mimic_hello_reply reply;
	int ends[2], event_fd;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
	pause_server();
	assert_int_equal(mimicd_session_create(server->clients, ends[0]), 0);
	client->session = server->clients->sessions;
	client->session->client.program.uid = uid;
	if (pid)
		client->session->client.program.pid = pid;
	go_on();
	client->socket = ends[1];
	assert_int_equal(raw_request(client->socket, &hello, sizeof(hello), MIMIC_MESSAGE_HELLO, -1, &reply,
				     sizeof(reply), &event_fd), 0);
	assert_int_equal(raw_lane(client->socket, 0, 0, &client->lane), 0);
	client->lane.event_fd = event_fd;
}

static void end_client(struct client *client)
{
	close(client->lane.event_fd);
	raw_lane_unmap(&client->lane);
	close(client->socket);
}

static uint32_t open_device(const struct client *client, const char *name)
{
	uint32_t number;

	assert_int_equal(raw_open(client->socket, name, &number), 0);
	return number;
}

static int ask(const struct client *client, enum mimic_message_type type, const char *name)
{
	struct mimic_open message = { 0 };

	strcpy(message.name, name);
	return raw_request(client->socket, &message, sizeof(message), type, -1, NULL, 0, NULL);
}

static int ask_state(const struct client *client, const char *name, uint32_t flags,
		     struct json_object **tree)
{
	struct mimic_state_request message = { .flags = flags };
	struct mimic_list_reply reply;
	int fd = -1, error;
	char *text;

	strcpy(message.name, name);
	error = raw_request(client->socket, &message, sizeof(message), MIMIC_MESSAGE_STATE, -1, &reply,
			    sizeof(reply), &fd);
	*tree = NULL;
	if (error)
		return error;
	text = calloc(1, reply.size + 1);
	assert_int_equal(pread(fd, text, reply.size, 0), (ssize_t)reply.size);
	close(fd);
	*tree = json_tokener_parse(text);
	assert_non_null(*tree);
	free(text);
	return 0;
}

static struct json_object *state_of(const struct client *client, const char *name)
{
	struct json_object *tree;

	assert_int_equal(ask_state(client, name, 0, &tree), 0);
	return tree;
}

static void post(struct client *client, enum mimic_command_kind kind, uint32_t device, unsigned int page,
		 unsigned int offset, unsigned int size, uint64_t value)
{
	const uint64_t words[] = {
		mimic_command_pack(&(struct mimic_command){ .kind = kind, .device = (uint8_t)device,
			.page = (uint8_t)page, .size = (uint8_t)size, .offset = (uint16_t)offset, .count = 1 }),
		value,
	};

	raw_post(&client->lane, words, kind == MIMIC_COMMAND_LOAD ? 1 : 2);
}

static void store(struct client *client, uint32_t device, unsigned int page, unsigned int offset,
		  unsigned int size, uint64_t value)
{
	uint64_t answer;

	post(client, MIMIC_COMMAND_STORE_ACKNOWLEDGED, device, page, offset, size, value);
	assert_true(raw_answer(&client->lane, &answer));
}

static uint64_t answer_of(struct client *client)
{
	uint64_t answer;

	assert_true(raw_answer(&client->lane, &answer));
	return answer;
}

static uint64_t load(struct client *client, uint32_t device, unsigned int page, unsigned int offset,
		     unsigned int size)
{
	post(client, MIMIC_COMMAND_LOAD, device, page, offset, size, 0);
	return answer_of(client);
}

static uint32_t open_maple(struct client *client, const char *name)
{
	uint32_t device = open_device(client, name);

	assert_int_equal(load(client, device, PAGE_MAPLE, AT(INIT, WORDS_32), 4), 2);
	assert_int_equal(load(client, device, PAGE_MAPLE, AT(OPEN_PRODUCER, 0), 4) & 3, 2);
	assert_int_equal(load(client, device, PAGE_MAPLE, AT(OPEN_CONSUMER, 0), 4) & 1, 1);
	return device;
}

static struct json_object *at_path(struct json_object *tree, const char *path)
{
	char copy[128], *rest = copy;

	strcpy(copy, path);
	for (char *name = strsep(&rest, "/"); name; name = strsep(&rest, "/"))
		assert_true(json_object_object_get_ex(tree, name, &tree));
	return tree;
}

static uint64_t number_at(struct json_object *tree, const char *path)
{
	return json_object_get_uint64(json_object_object_get(at_path(tree, path), "value"));
}

static bool says(struct json_object *tree, const char *path, const char *text)
{
	return !strcmp(json_object_get_string(json_object_object_get(at_path(tree, path), "value")), text);
}

/* --- the tree ------------------------------------------------------------------------- */

static struct json_object *look_at_model(const char *name)
{
	struct mimicd_instance *instance;
	struct json_object *tree;

	pause_server();
	assert_int_equal(mimicd_instance_find(&server->engine, name, &instance), 0);
	tree = mimic_state_json(instance->kind, instance->model, mimic_now(), MIMIC_STATE_JSON_BYTES);
	go_on();
	return tree;
}

/*
 * Compares the values of the message with those of the model, read before and after it; values
 * that change by themselves (times) only have to be there. Returns how many were compared.
 */
static unsigned int compare(struct json_object *before, struct json_object *wire, struct json_object *after)
{
	unsigned int count = 0;

	assert_int_equal(json_object_object_length(before), json_object_object_length(wire));
	json_object_object_foreach(before, name, value) {
		struct json_object *there, *later;

		assert_true(json_object_object_get_ex(wire, name, &there));
		assert_true(json_object_object_get_ex(after, name, &later));
		if (json_object_is_type(value, json_type_object)) {
			count += compare(value, there, later);
		} else if (json_object_equal(value, later)) {
			assert_true(json_object_equal(value, there));
			count++;
		}
	}
	return count;
}

static void expect_tree(const struct client *client, const char *name)
{
	struct json_object *before = look_at_model(name), *wire, *after;

	assert_int_equal(ask_state(client, name, MIMIC_STATE_WITH_BYTES, &wire), 0);
	after = look_at_model(name);
	assert_true(compare(before, wire, after) > 100);
	json_object_put(before);
	json_object_put(wire);
	json_object_put(after);
}

static void the_tree_by_the_wire_is_what_the_model_shows(void **state)
{
	struct client client;
	uint32_t maple, dare, virgo;

	(void)state;
	connect_client(&client, getuid(), 0);
	maple = open_maple(&client, "maple1");
	dare = open_device(&client, "dare0");
	virgo = open_device(&client, "virgo0");
	for (unsigned int i = 0; i < 5; i++)
		store(&client, maple, PAGE_MAPLE, AT(PRODUCE, 0), 4, 100 + i);
	store(&client, dare, 0, DARE_RS1, 8, DARE_CSR_MATRIX_M);
	store(&client, dare, 0, DARE_RS2, 8, 5);
	store(&client, dare, 0, DARE_INSTRUCTION, 8, MCFG);
	store(&client, virgo, VIRGO_PAGE_UNITS, VIRGO_INSTRUCTION, 4, VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_FLUSH));
	load(&client, virgo, VIRGO_PAGE_UNITS, VIRGO_FENCE, 8);
	expect_tree(&client, "maple1");
	expect_tree(&client, "maple0");
	expect_tree(&client, "dare0");
	expect_tree(&client, "virgo0");
	end_client(&client);
}

static void memories_come_when_they_are_asked_for(void **state)
{
	struct json_object *tree;
	struct client client;

	(void)state;
	connect_client(&client, getuid(), 0);
	tree = state_of(&client, "virgo0");
	assert_null(json_object_object_get(at_path(tree, "shared_memory"), "value"));
	assert_int_equal(json_object_get_int(at_path(tree, "shared_memory/size")), 128 << 10);
	json_object_put(tree);
	assert_int_equal(ask_state(&client, "virgo0", MIMIC_STATE_WITH_BYTES, &tree), 0);
	assert_int_equal(json_object_get_string_len(json_object_object_get(at_path(tree, "shared_memory"),
									   "value")), 256 << 10);
	json_object_put(tree);
	assert_int_equal(ask_state(&client, "virgo0", 2, &tree), -EINVAL);
	end_client(&client);
}

/* One thread produces and consumes, so each word is counted in, in the queue, or counted out. */
static void *work(void *argument)
{
	struct client *client = argument;
	const uint32_t device = 0;	/* the first that it opened */

	for (unsigned int i = 0; i < 60; i++) {
		for (unsigned int n = 0; n < 20; n++)
			post(client, MIMIC_COMMAND_STORE, device, PAGE_MAPLE, AT(PRODUCE, 0), 4, i + n);
		for (unsigned int n = 0; n < 20; n++) {
			uint64_t word = load(client, device, PAGE_MAPLE, AT(CONSUME, 0), 4);

			if (word != i + n)
				return "a wrong word";
		}
	}
	return NULL;
}

static void a_look_is_of_one_moment_under_load_and_disturbs_nothing(void **state)
{
	struct client client, looker;
	pthread_t worker;
	void *complaint;

	(void)state;
	connect_client(&looker, getuid(), 0);
	connect_client(&client, getuid(), 0);
	assert_int_equal(open_maple(&client, "maple0"), 0);
	assert_int_equal(pthread_create(&worker, NULL, work, &client), 0);
	for (unsigned int i = 0; i < 200; i++) {
		struct json_object *tree = state_of(&looker, "maple0");

		assert_int_equal(number_at(tree, "counters/produced") - number_at(tree, "counters/consumed"),
				 number_at(tree, "queues/0/level"));
		json_object_put(tree);
	}
	pthread_join(worker, &complaint);
	assert_null(complaint);
	end_client(&client);
	end_client(&looker);
}

/* --- names and permissions ------------------------------------------------------------------ */

static void names_are_answered_as_the_manual_says(void **state)
{
	static const struct {
		const char *name;
		int error;
	} names[] = {
		{ "maple0", 0 }, { "maple7", -ENODEV }, { "pear0", -ENOENT }, { "maple", -ENOENT }, { "", -ENOENT },
		{ "maple@0", -ENOTUNIQ }, { "maple@0:4001", 0 }, { "maple@0:4002", 0 }, { "maple@0:4003", -ENODEV },
		{ "maple@0:", -ENODEV }, { "maple@0:x", -ENODEV }, { "maple@0:0", -ENODEV }, { "maple@1", 0 },
		{ "maple@1:4001", 0 }, { "maple@2", -ENODEV }, { "virgo@0", -ENOENT }, { "maple@", -ENODEV },
	};
	struct client first, second;

	(void)state;
	connect_client(&first, getuid(), 4001);
	connect_client(&second, getuid(), 4002);
	open_device(&first, "maple@0");
	open_device(&first, "maple@1");
	open_device(&second, "maple@0");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct json_object *tree;

		assert_int_equal(ask_state(&first, names[i].name, 0, &tree), names[i].error);
		json_object_put(tree);
		assert_int_equal(ask(&first, MIMIC_MESSAGE_CLEAR_COUNTERS, names[i].name), names[i].error);
		assert_int_equal(ask(&first, MIMIC_MESSAGE_RESET, names[i].name), names[i].error);
	}
	end_client(&first);
	end_client(&second);
}

static void expect_state(const struct client *client, const char *name, int error)
{
	struct json_object *tree;

	assert_int_equal(ask_state(client, name, 0, &tree), error);
	json_object_put(tree);
}

static void other_users_see_devices_that_only_they_use(void **state)
{
	struct client stranger, other, owner;

	(void)state;
	connect_client(&stranger, STRANGER, 4001);
	connect_client(&other, STRANGER + 1, 4002);
	connect_client(&owner, getuid(), 4003);
	open_device(&stranger, "maple0");
	open_device(&stranger, "maple@0");
	open_device(&other, "maple@0");
	open_device(&stranger, "dare0");
	expect_state(&stranger, "maple0", 0);
	expect_state(&stranger, "maple@0", 0);
	expect_state(&stranger, "maple@0:4002", -EPERM);
	expect_state(&stranger, "maple1", -EPERM);
	expect_state(&stranger, "dare0", 0);
	expect_state(&other, "maple0", -EPERM);
	expect_state(&owner, "maple0", 0);
	expect_state(&owner, "maple@0", -ENOTUNIQ);
	expect_state(&owner, "maple@0:4002", 0);
	/* Another context of it shows in the same tree. */
	open_device(&other, "dare0");
	expect_state(&stranger, "dare0", -EPERM);
	expect_state(&owner, "dare0", 0);
	end_client(&stranger);
	end_client(&other);
	end_client(&owner);
}

static void only_users_that_may_stop_the_daemon_reset(void **state)
{
	struct json_object *tree;
	struct client stranger;
	uint32_t device;

	(void)state;
	connect_client(&stranger, STRANGER, 0);
	device = open_maple(&stranger, "maple0");
	store(&stranger, device, PAGE_MAPLE, AT(PRODUCE, 0), 4, 5);
	assert_int_equal(ask(&stranger, MIMIC_MESSAGE_RESET, "maple0"), -EPERM);
	assert_int_equal(ask(&stranger, MIMIC_MESSAGE_CLEAR_COUNTERS, "maple0"), -EPERM);
	tree = state_of(&stranger, "maple0");
	assert_int_equal(number_at(tree, "counters/produced"), 1);
	json_object_put(tree);
	end_client(&stranger);
}

/* --- resets and counters -------------------------------------------------------------------- */

static void cleared_counters_begin_at_0_and_queues_keep_their_words(void **state)
{
	struct json_object *tree;
	struct client client;
	uint32_t device;

	(void)state;
	connect_client(&client, getuid(), 0);
	device = open_maple(&client, "maple0");
	store(&client, device, PAGE_MAPLE, AT(PRODUCE, 0), 4, 5);
	assert_int_equal(ask(&client, MIMIC_MESSAGE_CLEAR_COUNTERS, "maple0"), 0);
	tree = state_of(&client, "maple0");
	assert_int_equal(number_at(tree, "counters/produced"), 0);
	assert_int_equal(number_at(tree, "queues/0/level"), 1);
	json_object_put(tree);
	assert_int_equal(load(&client, device, PAGE_MAPLE, AT(CONSUME, 0), 4), 5);
	end_client(&client);
}

static void a_reset_answers_waiters_with_0_and_leaves_the_client_the_device(void **state)
{
	struct client client, manager;
	uint32_t device;

	(void)state;
	connect_client(&client, getuid(), 0);
	connect_client(&manager, getuid(), 0);
	device = open_maple(&client, "maple0");
	post(&client, MIMIC_COMMAND_LOAD, device, PAGE_MAPLE, AT(CONSUME, 0), 4, 0);
	for (bool waits = false; !waits;) {
		struct json_object *tree = state_of(&manager, "maple0");

		waits = number_at(tree, "counters/load_waits") == 1;
		json_object_put(tree);
	}
	assert_int_equal(ask(&manager, MIMIC_MESSAGE_RESET, "maple0"), 0);
	assert_int_equal(answer_of(&client), 0);
	assert_int_equal(load(&client, device, PAGE_MAPLE, AT(INIT, WORDS_32), 4), 2);
	assert_int_equal(load(&client, device, PAGE_MAPLE, AT(OPEN_PRODUCER, 0), 4) & 3, 2);
	end_client(&client);
	end_client(&manager);
}

static void contexts_stay_attached_through_a_reset(void **state)
{
	struct json_object *tree;
	struct client client;
	uint32_t device;

	(void)state;
	connect_client(&client, getuid(), 0);
	device = open_device(&client, "dare0");
	for (unsigned int i = 0; i < 2; i++) {
		store(&client, device, 0, DARE_RS1, 8, DARE_CSR_MATRIX_M);
		store(&client, device, 0, DARE_RS2, 8, 5);
		store(&client, device, 0, DARE_INSTRUCTION, 8, MCFG);
		load(&client, device, 0, DARE_FENCE, 8);
		tree = state_of(&client, "dare0");
		assert_int_equal(number_at(tree, "counters/mcfg"), 1);
		json_object_put(tree);
		assert_int_equal(ask(&client, MIMIC_MESSAGE_RESET, "dare0"), 0);
		tree = state_of(&client, "dare0");
		assert_int_equal(number_at(tree, "counters/mcfg"), 0);
		json_object_put(tree);
	}
	end_client(&client);
}

static void a_reset_ends_the_work_of_a_cluster_and_keeps_its_events(void **state)
{
	struct mimic_event_request events = { .events = VIRGO_EVENT_IDLE(0) };
	int told = eventfd(0, EFD_CLOEXEC);
	struct json_object *tree;
	struct client client;
	eventfd_t value;
	uint32_t device;

	(void)state;
	connect_client(&client, getuid(), 0);
	device = open_device(&client, "virgo0");
	events.device = device;
	assert_int_equal(raw_request(client.socket, &events, sizeof(events), MIMIC_MESSAGE_EVENTFD, told, NULL, 0,
				     NULL), 0);
	for (unsigned int i = 0; i < 50; i++) {
		for (unsigned int n = 0; n < 8; n++)
			post(&client, MIMIC_COMMAND_STORE, device, VIRGO_PAGE_UNITS, VIRGO_INSTRUCTION, 4,
			     VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_FLUSH));
		assert_int_equal(ask(&client, MIMIC_MESSAGE_RESET, "virgo0"), 0);
	}
	load(&client, device, VIRGO_PAGE_UNITS, VIRGO_FENCE, 8);
	assert_int_equal(ask(&client, MIMIC_MESSAGE_RESET, "virgo0"), 0);
	tree = state_of(&client, "virgo0");
	assert_int_equal(number_at(tree, "counters/commands"), 0);
	assert_true(says(tree, "units/0/work/state", "idle") || number_at(tree, "units/0/queue/level") == 0);
	json_object_put(tree);
	store(&client, device, VIRGO_PAGE_UNITS, VIRGO_INSTRUCTION, 4, VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_FLUSH));
	load(&client, device, VIRGO_PAGE_UNITS, VIRGO_FENCE, 8);
	assert_int_equal(eventfd_read(told, &value), 0);
	close(told);
	end_client(&client);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_tree_by_the_wire_is_what_the_model_shows),
		TEST(memories_come_when_they_are_asked_for),
		TEST(a_look_is_of_one_moment_under_load_and_disturbs_nothing),
		TEST(names_are_answered_as_the_manual_says),
		TEST(other_users_see_devices_that_only_they_use),
		TEST(only_users_that_may_stop_the_daemon_reset),
		TEST(cleared_counters_begin_at_0_and_queues_keep_their_words),
		TEST(a_reset_answers_waiters_with_0_and_leaves_the_client_the_device),
		TEST(contexts_stay_attached_through_a_reset),
		TEST(a_reset_ends_the_work_of_a_cluster_and_keeps_its_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
