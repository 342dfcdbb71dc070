/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Shootdowns: a program's change of its memory posts a flush of the device's TLB.
 * Many at once are one. A change of a page that the device has seen is over after the flush, or after a
 * tenth of a second if the device hangs.
 */
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "mimic/maple_registers.h"
#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/maple_device.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/program.h"
#include "tests/kselftest/lib/time_scale.h"
#include "tests/kselftest/lib/window.h"

/* The longest that a program may wait for a change. */
#define SECONDS_MAX 0.1
/* How long none waits for a daemon after one has in vain, and a bit. */
#define QUIET_SECONDS 11

FIXTURE(shootdown) {
	struct fake_daemon *daemon;
	int fd;
	volatile uint64_t *page;
	uint64_t value;
};

FIXTURE_SETUP(shootdown)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE, .is_paper = true };

	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->page = memory_map(16 * PAGE);
	self->page[0] = self->page[512] = 1;
}

FIXTURE_TEARDOWN(shootdown)
{
	kill(self->daemon->pid, SIGCONT);
	if (self->fd >= 0)
		close(self->fd);
	fake_daemon_stop(self->daemon);
}

/* The device is flushed, and the process's counter grows. */
#define EXPECT_FLUSH(call) do { \
	unsigned int flushes = self->daemon->control->flushes; \
	uint64_t shootdowns = maple_device_info(self->fd).shootdowns; \
	EXPECT_TRUE(call); \
	EXPECT_TRUE(fake_wait(&self->daemon->control->flushes, flushes + 1)); \
	EXPECT_LT(shootdowns, maple_device_info(self->fd).shootdowns); \
} while (0)

TEST_F(shootdown, munmap_flushes)
{
	EXPECT_FLUSH(!munmap((void *)self->page, PAGE));
}

TEST_F(shootdown, a_mapping_over_another_one_flushes)
{
	EXPECT_FLUSH(mmap((void *)self->page, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			  -1, 0) == self->page);
}

TEST_F(shootdown, mprotect_flushes)
{
	EXPECT_FLUSH(!mprotect((void *)self->page, PAGE, PROT_READ));
}

TEST_F(shootdown, dontneed_flushes)
{
	EXPECT_FLUSH(!madvise((void *)self->page, PAGE, MADV_DONTNEED));
}

TEST_F(shootdown, mremap_flushes)
{
	void *place = memory_map(PAGE);

	EXPECT_FLUSH(mremap((void *)self->page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
}

TEST_F(shootdown, truncate_flushes)
{
	int file = memory_file(PAGE);
	volatile char *page = memory_map_file(file, PAGE);

	page[0] = 1;
	EXPECT_FLUSH(!ftruncate(file, 0));
	close(file);
}

static bool fork_and_wait(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	return child > 0 && waitpid(child, NULL, 0) == child;
}

TEST_F(shootdown, fork_and_the_copy_on_write_after_it_flush)
{
	EXPECT_FLUSH(fork_and_wait());
	EXPECT_FLUSH(fork_and_wait());
}

TEST_F(shootdown, new_memory_flushes_nothing)
{
	uint64_t before = maple_device_info(self->fd).shootdowns;
	volatile char *page = memory_map(4 * PAGE);
	int i;

	for (i = 0; i < 4; i++)
		page[i * PAGE] = 1;
	EXPECT_EQ(before, maple_device_info(self->fd).shootdowns);
}

TEST_F(shootdown, another_process_flushes_nothing)
{
	uint64_t before;
	int go[2];
	pid_t child;
	char byte;

	ASSERT_EQ(0, pipe(go));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		self->page[0] = 2;
		_exit(madvise((void *)self->page, 16 * PAGE, MADV_DONTNEED) != 0);
	}
	before = maple_device_info(self->fd).shootdowns;
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(child, waitpid(child, NULL, 0));
	EXPECT_EQ(before, maple_device_info(self->fd).shootdowns);
}

TEST_F(shootdown, nothing_is_flushed_for_a_program_that_has_closed_the_device)
{
	unsigned int flushes;

	close(self->fd);
	self->fd = -1;
	ASSERT_TRUE(fake_wait(&self->daemon->control->closes, 1));
	usleep(50000);
	flushes = self->daemon->control->flushes;
	EXPECT_EQ(0, munmap((void *)self->page, PAGE));
	usleep(100000);
	EXPECT_EQ(flushes, self->daemon->control->flushes);
}

static struct fake_special hold_flush(void)
{
	return (struct fake_special){
		.page = MAPLE_PAGE_MMU,
		.offset = MAPLE_OFFSET(MAPLE_LOAD_DEBUG, MAPLE_MMU_FLUSH),
		.action = FAKE_KEEP,
		.is_drivers = true,
	};
}

/*
 * Changes of a page that the device has seen, until one has waited in vain: then none waits for some
 * time. Returns how many of the others were over before their flush.
 */
static unsigned int count_early_changes(FIXTURE_DATA(shootdown) *self, bool *in_vain)
{
	unsigned long timeouts = maple_device_count(self->daemon, "timeouts");
	unsigned int flushes, i, early = 0;

	*in_vain = false;
	for (i = 0; i < 100 && !*in_vain; i++) {
		bool is_early;

		self->page[0] = i;
		window_get(self->daemon, self->page, &self->value);
		usleep(1000);
		flushes = self->daemon->control->flushes;
		madvise((void *)self->page, PAGE, MADV_DONTNEED);
		is_early = self->daemon->control->flushes == flushes;
		*in_vain = maple_device_count(self->daemon, "timeouts") > timeouts;
		early += is_early && !*in_vain;
	}
	return early;
}

/*
 * The device must not have a translation of a page of another owner. On a machine that is
 * too busy for the daemon to have a turn a change may be over before; but not again and again.
 */
TEST_F_TIMEOUT(shootdown, a_change_is_over_after_its_flush, 60)
{
	unsigned int tries, early = 0;
	bool in_vain = true;

	ASSERT_EQ(0, window_map(self->daemon, self->page, PAGE));
	for (tries = 0; in_vain && tries < 3; tries++) {
		if (tries)
			sleep(QUIET_SECONDS);
		early += count_early_changes(self, &in_vain);
	}
	EXPECT_EQ(0, early);
	EXPECT_FALSE(in_vain);
}

/* It has never been in reach of the device: nothing is waited for. */
TEST_F(shootdown, a_change_of_what_the_device_has_not_seen_waits_for_nothing)
{
	char *other = memory_map(PAGE);
	double begin;

	ASSERT_EQ(0, window_map(self->daemon, self->page, 2 * PAGE));
	EXPECT_EQ(0, window_get(self->daemon, self->page + 512, &self->value));
	other[0] = 1;
	ASSERT_EQ(0, kill(self->daemon->pid, SIGSTOP));
	begin = memory_clock();
	EXPECT_EQ(0, munmap(other, PAGE));
	EXPECT_EQ(0, madvise((void *)self->page, PAGE, MADV_DONTNEED));
	EXPECT_GT(SECONDS_MAX / 2 * time_scale(), memory_clock() - begin);
	EXPECT_EQ(0, maple_device_count(self->daemon, "timeouts"));
}

/* The memory is out of the device's reach before it. */
TEST_F(shootdown, memory_is_out_of_reach_before_the_flush_is_served)
{
	struct fake_special special = hold_flush();

	ASSERT_EQ(0, window_map(self->daemon, self->page, 2 * PAGE));
	EXPECT_EQ(0, window_get(self->daemon, self->page, &self->value));
	usleep(50000);
	fake_daemon_special(self->daemon, &special);
	ASSERT_EQ(0, munmap((void *)self->page, PAGE));
	EXPECT_EQ(WINDOW_ABSENT, window_get(self->daemon, self->page, &self->value));
	EXPECT_EQ(0, window_get(self->daemon, self->page + 512, &self->value));
	EXPECT_TRUE(fake_wait(&self->daemon->control->held, 1));
	fake_daemon_no_specials(self->daemon);
	EXPECT_EQ(1, fake_daemon_release(self->daemon));
}

/*
 * The kernel may shoot down memory of the test itself at any time (a page that is copied
 * on write after the daemon's fork, one that is moved). So the count begins when the
 * first flush is held, which is when no other flush can be on its way, and each shootdown
 * after the last change may add one flush.
 */
TEST_F(shootdown, many_changes_while_the_device_is_busy_are_one_flush)
{
	struct fake_special special = hold_flush();
	uint64_t shootdowns = maple_device_info(self->fd).shootdowns, changed;
	unsigned int before, i;

	fake_daemon_special(self->daemon, &special);
	EXPECT_EQ(0, madvise((void *)self->page, PAGE, MADV_DONTNEED));
	EXPECT_TRUE(fake_wait(&self->daemon->control->held, 1));
	before = self->daemon->control->flushes;
	for (i = 1; i < 1000; i++) {
		self->page[0] = 1;
		EXPECT_EQ(0, madvise((void *)self->page, PAGE, MADV_DONTNEED));
	}
	changed = maple_device_info(self->fd).shootdowns;
	EXPECT_LE(shootdowns + 1000, changed);
	EXPECT_EQ(1, self->daemon->control->held);
	EXPECT_EQ(before, self->daemon->control->flushes);
	fake_daemon_no_specials(self->daemon);
	EXPECT_EQ(1, fake_daemon_release(self->daemon));
	/* The one that was held, and one for all that came after it. */
	EXPECT_TRUE(fake_wait(&self->daemon->control->flushes, before + 2));
	usleep(100000);
	EXPECT_GE(before + 2 + maple_device_info(self->fd).shootdowns - changed,
		  self->daemon->control->flushes);
}

/* The daemon does nothing at all for a second. */
TEST_F(shootdown, a_program_waits_for_a_daemon_that_hangs_once_and_not_for_long)
{
	double begin, first, longest = 0, end;
	unsigned int changes = 0, flushes;

	ASSERT_EQ(0, window_map(self->daemon, self->page, 16 * PAGE));
	EXPECT_EQ(0, window_get(self->daemon, self->page, &self->value));
	flushes = self->daemon->control->flushes;
	ASSERT_EQ(0, kill(self->daemon->pid, SIGSTOP));
	begin = memory_clock();
	EXPECT_EQ(0, madvise((void *)self->page, PAGE, MADV_DONTNEED));
	first = memory_clock() - begin;
	EXPECT_LT(SECONDS_MAX / 2, first);
	EXPECT_GT(3 * SECONDS_MAX * time_scale(), first);
	EXPECT_EQ(1, maple_device_count(self->daemon, "timeouts"));
	end = memory_clock() + 1;
	while (memory_clock() < end) {
		char *memory = memory_map(16 * PAGE);

		memory[0] = memory[5 * PAGE] = 1;
		begin = memory_clock();
		EXPECT_EQ(0, munmap(memory, 16 * PAGE));
		EXPECT_EQ(0, mprotect((void *)self->page, PAGE, changes % 2 ? PROT_READ | PROT_WRITE : PROT_READ));
		EXPECT_EQ(0, madvise((void *)(self->page + 512), PAGE, MADV_DONTNEED));
		if (memory_clock() - begin > longest)
			longest = memory_clock() - begin;
		self->page[512] = 1;
		changes++;
		usleep(10000);
	}
	begin = memory_clock();
	EXPECT_TRUE(fork_and_wait());
	EXPECT_GT(5 * SECONDS_MAX * time_scale(), memory_clock() - begin);
	ASSERT_EQ(0, kill(self->daemon->pid, SIGCONT));
	EXPECT_GT(SECONDS_MAX * time_scale(), longest);
	EXPECT_LT(10 / time_scale(), changes);
	EXPECT_TRUE(fake_wait(&self->daemon->control->flushes, flushes + 1));
	printf("# the first change took %.1f ms, the longest of %u more %.1f ms\n", first * 1e3, changes,
	       longest * 1e3);
}

/* --- another program, with another device of the same daemon ---------------------------- */

#define OTHER_INDEX 20
#define OTHER_NODE "/dev/maple20"

static long register_other(struct fake_self *self, void *unused)
{
	struct mimic_bus_register wanted = {
		.size = sizeof(wanted), .kind = "maple", .index = OTHER_INDEX, .pages = 5,
		.interrupts = 1, .capabilities = MIMIC_BUS_TRAPS | MIMIC_BUS_WINDOW_ACCESS,
	};

	(void)unused;
	return ioctl(self->fd, MIMIC_BUS_REGISTER, &wanted) ? -errno : (long)wanted.device;
}

static long unregister_other(struct fake_self *self, void *device)
{
	struct mimic_bus_unregister wanted = { .size = sizeof(wanted), .device = *(uint32_t *)device };

	return ioctl(self->fd, MIMIC_BUS_UNREGISTER, &wanted) ? -errno : 0;
}

/* Changes its memory when it is told to. `count`: the microseconds that it took, and one more. */
static void change_when_told(struct program_shared *shared, volatile uint64_t *memory, int fd)
{
	double begin;

	(void)fd;
	while (!shared->go)
		usleep(1000);
	begin = memory_clock();
	madvise((void *)memory, PAGE, MADV_DONTNEED);
	shared->count = 1 + (memory_clock() - begin) * 1e6;
}

/* One change has waited in vain: then none waits, for a while. */
TEST_F(shootdown, a_daemon_that_hangs_is_waited_for_once_by_all_programs_together)
{
	struct fake_daemon other = { .node = OTHER_NODE };
	struct program program = { 0 };
	uint32_t device;
	double begin;
	long result;
	int tries;

	result = fake_daemon_call(self->daemon, register_other, NULL, 0);
	ASSERT_LT(0, result);
	device = (uint32_t)result;
	for (tries = 0; access(OTHER_NODE, F_OK) && tries < 5000; tries++)
		usleep(1000);
	ASSERT_EQ(0, window_map(self->daemon, self->page, PAGE));
	EXPECT_EQ(0, window_get(self->daemon, self->page, &self->value));
	ASSERT_TRUE(program_start(&program, &other, PAGE, change_when_told));
	ASSERT_EQ(0, window_map(self->daemon, program.memory, PAGE));
	EXPECT_EQ(0, window_get(self->daemon, program.memory, &self->value));
	EXPECT_EQ(1, self->value);
	ASSERT_EQ(0, kill(self->daemon->pid, SIGSTOP));
	begin = memory_clock();
	EXPECT_EQ(0, madvise((void *)self->page, PAGE, MADV_DONTNEED));
	EXPECT_LT(SECONDS_MAX / 2, memory_clock() - begin);
	program.shared->go = true;
	for (tries = 0; !program.shared->count && tries < 5000; tries++)
		usleep(1000);
	EXPECT_NE(0, program.shared->count);
	EXPECT_GT(SECONDS_MAX / 2 * time_scale(), program.shared->count * 1e-6);
	ASSERT_EQ(0, kill(self->daemon->pid, SIGCONT));
	program_stop(&program);
	EXPECT_EQ(0, fake_daemon_call(self->daemon, unregister_other, &device, sizeof(device)));
}

TEST_F(shootdown, a_dead_daemon_is_not_waited_for)
{
	double begin;

	ASSERT_EQ(0, window_map(self->daemon, self->page, 2 * PAGE));
	EXPECT_EQ(0, window_get(self->daemon, self->page, &self->value));
	fake_daemon_kill(self->daemon);
	begin = memory_clock();
	EXPECT_EQ(0, munmap((void *)self->page, 16 * PAGE));
	EXPECT_GT(SECONDS_MAX * time_scale(), memory_clock() - begin);
}

TEST_F(shootdown, the_exit_of_a_program_does_not_wait_for_the_daemon)
{
	struct program program;
	double begin;

	close(self->fd);
	self->fd = -1;
	ASSERT_TRUE(program_start(&program, self->daemon, 64 * PAGE, NULL));
	ASSERT_EQ(0, window_map(self->daemon, program.memory, 64 * PAGE));
	EXPECT_EQ(0, window_get(self->daemon, program.memory, &self->value));
	EXPECT_EQ(1, self->value);
	ASSERT_EQ(0, kill(self->daemon->pid, SIGSTOP));
	begin = memory_clock();
	program_stop(&program);
	EXPECT_GT(5 * SECONDS_MAX * time_scale(), memory_clock() - begin);
	ASSERT_EQ(0, kill(self->daemon->pid, SIGCONT));
	EXPECT_EQ(WINDOW_ABSENT, window_get(self->daemon, program.memory, &self->value));
}

TEST_F(shootdown, flushes_and_faults_go_on_beside_each_other)
{
	volatile uint64_t *memory = memory_map(64 * PAGE);
	unsigned int i, resolves;

	ASSERT_EQ(0, window_map(self->daemon, memory, 64 * PAGE));
	for (i = 0; i < 256; i++) {
		resolves = self->daemon->control->resolves;
		EXPECT_EQ(0, fake_daemon_fault(self->daemon, memory + 512 * (i % 64), true));
		EXPECT_TRUE(fake_wait(&self->daemon->control->resolves, resolves + 1));
		EXPECT_EQ(0, window_put(self->daemon, memory + 512 * (i % 64), i + 1));
		EXPECT_EQ(i + 1, memory[512 * (i % 64)]);
		EXPECT_EQ(0, madvise((void *)(memory + 512 * (i % 64)), PAGE, MADV_DONTNEED));
		EXPECT_EQ(WINDOW_ABSENT, window_get(self->daemon, memory + 512 * (i % 64), &self->value));
	}
	EXPECT_EQ(256, maple_device_info(self->fd).faults);
	EXPECT_LE(256, maple_device_info(self->fd).shootdowns);
}

TEST_HARNESS_MAIN
