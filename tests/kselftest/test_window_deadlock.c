/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Nobody waits for ever: daemon and program want each other's memory locks at the
 * same time, all the time, and one of them dies in the middle.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/generations.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/program.h"
#include "tests/kselftest/lib/time_scale.h"
#include "tests/kselftest/lib/window.h"
#include "tests/lib/limit.h"

TEST_SECONDS(120);

#define THREADS 4
#define CELLS 16
#define SECONDS 2

FIXTURE(deadlock) {
	struct fake_daemon *daemon;
	struct window_check *check;
	struct generations *all;
	struct program program;
	char *base;
	int fd;
};

FIXTURE_SETUP(deadlock)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE };

	self->check = window_check_create();
	ASSERT_NE(NULL, self->check);
	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->program.pid = 0;
	self->all = memory_map(sizeof(*self->all));
	self->fd = -1;
}

FIXTURE_TEARDOWN(deadlock)
{
	program_stop(&self->program);
	if (self->fd >= 0)
		close(self->fd);
	fake_daemon_stop(self->daemon);
}

/* Cells in this process, with values, and read by the daemon from now on. */
static int start(FIXTURE_DATA(deadlock) *self)
{
	uint32_t i;
	int error;

	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	self->base = memory_map(CELLS * PAGE);
	generations_place_cells(self->all, self->check, self->base, CELLS, PAGE);
	error = window_map(self->daemon, self->base, CELLS * PAGE);
	for (i = 0; i < CELLS; i++)
		generations_write(self->all, i);
	window_check_start(self->daemon, self->check);
	return error;
}

/* --- threads of a program --------------------------------------------------- */

struct work {
	void (*step)(struct work *work);
	char *memory;
	_Atomic bool stop;
	_Atomic uint64_t steps;
	pthread_t threads[THREADS];
};

static void *work(void *argument)
{
	struct work *work = argument;

	while (!work->stop) {
		work->step(work);
		work->steps++;
	}
	return NULL;
}

static void start_threads(struct work *what)
{
	int i;

	what->stop = false;
	for (i = 0; i < THREADS; i++)
		pthread_create(&what->threads[i], NULL, work, what);
}

static void stop_threads(struct work *what)
{
	int i;

	what->stop = true;
	for (i = 0; i < THREADS; i++)
		pthread_join(what->threads[i], NULL);
}

static void map_and_unmap(struct work *what)
{
	char *memory = memory_map(8 * PAGE);

	(void)what;
	memory[0] = 1;
	memory[5 * PAGE] = 1;
	munmap(memory, 8 * PAGE);
}

static void drop_and_write(struct work *what)
{
	madvise(what->memory, CELLS * PAGE, MADV_DONTNEED);
	what->memory[8] = 1;
	what->memory[5 * PAGE + 8] = 1;
}

static void protect(struct work *what)
{
	mprotect(what->memory, CELLS * PAGE, PROT_READ);
	mprotect(what->memory, CELLS * PAGE, PROT_READ | PROT_WRITE);
}

static void fork_and_wait(struct work *what)
{
	pid_t child = fork();

	(void)what;
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

/* A few more accesses; they can be slow while others want the program's lock all the time. */
static bool goes_on(const struct window_check *check)
{
	uint64_t before = check->checked + check->absent;
	double end = memory_clock() + 10 * time_scale();

	while (check->checked + check->absent < before + 3) {
		if (memory_clock() > end)
			return false;
		usleep(1000);
	}
	return true;
}

/* Runs it beside the daemon's accesses; both must go on. */
#define EXPECT_BOTH_GO_ON(what, steps_wanted) do { \
	ASSERT_EQ(0, start(self)); \
	(what).memory = self->base; \
	start_threads(&(what)); \
	usleep(SECONDS * 500000); \
	EXPECT_TRUE(goes_on(self->check)); \
	usleep(SECONDS * 500000); \
	EXPECT_TRUE(goes_on(self->check)); \
	stop_threads(&(what)); \
	EXPECT_EQ(0, window_check_finish(self->daemon, self->check)); \
	EXPECT_LT(steps_wanted / time_scale(), (what).steps); \
} while (0)

TEST_F_TIMEOUT(deadlock, threads_that_map_and_unmap, 60)
{
	struct work what = { .step = map_and_unmap };

	EXPECT_BOTH_GO_ON(what, 100);
	EXPECT_EQ(0, self->check->stale);
}

TEST_F_TIMEOUT(deadlock, threads_that_drop_the_pages_that_are_read, 60)
{
	struct work what = { .step = drop_and_write };

	EXPECT_BOTH_GO_ON(what, 100);
}

TEST_F_TIMEOUT(deadlock, threads_that_change_the_protection_of_what_is_written, 60)
{
	struct work what = { .step = protect };

	self->check->is_writer = true;
	EXPECT_BOTH_GO_ON(what, 100);
}

TEST_F_TIMEOUT(deadlock, threads_that_fork, 60)
{
	struct work what = { .step = fork_and_wait };

	EXPECT_BOTH_GO_ON(what, 20);
	EXPECT_EQ(0, self->check->stale);
}

static volatile uint64_t *device;

static void use_device(struct work *what)
{
	device[512 * 3 + 64] = 1;
	(void)device[512 * 3 + 65];
	drop_and_write(what);
}

TEST_F_TIMEOUT(deadlock, threads_that_use_the_device_too, 60)
{
	struct work what = { .step = use_device };
	int fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);

	device = mmap(NULL, 5 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, device);
	EXPECT_BOTH_GO_ON(what, 20);
	munmap((void *)device, 5 * PAGE);
	close(fd);
}

/* The program's lock is held for writing, again and again and long. */
TEST_F_TIMEOUT(deadlock, a_program_that_works_on_much_memory_at_once, 60)
{
	const size_t size = 128ul << 20;
	double end;
	char *large;
	size_t i;

	ASSERT_EQ(0, start(self));
	end = memory_clock() + SECONDS * time_scale();
	while (memory_clock() < end) {
		large = memory_map(size);
		for (i = 0; i < size; i += 16 * PAGE)
			large[i] = 1;
		EXPECT_EQ(0, mprotect(large, size, PROT_READ));
		EXPECT_EQ(0, munmap(large, size));
		EXPECT_EQ(0, madvise(self->base, PAGE, MADV_DONTNEED));
		self->base[8] = 1;
	}
	EXPECT_EQ(0, window_check_finish(self->daemon, self->check));
	EXPECT_LT(1000, self->check->checked);
}

struct window_place {
	uint64_t address;
	char *window;
};

/* The other thread of the daemon reads through it meanwhile. */
static long replace_windows(struct fake_self *self, void *argument)
{
	struct window_place *place = argument;
	uint64_t offset = MIMIC_BUS_WINDOW((uint32_t)self->control->open_binding) + place->address;
	unsigned int i;

	for (i = 0; i < 3000; i++) {
		if (mmap(place->window, CELLS * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			 self->fd, (off_t)offset) != place->window)
			return -1;
	}
	return 0;
}

static long map_window(struct fake_self *self, void *argument)
{
	struct window_place *place = argument;

	place->window = fake_self_window(self, (uint32_t)self->control->open_binding, place->address,
					 CELLS * PAGE);
	return place->window == MAP_FAILED ? -1 : 0;
}

/* Until a value says so that only the program writes. */
static long read_until_told(struct fake_self *self, void *argument)
{
	struct window_place *place = argument;
	uint64_t value = 0, loads = 0;

	(void)self;
	window_catch_bus_errors();
	while (window_load(place->window + (loads % CELLS) * PAGE + 64, &value) || value != 7)
		loads++;
	return (long)loads;
}

TEST_F_TIMEOUT(deadlock, a_daemon_that_maps_its_window_anew_while_it_reads_it, 60)
{
	struct work what = { .step = drop_and_write };
	struct window_place place;
	uint32_t i;

	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	self->base = memory_map(CELLS * PAGE);
	place.address = (uintptr_t)self->base;
	ASSERT_EQ(0, fake_daemon_call(self->daemon, map_window, &place, sizeof(place)));
	what.memory = self->base;
	fake_daemon_call_start(self->daemon, read_until_told, &place, sizeof(place));
	start_threads(&what);
	EXPECT_EQ(0, fake_daemon_call(self->daemon, replace_windows, &place, sizeof(place)));
	stop_threads(&what);
	for (i = 0; i < CELLS; i++)
		*(volatile uint64_t *)(self->base + i * PAGE + 64) = 7;
	EXPECT_LT(20, fake_daemon_call_finish(self->daemon, &place, sizeof(place)));
	EXPECT_LT(10, what.steps);
}

/* --- one of them dies ------------------------------------------------------- */

TEST_F_TIMEOUT(deadlock, a_daemon_that_is_killed_while_it_reads, 60)
{
	struct work what = { .step = drop_and_write };
	uint64_t steps;
	double begin;

	ASSERT_EQ(0, start(self));
	what.memory = self->base;
	start_threads(&what);
	usleep(300000);
	EXPECT_LT(0, self->check->checked + self->check->absent);
	begin = memory_clock();
	fake_daemon_kill(self->daemon);
	EXPECT_GT(begin + 1 * time_scale(), memory_clock());
	steps = what.steps;
	usleep(100000 * time_scale());
	EXPECT_LT(steps, what.steps);
	stop_threads(&what);
}

static void work_for_ever(struct program_shared *shared, volatile uint64_t *memory, int fd)
{
	struct work what = { .step = drop_and_write, .memory = (char *)memory };

	(void)shared;
	(void)fd;
	start_threads(&what);
	for (;;)
		pause();
}

TEST_F_TIMEOUT(deadlock, a_program_that_is_killed_while_the_daemon_reads_it, 60)
{
	uint64_t accesses;
	double begin;
	int i, looks;

	for (i = 0; i < 5; i++) {
		ASSERT_TRUE(program_start(&self->program, self->daemon, CELLS * PAGE, work_for_ever));
		generations_place_cells(self->all, self->check, (void *)self->program.memory, CELLS, PAGE);
		ASSERT_EQ(0, window_map(self->daemon, self->program.memory, CELLS * PAGE));
		window_check_start(self->daemon, self->check);
		usleep(100000);
		begin = memory_clock();
		program_stop(&self->program);
		EXPECT_GT(begin + 1 * time_scale(), memory_clock());
		accesses = self->check->absent;
		for (looks = 0; looks < 250 && self->check->absent == accesses; looks++)
			usleep(20000 * time_scale());
		EXPECT_LT(accesses, self->check->absent);
		EXPECT_EQ(0, window_check_finish(self->daemon, self->check));
		munmap((void *)self->program.memory, CELLS * PAGE);
	}
}

/* A daemon that waits for a lock that the program will hold for long can be killed. */
TEST_F_TIMEOUT(deadlock, both_are_killed_at_once, 60)
{
	ASSERT_TRUE(program_start(&self->program, self->daemon, CELLS * PAGE, work_for_ever));
	generations_place_cells(self->all, self->check, (void *)self->program.memory, CELLS, PAGE);
	ASSERT_EQ(0, window_map(self->daemon, self->program.memory, CELLS * PAGE));
	window_check_start(self->daemon, self->check);
	usleep(100000);
	EXPECT_EQ(0, kill(self->program.pid, SIGKILL));
	fake_daemon_kill(self->daemon);
	program_stop(&self->program);
	EXPECT_LT(0, self->check->checked + self->check->absent);
}

TEST_HARNESS_MAIN
