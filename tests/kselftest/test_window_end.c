/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The end of a window: with its program, its device, its daemon; and that nothing stays behind. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/program.h"
#include "tests/kselftest/lib/window.h"
#include "tests/lib/limit.h"

TEST_SECONDS(120);

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif

FIXTURE(end) {
	struct fake_daemon *daemon;
	struct program program;
	uint64_t value;
};

FIXTURE_SETUP(end)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE };

	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->program.pid = 0;
}

FIXTURE_TEARDOWN(end)
{
	program_stop(&self->program);
	fake_daemon_stop(self->daemon);
}

#define GET(place) window_get(self->daemon, place, &self->value)
#define PUT(place, number) window_put(self->daemon, place, number)
#define EXPECT_SEEN(number, place) do { \
	EXPECT_EQ(0, GET(place)); \
	EXPECT_EQ(number, self->value); \
} while (0)
#define EXPECT_ABSENT(place) EXPECT_EQ(WINDOW_ABSENT, GET(place))
#define WATCH(place, size) ASSERT_EQ(0, window_map(self->daemon, place, size))
/* A program of which the daemon has seen and written the page. */
#define START(main) do { \
	ASSERT_TRUE(program_start(&self->program, self->daemon, PAGE, main)); \
	WATCH(self->program.memory, PAGE); \
	EXPECT_SEEN(1, self->program.memory); \
	EXPECT_EQ(0, PUT(self->program.memory + 1, 2)); \
} while (0)

static void leave(struct program_shared *shared, volatile uint64_t *memory, int fd)
{
	(void)memory;
	(void)fd;
	while (!shared->go)
		usleep(1000);
	_exit(0);
}

TEST_F(end, the_window_ends_with_the_programs_exit)
{
	START(leave);
	self->program.shared->go = true;
	ASSERT_EQ(self->program.pid, waitpid(self->program.pid, NULL, 0));
	self->program.pid = 0;
	EXPECT_ABSENT(self->program.memory);
	EXPECT_EQ(WINDOW_ABSENT, PUT(self->program.memory, 3));
	EXPECT_TRUE(fake_wait(&self->daemon->control->closes, 1));
}

TEST_F(end, the_window_ends_with_a_program_that_is_killed)
{
	START(NULL);
	program_stop(&self->program);
	EXPECT_ABSENT(self->program.memory);
	EXPECT_TRUE(fake_wait(&self->daemon->control->closes, 1));
}

static void execute(struct program_shared *shared, volatile uint64_t *memory, int fd)
{
	(void)memory;
	(void)fd;
	while (!shared->go)
		usleep(1000);
	execl("/bin/sleep", "sleep", "1000", NULL);
	_exit(1);
}

/* The descriptor stays open in the new program. */
TEST_F(end, the_window_ends_with_the_programs_exec)
{
	int fd;

	START(execute);
	self->program.shared->go = true;
	ASSERT_TRUE(fake_wait(&self->daemon->control->closes, 1));
	/* A work item takes the window down, soon after the daemon has heard of the close. */
	for (int i = 0; i < 200 && GET(self->program.memory) != WINDOW_ABSENT; i++)
		usleep(10000);
	EXPECT_ABSENT(self->program.memory);
	EXPECT_EQ(0, kill(self->program.pid, 0));
	fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	EXPECT_LE(0, fd);
	close(fd);
}

TEST_F(end, the_window_ends_with_the_last_close)
{
	volatile uint64_t *page = memory_map(PAGE);
	int fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	int second = open(self->daemon->node, O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, fd);
	ASSERT_LE(0, second);
	page[0] = 1;
	WATCH(page, PAGE);
	EXPECT_SEEN(1, page);
	close(fd);
	EXPECT_SEEN(1, page);
	close(second);
	EXPECT_ABSENT(page);
	EXPECT_EQ(1, page[0]);
}

TEST_F(end, a_program_that_opens_again_gets_a_window_of_its_own)
{
	volatile uint64_t *page = memory_map(PAGE);
	int fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	uint64_t old = MIMIC_BUS_WINDOW(window_binding(self->daemon));

	ASSERT_LE(0, fd);
	page[0] = 1;
	WATCH(page, PAGE);
	EXPECT_SEEN(1, page);
	close(fd);
	fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_NE(old, MIMIC_BUS_WINDOW(window_binding(self->daemon)));
	/* The old one, which is still mapped. */
	EXPECT_ABSENT(page);
	WATCH(page, PAGE);
	EXPECT_SEEN(1, page);
	window_unmap(self->daemon);
	close(fd);
}

TEST_F(end, a_binding_that_has_ended_is_found_no_more)
{
	int fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	uint64_t offset = MIMIC_BUS_WINDOW(window_binding(self->daemon)) + 0x10000;
	int i, error = 0;

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, window_try_map(self->daemon, offset, PAGE, PROT_READ, MAP_SHARED));
	close(fd);
	/* When the daemon has answered its CLOSE, and a work has run. */
	for (i = 0; i < 3000 && !error; i++) {
		usleep(1000);
		error = window_try_map(self->daemon, offset, PAGE, PROT_READ, MAP_SHARED);
	}
	EXPECT_EQ(-ENOENT, error);
}

TEST_F(end, the_window_ends_with_the_device)
{
	volatile uint64_t *page = memory_map(PAGE);
	int fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, fd);
	page[0] = 1;
	WATCH(page, PAGE);
	EXPECT_SEEN(1, page);
	EXPECT_EQ(0, fake_daemon_unregister(self->daemon));
	EXPECT_ABSENT(page);
	EXPECT_EQ(1, page[0]);
	close(fd);
}

TEST_F(end, a_program_keeps_its_memory_when_the_daemon_dies)
{
	volatile uint64_t *page = memory_map(2 * PAGE);
	int fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, fd);
	page[0] = page[512] = 1;
	WATCH(page, 2 * PAGE);
	EXPECT_EQ(0, PUT(page, 2));
	fake_daemon_kill(self->daemon);
	EXPECT_EQ(2, page[0]);
	page[0] = 3;
	EXPECT_EQ(0, madvise((void *)page, PAGE, MADV_DONTNEED));
	EXPECT_EQ(0, page[0]);
	EXPECT_EQ(1, page[512]);
	EXPECT_EQ(0, munmap((void *)page, 2 * PAGE));
	close(fd);
}

/* --- nothing is pinned ----------------------------------------------------- */

FIXTURE(pin) {
	struct fake_daemon *daemon;
	int fd;
	uint64_t value;
};

FIXTURE_SETUP(pin)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE };

	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(pin)
{
	close(self->fd);
	fake_daemon_stop(self->daemon);
}

#define KPF_ANON 12
#define KPF_UNEVICTABLE 18
#define KPF_MLOCKED 33

TEST_F(pin, a_touch_leaves_no_trace_on_a_page)
{
	volatile uint64_t *page = memory_map(PAGE);
	uint64_t frame, count;

	WATCH(page, PAGE);
	page[0] = 1;
	frame = memory_frame(page);
	ASSERT_NE(0, frame);
	count = memory_frame_word("/proc/kpagecount", frame);
	EXPECT_EQ(1, count);
	EXPECT_SEEN(1, page);
	EXPECT_EQ(0, PUT(page, 2));
	EXPECT_EQ(frame, memory_frame(page));
	EXPECT_EQ(count, memory_frame_word("/proc/kpagecount", frame));
	EXPECT_EQ(0, memory_frame_word("/proc/kpageflags", frame) &
		     (1ull << KPF_UNEVICTABLE | 1ull << KPF_MLOCKED));
	window_unmap(self->daemon);
	EXPECT_EQ(count, memory_frame_word("/proc/kpagecount", frame));
}

TEST_F(pin, a_page_in_a_window_can_be_moved)
{
	volatile uint64_t *page = memory_map(PAGE);
	uint64_t frame;

	WATCH(page, PAGE);
	page[0] = 1;
	EXPECT_SEEN(1, page);
	EXPECT_EQ(0, PUT(page + 1, 2));
	frame = memory_frame(page);
	if (madvise((void *)page, PAGE, MADV_SOFT_OFFLINE))
		SKIP(return, "this kernel moves no page on demand");
	EXPECT_NE(frame, memory_frame(page));
	EXPECT_EQ(2, page[1]);
	page[0] = 3;
	EXPECT_SEEN(3, page);
	EXPECT_EQ(0, PUT(page + 1, 4));
	EXPECT_EQ(4, page[1]);
}

#define LARGE (64ul << 20)

struct range {
	uint64_t address, size, sum;
};

/* One load of each page. */
static long touch_all(struct fake_self *self, void *argument)
{
	struct range *range = argument;
	uint32_t binding = (uint32_t)self->control->open_binding;
	char *window = fake_self_window(self, binding, range->address, range->size);
	uint64_t offset, value;

	if (window == MAP_FAILED)
		return -errno;
	window_catch_bus_errors();
	for (offset = 0; offset < range->size; offset += PAGE)
		range->sum += window_load(window + offset, &value) ? 0 : value;
	return 0;
}

TEST_F(pin, a_page_is_free_as_soon_as_the_program_gives_it_back)
{
	volatile uint64_t *memory = memory_map(LARGE);
	struct range range = { (uintptr_t)memory, LARGE, 0 };
	uint64_t frames[64];
	unsigned int i, anonymous = 0;
	size_t page;

	for (page = 0; page < LARGE / PAGE; page++)
		memory[512 * page] = 1;
	ASSERT_EQ(0, fake_daemon_call(self->daemon, touch_all, &range, sizeof(range)));
	EXPECT_EQ(LARGE / PAGE, range.sum);
	for (i = 0; i < 64; i++) {
		frames[i] = memory_frame(memory + 512 * 256 * i);
		anonymous += memory_frame_word("/proc/kpageflags", frames[i]) >> KPF_ANON & 1;
	}
	ASSERT_EQ(64, anonymous);
	ASSERT_EQ(0, madvise((void *)memory, LARGE, MADV_DONTNEED));
	/* A page that somebody still holds stays anonymous; a few may be in use again. */
	for (i = 0, anonymous = 0; i < 64; i++)
		anonymous += memory_frame_word("/proc/kpageflags", frames[i]) >> KPF_ANON & 1;
	EXPECT_GT(8, anonymous);
}

TEST_F(pin, a_daemon_is_not_charged_for_its_windows)
{
	volatile uint64_t *memory = memory_map(LARGE);
	struct range range = { (uintptr_t)memory, LARGE, 0 };
	unsigned long before;
	char name[64];
	size_t i;

	snprintf(name, sizeof(name), "/proc/%d/status", self->daemon->pid);
	for (i = 0; i < LARGE / PAGE; i++)
		memory[512 * i] = 1;
	before = memory_named_number(name, "VmRSS");
	ASSERT_LT(0, before);
	ASSERT_EQ(0, fake_daemon_call(self->daemon, touch_all, &range, sizeof(range)));
	EXPECT_GT(before + LARGE / 1024 / 10, memory_named_number(name, "VmRSS"));
}

TEST_F_TIMEOUT(end, fifty_programs_leave_no_memory_behind, 120)
{
	const size_t size = 8ul << 20;
	struct range range;
	unsigned long before = 0;
	int i;

	for (i = 0; i < 50; i++) {
		/* The first ones fill the caches of the kernel. */
		if (i == 10)
			before = memory_named_number("/proc/meminfo", "MemAvailable");
		ASSERT_TRUE(program_start(&self->program, self->daemon, size, NULL));
		range = (struct range){ (uintptr_t)self->program.memory, size, 0 };
		ASSERT_EQ(0, fake_daemon_call(self->daemon, touch_all, &range, sizeof(range)));
		EXPECT_EQ((size / PAGE) * (size / PAGE + 1) / 2, range.sum);
		program_stop(&self->program);
		munmap((void *)self->program.memory, size);
	}
	/* One of them is 8192 KiB. */
	EXPECT_LT(before, memory_named_number("/proc/meminfo", "MemAvailable") + 4 * 8192);
}

TEST_HARNESS_MAIN
