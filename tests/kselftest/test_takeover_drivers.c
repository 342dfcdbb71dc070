/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A function driver whose daemon dies and has a successor (TAKE_OVER), which comes later than the driver
 * waits for a register: its probe, its events; and the memory of its device.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "mimic/virgo_ioctl.h"
#include "mimic/virgo_registers.h"
#include "tests/kselftest/lib/another_device.h"
#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/maple_device.h"

#define KEEP_MS 60000
#define SHARED_SIZE (16 * PAGE)
/* Longer than a driver waits. */
#define LATE_MS 1500
#define EVENT VIRGO_EVENT_IDLE(0)

FIXTURE(driver)
{
	struct fake_daemon *daemon;
	int fd, event;
};

FIXTURE_SETUP(driver)
{
	struct fake_options options = { .channel = FAKE_URING, .memory_size = SHARED_SIZE };

	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->event = eventfd(0, EFD_CLOEXEC);
	ASSERT_EQ(0, fake_daemon_keep(self->daemon, KEEP_MS));
}

FIXTURE_TEARDOWN(driver)
{
	close(self->event);
	close(self->fd);
	fake_daemon_stop(self->daemon);
}

static int succeed_late(struct fake_daemon *daemon)
{
	sleep_ms(LATE_MS);
	fake_daemon_no_specials(daemon);
	return fake_daemon_succeed(daemon);
}

/* --- events ------------------------------------------------------------------------ */

static void die_at_a_store(struct fake_daemon *daemon, uint32_t offset)
{
	const struct fake_special special = {
		.page = VIRGO_PAGE_CONTROL, .offset = offset, .action = FAKE_DIE_AFTER_TAKING,
		.is_drivers = true, .only_stores = true,
	};

	fake_daemon_special(daemon, &special);
}

struct request_of_events {
	int fd, event, result;
};

static void *requests_events(void *argument)
{
	struct request_of_events *request = argument;
	struct virgo_eventfd wanted = {
		.size = sizeof(wanted), .fd = request->event, .events = EVENT,
	};

	request->result = ioctl(request->fd, VIRGO_IOCTL_EVENTFD, &wanted) ? errno : 0;
	return NULL;
}

TEST_F(driver, a_program_that_asks_for_events_at_the_death_has_them_from_the_successor)
{
	struct request_of_events request = { self->fd, self->event, -1 };
	uint64_t *enabled = &self->daemon->control->memory[VIRGO_PAGE_CONTROL][VIRGO_CONTROL_EVENT_ENABLE / 8];
	pthread_t thread;

	die_at_a_store(self->daemon, VIRGO_CONTROL_EVENT_ENABLE);
	ASSERT_EQ(0, pthread_create(&thread, NULL, requests_events, &request));
	ASSERT_TRUE(fake_daemon_has_died(self->daemon));
	EXPECT_EQ(0, *enabled);
	ASSERT_EQ(0, succeed_late(self->daemon));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, request.result);
	EXPECT_EQ(EVENT, *enabled);
}

TEST_F(driver, a_successor_may_take_longer_to_begin_than_the_driver_waits)
{
	struct request_of_events request = { self->fd, self->event, -1 };
	uint64_t *enabled = &self->daemon->control->memory[VIRGO_PAGE_CONTROL][VIRGO_CONTROL_EVENT_ENABLE / 8];
	pthread_t thread;

	die_at_a_store(self->daemon, VIRGO_CONTROL_EVENT_ENABLE);
	ASSERT_EQ(0, pthread_create(&thread, NULL, requests_events, &request));
	ASSERT_TRUE(fake_daemon_has_died(self->daemon));
	fake_daemon_no_specials(self->daemon);
	self->daemon->control->is_paused = true;
	ASSERT_EQ(0, fake_daemon_succeed(self->daemon));
	/* The driver's watch makes accesses in turn with it: that each waits its second, more than once. */
	sleep_ms(4 * LATE_MS);
	self->daemon->control->is_paused = false;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, request.result);
	EXPECT_EQ(EVENT, *enabled);
}

/* The dead daemon may have cleared them for the driver: the program hears of them without its successor. */
TEST_F(driver, events_that_a_dead_daemon_may_have_cleared_are_not_lost)
{
	const struct fake_special status = {
		.page = VIRGO_PAGE_CONTROL, .offset = VIRGO_CONTROL_EVENT_STATUS, .action = FAKE_DATA,
		.data = EVENT, .is_drivers = true,
	};
	struct request_of_events request = { self->fd, self->event, -1 };
	struct pollfd told = { .fd = self->event, .events = POLLIN };

	requests_events(&request);
	ASSERT_EQ(0, request.result);
	fake_daemon_special(self->daemon, &status);
	die_at_a_store(self->daemon, VIRGO_CONTROL_EVENT_STATUS);
	fake_daemon_interrupt(self->daemon, 0);
	ASSERT_TRUE(fake_daemon_has_died(self->daemon));
	EXPECT_EQ(1, poll(&told, 1, 5000));
	ASSERT_EQ(0, succeed_late(self->daemon));
}

/* --- a probe ------------------------------------------------------------------------- */

static bool another_appears(void)
{
	int tries;

	for (tries = 0; access(ANOTHER_DEVICE, F_OK) && tries < 5000; tries++)
		sleep_ms(1);
	return !access(ANOTHER_DEVICE, F_OK);
}

TEST_F(driver, a_probe_that_found_no_daemon_is_made_again_for_the_successor)
{
	const struct fake_special identify = {
		.page = MAPLE_PAGE_MAPLE, .offset = MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0),
		.action = FAKE_DIE_AFTER_TAKING, .is_drivers = true,
	};
	uint32_t device;
	long result;

	fake_daemon_special(self->daemon, &identify);
	fake_daemon_call(self->daemon, another_device_register, NULL, 0);
	ASSERT_TRUE(fake_daemon_has_died(self->daemon));
	ASSERT_EQ(0, succeed_late(self->daemon));
	EXPECT_NE(0, access(ANOTHER_DEVICE, F_OK));
	result = fake_daemon_call(self->daemon, another_device_register, NULL, 0);
	ASSERT_LT(0, result);
	EXPECT_TRUE(another_appears());
	device = (uint32_t)result;
	EXPECT_EQ(0, fake_daemon_call(self->daemon, another_device_unregister, &device, sizeof(device)));
}

TEST_F(driver, a_probe_that_meets_a_slow_successor_is_made_again)
{
	uint32_t device;
	long result;

	self->daemon->control->is_paused = true;
	ASSERT_EQ(0, fake_daemon_succeed(self->daemon));
	result = fake_daemon_call(self->daemon, another_device_register, NULL, 0);
	ASSERT_LT(0, result);
	sleep_ms(2 * LATE_MS);
	EXPECT_NE(0, access(ANOTHER_DEVICE, F_OK));
	self->daemon->control->is_paused = false;
	EXPECT_TRUE(another_appears());
	device = (uint32_t)result;
	EXPECT_EQ(0, fake_daemon_call(self->daemon, another_device_unregister, &device, sizeof(device)));
}

/* --- a reset --------------------------------------------------------------------------- */

/* Of a MAPLE that a daemon left behind, and that another one of the paper's profile takes over. */
TEST(a_reset_that_a_death_has_interrupted_is_made_by_the_successor)
{
	const struct fake_special identify = {
		.page = MAPLE_PAGE_MAPLE, .offset = MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0),
		.action = FAKE_DIE_AFTER_TAKING, .is_drivers = true,
	};
	struct fake_options options = { .channel = FAKE_URING };
	struct fake_daemon *daemon = fake_daemon_start(&options);
	uint64_t identified = 0;
	int fd, tries;

	ASSERT_NE(NULL, daemon);
	fake_daemon_kill(daemon);
	daemon->options.is_paper = true;
	daemon->control->is_paused = true;
	ASSERT_EQ(0, fake_daemon_restart(daemon));
	ASSERT_EQ(0, fake_daemon_keep(daemon, KEEP_MS));
	fake_daemon_special(daemon, &identify);
	daemon->control->is_paused = false;
	ASSERT_TRUE(fake_daemon_has_died(daemon));
	ASSERT_EQ(0, succeed_late(daemon));
	fd = open(daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	for (tries = 0; !identified && tries < 3000; tries++) {
		identified = maple_device_info(fd).identify;
		sleep_ms(1);
	}
	EXPECT_NE(0, identified);
	close(fd);
	fake_daemon_stop(daemon);
}

/* --- memory of a device ---------------------------------------------------------------- */

static long adds_to_memory(struct fake_self *self, void *unused)
{
	uint64_t *memory = mmap(NULL, SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
				(off_t)MIMIC_BUS_MEMORY(self->control->device));

	(void)unused;
	if (memory == MAP_FAILED)
		return -errno;
	memory[1]++;
	munmap(memory, SHARED_SIZE);
	return 0;
}

TEST_F(driver, memory_of_a_device_keeps_its_contents)
{
	volatile uint64_t *memory = mmap(NULL, SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
					 VIRGO_SHARED_OFFSET);

	ASSERT_NE(MAP_FAILED, (void *)memory);
	memory[1] = 40;
	EXPECT_EQ(0, fake_daemon_call(self->daemon, adds_to_memory, NULL, 0));
	fake_daemon_kill(self->daemon);
	EXPECT_EQ(41, memory[1]);
	ASSERT_EQ(0, fake_daemon_succeed(self->daemon));
	EXPECT_EQ(41, memory[1]);
	EXPECT_EQ(0, fake_daemon_call(self->daemon, adds_to_memory, NULL, 0));
	EXPECT_EQ(42, memory[1]);
	munmap((void *)memory, SHARED_SIZE);
}

TEST_HARNESS_MAIN
