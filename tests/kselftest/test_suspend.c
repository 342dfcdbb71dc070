/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The machine is suspended while programs wait for a device: all tasks are frozen and
 * go on, by the kernel's own test of that (/sys/power/pm_test). A task that cannot be frozen
 * makes it fail after 20 seconds.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "mimic/maple_ioctl.h"
#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/memory.h"

FIXTURE(suspend) {
	struct holder holder;
	struct fake_control *control;
};

FIXTURE_SETUP(suspend)
{
	ASSERT_EQ(0, holder_start(&self->holder, NULL));
	self->control = self->holder.control;
}

FIXTURE_TEARDOWN(suspend)
{
	holder_stop(&self->holder);
}

#define TEST_DELAY "/sys/module/suspend/parameters/pm_test_delay"

/* The delay, while all are frozen, is a busy loop: on an emulated processor it takes minutes. */
static bool can_suspend(void)
{
	return memory_write_text(TEST_DELAY, "0") && memory_write_text("/sys/power/pm_test", "freezer");
}

/* Freezes all, and lets all go on. */
static bool suspend(void)
{
	bool is_done = memory_write_text("/sys/power/state", "freeze");

	memory_write_text("/sys/power/pm_test", "none");
	return is_done;
}

TEST_F_TIMEOUT(suspend, a_thread_that_waits_for_the_device_goes_on_afterwards, 90)
{
	const struct fake_special special = { .page = 0, .offset = 0x80, .action = FAKE_KEEP };
	struct waiter waiter = { 0 };

	if (!can_suspend())
		SKIP(return, "this kernel does not test suspending");
	fake_daemon_special(self->holder.daemon, &special);
	*holder_register(&self->holder, 1, 0x80) = 0;
	ASSERT_EQ(0, waiter_start(&waiter, &self->holder, holder_register(&self->holder, 0, 0x80), false));
	EXPECT_TRUE(suspend());
	EXPECT_EQ(0, waiter.is_done);
	EXPECT_EQ(1, fake_daemon_release(self->holder.daemon));
	EXPECT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(0, waiter.signal);
}

static int opens(void *holder)
{
	return -holder_open(holder);
}

static int connects(void *holder)
{
	struct maple_connect session = { .size = sizeof(session) };

	return ioctl(((struct holder *)holder)->fd, MAPLE_IOCTL_CONNECT, &session) ? errno : 0;
}

TEST_F_TIMEOUT(suspend, programs_that_wait_in_open_go_on_afterwards, 90)
{
	pid_t first, second;

	if (!can_suspend())
		SKIP(return, "this kernel does not test suspending");
	holder_give_back(&self->holder);
	ASSERT_TRUE(fake_wait(&self->control->closes, 1));
	self->control->hold_kinds = 1u << MIMIC_BUS_REQUEST_OPEN;
	first = child_start(opens, &self->holder);
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	second = child_start(opens, &self->holder);
	sleep_ms(100);
	EXPECT_TRUE(suspend());
	self->control->hold_kinds = 0;
	EXPECT_EQ(1, fake_daemon_release(self->holder.daemon));
	EXPECT_EQ(0, exit_of(first));
	/* While the first one had it. */
	EXPECT_EQ(EBUSY, exit_of(second));
}

TEST_F_TIMEOUT(suspend, a_program_that_waits_in_connect_goes_on_afterwards, 90)
{
	pid_t child;

	if (!can_suspend())
		SKIP(return, "this kernel does not test suspending");
	self->control->hold_kinds = 1u << MIMIC_BUS_REQUEST_CONNECT;
	holder_give_back(&self->holder);
	ASSERT_TRUE(fake_wait(&self->control->closes, 1));
	child = fork();
	if (!child)
		_exit(opens(&self->holder) || connects(&self->holder));
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	EXPECT_TRUE(suspend());
	EXPECT_EQ(1, fake_daemon_release(self->holder.daemon));
	EXPECT_EQ(0, exit_of(child));
}

TEST_HARNESS_MAIN
