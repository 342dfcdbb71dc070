/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Page faults that cannot be served, how a program hears of them, and a device
 * that errs: each ends, is counted, and the next good fault is served.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
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

#define WATCH_MS "/sys/module/maple/parameters/watch_ms"

FIXTURE(trouble) {
	struct fake_daemon *daemon;
	struct program program;
	int fd;
	uint64_t value;
};

FIXTURE_VARIANT(trouble) {
	bool is_paper;
};

FIXTURE_VARIANT_ADD(trouble, paper) { .is_paper = true };
FIXTURE_VARIANT_ADD(trouble, artifact) { .is_paper = false };

FIXTURE_SETUP(trouble)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE, .is_paper = variant->is_paper };

	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->program.pid = 0;
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(trouble)
{
	program_stop(&self->program);
	if (self->fd >= 0)
		close(self->fd);
	fake_daemon_stop(self->daemon);
}

#define FAULT(place, writes) do { \
	unsigned int resolves = self->daemon->control->resolves; \
	EXPECT_EQ(0, fake_daemon_fault(self->daemon, (void *)(place), writes)); \
	EXPECT_TRUE(fake_wait(&self->daemon->control->resolves, resolves + 1)); \
	EXPECT_EQ(resolves + 1, self->daemon->control->resolves); \
} while (0)
/* Resolved as a bad address, and counted as such. */
#define EXPECT_BAD(place, writes) do { \
	struct maple_info before = maple_device_info(self->fd); \
	FAULT(place, writes); \
	EXPECT_EQ(MAPLE_FAULT_PIPES, self->daemon->control->last_resolve); \
	EXPECT_EQ(before.unresolved + 1, maple_device_info(self->fd).unresolved); \
	EXPECT_EQ(before.faults, maple_device_info(self->fd).faults); \
} while (0)
#define EXPECT_GOOD() do { \
	volatile uint64_t *good = memory_map(PAGE); \
	FAULT(good, true); \
	EXPECT_NE(0, memory_frame(good)); \
} while (0)

/* --- bad addresses ---------------------------------------------------------- */

TEST_F(trouble, an_address_where_nothing_is_mapped)
{
	char *hole = memory_map(PAGE);

	munmap(hole, PAGE);
	EXPECT_BAD(hole, false);
	EXPECT_BAD(hole, true);
	EXPECT_BAD(NULL, false);
	EXPECT_GOOD();
}

TEST_F(trouble, memory_that_the_program_may_not_touch)
{
	char *page = memory_map(PAGE);

	page[0] = 1;
	ASSERT_EQ(0, mprotect(page, PAGE, PROT_NONE));
	EXPECT_BAD(page, false);
	EXPECT_BAD(page, true);
	EXPECT_GOOD();
}

TEST_F(trouble, addresses_of_the_kernel_and_of_nobody)
{
	EXPECT_BAD(0xffff888000100000ull, false);
	EXPECT_BAD(0xffffffff81000000ull, true);
	EXPECT_BAD(0xfffffffffffff000ull, true);
	EXPECT_BAD(0x0000800000000000ull, false);
	EXPECT_BAD(0x00007ffffffff000ull, false);
	EXPECT_BAD(0x1234567800000000ull, true);
	EXPECT_GOOD();
}

TEST_F(trouble, a_page_behind_the_end_of_a_file)
{
	int file = memory_file(PAGE);
	char *base = memory_map_file(file, 2 * PAGE);

	EXPECT_BAD(base + PAGE, false);
	EXPECT_BAD(base + PAGE, true);
	EXPECT_GOOD();
	close(file);
}

TEST_F(trouble, pages_of_the_device_itself)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
	unsigned int loads = self->daemon->control->loads;

	ASSERT_NE(MAP_FAILED, page);
	EXPECT_BAD(page, false);
	EXPECT_BAD(page, true);
	EXPECT_EQ(loads, self->daemon->control->loads);
	EXPECT_GOOD();
}

static unsigned long address_of(const char *name)
{
	FILE *file = fopen("/proc/self/maps", "re");
	unsigned long found = 0, begin;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (strstr(line, name) && sscanf(line, "%lx", &begin) == 1)
			found = begin;
	}
	if (file)
		fclose(file);
	return found;
}

/* The device would wait for ever for a page that a window never shows. */
TEST_F(trouble, memory_that_a_window_never_shows)
{
	void *page = mmap(NULL, PAGE, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	EXPECT_BAD(page, true);
	EXPECT_GOOD();
}

/* Linux 7 maps them as ordinary pages, which a window shows; before, nobody could have them. */
TEST_F(trouble, the_kernels_own_pages_are_shown_or_bad)
{
	struct maple_info before = maple_device_info(self->fd);
	unsigned long kernels = address_of("[vvar]");
	uint64_t value;

	if (!kernels)
		SKIP(return, "this kernel has none");
	FAULT(kernels, false);
	if (maple_device_info(self->fd).unresolved == before.unresolved) {
		EXPECT_EQ(0, window_map(self->daemon, (void *)kernels, PAGE));
		EXPECT_EQ(0, window_get(self->daemon, (void *)kernels, &value));
		window_unmap(self->daemon);
	}
	EXPECT_GOOD();
}

/* --- how a program hears of it ---------------------------------------------- */

static int poll_now(int fd)
{
	struct pollfd wanted = { .fd = fd, .events = POLLPRI };

	return poll(&wanted, 1, 0) == 1 ? wanted.revents : 0;
}

TEST_F(trouble, poll_tells_of_a_bad_address_until_the_counters_are_read)
{
	EXPECT_EQ(0, poll_now(self->fd));
	EXPECT_GOOD();
	EXPECT_EQ(0, poll_now(self->fd));
	FAULT(NULL, false);
	EXPECT_EQ(POLLPRI, poll_now(self->fd));
	EXPECT_EQ(POLLPRI, poll_now(self->fd));
	EXPECT_EQ(1, maple_device_info(self->fd).unresolved);
	EXPECT_EQ(0, poll_now(self->fd));
}

TEST_F(trouble, poll_goes_on_telling_of_a_bad_address_at_which_info_peeked)
{
	struct maple_info info = { .size = sizeof(info), .flags = ACCELERATOR_INFO_PEEK };

	FAULT(NULL, false);
	ASSERT_EQ(0, ioctl(self->fd, MAPLE_IOCTL_INFO, &info));
	EXPECT_EQ(1, info.unresolved);
	EXPECT_EQ(POLLPRI, poll_now(self->fd));
}

TEST_F(trouble, info_with_other_flags_is_refused)
{
	struct maple_info info = { .size = sizeof(info), .flags = ACCELERATOR_INFO_PEEK << 1 };

	EXPECT_EQ(-1, ioctl(self->fd, MAPLE_IOCTL_INFO, &info));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(trouble, a_program_that_waits_in_poll_wakes_up)
{
	struct pollfd wanted = { .fd = self->fd, .events = POLLPRI };
	pid_t parent = getpid();
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (!child) {
		usleep(100000);
		_exit(fake_daemon_fault(self->daemon, NULL, false) || getppid() != parent);
	}
	EXPECT_EQ(1, poll(&wanted, 1, 10000));
	EXPECT_EQ(POLLPRI, wanted.revents);
	waitpid(child, NULL, 0);
}

TEST_F(trouble, an_eventfd_counts_bad_addresses)
{
	struct maple_eventfd wanted = { .size = sizeof(wanted) };
	uint64_t count = 0;

	wanted.fd = eventfd(0, EFD_NONBLOCK);
	ASSERT_LE(0, wanted.fd);
	ASSERT_EQ(0, ioctl(self->fd, MAPLE_IOCTL_EVENTFD, &wanted));
	EXPECT_GOOD();
	EXPECT_EQ(-1, read(wanted.fd, &count, 8));
	EXPECT_EQ(EAGAIN, errno);
	FAULT(NULL, false);
	FAULT(NULL, true);
	EXPECT_EQ(8, read(wanted.fd, &count, 8));
	EXPECT_EQ(2, count);
	close(wanted.fd);
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

TEST_F(trouble, sigio_tells_of_a_bad_address)
{
	int i;

	signals = 0;
	signal(SIGIO, count_signal);
	ASSERT_EQ(0, fcntl(self->fd, F_SETOWN, getpid()));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_ASYNC));
	EXPECT_GOOD();
	EXPECT_EQ(0, signals);
	FAULT(NULL, false);
	for (i = 0; i < 1000 && !signals; i++)
		usleep(1000);
	EXPECT_EQ(1, signals);
}

/* --- a device that errs ------------------------------------------------------ */

TEST_F(trouble, interrupts_without_a_fault_are_counted_and_harmless)
{
	int i;

	for (i = 0; i < 200; i++)
		EXPECT_EQ(0, fake_daemon_interrupt(self->daemon, 0));
	for (i = 0; i < 1000 && !maple_device_count(self->daemon, "spurious"); i++)
		usleep(1000);
	EXPECT_LT(0, maple_device_count(self->daemon, "spurious"));
	EXPECT_EQ(0, self->daemon->control->resolves);
	EXPECT_EQ(0, maple_device_info(self->fd).faults);
	EXPECT_GOOD();
}

TEST_F(trouble, a_fault_whose_interrupt_is_lost_is_found)
{
	volatile uint64_t *page = memory_map(PAGE);
	double begin = memory_clock();

	self->daemon->control->fault_word = (uintptr_t)page | MAPLE_FAULT_PIPES | MAPLE_FAULT_STALLED;
	EXPECT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	EXPECT_GT(begin + 1.5 * time_scale(), memory_clock());
	EXPECT_NE(0, memory_frame(page));
	EXPECT_EQ(1, maple_device_count(self->daemon, "polled"));
	EXPECT_EQ(0, maple_device_count(self->daemon, "interrupts"));
}

TEST_F(trouble, the_watch_for_lost_interrupts_can_be_turned_off)
{
	volatile uint64_t *page = memory_map(PAGE);

	ASSERT_TRUE(memory_write_text(WATCH_MS, "0"));
	/* One that was set before runs yet. */
	usleep(400000 * time_scale());
	self->daemon->control->fault_word = (uintptr_t)page | MAPLE_FAULT_PIPES | MAPLE_FAULT_STALLED;
	usleep(700000);
	EXPECT_EQ(0, self->daemon->control->resolves);
	EXPECT_EQ(0, fake_daemon_interrupt(self->daemon, 0));
	EXPECT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	ASSERT_TRUE(memory_write_text(WATCH_MS, "250"));
}

/* The page that the device really needs stays absent; it will ask again. */
TEST_F(trouble, a_wrong_address_brings_in_the_wrong_page_only)
{
	volatile uint64_t *page = memory_map(2 * PAGE);

	ASSERT_EQ(0, window_map(self->daemon, page, 2 * PAGE));
	FAULT(page + 512, true);
	EXPECT_EQ(WINDOW_ABSENT, window_get(self->daemon, page, &self->value));
	EXPECT_EQ(0, window_get(self->daemon, page + 512, &self->value));
	FAULT(page, true);
	EXPECT_EQ(0, window_get(self->daemon, page, &self->value));
}

static struct fake_special status_special(bool is_paper)
{
	return (struct fake_special){
		.page = MAPLE_PAGE_MMU,
		.offset = is_paper ? MAPLE_OFFSET(MAPLE_LOAD_FAULT_STATUS, 0) :
				     MAPLE_OFFSET(MAPLE_LOAD_DEBUG, MAPLE_MMU_FAULT),
		.is_drivers = true,
	};
}

/* RESOLVE does nothing: the same fault comes for ever. */
TEST_F(trouble, a_fault_that_never_resolves_does_not_keep_the_driver_busy)
{
	struct fake_special special = status_special(variant->is_paper);
	char *page = memory_map(PAGE);
	unsigned int resolves;

	special.action = FAKE_DATA;
	special.data = (uintptr_t)page | MAPLE_FAULT_PIPES | (variant->is_paper ? MAPLE_FAULT_STALLED : 0);
	fake_daemon_special(self->daemon, &special);
	EXPECT_EQ(0, fake_daemon_interrupt(self->daemon, 0));
	EXPECT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	usleep(100000);
	resolves = self->daemon->control->resolves;
	usleep(1000000);
	/* A handful of rounds of the watch, each bounded. */
	EXPECT_GT(resolves + 400, self->daemon->control->resolves);
	EXPECT_LT(resolves, self->daemon->control->resolves);
	fake_daemon_no_specials(self->daemon);
	/* A resolve that is on its way would resolve the next fault, too. */
	usleep(300000 * time_scale());
	EXPECT_GOOD();
}

TEST_F_TIMEOUT(trouble, a_device_that_does_not_answer_is_given_up_and_asked_again, 60)
{
	struct fake_special special = status_special(variant->is_paper);
	volatile uint64_t *page = memory_map(PAGE);
	int i;

	special.action = FAKE_KEEP;
	fake_daemon_special(self->daemon, &special);
	EXPECT_EQ(0, fake_daemon_fault(self->daemon, page, true));
	for (i = 0; i < 5000 && !maple_device_count(self->daemon, "timeouts"); i++)
		usleep(1000);
	EXPECT_LT(0, maple_device_count(self->daemon, "timeouts"));
	EXPECT_EQ(0, self->daemon->control->resolves);
	fake_daemon_no_specials(self->daemon);
	fake_daemon_release(self->daemon);
	EXPECT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	EXPECT_NE(0, memory_frame(page));
}

TEST_F(trouble, a_fault_while_nobody_has_the_device_is_resolved_as_bad)
{
	close(self->fd);
	self->fd = -1;
	ASSERT_TRUE(fake_wait(&self->daemon->control->closes, 1));
	FAULT(0x10000, false);
	EXPECT_EQ(MAPLE_FAULT_PIPES, self->daemon->control->last_resolve);
	EXPECT_EQ(0, maple_device_count(self->daemon, "faults"));
	EXPECT_EQ(0, maple_device_count(self->daemon, "unresolved"));
}

/* The register was read while the program was there; the page is wanted when it is gone. */
TEST_F(trouble, a_program_that_is_killed_during_its_fault)
{
	struct fake_special special = status_special(variant->is_paper);
	unsigned int closes;

	close(self->fd);
	self->fd = -1;
	ASSERT_TRUE(program_start(&self->program, self->daemon, 2 * PAGE, NULL));
	special.action = FAKE_KEEP;
	fake_daemon_special(self->daemon, &special);
	EXPECT_EQ(0, fake_daemon_fault(self->daemon, self->program.memory + 512, true));
	ASSERT_TRUE(fake_wait(&self->daemon->control->held, 1));
	closes = self->daemon->control->closes;
	program_stop(&self->program);
	EXPECT_TRUE(fake_wait(&self->daemon->control->closes, closes + 1));
	fake_daemon_no_specials(self->daemon);
	fake_daemon_release(self->daemon);
	/* Nobody is left whose fault it could be; it is resolved all the same. */
	EXPECT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	EXPECT_EQ(0, self->daemon->control->last_resolve & MAPLE_RESOLVE_PRESENT);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	EXPECT_GOOD();
}

TEST_F(trouble, the_next_program_is_not_told_of_the_last_ones_faults)
{
	FAULT(NULL, false);
	close(self->fd);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	EXPECT_EQ(0, poll_now(self->fd));
	EXPECT_EQ(0, maple_device_info(self->fd).unresolved);
}

TEST_HARNESS_MAIN
