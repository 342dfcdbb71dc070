/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program that changes much memory all the time, from several threads: that is its own
 * business. Neither the daemon nor a process that has one of its descriptors waits for it.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/window.h"

#define SPARSE_SIZE (16ul << 30)
#define STORM_THREADS 4
#define LOOKS 20
/* The time for a read or a close on a busy machine. It was 35 seconds and more, or no end at all. */
#define AT_ONCE 1.0

/* Shared with the program that makes the storm. */
struct storm {
	_Atomic unsigned int is_ready;
	int fd;		/* in the program */
	volatile uint64_t *page;
	_Atomic bool closes;	/* is to close it */
	_Atomic unsigned int is_closed;
};

FIXTURE(storm) {
	struct fake_daemon *daemon;
	struct storm *storm;
	pid_t pid;
};

static char *sparse;

/* With a page table for each 2 MB: to look through them takes long, and there is nothing in them. */
static void *drop_all_the_time(void *unused)
{
	(void)unused;
	for (;;)
		madvise(sparse, SPARSE_SIZE, MADV_DONTNEED);
	return NULL;
}

static void make_storm(void)
{
	pthread_t thread;
	size_t at;
	int i;

	sparse = mmap(NULL, SPARSE_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	madvise(sparse, SPARSE_SIZE, MADV_NOHUGEPAGE);
	for (at = 0; at < SPARSE_SIZE; at += HUGE_PAGE)
		(void)*(volatile char *)(sparse + at);
	for (i = 0; i < STORM_THREADS; i++)
		pthread_create(&thread, NULL, drop_all_the_time, NULL);
}

static void run_program(const struct fake_daemon *daemon, struct storm *storm)
{
	storm->page = memory_map(PAGE);
	storm->page[0] = 4711;
	storm->fd = open(daemon->node, O_RDWR);
	make_storm();
	sleep_ms(200);
	storm->is_ready = 1;
	while (!storm->closes)
		sleep_ms(1);
	close(storm->fd);
	storm->is_closed = 1;
	for (;;)
		pause();
}

FIXTURE_SETUP(storm)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE };

	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->storm = memory_map_file(memory_file(PAGE), PAGE);
	self->pid = fork();
	if (!self->pid)
		run_program(self->daemon, self->storm);
	while (!self->storm->is_ready)
		sleep_ms(10);
	ASSERT_LE(0, self->storm->fd);
}

FIXTURE_TEARDOWN(storm)
{
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
	fake_daemon_stop(self->daemon);
}

/* Seconds that the daemon takes to look at the program's page, which has no entry yet. */
static double seconds_of_look(FIXTURE_DATA(storm) *self, int *seen)
{
	double start = now_seconds();
	uint64_t value = 0;

	*seen += !fake_window_read(self->daemon, self->storm->page, &value, sizeof(value)) && value == 4711;
	return now_seconds() - start;
}

TEST_F_TIMEOUT(storm, the_daemon_sees_memory_that_is_not_in_it, 100)
{
	double longest = 0;
	int i, seen = 0;

	for (i = 0; i < LOOKS && longest < 30; i++) {
		double seconds = seconds_of_look(self, &seen);

		longest = seconds > longest ? seconds : longest;
	}
	printf("# the longest of %d looks: %.0f ms\n", LOOKS, longest * 1e3);
	EXPECT_EQ(LOOKS, seen);
	EXPECT_GT(at_most(AT_ONCE), longest);
}

/* A descriptor of the program, as a service would have it that was sent it. */
static int take_descriptor(FIXTURE_DATA(storm) *self)
{
	int process = (int)syscall(SYS_pidfd_open, self->pid, 0);
	int fd = (int)syscall(SYS_pidfd_getfd, process, self->storm->fd, 0);

	close(process);
	return fd;
}

TEST_F_TIMEOUT(storm, closing_the_programs_last_descriptor_does_not_wait_for_it, 100)
{
	int fd = take_descriptor(self);
	double start;

	ASSERT_LE(0, fd);
	self->storm->closes = true;
	ASSERT_TRUE(fake_wait(&self->storm->is_closed, 1));
	start = now_seconds();
	close(fd);
	EXPECT_GT(at_most(AT_ONCE), now_seconds() - start);
}

TEST_HARNESS_MAIN
