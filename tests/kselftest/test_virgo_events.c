/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Events of a cluster by an eventfd: which ones count, whose it is and when it ends. */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/real_daemon.h"
#include "tests/kselftest/lib/time_scale.h"
#include "tests/kselftest/lib/virgo_device.h"

#define SYSFS "/sys/bus/mimic/devices/virgo0/"

FIXTURE(events)
{
	struct virgo_node node;
	int event;
};

FIXTURE_VARIANT(events)
{
	const char *channel;
};

FIXTURE_VARIANT_ADD(events, uring) { .channel = "uring" };
FIXTURE_VARIANT_ADD(events, read) { .channel = "read" };

FIXTURE_SETUP(events)
{
	ASSERT_TRUE(real_daemon_share(variant->channel, "virgo:2"));
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
	self->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(events)
{
	close(self->event);
	virgo_node_close(&self->node);
}

/* The count of the eventfd, waiting up to `milliseconds` for it; 0: nothing. */
static uint64_t counted(int event, int milliseconds)
{
	struct pollfd entry = { .fd = event, .events = POLLIN };
	uint64_t count = 0;

	poll(&entry, 1, milliseconds * (int)time_scale());
	return read(event, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

#define SOON 5000
#define NEVER 100

/* A unit gets something to do, and is idle again. */
static void work(const struct virgo_node *node, unsigned int unit)
{
	virgo_strides(node, unit, 32, 32);
	virgo_fence(node, unit);
}

static void fail(const struct virgo_node *node, unsigned int unit)
{
	virgo_command(node, unit, 100, 0, 0);
	virgo_fence(node, unit);
}

static void loop(const struct virgo_node *node, unsigned int unit)
{
	virgo_command(node, unit, VIRGO_FUNCT_LOOP_WS_BOUNDS, 0, 1ull << 32 | 1ull << 16 | 1);
	virgo_command(node, unit, VIRGO_FUNCT_LOOP_WS, 0, VIRGO_LOOP_COMPUTE);
	virgo_fence(node, unit);
}

static uint64_t open_barrier(const struct virgo_node *node)
{
	virgo_put(node, VIRGO_BARRIER_PARTICIPANTS(3), 1);
	return virgo_get(node, VIRGO_BARRIER_WAIT(3));
}

TEST_F(events, a_unit_that_becomes_idle_counts_one_each_time)
{
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_IDLE(2)));
	EXPECT_EQ(0, counted(self->event, 0));
	for (int round = 0; round < 5; round++) {
		virgo_command(&self->node, 2, VIRGO_FUNCT_FLUSH, 0, 0);
		EXPECT_EQ(1, counted(self->event, SOON));
		/* Taken before it was told of. */
		EXPECT_EQ(0, virgo_get(&self->node, VIRGO_CONTROL_EVENT_STATUS));
	}
	EXPECT_EQ(0, counted(self->event, NEVER));
	EXPECT_EQ(VIRGO_EVENT_IDLE(2), virgo_get(&self->node, VIRGO_CONTROL_EVENT_ENABLE));
}

TEST_F(events, an_error_counts)
{
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_ERROR(1)));
	fail(&self->node, 1);
	EXPECT_EQ(1, counted(self->event, SOON));
	EXPECT_EQ(VIRGO_ERROR_COMMAND, virgo_error(&self->node, 1));
	virgo_put(&self->node, VIRGO_UNIT(1, ERROR), 0);
	fail(&self->node, 1);
	EXPECT_EQ(1, counted(self->event, SOON));
}

TEST_F(events, a_finished_loop_counts)
{
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_LOOP(0)));
	work(&self->node, 0);
	EXPECT_EQ(0, counted(self->event, NEVER));
	loop(&self->node, 0);
	EXPECT_EQ(1, counted(self->event, SOON));
	EXPECT_EQ(0, virgo_error(&self->node, 0));
}

TEST_F(events, a_barrier_that_opens_counts)
{
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_BARRIER));
	EXPECT_EQ(0, open_barrier(&self->node));
	EXPECT_EQ(1, counted(self->event, SOON));
	EXPECT_EQ(1, open_barrier(&self->node));
	EXPECT_EQ(1, counted(self->event, SOON));
}

TEST_F(events, an_event_that_is_not_asked_for_does_not_count_and_stays)
{
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event,
					VIRGO_EVENT_ERROR(0) | VIRGO_EVENT_BARRIER));
	loop(&self->node, 0);
	fail(&self->node, 3);
	EXPECT_EQ(0, counted(self->event, NEVER));
	EXPECT_EQ(VIRGO_EVENT_IDLE(0) | VIRGO_EVENT_LOOP(0) | VIRGO_EVENT_IDLE(3) | VIRGO_EVENT_ERROR(3),
		  virgo_get(&self->node, VIRGO_CONTROL_EVENT_STATUS));
	open_barrier(&self->node);
	EXPECT_EQ(1, counted(self->event, SOON));
	EXPECT_EQ(VIRGO_EVENT_IDLE(0) | VIRGO_EVENT_LOOP(0) | VIRGO_EVENT_IDLE(3) | VIRGO_EVENT_ERROR(3),
		  virgo_get(&self->node, VIRGO_CONTROL_EVENT_STATUS));
}

TEST_F(events, events_before_the_eventfd_count)
{
	work(&self->node, 1);
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_IDLE(1)));
	EXPECT_EQ(1, counted(self->event, SOON));
	EXPECT_EQ(0, counted(self->event, NEVER));
}

TEST_F(events, several_at_once_count_one)
{
	loop(&self->node, 0);
	fail(&self->node, 1);
	open_barrier(&self->node);
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_LOOP(0) |
					VIRGO_EVENT_ERROR(1) | VIRGO_EVENT_BARRIER));
	EXPECT_EQ(1, counted(self->event, SOON));
	EXPECT_EQ(0, counted(self->event, NEVER));
}

/* --- one for a device --------------------------------------------------------------- */

TEST_F(events, another_one_takes_its_place_on_whichever_file)
{
	int other = eventfd(0, EFD_NONBLOCK), second = open("/dev/virgo0", O_RDWR | O_CLOEXEC);

	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_IDLE(0)));
	ASSERT_EQ(0, virgo_node_eventfd(second, other, VIRGO_EVENT_IDLE(1)));
	work(&self->node, 1);
	EXPECT_LE(1, counted(other, SOON));
	work(&self->node, 0);
	EXPECT_EQ(0, counted(self->event, NEVER));
	EXPECT_EQ(VIRGO_EVENT_IDLE(1), virgo_get(&self->node, VIRGO_CONTROL_EVENT_ENABLE));
	/* It ends with its file. */
	close(second);
	EXPECT_EQ(0, virgo_get(&self->node, VIRGO_CONTROL_EVENT_ENABLE));
	while (counted(other, 0))
		;
	work(&self->node, 1);
	EXPECT_EQ(0, counted(other, NEVER));
	close(other);
}

TEST_F(events, a_file_that_has_none_may_close)
{
	int second = open("/dev/virgo0", O_RDWR | O_CLOEXEC);

	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_LOOP(0)));
	close(second);
	loop(&self->node, 0);
	EXPECT_EQ(1, counted(self->event, SOON));
}

TEST_F(events, none_any_more)
{
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_LOOP(0)));
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, -1, VIRGO_EVENT_LOOP(0)));
	EXPECT_EQ(0, virgo_get(&self->node, VIRGO_CONTROL_EVENT_ENABLE));
	loop(&self->node, 0);
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, 0));
	EXPECT_EQ(0, counted(self->event, NEVER));
	/* It was there all the time for the program to see. */
	EXPECT_EQ(VIRGO_EVENT_LOOP(0), virgo_get(&self->node, VIRGO_CONTROL_EVENT_STATUS) & VIRGO_EVENT_LOOP(0));
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_LOOP(0)));
	EXPECT_EQ(1, counted(self->event, SOON));
}

TEST_F(events, its_descriptor_may_be_closed)
{
	int copy = dup(self->event);

	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, copy, VIRGO_EVENT_LOOP(0)));
	close(copy);
	loop(&self->node, 0);
	EXPECT_EQ(1, counted(self->event, SOON));
}

TEST_F(events, the_next_process_has_none)
{
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, ~0ull >> 39));
	virgo_node_close(&self->node);
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
	EXPECT_EQ(0, virgo_get(&self->node, VIRGO_CONTROL_EVENT_ENABLE));
	loop(&self->node, 0);
	EXPECT_EQ(0, counted(self->event, NEVER));
}

TEST_F(events, a_child_cannot_ask_for_them)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_IDLE(0)) != -ENODEV);
	waitpid(child, &status, 0);
	EXPECT_EQ(0, status);
}

/* --- refused calls ---------------------------------------------------------------------- */

TEST_F(events, a_refused_call_changes_nothing)
{
	struct virgo_eventfd wanted = { .size = sizeof(wanted), .fd = self->event, .events = 1 };
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_LOOP(0)));
	EXPECT_EQ(-EINVAL, virgo_node_eventfd(self->node.fd, self->event, 1ull << 25));
	EXPECT_EQ(-EINVAL, virgo_node_eventfd(self->node.fd, self->event, ~0ull));
	EXPECT_EQ(-EINVAL, virgo_node_eventfd(self->node.fd, pipes[0], 1));
	EXPECT_EQ(-EINVAL, virgo_node_eventfd(self->node.fd, -2, 1));
	EXPECT_EQ(-EBADF, virgo_node_eventfd(self->node.fd, 999, 1));
	wanted.reserved[0] = 1;
	EXPECT_EQ(-1, ioctl(self->node.fd, VIRGO_IOCTL_EVENTFD, &wanted));
	EXPECT_EQ(EINVAL, errno);
	wanted = (struct virgo_eventfd){ .size = sizeof(wanted) - 8, .fd = self->event, .events = 1 };
	EXPECT_EQ(-1, ioctl(self->node.fd, VIRGO_IOCTL_EVENTFD, &wanted));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(self->node.fd, VIRGO_IOCTL_EVENTFD, NULL));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(VIRGO_EVENT_LOOP(0), virgo_get(&self->node, VIRGO_CONTROL_EVENT_ENABLE));
	loop(&self->node, 0);
	EXPECT_EQ(1, counted(self->event, SOON));
	close(pipes[0]);
	close(pipes[1]);
}

/* --- trouble ------------------------------------------------------------------------------- */

TEST_F(events, a_program_that_turns_them_off_itself_can_turn_them_on_again)
{
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_ERROR(0)));
	virgo_put(&self->node, VIRGO_CONTROL_EVENT_ENABLE, 0);
	fail(&self->node, 0);
	/* The watch finds it all the same. */
	EXPECT_EQ(1, counted(self->event, SOON));
	virgo_put(&self->node, VIRGO_UNIT(0, ERROR), 0);
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_ERROR(0)));
	fail(&self->node, 0);
	EXPECT_EQ(1, counted(self->event, SOON));
}

TEST_F(events, a_program_without_an_eventfd_keeps_its_events)
{
	virgo_put(&self->node, VIRGO_CONTROL_EVENT_ENABLE, ~0ull >> 39);
	loop(&self->node, 0);
	usleep(50000);
	EXPECT_EQ(VIRGO_EVENT_IDLE(0) | VIRGO_EVENT_LOOP(0), virgo_get(&self->node, VIRGO_CONTROL_EVENT_STATUS));
}

TEST_F(events, a_lost_interrupt_only_takes_longer)
{
	unsigned long events = memory_number(SYSFS "events");

	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_LOOP(0)));
	ASSERT_EQ(0, real_daemon_command("inject", "virgo0 lost-interrupt"));
	loop(&self->node, 0);
	EXPECT_EQ(1, counted(self->event, SOON));
	EXPECT_EQ(events + 1, memory_number(SYSFS "events"));
}

TEST_F(events, events_and_faults_come_by_the_same_interrupt)
{
	volatile uint64_t *pages = memory_map(64 * PAGE);

	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_IDLE(0)));
	for (int i = 0; i < 16; i++) {
		virgo_strides(&self->node, 0, 32, 32);
		while (counted(self->event, 0))
			;
		virgo_move_out(&self->node, 0, pages + i * 4 * PAGE / 8, 0, 1);
		EXPECT_LE(1, counted(self->event, SOON));
		EXPECT_EQ(0, virgo_fence(&self->node, 0) & VIRGO_STATUS_ERROR);
	}
	EXPECT_EQ(16, virgo_node_info(self->node.fd).faults);
}

/* --- tracepoints ----------------------------------------------------------------------------- */

#define TRACING "/sys/kernel/tracing/"

static bool trace_has(const char *text)
{
	static char trace[1 << 20];
	int file = open(TRACING "trace", O_RDONLY);
	size_t size = 0;
	ssize_t got;

	while ((got = read(file, trace + size, sizeof(trace) - 1 - size)) > 0)
		size += (size_t)got;
	trace[size] = 0;
	close(file);
	return strstr(trace, text);
}

TEST_F(events, tracepoints_tell_what_the_driver_does)
{
	volatile uint64_t *page = memory_map(PAGE);
	char text[96];

	virgo_node_close(&self->node);
	ASSERT_TRUE(memory_write_text(TRACING "events/virgo/enable", "1"));
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, self->event, VIRGO_EVENT_ERROR(3)));
	virgo_strides(&self->node, 2, 32, 32);
	virgo_move_out(&self->node, 2, page, 0, 1);
	EXPECT_EQ(0, virgo_fence(&self->node, 2) & VIRGO_STATUS_ERROR);
	fail(&self->node, 3);
	EXPECT_EQ(1, counted(self->event, SOON));
	munmap((void *)(uintptr_t)page, PAGE);
	virgo_node_close(&self->node);
	memory_write_text(TRACING "events/virgo/enable", "0");
	snprintf(text, sizeof(text), "virgo_open: virgo0 process=%d", getpid());
	EXPECT_TRUE(trace_has(text));
	snprintf(text, sizeof(text), "virgo_page_fault: virgo0 unit=2 address=%p access=write", (void *)(uintptr_t)page);
	EXPECT_TRUE(trace_has(text));
	snprintf(text, sizeof(text), "virgo_resolve: virgo0 unit=2 address=%p result=0", (void *)(uintptr_t)page);
	EXPECT_TRUE(trace_has(text));
	EXPECT_TRUE(trace_has("virgo_events: virgo0 events=0x800"));
	snprintf(text, sizeof(text), "virgo_shootdown: virgo0 start=%p end=%p", (void *)(uintptr_t)page,
		 (void *)((uintptr_t)page + PAGE));
	EXPECT_TRUE(trace_has(text));
	snprintf(text, sizeof(text), "virgo_release: virgo0 process=%d", getpid());
	EXPECT_TRUE(trace_has(text));
	memory_write_text(TRACING "trace", "");
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
}

TEST_HARNESS_MAIN
