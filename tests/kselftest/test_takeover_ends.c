/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * KEEP and TAKE_OVER where no successor comes, or none that may: arguments, the end of the time, the
 * end of the process that keeps the descriptor. And the machine beside that: suspend, rmmod.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "tests/kselftest/lib/another_device.h"
#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/memory.h"

#define KEEP_MS 60000

FIXTURE(ends)
{
	struct holder holder;
	struct fake_control *control;
	struct fake_daemon *daemon;
};

FIXTURE_SETUP(ends)
{
	ASSERT_EQ(0, holder_start(&self->holder, NULL));
	self->control = self->holder.control;
	self->daemon = self->holder.daemon;
	ASSERT_EQ(0, fake_daemon_keep(self->daemon, KEEP_MS));
}

FIXTURE_TEARDOWN(ends)
{
	holder_stop(&self->holder);
}

static struct mimic_bus_take_over right(const struct fake_daemon *daemon)
{
	struct mimic_bus_take_over wanted = { .size = sizeof(wanted) };

	memcpy(wanted.token, daemon->token, sizeof(wanted.token));
	return wanted;
}

/* By this process, on the descriptor that it has kept. 0 or the errno. */
static int takes_over(const struct fake_daemon *daemon, struct mimic_bus_take_over wanted)
{
	return ioctl(daemon->kept, MIMIC_BUS_TAKE_OVER, &wanted) ? errno : 0;
}

static int takes_over_rightly(void *daemon)
{
	return takes_over(daemon, right(daemon));
}

static bool begins_to_wait(struct holder *holder, struct waiter *waiter)
{
	return !waiter_start(waiter, holder, holder_held_register(holder), false);
}

/* --- KEEP ---------------------------------------------------------------------------- */

static long keeps(struct fake_self *self, void *wanted)
{
	return ioctl(self->fd, MIMIC_BUS_KEEP, wanted) ? -errno : 0;
}

static long keep_for(struct fake_daemon *daemon, unsigned int milliseconds)
{
	struct mimic_bus_keep wanted = { .size = sizeof(wanted), .milliseconds = milliseconds };

	return fake_daemon_call(daemon, keeps, &wanted, sizeof(wanted));
}

TEST_F(ends, keep_of_more_than_an_hour_or_with_reserved_fields_is_einval)
{
	struct mimic_bus_keep wanted = { .size = sizeof(wanted), .reserved = { 0, 1 } };

	EXPECT_EQ(0, keep_for(self->daemon, MIMIC_BUS_KEEP_MAX));
	EXPECT_EQ(-EINVAL, keep_for(self->daemon, MIMIC_BUS_KEEP_MAX + 1));
	EXPECT_EQ(-EINVAL, fake_daemon_call(self->daemon, keeps, &wanted, sizeof(wanted)));
}

TEST_F(ends, keep_by_another_process_is_eperm)
{
	struct mimic_bus_keep wanted = { .size = sizeof(wanted), .milliseconds = 1 };

	EXPECT_EQ(-1, ioctl(self->daemon->kept, MIMIC_BUS_KEEP, &wanted));
	EXPECT_EQ(EPERM, errno);
	fake_daemon_kill(self->daemon);
	EXPECT_EQ(-1, ioctl(self->daemon->kept, MIMIC_BUS_KEEP, &wanted));
	EXPECT_EQ(EPERM, errno);
}

/* This process has the descriptor all the same. */
TEST_F(ends, without_keep_a_death_is_the_end)
{
	struct waiter waiter;

	ASSERT_EQ(0, keep_for(self->daemon, 0));
	ASSERT_TRUE(begins_to_wait(&self->holder, &waiter));
	fake_daemon_kill(self->daemon);
	EXPECT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(SIGBUS, waiter.signal);
	EXPECT_EQ('0', first_device_is_served(self->daemon));
	EXPECT_EQ(ENODEV, in_child(takes_over_rightly, self->daemon));
}

/* --- TAKE_OVER ------------------------------------------------------------------------- */

TEST_F(ends, take_over_from_a_living_daemon_is_ebusy)
{
	EXPECT_EQ(EBUSY, in_child(takes_over_rightly, self->daemon));
	*holder_register(&self->holder, 0, 8) = 1;
	EXPECT_EQ(1, *holder_register(&self->holder, 0, 8));
}

TEST_F(ends, take_over_of_a_file_that_another_successor_has_is_ebusy)
{
	ASSERT_EQ(0, fake_daemon_succeed(self->daemon));
	EXPECT_EQ(EBUSY, in_child(takes_over_rightly, self->daemon));
}

static int takes_over_with_another_token(void *daemon)
{
	struct mimic_bus_take_over wanted = right(daemon);

	wanted.token[MIMIC_BUS_TOKEN_SIZE - 1] ^= 1;
	return takes_over(daemon, wanted);
}

TEST_F(ends, take_over_with_another_token_is_eacces_and_changes_nothing)
{
	struct waiter waiter;

	ASSERT_TRUE(begins_to_wait(&self->holder, &waiter));
	fake_daemon_kill(self->daemon);
	EXPECT_EQ(EACCES, in_child(takes_over_with_another_token, self->daemon));
	EXPECT_EQ('1', first_device_is_served(self->daemon));
	fake_daemon_no_specials(self->daemon);
	ASSERT_EQ(0, fake_daemon_succeed(self->daemon));
	EXPECT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(0, waiter.signal);
}

static int takes_over_with_flags(void *daemon)
{
	struct mimic_bus_take_over flags = right(daemon), reserved = flags;

	flags.flags = 1;
	reserved.reserved[4] = 1;
	return takes_over(daemon, flags) == EINVAL && takes_over(daemon, reserved) == EINVAL ? 0 : 1;
}

TEST_F(ends, take_over_with_flags_or_reserved_fields_is_einval)
{
	fake_daemon_kill(self->daemon);
	EXPECT_EQ(0, in_child(takes_over_with_flags, self->daemon));
}

TEST_F(ends, take_over_by_a_process_that_has_a_device_is_edeadlk)
{
	fake_daemon_kill(self->daemon);
	EXPECT_EQ(EDEADLK, takes_over(self->daemon, right(self->daemon)));
}

static int takes_over_in_other_users(void *daemon)
{
	return unshare(CLONE_NEWUSER) ? 200 : takes_over_rightly(daemon);
}

static int takes_over_in_other_processes(void *daemon)
{
	return unshare(CLONE_NEWPID) ? 200 : in_child(takes_over_rightly, daemon);
}

TEST_F(ends, take_over_in_another_namespace_is_eperm)
{
	fake_daemon_kill(self->daemon);
	EXPECT_EQ(EPERM, in_child(takes_over_in_other_users, self->daemon));
	EXPECT_EQ(EPERM, in_child(takes_over_in_other_processes, self->daemon));
}

static int counts_devices(void *daemon)
{
	const struct fake_daemon *from = daemon;
	struct mimic_bus_take_over wanted = right(daemon);

	return ioctl(from->kept, MIMIC_BUS_TAKE_OVER, &wanted) ? 200 : (int)wanted.devices;
}

TEST_F(ends, take_over_tells_the_number_of_devices)
{
	fake_daemon_kill(self->daemon);
	EXPECT_EQ(1, in_child(counts_devices, self->daemon));
}

/* --- REGISTER -------------------------------------------------------------------------- */

TEST_F(ends, a_device_is_registered_once_by_each_successor)
{
	EXPECT_EQ(-EEXIST, fake_daemon_register(self->daemon));
	ASSERT_EQ(0, fake_daemon_succeed(self->daemon));
	EXPECT_EQ(-EEXIST, fake_daemon_register(self->daemon));
}

TEST_F(ends, a_successors_device_of_other_properties_is_eexist)
{
	self->daemon->options.interrupts = 2;
	EXPECT_EQ(-EEXIST, fake_daemon_succeed(self->daemon));
	self->daemon->options.interrupts = 0;
	EXPECT_EQ(0, fake_daemon_register(self->daemon));
	EXPECT_EQ(0, *holder_register(&self->holder, 0, 8));
}

/* The structure may be read, and not written. */
static long registers_read_only(struct fake_self *self, void *argument)
{
	struct mimic_bus_register *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*page = *(struct mimic_bus_register *)argument;
	mprotect(page, PAGE, PROT_READ);
	return ioctl(self->fd, MIMIC_BUS_REGISTER, page) ? -errno : 0;
}

TEST_F(ends, a_successor_whose_register_cannot_be_answered_keeps_the_device)
{
	struct mimic_bus_register wanted = {
		.size = sizeof(wanted), .kind = "maple", .index = self->control->index, .pages = 5, .interrupts = 1,
		.capabilities = MIMIC_BUS_TRAPS | MIMIC_BUS_WINDOW_ACCESS,
	};

	/* It has taken over, and not registered it. */
	self->daemon->options.interrupts = 2;
	EXPECT_EQ(-EEXIST, fake_daemon_succeed(self->daemon));
	self->daemon->options.interrupts = 0;
	EXPECT_EQ(-EFAULT, fake_daemon_call(self->daemon, registers_read_only, &wanted, sizeof(wanted)));
	EXPECT_EQ(0, fake_daemon_register(self->daemon));
	EXPECT_EQ(0, *holder_register(&self->holder, 0, 8));
}

TEST_F(ends, a_successor_can_unregister_a_device)
{
	ASSERT_EQ(0, fake_daemon_succeed(self->daemon));
	EXPECT_EQ(0, fake_daemon_unregister(self->daemon));
	EXPECT_EQ(SIGBUS, signal_of_load(holder_register(&self->holder, 0, 8), NULL));
	EXPECT_EQ(0, fake_daemon_register(self->daemon));
}

/* --- no successor comes ------------------------------------------------------------------------ */

static int opens(void *holder)
{
	return -holder_open(holder);
}

TEST_F(ends, programs_lose_the_device_when_the_time_is_over)
{
	struct waiter waiter;
	pid_t child;

	/* The program's wait is long, and its SIGBUS does not come earlier. */
	ASSERT_EQ(0, fake_daemon_keep(self->daemon, 700));
	ASSERT_TRUE(begins_to_wait(&self->holder, &waiter));
	fake_daemon_kill(self->daemon);
	sleep_ms(300);
	EXPECT_EQ(0, waiter.is_done);
	EXPECT_EQ('1', first_device_is_served(self->daemon));
	EXPECT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(SIGBUS, waiter.signal);
	EXPECT_EQ(ENODEV, in_child(takes_over_rightly, self->daemon));
	EXPECT_EQ('0', first_device_is_served(self->daemon));
	/* Another daemon, with a file of its own. */
	fake_daemon_no_specials(self->daemon);
	ASSERT_EQ(0, fake_daemon_restart(self->daemon));
	child = child_start(opens, &self->holder);
	EXPECT_EQ(0, exit_of(child));
}

TEST_F(ends, an_open_that_waits_is_eio_when_the_time_is_over)
{
	pid_t child;

	ASSERT_EQ(0, fake_daemon_keep(self->daemon, 1500));
	holder_give_back(&self->holder);
	fake_daemon_kill(self->daemon);
	child = child_start(opens, &self->holder);
	EXPECT_EQ(EIO, exit_of(child));
}

TEST_F(ends, each_death_has_the_whole_time)
{
	struct waiter waiter;
	double start, seconds;
	int i, error;

	ASSERT_EQ(0, fake_daemon_keep(self->daemon, 3000));
	ASSERT_TRUE(begins_to_wait(&self->holder, &waiter));
	for (i = 0; i < 4; i++) {
		start = now_seconds();
		fake_daemon_kill(self->daemon);
		sleep_ms(1000);
		error = fake_daemon_succeed(self->daemon);
		seconds = now_seconds() - start;
		if (error == -ENODEV && seconds > 2.9)
			SKIP(return, "the machine is too slow: the time was over");
		ASSERT_EQ(0, error)
			TH_LOG("after %d ms", (int)(1000 * seconds));
		EXPECT_EQ(0, waiter.is_done);
	}
	/* And none is left that runs. */
	sleep_ms(3200);
	EXPECT_EQ(0, waiter.is_done);
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	EXPECT_EQ(1, fake_daemon_release(self->daemon));
	EXPECT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(0, waiter.signal);
}

TEST_F(ends, programs_lose_the_device_when_the_descriptor_goes)
{
	struct waiter waiter;
	double start;

	ASSERT_TRUE(begins_to_wait(&self->holder, &waiter));
	fake_daemon_kill(self->daemon);
	sleep_ms(50);
	EXPECT_EQ(0, waiter.is_done);
	start = now_seconds();
	fake_daemon_forget(self->daemon);
	EXPECT_TRUE(waiter_ends(&waiter));
	EXPECT_GT(at_most(1), now_seconds() - start);
	EXPECT_EQ(SIGBUS, waiter.signal);
	EXPECT_EQ('0', first_device_is_served(self->daemon));
}

TEST_F(ends, a_dead_daemon_whose_descriptor_nobody_has_is_not_waited_for)
{
	struct waiter waiter;
	double start;

	fake_daemon_forget(self->daemon);
	ASSERT_TRUE(begins_to_wait(&self->holder, &waiter));
	start = now_seconds();
	fake_daemon_kill(self->daemon);
	EXPECT_TRUE(waiter_ends(&waiter));
	EXPECT_GT(at_most(1), now_seconds() - start);
	EXPECT_EQ(SIGBUS, waiter.signal);
}

/* --- the machine --------------------------------------------------------------------------- */

TEST_F(ends, the_module_is_in_use_while_a_successor_is_waited_for)
{
	holder_give_back(&self->holder);
	fake_daemon_kill(self->daemon);
	EXPECT_NE(0, system("rmmod mimic 2>/dev/null"));
	EXPECT_EQ('1', first_device_is_served(self->daemon));
}

TEST_F_TIMEOUT(ends, the_machine_can_be_suspended_while_a_successor_is_waited_for, 90)
{
	struct waiter waiter;
	pid_t child;

	if (!memory_write_text("/sys/module/suspend/parameters/pm_test_delay", "0") ||
	    !memory_write_text("/sys/power/pm_test", "freezer"))
		SKIP(return, "this kernel does not test suspending");
	ASSERT_TRUE(begins_to_wait(&self->holder, &waiter));
	fake_daemon_kill(self->daemon);
	child = child_start(opens, &self->holder);
	EXPECT_TRUE(memory_write_text("/sys/power/state", "freeze"));
	memory_write_text("/sys/power/pm_test", "none");
	EXPECT_EQ(0, waiter.is_done);
	fake_daemon_no_specials(self->daemon);
	ASSERT_EQ(0, fake_daemon_succeed(self->daemon));
	EXPECT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(0, waiter.signal);
	/* This process has it. */
	EXPECT_EQ(EBUSY, exit_of(child));
}

TEST_HARNESS_MAIN
