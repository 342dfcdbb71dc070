/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A program's own memory as a daemon sees it through its window, call by call. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/window.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

FIXTURE(memory) {
	struct fake_daemon *daemon;
	int fd;
	uint64_t value;
};

FIXTURE_SETUP(memory)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE };

	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(memory)
{
	close(self->fd);
	fake_daemon_stop(self->daemon);
}

/* The daemon's load and store; an entry that an earlier one made is used again. */
#define GET(place) window_get(self->daemon, place, &self->value)
#define PUT(place, number) window_put(self->daemon, place, number)
#define EXPECT_SEEN(number, place) do { \
	EXPECT_EQ(0, GET(place)); \
	EXPECT_EQ(number, self->value); \
} while (0)
#define EXPECT_ABSENT(place) EXPECT_EQ(WINDOW_ABSENT, GET(place))
#define WATCH(place, size) ASSERT_EQ(0, window_map(self->daemon, place, size))

TEST_F(memory, a_store_of_the_program_is_seen)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	page[3] = 0x1122334455667788;
	EXPECT_SEEN(0x1122334455667788, page + 3);
	page[3] = 5;
	EXPECT_SEEN(5, page + 3);
}

TEST_F(memory, a_store_of_the_daemon_is_there)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	page[0] = 1;
	EXPECT_EQ(0, PUT(page + 7, 0x99));
	EXPECT_EQ(0x99, page[7]);
	EXPECT_EQ(1, page[0]);
	EXPECT_SEEN(0x99, page + 7);
}

TEST_F(memory, a_page_that_was_never_touched_is_absent_and_stays_so)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	EXPECT_ABSENT(page);
	EXPECT_EQ(WINDOW_ABSENT, PUT(page, 1));
	EXPECT_EQ(0, memory_frame(page));
	page[0] = 6;
	EXPECT_SEEN(6, page);
}

TEST_F(memory, dontneed_takes_a_page_away)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	page[0] = 5;
	EXPECT_SEEN(5, page);
	ASSERT_EQ(0, madvise((void *)page, PAGE, MADV_DONTNEED));
	EXPECT_ABSENT(page);
	EXPECT_EQ(0, memory_frame(page));
	page[1] = 7;
	EXPECT_SEEN(0, page);
	EXPECT_SEEN(7, page + 1);
}

TEST_F(memory, the_zero_page_is_seen_and_what_replaces_it_too)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	EXPECT_EQ(0, page[0]);
	EXPECT_SEEN(0, page);
	page[0] = 8;
	EXPECT_SEEN(8, page);
}

TEST_F(memory, the_zero_page_cannot_be_written)
{
	volatile uint64_t *page = memory_map(2 * PAGE);

	WATCH(page, 2 * PAGE);
	EXPECT_EQ(0, page[0] | page[512]);
	EXPECT_SEEN(0, page);
	EXPECT_EQ(WINDOW_ABSENT, PUT(page, 8));
	EXPECT_EQ(0, page[0]);
	EXPECT_EQ(0, page[512]);
}

TEST_F(memory, munmap_takes_a_page_away_and_leaves_its_neighbours)
{
	volatile uint64_t *page = memory_map(3 * PAGE);

	WATCH(page, 3 * PAGE);
	page[0] = 1;
	page[512] = 2;
	page[1024] = 3;
	EXPECT_SEEN(2, page + 512);
	ASSERT_EQ(0, munmap((void *)(page + 512), PAGE));
	EXPECT_ABSENT(page + 512);
	EXPECT_SEEN(1, page);
	EXPECT_SEEN(3, page + 1024);
}

TEST_F(memory, a_mapping_over_another_one_replaces_it)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	page[0] = 1;
	EXPECT_SEEN(1, page);
	ASSERT_EQ(page, mmap((void *)page, PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	EXPECT_ABSENT(page);
	page[0] = 2;
	EXPECT_SEEN(2, page);
}

TEST_F(memory, prot_none_hides_a_page_until_it_is_allowed_again)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	page[0] = 9;
	EXPECT_SEEN(9, page);
	ASSERT_EQ(0, mprotect((void *)page, PAGE, PROT_NONE));
	EXPECT_ABSENT(page);
	EXPECT_EQ(WINDOW_ABSENT, PUT(page, 1));
	ASSERT_EQ(0, mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(9, page[0]);
	EXPECT_SEEN(9, page);
}

TEST_F(memory, prot_read_can_be_read_and_a_write_changes_nothing)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	page[0] = 9;
	/* An entry that may write is there, and must go. */
	EXPECT_EQ(0, PUT(page + 1, 10));
	ASSERT_EQ(0, mprotect((void *)page, PAGE, PROT_READ));
	EXPECT_EQ(WINDOW_ABSENT, PUT(page, 1));
	EXPECT_SEEN(9, page);
	/* Now one is there that may only read, and must not become another. */
	EXPECT_EQ(WINDOW_ABSENT, PUT(page, 1));
	EXPECT_EQ(9, page[0]);
	EXPECT_EQ(10, page[1]);
}

TEST_F(memory, a_page_becomes_writable_when_the_program_may_write_it)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	page[0] = 9;
	ASSERT_EQ(0, mprotect((void *)page, PAGE, PROT_READ));
	EXPECT_SEEN(9, page);
	ASSERT_EQ(0, mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE));
	page[1] = 1;
	EXPECT_EQ(0, PUT(page, 11));
	EXPECT_EQ(11, page[0]);
}

/* The exit status of the child. */
static int end_of(pid_t child)
{
	int status = -1;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(memory, after_fork_the_daemon_cannot_write_what_the_child_has_too)
{
	volatile uint64_t *page = memory_map(PAGE);
	int go[2];
	pid_t child;
	char byte;

	WATCH(page, PAGE);
	page[0] = 3;
	EXPECT_EQ(0, PUT(page + 1, 4));
	ASSERT_EQ(0, pipe(go));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(read(go[0], &byte, 1) == 1 ? (int)(page[0] * 10 + page[1]) : 255);
	EXPECT_EQ(WINDOW_ABSENT, PUT(page, 5));
	EXPECT_SEEN(3, page);
	page[0] = 6;
	EXPECT_SEEN(6, page);
	EXPECT_EQ(0, PUT(page + 1, 7));
	EXPECT_EQ(1, write(go[1], "", 1));
	EXPECT_EQ(34, end_of(child));
	EXPECT_EQ(7, page[1]);
}

/* --- FAULT_IN ------------------------------------------------------------------------ */

static long ask_for_page(struct fake_self *self, void *argument)
{
	return ioctl(self->fd, MIMIC_BUS_FAULT_IN, argument) ? -errno : 0;
}

/* It may be said to try again. */
static long fault_in(struct fake_daemon *daemon, uint32_t binding, volatile void *address, bool writes)
{
	struct mimic_bus_fault_in wanted = {
		.size = sizeof(wanted), .binding = binding, .address = (uintptr_t)address, .writes = writes,
	};
	long error = -EAGAIN;
	int tries;

	for (tries = 0; tries < 1000 && error == -EAGAIN; tries++)
		error = fake_daemon_call(daemon, ask_for_page, &wanted, sizeof(wanted));
	return error;
}

#define FAULT_IN(place, writes) fault_in(self->daemon, window_binding(self->daemon), place, writes)

TEST_F(memory, a_page_that_fork_has_protected_is_asked_for_and_written)
{
	volatile uint64_t *page = memory_map(PAGE);
	int go[2];
	pid_t child;
	char byte;

	WATCH(page, PAGE);
	page[0] = 3;
	EXPECT_EQ(0, PUT(page + 1, 4));
	ASSERT_EQ(0, pipe(go));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(read(go[0], &byte, 1) == 1 ? (int)(page[0] * 10 + page[1]) : 255);
	EXPECT_EQ(WINDOW_ABSENT, PUT(page, 5));
	EXPECT_EQ(0, FAULT_IN(page, false));
	EXPECT_EQ(WINDOW_ABSENT, PUT(page, 5));
	EXPECT_EQ(0, FAULT_IN(page, true));
	EXPECT_EQ(0, PUT(page, 5));
	EXPECT_EQ(5, page[0]);
	EXPECT_EQ(1, write(go[1], "", 1));
	EXPECT_EQ(34, end_of(child));
}

TEST_F(memory, a_page_that_is_not_there_is_asked_for_and_seen)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	EXPECT_ABSENT(page);
	EXPECT_EQ(0, FAULT_IN(page, false));
	EXPECT_SEEN(0, page);
}

TEST_F(memory, a_page_that_cannot_be_had_is_refused)
{
	volatile uint64_t *page = memory_map(PAGE);
	uint32_t binding = window_binding(self->daemon);

	EXPECT_EQ(-ENOENT, fault_in(self->daemon, binding + 1, page, false));
	ASSERT_EQ(0, mprotect((void *)page, PAGE, PROT_READ));
	EXPECT_EQ(-EFAULT, FAULT_IN(page, true));
	ASSERT_EQ(0, munmap((void *)page, PAGE));
	EXPECT_EQ(-EFAULT, FAULT_IN(page, false));
	EXPECT_EQ(-EFAULT, FAULT_IN((void *)0xffff800000000000ul, false));
}

/* --- more of fork ---------------------------------------------------------------------- */

TEST_F(memory, a_store_of_a_child_after_fork_is_not_seen)
{
	volatile uint64_t *page = memory_map(PAGE);
	pid_t child;

	WATCH(page, PAGE);
	page[0] = 3;
	EXPECT_SEEN(3, page);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		page[0] = 4;
		_exit((int)page[0]);
	}
	EXPECT_EQ(4, end_of(child));
	EXPECT_SEEN(3, page);
	page[0] = 5;
	EXPECT_SEEN(5, page);
}

TEST_F(memory, mremap_moves_a_page_out_of_sight_and_into_it)
{
	volatile uint64_t *page = memory_map(PAGE);
	volatile uint64_t *other = memory_map(PAGE);

	WATCH(page, PAGE);
	WATCH(other, PAGE);
	page[0] = 12;
	EXPECT_SEEN(12, page);
	EXPECT_ABSENT(other);
	ASSERT_EQ(other, mremap((void *)page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, other));
	EXPECT_ABSENT(page);
	EXPECT_SEEN(12, other);
	EXPECT_EQ(0, PUT(other, 13));
	EXPECT_EQ(13, other[0]);
}

TEST_F(memory, mremap_cuts_the_end_off)
{
	volatile uint64_t *page = memory_map(2 * PAGE);

	WATCH(page, 2 * PAGE);
	page[0] = 1;
	page[512] = 2;
	EXPECT_SEEN(2, page + 512);
	ASSERT_EQ(page, mremap((void *)page, 2 * PAGE, PAGE, 0));
	EXPECT_ABSENT(page + 512);
	EXPECT_SEEN(1, page);
}

TEST_F(memory, a_mapping_is_seen_at_both_places_when_it_is_doubled)
{
	int file = memory_file(PAGE);
	volatile uint64_t *first = memory_map_file(file, PAGE);
	volatile uint64_t *second = memory_map_file(file, PAGE);

	WATCH(first, PAGE);
	WATCH(second, PAGE);
	first[0] = 1;
	EXPECT_EQ(1, second[0]);
	EXPECT_EQ(0, PUT(first, 2));
	EXPECT_SEEN(2, second);
	ASSERT_EQ(0, munmap((void *)first, PAGE));
	EXPECT_ABSENT(first);
	EXPECT_SEEN(2, second);
	close(file);
}

/* --- huge pages ------------------------------------------------------------ */

TEST_F(memory, a_huge_page_is_seen_at_every_offset)
{
	volatile uint64_t *base = memory_map_huge();
	size_t i;

	SKIP_WITHOUT_HUGE_PAGES(base);
	WATCH(base, HUGE_PAGE);
	for (i = 0; i < HUGE_PAGE / 8; i += 4099)
		base[i] = i;
	ASSERT_LE(HUGE_PAGE / 1024, memory_named_number("/proc/self/smaps_rollup", "AnonHugePages"));
	for (i = 0; i < HUGE_PAGE / 8; i += 4099)
		EXPECT_SEEN(i, base + i);
	EXPECT_EQ(0, PUT(base + 100000, 77));
	EXPECT_EQ(77, base[100000]);
}

TEST_F(memory, a_huge_page_that_is_split_keeps_its_content)
{
	volatile uint64_t *base = memory_map_huge();

	SKIP_WITHOUT_HUGE_PAGES(base);
	WATCH(base, HUGE_PAGE);
	base[0] = 1;
	base[512 * 100] = 2;
	base[512 * 101] = 3;
	EXPECT_SEEN(2, base + 512 * 100);
	EXPECT_SEEN(3, base + 512 * 101);
	ASSERT_EQ(0, madvise((void *)(base + 512 * 100), PAGE, MADV_DONTNEED));
	EXPECT_ABSENT(base + 512 * 100);
	EXPECT_SEEN(1, base);
	EXPECT_SEEN(3, base + 512 * 101);
	ASSERT_EQ(0, mprotect((void *)(base + 512 * 101), PAGE, PROT_READ));
	EXPECT_EQ(WINDOW_ABSENT, PUT(base + 512 * 101, 9));
	EXPECT_EQ(0, PUT(base + 512 * 102, 4));
	EXPECT_EQ(4, base[512 * 102]);
	EXPECT_EQ(3, base[512 * 101]);
}

TEST_F(memory, small_pages_that_become_a_huge_one_keep_their_content)
{
	volatile uint64_t *base = memory_map_huge();
	size_t i;

	SKIP_WITHOUT_HUGE_PAGES(base);
	ASSERT_EQ(0, madvise((void *)base, HUGE_PAGE, MADV_NOHUGEPAGE));
	WATCH(base, HUGE_PAGE);
	for (i = 0; i < 512; i++)
		base[512 * i] = i;
	for (i = 0; i < 512; i += 73)
		EXPECT_EQ(0, PUT(base + 512 * i + 1, i));
	ASSERT_EQ(0, madvise((void *)base, HUGE_PAGE, MADV_HUGEPAGE));
	ASSERT_EQ(0, madvise((void *)base, HUGE_PAGE, MADV_COLLAPSE));
	for (i = 0; i < 512; i += 73) {
		base[512 * i] += 1000;
		EXPECT_EQ(i, base[512 * i + 1]);
		EXPECT_SEEN(i + 1000, base + 512 * i);
	}
}

TEST_F(memory, the_huge_zero_page_is_seen_and_what_replaces_it_too)
{
	volatile uint64_t *base = memory_map_huge();

	SKIP_WITHOUT_HUGE_PAGES(base);
	WATCH(base, HUGE_PAGE);
	EXPECT_EQ(0, base[5000]);
	EXPECT_SEEN(0, base + 100000);
	EXPECT_EQ(WINDOW_ABSENT, PUT(base + 100000, 1));
	EXPECT_SEEN(0, base + 100000);
	EXPECT_SEEN(0, base + 200000);
	base[100000] = 2;
	EXPECT_SEEN(2, base + 100000);
	EXPECT_SEEN(0, base + 200000);
}

TEST_F(memory, pages_of_hugetlb_are_seen_and_written)
{
	volatile uint64_t *base;

	if (!memory_write_text("/proc/sys/vm/nr_hugepages", "2"))
		SKIP(return, "this kernel has no hugetlb");
	base = mmap(NULL, HUGE_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (base == MAP_FAILED)
		SKIP(return, "no memory for a hugetlb page");
	WATCH(base, HUGE_PAGE);
	EXPECT_ABSENT(base);
	base[70000] = 7;
	EXPECT_SEEN(7, base + 70000);
	EXPECT_EQ(0, PUT(base + 70001, 8));
	EXPECT_EQ(8, base[70001]);
	ASSERT_EQ(0, munmap((void *)base, HUGE_PAGE));
	EXPECT_ABSENT(base + 70000);
	EXPECT_TRUE(memory_write_text("/proc/sys/vm/nr_hugepages", "0"));
}

/* --- pages with others ----------------------------------------------------- */

TEST_F(memory, merged_pages_are_read_and_never_written)
{
	volatile uint64_t *page = memory_map(2 * PAGE);
	int i;

	if (access("/sys/kernel/mm/ksm/run", W_OK))
		SKIP(return, "this kernel has no KSM");
	WATCH(page, 2 * PAGE);
	for (i = 0; i < 1024; i++)
		page[i] = 0x5555;
	EXPECT_EQ(0, PUT(page, 0x5555));
	EXPECT_EQ(0, PUT(page + 512, 0x5555));
	ASSERT_EQ(0, madvise((void *)page, 2 * PAGE, MADV_MERGEABLE));
	ASSERT_TRUE(memory_write_text("/sys/kernel/mm/ksm/pages_to_scan", "1000"));
	ASSERT_TRUE(memory_write_text("/sys/kernel/mm/ksm/sleep_millisecs", "1"));
	ASSERT_TRUE(memory_write_text("/sys/kernel/mm/ksm/run", "1"));
	for (i = 0; i < 5000 && memory_frame(page) != memory_frame(page + 512); i++)
		usleep(1000);
	EXPECT_EQ(memory_frame(page), memory_frame(page + 512));
	EXPECT_SEEN(0x5555, page);
	EXPECT_EQ(WINDOW_ABSENT, PUT(page, 1));
	EXPECT_EQ(0x5555, page[512]);
	page[0] = 2;
	EXPECT_SEEN(2, page);
	EXPECT_SEEN(0x5555, page + 512);
	EXPECT_TRUE(memory_write_text("/sys/kernel/mm/ksm/run", "2"));
}

TEST_F(memory, memory_that_two_processes_share_is_seen_in_both)
{
	volatile uint64_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	ASSERT_NE(MAP_FAILED, page);
	WATCH(page, PAGE);
	page[0] = 1;
	EXPECT_SEEN(1, page);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		page[0] = 21;
		_exit(0);
	}
	EXPECT_EQ(0, end_of(child));
	EXPECT_SEEN(21, page);
	EXPECT_EQ(0, PUT(page, 22));
	EXPECT_EQ(22, page[0]);
}

TEST_F(memory, locked_memory_is_seen_and_written)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	ASSERT_EQ(0, mlock((void *)page, PAGE));
	EXPECT_SEEN(0, page);
	EXPECT_EQ(0, PUT(page, 2));
	ASSERT_EQ(0, munlock((void *)page, PAGE));
	EXPECT_EQ(2, page[0]);
	EXPECT_SEEN(2, page);
}

static const uint64_t constant[1024] __attribute__((aligned(4096))) = { [0 ... 1023] = 0x1234 };

TEST_F(memory, a_programs_text_and_constants_are_read_and_never_written)
{
	volatile const uint64_t *text = (const uint64_t *)((uintptr_t)end_of & ~7ul);
	volatile const uint64_t *number = constant + 300;
	uint64_t before = *text;

	WATCH(text, 8);
	WATCH(number, 8);
	EXPECT_EQ(0x1234, *number);
	EXPECT_SEEN(0x1234, number);
	EXPECT_SEEN(before, text);
	EXPECT_EQ(WINDOW_ABSENT, PUT(text, 1));
	EXPECT_EQ(WINDOW_ABSENT, PUT(number, 1));
	EXPECT_EQ(before, *text);
	EXPECT_EQ(0x1234, *number);
}

TEST_F(memory, the_stack_is_seen_and_written)
{
	volatile uint64_t place[2] = { 31, 0 };

	WATCH(place, sizeof(place));
	EXPECT_SEEN(31, place);
	EXPECT_EQ(0, PUT(place + 1, 32));
	EXPECT_EQ(32, place[1]);
}

TEST_F(memory, pages_of_a_device_are_absent)
{
	volatile uint64_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);

	ASSERT_NE(MAP_FAILED, page);
	WATCH(page, PAGE);
	page[600 / 8] = 4;
	EXPECT_EQ(4, page[600 / 8]);
	EXPECT_ABSENT(page);
	EXPECT_EQ(WINDOW_ABSENT, PUT(page, 1));
}

TEST_HARNESS_MAIN
