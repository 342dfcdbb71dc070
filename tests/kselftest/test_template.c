/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The template device from end to end: program, template.ko, mimic.ko, daemon, model. */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "examples/bus/template_daemon.h"
#include "mimic/accelerator_ioctl.h"

#define PAGE 4096

static volatile sig_atomic_t stop;

static void on_terminate(int number)
{
	(void)number;
	stop = 1;
}

static void run_daemon(int index, int ready)
{
	static struct template_daemon daemon;
	int error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, on_terminate);
	/* A copy of the test's file would hold the device. */
	if (dup2(ready, 3) != 3 || close_range(4, ~0u, 0))
		_exit(2);
	ready = 3;
	error = template_daemon_open(&daemon, index);
	if (!error)
		error = daemon.index;
	if (write(ready, &error, sizeof(error)) != sizeof(error) || error < 0)
		_exit(2);
	error = template_daemon_serve(&daemon, &stop);
	template_daemon_close(&daemon);
	_exit(!!error);
}

/* Returns the index, or -errno. */
static int start_daemon(int index, pid_t *pid)
{
	int ready[2], result = -EIO;

	if (pipe2(ready, O_CLOEXEC))
		return -errno;
	*pid = fork();
	if (!*pid)
		run_daemon(index, ready[1]);
	close(ready[1]);
	if (read(ready[0], &result, sizeof(result)) != sizeof(result))
		result = -EIO;
	close(ready[0]);
	return result;
}

static void doze(void)
{
	struct timespec time = { .tv_nsec = 1000000 };

	nanosleep(&time, NULL);
}

/* The probe runs in the background; a node without a daemon answers EIO. */
static int open_node(const char *node)
{
	int tries = 0;
	int fd;

	do {
		fd = open(node, O_RDWR | O_CLOEXEC);
		if (fd >= 0 || (errno != ENOENT && errno != EIO))
			break;
		doze();
	} while (++tries < 10000);
	return fd;
}

FIXTURE(template)
{
	pid_t daemon;
	int index;
	char node[32];
	int fd;
	volatile uint64_t *page;
};

FIXTURE_SETUP(template)
{
	self->index = start_daemon(-1, &self->daemon);
	ASSERT_LE(0, self->index);
	snprintf(self->node, sizeof(self->node), "/dev/template%d", self->index);
	self->fd = open_node(self->node);
	ASSERT_LE(0, self->fd);
	self->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->page);
}

FIXTURE_TEARDOWN(template)
{
	munmap((void *)self->page, PAGE);
	close(self->fd);
	kill(self->daemon, SIGTERM);
	waitpid(self->daemon, NULL, 0);
}

static void start(volatile uint64_t *page, uint64_t a, uint64_t b)
{
	page[TEMPLATE_A / 8] = a;
	page[TEMPLATE_B / 8] = b;
	page[TEMPLATE_START / 8] = 1;
}

static int events(int fd, int milliseconds)
{
	struct pollfd node = { .fd = fd, .events = POLLIN };

	return poll(&node, 1, milliseconds) < 0 ? -errno : node.revents;
}

TEST_F(template, a_load_of_sum_waits_for_it)
{
	uint64_t a = 0x0123456789abcdefull, b = 0xfedcba9876543210ull;
	int i;

	for (i = 0; i < 100; i++) {
		a = a * 6364136223846793005ull + 1;
		b ^= a >> 7;
		start(self->page, a, b);
		ASSERT_EQ(a + b, self->page[TEMPLATE_SUM / 8]);
	}
	EXPECT_EQ(100, self->page[TEMPLATE_COUNT / 8]);
}

TEST_F(template, poll_tells_of_an_addition_until_it_is_read)
{
	int64_t count = 0;

	EXPECT_EQ(0, events(self->fd, 0));
	start(self->page, 1, 2);
	EXPECT_EQ(POLLIN, events(self->fd, 10000));
	EXPECT_EQ(sizeof(count), read(self->fd, &count, sizeof(count)));
	EXPECT_EQ(1, count);
	EXPECT_EQ(0, events(self->fd, 0));
}

TEST_F(template, read_waits_for_an_addition)
{
	int64_t count = 0;

	start(self->page, 1, 2);
	EXPECT_EQ(sizeof(count), read(self->fd, &count, sizeof(count)));
	EXPECT_EQ(1, count);
}

TEST_F(template, read_of_nothing_is_eagain_with_o_nonblock)
{
	int64_t count;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(-1, read(self->fd, &count, sizeof(count)));
	EXPECT_EQ(EAGAIN, errno);
}

TEST_F(template, read_of_less_than_a_count_is_einval)
{
	int32_t count;

	EXPECT_EQ(-1, read(self->fd, &count, sizeof(count)));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(template, info_says_what_the_node_is)
{
	struct accelerator_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, ioctl(self->fd, ACCELERATOR_IOCTL_INFO(TEMPLATE_IOCTL), &info));
	EXPECT_EQ(1, info.version);
	EXPECT_EQ(self->index, (int)info.index);
	EXPECT_EQ(1, info.pages);
	EXPECT_EQ(0x54504c5400000001, info.identify);
	EXPECT_EQ(0, info.unused);
}

TEST_F(template, an_eventfd_counts_additions_and_read_does_too)
{
	struct accelerator_eventfd wanted = { .size = sizeof(wanted), .events = TEMPLATE_EVENT_DONE };
	int64_t count = 0;
	uint64_t signals = 0;

	wanted.fd = eventfd(0, EFD_CLOEXEC);
	ASSERT_LE(0, wanted.fd);
	ASSERT_EQ(0, ioctl(self->fd, ACCELERATOR_IOCTL_EVENTFD(TEMPLATE_IOCTL), &wanted));
	start(self->page, 1, 2);
	EXPECT_EQ(sizeof(signals), read(wanted.fd, &signals, sizeof(signals)));
	EXPECT_EQ(1, signals);
	EXPECT_EQ(sizeof(count), read(self->fd, &count, sizeof(count)));
	EXPECT_EQ(1, count);
	close(wanted.fd);
}

TEST_F(template, events_of_before_an_open_are_not_read_by_it)
{
	int fd;

	start(self->page, 1, 2);
	ASSERT_EQ(POLLIN, events(self->fd, 10000));
	fd = open(self->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, events(fd, 0));
	EXPECT_EQ(POLLIN, events(self->fd, 0));
	close(fd);
}

TEST_F(template, the_control_page_cannot_be_mapped)
{
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd, PAGE));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(template, another_process_gets_ebusy)
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(open(self->node, O_RDWR) < 0 ? errno : 0);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(EBUSY, WEXITSTATUS(status));
}

TEST_F(template, the_device_is_as_after_power_on_for_the_next_process)
{
	start(self->page, 3, 4);
	ASSERT_EQ(7, self->page[TEMPLATE_SUM / 8]);
	munmap((void *)self->page, PAGE);
	close(self->fd);
	self->fd = open_node(self->node);
	ASSERT_LE(0, self->fd);
	self->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->page);
	EXPECT_EQ(0, self->page[TEMPLATE_SUM / 8]);
	EXPECT_EQ(0, self->page[TEMPLATE_A / 8]);
	EXPECT_EQ(0, self->page[TEMPLATE_COUNT / 8]);
}

TEST_F(template, a_narrow_load_reads_0)
{
	self->page[TEMPLATE_A / 8] = 0x1234;
	EXPECT_EQ(0, *(volatile uint32_t *)self->page);
	EXPECT_EQ(0x1234, self->page[TEMPLATE_A / 8]);
}

TEST_F(template, a_dead_daemon_ends_a_read_and_the_next_one_serves_again)
{
	int64_t count;
	int fd;

	kill(self->daemon, SIGKILL);
	waitpid(self->daemon, NULL, 0);
	EXPECT_EQ(-1, read(self->fd, &count, sizeof(count)));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(POLLERR | POLLHUP, events(self->fd, 0));

	ASSERT_EQ(self->index, start_daemon(self->index, &self->daemon));
	fd = open_node(self->node);
	ASSERT_LE(0, fd);
	close(self->fd);
	self->fd = fd;
	munmap((void *)self->page, PAGE);
	self->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->page);
	start(self->page, 20, 22);
	EXPECT_EQ(42, self->page[TEMPLATE_SUM / 8]);
}

TEST_F(template, the_node_goes_with_the_device_and_a_file_finds_it_gone)
{
	int64_t count;
	int tries;

	kill(self->daemon, SIGTERM);
	waitpid(self->daemon, NULL, 0);
	for (tries = 0; !access(self->node, F_OK) && tries < 10000; tries++)
		doze();
	EXPECT_EQ(-1, open(self->node, O_RDWR));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(-1, read(self->fd, &count, sizeof(count)));
	EXPECT_EQ(ENODEV, errno);
	self->index = start_daemon(-1, &self->daemon);
}

TEST_HARNESS_MAIN
