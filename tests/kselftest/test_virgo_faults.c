/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Page faults of several units at once, pages that are long in coming, and registers that are
 * the driver's in the hands of the program.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/real_daemon.h"
#include "tests/kselftest/lib/slow_page.h"
#include "tests/kselftest/lib/time_scale.h"
#include "tests/kselftest/lib/virgo_device.h"

#define SYSFS "/sys/bus/mimic/devices/virgo0/"
#define UNITS VIRGO_TEST_UNITS

FIXTURE(faults)
{
	struct virgo_node node;
};

FIXTURE_VARIANT(faults)
{
	const char *channel;
};

FIXTURE_VARIANT_ADD(faults, uring) { .channel = "uring" };
FIXTURE_VARIANT_ADD(faults, read) { .channel = "read" };

FIXTURE_SETUP(faults)
{
	ASSERT_TRUE(real_daemon_share(variant->channel, "virgo:2"));
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
	for (unsigned int unit = 0; unit < UNITS; unit++)
		virgo_strides(&self->node, unit, virgo_row_bytes(unit), virgo_row_bytes(unit));
}

FIXTURE_TEARDOWN(faults)
{
	virgo_node_close(&self->node);
}

/* Where unit n of these tests has its row: 1 KB further for each. */
static unsigned int row_of(unsigned int unit)
{
	return unit * 1024 / virgo_row_bytes(unit);
}

static uint64_t value_of(const struct virgo_node *node, unsigned int unit)
{
	return *(const volatile uint64_t *)(node->shared + unit * 1024);
}

static bool waits_for_page(const struct virgo_node *node, unsigned int unit)
{
	return virgo_get(node, VIRGO_UNIT(unit, STATUS)) & VIRGO_STATUS_PAGE;
}

/* --- several units ------------------------------------------------------------------- */

TEST_F(faults, all_units_fault_at_once)
{
	volatile uint64_t *pages = memory_map(UNITS * 32 * PAGE);

	for (int round = 0; round < 5; round++) {
		for (unsigned int unit = 0; unit < UNITS; unit++)
			virgo_move_out(&self->node, unit, pages + unit * 32 * PAGE / 8, row_of(unit), 1);
		for (unsigned int unit = 0; unit < UNITS; unit++) {
			*(volatile uint64_t *)(self->node.shared + unit * 1024) = 100 + unit;
			EXPECT_EQ(0, virgo_fence(&self->node, unit) & (VIRGO_STATUS_ERROR | VIRGO_STATUS_PAGE));
		}
		ASSERT_EQ(0, madvise((void *)(uintptr_t)pages, UNITS * 32 * PAGE, MADV_DONTNEED));
	}
	EXPECT_LE(UNITS * 5, virgo_node_info(self->node.fd).faults);
	EXPECT_EQ(0, virgo_node_info(self->node.fd).unresolved);
}

TEST_F(faults, units_that_wait_for_the_same_page_all_go_on)
{
	volatile uint64_t *page = memory_map(PAGE);
	int slow = slow_page_make((void *)(uintptr_t)page);

	if (slow < 0)
		SKIP(return, "no userfaultfd here");
	for (unsigned int unit = 0; unit < UNITS; unit++)
		virgo_move_in(&self->node, unit, page, row_of(unit), 1);
	ASSERT_TRUE(slow_page_is_wanted(slow));
	ASSERT_EQ(0, slow_page_give(slow, (void *)(uintptr_t)page, 77));
	for (unsigned int unit = 0; unit < UNITS; unit++) {
		EXPECT_EQ(0, virgo_fence(&self->node, unit) & VIRGO_STATUS_ERROR);
		EXPECT_EQ(77, value_of(&self->node, unit));
	}
	close(slow);
}

TEST_F(faults, slow_pages_of_all_units_come_in_any_order)
{
	int slow[UNITS];
	void *pages[UNITS];

	for (unsigned int unit = 0; unit < UNITS; unit++) {
		pages[unit] = memory_map(PAGE);
		slow[unit] = slow_page_make(pages[unit]);
		if (slow[unit] < 0)
			SKIP(return, "no userfaultfd here");
		virgo_move_in(&self->node, unit, pages[unit], row_of(unit), 1);
		ASSERT_TRUE(slow_page_is_wanted(slow[unit]));
	}
	for (unsigned int unit = 0; unit < UNITS; unit++)
		EXPECT_TRUE(waits_for_page(&self->node, unit));
	EXPECT_EQ(VIRGO_FAULT_STALLED, virgo_get(&self->node, VIRGO_CONTROL_FAULT_STATUS) & VIRGO_FAULT_STALLED);
	for (unsigned int unit = UNITS; unit-- > 0;) {
		ASSERT_EQ(0, slow_page_give(slow[unit], pages[unit], 50 + unit));
		EXPECT_EQ(0, virgo_fence(&self->node, unit) & VIRGO_STATUS_ERROR);
		EXPECT_EQ(50 + unit, value_of(&self->node, unit));
		close(slow[unit]);
	}
	EXPECT_EQ(UNITS, virgo_node_info(self->node.fd).faults);
}

TEST_F(faults, a_slow_page_may_wait_for_what_another_unit_does)
{
	volatile uint64_t *other = memory_map(64 * PAGE);
	void *page = memory_map(PAGE);
	int slow = slow_page_make(page);

	if (slow < 0)
		SKIP(return, "no userfaultfd here");
	virgo_move_in(&self->node, 0, page, row_of(0), 1);
	ASSERT_TRUE(slow_page_is_wanted(slow));
	/* The thread that gives the page has them work first, with faults of their own. */
	for (unsigned int unit = 1; unit < UNITS; unit++) {
		*(volatile uint64_t *)(self->node.shared + unit * 1024) = 900 + unit;
		virgo_move_out(&self->node, unit, other + unit * 16 * PAGE / 8, row_of(unit), 1);
		EXPECT_EQ(0, virgo_fence(&self->node, unit) & VIRGO_STATUS_ERROR);
		EXPECT_EQ(900 + unit, other[unit * 16 * PAGE / 8]);
	}
	EXPECT_TRUE(waits_for_page(&self->node, 0));
	ASSERT_EQ(0, slow_page_give(slow, page, other[16 * PAGE / 8]));
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(901, value_of(&self->node, 0));
	close(slow);
}

TEST_F(faults, a_reset_forgets_a_slow_page)
{
	volatile uint64_t *other = memory_map(PAGE);
	void *page = memory_map(PAGE);
	int slow = slow_page_make(page);

	if (slow < 0)
		SKIP(return, "no userfaultfd here");
	virgo_move_in(&self->node, 0, page, row_of(0), 1);
	ASSERT_TRUE(slow_page_is_wanted(slow));
	virgo_put(&self->node, VIRGO_UNIT(0, RESET), 0);
	EXPECT_EQ(0, virgo_get(&self->node, VIRGO_UNIT(0, STATUS)) & (VIRGO_STATUS_PAGE | VIRGO_STATUS_BUSY));
	virgo_strides(&self->node, 0, 32, 32);
	other[0] = 17;
	/* Its page is to be brought while the other one is still on its way. */
	ASSERT_EQ(0, slow_page_give(slow, page, 1));
	EXPECT_EQ(17, virgo_see(&self->node, 0, other));
	EXPECT_EQ(0, virgo_error(&self->node, 0));
	close(slow);
}

static int can_work(void)
{
	volatile uint64_t *page = memory_map(PAGE);
	struct virgo_node node;

	page[0] = 18;
	if (virgo_node_open(&node, "/dev/virgo0"))
		return 1;
	virgo_strides(&node, 0, 32, 32);
	return virgo_see(&node, 0, page) != 18 || virgo_error(&node, 0);
}

static int status_of(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return status;
}

TEST_F(faults, a_cluster_that_is_closed_while_a_page_is_on_its_way_is_the_next_ones)
{
	void *page = memory_map(PAGE);
	int slow = slow_page_make(page);
	pid_t child;

	if (slow < 0)
		SKIP(return, "no userfaultfd here");
	virgo_move_in(&self->node, 0, page, row_of(0), 1);
	virgo_move_in(&self->node, 2, page, row_of(2), 1);
	ASSERT_TRUE(slow_page_is_wanted(slow));
	virgo_node_close(&self->node);
	child = fork();
	if (!child)
		_exit(can_work());
	EXPECT_EQ(0, status_of(child));
	ASSERT_EQ(0, slow_page_give(slow, page, 1));
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
	EXPECT_EQ(0, virgo_node_info(self->node.fd).faults);
	close(slow);
}

/* --- the driver's registers, stored to by the program ------------------------------------ */

TEST_F(faults, a_program_may_give_up_a_page_itself)
{
	volatile uint64_t *other = memory_map(PAGE);
	void *page = memory_map(PAGE);
	int slow = slow_page_make(page);

	if (slow < 0)
		SKIP(return, "no userfaultfd here");
	virgo_move_in(&self->node, 0, page, row_of(0), 1);
	ASSERT_TRUE(slow_page_is_wanted(slow));
	virgo_put(&self->node, VIRGO_CONTROL_RESOLVE, 0);
	EXPECT_EQ(VIRGO_STATUS_ERROR, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(VIRGO_ERROR_LOAD, virgo_error(&self->node, 0));
	EXPECT_EQ((uintptr_t)page, virgo_get(&self->node, VIRGO_UNIT(0, ERROR_ADDRESS)));
	virgo_put(&self->node, VIRGO_UNIT(0, ERROR), 0);
	other[0] = 19;
	ASSERT_EQ(0, slow_page_give(slow, page, 1));
	EXPECT_EQ(19, virgo_see(&self->node, 0, other));
	close(slow);
}

TEST_F(faults, a_program_that_says_a_page_is_there_only_makes_the_unit_look_again)
{
	void *page = memory_map(PAGE);
	int slow = slow_page_make(page);

	if (slow < 0)
		SKIP(return, "no userfaultfd here");
	virgo_move_in(&self->node, 0, page, row_of(0), 1);
	ASSERT_TRUE(slow_page_is_wanted(slow));
	for (int i = 0; i < 20; i++)
		virgo_put(&self->node, VIRGO_CONTROL_RESOLVE, VIRGO_RESOLVE_PRESENT);
	ASSERT_EQ(0, slow_page_give(slow, page, 33));
	EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(33, value_of(&self->node, 0));
	close(slow);
}

TEST_F(faults, nonsense_in_the_drivers_registers_harms_nobody)
{
	static const unsigned int offsets[] = {
		VIRGO_CONTROL_FAULT_STATUS, VIRGO_CONTROL_RESOLVE, VIRGO_CONTROL_FLUSH, VIRGO_CONTROL_FAULT_COUNT,
		VIRGO_CONTROL_EVENT_STATUS, VIRGO_CONTROL_EVENT_ENABLE, VIRGO_CONTROL_IDENTIFY,
	};
	static const uint64_t values[] = { ~0ull, 0, 1ull << 63, 0x1ff, 0x2ff, 7, VIRGO_RESOLVE_LATER | 3 };
	volatile uint64_t *pages = memory_map(64 * PAGE);

	for (unsigned int i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		for (unsigned int j = 0; j < sizeof(values) / sizeof(values[0]); j++) {
			virgo_put(&self->node, offsets[i], values[j]);
			if (j == 1)
				virgo_move_in(&self->node, j % UNITS, pages + i * 8 * PAGE / 8, row_of(1), 1);
		}
	}
	EXPECT_EQ(0, virgo_fence(&self->node, 1) & VIRGO_STATUS_PAGE);
	virgo_put(&self->node, VIRGO_UNIT(1, ERROR), 0);
	pages[0] = 21;
	EXPECT_EQ(21, virgo_see(&self->node, 1, pages));
	virgo_node_close(&self->node);
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
	/* Nothing of it is left for the next one. */
	EXPECT_EQ(0, virgo_get(&self->node, VIRGO_CONTROL_EVENT_ENABLE));
	EXPECT_EQ(0, virgo_get(&self->node, VIRGO_CONTROL_EVENT_STATUS));
	EXPECT_EQ(0, virgo_get(&self->node, VIRGO_CONTROL_FAULT_STATUS));
}

struct storm {
	struct virgo_node *node;
	_Atomic int stop;
};

static void *store_nonsense(void *argument)
{
	struct storm *storm = argument;

	for (unsigned int i = 0; !storm->stop; i++) {
		virgo_put(storm->node, VIRGO_CONTROL_RESOLVE, VIRGO_RESOLVE_PRESENT | (i & 3));
		virgo_put(storm->node, VIRGO_CONTROL_RESOLVE, VIRGO_RESOLVE_LATER | (i & 3));
		virgo_put(storm->node, VIRGO_CONTROL_EVENT_ENABLE, i & 1 ? ~0ull : 0);
		virgo_put(storm->node, VIRGO_CONTROL_EVENT_STATUS, ~0ull);
		virgo_put(storm->node, VIRGO_CONTROL_FLUSH, 0);
	}
	return NULL;
}

TEST_F(faults, faults_are_served_while_another_thread_stores_to_the_drivers_registers)
{
	volatile uint64_t *pages = memory_map(64 * PAGE);
	struct storm storm = { .node = &self->node };
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, store_nonsense, &storm));
	for (int round = 0; round < 5; round++) {
		for (unsigned int unit = 0; unit < UNITS; unit++) {
			*(volatile uint64_t *)(self->node.shared + unit * 1024) = 1000 + round;
			virgo_move_out(&self->node, unit, pages + unit * 16 * PAGE / 8, row_of(unit), 1);
		}
		for (unsigned int unit = 0; unit < UNITS; unit++) {
			EXPECT_EQ(0, virgo_fence(&self->node, unit) & VIRGO_STATUS_ERROR);
			EXPECT_EQ(1000 + round, pages[unit * 16 * PAGE / 8]);
		}
		ASSERT_EQ(0, madvise((void *)(uintptr_t)pages, 64 * PAGE, MADV_DONTNEED));
	}
	storm.stop = 1;
	pthread_join(thread, NULL);
}

/* --- a device that misbehaves ------------------------------------------------------------- */

TEST_F(faults, a_lost_interrupt_only_takes_longer)
{
	volatile uint64_t *page = memory_map(PAGE);
	unsigned long polled = memory_number(SYSFS "polled");

	ASSERT_EQ(0, real_daemon_command("inject", "virgo0 lost-interrupt"));
	EXPECT_EQ(0, virgo_see(&self->node, 0, page));
	EXPECT_EQ(0, virgo_error(&self->node, 0));
	EXPECT_EQ(polled + 1, memory_number(SYSFS "polled"));
}

TEST_F(faults, an_interrupt_without_a_reason_is_counted)
{
	unsigned long spurious = memory_number(SYSFS "spurious");

	/* Not one whose fault was served a moment ago. */
	usleep(200000);
	ASSERT_EQ(0, real_daemon_command("inject", "virgo0 spurious-interrupt"));
	for (int i = 0; i < 1000 && memory_number(SYSFS "spurious") == spurious; i++)
		usleep(1000);
	EXPECT_EQ(spurious + 1, memory_number(SYSFS "spurious"));
}

TEST_F(faults, a_fault_that_does_not_resolve_can_be_killed_and_leaves_nothing)
{
	pid_t child;

	virgo_node_close(&self->node);
	ASSERT_EQ(0, real_daemon_command("inject", "virgo0 unresolved-fault"));
	child = fork();
	if (!child) {
		struct virgo_node node;

		if (!virgo_node_open(&node, "/dev/virgo0"))
			virgo_see(&node, 0, memory_map(PAGE));
		_exit(9);
	}
	usleep(100000);
	EXPECT_EQ(0, waitpid(child, NULL, WNOHANG));
	kill(child, SIGKILL);
	EXPECT_EQ(SIGKILL, WTERMSIG(status_of(child)));
	/* Its close ended that. */
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
	virgo_strides(&self->node, 0, 32, 32);
	EXPECT_EQ(0, virgo_see(&self->node, 0, memory_map(PAGE)));
	EXPECT_EQ(0, virgo_error(&self->node, 0));
}

/* --- bad addresses ---------------------------------------------------------------------- */

TEST_F(faults, bad_addresses_are_told_by_poll_and_not_by_an_eventfd_of_other_events)
{
	struct pollfd entry = { .fd = self->node.fd, .events = POLLPRI };
	int event = eventfd(0, EFD_NONBLOCK);
	uint64_t count = 0;

	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, event, VIRGO_EVENT_LOOP(0)));
	EXPECT_EQ(0, poll(&entry, 1, 0));
	virgo_move_in(&self->node, 0, (void *)0x10000, row_of(0), 1);
	EXPECT_EQ(VIRGO_STATUS_ERROR, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(1, poll(&entry, 1, 0));
	EXPECT_EQ(POLLPRI, entry.revents);
	EXPECT_EQ(-1, read(event, &count, sizeof(count)));
	EXPECT_EQ(1, virgo_node_info(self->node.fd).unresolved);
	EXPECT_EQ(0, poll(&entry, 1, 0));
	close(event);
}

TEST_F(faults, a_bad_address_of_one_unit_does_not_stop_another_ones_fault)
{
	volatile uint64_t *page = memory_map(PAGE);

	for (int round = 0; round < 5; round++) {
		virgo_move_in(&self->node, 0, (void *)0x10000, row_of(0), 1);
		*(volatile uint64_t *)(self->node.shared + 2 * 1024) = 70 + round;
		virgo_move_out(&self->node, 2, page, row_of(2), 1);
		EXPECT_EQ(0, virgo_fence(&self->node, 2) & VIRGO_STATUS_ERROR);
		EXPECT_EQ(70 + round, page[0]);
		EXPECT_EQ(VIRGO_STATUS_ERROR, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
		virgo_put(&self->node, VIRGO_UNIT(0, ERROR), 0);
		ASSERT_EQ(0, madvise((void *)(uintptr_t)page, PAGE, MADV_DONTNEED));
	}
	EXPECT_EQ(5, virgo_node_info(self->node.fd).unresolved);
}

TEST_HARNESS_MAIN
