/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A MAPLE that misbehaves (mimic inject), its driver, and a program that never
 * knows: the outcomes are those that docs/bus.md promises. With the real daemon.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mimic/maple_registers.h"
#include "tests/lib/limit.h"

TEST_SECONDS(120);

#define PAGE 4096
#define FILE_PAGES 64
#define WORDS_32 2	/* size code */
#define TOP "/mimic"
#define SOCKET "/tmp/inject.sock"

FIXTURE(inject)
{
	pid_t daemon;
	int fd;
	char *device;		/* its page */
	char *file;		/* FILE_PAGES pages that this process has not touched; word i of page p is p << 16 | i */
	int next;		/* the first page that was not used yet */
};

static double now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static volatile uint32_t *word(char *device, unsigned int operation)
{
	return (volatile uint32_t *)(device + MAPLE_OFFSET(operation, 0));
}

static volatile uint64_t *wide(char *device, unsigned int operation)
{
	return (volatile uint64_t *)(device + MAPLE_OFFSET(operation, 0));
}

static pid_t start_daemon(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl(TOP "/bin/mimicd", "mimicd", "--kernel=required", "--devices", "maple:1",
		      "--socket", SOCKET, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static int open_device(void)
{
	int fd = -1;

	for (int i = 0; i < 1000; i++) {
		fd = open("/dev/maple0", O_RDWR | O_CLOEXEC);
		if (fd >= 0)
			break;
		usleep(10000);
	}
	return fd;
}

/* Written by another file description: no page of the mapping is present in this process. */
static char *make_file(void)
{
	static uint32_t page[PAGE / sizeof(uint32_t)];
	int fd = memfd_create("inject", MFD_CLOEXEC);
	char *file;

	for (uint32_t p = 0; p < FILE_PAGES; p++) {
		for (uint32_t i = 0; i < PAGE / sizeof(uint32_t); i++)
			page[i] = p << 16 | i;
		if (pwrite(fd, page, PAGE, (off_t)p * PAGE) != PAGE)
			return NULL;
	}
	file = mmap(NULL, (size_t)FILE_PAGES * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	/* Else the first fault would bring its neighbours in, too. */
	return file == MAP_FAILED || madvise(file, (size_t)FILE_PAGES * PAGE, MADV_RANDOM) ? NULL : file;
}

static int inject(const char *what)
{
	char command[128];

	snprintf(command, sizeof(command), TOP "/bin/mimic inject --socket " SOCKET " maple0 %s >/dev/null", what);
	return system(command);
}

static long attribute(const char *name)
{
	char path[128], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/mimic/devices/maple0/%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	return text[0] ? atol(text) : -1;
}

FIXTURE_SETUP(inject)
{
	self->daemon = start_daemon();
	self->fd = open_device();
	ASSERT_LE(0, self->fd);
	self->device = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->device);
	self->file = make_file();
	ASSERT_NE(NULL, self->file);
	ASSERT_EQ(2, *(volatile uint32_t *)(self->device + MAPLE_OFFSET(MAPLE_LOAD_INIT, WORDS_32)));
	ASSERT_EQ(2, *word(self->device, MAPLE_LOAD_OPEN_PRODUCER));
	ASSERT_EQ(3, *word(self->device, MAPLE_LOAD_OPEN_CONSUMER));
}

FIXTURE_TEARDOWN(inject)
{
	munmap(self->device, PAGE);
	munmap(self->file, (size_t)FILE_PAGES * PAGE);
	close(self->fd);
	/* Else the kernel keeps it for the next daemon. */
	EXPECT_EQ(0, system(TOP "/bin/mimic remove --socket " SOCKET " maple0 >/dev/null"));
	kill(self->daemon, SIGTERM);
	waitpid(self->daemon, NULL, 0);
}

/* The device fetches word `i` of a page that is not there yet. */
static uint32_t fetch(char *device, const char *page, unsigned int i)
{
	*wide(device, MAPLE_STORE_FULL_POINTER32) = (uintptr_t)page + i * sizeof(uint32_t);
	return *word(device, MAPLE_LOAD_CONSUME);
}

static char *fresh_page(FIXTURE_DATA(inject) *self, uint32_t *number)
{
	*number = (uint32_t)self->next++;
	return self->file + (size_t)*number * PAGE;
}

TEST_F(inject, nothing_injected_a_first_touch_gives_the_value)
{
	uint32_t number;
	char *page = fresh_page(self, &number);
	long faults = attribute("faults");

	EXPECT_EQ(number << 16 | 7, fetch(self->device, page, 7));
	EXPECT_LT(faults, attribute("faults"));
}

TEST_F(inject, a_spurious_interrupt_is_counted_and_does_no_harm)
{
	long before = attribute("spurious");
	uint32_t number;
	char *page = fresh_page(self, &number);

	ASSERT_EQ(0, inject("spurious-interrupt"));
	for (int i = 0; i < 500 && attribute("spurious") == before; i++)
		usleep(10000);
	EXPECT_EQ(before + 1, attribute("spurious"));
	EXPECT_EQ(number << 16 | 3, fetch(self->device, page, 3));
}

TEST_F(inject, a_lost_interrupt_only_makes_the_program_wait)
{
	long polled = attribute("polled");
	uint32_t number;
	char *page = fresh_page(self, &number);

	ASSERT_EQ(0, inject("lost-interrupt"));
	EXPECT_EQ(number << 16 | 5, fetch(self->device, page, 5));
	EXPECT_LT(polled, attribute("polled"));
}

TEST_F(inject, a_delayed_answer_is_late_once)
{
	double start, late = 0;

	/* The late answer may be one to the driver, and be over before our load. */
	for (unsigned int i = 0; late < 0.1 && i < 5; i++) {
		ASSERT_EQ(0, inject("delayed-answer"));
		start = now_seconds();
		(void)*wide(self->device, MAPLE_LOAD_IDENTIFY);
		late = now_seconds() - start;
	}
	EXPECT_LT(0.1, late);
	EXPECT_EQ(MAPLE_IDENTIFY_MAGIC, *wide(self->device, MAPLE_LOAD_IDENTIFY) >> 32);
}

TEST_F(inject, a_wrong_fault_address_beside_memory_ends_with_the_right_value)
{
	uint32_t number;
	char *page;

	self->next = FILE_PAGES / 2;
	page = fresh_page(self, &number);
	ASSERT_EQ(0, inject("wrong-fault-address"));
	EXPECT_EQ(number << 16 | 9, fetch(self->device, page, 9));
}

struct waiter {
	char *device;
	const char *page;
	_Atomic uint32_t value;
	_Atomic bool is_over;
};

static void *consume(void *opaque)
{
	struct waiter *waiter = opaque;

	/* Roles are a thread's: this one takes them over. */
	(void)*word(waiter->device, MAPLE_LOAD_OPEN_PRODUCER);
	(void)*word(waiter->device, MAPLE_LOAD_OPEN_CONSUMER);
	waiter->value = fetch(waiter->device, waiter->page, 11);
	waiter->is_over = true;
	return NULL;
}

static void give_roles_up(char *device)
{
	(void)*word(device, MAPLE_LOAD_CLOSE_PRODUCER);
	(void)*word(device, MAPLE_LOAD_CLOSE_CONSUMER);
}

TEST_F(inject, an_unresolved_fault_waits_until_the_device_behaves_again)
{
	struct waiter waiter = { .device = self->device };
	uint32_t number;
	pthread_t thread;

	waiter.page = fresh_page(self, &number);
	give_roles_up(self->device);
	ASSERT_EQ(0, inject("unresolved-fault"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, consume, &waiter));
	usleep(700000);
	EXPECT_FALSE(waiter.is_over);
	ASSERT_EQ(0, inject("none"));
	pthread_join(thread, NULL);
	EXPECT_EQ(number << 16 | 11, waiter.value);
}

TEST_F(inject, a_program_that_waits_for_a_device_that_hangs_can_be_killed)
{
	int status;
	pid_t pid;

	munmap(self->device, PAGE);
	close(self->fd);
	pid = fork();
	if (!pid) {
		int fd = open_device();
		char *device = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		(void)*wide(device, MAPLE_LOAD_IDENTIFY);
		for (;;)
			(void)*wide(device, MAPLE_LOAD_IDENTIFY);
	}
	usleep(300000);
	ASSERT_EQ(0, inject("hang"));
	usleep(300000);
	kill(pid, SIGKILL);
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	self->fd = open_device();
	ASSERT_LE(0, self->fd);
	self->device = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->device);
	/* The close has ended it: docs/bus.md. */
	EXPECT_EQ(MAPLE_IDENTIFY_MAGIC, *wide(self->device, MAPLE_LOAD_IDENTIFY) >> 32);
}

static _Atomic int alarms;

static void count_alarm(int number)
{
	(void)number;
	alarms++;
}

TEST_F(inject, a_signal_is_handled_while_the_device_hangs_and_none_lets_the_access_go_on)
{
	const struct sigaction action = { .sa_handler = count_alarm };
	struct waiter waiter = { .device = self->device };
	uint32_t number;
	pthread_t thread;

	alarms = 0;
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	waiter.page = fresh_page(self, &number);
	give_roles_up(self->device);
	ASSERT_EQ(0, inject("hang"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, consume, &waiter));
	usleep(200000);
	pthread_kill(thread, SIGUSR1);
	for (int i = 0; i < 500 && !alarms; i++)
		usleep(10000);
	EXPECT_EQ(1, alarms);
	EXPECT_FALSE(waiter.is_over);
	ASSERT_EQ(0, inject("none"));
	pthread_join(thread, NULL);
	EXPECT_EQ(number << 16 | 11, waiter.value);
}

TEST_F(inject, an_unknown_injection_is_refused)
{
	EXPECT_EQ(2, WEXITSTATUS(inject("nonsense 2>/dev/null")));
}

TEST_HARNESS_MAIN
