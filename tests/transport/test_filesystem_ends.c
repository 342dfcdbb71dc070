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
#include <sys/mman.h>
#include <sys/mount.h>
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

/* What open() says to another user: 0 or -errno. */
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

/* --- load ------------------------------------------------------------------------------------------ */

static atomic_bool reading;
static _Atomic unsigned int files_read;

static int read_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	char *text = NULL;

	(void)where;
	/* What is there depends on what the device does. */
	if (type == FTW_F && (status->st_mode & 0400))
		text = state_read_file(path, NULL);
	free(text);
	files_read++;
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

static void a_client_works_while_readers_read_all_the_time(void **unused)
{
	size_t count = 300000;
	struct mimic_access pattern = { .offset = AT(CONSUME, 0), .size = 4 };
	uint32_t *values = malloc(count * sizeof(*values));
	pthread_t producer, readers[3];

	(void)unused;
	start(false);
	served_init(WORDS_128);
	atomic_store(&reading, true);
	for (unsigned int i = 0; i < 3; i++)
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
	for (unsigned int i = 0; i < 3; i++)
		pthread_join(readers[i], NULL);
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
	assert_false(has_said("waited for its own"));
}

static void a_mapped_file_that_a_device_reads_ends_in_a_new_mount(void **unused)
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
	assert_true(served_said(&served, "it is mounted anew"));
	assert_shows("version", MIMIC_VERSION "\n");
	munmap(mapped, 4096);
	close(fd);
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
	_(other_users_see_nothing) \
	_(allowed_users_see_what_is_not_another_users_and_change_nothing) \
	_(a_client_works_while_readers_read_all_the_time) \
	_(a_daemon_that_is_polled_and_has_nothing_to_do_stays_idle) \
	_(a_descriptor_that_a_client_sends_stops_nothing) \
	_(a_mapped_file_that_a_device_reads_ends_in_a_new_mount)
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
