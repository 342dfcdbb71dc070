/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Programs whose daemon goes, and whose session a successor takes up: replies come late, or twice. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/daemon/client.h"
#include "libmimic/mimic.h"
#include "tests/lib/fake_daemon.h"
#include "tests/lib/told.h"

/* Shorter than the time for which the daemon is away in these tests. */
#define PATIENCE_SECONDS 1
#define GAP_MS 2500
#define RECOVERY_SECONDS 20
/* A thread that sleeps for GAP_MS, and wakes ten times a second. */
#define CPU_MS_MAX 300

static struct fake_daemon fake;
static struct mimic_device *device;	/* closed when the test ends, in whatever way */

static int start(uint32_t recovery_seconds, uint32_t pid)
{
	memset(&fake, 0, sizeof(fake));
	fake.recovery_seconds = recovery_seconds;
	fake.pid = pid;
	alarm(60);
	mimic_daemon_set_patience(PATIENCE_SECONDS);
	return fake_daemon_start(&fake) ? 0 : -1;
}

static int start_recovering(void **state)
{
	(void)state;
	return start(RECOVERY_SECONDS, (uint32_t)getpid());
}

static int start_without_recovery(void **state)
{
	(void)state;
	return start(0, (uint32_t)getpid());
}

static int end(void **state)
{
	(void)state;
	told_end();
	if (device)
		mimic_device_close(device);
	device = NULL;
	fake_daemon_end(&fake);
	return 0;
}

static int open_named(struct mimic_device **opened, const char *name)
{
	const struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = fake.socket };

	return mimic_device_open(opened, name, &options);
}

static int open_device(struct mimic_device **opened)
{
	return open_named(opened, "maple0");
}

static int open_other(struct mimic_device **opened)
{
	return open_named(opened, "maple1");
}

static int load(uint64_t *value)
{
	struct mimic_access access = { .size = 8 };
	int error = mimic_device_access(device, &access);

	*value = access.data;
	return error;
}

static void load_expecting(uint64_t wanted)
{
	uint64_t value;

	assert_int_equal(load(&value), 0);
	assert_int_equal(value, wanted);
}

static void *come_back_later(void *unused)
{
	(void)unused;
	test_sleep_ms(GAP_MS);
	atomic_store(&fake.away, false);
	return NULL;
}

static pthread_t leave(void)
{
	pthread_t thread;

	atomic_store(&fake.away, true);
	assert_int_equal(pthread_create(&thread, NULL, come_back_later, NULL), 0);
	return thread;
}

static uint64_t now_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static void a_reply_that_comes_while_a_successor_starts_is_waited_for(void **state)
{
	uint64_t before = now_ms(CLOCK_MONOTONIC);
	struct mimic_device *other;
	pthread_t thread;

	(void)state;
	assert_int_equal(open_device(&device), 0);
	thread = leave();
	assert_int_equal(open_other(&other), 0);
	assert_true(now_ms(CLOCK_MONOTONIC) - before >= GAP_MS);
	pthread_join(thread, NULL);
	mimic_device_close(other);
}

static void a_reply_of_a_daemon_without_recovery_is_not(void **state)
{
	struct mimic_device *other;
	pthread_t thread;

	(void)state;
	assert_int_equal(open_device(&device), 0);
	thread = leave();
	assert_int_not_equal(open_other(&other), 0);
	assert_true(atomic_load(&fake.away));
	pthread_join(thread, NULL);
}

static void a_load_waits_for_a_successor_and_sleeps_meanwhile(void **state)
{
	uint64_t before;
	pthread_t thread;

	(void)state;
	assert_int_equal(open_device(&device), 0);
	load_expecting(0);
	thread = leave();
	before = now_ms(CLOCK_THREAD_CPUTIME_ID);
	load_expecting(1);
	assert_in_range(now_ms(CLOCK_THREAD_CPUTIME_ID) - before, 0, CPU_MS_MAX);
	pthread_join(thread, NULL);
}

static void *load_once(void *error)
{
	uint64_t value;

	*(int *)error = load(&value);
	return NULL;
}

static void replies_that_come_twice_are_dropped_with_their_descriptors(void **state)
{
	int before, error = -1;
	pthread_t thread;

	(void)state;
	assert_int_equal(open_device(&device), 0);
	load_expecting(0);
	before = descriptors();
	atomic_store(&fake.copies, 3);
	/* A lane, whose reply has a descriptor, and the end of the thread. */
	assert_int_equal(pthread_create(&thread, NULL, load_once, &error), 0);
	pthread_join(thread, NULL);
	assert_int_equal(error, 0);
	atomic_store(&fake.copies, 0);
	mimic_device_close(device);
	assert_int_equal(open_device(&device), 0);
	load_expecting(2);
	/* That of the lane is the fake daemon's. */
	assert_int_equal(descriptors(), before + 1);
}

static void replies_that_come_twice_without_recovery_end_the_session(void **state)
{
	struct mimic_device *other;
	uint64_t value;

	(void)state;
	assert_int_equal(open_device(&device), 0);
	atomic_store(&fake.copies, 1);
	assert_int_equal(open_other(&other), 0);
	mimic_device_close(other);
	assert_int_equal(load(&value), -ENOTCONN);
}

static void more_old_replies_than_a_daemon_can_send_end_the_session(void **state)
{
	struct mimic_device *other;
	uint64_t value;

	(void)state;
	assert_int_equal(open_device(&device), 0);
	atomic_store(&fake.copies, 100);
	assert_int_equal(open_other(&other), 0);
	atomic_store(&fake.copies, 0);
	mimic_device_close(other);
	assert_int_equal(load(&value), -ENOTCONN);
}

static void wait_for_a_load(void)
{
	uint64_t value;

	assert_int_equal(load(&value), 0);
}

/* The question is given up after a second; its reply comes later, several times. */
static void late_replies_that_come_twice_are_not_taken_for_others(void **state)
{
	struct mimic_device *other;
	struct told_thread waits;
	pthread_t thread;

	(void)state;
	assert_int_equal(open_device(&device), 0);
	told_begin(300);
	atomic_store(&fake.silent, true);
	atomic_store(&fake.copies, 3);
	told_start(&waits, wait_for_a_load);
	test_sleep_ms(200);
	thread = leave();
	assert_true(told_wait(1));
	assert_non_null(strstr(told_line(), "mimicd does not answer"));
	pthread_join(thread, NULL);
	assert_int_equal(open_other(&other), 0);
	atomic_store(&fake.silent, false);
	told_join(&waits);
	mimic_device_close(other);
}

static void *open_and_close(void *unused)
{
	struct mimic_device *other;

	(void)unused;
	if (!open_other(&other))
		mimic_device_close(other);
	return NULL;
}

static void a_wait_is_explained_while_another_thread_waits_for_a_reply(void **state)
{
	struct told_thread waits;
	pthread_t thread, opens;

	(void)state;
	assert_int_equal(open_device(&device), 0);
	told_begin(500);
	atomic_store(&fake.silent, true);
	told_start(&waits, wait_for_a_load);
	test_sleep_ms(200);
	thread = leave();
	assert_int_equal(pthread_create(&opens, NULL, open_and_close, NULL), 0);
	assert_true(told_wait(1));
	assert_true(atomic_load(&fake.away));
	pthread_join(opens, NULL);
	pthread_join(thread, NULL);
	atomic_store(&fake.silent, false);
	told_join(&waits);
}

static pid_t first_daemon;

static int start_with_a_process(void **state)
{
	(void)state;
	first_daemon = fork();
	if (!first_daemon) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	return start(RECOVERY_SECONDS, (uint32_t)first_daemon);
}

static void the_end_of_the_daemon_is_told(void **state)
{
	struct told_thread waits;
	pthread_t thread;

	(void)state;
	assert_int_equal(open_device(&device), 0);
	told_begin(500);
	atomic_store(&fake.silent, true);
	told_start(&waits, wait_for_a_load);
	test_sleep_ms(200);
	thread = leave();
	kill(first_daemon, SIGKILL);
	waitpid(first_daemon, NULL, 0);
	assert_true(told_wait(1));
	assert_non_null(strstr(told_line(), "mimicd has ended, and no successor answers yet"));
	pthread_join(thread, NULL);
	atomic_store(&fake.silent, false);
	told_join(&waits);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start_recovering, end)
#define TEST_WITHOUT(name) cmocka_unit_test_setup_teardown(name, start_without_recovery, end)
	const struct CMUnitTest tests[] = {
		TEST(a_reply_that_comes_while_a_successor_starts_is_waited_for),
		TEST_WITHOUT(a_reply_of_a_daemon_without_recovery_is_not),
		TEST(a_load_waits_for_a_successor_and_sleeps_meanwhile),
		TEST(replies_that_come_twice_are_dropped_with_their_descriptors),
		TEST_WITHOUT(replies_that_come_twice_without_recovery_end_the_session),
		TEST(more_old_replies_than_a_daemon_can_send_end_the_session),
		TEST(late_replies_that_come_twice_are_not_taken_for_others),
		TEST(a_wait_is_explained_while_another_thread_waits_for_a_reply),
		cmocka_unit_test_setup_teardown(the_end_of_the_daemon_is_told, start_with_a_process, end),
	};

	return cmocka_run_group_tests_name("daemon away", tests, NULL, NULL);
}
