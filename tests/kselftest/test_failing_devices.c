/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * As test_failing_allocations.c, of devices with memory of their own, and of devices that several programs
 * share: each call ends with an error or succeeds, and the device works afterwards.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mimic/virgo_registers.h"
#include "tests/kselftest/lib/dare_device.h"
#include "tests/kselftest/lib/fail_nth.h"
#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/real_daemon.h"
#include "tests/kselftest/lib/window.h"

#define MEMORY (16 * PAGE)

static long map_and_store(int fd, off_t offset)
{
	long result;
	void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (memory == MAP_FAILED)
		return -errno;
	result = window_store(memory, 1);
	munmap(memory, PAGE);
	return result;
}

/* --- memory of a device ------------------------------------------------------------ */

FIXTURE(failing_memory)
{
	struct fake_daemon *daemon;
	int fd;
};

FIXTURE_SETUP(failing_memory)
{
	struct fake_options options = { .channel = FAKE_SLOTS, .memory_size = MEMORY };

	self->daemon = NULL;
	if (!fail_nth_is_possible())
		SKIP(return, "this kernel injects no failures");
	window_catch_bus_errors();
	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(failing_memory)
{
	if (!self->daemon)
		return;
	close(self->fd);
	fake_daemon_stop(self->daemon);
}

/* The setup has said why there is nothing to try; 6.1's harness runs the test all the same. */
#define NEEDS_DAEMON() do { \
	if (!self->daemon) \
		return; \
} while (0)

static long store_to_memory(void *argument)
{
	return map_and_store(*(int *)argument, VIRGO_SHARED_OFFSET);
}

TEST_F(failing_memory, and_its_first_touch)
{
	NEEDS_DAEMON();
	EXPECT_LT(0, fail_nth_sweep(store_to_memory, NULL, &self->fd));
	EXPECT_EQ(0, store_to_memory(&self->fd));
}

static struct fake_self *daemon_self;

static long store_by_the_daemon(void *argument)
{
	const struct fake_self *self = argument;

	return map_and_store(self->fd, (off_t)MIMIC_BUS_MEMORY(self->control->device));
}

static long sweep_in_the_daemon(struct fake_self *self, void *argument)
{
	daemon_self = self;
	window_catch_bus_errors();
	*(int *)argument = fail_nth_sweep(store_by_the_daemon, NULL, daemon_self);
	return store_by_the_daemon(daemon_self);
}

TEST_F(failing_memory, as_the_daemon_maps_it)
{
	int injected = 0;

	NEEDS_DAEMON();
	EXPECT_EQ(0, fake_daemon_call(self->daemon, sweep_in_the_daemon, &injected, sizeof(injected)));
	EXPECT_LT(0, injected);
	EXPECT_EQ(0, store_to_memory(&self->fd));
}

/* --- contexts ------------------------------------------------------------------------ */

FIXTURE(failing_contexts)
{
	bool is_possible;
};

FIXTURE_SETUP(failing_contexts)
{
	self->is_possible = fail_nth_is_possible();
	if (!self->is_possible)
		SKIP(return, "this kernel injects no failures");
	ASSERT_TRUE(real_daemon_share("uring", "dare:2"));
}

FIXTURE_TEARDOWN(failing_contexts)
{
}

#define NEEDS_INJECTION() do { \
	if (!self->is_possible) \
		return; \
} while (0)

static long open_context(void *argument)
{
	return dare_node_open(argument, "/dev/dare0");
}

static void close_context(void *argument)
{
	dare_node_close(argument);
}

static uint64_t seen_by_device(const struct dare_node *node, uint64_t value)
{
	volatile uint64_t place = value;

	dare_shape(node, 1, 8);
	return dare_see(node, &place);
}

TEST_F(failing_contexts, the_first_open_of_a_process)
{
	struct dare_node node;

	NEEDS_INJECTION();
	EXPECT_LT(0, fail_nth_sweep(open_context, close_context, &node));
	ASSERT_EQ(0, dare_node_open(&node, "/dev/dare0"));
	EXPECT_EQ(0x1234, seen_by_device(&node, 0x1234));
	dare_node_close(&node);
}

TEST_F(failing_contexts, an_open_while_the_process_has_one)
{
	struct dare_node first, node;

	NEEDS_INJECTION();
	ASSERT_EQ(0, dare_node_open(&first, "/dev/dare0"));
	EXPECT_LT(0, fail_nth_sweep(open_context, close_context, &node));
	EXPECT_EQ(0x1234, seen_by_device(&first, 0x1234));
	dare_node_close(&first);
}

/* Of the other process nothing is left, whichever of its allocations failed: all contexts can be had. */
TEST_F(failing_contexts, opens_of_another_process)
{
	struct dare_node first;
	int status;
	pid_t other;

	NEEDS_INJECTION();
	ASSERT_EQ(0, dare_node_open(&first, "/dev/dare0"));
	other = fork();
	if (!other) {
		struct dare_node node;

		_exit(fail_nth_sweep(open_context, close_context, &node) > 0 ? 0 : 1);
	}
	ASSERT_EQ(other, waitpid(other, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0x4321, seen_by_device(&first, 0x4321));
	dare_node_close(&first);
}

TEST_HARNESS_MAIN
