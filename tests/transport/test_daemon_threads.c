/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Programs whose devices are served by several threads of mimicd. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/daemon/client.h"
#include "tests/lib/daemon_device.h"

#define PROGRAMS 12u
#define EIGHT 8u
#define VISITS 40u
#define WORDS 50u

static pid_t programs[PROGRAMS];
static _Atomic uint64_t *passed;	/* words, by each program */
static int told[2];	/* by programs: a byte, once they are at work */

static int start(void **state)
{
	(void)state;
	alarm(240);
	memset(programs, 0, sizeof(programs));
	unsetenv("MIMIC_TEST_SPREAD");
	served.threads = 2;
	return served_start(&served, 16, false) && !pipe2(told, O_CLOEXEC) ? 0 : -1;
}

static void end_programs(void)
{
	for (unsigned int i = 0; i < PROGRAMS; i++) {
		if (programs[i] > 0 && (kill(programs[i], SIGKILL) || waitpid(programs[i], NULL, 0) != programs[i]))
			fail();
		programs[i] = 0;
	}
}

static int end(void **state)
{
	int status;

	(void)state;
	end_programs();
	close(told[0]);
	close(told[1]);
	status = served_end(&served, SIGTERM);
	served_clean(&served);
	return status;
}

static int open_at(const char *name, struct mimic_device **device)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };

	return mimic_device_open(device, name, &options);
}

static void prepare_device(const char *name)
{
	if (open_at(name, &served_device))
		_exit(2);
	served_init(WORDS_32);
	served_open_both(0);
}

/* For ever; a word that is not its own ends it. */
static void pass_words_on(unsigned int number)
{
	prepare_device("maple");
	(void)!write(told[1], "", 1);
	for (uint32_t i = 0;; i++) {
		register_store(PRODUCE, 0, 4, i * 3);
		if (register_load(CONSUME, 0, 4) != i * 3)
			_exit(1);
		atomic_fetch_add(&passed[number], 1);
	}
}

/* Every second one: eight that pass words on would be a crowd (daemon/engine/crowd.h), which has one thread. */
static void pass_words_on_or_wait(unsigned int number)
{
	if (!(number % 2))
		pass_words_on(number);
	prepare_device("maple");
	(void)!write(told[1], "", 1);
	for (;;)
		pause();
}

static void start_programs(unsigned int first, unsigned int count, void (*run)(unsigned int number))
{
	char byte;

	for (unsigned int i = first; i < first + count; i++) {
		programs[i] = fork();
		assert_true(programs[i] >= 0);
		if (!programs[i])
			run(i);
		assert_int_equal(read(told[0], &byte, 1), 1);
	}
}

#define THREADS_MAX 128u

struct usage {
	unsigned int count;
	struct {
		int thread;
		unsigned long long ns;
	} of[THREADS_MAX];
};

static unsigned long long read_time(const char *thread)
{
	unsigned long long ns = 0;
	char path[320];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)served.pid, thread);
	file = fopen(path, "re");
	if (file && fscanf(file, "%llu", &ns) != 1)
		ns = 0;
	if (file)
		fclose(file);
	return ns;
}

static void look_at_threads(struct usage *usage)
{
	char path[48];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)served.pid);
	directory = opendir(path);
	assert_non_null(directory);
	usage->count = 0;
	while ((entry = readdir(directory)) && usage->count < THREADS_MAX) {
		if (entry->d_name[0] == '.')
			continue;
		usage->of[usage->count].thread = atoi(entry->d_name);
		usage->of[usage->count++].ns = read_time(entry->d_name);
	}
	closedir(directory);
}

/* Threads of the daemon that compute for 20 ms or more in the next 500. */
static unsigned int count_busy_threads(void)
{
	struct usage before, after;
	unsigned int busy = 0;

	look_at_threads(&before);
	test_sleep_ms(500);
	look_at_threads(&after);
	for (unsigned int i = 0; i < before.count; i++) {
		for (unsigned int k = 0; k < after.count; k++)
			busy += before.of[i].thread == after.of[k].thread && after.of[k].ns > before.of[i].ns + 20000000;
	}
	return busy;
}

static void eight_programs_keep_two_threads_busy(void **state)
{
	(void)state;
	/* In turn: each thread of the daemon has two of those that pass words on. */
	for (unsigned int i = 0; i < EIGHT; i++)
		start_programs(i, 1, pass_words_on_or_wait);
	assert_int_equal(count_busy_threads(), 2);
}

static void four_programs_keep_one_thread_busy(void **state)
{
	(void)state;
	start_programs(0, 4, pass_words_on);
	assert_int_equal(count_busy_threads(), 1);
}

static void a_program_that_others_leave_alone_goes_on_with_its_words(void **state)
{
	uint64_t before;

	(void)state;
	start_programs(0, PROGRAMS, pass_words_on);
	for (unsigned int i = 0; i < PROGRAMS - 1; i++) {
		assert_int_equal(kill(programs[i], SIGKILL), 0);
		assert_int_equal(waitpid(programs[i], NULL, 0), programs[i]);
		programs[i] = 0;
	}
	before = atomic_load(&passed[PROGRAMS - 1]);
	test_sleep_ms(300);
	assert_true(atomic_load(&passed[PROGRAMS - 1]) > before);
	assert_int_equal(waitpid(programs[PROGRAMS - 1], NULL, WNOHANG), 0);
	assert_int_equal(count_busy_threads(), 1);
}

/* Opens a device, passes some words on, leaves, and comes back. */
static void come_and_go(unsigned int number)
{
	for (unsigned int visit = 0; visit < VISITS; visit++) {
		prepare_device("maple");
		for (uint32_t i = 0; i < WORDS; i++) {
			register_store(PRODUCE, 0, 4, i * 5 + number);
			if (register_load(CONSUME, 0, 4) != i * 5 + number)
				_exit(1);
		}
		mimic_device_close(served_device);
	}
	(void)!write(told[1], "", 1);
	_exit(0);
}

static void programs_that_come_and_go_move_the_others_and_take_nothing_of_theirs(void **state)
{
	int status = -1;

	(void)state;
	start_programs(0, 5, pass_words_on);
	for (unsigned int i = 5; i < PROGRAMS; i++) {
		programs[i] = fork();
		assert_true(programs[i] >= 0);
		if (!programs[i])
			come_and_go(i);
	}
	for (unsigned int i = 5; i < PROGRAMS; i++) {
		assert_int_equal(waitpid(programs[i], &status, 0), programs[i]);
		programs[i] = 0;
		assert_int_equal(status, 0);
	}
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(waitpid(programs[i], NULL, WNOHANG), 0);
}

static void the_list_shows_programs_of_all_threads(void **state)
{
	unsigned int count = 0;
	char *text, pid[32];

	(void)state;
	start_programs(0, EIGHT, pass_words_on);
	assert_int_equal(mimic_daemon_list(served.socket, &text), 0);
	for (unsigned int i = 0; i < EIGHT; i++) {
		snprintf(pid, sizeof(pid), "%d", (int)programs[i]);
		count += strstr(text, pid) != NULL;
	}
	free(text);
	assert_int_equal(count, EIGHT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		TEST(eight_programs_keep_two_threads_busy),
		TEST(four_programs_keep_one_thread_busy),
		TEST(a_program_that_others_leave_alone_goes_on_with_its_words),
		TEST(programs_that_come_and_go_move_the_others_and_take_nothing_of_theirs),
		TEST(the_list_shows_programs_of_all_threads),
	};

	passed = mmap(NULL, PROGRAMS * sizeof(*passed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (passed == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
