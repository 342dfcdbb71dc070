/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Page tables of the daemon that show a program's memory: they are given back, however sparse
 * the memory is that the program has its device touch.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/window.h"

#define REGIONS 2048ul
#define SPARSE_SIZE (REGIONS * HUGE_PAGE)
#define PARAMETER "/sys/module/mimic/parameters/window_tables"
#define PARTS 8ul
/* kB of tables that the daemon may have beside the counted ones: those above them, its own. */
#define BESIDE 256ul

FIXTURE(tables) {
	struct fake_daemon *daemon;
	volatile uint64_t *memory;
	int fd;
	char limit[16];
};

/* Memory of which one page in 2 MB is there, and says which it is. NULL: there is none. */
static volatile uint64_t *make_sparse_memory(void)
{
	volatile uint64_t *memory = mmap(NULL, SPARSE_SIZE, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t i;

	if (memory == MAP_FAILED)
		return NULL;
	madvise((void *)memory, SPARSE_SIZE, MADV_NOHUGEPAGE);
	for (i = 0; i < REGIONS; i++)
		memory[i * HUGE_PAGE / 8] = i + 1;
	return memory;
}

FIXTURE_SETUP(tables)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE };

	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->memory = make_sparse_memory();
	ASSERT_NE(NULL, self->memory);
	snprintf(self->limit, sizeof(self->limit), "%lu", memory_number(PARAMETER));
}

FIXTURE_TEARDOWN(tables)
{
	EXPECT_TRUE(memory_write_text(PARAMETER, self->limit));
	close(self->fd);
	munmap((void *)self->memory, SPARSE_SIZE);
	fake_daemon_stop(self->daemon);
}

/* --- in the daemon ---------------------------------------------------------- */

struct walk {
	uint64_t address;
	uint32_t binding;
	uint32_t parts;		/* that it maps the memory in */
	uint64_t seen;		/* pages with the program's values */
	uint64_t most;		/* kB of page tables of the daemon, at any time */
};

static void walk_part(struct walk *walk, const char *base, size_t first, size_t count)
{
	size_t i;

	for (i = first; i < first + count; i++) {
		uint64_t value = 0;
		unsigned long tables;

		if (!window_load(base + (i - first) * HUGE_PAGE, &value) && value == i + 1)
			walk->seen++;
		if (i % 32)
			continue;
		tables = memory_named_number("/proc/self/status", "VmPTE");
		walk->most = tables > walk->most ? tables : walk->most;
	}
}

static long walk_through(struct fake_self *self, void *argument)
{
	struct walk *walk = argument;
	size_t each = REGIONS / walk->parts;
	char *base[PARTS];
	size_t i;

	window_catch_bus_errors();
	for (i = 0; i < walk->parts; i++) {
		base[i] = fake_self_window(self, walk->binding,
					   walk->address + i * each * HUGE_PAGE, each * HUGE_PAGE);
		if (base[i] == MAP_FAILED)
			return -1;
	}
	for (i = 0; i < walk->parts; i++)
		walk_part(walk, base[i], i * each, each);
	for (i = 0; i < walk->parts; i++)
		munmap(base[i], each * HUGE_PAGE);
	return 0;
}

static unsigned long tables_now(struct fake_daemon *daemon)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", daemon->control->pid);
	return memory_named_number(path, "VmPTE");
}

/* --- tests -------------------------------------------------------------------- */

#define WALK(count) ({ \
	struct walk walk = { \
		.address = (uintptr_t)self->memory, .parts = count, \
		.binding = window_binding(self->daemon), \
	}; \
	ASSERT_EQ(0, fake_daemon_call(self->daemon, walk_through, &walk, sizeof(walk))); \
	walk; \
})

TEST_F(tables, of_a_sparse_window_are_bounded)
{
	unsigned long before = tables_now(self->daemon);
	struct walk walk;

	ASSERT_TRUE(memory_write_text(PARAMETER, "64"));
	walk = WALK(1);
	printf("# %lu kB before, at most %lu kB\n", before, (unsigned long)walk.most);
	EXPECT_EQ(REGIONS, walk.seen);
	EXPECT_GT(before + 64 * 4 + BESIDE, walk.most);
	EXPECT_GT(before + BESIDE, tables_now(self->daemon));
}

/* Each part has its share. */
TEST_F(tables, of_a_window_in_parts_are_bounded)
{
	unsigned long before = tables_now(self->daemon);
	struct walk walk;

	ASSERT_TRUE(memory_write_text(PARAMETER, "64"));
	walk = WALK(PARTS);
	printf("# %lu kB before, at most %lu kB\n", before, (unsigned long)walk.most);
	EXPECT_EQ(REGIONS, walk.seen);
	EXPECT_GT(before + 64 * 4 + BESIDE, walk.most);
}

TEST_F(tables, are_bounded_without_anybodys_setting)
{
	EXPECT_LT(0, atoi(self->limit));
	EXPECT_GE(4096, atoi(self->limit));
}

/* Two threads of the daemon, of which each gives back page tables of the other one. */
TEST_F(tables, are_given_back_while_two_threads_look)
{
	struct walk first = {
		.address = (uintptr_t)self->memory, .parts = 1, .binding = window_binding(self->daemon),
	};
	struct walk second = first;

	ASSERT_TRUE(memory_write_text(PARAMETER, "8"));
	fake_daemon_call_start(self->daemon, walk_through, &first, sizeof(first));
	EXPECT_EQ(0, fake_daemon_call(self->daemon, walk_through, &second, sizeof(second)));
	EXPECT_EQ(0, fake_daemon_call_finish(self->daemon, &first, sizeof(first)));
	EXPECT_EQ(REGIONS, first.seen);
	EXPECT_EQ(REGIONS, second.seen);
}

TEST_HARNESS_MAIN
