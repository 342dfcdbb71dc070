/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A cluster's two memories: its own, which the program and all units share, and the program's,
 * with which the units exchange rows. A missing page is faulted in, a page that goes is not used any
 * more, and an impossible address is an error of the command. All is checked by the data.
 */
#include "kselftest_harness.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/real_daemon.h"
#include "tests/kselftest/lib/time_scale.h"
#include "tests/kselftest/lib/virgo_device.h"

#define ROWS 16
#define ROW 32		/* bytes of unit 0 */
/* So far apart that the kernel does not bring in one page with another. */
#define FAR (32 * PAGE)

FIXTURE(memory)
{
	struct virgo_node node;
};

FIXTURE_VARIANT(memory)
{
	const char *channel;
};

FIXTURE_VARIANT_ADD(memory, uring) { .channel = "uring" };
FIXTURE_VARIANT_ADD(memory, read) { .channel = "read" };

FIXTURE_SETUP(memory)
{
	ASSERT_TRUE(real_daemon_share(variant->channel, "virgo:2"));
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
	virgo_strides(&self->node, 0, ROW, ROW);
}

FIXTURE_TEARDOWN(memory)
{
	virgo_node_close(&self->node);
}

static uint8_t byte_of(unsigned int row, unsigned int column)
{
	return (uint8_t)(row * 37 + column * 5 + 1);
}

/* Rows `stride` bytes apart. */
static void fill_rows(volatile void *base, size_t stride)
{
	for (unsigned int row = 0; row < ROWS; row++) {
		for (unsigned int column = 0; column < ROW; column++)
			((volatile uint8_t *)base)[row * stride + column] = byte_of(row, column);
	}
}

/* How many bytes are not as fill_rows() makes them. */
static unsigned int wrong_bytes(const volatile void *base, size_t stride)
{
	unsigned int wrong = 0;

	for (unsigned int row = 0; row < ROWS; row++) {
		for (unsigned int column = 0; column < ROW; column++)
			wrong += ((const volatile uint8_t *)base)[row * stride + column] !=
				 byte_of(row, column);
	}
	return wrong;
}

static unsigned int nonzero_bytes(const volatile void *base, size_t size)
{
	unsigned int found = 0;

	for (size_t i = 0; i < size; i++)
		found += ((const volatile uint8_t *)base)[i] != 0;
	return found;
}

/* --- the cluster's own memory ------------------------------------------------------- */

TEST_F(memory, a_unit_moves_out_rows_that_the_program_stored)
{
	char *to = memory_map(PAGE);

	fill_rows(self->node.shared + 7 * ROW, ROW);
	virgo_move_out(&self->node, 0, to, 7, ROWS);
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(0, wrong_bytes(to, ROW));
	EXPECT_EQ(0, nonzero_bytes(to + ROWS * ROW, PAGE - ROWS * ROW));
}

TEST_F(memory, the_program_finds_rows_that_a_unit_moved_in)
{
	char *from = memory_map(PAGE);

	fill_rows(from, ROW);
	virgo_move_in(&self->node, 0, from, VIRGO_TEST_SHARED / ROW - ROWS, ROWS);
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(0, wrong_bytes(self->node.shared + VIRGO_TEST_SHARED - ROWS * ROW, ROW));
	EXPECT_EQ(0, nonzero_bytes(self->node.shared, VIRGO_TEST_SHARED - ROWS * ROW));
}

TEST_F(memory, all_units_see_the_same_bytes)
{
	for (unsigned int unit = 0; unit < VIRGO_TEST_UNITS; unit++) {
		unsigned int row_bytes = virgo_row_bytes(unit);
		char *to = memory_map(PAGE);

		fill_rows(self->node.shared + 4096, ROW);
		virgo_strides(&self->node, unit, row_bytes, row_bytes);
		virgo_move_out(&self->node, unit, to, 4096 / row_bytes, ROWS / 2);
		virgo_move_out(&self->node, unit, to + ROWS / 2 * row_bytes, 4096 / row_bytes + ROWS / 2,
			       ROWS / 2);
		EXPECT_EQ(0, virgo_fence(&self->node, unit) & VIRGO_STATUS_ERROR);
		EXPECT_EQ(0, memcmp(to, (char *)(uintptr_t)self->node.shared + 4096, ROWS * row_bytes));
	}
}

TEST_F(memory, its_address_in_the_program_is_memory_for_the_units_too)
{
	/* From one place of it to another one, by way of a third. */
	fill_rows(self->node.shared + 16 * PAGE, ROW);
	virgo_move_in(&self->node, 0, self->node.shared + 16 * PAGE, 100, ROWS);
	virgo_move_out(&self->node, 0, self->node.shared + 8 * PAGE, 100, ROWS);
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(0, wrong_bytes(self->node.shared + 100 * ROW, ROW));
	EXPECT_EQ(0, wrong_bytes(self->node.shared + 8 * PAGE, ROW));
}

TEST_F(memory, a_place_of_it_that_nobody_touched_is_faulted_in)
{
	char *from = memory_map(PAGE);

	fill_rows(from, ROW);
	virgo_move_in(&self->node, 0, from, 0, ROWS);
	virgo_move_out(&self->node, 0, self->node.shared + 20 * PAGE, 0, ROWS);
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(0, wrong_bytes(self->node.shared + 20 * PAGE, ROW));
}

TEST_F(memory, the_registers_are_no_memory)
{
	virgo_move_in(&self->node, 0, self->node.pages, 0, 1);
	EXPECT_EQ(VIRGO_STATUS_ERROR, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(VIRGO_ERROR_LOAD, virgo_error(&self->node, 0));
	EXPECT_EQ((uintptr_t)self->node.pages, virgo_get(&self->node, VIRGO_UNIT(0, ERROR_ADDRESS)));
}

/* --- faults of the program's memory --------------------------------------------------- */

/* A mapping of a file whose pages this process has not touched. */
static char *untouched_rows(size_t stride)
{
	size_t size = ROWS * stride;
	int file = memory_file(size);
	char *writer = memory_map_file(file, size), *reader;

	fill_rows(writer, stride);
	munmap(writer, size);
	reader = memory_map_file(file, size);
	close(file);
	return reader;
}

TEST_F(memory, pages_that_were_never_touched_are_faulted_in)
{
	char *from = untouched_rows(FAR), *to = memory_map(PAGE);

	virgo_strides(&self->node, 0, FAR, ROW);
	virgo_move_in(&self->node, 0, from, 0, ROWS);
	virgo_move_out(&self->node, 0, to, 0, ROWS);
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(0, wrong_bytes(to, ROW));
	/* 16 to read, 1 to write. */
	EXPECT_EQ(ROWS + 1, virgo_node_info(self->node.fd).faults);
	EXPECT_EQ(0, virgo_node_info(self->node.fd).unresolved);
	EXPECT_EQ(ROWS + 1, virgo_count(&self->node, 0, VIRGO_COUNTER_page_faults));
	EXPECT_EQ(ROWS + 1, virgo_count(&self->node, 0, VIRGO_COUNTER_resolves));
	EXPECT_EQ(0, virgo_count(&self->node, 0, VIRGO_COUNTER_faults));
}

TEST_F(memory, rows_that_cross_pages_nobody_touched)
{
	char *to = memory_map(ROWS * PAGE), *from = untouched_rows(PAGE);

	virgo_strides(&self->node, 0, PAGE, PAGE);
	virgo_move_in(&self->node, 0, from, 0, ROWS);
	virgo_move_out(&self->node, 0, to + PAGE - ROW / 2, 0, ROWS - 1);
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	for (unsigned int row = 0; row < ROWS - 1; row++)
		EXPECT_EQ(0, memcmp(to + PAGE - ROW / 2 + row * PAGE, from + row * PAGE, ROW));
}

/* The daemon maps a program's memory in pieces of 2^36 bytes. */
static char *map_around(unsigned int piece)
{
	char *place = (char *)((uintptr_t)piece << 36) - PAGE;

	return mmap(place, 2 * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

TEST_F(memory, a_row_that_crosses_from_one_piece_of_the_address_space_into_the_next)
{
	char *pages = map_around(300);

	ASSERT_NE(MAP_FAILED, pages);
	fill_rows(pages + PAGE - ROW * 5 / 2, ROW);
	virgo_move_in(&self->node, 0, pages + PAGE - ROW * 5 / 2, 0, ROWS);
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(0, wrong_bytes(self->node.shared, ROW));
	memset(pages, 0, 2 * PAGE);
	virgo_move_out(&self->node, 0, pages + PAGE - ROW * 7 / 2, 0, ROWS);
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(0, wrong_bytes(pages + PAGE - ROW * 7 / 2, ROW));
	EXPECT_EQ(0, nonzero_bytes(pages, PAGE - ROW * 7 / 2));
	munmap(pages, 2 * PAGE);
}

/* More pieces than are mapped at a time, by all units at once. */
#define PIECES 80

struct pieces {
	const struct virgo_node *node;
	volatile uint64_t **places;
	unsigned int unit, wrong;
};

static void *move_pieces(void *argument)
{
	struct pieces *all = argument;
	unsigned int row_bytes = virgo_row_bytes(all->unit), row = all->unit * 1024 / row_bytes;
	volatile uint64_t *seen = (volatile uint64_t *)(all->node->shared + all->unit * 1024);

	virgo_strides(all->node, all->unit, row_bytes, row_bytes);
	for (unsigned int i = 0; i < PIECES; i++) {
		unsigned int piece = (i * 7 + all->unit * 20) % PIECES;

		virgo_move_in(all->node, all->unit, all->places[piece], row, 1);
		virgo_fence(all->node, all->unit);
		all->wrong += seen[0] != piece + 1;
		seen[0] = 0;
	}
	return NULL;
}

TEST_F(memory, units_work_all_over_the_address_space)
{
	struct pieces all[VIRGO_TEST_UNITS];
	pthread_t threads[VIRGO_TEST_UNITS];
	volatile uint64_t *places[PIECES];

	for (unsigned int i = 0; i < PIECES; i++) {
		char *place = map_around(400 + i);

		ASSERT_NE(MAP_FAILED, place);
		places[i] = (volatile uint64_t *)(place + PAGE);
		places[i][0] = i + 1;
	}
	for (unsigned int unit = 0; unit < VIRGO_TEST_UNITS; unit++) {
		all[unit] = (struct pieces){ &self->node, places, unit, 0 };
		ASSERT_EQ(0, pthread_create(&threads[unit], NULL, move_pieces, &all[unit]));
	}
	for (unsigned int unit = 0; unit < VIRGO_TEST_UNITS; unit++) {
		pthread_join(threads[unit], NULL);
		EXPECT_EQ(0, all[unit].wrong);
		EXPECT_EQ(0, virgo_error(&self->node, unit));
	}
}

TEST_F(memory, a_store_to_a_page_that_only_reads_the_zero_page)
{
	char *to = memory_map(PAGE), *other = memory_map(PAGE);

	EXPECT_EQ(0, nonzero_bytes(to, PAGE) + nonzero_bytes(other, PAGE));
	virgo_move_in(&self->node, 0, to, 64, ROWS);
	fill_rows(self->node.shared, ROW);
	virgo_move_out(&self->node, 0, to, 0, ROWS);
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(0, wrong_bytes(to, ROW));
	EXPECT_EQ(0, nonzero_bytes(other, PAGE));
}

static int child_sees(const char *to, int go, int answer)
{
	char word;

	if (read(go, &word, 1) != 1)
		return 1;
	word = (char)(nonzero_bytes(to, ROWS * ROW) == ROWS * ROW && to[0] == 99);
	return write(answer, &word, 1) != 1;
}

TEST_F(memory, a_store_after_a_fork_goes_to_the_parents_own_page)
{
	char *to = memory_map(PAGE), word = 0;
	int go[2], answer[2];
	pid_t child;

	memset(to, 99, ROWS * ROW);
	/* Before: the device has the page writable. */
	virgo_move_in(&self->node, 0, to, 0, ROWS);
	virgo_move_out(&self->node, 0, to, 0, ROWS);
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	ASSERT_EQ(0, pipe(go) | pipe(answer));
	child = fork();
	if (!child)
		_exit(child_sees(to, go[0], answer[1]));
	fill_rows(self->node.shared, ROW);
	virgo_move_out(&self->node, 0, to, 0, ROWS);
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(1, write(go[1], "", 1));
	EXPECT_EQ(1, read(answer[0], &word, 1));
	EXPECT_EQ(1, word);
	EXPECT_EQ(0, wrong_bytes(to, ROW));
	waitpid(child, NULL, 0);
}

TEST_F(memory, a_private_file_page_is_copied_for_a_store)
{
	int file = memory_file(PAGE);
	char *shared = memory_map_file(file, PAGE);
	char *to = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);

	memset(shared, 5, PAGE);
	EXPECT_EQ(5, to[0]);
	fill_rows(self->node.shared, ROW);
	virgo_move_out(&self->node, 0, to, 0, ROWS);
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(0, wrong_bytes(to, ROW));
	EXPECT_EQ(5, to[ROWS * ROW]);
	EXPECT_EQ(5, shared[0]);
}

/* --- shootdowns --------------------------------------------------------------- */

TEST_F(memory, memory_that_was_dropped_is_zero_again)
{
	volatile uint64_t *page = memory_map(PAGE);

	page[0] = 4711;
	EXPECT_EQ(4711, virgo_see(&self->node, 0, page));
	ASSERT_EQ(0, madvise((void *)(uintptr_t)page, PAGE, MADV_DONTNEED));
	EXPECT_EQ(0, virgo_see(&self->node, 0, page));
	page[0] = 4712;
	EXPECT_EQ(4712, virgo_see(&self->node, 0, page));
	EXPECT_LE(1, virgo_node_info(self->node.fd).shootdowns);
}

TEST_F(memory, another_mapping_at_the_same_address_is_what_is_seen)
{
	volatile uint64_t *page = memory_map(PAGE);

	for (uint64_t i = 1; i < 20; i++) {
		ASSERT_EQ((void *)(uintptr_t)page,
			  mmap((void *)(uintptr_t)page, PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
		page[0] = i;
		EXPECT_EQ(i, virgo_see(&self->node, 0, page));
	}
}

TEST_F(memory, a_moved_page_is_seen_at_its_new_place_only)
{
	volatile uint64_t *page = memory_map(PAGE);
	volatile uint64_t *place = memory_map(PAGE);

	page[0] = 1234;
	EXPECT_EQ(1234, virgo_see(&self->node, 0, page));
	ASSERT_EQ((void *)(uintptr_t)place, mremap((void *)(uintptr_t)page, PAGE, PAGE,
						    MREMAP_MAYMOVE | MREMAP_FIXED, place));
	EXPECT_EQ(1234, virgo_see(&self->node, 0, place));
	virgo_move_in(&self->node, 0, page, 0, 1);
	EXPECT_EQ(VIRGO_STATUS_ERROR, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(VIRGO_ERROR_LOAD, virgo_error(&self->node, 0));
}

/*
 * Two units read all the time, with a job out nearly always, while the page that they
 * read changes. Each row of 32 bytes is one generation.
 */
#define LOOKS 60
#define MANY 64

struct race {
	struct virgo_node *node;
	volatile uint64_t *page;
	_Atomic uint64_t *floor;	/* nothing older may be seen by a command that is dispatched now */
	_Atomic int *stop;
	unsigned int unit;
	uint64_t looks, stale;
};

static void *look(void *argument)
{
	struct race *race = argument;
	unsigned int rows_per = race->unit ? 16 : 32;	/* bytes of a row */
	unsigned int first = race->unit * 1024;

	while (!*race->stop) {
		volatile uint64_t *seen = (volatile uint64_t *)(race->node->shared + first * rows_per);
		uint64_t floor = *race->floor;

		/* Stride 0: the same row again and again, so that it takes a while. */
		virgo_move_in(race->node, race->unit, race->page, first, MANY);
		virgo_fence(race->node, race->unit);
		for (unsigned int i = 0; i < MANY; i++) {
			uint64_t value = seen[i * rows_per / 8];

			/* 0: the page as the kernel makes it, between two generations. */
			race->stale += value && value < floor;
		}
		race->looks++;
	}
	return NULL;
}

static bool change(volatile uint64_t *page, uint64_t generation)
{
	void *address = (void *)(uintptr_t)page;

	switch (generation % 4) {
	case 0:
		return !madvise(address, PAGE, MADV_DONTNEED);
	case 1:
		return mmap(address, PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == address;
	case 2:
		return !mprotect(address, PAGE, PROT_READ) &&
		       !mprotect(address, PAGE, PROT_READ | PROT_WRITE);
	default:
		return true;
	}
}

TEST_F(memory, nothing_stale_is_seen_by_jobs_while_the_page_changes)
{
	volatile uint64_t *page = memory_map(PAGE);
	_Atomic uint64_t floor = 1;
	_Atomic int stop = 0;
	struct race races[2] = {
		{ .node = &self->node, .page = page, .floor = &floor, .stop = &stop, .unit = 0 },
		{ .node = &self->node, .page = page, .floor = &floor, .stop = &stop, .unit = 2 },
	};
	double end = memory_clock() + 10 * time_scale();
	pthread_t threads[2];
	bool changed = true;

	page[0] = 1;
	virgo_strides(&self->node, 0, 0, 0);
	virgo_strides(&self->node, 2, 0, 0);
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, look, &races[i]));
	for (uint64_t generation = 2; changed && memory_clock() < end &&
	     (races[0].looks < LOOKS || races[1].looks < LOOKS); generation++) {
		changed = change(page, generation);
		page[0] = generation;
		floor = generation;
		/* A change waits for the device, so there is little else but changes. */
		if (generation % 4 == 0)
			usleep(200);
	}
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	EXPECT_TRUE(changed);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, races[i].stale);
		EXPECT_LE(LOOKS, races[i].looks);
		EXPECT_EQ(0, virgo_error(&self->node, races[i].unit));
	}
	EXPECT_LT(5, virgo_node_info(self->node.fd).shootdowns);
}

/* --- bad addresses -------------------------------------------------------------- */

TEST_F(memory, an_unmapped_row_is_an_error_with_its_address)
{
	char *pages = memory_map(2 * PAGE);

	fill_rows(pages, ROW);
	munmap(pages + PAGE, PAGE);
	/* Rows 0 to 3 lie in the page, row 4 does not. */
	virgo_move_in(&self->node, 0, pages + PAGE - 4 * ROW, 0, ROWS);
	EXPECT_EQ(VIRGO_STATUS_ERROR, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(VIRGO_ERROR_LOAD, virgo_error(&self->node, 0));
	EXPECT_EQ((uintptr_t)pages + PAGE, virgo_get(&self->node, VIRGO_UNIT(0, ERROR_ADDRESS)));
	/* Two configurations came before it. */
	EXPECT_EQ(2, virgo_get(&self->node, VIRGO_UNIT(0, ERROR_POSITION)));
	EXPECT_EQ(1, virgo_node_info(self->node.fd).unresolved);
	EXPECT_EQ(1, virgo_get(&self->node, VIRGO_CONTROL_FAULT_COUNT));
	EXPECT_EQ((uintptr_t)pages + PAGE, virgo_get(&self->node, VIRGO_CONTROL_FAULT_STATUS));
}

TEST_F(memory, after_an_error_the_unit_goes_on_and_the_others_never_stopped)
{
	char *to = memory_map(PAGE);

	fill_rows(self->node.shared, ROW);
	virgo_move_in(&self->node, 0, (void *)0x1000, 100, 1);
	EXPECT_EQ(VIRGO_STATUS_ERROR, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	virgo_move_out(&self->node, 0, to, 0, ROWS);
	EXPECT_EQ(VIRGO_STATUS_ERROR, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(0, nonzero_bytes(to, PAGE));
	virgo_strides(&self->node, 2, 16, 16);
	virgo_move_out(&self->node, 2, to, 0, 2 * ROWS);
	EXPECT_EQ(0, virgo_fence(&self->node, 2) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(0, wrong_bytes(to, ROW));
	virgo_put(&self->node, VIRGO_UNIT(0, ERROR), 0);
	virgo_move_out(&self->node, 0, to + PAGE / 2, 0, ROWS);
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(0, wrong_bytes(to + PAGE / 2, ROW));
}

TEST_F(memory, memory_that_may_only_be_read_is_an_error_for_a_store)
{
	char *page = memory_map(PAGE);

	fill_rows(page, ROW);
	ASSERT_EQ(0, mprotect(page, PAGE, PROT_READ));
	virgo_move_in(&self->node, 0, page, 0, ROWS);
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	virgo_move_out(&self->node, 0, page, 0, ROWS);
	EXPECT_EQ(VIRGO_STATUS_ERROR, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(VIRGO_ERROR_STORE, virgo_error(&self->node, 0));
	EXPECT_EQ((uintptr_t)page, virgo_get(&self->node, VIRGO_UNIT(0, ERROR_ADDRESS)));
	EXPECT_EQ(0, wrong_bytes(page, ROW));
}

TEST_F(memory, addresses_of_nobody_are_errors)
{
	/* Not 0: that reads as zeros. */
	static const uint64_t addresses[] = {
		0x1000, 0x0000800000000000, 0x00007ffffffff000, 0xffff888000100000, 0xffffffffffffffe0,
		0x1234567800000000,
	};

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		void *address = (void *)(uintptr_t)addresses[i];

		virgo_move_in(&self->node, 0, address, 0, 1);
		EXPECT_EQ(VIRGO_STATUS_ERROR, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
		EXPECT_EQ(VIRGO_ERROR_LOAD, virgo_error(&self->node, 0));
		EXPECT_EQ(addresses[i], virgo_get(&self->node, VIRGO_UNIT(0, ERROR_ADDRESS)));
		virgo_put(&self->node, VIRGO_UNIT(0, ERROR), 0);
		virgo_move_out(&self->node, 0, address, 0, 1);
		EXPECT_EQ(VIRGO_STATUS_ERROR, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
		EXPECT_EQ(VIRGO_ERROR_STORE, virgo_error(&self->node, 0));
		virgo_put(&self->node, VIRGO_UNIT(0, ERROR), 0);
	}
}

TEST_HARNESS_MAIN
