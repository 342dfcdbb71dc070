/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A daemon that dies, at each step of the protocol: waiters go on, the node stays, another takes over. */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "mimic/maple_ioctl.h"
#include "tests/kselftest/lib/another_device.h"
#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/memory.h"

#define PARAMETER "/sys/module/mimic/parameters/test_delay_ms"

/* A child of the daemon, and its calls by its descriptor. Shared with both. */
static struct kept {
	pid_t child;
	_Atomic unsigned int begins, is_over;
	int events;	/* of poll() */
	int error;	/* of read() */
} *kept;

FIXTURE(death)
{
	struct holder holder;
	struct fake_control *control;
};

FIXTURE_VARIANT(death)
{
	enum fake_channel form;
};

FIXTURE_VARIANT_ADD(death, read_write) { .form = FAKE_READ_WRITE };
FIXTURE_VARIANT_ADD(death, slots) { .form = FAKE_SLOTS };
FIXTURE_VARIANT_ADD(death, io_uring) { .form = FAKE_URING };

FIXTURE_SETUP(death)
{
	struct fake_options options = { .channel = variant->form };

	/* Before the daemon, which is a child of ours. */
	kept = memory_map_file(memory_file(PAGE), PAGE);
	ASSERT_EQ(0, holder_start(&self->holder, &options));
	self->control = self->holder.control;
}

FIXTURE_TEARDOWN(death)
{
	memory_write_text(PARAMETER, "0");
	if (kept->child > 0)
		kill(kept->child, SIGKILL);
	holder_stop(&self->holder);
}

static int info_of(int fd)
{
	struct maple_info info = { .size = sizeof(info) };

	return ioctl(fd, MAPLE_IOCTL_INFO, &info) ? errno : 0;
}

static int map_of(int fd)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return errno;
	munmap(page, PAGE);
	return 0;
}

/* With io_uring the node is closed a moment after the process is gone. */
static bool becomes_dead(int fd)
{
	double end = now_seconds() + at_most(1);

	while (!info_of(fd) && now_seconds() < end)
		sleep_ms(1);
	return info_of(fd) == ENODEV;
}

static void set_action(struct holder *holder, enum fake_action action)
{
	const struct fake_special special = { .page = 0, .offset = HELD_OFFSET, .action = action };

	fake_daemon_special(holder->daemon, &special);
}

/* An access at which the daemon dies by itself: the signal, and how long it took from the death on. */
static int signal_at_death(struct holder *holder, bool stores, double *seconds)
{
	struct waiter waiter;
	double start;

	*seconds = 1000;
	if (waiter_run(&waiter, holder_register(holder, 0, HELD_OFFSET), stores) ||
	    !fake_daemon_has_died(holder->daemon))
		return -1;
	start = now_seconds();
	if (!waiter_ends(&waiter))
		return -2;
	*seconds = now_seconds() - start;
	return waiter.signal;
}

/* --- at each step ------------------------------------------------------------------- */

TEST_F(death, before_it_takes_an_access)
{
	double seconds;

	self->control->dies_before_taking = true;
	EXPECT_EQ(SIGBUS, signal_at_death(&self->holder, false, &seconds));
	EXPECT_GT(at_most(1), seconds);
}

TEST_F(death, after_it_took_a_load)
{
	double seconds;

	set_action(&self->holder, FAKE_DIE_AFTER_TAKING);
	EXPECT_EQ(SIGBUS, signal_at_death(&self->holder, false, &seconds));
	EXPECT_GT(at_most(1), seconds);
}

TEST_F(death, after_it_took_a_store)
{
	double seconds;

	set_action(&self->holder, FAKE_DIE_AFTER_TAKING);
	EXPECT_EQ(SIGBUS, signal_at_death(&self->holder, true, &seconds));
	EXPECT_GT(at_most(1), seconds);
}

TEST_F(death, after_it_answered_without_committing)
{
	double seconds;
	int number;

	set_action(&self->holder, FAKE_DIE_AFTER_ANSWER);
	number = signal_at_death(&self->holder, false, &seconds);
	/* Written answers count at once; those in memory may have been seen or not. */
	if (variant->form == FAKE_READ_WRITE)
		EXPECT_EQ(0, number);
	EXPECT_TRUE(number == 0 || number == SIGBUS);
	EXPECT_GT(at_most(1), seconds);
}

TEST_F(death, while_it_holds_accesses_of_several_threads)
{
	volatile uint64_t *held = holder_held_register(&self->holder);
	struct waiter waiters[6];
	double start;
	int i;

	for (i = 0; i < 6; i++)
		ASSERT_EQ(0, waiter_start(&waiters[i], &self->holder, held, i & 1));
	start = now_seconds();
	fake_daemon_kill(self->holder.daemon);
	for (i = 0; i < 6; i++) {
		EXPECT_TRUE(waiter_ends(&waiters[i]));
		EXPECT_EQ(SIGBUS, waiters[i].signal);
	}
	EXPECT_GT(at_most(1), now_seconds() - start);
}

static int connects(void *holder)
{
	struct maple_connect session = { .size = sizeof(session) };

	if (holder_open(holder))
		return 200;
	return ioctl(((struct holder *)holder)->fd, MAPLE_IOCTL_CONNECT, &session) ? errno : 0;
}

TEST_F(death, while_a_program_waits_in_connect)
{
	double start;
	pid_t child;

	holder_give_back(&self->holder);
	self->control->hold_kinds = 1u << MIMIC_BUS_REQUEST_CONNECT;
	child = child_start(connects, &self->holder);
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	start = now_seconds();
	fake_daemon_kill(self->holder.daemon);
	EXPECT_EQ(EIO, exit_of(child));
	EXPECT_GT(at_most(1), now_seconds() - start);
}

static int opens(void *holder)
{
	return -holder_open(holder);
}

TEST_F(death, while_a_program_waits_in_open)
{
	double start;
	pid_t child;

	holder_give_back(&self->holder);
	self->control->hold_kinds = 1u << MIMIC_BUS_REQUEST_OPEN;
	child = child_start(opens, &self->holder);
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	start = now_seconds();
	fake_daemon_kill(self->holder.daemon);
	EXPECT_EQ(EIO, exit_of(child));
	EXPECT_GT(at_most(1), now_seconds() - start);
}

TEST_F(death, while_it_owes_the_answer_of_a_close)
{
	double start;
	pid_t child;
	int error;

	self->control->hold_kinds = 1u << MIMIC_BUS_REQUEST_CLOSE;
	holder_give_back(&self->holder);
	ASSERT_TRUE(fake_wait(&self->control->held, 1));
	child = child_start(opens, &self->holder);
	sleep_ms(30);
	start = now_seconds();
	fake_daemon_kill(self->holder.daemon);
	error = exit_of(child);
	EXPECT_EQ(EIO, error);
	EXPECT_GT(at_most(1), now_seconds() - start);
	self->control->hold_kinds = 0;
	ASSERT_EQ(0, fake_daemon_restart(self->holder.daemon));
	EXPECT_EQ(0, holder_open(&self->holder));
}

TEST_F(death, while_its_device_is_probed)
{
	const struct fake_special identify = {
		.page = MAPLE_PAGE_MAPLE, .offset = MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0),
		.action = FAKE_DIE_AFTER_TAKING, .is_drivers = true,
	};
	uint32_t device;
	long result;
	int tries;

	fake_daemon_special(self->holder.daemon, &identify);
	fake_daemon_call(self->holder.daemon, another_device_register, NULL, 0);
	EXPECT_TRUE(fake_daemon_has_died(self->holder.daemon));
	fake_daemon_no_specials(self->holder.daemon);
	/* The device waits for another daemon, and its driver for the device. */
	holder_give_back(&self->holder);
	ASSERT_EQ(0, fake_daemon_restart(self->holder.daemon));
	result = fake_daemon_call(self->holder.daemon, another_device_register, NULL, 0);
	ASSERT_LT(0, result);
	for (tries = 0; access(ANOTHER_DEVICE, F_OK) && tries < 5000; tries++)
		sleep_ms(1);
	EXPECT_EQ(0, access(ANOTHER_DEVICE, F_OK));
	device = (uint32_t)result;
	EXPECT_EQ(0, fake_daemon_call(self->holder.daemon, another_device_unregister, &device, sizeof(device)));
}

/* --- afterwards ----------------------------------------------------------------------- */

TEST_F(death, the_node_stays_and_opens_are_eio)
{
	fake_daemon_kill(self->holder.daemon);
	EXPECT_TRUE(becomes_dead(self->holder.fd));
	EXPECT_EQ(0, access(self->holder.daemon->node, F_OK));
	holder_give_back(&self->holder);
	EXPECT_EQ(-EIO, holder_open(&self->holder));
}

TEST_F(death, files_that_were_open_are_dead)
{
	fake_daemon_kill(self->holder.daemon);
	EXPECT_TRUE(becomes_dead(self->holder.fd));
	EXPECT_EQ(ENODEV, map_of(self->holder.fd));
	EXPECT_EQ(SIGBUS, signal_of_load(holder_register(&self->holder, 0, 8), NULL));
	EXPECT_EQ(SIGBUS, signal_of_store(holder_register(&self->holder, 0, 8), NULL));
}

TEST_F(death, another_daemon_takes_the_device_over)
{
	uint32_t device = self->control->device;

	fake_daemon_kill(self->holder.daemon);
	holder_give_back(&self->holder);
	ASSERT_EQ(0, fake_daemon_restart(self->holder.daemon));
	EXPECT_EQ(device, self->control->device);
	ASSERT_EQ(0, holder_open(&self->holder));
	ASSERT_EQ(0, holder_map(&self->holder));
	*holder_register(&self->holder, 2, 8) = 6;
	EXPECT_EQ(6, *holder_register(&self->holder, 2, 8));
}

TEST_F(death, files_that_were_open_stay_dead_when_another_daemon_is_there)
{
	volatile uint8_t *old_pages = self->holder.pages;
	int old = self->holder.fd;
	unsigned int loads;

	fake_daemon_kill(self->holder.daemon);
	ASSERT_EQ(0, fake_daemon_restart(self->holder.daemon));
	loads = self->control->loads;
	EXPECT_EQ(ENODEV, info_of(old));
	EXPECT_EQ(SIGBUS, signal_of_load(old_pages, NULL));
	EXPECT_EQ(loads, self->control->loads);
	/* The same process may open it anew beside that. */
	ASSERT_EQ(0, holder_open(&self->holder));
	ASSERT_EQ(0, holder_map(&self->holder));
	*holder_register(&self->holder, 2, 8) = 7;
	EXPECT_EQ(7, *holder_register(&self->holder, 2, 8));
	EXPECT_EQ(ENODEV, info_of(old));
	EXPECT_EQ(SIGBUS, signal_of_load(old_pages, NULL));
	close(old);
	munmap((void *)old_pages, HOLDER_PAGES * PAGE);
	EXPECT_EQ(7, *holder_register(&self->holder, 2, 8));
}

TEST_F(death, an_old_holder_does_not_keep_another_process_out)
{
	fake_daemon_kill(self->holder.daemon);
	ASSERT_EQ(0, fake_daemon_restart(self->holder.daemon));
	EXPECT_EQ(0, in_child(opens, &self->holder));
}

TEST_F(death, a_device_of_other_properties_is_eexist)
{
	struct fake_daemon *daemon = self->holder.daemon;

	fake_daemon_kill(daemon);
	daemon->options.pages = 6;
	EXPECT_EQ(-EEXIST, fake_daemon_restart(daemon));
	daemon->options.pages = 0;
	daemon->options.interrupts = 2;
	EXPECT_EQ(-EEXIST, fake_daemon_restart(daemon));
	daemon->options.interrupts = 0;
	daemon->options.capabilities = MIMIC_BUS_TRAPS;
	EXPECT_EQ(-EEXIST, fake_daemon_restart(daemon));
	daemon->options.capabilities = 0;
	EXPECT_EQ(0, fake_daemon_restart(daemon));
}

TEST_F(death, sysfs_says_whether_a_daemon_is_there)
{
	EXPECT_EQ('1', first_device_is_served(self->holder.daemon));
	fake_daemon_kill(self->holder.daemon);
	EXPECT_TRUE(becomes_dead(self->holder.fd));
	EXPECT_EQ('0', first_device_is_served(self->holder.daemon));
	ASSERT_EQ(0, fake_daemon_restart(self->holder.daemon));
	EXPECT_EQ('1', first_device_is_served(self->holder.daemon));
}

TEST_F(death, twenty_daemons_one_after_the_other)
{
	volatile uint64_t *held;
	struct waiter waiter;
	int i;

	for (i = 0; i < 20; i++) {
		holder_give_back(&self->holder);
		ASSERT_EQ(0, fake_daemon_restart(self->holder.daemon));
		ASSERT_EQ(0, holder_open(&self->holder));
		ASSERT_EQ(0, holder_map(&self->holder));
		fake_daemon_no_specials(self->holder.daemon);
		held = holder_held_register(&self->holder);
		ASSERT_EQ(0, waiter_start(&waiter, &self->holder, held, false));
		fake_daemon_kill(self->holder.daemon);
		EXPECT_TRUE(waiter_ends(&waiter));
		EXPECT_EQ(SIGBUS, waiter.signal);
	}
}

/* --- a child of it ------------------------------------------------------------------- */

static long keep_descriptor(struct fake_self *self, void *body)
{
	pid_t child = fork();

	if (!child) {
		(*(void (**)(int fd))body)(self->fd);
		_exit(0);
	}
	/* Not by the child, too: this is shared. */
	kept->child = child;
	return child > 0 ? 0 : -errno;
}

static void wait_for_ever(int fd)
{
	(void)fd;
	for (;;)
		pause();
}

/* It is not the daemon: waiters must not wait for it. */
TEST_F(death, a_child_that_keeps_its_descriptor_keeps_nobody_waiting)
{
	void (*body)(int fd) = wait_for_ever;
	struct waiter waiter = { 0 };

	set_action(&self->holder, FAKE_KEEP);
	ASSERT_EQ(0, waiter_start(&waiter, &self->holder, holder_register(&self->holder, 0, HELD_OFFSET),
				  false));
	ASSERT_EQ(0, fake_daemon_call(self->holder.daemon, keep_descriptor, &body, sizeof(body)));
	fake_daemon_kill(self->holder.daemon);
	EXPECT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(SIGBUS, waiter.signal);
	EXPECT_TRUE(becomes_dead(self->holder.fd));
	holder_give_back(&self->holder);
	fake_daemon_no_specials(self->holder.daemon);
	EXPECT_EQ(0, fake_daemon_restart(self->holder.daemon));
	EXPECT_EQ(0, holder_open(&self->holder));
}

static void read_and_poll(int fd)
{
	struct pollfd entry = { .fd = fd, .events = POLLPRI };
	struct mimic_bus_request request;

	kept->begins = 1;
	kept->error = read(fd, &request, sizeof(request)) < 0 ? errno : 0;
	poll(&entry, 1, 0);
	kept->events = entry.revents;
	kept->is_over = 1;
}

static void poll_until_it_ends(int fd)
{
	struct pollfd entry = { .fd = fd, .events = POLLPRI };
	struct mimic_bus_request request;

	kept->begins = 1;
	poll(&entry, 1, -1);
	kept->events = entry.revents;
	kept->error = read(fd, &request, sizeof(request)) < 0 ? errno : 0;
	kept->is_over = 1;
}

/* No request will come any more: a child that waits for one gets ENODEV. */
TEST_F(death, a_child_that_waits_for_requests_is_told)
{
	void (*bodies[])(int fd) = { read_and_poll, poll_until_it_ends };
	int i;

	for (i = 0; i < 2; i++) {
		kept->begins = kept->is_over = 0;
		ASSERT_EQ(0, fake_daemon_call(self->holder.daemon, keep_descriptor, &bodies[i],
					      sizeof(bodies[i])));
		ASSERT_TRUE(fake_wait(&kept->begins, 1));
		sleep_ms(30);
		fake_daemon_kill(self->holder.daemon);
		EXPECT_TRUE(fake_wait(&kept->is_over, 1));
		EXPECT_EQ(ENODEV, kept->error);
		EXPECT_EQ(POLLERR | POLLHUP, kept->events);
		ASSERT_EQ(0, fake_daemon_restart(self->holder.daemon));
	}
}

/* --- a program that is faster than the driver ---------------------------------------- */

/* It opens the new daemon's device before the driver hears of the daemon: its close resets it. */
TEST_F(death, a_device_that_is_opened_before_its_driver_hears_of_the_daemon_is_cleared)
{
	const struct fake_special reset = {
		.page = MAPLE_PAGE_MAPLE, .offset = MAPLE_OFFSET(MAPLE_LOAD_RESET, 0),
		.action = FAKE_KEEP, .is_drivers = true,
	};

	fake_daemon_kill(self->holder.daemon);
	holder_give_back(&self->holder);
	ASSERT_TRUE(memory_write_text(PARAMETER, "500"));
	ASSERT_EQ(0, fake_daemon_restart(self->holder.daemon));
	ASSERT_EQ(0, holder_open(&self->holder));
	sleep_ms(1000);
	fake_daemon_special(self->holder.daemon, &reset);
	EXPECT_EQ(0, self->control->held);
	holder_give_back(&self->holder);
	EXPECT_EQ(1, self->control->held);
	fake_daemon_no_specials(self->holder.daemon);
	fake_daemon_release(self->holder.daemon);
}

TEST_HARNESS_MAIN
