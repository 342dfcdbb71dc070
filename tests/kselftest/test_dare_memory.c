/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Tiles to and from a program's memory: absent pages are faulted in, unmapped pages are
 * seen no more, and a bad address is an error of the instruction. The data show all
 * of it.
 */
#include "kselftest_harness.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/kselftest/lib/dare_device.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/real_daemon.h"
#include "tests/kselftest/lib/time_scale.h"

#define ROWS 16
#define ROW 64
/* So far apart that the kernel does not bring in one page with another. */
#define FAR (32 * PAGE)

FIXTURE(memory)
{
	struct dare_node node;
};

FIXTURE_VARIANT(memory)
{
	const char *channel;
};

FIXTURE_VARIANT_ADD(memory, uring) { .channel = "uring" };
FIXTURE_VARIANT_ADD(memory, read) { .channel = "read" };

FIXTURE_SETUP(memory)
{
	ASSERT_TRUE(real_daemon_share(variant->channel, "dare:2"));
	ASSERT_EQ(0, dare_node_open(&self->node, "/dev/dare0"));
}

FIXTURE_TEARDOWN(memory)
{
	dare_node_close(&self->node);
}

/* A byte for each place of a tile. */
static uint8_t byte_of(unsigned int row, unsigned int column)
{
	return (uint8_t)(row * 37 + column * 5 + 1);
}

/* Rows `stride` bytes apart. */
static void fill_rows(char *base, size_t stride)
{
	for (unsigned int row = 0; row < ROWS; row++) {
		for (unsigned int column = 0; column < ROW; column++)
			base[row * stride + column] = (char)byte_of(row, column);
	}
}

/* How many bytes of the tile are not as fill_rows() makes them. */
static unsigned int wrong_bytes(const char *base, size_t stride)
{
	unsigned int wrong = 0;

	for (unsigned int row = 0; row < ROWS; row++) {
		for (unsigned int column = 0; column < ROW; column++)
			wrong += (uint8_t)base[row * stride + column] != byte_of(row, column);
	}
	return wrong;
}

static unsigned int nonzero_bytes(const char *base, size_t size)
{
	unsigned int found = 0;

	for (size_t i = 0; i < size; i++)
		found += base[i] != 0;
	return found;
}

/* A mapping of a file whose pages this process has not touched. */
static char *untouched_tile(size_t stride)
{
	size_t size = ROWS * stride;
	int file = memory_file(size);
	char *writer = memory_map_file(file, size);
	char *reader;

	fill_rows(writer, stride);
	munmap(writer, size);
	reader = memory_map_file(file, size);
	close(file);
	return reader;
}

/* --- faults ----------------------------------------------------------------- */

TEST_F(memory, a_tile_goes_to_the_device_and_back)
{
	char *from = memory_map(PAGE), *to = memory_map(PAGE);

	fill_rows(from, ROW);
	to[0] = 1;
	EXPECT_EQ(0, dare_load(&self->node, 0, from, ROW) & DARE_STATUS_ERROR);
	EXPECT_EQ(0, dare_store(&self->node, 0, to, ROW) & DARE_STATUS_ERROR);
	EXPECT_EQ(0, wrong_bytes(to, ROW));
	EXPECT_EQ(0, nonzero_bytes(to + ROWS * ROW, PAGE - ROWS * ROW));
}

TEST_F(memory, pages_that_were_never_touched_are_faulted_in)
{
	char *from = untouched_tile(FAR), *to = memory_map(PAGE);

	EXPECT_EQ(0, dare_load(&self->node, 1, from, FAR) & DARE_STATUS_ERROR);
	EXPECT_EQ(0, dare_store(&self->node, 1, to, ROW) & DARE_STATUS_ERROR);
	EXPECT_EQ(0, wrong_bytes(to, ROW));
	/* 16 to read, 1 to write. */
	EXPECT_EQ(ROWS + 1, dare_node_info(self->node.fd).faults);
	EXPECT_EQ(ROWS + 1, dare_count(&self->node, DARE_COUNTER_page_faults));
	EXPECT_EQ(ROWS + 1, dare_count(&self->node, DARE_COUNTER_resolves));
	EXPECT_EQ(0, dare_node_info(self->node.fd).unresolved);
}

TEST_F(memory, a_store_to_pages_that_were_never_touched)
{
	char *from = memory_map(PAGE), *to = memory_map(ROWS * PAGE);

	fill_rows(from, ROW);
	EXPECT_EQ(0, dare_load(&self->node, 2, from, ROW) & DARE_STATUS_ERROR);
	EXPECT_EQ(0, dare_store(&self->node, 2, to + PAGE - 32, PAGE) & DARE_STATUS_ERROR);
	/* The last row ends in a page that is not ours. */
	EXPECT_EQ(0, wrong_bytes(to + PAGE - 32, PAGE));
}

TEST_F(memory, a_store_to_a_page_that_only_reads_the_zero_page)
{
	char *from = memory_map(PAGE), *to = memory_map(PAGE), *other = memory_map(PAGE);

	fill_rows(from, ROW);
	EXPECT_EQ(0, nonzero_bytes(to, PAGE) + nonzero_bytes(other, PAGE));
	EXPECT_EQ(0, dare_load(&self->node, 3, to, ROW) & DARE_STATUS_ERROR);
	EXPECT_EQ(0, dare_load(&self->node, 3, from, ROW) & DARE_STATUS_ERROR);
	EXPECT_EQ(0, dare_store(&self->node, 3, to, ROW) & DARE_STATUS_ERROR);
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
	char *from = memory_map(PAGE), *to = memory_map(PAGE), word = 0;
	int go[2], answer[2];
	pid_t child;

	fill_rows(from, ROW);
	memset(to, 99, ROWS * ROW);
	/* Before: the device has the page writable. */
	EXPECT_EQ(0, dare_load(&self->node, 0, to, ROW) & DARE_STATUS_ERROR);
	EXPECT_EQ(0, dare_store(&self->node, 0, to, ROW) & DARE_STATUS_ERROR);
	ASSERT_EQ(0, pipe(go) | pipe(answer));
	child = fork();
	if (!child)
		_exit(child_sees(to, go[0], answer[1]));
	EXPECT_EQ(0, dare_load(&self->node, 0, from, ROW) & DARE_STATUS_ERROR);
	EXPECT_EQ(0, dare_store(&self->node, 0, to, ROW) & DARE_STATUS_ERROR);
	EXPECT_EQ(1, write(go[1], "", 1));
	EXPECT_EQ(1, read(answer[0], &word, 1));
	EXPECT_EQ(1, word);
	EXPECT_EQ(0, wrong_bytes(to, ROW));
	waitpid(child, NULL, 0);
}

TEST_F(memory, a_private_file_page_is_copied_for_a_store)
{
	int file = memory_file(PAGE);
	char *shared = memory_map_file(file, PAGE), *from = memory_map(PAGE);
	char *to = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);

	fill_rows(from, ROW);
	memset(shared, 5, PAGE);
	EXPECT_EQ(5, to[0]);
	EXPECT_EQ(0, dare_load(&self->node, 0, from, ROW) & DARE_STATUS_ERROR);
	EXPECT_EQ(0, dare_store(&self->node, 0, to, ROW) & DARE_STATUS_ERROR);
	EXPECT_EQ(0, wrong_bytes(to, ROW));
	EXPECT_EQ(5, to[ROWS * ROW]);
	EXPECT_EQ(5, shared[0]);
}

/* --- shootdowns --------------------------------------------------------------- */

TEST_F(memory, memory_that_was_dropped_is_zero_again)
{
	volatile uint64_t *page = memory_map(PAGE);

	page[0] = 4711;
	dare_shape(&self->node, 1, 8);
	EXPECT_EQ(4711, dare_see(&self->node, page));
	ASSERT_EQ(0, madvise((void *)(uintptr_t)page, PAGE, MADV_DONTNEED));
	EXPECT_EQ(0, dare_see(&self->node, page));
	page[0] = 4712;
	EXPECT_EQ(4712, dare_see(&self->node, page));
	EXPECT_LE(1, dare_node_info(self->node.fd).shootdowns);
}

TEST_F(memory, another_mapping_at_the_same_address_is_what_is_seen)
{
	volatile uint64_t *page = memory_map(PAGE);

	dare_shape(&self->node, 1, 8);
	for (uint64_t i = 1; i < 20; i++) {
		ASSERT_EQ((void *)(uintptr_t)page,
			  mmap((void *)(uintptr_t)page, PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
		page[0] = i;
		EXPECT_EQ(i, dare_see(&self->node, page));
	}
}

TEST_F(memory, a_moved_page_is_seen_at_its_new_place_only)
{
	volatile uint64_t *page = memory_map(PAGE);
	volatile uint64_t *place = memory_map(PAGE);

	page[0] = 1234;
	dare_shape(&self->node, 1, 8);
	EXPECT_EQ(1234, dare_see(&self->node, page));
	ASSERT_EQ((void *)(uintptr_t)place, mremap((void *)(uintptr_t)page, PAGE, PAGE,
						    MREMAP_MAYMOVE | MREMAP_FIXED, place));
	EXPECT_EQ(1234, dare_see(&self->node, place));
	EXPECT_EQ(DARE_STATUS_ERROR, dare_load(&self->node, 0, page, 0) & DARE_STATUS_ERROR);
	EXPECT_EQ(DARE_ERROR_LOAD, dare_get(&self->node, DARE_ERROR));
}

#define LOOKS 50
#define SHOOTDOWNS 5

/* One thread changes the page, and another one has the device read it meanwhile. */
struct race {
	struct dare_node *node;
	volatile uint64_t *page;
	volatile uint64_t *floor;	/* nothing older may be seen by an instruction that is dispatched now */
	_Atomic int stop;
	_Atomic uint64_t looks;
	uint64_t stale;
};

static void *look(void *argument)
{
	struct race *race = argument;

	while (!race->stop) {
		uint64_t floor = *race->floor;
		uint64_t seen = dare_see(race->node, race->page);

		/* 0: the page as the kernel makes it, between two generations. */
		race->stale += seen && seen < floor;
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

TEST_F(memory, nothing_stale_is_seen_while_the_page_changes)
{
	uint64_t floor = 1, generation;
	struct race race = { .node = &self->node, .page = memory_map(PAGE), .floor = &floor };
	double end = memory_clock() + 10 * time_scale();
	bool changed = true;
	pthread_t thread;

	race.page[0] = 1;
	dare_shape(&self->node, 1, 8);
	ASSERT_EQ(0, pthread_create(&thread, NULL, look, &race));
	for (generation = 2; changed && memory_clock() < end; generation++) {
		/* Of shootdowns there are some, too, when the device has looked often enough. */
		if (race.looks >= LOOKS && dare_node_info(self->node.fd).shootdowns > SHOOTDOWNS)
			break;
		changed = change(race.page, generation);
		race.page[0] = generation;
		floor = generation;
		/* A change waits for the device, so there is little else but changes. */
		if (generation % 4 == 0)
			usleep(200);
	}
	race.stop = 1;
	pthread_join(thread, NULL);
	EXPECT_TRUE(changed);
	EXPECT_EQ(0, race.stale);
	EXPECT_LE(LOOKS, race.looks);
	EXPECT_EQ(0, dare_get(&self->node, DARE_ERROR));
	EXPECT_LT(SHOOTDOWNS, dare_node_info(self->node.fd).shootdowns);
}

TEST_F(memory, a_store_in_flight_is_never_lost_to_a_fork)
{
	volatile uint64_t *page = memory_map(PAGE), *from = memory_map(PAGE);

	dare_shape(&self->node, 1, 8);
	for (uint64_t i = 1; i <= 10; i++) {
		pid_t child;

		from[0] = i;
		dare_dispatch(&self->node, DARE_WORD_MLD_B(0), (uintptr_t)from, 0);
		child = fork();
		if (!child)
			_exit(0);
		EXPECT_EQ(0, dare_store(&self->node, 0, page, 0) & DARE_STATUS_ERROR);
		EXPECT_EQ(i, page[0]);
		waitpid(child, NULL, 0);
	}
}

/* --- bad addresses -------------------------------------------------------------- */

TEST_F(memory, an_unmapped_row_is_an_error_with_its_address)
{
	char *pages = memory_map(2 * PAGE);

	fill_rows(pages, ROW);
	munmap(pages + PAGE, PAGE);
	/* Rows 0 to 3 lie in the page, row 4 does not. */
	EXPECT_EQ(DARE_STATUS_ERROR, dare_load(&self->node, 4, pages + PAGE - 4 * ROW, ROW) &
		  DARE_STATUS_ERROR);
	EXPECT_EQ(DARE_ERROR_LOAD, dare_get(&self->node, DARE_ERROR));
	EXPECT_EQ((uintptr_t)pages + PAGE, dare_get(&self->node, DARE_ERROR_ADDRESS));
	EXPECT_EQ(4, dare_get(&self->node, DARE_ERROR_ROW));
	EXPECT_EQ(0, dare_get(&self->node, DARE_ERROR_POSITION));
	EXPECT_EQ(DARE_WORD_MLD_B(4), dare_get(&self->node, DARE_ERROR_INSTRUCTION));
	EXPECT_EQ(1, dare_node_info(self->node.fd).unresolved);
}

TEST_F(memory, after_an_error_the_context_goes_on)
{
	char *from = memory_map(PAGE), *to = memory_map(PAGE);

	fill_rows(from, ROW);
	EXPECT_EQ(DARE_STATUS_ERROR, dare_load(&self->node, 0, (void *)0x1000, ROW) & DARE_STATUS_ERROR);
	/* Dropped. */
	dare_store(&self->node, 0, to, ROW);
	EXPECT_EQ(1, dare_count(&self->node, DARE_COUNTER_dropped));
	dare_put(&self->node, DARE_ERROR, 0);
	EXPECT_EQ(0, dare_load(&self->node, 0, from, ROW) & DARE_STATUS_ERROR);
	EXPECT_EQ(0, dare_store(&self->node, 0, to, ROW) & DARE_STATUS_ERROR);
	EXPECT_EQ(0, wrong_bytes(to, ROW));
}

TEST_F(memory, memory_that_may_only_be_read_is_an_error_for_a_store)
{
	char *page = memory_map(PAGE);

	fill_rows(page, ROW);
	ASSERT_EQ(0, mprotect(page, PAGE, PROT_READ));
	EXPECT_EQ(0, dare_load(&self->node, 0, page, ROW) & DARE_STATUS_ERROR);
	EXPECT_EQ(DARE_STATUS_ERROR, dare_store(&self->node, 0, page, ROW) & DARE_STATUS_ERROR);
	EXPECT_EQ(DARE_ERROR_STORE, dare_get(&self->node, DARE_ERROR));
	EXPECT_EQ((uintptr_t)page, dare_get(&self->node, DARE_ERROR_ADDRESS));
	EXPECT_EQ(0, wrong_bytes(page, ROW));
}

TEST_F(memory, addresses_of_nobody_are_errors)
{
	static const uint64_t addresses[] = {
		0, 0x1000, 0x0000800000000000, 0x00007ffffffff000, 0xffff888000100000,
		0xffffffffffffffc0, 0x1234567800000000,
	};

	dare_shape(&self->node, 1, 8);
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		void *address = (void *)(uintptr_t)addresses[i];

		EXPECT_EQ(DARE_STATUS_ERROR, dare_load(&self->node, 0, address, 0) & DARE_STATUS_ERROR);
		EXPECT_EQ(DARE_ERROR_LOAD, dare_get(&self->node, DARE_ERROR));
		EXPECT_EQ(addresses[i], dare_get(&self->node, DARE_ERROR_ADDRESS));
		dare_put(&self->node, DARE_ERROR, 0);
		EXPECT_EQ(DARE_STATUS_ERROR, dare_store(&self->node, 0, address, 0) & DARE_STATUS_ERROR);
		EXPECT_EQ(DARE_ERROR_STORE, dare_get(&self->node, DARE_ERROR));
		dare_put(&self->node, DARE_ERROR, 0);
	}
}

TEST_F(memory, the_devices_own_page_is_no_memory)
{
	dare_shape(&self->node, 1, 8);
	EXPECT_EQ(DARE_STATUS_ERROR, dare_load(&self->node, 0, self->node.page, 0) & DARE_STATUS_ERROR);
	EXPECT_EQ(DARE_ERROR_LOAD, dare_get(&self->node, DARE_ERROR));
}

TEST_F(memory, a_bad_address_is_told_by_poll_and_eventfd)
{
	struct dare_eventfd wanted = { .size = sizeof(wanted), .fd = eventfd(0, EFD_NONBLOCK) };
	struct pollfd entry = { .fd = self->node.fd, .events = POLLPRI };
	uint64_t count = 0;

	ASSERT_EQ(0, ioctl(self->node.fd, DARE_IOCTL_EVENTFD, &wanted));
	EXPECT_EQ(0, poll(&entry, 1, 0));
	dare_load(&self->node, 0, (void *)0x1000, ROW);
	EXPECT_EQ(1, poll(&entry, 1, 0));
	EXPECT_EQ(POLLPRI, entry.revents);
	EXPECT_EQ(sizeof(count), read(wanted.fd, &count, sizeof(count)));
	EXPECT_EQ(1, count);
	EXPECT_EQ(1, dare_node_info(self->node.fd).unresolved);
	EXPECT_EQ(0, poll(&entry, 1, 0));
	close(wanted.fd);
}

TEST_HARNESS_MAIN
