/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The n-th allocation of a call fails, for each n until the call gets by: every
 * ioctl, open, mmap, access and fault ends with an error or succeeds, and works
 * afterwards. Needs a kernel with CONFIG_FAULT_INJECTION (make check-kernel-debug);
 * its KASAN and kmemleak report leaks and bad accesses.
 *
 * The number belongs to a thread. So work items are left out, as the one that waits for a process's mmap_lock
 * (window.c): which of the kernel's workers takes one is not known before.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mimic/maple_ioctl.h"
#include "tests/kselftest/lib/fail_nth.h"
#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/slow_page.h"
#include "tests/kselftest/lib/window.h"

FIXTURE(failing)
{
	struct fake_daemon *daemon;
	int fd;
	char *page;
	char *memory;
};

FIXTURE_SETUP(failing)
{
	struct fake_options options = { .channel = FAKE_SLOTS, .is_paper = true };

	self->daemon = NULL;
	if (!fail_nth_is_possible())
		SKIP(return, "this kernel injects no failures");
	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->page);
	self->memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->memory);
}

FIXTURE_TEARDOWN(failing)
{
	if (!self->daemon)
		return;
	munmap(self->page, PAGE);
	close(self->fd);
	fake_daemon_stop(self->daemon);
}

/* The setup has said why there is nothing to try; 6.1's harness runs the test all the same. */
#define NEEDS_INJECTION() do { \
	if (!self->daemon) \
		return; \
} while (0)

/* The device is as good as before. */
#define EXPECT_WORKS() do { \
	*(volatile uint64_t *)self->page = 0x1234; \
	EXPECT_EQ(0x1234, *(volatile uint64_t *)self->page); \
} while (0)

struct opened {
	const char *node;
	int fd;
};

static long open_node(void *argument)
{
	struct opened *opened = argument;

	opened->fd = open(opened->node, O_RDWR | O_CLOEXEC);
	return opened->fd < 0 ? -errno : 0;
}

static void close_node(void *argument)
{
	close(((struct opened *)argument)->fd);
}

TEST_F(failing, open_by_the_process_that_has_it)
{
	struct opened opened = { .node = self->daemon->node };

	NEEDS_INJECTION();
	EXPECT_LT(0, fail_nth_sweep(open_node, close_node, &opened));
	EXPECT_WORKS();
}

TEST_F(failing, the_first_open)
{
	struct opened opened = { .node = self->daemon->node };

	NEEDS_INJECTION();
	munmap(self->page, PAGE);
	close(self->fd);
	EXPECT_LT(0, fail_nth_sweep(open_node, close_node, &opened));
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->page);
	EXPECT_WORKS();
}

struct mapped {
	int fd;
	void *address;
};

static long map_page(void *argument)
{
	struct mapped *mapped = argument;

	mapped->address = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, mapped->fd, 0);
	return mapped->address == MAP_FAILED ? -errno : 0;
}

static void unmap_page(void *argument)
{
	munmap(((struct mapped *)argument)->address, PAGE);
}

TEST_F(failing, mmap_of_a_page)
{
	struct mapped mapped = { .fd = self->fd };

	NEEDS_INJECTION();
	EXPECT_LT(0, fail_nth_sweep(map_page, unmap_page, &mapped));
	EXPECT_WORKS();
}

static long ask_info(void *argument)
{
	struct maple_info info = { .size = sizeof(info) };

	return ioctl(*(int *)argument, MAPLE_IOCTL_INFO, &info) ? -errno : 0;
}

TEST_F(failing, info)
{
	NEEDS_INJECTION();
	EXPECT_LE(0, fail_nth_sweep(ask_info, NULL, &self->fd));
	EXPECT_WORKS();
}

static long ask_connect(void *argument)
{
	struct maple_connect connect = { .size = sizeof(connect) };

	if (ioctl(*(int *)argument, MAPLE_IOCTL_CONNECT, &connect))
		return -errno;
	close(connect.fd);
	return 0;
}

TEST_F(failing, connect)
{
	NEEDS_INJECTION();
	EXPECT_LE(0, fail_nth_sweep(ask_connect, NULL, &self->fd));
	EXPECT_WORKS();
}

/* A fault without memory is made again by the kernel: the access always ends well. */
static long access_page(void *argument)
{
	volatile uint64_t *word = argument;

	*word = 0x55;
	return *word == 0x55 ? 0 : -EIO;
}

TEST_F(failing, the_first_access_of_a_thread)
{
	NEEDS_INJECTION();
	EXPECT_LE(0, fail_nth_sweep(access_page, NULL, self->page));
	EXPECT_WORKS();
}

/* --- in the daemon ---------------------------------------------------------- */

struct in_daemon {
	uint64_t address;
	int result;
};

static struct fake_self *daemon_self;

static long ask_register(void *argument)
{
	struct mimic_bus_register wanted = {
		.size = sizeof(wanted), .kind = "nobody", .index = -1, .pages = 1, .interrupts = 2,
	};

	if (ioctl(daemon_self->fd, MIMIC_BUS_REGISTER, &wanted))
		return -errno;
	*(uint32_t *)argument = wanted.device;
	return 0;
}

static void ask_unregister(void *argument)
{
	struct mimic_bus_unregister gone = { .size = sizeof(gone), .device = *(uint32_t *)argument };

	ioctl(daemon_self->fd, MIMIC_BUS_UNREGISTER, &gone);
}

static long sweep_register(struct fake_self *self, void *argument)
{
	uint32_t device;

	daemon_self = self;
	((struct in_daemon *)argument)->result = fail_nth_sweep(ask_register, ask_unregister, &device);
	return 0;
}

TEST_F(failing, registering_a_device)
{
	struct in_daemon call = { 0 };

	NEEDS_INJECTION();
	ASSERT_EQ(0, fake_daemon_call(self->daemon, sweep_register, &call, sizeof(call)));
	EXPECT_LT(0, call.result);
	EXPECT_WORKS();
}

static long open_control(void *argument)
{
	*(int *)argument = open(MIMIC_BUS_NODE, O_RDWR | O_CLOEXEC);
	return *(int *)argument < 0 ? -errno : 0;
}

static void close_control(void *argument)
{
	close(*(int *)argument);
}

static long sweep_control(struct fake_self *self, void *argument)
{
	int fd;

	(void)self;
	((struct in_daemon *)argument)->result = fail_nth_sweep(open_control, close_control, &fd);
	return 0;
}

TEST_F(failing, open_of_the_control_node)
{
	struct in_daemon call = { 0 };

	NEEDS_INJECTION();
	ASSERT_EQ(0, fake_daemon_call(self->daemon, sweep_control, &call, sizeof(call)));
	EXPECT_LT(0, call.result);
	EXPECT_WORKS();
}

/* Maps a page of the program's, and touches it: the mapping, its page tables, the mirror. */
static long look_through_window(void *argument)
{
	const struct in_daemon *call = argument;
	uint64_t value;
	void *window = fake_self_window(daemon_self, (uint32_t)daemon_self->control->open_binding,
					call->address, PAGE);
	long result;

	if (window == MAP_FAILED)
		return -errno;
	result = window_load(window, &value);
	if (!result && value != 0x77)
		result = -EIO;
	munmap(window, PAGE);
	return result;
}

static long sweep_window(struct fake_self *self, void *argument)
{
	daemon_self = self;
	window_catch_bus_errors();
	((struct in_daemon *)argument)->result = fail_nth_sweep(look_through_window, NULL, argument);
	return 0;
}

TEST_F(failing, a_window_and_its_first_touch)
{
	struct in_daemon call = { .address = (uintptr_t)self->memory };

	NEEDS_INJECTION();
	*(volatile uint64_t *)self->memory = 0x77;
	ASSERT_EQ(0, fake_daemon_call(self->daemon, sweep_window, &call, sizeof(call)));
	EXPECT_LT(0, call.result);
	EXPECT_WORKS();
}

/* --- the thread that serves page faults ---------------------------------------- */

/* Its fail-nth: the kernel gives it the name of its interrupt and of the device, cut. */
static int open_fail_nth_of_server(const struct fake_daemon *daemon)
{
	char command[160], path[64];
	int thread = 0;
	FILE *found;

	snprintf(command, sizeof(command), "grep -l '^irq/[0-9]*-maple%d$' /proc/[0-9]*/comm | cut -d/ -f3",
		 daemon->control->index);
	found = popen(command, "r");
	if (found && fscanf(found, "%d", &thread) != 1)
		thread = 0;
	if (found)
		pclose(found);
	snprintf(path, sizeof(path), "/proc/%d/fail-nth", thread);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* Once more if nothing has failed: the driver's watch may have been faster than its thread. */
static int sweep_of_server(int server, fail_nth_call call, void *argument)
{
	int injected = 0, tries;

	for (tries = 0; !injected && tries < 5; tries++)
		injected = fail_nth_sweep_of(server, call, NULL, argument);
	return injected;
}

/* However its thread fares, the fault is resolved, and the page is there. */
static long fault_in_page(void *argument)
{
	FIXTURE_DATA(failing) *self = argument;
	unsigned int resolves = self->daemon->control->resolves;
	uint64_t value;

	madvise(self->memory, PAGE, MADV_DONTNEED);
	if (fake_daemon_fault(self->daemon, self->memory, true) ||
	    !fake_wait(&self->daemon->control->resolves, resolves + 1))
		return -ETIMEDOUT;
	return window_get(self->daemon, self->memory, &value);
}

TEST_F(failing, the_service_of_a_page_fault)
{
	int server;

	NEEDS_INJECTION();
	ASSERT_EQ(0, window_map(self->daemon, self->memory, PAGE));
	server = open_fail_nth_of_server(self->daemon);
	ASSERT_LE(0, server);
	EXPECT_LT(0, sweep_of_server(server, fault_in_page, self));
	close(server);
	EXPECT_WORKS();
}

struct slow_fault {
	FIXTURE_DATA(failing) *self;
	int slow;
};

/* A page that is left to a thread of its own, as another program brings it. */
static long fault_in_slow_page(void *argument)
{
	const struct slow_fault *fault = argument;
	FIXTURE_DATA(failing) *self = fault->self;
	unsigned int resolves = self->daemon->control->resolves;
	uint64_t value;
	int error;

	madvise(self->memory, PAGE, MADV_DONTNEED);
	if (fake_daemon_fault(self->daemon, self->memory, true) || !slow_page_is_wanted(fault->slow) ||
	    slow_page_give(fault->slow, self->memory, 0x77) ||
	    !fake_wait(&self->daemon->control->resolves, resolves + 1))
		return -ETIMEDOUT;
	error = window_get(self->daemon, self->memory, &value);
	return error || value == 0x77 ? error : -EIO;
}

TEST_F_TIMEOUT(failing, the_service_of_a_slow_page, 60)
{
	struct slow_fault fault = { .self = self };
	int server;

	NEEDS_INJECTION();
	fault.slow = slow_page_make(self->memory);
	if (fault.slow < 0)
		SKIP(return, "this kernel has no userfaultfd");
	ASSERT_EQ(0, window_map(self->daemon, self->memory, PAGE));
	server = open_fail_nth_of_server(self->daemon);
	ASSERT_LE(0, server);
	EXPECT_LT(0, sweep_of_server(server, fault_in_slow_page, &fault));
	close(server);
	close(fault.slow);
	EXPECT_WORKS();
}

/* --- a window that is mapped anew ------------------------------------------------ */

#define WINDOW_TABLES "/sys/module/mimic/parameters/window_tables"
#define REGIONS 16ul
#define REGION (2ul << 20)

struct anew {
	uint64_t address;
	int n;
	bool was_reached;
	char *window;	/* where it lies in the daemon */
};

static sigjmp_buf after_hole;

/* Where nothing lies: a daemon that goes on all the same. */
static void leave_hole(int number)
{
	siglongjmp(after_hole, number);
}

/* Touches more regions than there may be page tables, while the n-th allocation fails. */
static long touch_regions(struct fake_self *self, void *argument)
{
	struct anew *anew = argument;
	uint64_t value;
	volatile size_t i;
	int fd;

	window_catch_bus_errors();
	signal(SIGSEGV, leave_hole);
	fd = fail_nth_open();
	if (!fail_nth_arm(fd, anew->n))
		return -EIO;
	for (i = 0; i < REGIONS && !sigsetjmp(after_hole, 1); i++)
		window_load(anew->window + i * REGION, &value);
	anew->was_reached = !fail_nth_is_armed(fd);
	if (!fail_nth_disarm(fd))
		return -EIO;
	close(fd);
	(void)self;
	return 0;
}

static long map_regions(struct fake_self *self, void *argument)
{
	struct anew *anew = argument;

	anew->window = fake_self_window(self, (uint32_t)self->control->open_binding, anew->address,
					REGIONS * REGION);
	return anew->window == MAP_FAILED ? -errno : 0;
}

/* Is the whole window mapped at its address? */
static bool has_window(const struct fake_daemon *daemon, const struct anew *anew)
{
	char path[32], line[256];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", daemon->pid);
	maps = fopen(path, "r");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		unsigned long start, end;

		found = sscanf(line, "%lx-%lx", &start, &end) == 2 && start == (uintptr_t)anew->window &&
			end == start + REGIONS * REGION && strstr(line, "/dev/mimic");
	}
	if (maps)
		fclose(maps);
	return found;
}

/*
 * The daemon has its window where it was, or is dead: its next mapping must not come to lie
 * where the device still reaches.
 */
TEST_F_TIMEOUT(failing, a_window_that_is_mapped_anew, 120)
{
	unsigned long limit;
	char text[16];
	struct anew anew = { .was_reached = true };
	unsigned int lost = 0, dead = 0;

	NEEDS_INJECTION();
	limit = memory_number(WINDOW_TABLES);
	ASSERT_TRUE(memory_write_text(WINDOW_TABLES, "4"));
	anew.address = (uintptr_t)mmap(NULL, (REGIONS + 1) * REGION, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	anew.address = (anew.address + REGION - 1) & ~(REGION - 1);
	for (anew.n = 1; anew.was_reached && anew.n < FAIL_NTH_MOST && !lost; anew.n++) {
		ASSERT_EQ(0, fake_daemon_call(self->daemon, map_regions, &anew, sizeof(anew)));
		fake_daemon_call(self->daemon, touch_regions, &anew, sizeof(anew));
		if (has_window(self->daemon, &anew))
			continue;
		lost += !fake_daemon_has_died(self->daemon);
		dead++;
		if (lost)
			fake_daemon_kill(self->daemon);
		munmap(self->page, PAGE);
		close(self->fd);
		ASSERT_EQ(0, fake_daemon_restart(self->daemon));
		self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
		self->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
		ASSERT_NE(MAP_FAILED, (void *)self->page);
	}
	snprintf(text, sizeof(text), "%lu", limit);
	EXPECT_TRUE(memory_write_text(WINDOW_TABLES, text));
	printf("# %d allocations failed; %u daemons were killed\n", anew.n - 2, dead);
	EXPECT_EQ(0, lost);
	EXPECT_FALSE(anew.was_reached);
	EXPECT_WORKS();
}

TEST_HARNESS_MAIN
