/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Page faults of the device: the driver reads where, makes the page present,
 * resolves. The tests see it in the window, and in the driver's stores to the device.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "mimic/maple_registers.h"
#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/maple_device.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/window.h"
#include "tests/lib/limit.h"

TEST_SECONDS(120);

FIXTURE(service) {
	struct fake_daemon *daemon;
	int fd;
	uint64_t value;
};

FIXTURE_VARIANT(service) {
	bool is_paper;
};

FIXTURE_VARIANT_ADD(service, paper) { .is_paper = true };
FIXTURE_VARIANT_ADD(service, artifact) { .is_paper = false };

FIXTURE_SETUP(service)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE, .is_paper = variant->is_paper };

	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(service)
{
	close(self->fd);
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
/* The fault is raised, and resolved. */
#define FAULT(place, writes) do { \
	unsigned int resolves = self->daemon->control->resolves; \
	EXPECT_EQ(0, fake_daemon_fault(self->daemon, (void *)(place), writes)); \
	EXPECT_TRUE(fake_wait(&self->daemon->control->resolves, resolves + 1)); \
	EXPECT_EQ(resolves + 1, self->daemon->control->resolves); \
} while (0)
/* The last RESOLVE. */
#define EXPECT_RESOLVED(sources, is_present) \
	EXPECT_EQ((sources) | ((is_present) && variant->is_paper ? MAPLE_RESOLVE_PRESENT : 0u), \
		  self->daemon->control->last_resolve)

TEST_F(service, a_page_that_was_never_touched_becomes_present)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	EXPECT_ABSENT(page);
	FAULT(page + 5, false);
	EXPECT_RESOLVED(MAPLE_FAULT_PIPES, true);
	EXPECT_NE(0, memory_frame(page));
	EXPECT_SEEN(0, page);
	EXPECT_EQ(1, maple_device_info(self->fd).faults);
	EXPECT_EQ(0, maple_device_info(self->fd).unresolved);
	EXPECT_EQ(1, maple_device_count(self->daemon, "faults"));
	EXPECT_EQ(1, maple_device_count(self->daemon, "interrupts"));
}

/* Of hugetlbfs: the whole of it comes. */
TEST_F(service, a_huge_page_of_hugetlbfs_becomes_present)
{
	volatile uint64_t *base;

	if (!memory_write_text("/proc/sys/vm/nr_hugepages", "2"))
		SKIP(return, "this kernel has no hugetlb");
	base = mmap(NULL, HUGE_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (base == MAP_FAILED)
		SKIP(return, "no memory for a hugetlb page");
	WATCH(base, HUGE_PAGE);
	EXPECT_ABSENT(base + 70000);
	FAULT(base + 70000, true);
	EXPECT_RESOLVED(MAPLE_FAULT_PIPES, true);
	EXPECT_EQ(0, PUT(base + 70000, 8));
	EXPECT_EQ(8, base[70000]);
	EXPECT_SEEN(0, base);
	ASSERT_EQ(0, munmap((void *)base, HUGE_PAGE));
	EXPECT_ABSENT(base + 70000);
	EXPECT_TRUE(memory_write_text("/proc/sys/vm/nr_hugepages", "0"));
}

TEST_F(service, only_that_page)
{
	volatile uint64_t *page = memory_map(3 * PAGE);

	WATCH(page, 3 * PAGE);
	FAULT(page + 512, true);
	EXPECT_ABSENT(page);
	EXPECT_SEEN(0, page + 512);
	EXPECT_ABSENT(page + 1024);
}

TEST_F(service, a_fault_of_a_write_makes_the_page_writable)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	EXPECT_EQ(0, page[0]);
	EXPECT_EQ(WINDOW_ABSENT, PUT(page, 1));
	FAULT(page, true);
	EXPECT_RESOLVED(MAPLE_FAULT_PIPES, true);
	EXPECT_EQ(0, PUT(page, 2));
	EXPECT_EQ(2, page[0]);
}

/* The artifact's register does not say which it is: it has to be writable there. */
TEST_F(service, a_fault_of_a_read_makes_it_writable_only_where_the_device_cannot_tell)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	FAULT(page, false);
	EXPECT_SEEN(0, page);
	EXPECT_EQ(variant->is_paper ? WINDOW_ABSENT : 0, PUT(page, 2));
}

TEST_F(service, a_page_shared_after_fork_becomes_the_programs_own)
{
	volatile uint64_t *page = memory_map(PAGE);
	int go[2], status;
	pid_t child;
	char byte;

	WATCH(page, PAGE);
	page[0] = 1;
	ASSERT_EQ(0, pipe(go));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(read(go[0], &byte, 1) == 1 ? (int)page[0] : 255);
	EXPECT_EQ(WINDOW_ABSENT, PUT(page, 2));
	FAULT(page, true);
	EXPECT_EQ(0, PUT(page, 2));
	EXPECT_EQ(2, page[0]);
	EXPECT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(1, WEXITSTATUS(status));
}

TEST_F(service, a_page_of_a_file_is_brought_in)
{
	int file = memory_file(2 * PAGE);
	volatile uint64_t *page = memory_map_file(file, 2 * PAGE);
	uint64_t number = 0x1234;

	ASSERT_EQ(8, pwrite(file, &number, 8, PAGE));
	WATCH(page, 2 * PAGE);
	EXPECT_ABSENT(page + 512);
	FAULT(page + 512, false);
	EXPECT_SEEN(0x1234, page + 512);
	FAULT(page + 512, true);
	EXPECT_EQ(0, PUT(page + 512, 7));
	EXPECT_EQ(8, pread(file, &number, 8, PAGE));
	EXPECT_EQ(7, number);
	close(file);
}

TEST_F(service, a_huge_page_is_brought_in)
{
	volatile uint64_t *base = memory_map_huge();

	SKIP_WITHOUT_HUGE_PAGES(base);
	WATCH(base, HUGE_PAGE);
	FAULT(base + 100000, true);
	EXPECT_SEEN(0, base + 100000);
	EXPECT_EQ(0, PUT(base + 200000, 1));
	EXPECT_EQ(1, base[200000]);
}

TEST_F(service, a_page_that_went_away_comes_back_empty)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	page[0] = 1;
	EXPECT_SEEN(1, page);
	ASSERT_EQ(0, madvise((void *)page, PAGE, MADV_DONTNEED));
	EXPECT_ABSENT(page);
	FAULT(page, true);
	EXPECT_SEEN(0, page);
	EXPECT_EQ(0, page[0]);
}

TEST_F(service, a_page_that_is_there_is_resolved_too)
{
	volatile uint64_t *page = memory_map(PAGE);

	page[0] = 1;
	FAULT(page, true);
	EXPECT_RESOLVED(MAPLE_FAULT_PIPES, true);
	EXPECT_EQ(1, page[0]);
}

/* A mapping for reading: not an error of the program's, if the device reads. */
TEST_F(service, a_page_for_reading_is_brought_in_for_reading)
{
	volatile uint64_t *page = memory_map(PAGE);

	WATCH(page, PAGE);
	ASSERT_EQ(0, mprotect((void *)page, PAGE, PROT_READ));
	FAULT(page, false);
	EXPECT_RESOLVED(MAPLE_FAULT_PIPES, true);
	EXPECT_SEEN(0, page);
	EXPECT_EQ(WINDOW_ABSENT, PUT(page, 1));
	EXPECT_EQ(0, maple_device_info(self->fd).unresolved);
}

TEST_F(service, a_write_to_a_page_for_reading_is_bad_where_the_device_tells)
{
	volatile uint64_t *page = memory_map(PAGE);

	ASSERT_EQ(0, mprotect((void *)page, PAGE, PROT_READ));
	FAULT(page, true);
	EXPECT_RESOLVED(MAPLE_FAULT_PIPES, !variant->is_paper);
	EXPECT_EQ(variant->is_paper, maple_device_info(self->fd).unresolved);
	EXPECT_EQ(0, page[0]);
}

TEST_F(service, both_sources_are_resolved_at_once)
{
	volatile uint64_t *page = memory_map(PAGE);

	self->daemon->control->fault_word = (uintptr_t)page | MAPLE_FAULT_PIPES | MAPLE_FAULT_LIMA |
					    MAPLE_FAULT_STALLED;
	EXPECT_EQ(0, fake_daemon_interrupt(self->daemon, 0));
	EXPECT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	EXPECT_RESOLVED(MAPLE_FAULT_PIPES | MAPLE_FAULT_LIMA, true);
	EXPECT_EQ(1, maple_device_info(self->fd).faults);
	EXPECT_NE(0, memory_frame(page));
}

TEST_F(service, only_the_source_that_waits_is_resolved)
{
	volatile uint64_t *page = memory_map(PAGE);

	self->daemon->control->fault_word = (uintptr_t)page | MAPLE_FAULT_LIMA | MAPLE_FAULT_STALLED;
	EXPECT_EQ(0, fake_daemon_interrupt(self->daemon, 0));
	EXPECT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	EXPECT_RESOLVED(MAPLE_FAULT_LIMA, true);
}

static bool wait_for_held(struct fake_daemon *daemon)
{
	return fake_wait(&daemon->control->held, 1);
}

static struct fake_special hold_status(bool is_paper)
{
	return (struct fake_special){
		.page = MAPLE_PAGE_MMU,
		.offset = is_paper ? MAPLE_OFFSET(MAPLE_LOAD_FAULT_STATUS, 0) :
				     MAPLE_OFFSET(MAPLE_LOAD_DEBUG, MAPLE_MMU_FAULT),
		.action = FAKE_KEEP,
		.is_drivers = true,
	};
}

/* The second one is latched after the first was resolved; nobody raises an interrupt for it. */
TEST_F(service, faults_behind_one_interrupt_are_all_served)
{
	volatile uint64_t *page = memory_map(2 * PAGE);
	struct fake_special special = hold_status(variant->is_paper);

	WATCH(page, 2 * PAGE);
	fake_daemon_special(self->daemon, &special);
	EXPECT_EQ(0, fake_daemon_fault(self->daemon, page, true));
	ASSERT_TRUE(wait_for_held(self->daemon));
	EXPECT_EQ(1, fake_daemon_release(self->daemon));
	EXPECT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	ASSERT_TRUE(wait_for_held(self->daemon));
	self->daemon->control->fault_word = (uintptr_t)(page + 512) | MAPLE_FAULT_LIMA |
					    MAPLE_FAULT_STALLED;
	fake_daemon_no_specials(self->daemon);
	EXPECT_EQ(1, fake_daemon_release(self->daemon));
	EXPECT_TRUE(fake_wait(&self->daemon->control->resolves, 2));
	EXPECT_RESOLVED(MAPLE_FAULT_LIMA, true);
	EXPECT_SEEN(0, page);
	EXPECT_SEEN(0, page + 512);
	EXPECT_EQ(2, maple_device_info(self->fd).faults);
	EXPECT_EQ(1, maple_device_count(self->daemon, "interrupts"));
}

TEST_F_TIMEOUT(service, many_faults_make_many_pages, 60)
{
	volatile uint64_t *memory = memory_map(500 * PAGE);
	unsigned int i;

	WATCH(memory, 500 * PAGE);
	for (i = 0; i < 500; i++)
		FAULT(memory + 512 * i, i % 2);
	for (i = 0; i < 500; i += 37)
		EXPECT_SEEN(0, memory + 512 * i);
	EXPECT_EQ(500, maple_device_info(self->fd).faults);
	EXPECT_EQ(0, maple_device_info(self->fd).unresolved);
}

static void *map_and_unmap(void *stop)
{
	while (!*(volatile bool *)stop) {
		void *memory = memory_map(64 * PAGE);

		*(volatile char *)memory = 1;
		munmap(memory, 64 * PAGE);
	}
	return NULL;
}

TEST_F_TIMEOUT(service, faults_are_served_while_the_program_changes_its_memory, 60)
{
	volatile uint64_t *memory = memory_map(20 * PAGE);
	volatile bool stop = false;
	pthread_t threads[3];
	unsigned int i;

	WATCH(memory, 20 * PAGE);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, map_and_unmap, (void *)&stop));
	for (i = 0; i < 20; i++)
		FAULT(memory + 512 * i, true);
	stop = true;
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < 20; i++)
		EXPECT_SEEN(0, memory + 512 * i);
}

TEST_F(service, the_counters_of_a_process_begin_with_its_open)
{
	volatile uint64_t *page = memory_map(PAGE);

	FAULT(page, true);
	FAULT(NULL, true);
	EXPECT_EQ(1, maple_device_info(self->fd).faults);
	EXPECT_EQ(1, maple_device_info(self->fd).unresolved);
	close(self->fd);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	EXPECT_EQ(0, maple_device_info(self->fd).faults);
	EXPECT_EQ(0, maple_device_info(self->fd).unresolved);
	EXPECT_EQ(1, maple_device_count(self->daemon, "faults"));
	EXPECT_EQ(1, maple_device_count(self->daemon, "unresolved"));
}

/* --- the thread that serves ------------------------------------------------- */

/* The scheduling policy of the thread whose name ends so; -1: there is none. */
static int policy_of(const char *name_end)
{
	char command[256];
	int policy = -1;
	FILE *found;

	/* After the name in parentheses the policy is word 39. */
	snprintf(command, sizeof(command),
		 "cat /proc/[0-9]*/stat 2>/dev/null | sed -n 's/^[0-9]* (irq.*%s) //p' | cut -d' ' -f39", name_end);
	found = popen(command, "r");
	if (found && fscanf(found, "%d", &policy) != 1)
		policy = -1;
	if (found)
		pclose(found);
	return policy;
}

/* A program can fault as often as it likes: the driver's work for it must not precede other programs. */
TEST_F(service, it_has_the_priority_of_a_program)
{
	volatile uint64_t *page = memory_map(PAGE);
	char name[32];

	FAULT(page, false);
	snprintf(name, sizeof(name), "maple%d", self->daemon->control->index);
	EXPECT_EQ(SCHED_OTHER, policy_of(name));
}

TEST_HARNESS_MAIN
