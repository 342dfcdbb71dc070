/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Devices that go while programs have them, and come again. */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "mimic/maple_ioctl.h"
#include "tests/kselftest/lib/holder.h"

FIXTURE(hotplug)
{
	struct holder holder;
	struct fake_control *control;
	struct fake_daemon *daemon;
};

FIXTURE_SETUP(hotplug)
{
	ASSERT_EQ(0, holder_start(&self->holder, NULL));
	self->control = self->holder.control;
	self->daemon = self->holder.daemon;
}

FIXTURE_TEARDOWN(hotplug)
{
	holder_give_back(&self->holder);
	/* Adds a device that the test has removed, so that there is one to stop. */
	if (access(self->daemon->node, F_OK))
		fake_daemon_register(self->daemon);
	holder_stop(&self->holder);
}

static int info_of(int fd)
{
	struct maple_info info = { .size = sizeof(info) };

	return ioctl(fd, MAPLE_IOCTL_INFO, &info) ? errno : 0;
}

static bool node_is_there(const struct fake_daemon *daemon, bool wanted)
{
	int tries;

	for (tries = 0; tries < 5000; tries++) {
		if (!access(daemon->node, F_OK) == wanted)
			return true;
		sleep_ms(1);
	}
	return false;
}

static int register_again(struct fake_daemon *daemon)
{
	int error = fake_daemon_register(daemon);

	return error ? error : node_is_there(daemon, true) ? 0 : -ETIME;
}

TEST_F(hotplug, unregister_makes_the_node_go)
{
	EXPECT_EQ(0, fake_daemon_unregister(self->daemon));
	EXPECT_TRUE(node_is_there(self->daemon, false));
	EXPECT_EQ(-1, open(self->daemon->node, O_RDWR));
	EXPECT_EQ(ENOENT, errno);
}

TEST_F(hotplug, files_that_were_open_are_dead)
{
	struct pollfd waits = { .fd = self->holder.fd, .events = POLLPRI };
	siginfo_t info;

	ASSERT_EQ(0, fake_daemon_unregister(self->daemon));
	EXPECT_EQ(SIGBUS, signal_of_load(holder_register(&self->holder, 1, 8), &info));
	EXPECT_EQ((void *)holder_register(&self->holder, 1, 8), info.si_addr);
	EXPECT_EQ(SIGBUS, signal_of_store(holder_register(&self->holder, 1, 8), NULL));
	EXPECT_EQ(ENODEV, info_of(self->holder.fd));
	EXPECT_EQ(1, poll(&waits, 1, 0));
	EXPECT_EQ(POLLERR | POLLHUP, waits.revents);
	EXPECT_EQ(0, self->control->loads + self->control->stores);
}

TEST_F(hotplug, threads_that_wait_are_released)
{
	volatile uint64_t *held = holder_held_register(&self->holder);
	struct waiter waiters[3];
	double start;
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, waiter_start(&waiters[i], &self->holder, held, i & 1));
	start = now_seconds();
	EXPECT_EQ(0, fake_daemon_unregister(self->daemon));
	for (i = 0; i < 3; i++) {
		EXPECT_TRUE(waiter_ends(&waiters[i]));
		EXPECT_EQ(SIGBUS, waiters[i].signal);
	}
	EXPECT_GT(at_most(1), now_seconds() - start);
	/* Late answers change nothing. */
	EXPECT_EQ(3, fake_daemon_release(self->daemon));
}

static int connects(void *holder)
{
	struct maple_connect session = { .size = sizeof(session) };

	if (holder_open(holder))
		return 200;
	return ioctl(((struct holder *)holder)->fd, MAPLE_IOCTL_CONNECT, &session) ? errno : 0;
}

TEST_F(hotplug, a_program_in_connect_gets_enodev)
{
	pid_t child;

	holder_give_back(&self->holder);
	self->control->hold_kinds = 1u << MIMIC_BUS_REQUEST_CONNECT;
	child = child_start(connects, &self->holder);
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	EXPECT_EQ(0, fake_daemon_unregister(self->daemon));
	EXPECT_EQ(ENODEV, exit_of(child));
	self->control->hold_kinds = 0;
	fake_daemon_release(self->daemon);
}

static int opens(void *holder)
{
	return -holder_open(holder);
}

TEST_F(hotplug, a_program_in_open_gets_enodev)
{
	pid_t child;

	holder_give_back(&self->holder);
	self->control->hold_kinds = 1u << MIMIC_BUS_REQUEST_OPEN;
	child = child_start(opens, &self->holder);
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	EXPECT_EQ(0, fake_daemon_unregister(self->daemon));
	EXPECT_EQ(ENODEV, exit_of(child));
	self->control->hold_kinds = 0;
	fake_daemon_release(self->daemon);
}

TEST_F(hotplug, the_same_index_can_come_again_while_the_old_one_is_open)
{
	volatile uint8_t *old_pages = self->holder.pages;
	int old = self->holder.fd;

	ASSERT_EQ(0, fake_daemon_unregister(self->daemon));
	ASSERT_TRUE(node_is_there(self->daemon, false));
	ASSERT_EQ(0, register_again(self->daemon));
	ASSERT_EQ(0, holder_open(&self->holder));
	ASSERT_EQ(0, holder_map(&self->holder));
	*holder_register(&self->holder, 1, 8) = 9;
	EXPECT_EQ(9, *holder_register(&self->holder, 1, 8));
	/* Files that were open before are not the new device's. */
	EXPECT_EQ(ENODEV, info_of(old));
	EXPECT_EQ(SIGBUS, signal_of_load(old_pages, NULL));
	munmap((void *)old_pages, HOLDER_PAGES * PAGE);
	close(old);
	EXPECT_EQ(9, *holder_register(&self->holder, 1, 8));
}

TEST_F(hotplug, the_windows_of_a_device_that_went_are_shut)
{
	uint64_t here = 0x55, there = 0;

	ASSERT_EQ(0, fake_window_read(self->daemon, &here, &there, 8));
	EXPECT_EQ(0x55, there);
	ASSERT_EQ(0, fake_daemon_unregister(self->daemon));
	EXPECT_NE(0, fake_window_read(self->daemon, &here, &there, 8));
}

TEST_F(hotplug, a_page_fault_of_a_device_that_went_is_nobodys)
{
	ASSERT_EQ(0, fake_daemon_fault(self->daemon, &self->holder, false));
	ASSERT_TRUE(fake_wait(&self->control->resolves, 1));
	ASSERT_EQ(0, fake_daemon_unregister(self->daemon));
	EXPECT_EQ(-ENOENT, fake_daemon_interrupt(self->daemon, 0));
}

TEST_F(hotplug, a_device_can_go_while_it_is_probed)
{
	const struct fake_special identify = {
		.page = MAPLE_PAGE_MAPLE, .offset = MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0),
		.action = FAKE_KEEP, .is_drivers = true,
	};
	double start;

	ASSERT_EQ(0, fake_daemon_unregister(self->daemon));
	ASSERT_TRUE(node_is_there(self->daemon, false));
	fake_daemon_special(self->daemon, &identify);
	ASSERT_EQ(0, fake_daemon_register(self->daemon));
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	start = now_seconds();
	EXPECT_EQ(0, fake_daemon_unregister(self->daemon));
	EXPECT_GT(at_most(2), now_seconds() - start);
	EXPECT_TRUE(node_is_there(self->daemon, false));
	fake_daemon_no_specials(self->daemon);
	fake_daemon_release(self->daemon);
	EXPECT_EQ(0, register_again(self->daemon));
}

TEST_F(hotplug, a_device_that_does_not_answer_its_probe_gets_no_node)
{
	const struct fake_special identify = {
		.page = MAPLE_PAGE_MAPLE, .offset = MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0),
		.action = FAKE_KEEP, .is_drivers = true,
	};

	ASSERT_EQ(0, fake_daemon_unregister(self->daemon));
	ASSERT_TRUE(node_is_there(self->daemon, false));
	fake_daemon_special(self->daemon, &identify);
	ASSERT_EQ(0, fake_daemon_register(self->daemon));
	/* The driver waits a second for a register. */
	sleep_ms((long)(at_most(1.5) * 1000));
	EXPECT_NE(0, access(self->daemon->node, F_OK));
	EXPECT_EQ(0, fake_daemon_unregister(self->daemon));
	fake_daemon_no_specials(self->daemon);
	fake_daemon_release(self->daemon);
}

TEST_F(hotplug, a_device_that_is_no_maple_gets_no_node)
{
	const struct fake_special identify = {
		.page = MAPLE_PAGE_MAPLE, .offset = MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0),
		.action = FAKE_DATA, .data = 0x1234567800000000, .is_drivers = true,
	};
	unsigned int loads;

	ASSERT_EQ(0, fake_daemon_unregister(self->daemon));
	ASSERT_TRUE(node_is_there(self->daemon, false));
	fake_daemon_special(self->daemon, &identify);
	loads = self->control->driver_loads;
	ASSERT_EQ(0, fake_daemon_register(self->daemon));
	ASSERT_TRUE(fake_wait(&self->control->driver_loads, loads + 1));
	sleep_ms(50);
	EXPECT_NE(0, access(self->daemon->node, F_OK));
	EXPECT_EQ(0, fake_daemon_unregister(self->daemon));
	fake_daemon_no_specials(self->daemon);
}

/* Opens and uses the device for 3 s, again after each of its ends. */
static int holds_on(void *holder)
{
	double end = now_seconds() + 3;

	while (now_seconds() < end) {
		if (holder_open(holder) || holder_map(holder)) {
			holder_close(holder);
			continue;
		}
		while (!signal_of_store(holder_register(holder, 1, 8), NULL) && now_seconds() < end)
			;
		holder_give_back(holder);
	}
	return 0;
}

TEST_F(hotplug, a_device_comes_and_goes_while_programs_use_it)
{
	pid_t children[2];
	double end;
	int i, rounds = 0;

	holder_give_back(&self->holder);
	for (i = 0; i < 2; i++)
		children[i] = child_start(holds_on, &self->holder);
	end = now_seconds() + 2.5;
	while (now_seconds() < end) {
		ASSERT_EQ(0, fake_daemon_unregister(self->daemon));
		ASSERT_EQ(0, fake_daemon_register(self->daemon));
		rounds++;
	}
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, exit_of(children[i]));
	EXPECT_LT(3, rounds);
	EXPECT_TRUE(node_is_there(self->daemon, true));
	EXPECT_EQ(0, holder_open(&self->holder));
}

TEST_HARNESS_MAIN
