/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The state filesystem in trouble: ends of all kinds, other users, load, a daemon that would wait for itself. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/transport.h"
#include "tests/lib/daemon_device.h"
#include "tests/lib/state_mount.h"

#define NOBODY 65534

static char point[64];

/* A daemon, with a filesystem at `point` if it can. */
static void start(bool allow_users)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON };

	alarm(120);
	served = (struct served){ .virgos = 1, .state = point };
	assert_true(served_start(&served, 1, allow_users));
	options.socket_path = served.socket;
	assert_int_equal(mimic_device_open(&served_device, "maple0", &options), 0);
}

static int setup(void **unused)
{
	(void)unused;
	strcpy(point, "/tmp/mimic-point-XXXXXX");
	return !mkdtemp(point) || chmod(point, 0755);
}

static int teardown(void **unused)
{
	(void)unused;
	if (served_device)
		mimic_device_close(served_device);
	served_device = NULL;
	if (served.pid > 0)
		served_end(&served, SIGTERM);
	served_clean(&served);
	umount2(point, MNT_DETACH);
	rmdir(point);
	return 0;
}

static const char *at(const char *file)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", point, file);
	return path;
}

static void assert_shows(const char *file, const char *expected)
{
	char *text = state_read_file(at(file), NULL);

	if (!text)
		fail_msg("%s: %s", file, strerror(errno));
	assert_string_equal(text, expected);
	free(text);
}

/* --- ends ------------------------------------------------------------------------------------ */

static void a_busy_filesystem_is_unmounted_when_the_daemon_stops(void **unused)
{
	struct stat status;
	char byte;
	int fd;

	(void)unused;
	start(false);
	fd = open(at("devices/virgo0/shared_memory"), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(served_end(&served, SIGTERM), 0);
	assert_int_equal(read(fd, &byte, 1), -1);
	assert_true(errno == ENOTCONN || errno == ECONNABORTED || errno == EIO);
	close(fd);
	/* The directory is the plain one again. */
	assert_int_equal(stat(at("version"), &status), -1);
	assert_int_equal(errno, ENOENT);
}

static void *wait_for_change(void *argument)
{
	struct pollfd entry = { .fd = *(int *)argument, .events = POLLIN };

	assert_int_equal(poll(&entry, 1, 20000), 1);
	return NULL;
}

static void readers_of_a_killed_daemon_get_an_error_and_the_next_one_mounts_anew(void **unused)
{
	struct stat status;
	pthread_t waiter;
	char bytes[64];
	int fd;

	(void)unused;
	start(false);
	fd = open(at("devices/maple0/counters/produced"), O_RDONLY | O_CLOEXEC);
	assert_true(read(fd, bytes, sizeof(bytes)) > 0);
	pthread_create(&waiter, NULL, wait_for_change, &fd);
	test_sleep_ms(100);
	served_end(&served, SIGKILL);
	pthread_join(waiter, NULL);
	assert_int_equal(pread(fd, bytes, 1, 0), -1);
	assert_true(errno == ENOTCONN || errno == ECONNABORTED || errno == ENODEV);
	assert_int_equal(stat(point, &status), -1);
	assert_int_equal(errno, ENOTCONN);
	close(fd);
	assert_true(served_restart(&served, 1));
	assert_true(served_said(&served, "taking away the mount of a daemon that is gone"));
	assert_shows("version", MIMIC_VERSION "\n");
}

static void the_daemon_goes_on_when_somebody_unmounts_it(void **unused)
{
	(void)unused;
	start(false);
	assert_shows("version", MIMIC_VERSION "\n");
	assert_int_equal(umount2(point, 0), 0);
	assert_true(served_said(&served, "was unmounted"));
	served_init(WORDS_32);
	assert_int_equal(served_end(&served, SIGTERM), 0);
}

/* --- bad mount points -------------------------------------------------------------------------- */

static void assert_goes_on_without(const char *text)
{
	char line[300];

	start(false);
	snprintf(line, sizeof(line), "%s: no state filesystem: %s", served.state, text);
	assert_true(served_said(&served, line));
	served_init(WORDS_32);
}

static void a_directory_that_is_missing_is_said_and_done_without(void **unused)
{
	(void)unused;
	assert_int_equal(rmdir(point), 0);
	assert_goes_on_without("No such file or directory");
}

static void a_mount_point_that_is_no_directory_is_said_and_done_without(void **unused)
{
	(void)unused;
	assert_int_equal(rmdir(point), 0);
	close(open(point, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_goes_on_without("Not a directory");
	unlink(point);
}

static void a_directory_that_is_not_empty_is_said_and_done_without(void **unused)
{
	(void)unused;
	close(open(at("mine"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_goes_on_without("the directory is not empty");
	assert_int_equal(access(at("mine"), F_OK), 0);
	unlink(at("mine"));
}

/* --- users ---------------------------------------------------------------------------------------- */

/* The result of open() for another user: 0 or -errno. */
static int open_as(uid_t uid, const char *file, int flags)
{
	pid_t child;
	int status, fd;

	fflush(NULL);
	child = fork();
	if (!child) {
		if (setgid(uid) || setuid(uid))
			_exit(255);
		fd = open(at(file), flags | O_CLOEXEC);
		_exit(fd < 0 ? errno : 0);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -255;
}

static void other_users_see_nothing(void **unused)
{
	(void)unused;
	start(false);
	assert_int_equal(open_as(NOBODY, "version", O_RDONLY), -EACCES);
	assert_int_equal(open_as(NOBODY, "devices/maple0/control/reset", O_WRONLY), -EACCES);
	assert_int_equal(open_as(0, "version", O_RDONLY), 0);
}

static void allowed_users_see_what_is_not_another_users_and_change_nothing(void **unused)
{
	(void)unused;
	start(true);
	assert_int_equal(open_as(NOBODY, "version", O_RDONLY), 0);
	assert_int_equal(open_as(NOBODY, "devices", O_RDONLY | O_DIRECTORY), 0);
	/* A process of ours has it. */
	assert_int_equal(open_as(NOBODY, "devices/maple0/registers/.state", O_RDONLY), -EACCES);
	assert_int_equal(open_as(NOBODY, "devices/maple0/control/reset", O_WRONLY), -EACCES);
	assert_int_equal(open_as(NOBODY, "devices/virgo0/control/reset", O_WRONLY), -EACCES);
	assert_int_equal(open_as(0, "devices/maple0/registers/.state", O_RDONLY), 0);
}

/* Opens files as another user until no more can be; writes to `told` how many, and keeps them. */
static pid_t take_files_as(uid_t uid, int told)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		unsigned int count = 0;

		/* If the test fails nobody else ends it. */
		alarm(60);
		if (setgid(uid) || setuid(uid))
			_exit(255);
		while (open(at("version"), O_RDONLY | O_CLOEXEC) >= 0)
			count++;
		if (errno != ENFILE)
			count = 0;
		(void)!write(told, &count, sizeof(count));
		pause();
		_exit(0);
	}
	return child;
}

static bool may_open(rlim_t files)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < files)
		limit.rlim_cur = files;
	return limit.rlim_max >= files && !setrlimit(RLIMIT_NOFILE, &limit);
}

/* Of the 4096 that docs/state.md says. */
static void each_user_gets_half_of_the_files_that_are_left(void **unused)
{
	const unsigned int expected[] = { 2048, 1024 };
	pid_t children[2];
	unsigned int count;
	int told[2];

	(void)unused;
	if (!may_open(2200))
		skip();
	start(true);
	assert_int_equal(pipe(told), 0);
	for (unsigned int i = 0; i < 2; i++) {
		children[i] = take_files_as(NOBODY - i, told[1]);
		assert_int_equal(read(told[0], &count, sizeof(count)), sizeof(count));
		assert_int_equal(count, expected[i]);
	}
	assert_shows("version", MIMIC_VERSION "\n");
	for (unsigned int i = 0; i < 2; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	close(told[0]);
	close(told[1]);
}

/* --- load ------------------------------------------------------------------------------------------ */

static atomic_bool reading;
static _Atomic unsigned int files_read, moments_read;

static int read_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	char *text = NULL;

	(void)where;
	/* The files depend on the device's state: one may be gone by now. */
	if (type == FTW_F && (status->st_mode & 0400))
		text = state_read_file(path, NULL);
	files_read += text != NULL;
	free(text);
	return !atomic_load(&reading);
}

static void *read_all(void *unused)
{
	char devices[80];

	(void)unused;
	snprintf(devices, sizeof(devices), "%s/devices", point);
	while (atomic_load(&reading))
		nftw(devices, read_one, 16, FTW_PHYS);
	return NULL;
}

static bool number_in(const char *table, const char *path, uint64_t *number)
{
	size_t length = strlen(path);
	char *end;

	for (const char *line = table; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, path, length) || line[length] != '\t')
			continue;
		*number = strtoull(line + length + 1, &end, 10);
		return *end == '\t';
	}
	return false;
}

/* All words are in queue 0: those that came and have not gone. */
static bool is_of_one_moment(const char *table)
{
	uint64_t produced, consumed, level;

	return number_in(table, "counters/produced", &produced) &&
	       number_in(table, "counters/consumed", &consumed) &&
	       number_in(table, "queues/0/level", &level) && produced - consumed == level;
}

/* Ends at the first table that is wrong; free() it. */
static void *read_moments(void *unused)
{
	(void)unused;
	while (atomic_load(&reading)) {
		char path[96], *table;

		snprintf(path, sizeof(path), "%s/devices/maple0/.state", point);
		table = state_read_file(path, NULL);
		if (!table)
			return strdup(strerror(errno));
		if (!is_of_one_moment(table))
			return table;
		free(table);
		moments_read++;
	}
	return NULL;
}

static void a_client_works_while_readers_read_all_the_time(void **unused)
{
	size_t count = 300000;
	struct mimic_access pattern = { .offset = AT(CONSUME, 0), .size = 4 };
	uint32_t *values = malloc(count * sizeof(*values));
	pthread_t producer, moments, readers[2];
	void *wrong;

	(void)unused;
	start(false);
	served_init(WORDS_128);
	atomic_store(&reading, true);
	pthread_create(&moments, NULL, read_moments, NULL);
	for (unsigned int i = 0; i < 2; i++)
		pthread_create(&readers[i], NULL, read_all, NULL);
	assert_true(register_load(OPEN_CONSUMER, 0, 4) & 1);
	pthread_create(&producer, NULL, produce_thread, &count);
	assert_int_equal(mimic_device_load(served_device, &pattern, values, count), count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(values[i], (uint32_t)(i * 3 + 1));
	pthread_join(producer, NULL);
	while (atomic_load(&files_read) < 300)
		test_sleep_ms(10);
	atomic_store(&reading, false);
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(readers[i], NULL);
	pthread_join(moments, &wrong);
	if (wrong)
		fail_msg("not of one moment: %s", (char *)wrong);
	assert_true(atomic_load(&moments_read) >= 10);
	free(values);
}

static void a_daemon_that_is_polled_and_has_nothing_to_do_stays_idle(void **unused)
{
	struct pollfd entry = { .events = POLLIN };
	uint64_t before;
	char byte;

	(void)unused;
	start(false);
	entry.fd = open(at("devices/maple0/counters/produced"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(entry.fd, &byte, 1), 1);
	assert_int_equal(poll(&entry, 1, 300), 0);
	before = served_cpu_ns(&served);
	assert_int_equal(poll(&entry, 1, 1000), 0);
	/* Looking each 100 ms would already be less; a loop that spins would be 1 s. */
	assert_true(served_cpu_ns(&served) - before < 20000000);
	close(entry.fd);
}

/* Something comes to the daemon, which is no change of a device. */
static void ask_for_list(int client)
{
	struct mimic_list_reply reply;
	struct mimic_message list;
	int fd;

	assert_int_equal(raw_request(client, &list, sizeof(list), MIMIC_MESSAGE_LIST, -1, &reply, sizeof(reply), &fd),
			 0);
	close(fd);
}

static void many_polled_files_of_a_device_cost_as_much_as_one(void **unused)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	enum { FILES = 3000 };
	static int fds[FILES];
	int epoll_fd, client;
	uint64_t before;
	char byte;

	(void)unused;
	if (!may_open(FILES + 100))
		skip();
	start(false);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	client = raw_client(served.socket);
	for (unsigned int i = 0; i < FILES; i++) {
		fds[i] = open(at("devices/virgo0/config/units"), O_RDONLY | O_CLOEXEC);
		assert_int_equal(read(fds[i], &byte, 1), 1);
		assert_int_equal(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fds[i], &event), 0);
	}
	before = served_cpu_ns(&served);
	for (unsigned int i = 0; i < 20; i++) {
		ask_for_list(client);
		test_sleep_ms(50);
	}
	assert_true(served_cpu_ns(&served) - before < 100000000);
	for (unsigned int i = 0; i < FILES; i++)
		close(fds[i]);
	close(client);
	close(epoll_fd);
}

/* --- a daemon that would wait for itself --------------------------------------------------------------- */

static bool has_said(const char *text)
{
	char *log = state_read_file(served.log, NULL);
	bool has = log && strstr(log, text);

	free(log);
	return has;
}

static void a_descriptor_that_a_client_sends_stops_nothing(void **unused)
{
	struct mimic_message list;
	int fd, client;

	(void)unused;
	start(false);
	client = raw_client(served.socket);
	fd = open(at("devices/virgo0/shared_memory"), O_RDONLY | O_CLOEXEC);
	raw_header(&list, sizeof(list), MIMIC_MESSAGE_LIST);
	assert_true(raw_send(client, &list, sizeof(list), &fd, 1));
	assert_int_not_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, 0x10000, 4096, 0), 1);
	close(fd);
	close(client);
	assert_shows("version", MIMIC_VERSION "\n");
	served_init(WORDS_32);
	assert_false(has_said("it is mounted anew"));
}

/* The page is brought by the daemon itself, while a device of it waits for that page. */
static void a_device_may_read_a_mapped_file_of_its_daemon(void **unused)
{
	int fd;
	void *mapped;

	(void)unused;
	start(false);
	served_init(WORDS_32);
	served_open_both(0);
	fd = open(at("devices/virgo0/shared_memory"), O_RDONLY | O_CLOEXEC);
	mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mapped == MAP_FAILED)
		return;	/* as good */
	register_store(SET_BASE32, 0, 8, (uintptr_t)mapped);
	register_store(POINTER32, 0, 8, 1);
	assert_int_equal(register_load(CONSUME, 0, 4), 0);
	assert_shows("version", MIMIC_VERSION "\n");
	assert_false(has_said("it is mounted anew"));
	assert_int_equal(register_load(FAULT_COUNT, 0, 4), 0);
	munmap(mapped, 4096);
	close(fd);
}

static void *look_once(void *argument)
{
	return state_mount_read(argument, NULL, "version");
}

static char *look_again(struct state_mount *mount)
{
	char *text = NULL;

	for (unsigned int i = 0; !text && i < 100; i++) {
		text = look_once(mount);
		test_sleep_ms(text ? 0 : 10);
	}
	return text;
}

/* The loop has heard of the request when it cannot take it, so it sees the old event after the cut. */
static void a_request_from_before_the_cut_does_not_end_the_new_mount(void **unused)
{
	struct state_mount mount;
	pthread_t reader;
	void *text;

	(void)unused;
	alarm(60);
	assert_true(state_mount_start(&mount));
	assert_non_null(state_mount_take(&mount, "maple0"));
	pthread_create(&reader, NULL, look_once, &mount);
	pthread_join(reader, &text);
	assert_null(text);
	state_mount_give_back(&mount);
	text = look_again(&mount);
	assert_non_null(text);
	assert_string_equal(text, MIMIC_VERSION "\n");
	free(text);
	state_mount_end(&mount);
}

static void expect_no_mount(const char *line)
{
	strcat(point, "/state");
	assert_int_equal(mkdir(point, 0755), 0);
	start(false);
	assert_true(served_said(&served, line));
	assert_int_equal(access(at("devices"), F_OK), -1);
}

static void leave_directory(void)
{
	rmdir(point);
	*strrchr(point, '/') = 0;
}

static void nothing_is_mounted_where_others_can_put_a_link(void **state)
{
	(void)state;
	assert_int_equal(chmod(point, 0777), 0);
	expect_no_mount("another user could put something else in its place");
	leave_directory();
}

static void nothing_is_mounted_below_a_directory_of_another_user(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(chown(point, NOBODY, NOBODY), 0);
	expect_no_mount("another user could put something else in its place");
	leave_directory();
}

static void nothing_is_mounted_at_a_directory_of_another_user(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(chown(point, NOBODY, NOBODY), 0);
	start(false);
	assert_true(served_said(&served, "the directory is another user's"));
	assert_int_equal(access(at("devices"), F_OK), -1);
}

#define TEST(name) \
	static void name##_or_skip(void **unused) { if (!state_can_mount()) skip(); else name(unused); }
#define TESTS(_) \
	_(a_busy_filesystem_is_unmounted_when_the_daemon_stops) \
	_(readers_of_a_killed_daemon_get_an_error_and_the_next_one_mounts_anew) \
	_(the_daemon_goes_on_when_somebody_unmounts_it) \
	_(a_directory_that_is_missing_is_said_and_done_without) \
	_(a_mount_point_that_is_no_directory_is_said_and_done_without) \
	_(a_directory_that_is_not_empty_is_said_and_done_without) \
	_(nothing_is_mounted_where_others_can_put_a_link) \
	_(nothing_is_mounted_below_a_directory_of_another_user) \
	_(nothing_is_mounted_at_a_directory_of_another_user) \
	_(other_users_see_nothing) \
	_(allowed_users_see_what_is_not_another_users_and_change_nothing) \
	_(each_user_gets_half_of_the_files_that_are_left) \
	_(a_client_works_while_readers_read_all_the_time) \
	_(a_daemon_that_is_polled_and_has_nothing_to_do_stays_idle) \
	_(many_polled_files_of_a_device_cost_as_much_as_one) \
	_(a_descriptor_that_a_client_sends_stops_nothing) \
	_(a_device_may_read_a_mapped_file_of_its_daemon) \
	_(a_request_from_before_the_cut_does_not_end_the_new_mount)
TESTS(TEST)

int main(void)
{
	const struct CMUnitTest tests[] = {
#define _(name) { #name, name##_or_skip, setup, teardown, NULL },
		TESTS(_)
#undef _
	};

	return cmocka_run_group_tests_name("filesystem ends", tests, NULL, NULL);
}
