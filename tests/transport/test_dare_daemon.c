/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* DARE and mimicd: several programs on one device, their ends, their memory, the list, devices that come and go. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "libmimic/daemon/client.h"
#include "mimic/maple_registers.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/lib/dare_context.h"

#define CONTEXTS 8	/* of a device; the default */
#define KILLS 40

static struct served served = { .dares = 1 };
static const struct mimic_options options = {
	.transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket,
};

static struct mimic_device *open_or_fail(const char *name)
{
	struct mimic_device *device = NULL;

	assert_int_equal(mimic_device_open(&device, name, &options), 0);
	return device;
}

/* Runs `work` in a process of its own. */
static pid_t start_child(int (*work)(void))
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		alarm(60);
		_exit(work());
	}
	assert_true(child > 0);
	return child;
}

static void expect_success(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* --- several programs -------------------------------------------------------- */

static int multiply_with_m(void)
{
	struct tile a, b, c, before, expected;
	struct mimic_device *device;
	unsigned int m = (unsigned int)getpid() % 16 + 1;

	if (mimic_device_open(&device, "dare0", &options))
		return 1;
	context_dispatch(device, WORD_MCFG, CSR_M, m);
	for (unsigned int i = 0; i < 300; i++) {
		tile_fill(&a, i + m);
		tile_fill(&b, 3 * i);
		tile_fill(&c, 5 * i);
		before = c;
		expected = c;
		tile_multiply(&expected, &a, &b);
		/* mld has left rows from M on of b, which are columns of the product, 0. */
		for (unsigned int row = 0; row < m; row++)
			memcpy(&expected.at[row][m], &before.at[row][m], (16 - m) * 4);
		context_multiply(device, &c, &a, &b);
		if (memcmp(&c, &expected, m * 64) || memcmp(c.at[m], before.at[m], (16 - m) * 64))
			return 2;
	}
	mimic_device_close(device);
	return 0;
}

static void programs_on_one_device_have_registers_of_their_own(void **state)
{
	pid_t children[6];

	(void)state;
	for (unsigned int i = 0; i < 6; i++)
		children[i] = start_child(multiply_with_m);
	for (unsigned int i = 0; i < 6; i++)
		expect_success(children[i]);
}

static int hold_all(void)
{
	struct mimic_device *device;

	for (unsigned int i = 0; i < CONTEXTS; i++) {
		int error = mimic_device_open(&device, "dare0", &options);

		/* The parent looks whether all are taken and has one for a moment. */
		for (; error == -EBUSY; error = mimic_device_open(&device, "dare0", &options))
			test_sleep_ms(1);
		if (error)
			return 1;
	}
	pause();
	return 2;
}

static int open_error(void)
{
	struct mimic_device *device;
	int error = mimic_device_open(&device, "dare0", &options);

	if (!error)
		mimic_device_close(device);
	return error;
}

/* Waits for the daemon to hear of it. */
static bool becomes(int error)
{
	for (unsigned int i = 0; i < 500; i++) {
		if (open_error() == error)
			return true;
		test_sleep_ms(10);
	}
	return false;
}

static void contexts_of_another_program_are_busy_until_it_ends(void **state)
{
	pid_t child = start_child(hold_all);

	(void)state;
	assert_true(becomes(-EBUSY));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_true(becomes(0));
}

/* Streams of everything, to and from memory that is shared and memory that is not. */
static int stream_for_ever(void)
{
	struct mimic_device *devices[3];
	struct tile *tiles = aligned_alloc(64, 4 * sizeof(*tiles)), *shared;

	for (unsigned int i = 0; i < 3; i++) {
		if (mimic_device_open(&devices[i], "dare0", &options))
			return 1;
	}
	shared = mimic_memory_alloc(devices[0], 4 * sizeof(*shared));
	memset(tiles, 0, 4 * sizeof(*tiles));
	for (unsigned int i = 0; shared; i++) {
		struct tile *where = i & 1 ? tiles : shared;

		context_multiply(devices[i % 3], &where[0], &where[1], &where[2]);
		if (i % 7 == 0)
			mimic_device_close(devices[2]);
		if (i % 7 == 0 && mimic_device_open(&devices[2], "dare0", &options))
			return 2;
	}
	return 3;
}

static void a_program_that_is_killed_anywhere_leaves_nothing_behind(void **state)
{
	unsigned int seed = 1;
	int descriptors;

	(void)state;
	assert_int_equal(open_error(), 0);
	descriptors = served_descriptors(&served);
	for (unsigned int i = 0; i < KILLS; i++) {
		pid_t children[2] = { start_child(stream_for_ever), start_child(stream_for_ever) };

		seed = seed * 1103515245u + 12345u;
		usleep(seed / 65536 % 20000);
		kill(children[0], SIGKILL);
		usleep(seed / 256 % 2000);
		kill(children[1], SIGKILL);
		for (unsigned int j = 0; j < 2; j++) {
			int status;

			waitpid(children[j], &status, 0);
			assert_true(WIFSIGNALED(status));
		}
	}
	assert_true(becomes(0));
	assert_int_equal(served_await_descriptors(&served, descriptors), descriptors);
	for (unsigned int i = 0; i < 3; i++) {
		pid_t child = start_child(hold_all);

		assert_true(becomes(-EBUSY));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		assert_true(becomes(0));
	}
}

/* Loads that take a system call each, posted far ahead. */
static int load_for_ever(void)
{
	static uint64_t words[3999];
	static struct tile tile;
	struct mimic_device *device;

	if (mimic_device_open(&device, "dare0", &options))
		return 1;
	for (unsigned int i = 0; i < 3999; i += 3) {
		words[i] = WORD_MLD(i % 8);
		words[i + 1] = address_of(&tile);
		words[i + 2] = 64;
	}
	for (;;)
		context_post(device, words, 3999);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void a_busy_program_does_not_hold_up_another(void **state)
{
	pid_t child = start_child(load_for_ever);
	struct mimic_device *device = open_or_fail("dare0");
	uint64_t shortest = UINT64_MAX;

	(void)state;
	test_sleep_ms(50);
	for (unsigned int i = 0; i < 50; i++) {
		uint64_t start = now_ns();

		context_load(device, DARE_STATUS);
		if (now_ns() - start < shortest)
			shortest = now_ns() - start;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	mimic_device_close(device);
	/*
	 * A turn is about 100 us; a ring of such loads would be hundreds of milliseconds. The shortest, and
	 * so far from both: the machine is shared, and a helper reads the other program's memory.
	 */
	assert_true(shortest < 20000000);
}

/* --- memory --------------------------------------------------------------------- */

static int64_t number_in_session(const char *key)
{
	struct json_object *list, *sessions, *value;
	int64_t number = -1;
	char *text;

	assert_int_equal(mimic_daemon_list(served.socket, &text), 0);
	list = json_tokener_parse(text);
	assert_true(json_object_object_get_ex(list, "sessions", &sessions));
	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		struct json_object *session = json_object_array_get_idx(sessions, i);

		json_object_object_get_ex(session, "pid", &value);
		if (json_object_get_int(value) != getpid())
			continue;
		json_object_object_get_ex(session, key, &value);
		number = json_object_get_int64(value);
	}
	json_object_put(list);
	free(text);
	return number;
}

static void shared_memory_is_reached_without_a_system_call(void **state)
{
	struct mimic_device *device = open_or_fail("dare0");
	struct tile *tiles = mimic_memory_alloc(device, 3 * sizeof(*tiles));
	struct tile expected;
	int64_t before;

	(void)state;
	assert_non_null(tiles);
	tile_fill(&tiles[1], 1);
	tile_fill(&tiles[2], 2);
	expected = tiles[0];
	tile_multiply(&expected, &tiles[1], &tiles[2]);
	before = number_in_session("remote_reads");
	context_multiply(device, &tiles[0], &tiles[1], &tiles[2]);
	assert_memory_equal(&tiles[0], &expected, sizeof(expected));
	assert_int_equal(number_in_session("remote_reads"), before);
	assert_int_equal(mimic_memory_free(device, tiles), 0);
	mimic_device_close(device);
}

static void rows_of_one_instruction_may_lie_in_shared_and_other_memory(void **state)
{
	struct mimic_device *device = open_or_fail("dare0");
	struct tile *shared = mimic_memory_alloc(device, 2 * sizeof(*shared));
	struct tile own, expected, out = { 0 };
	_Alignas(64) uint64_t where[16][8] = { 0 };	/* no row crosses a page: it would be two */
	/* mgather m2 by the addresses in m1; mscatter m2 by those in m1 */
	const uint32_t mgather = 0x3400082bu | 1u << 18 | 2u << 7;
	const uint32_t mscatter = 0x3c00082bu | 1u << 18 | 2u << 21;
	int64_t before;

	(void)state;
	assert_non_null(shared);
	tile_fill(&own, 3);
	tile_fill(&shared[0], 4);
	for (unsigned int i = 0; i < 16; i++) {
		const struct tile *from = i % 3 ? &shared[0] : &own;

		where[i][0] = address_of(from->at[i]);
		memcpy(expected.at[i], from->at[i], 64);
	}
	before = number_in_session("remote_reads");
	context_dispatch(device, WORD_MLD(1), address_of(where), 64);
	context_dispatch(device, mgather, 0, 0);
	assert_int_equal(context_fence(device) & 7, 0);
	/* 16 rows of addresses on the stack, and 6 of the tile there. */
	assert_int_equal(number_in_session("remote_reads") - before, 22);
	context_dispatch(device, WORD_MST(2), address_of(&out), 64);
	assert_int_equal(context_fence(device) & 7, 0);
	assert_memory_equal(&out, &expected, sizeof(expected));
	memset(&out, 0, sizeof(out));
	memset(&shared[1], 0, sizeof(shared[1]));
	for (unsigned int i = 0; i < 16; i++)
		where[i][0] = address_of(i % 2 ? shared[1].at[i] : out.at[i]);
	context_dispatch(device, WORD_MLD(1), address_of(where), 64);
	context_dispatch(device, mscatter, 0, 0);
	assert_int_equal(context_fence(device) & 7, 0);
	for (unsigned int i = 0; i < 16; i++)
		assert_memory_equal(i % 2 ? shared[1].at[i] : out.at[i], expected.at[i], 64);
	assert_true(out.at[1][0] == 0 && shared[1].at[2][0] == 0);
	assert_int_equal(mimic_memory_free(device, shared), 0);
	mimic_device_close(device);
}

/* As another user, whose memory the daemon does not read. */
static int work_as_another_user(void)
{
	struct mimic_device *device;
	struct tile *shared, own = { 0 };

	if (setgid(65534) || setuid(65534) || mimic_device_open(&device, "dare0", &options))
		return 1;
	context_dispatch(device, WORD_MLD(0), address_of(&own), 64);
	if (!(context_fence(device) & DARE_STATUS_ERROR) || context_load(device, DARE_ERROR) != DARE_ERROR_LOAD)
		return 2;
	context_store(device, DARE_ERROR, 0);
	context_dispatch(device, WORD_MST(0), address_of(&own), 64);
	if (!(context_fence(device) & DARE_STATUS_ERROR) || context_load(device, DARE_ERROR) != DARE_ERROR_STORE)
		return 3;
	context_store(device, DARE_ERROR, 0);
	shared = mimic_memory_alloc(device, sizeof(*shared));
	if (!shared)
		return 4;
	context_dispatch(device, WORD_MLD(0), address_of(shared), 64);
	return context_fence(device) & DARE_STATUS_ERROR ? 5 : 0;
}

static void memory_of_another_user_is_reached_only_where_it_is_shared(void **state)
{
	(void)state;
	if (geteuid()) {
		print_message("needs root: another user's process\n");
		skip();
	}
	expect_success(start_child(work_as_another_user));
}

/* --- the list, devices that come and go ------------------------------------------- */

static struct json_object *find_device(struct json_object *list, const char *name)
{
	struct json_object *devices, *value;

	assert_true(json_object_object_get_ex(list, "devices", &devices));
	for (size_t i = 0; i < json_object_array_length(devices); i++) {
		struct json_object *device = json_object_array_get_idx(devices, i);

		json_object_object_get_ex(device, "name", &value);
		if (!strcmp(json_object_get_string(value), name))
			return device;
	}
	return NULL;
}

static int64_t number_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	assert_true(json_object_object_get_ex(object, key, &value));
	return json_object_get_int64(value);
}

static size_t count_users(void)
{
	struct json_object *list, *users;
	size_t count;
	char *text;

	assert_int_equal(mimic_daemon_list(served.socket, &text), 0);
	list = json_tokener_parse(text);
	assert_true(json_object_object_get_ex(find_device(list, "dare0"), "users", &users));
	count = json_object_array_length(users);
	json_object_put(list);
	free(text);
	return count;
}

static void the_list_shows_each_user_of_a_device_with_its_counters(void **state)
{
	struct json_object *list, *device, *users, *user, *counters;
	struct mimic_device *one, *two;
	struct tile a, b, c = { 0 };
	char *text;

	(void)state;
	/* The daemon hears a little later of programs that were killed. */
	for (unsigned int i = 0; i < 500 && count_users(); i++)
		test_sleep_ms(10);
	one = open_or_fail("dare0");
	two = open_or_fail("dare0");
	tile_fill(&a, 1);
	tile_fill(&b, 2);
	context_multiply(two, &c, &a, &b);
	context_multiply(two, &c, &a, &b);
	assert_int_equal(mimic_daemon_list(served.socket, &text), 0);
	list = json_tokener_parse(text);
	device = find_device(list, "dare0");
	assert_non_null(device);
	assert_int_equal(number_of(device, "contexts"), CONTEXTS);
	assert_true(json_object_object_get_ex(device, "users", &users));
	assert_int_equal(json_object_array_length(users), 2);
	for (unsigned int i = 0; i < 2; i++) {
		user = json_object_array_get_idx(users, i);
		assert_int_equal(number_of(user, "pid"), getpid());
		assert_int_equal(number_of(user, "context"), i);
		assert_true(json_object_object_get_ex(user, "counters", &counters));
		assert_int_equal(number_of(counters, "mma"), 2 * i);
		assert_int_equal(number_of(counters, "macs_used"), 2 * i * 16 * 16 * 16);
	}
	json_object_put(list);
	free(text);
	mimic_device_close(one);
	mimic_device_close(two);
}

static void devices_of_a_kind_are_added_and_removed_while_in_use(void **state)
{
	struct mimic_device *stays = open_or_fail("dare0"), *goes;
	struct mimic_access fence = { .offset = DARE_FENCE, .size = 8 };
	char name[MIMIC_NAME_MAX];
	struct tile a, out = { 0 };

	(void)state;
	assert_int_equal(mimic_daemon_add(served.socket, "pear", name), -ENOENT);
	assert_int_equal(mimic_daemon_add(served.socket, "dare", name), 0);
	assert_string_equal(name, "dare1");
	goes = open_or_fail("dare1");
	context_dispatch(goes, WORD_MCFG, CSR_M, 4);
	assert_int_equal(context_load(goes, DARE_MATRIX_M), 4);
	assert_int_equal(mimic_daemon_remove(served.socket, "dare1"), 0);
	assert_int_equal(mimic_daemon_remove(served.socket, "dare1"), -ENODEV);
	assert_int_equal(mimic_device_access(goes, &fence), -ENODEV);
	mimic_device_close(goes);
	tile_fill(&a, 9);
	context_dispatch(stays, WORD_MLD(0), address_of(&a), 64);
	context_dispatch(stays, WORD_MST(0), address_of(&out), 64);
	assert_int_equal(context_fence(stays) & 7, 0);
	assert_memory_equal(&out, &a, sizeof(a));
	mimic_device_close(stays);
}

static void maple_and_dare_work_side_by_side_in_one_program(void **state)
{
	struct mimic_device *dare = open_or_fail("dare0"), *maple = open_or_fail("maple0");
	struct tile a, b, c = { 0 }, expected = { 0 };
	struct mimic_access access = { .size = 4, .offset = MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0) };

	(void)state;
	tile_fill(&a, 1);
	tile_fill(&b, 2);
	tile_multiply(&expected, &a, &b);
	assert_int_equal(mimic_device_access(maple, &access), 0);
	assert_int_equal(access.data >> 24, 1);
	context_multiply(dare, &c, &a, &b);
	assert_memory_equal(&c, &expected, sizeof(c));
	mimic_device_close(maple);
	mimic_device_close(dare);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_on_one_device_have_registers_of_their_own),
		cmocka_unit_test(contexts_of_another_program_are_busy_until_it_ends),
		cmocka_unit_test(a_program_that_is_killed_anywhere_leaves_nothing_behind),
		cmocka_unit_test(a_busy_program_does_not_hold_up_another),
		cmocka_unit_test(shared_memory_is_reached_without_a_system_call),
		cmocka_unit_test(rows_of_one_instruction_may_lie_in_shared_and_other_memory),
		cmocka_unit_test(memory_of_another_user_is_reached_only_where_it_is_shared),
		cmocka_unit_test(the_list_shows_each_user_of_a_device_with_its_counters),
		cmocka_unit_test(devices_of_a_kind_are_added_and_removed_while_in_use),
		cmocka_unit_test(maple_and_dare_work_side_by_side_in_one_program),
	};
	int failed;

	if (!served_start(&served, 1, true))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	failed += served_end(&served, SIGTERM) != 0;
	served_clean(&served);
	return failed;
}
