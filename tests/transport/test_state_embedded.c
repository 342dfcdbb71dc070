/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The socket by which a process shows its embedded devices. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/embedded_fixture.h"

#include <json-c/json.h>

#include "libmimic/base/clock.h"
#include "libmimic/base/state_json.h"
#include "libmimic/daemon/client.h"
#include "libmimic/embedded/embedded.h"
#include "libmimic/embedded/state_socket.h"
#include "mimic/dare_isa.h"
#include "mimic/dare_registers.h"
#include "tests/lib/daemon_fixture.h"

#define MCFG (0xfe00002bu | 11u << 20 | 10u << 15)

static char folder[] = "/tmp/mimic-state-XXXXXX";
static char path[108];
static const struct mimic_options all_kinds = {
	.transport = MIMIC_TRANSPORT_EMBEDDED, .devices = "maple:2,dare:1,virgo:1",
};

static bool is_of_state(const char *task)
{
	char where[64], name[32] = "";
	FILE *file;

	snprintf(where, sizeof(where), "/proc/self/task/%.20s/comm", task);
	file = fopen(where, "re");
	if (file && !fgets(name, sizeof(name), file))
		name[0] = 0;
	if (file)
		fclose(file);
	return !strcmp(name, "mimic-state\n");
}

/* A sanitizer may have threads of its own: those of this name. */
static unsigned int count_threads(void)
{
	DIR *directory = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned int count = 0;

	while ((entry = readdir(directory)))
		count += is_of_state(entry->d_name);
	closedir(directory);
	return count;
}

/* It gives itself the name. */
static bool thread_is_there(void)
{
	for (unsigned int i = 0; i < 500 && !count_threads(); i++)
		test_sleep_ms(2);
	return count_threads() == 1;
}

static bool is_there(void)
{
	return !access(path, F_OK);
}

static struct json_object *state_of(const char *name)
{
	struct json_object *tree;
	char *text = NULL;

	assert_int_equal(mimic_daemon_state(path, name, MIMIC_STATE_WITH_BYTES, &text), 0);
	tree = json_tokener_parse(text);
	free(text);
	assert_non_null(tree);
	return tree;
}

static uint64_t number_at(struct json_object *tree, const char *where)
{
	char copy[128], *rest = copy;

	strcpy(copy, where);
	for (char *name = strsep(&rest, "/"); name; name = strsep(&rest, "/"))
		assert_true(json_object_object_get_ex(tree, name, &tree));
	return json_object_get_uint64(json_object_object_get(tree, "value"));
}

static uint64_t look(const char *name, const char *where)
{
	struct json_object *tree = state_of(name);
	uint64_t value = number_at(tree, where);

	json_object_put(tree);
	return value;
}

/* --- its beginning and end ------------------------------------------------------------ */

static void nothing_is_there_unless_it_is_asked_for(void **state)
{
	const char *const values[] = { NULL, "", "0" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		unsetenv("MIMIC_STATE");
		if (values[i])
			setenv("MIMIC_STATE", values[i], 1);
		device_open(state);
		assert_int_equal(count_threads(), 0);
		device_close(state);
	}
	setenv("MIMIC_STATE", folder, 1);
	assert_int_equal(mimic_embedded_socket_path(getpid(), path, sizeof(path)), 0);
	assert_false(is_there());
}

static void it_is_there_from_the_first_open_on_for_the_owner_only(void **state)
{
	struct stat status;

	device_open(state);
	assert_true(thread_is_there());
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode, S_IFSOCK | 0600);
	device_close(state);
	assert_true(is_there());
	assert_true(thread_is_there());
}

/* Exit status of a child that has done this: 0 if all was right. */
static int expect_child(bool (*check)(void))
{
	int status;
	pid_t child = fork();

	if (!child)
		exit(check() ? 0 : 1);
	waitpid(child, &status, 0);
	return status;
}

static bool child_has_none(void)
{
	char own[108];

	return !mimic_embedded_socket_path(getpid(), own, sizeof(own)) && access(own, F_OK);
}

static char child_path[108];

static __attribute__((unused)) bool child_opens(void)
{
	struct mimic_device *opened;
	char *text = NULL;
	bool answers;

	if (!child_has_none() || mimic_device_open(&opened, "maple0", &embedded_options))
		return false;
	mimic_embedded_socket_path(getpid(), child_path, sizeof(child_path));
	answers = !mimic_daemon_state(child_path, "maple0", 0, &text);
	free(text);
	return answers && thread_is_there();
}

static void a_forked_child_has_its_own_when_it_opens_a_device(void **state)
{
	unsigned int before;

	(void)state;
	assert_int_equal(expect_child(child_has_none), 0);
#ifndef __SANITIZE_THREAD__	/* it refuses threads that begin after such a fork */
	assert_int_equal(expect_child(child_opens), 0);
#endif
	/* Theirs went with them, ours is there. */
	assert_int_equal(look("maple0", "counters/produced"), 0);
	before = 0;
	for (DIR *directory = opendir(folder); directory; directory = NULL) {
		struct dirent *entry;

		while ((entry = readdir(directory)))
			before += entry->d_name[0] != '.';
		closedir(directory);
	}
	assert_int_equal(before, 1);
}

/* --- the state tree ---------------------------------------------------------------------- */

static struct json_object *look_at_model(struct mimic_device *of)
{
	const struct embedded_instance *instance = ((struct embedded_device *)of)->instance;

	return mimic_state_json(instance->kind, instance->model, mimic_now(), MIMIC_STATE_JSON_BYTES);
}

/* Values that the model shows before and after are those of the wire; times are there. */
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

static void the_tree_by_the_socket_is_what_the_model_shows(void **state)
{
	static const char *const names[] = { "maple1", "dare0", "virgo0" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct json_object *before, *wire, *after;
		struct mimic_device *opened;

		assert_int_equal(mimic_device_open(&opened, names[i], &all_kinds), 0);
		before = look_at_model(opened);
		wire = state_of(names[i]);
		after = look_at_model(opened);
		assert_true(compare(before, wire, after) > 100);
		json_object_put(before);
		json_object_put(wire);
		json_object_put(after);
		mimic_device_close(opened);
	}
}

static void the_list_names_devices_and_contexts_that_are_open(void **state)
{
	struct mimic_device *contexts[2];
	struct json_object *root, *devices, *users;
	char *text = NULL;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(mimic_device_open(&contexts[i], "dare0", &all_kinds), 0);
	assert_int_equal(mimic_daemon_list(path, &text), 0);
	root = json_tokener_parse(text);
	free(text);
	assert_int_equal(json_object_get_int(json_object_object_get(root, "pid")), getpid());
	devices = json_object_object_get(root, "devices");
	assert_int_equal(json_object_array_length(devices), 2);	/* and maple0 */
	assert_string_equal(json_object_get_string(json_object_object_get(
		json_object_array_get_idx(devices, 1), "name")), "dare0");
	users = json_object_object_get(json_object_array_get_idx(devices, 1), "users");
	assert_int_equal(json_object_array_length(users), 2);
	json_object_put(root);
	for (size_t i = 0; i < 2; i++)
		mimic_device_close(contexts[i]);
}

static void names_are_answered_as_the_manual_says(void **state)
{
	static const struct {
		const char *name;
		int error;
	} names[] = {
		{ "maple0", 0 }, { "maple1", -ENODEV }, { "pear0", -ENOENT }, { "", -ENOENT }, { "maple", -ENODEV },
		{ "maple0:1", -ENODEV }, { "maple@0", -ENODEV },
	};
	char *text = NULL, own[32];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(mimic_daemon_clear_counters(path, names[i].name), names[i].error);
	snprintf(own, sizeof(own), "maple0:%d", (int)getpid());
	assert_int_equal(mimic_daemon_clear_counters(path, own), 0);
	assert_int_equal(mimic_daemon_state(path, "maple0", 2, &text), -EINVAL);
	assert_int_equal(mimic_daemon_remove(path, "maple0"), -EOPNOTSUPP);
}

static void a_bad_message_ends_the_connection_and_others_are_served(void **state)
{
	struct mimic_open message = { 0 };
	char reply[64];
	int fd, ignored;

	(void)state;
	for (size_t size = 0; size < sizeof(message); size += 8) {
		fd = raw_connect(path);
		raw_header(&message, sizeof(message), MIMIC_MESSAGE_RESET);
		assert_true(raw_send(fd, &message, size ? size : 1, NULL, 0));
		assert_int_equal(raw_receive(fd, reply, sizeof(reply), &ignored), 0);
		close(fd);
	}
	assert_int_equal(look("maple0", "counters/produced"), 0);
}

/* --- while the program works ------------------------------------------------------------- */

static atomic_bool is_over;

static void *work(void *argument)
{
	(void)argument;
	device_open_both(0);
	for (uint64_t n = 0; !is_over; n++) {
		uint32_t got;

		device_post_one(MAPLE_STORE_PRODUCE, 0, 4, n);
		got = device_consume32(0);
		if (got != (uint32_t)n)
			abort();
	}
	return NULL;
}

static void a_look_is_of_one_moment_under_load(void **state)
{
	pthread_t worker;

	(void)state;
	is_over = false;
	assert_int_equal(pthread_create(&worker, NULL, work, NULL), 0);
	for (unsigned int i = 0; i < 100; i++) {
		struct json_object *tree = state_of("maple0");

		assert_int_equal(number_at(tree, "counters/produced") - number_at(tree, "counters/consumed"),
				 number_at(tree, "queues/0/level"));
		json_object_put(tree);
	}
	is_over = true;
	pthread_join(worker, NULL);
}

static void *consume(void *answer)
{
	device_open_both(0);
	*(uint32_t *)answer = device_consume32(0);
	return NULL;
}

static void a_reset_answers_waiters_with_0_and_leaves_the_device(void **state)
{
	uint32_t answer = 99;
	pthread_t waiter;

	(void)state;
	assert_int_equal(pthread_create(&waiter, NULL, consume, &answer), 0);
	while (!look("maple0", "counters/load_waits"))
		test_sleep_ms(5);
	assert_int_equal(mimic_daemon_reset(path, "maple0"), 0);
	pthread_join(waiter, NULL);
	assert_int_equal(answer, 0);
	device_load(MAPLE_LOAD_INIT, SIZE_CODE);
	device_open_both(0);
	device_post_one(MAPLE_STORE_PRODUCE, 0, 4, 7);
	assert_int_equal(device_consume32(0), 7);
	assert_int_equal(look("maple0", "counters/produced"), 1);
	assert_int_equal(mimic_daemon_clear_counters(path, "maple0"), 0);
	assert_int_equal(look("maple0", "counters/produced"), 0);
}

static void store(struct mimic_device *to, unsigned int offset, uint64_t value)
{
	struct mimic_access access = { .offset = offset, .size = 8, .is_write = 1, .data = value };

	assert_int_equal(mimic_device_access(to, &access), 0);
}

static void contexts_stay_attached_through_a_reset(void **state)
{
	struct mimic_device *context;

	(void)state;
	assert_int_equal(mimic_device_open(&context, "dare0", &all_kinds), 0);
	for (unsigned int i = 0; i < 2; i++) {
		store(context, DARE_RS1, DARE_CSR_MATRIX_M);
		store(context, DARE_RS2, 5);
		store(context, DARE_INSTRUCTION, MCFG);
		assert_int_equal(look("dare0", "counters/mcfg"), 1);
		assert_int_equal(mimic_daemon_reset(path, "dare0"), 0);
		assert_int_equal(look("dare0", "counters/mcfg"), 0);
	}
	mimic_device_close(context);
}

static void a_device_whose_lock_is_not_to_be_had_is_busy(void **state)
{
	struct embedded_instance *instance = ((struct embedded_device *)device)->instance;
	char *text = NULL;

	(void)state;
	assert_int_equal(mimic_lock_acquire(&instance->lock, MIMIC_LOCK_HOLDER_MAX - 100), 0);
	assert_int_equal(mimic_daemon_state(path, "maple0", 0, &text), -EBUSY);
	mimic_lock_release(&instance->lock);
	assert_int_equal(look("maple0", "counters/produced"), 0);
}

/* --- in a program that knows nothing of our descriptors ----------------------------------- */

#define OWN_FILES 16

static struct sockaddr_un own_address(unsigned int number)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%.40s/own%u", folder, number);
	return address;
}

static int listen_at(unsigned int number)
{
	struct sockaddr_un address = own_address(number);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1))
		_exit(3);
	return fd;
}

static int open_file(const char *name)
{
	char where[128];
	int fd;

	snprintf(where, sizeof(where), "%.40s/%.20s", folder, name);
	fd = open(where, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (write(fd, "mine\n", 5) != 5)
		_exit(3);
	return fd;
}

static bool is_intact(int fd)
{
	char bytes[16];

	return pread(fd, bytes, sizeof(bytes), 0) == 5 && !memcmp(bytes, "mine\n", 5);
}

/* Connected to its own socket, by a descriptor that stays. */
static void open_and_ask(void)
{
	if (mimic_device_open(&device, "maple0", &embedded_options) || !thread_is_there())
		_exit(4);
	mimic_embedded_socket_path(getpid(), path, sizeof(path));
	if (dup2(raw_connect(path), STDIN_FILENO))
		_exit(4);
	test_sleep_ms(100);
	if (close_range(3, ~0U, 0))
		_exit(4);
}

/* The thread wakes up twice meanwhile: for the client's patience, then for the next client. */
static int closes_all_and_opens_files(void)
{
	int files[OWN_FILES];

	open_and_ask();
	for (size_t i = 0; i < OWN_FILES; i++)
		files[i] = open_file("file");
	test_sleep_ms(2500);
	for (size_t i = 0; i < OWN_FILES; i++) {
		if (!is_intact(files[i]))
			return 5;
	}
	return 0;
}

static int closes_all_and_listens(void)
{
	int sockets[OWN_FILES];

	open_and_ask();
	for (unsigned int i = 0; i < OWN_FILES; i++)
		sockets[i] = listen_at(i);
	for (unsigned int i = 0; i < OWN_FILES; i++) {
		struct sockaddr_un address = own_address(i);

		if (raw_connect(address.sun_path) < 0)
			_exit(3);
		unlink(address.sun_path);
	}
	test_sleep_ms(2500);
	for (size_t i = 0; i < OWN_FILES; i++) {
		if (accept(sockets[i], NULL, NULL) < 0)
			return 5;
	}
	return 0;
}

/* The parent reads the files at the end of the program, so the destructor must not harm them either. */
static int closes_all_and_ends(void)
{
	open_and_ask();
	for (size_t i = 0; i < OWN_FILES; i++)
		open_file("end");
	return 0;
}

static const struct {
	const char *name;
	int (*act)(void);
} programs[] = {
	{ "files", closes_all_and_opens_files },
	{ "listens", closes_all_and_listens },
	{ "ends", closes_all_and_ends },
};

/* A program of its own: it closes only its own files, and SIGALRM ends a hang. */
static int be(const char *name, const char *where)
{
	strcpy(folder, where);
	alarm(30);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (!strcmp(name, programs[i].name))
			return programs[i].act();
	}
	return 2;
}

static int run_program(const char *name)
{
	int status;
	pid_t child;

#ifdef __SANITIZE_THREAD__
	/* It reports these programs: they close a descriptor while another thread uses it. */
	skip();
#endif
	child = fork();

	if (!child) {
		execl("/proc/self/exe", "test", name, folder, NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return status;
}

static bool remove_file(const char *name)
{
	char where[128];
	struct stat status;
	bool is_right;

	snprintf(where, sizeof(where), "%.40s/%.20s", folder, name);
	is_right = !stat(where, &status) && status.st_size == 5;
	unlink(where);
	return is_right;
}

static void a_program_that_closes_all_descriptors_keeps_the_files_it_opens_then(void **state)
{
	(void)state;
	assert_int_equal(run_program("files"), 0);
	assert_true(remove_file("file"));
}

static void a_program_that_closes_all_descriptors_keeps_its_clients(void **state)
{
	(void)state;
	assert_int_equal(run_program("listens"), 0);
}

static void a_program_that_closes_all_descriptors_ends(void **state)
{
	(void)state;
	assert_int_equal(run_program("ends"), 0);
	assert_true(remove_file("end"));
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void without_descriptors_for_a_client_the_thread_rests_and_then_serves_it(void **state)
{
	struct rlimit before, few;
	struct mimic_message list;
	struct mimic_list_reply reply;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int client = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), ignored = -1;
	double used;

	(void)state;
	strcpy(address.sun_path, path);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
	used = cpu_seconds();
	test_sleep_ms(1000);
	used = cpu_seconds() - used;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(used < 0.2);
	raw_header(&list, sizeof(list), MIMIC_MESSAGE_LIST);
	assert_true(raw_send(client, &list, sizeof(list), NULL, 0));
	assert_int_equal(raw_receive(client, &reply, sizeof(reply), &ignored), sizeof(reply));
	close(ignored);
	close(client);
}

int main(int count, char **words)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_there_unless_it_is_asked_for),
		cmocka_unit_test(it_is_there_from_the_first_open_on_for_the_owner_only),
		DEVICE_TEST(a_forked_child_has_its_own_when_it_opens_a_device),
		cmocka_unit_test(the_tree_by_the_socket_is_what_the_model_shows),
		DEVICE_TEST(the_list_names_devices_and_contexts_that_are_open),
		DEVICE_TEST(names_are_answered_as_the_manual_says),
		DEVICE_TEST(a_bad_message_ends_the_connection_and_others_are_served),
		DEVICE_TEST(a_look_is_of_one_moment_under_load),
		DEVICE_TEST(a_reset_answers_waiters_with_0_and_leaves_the_device),
		cmocka_unit_test(contexts_stay_attached_through_a_reset),
		DEVICE_TEST(a_device_whose_lock_is_not_to_be_had_is_busy),
		cmocka_unit_test(a_program_that_closes_all_descriptors_keeps_the_files_it_opens_then),
		cmocka_unit_test(a_program_that_closes_all_descriptors_keeps_its_clients),
		cmocka_unit_test(a_program_that_closes_all_descriptors_ends),
		DEVICE_TEST(without_descriptors_for_a_client_the_thread_rests_and_then_serves_it),
	};
	int failed;

	if (count == 3)
		return be(words[1], words[2]);

	alarm(200);
	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	rmdir(folder);
	return failed;
}
