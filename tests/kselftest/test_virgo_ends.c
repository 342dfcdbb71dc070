/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Ends of everything that a cluster's use hangs on: the program, wherever it is killed, also
 * in the middle of a job; the device; the daemon; the driver. And which programs may have it meanwhile.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/real_daemon.h"
#include "tests/kselftest/lib/slow_page.h"
#include "tests/kselftest/lib/time_scale.h"
#include "tests/kselftest/lib/virgo_device.h"
#include "tests/kselftest/lib/virgo_product.h"

#define SYSFS "/sys/bus/mimic/devices/virgo0/"
#define QUEUE 16

FIXTURE(ends)
{
	struct virgo_node node;
	volatile uint64_t *page;
};

FIXTURE_VARIANT(ends)
{
	const char *channel;
};

FIXTURE_VARIANT_ADD(ends, uring) { .channel = "uring" };
FIXTURE_VARIANT_ADD(ends, read) { .channel = "read" };

FIXTURE_SETUP(ends)
{
	ASSERT_TRUE(real_daemon_share(variant->channel, "virgo:2"));
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
	self->page = memory_map(PAGE);
	self->page[0] = 4242;
	virgo_strides(&self->node, 0, 32, 32);
}

FIXTURE_TEARDOWN(ends)
{
	virgo_node_close(&self->node);
}

/* A fresh cluster works, and has nothing of another program. */
static int can_work(void)
{
	volatile uint64_t *page = memory_map(PAGE);
	struct virgo_node node;
	int error = virgo_node_open(&node, "/dev/virgo0");
	uint64_t leftovers = 0;

	if (error)
		return -error;
	for (unsigned int i = 0; i < VIRGO_TEST_SHARED / 8; i++)
		leftovers |= ((volatile uint64_t *)node.shared)[i];
	for (unsigned int unit = 0; unit < VIRGO_TEST_UNITS; unit++)
		leftovers |= virgo_get(&node, VIRGO_UNIT(unit, DISPATCHED)) | virgo_error(&node, unit) |
			     virgo_get(&node, VIRGO_UNIT(unit, BUSY));
	leftovers |= virgo_get(&node, VIRGO_CONTROL_EVENT_STATUS) | virgo_get(&node, VIRGO_BARRIER_STATUS(0));
	page[0] = 17;
	virgo_strides(&node, 0, 32, 32);
	if (leftovers)
		return 200;
	return virgo_see(&node, 0, page) != 17 || virgo_error(&node, 0) ? 201 : 0;
}

static int status_of(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return status;
}

static int others_status(int (*what)(void))
{
	pid_t child = fork();

	if (!child)
		_exit(what());
	return WEXITSTATUS(status_of(child));
}

/* The kernel's own work for a program may outlive it by a moment. */
static int status_once_free(void)
{
	int status = EBUSY;

	for (int i = 0; status == EBUSY && i < 2000; i++) {
		usleep(i ? 1000 : 0);
		status = others_status(can_work);
	}
	return status;
}

/* --- programs that may have it ---------------------------------------------------- */

TEST_F(ends, another_process_has_to_wait_until_it_is_free)
{
	EXPECT_EQ(EBUSY, others_status(can_work));
	EXPECT_EQ((unsigned long)getpid(), memory_number(SYSFS "holder"));
	virgo_node_close(&self->node);
	EXPECT_EQ(0, memory_number(SYSFS "holder"));
	EXPECT_EQ(0, others_status(can_work));
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
}

static int index_of_any(void)
{
	int fd = open("/dev/virgo", O_RDWR | O_CLOEXEC);

	return fd < 0 ? errno : (int)virgo_node_info(fd).index + 100;
}

TEST_F(ends, any_one_is_one_that_nobody_has)
{
	int second;

	EXPECT_EQ(101, others_status(index_of_any));
	second = open("/dev/virgo1", O_RDWR | O_CLOEXEC);
	EXPECT_EQ(EBUSY, others_status(index_of_any));
	close(second);
	EXPECT_EQ(101, others_status(index_of_any));
}

TEST_F(ends, two_clusters_have_nothing_in_common)
{
	struct virgo_node other;

	ASSERT_EQ(0, virgo_node_open(&other, "/dev/virgo1"));
	self->node.shared[0] = 1;
	EXPECT_EQ(0, other.shared[0]);
	virgo_strides(&other, 0, 32, 32);
	virgo_move_in(&other, 0, self->page, 5, 1);
	EXPECT_EQ(0, virgo_fence(&other, 0) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(0, *(volatile uint64_t *)(self->node.shared + 5 * 32));
	EXPECT_EQ(4242, *(volatile uint64_t *)(other.shared + 5 * 32));
	virgo_node_close(&other);
	EXPECT_EQ(1, self->node.shared[0]);
}

/* 0, or where it went wrong. */
static int multiply_on(const char *path, unsigned int seed)
{
	struct virgo_small_product *fp32 = memory_map(PAGE), *int8 = memory_map(PAGE);
	struct virgo_node node;
	int error = virgo_node_open(&node, path);

	if (error)
		return -error;
	for (unsigned int round = 0; round < 20; round++) {
		virgo_small_start(&node, 0, fp32, seed + round);
		virgo_small_start(&node, 2, int8, seed + 5 * round);
		if ((virgo_fence(&node, 0) | virgo_fence(&node, 2)) & VIRGO_STATUS_ERROR)
			return 200;
		if (!virgo_small_is_right(fp32, 0, seed + round))
			return 201;
		if (!virgo_small_is_right(int8, 2, seed + 5 * round))
			return 202;
	}
	return 0;
}

TEST_F(ends, two_processes_multiply_at_once_on_two_units_each)
{
	static const char *const paths[] = { "/dev/virgo0", "/dev/virgo1" };
	pid_t children[2];

	virgo_node_close(&self->node);
	for (unsigned int i = 0; i < 2; i++) {
		children[i] = fork();
		if (!children[i])
			_exit(multiply_on(paths[i], 3 + 4 * i));
	}
	for (unsigned int i = 0; i < 2; i++)
		EXPECT_EQ(0, WEXITSTATUS(status_of(children[i])));
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
}

/* --- death of a program ------------------------------------------------------------- */

enum step { OPENED, MAPPED, WORKED, RUNNING, STALLED, FENCED, QUEUE_FULL, AT_BARRIER, STEPS };

/* Multiplications that take the unit a while: C of 64 x 64 with K 128, from the scratchpad. */
static void dispatch_long_work(const struct virgo_node *node, unsigned int unit, unsigned int loops)
{
	virgo_command(node, unit, VIRGO_FUNCT_LOOP_WS_BOUNDS, 0, 16ull << 32 | 8ull << 16 | 8);
	for (unsigned int i = 0; i < loops; i++)
		virgo_command(node, unit, VIRGO_FUNCT_LOOP_WS, 0, VIRGO_LOOP_COMPUTE);
}

static void *wait_in_fence(void *argument)
{
	virgo_fence(argument, 0);
	return NULL;
}

static void *wait_at_barrier(void *argument)
{
	virgo_get(argument, VIRGO_BARRIER_WAIT(0));
	return NULL;
}

/* A program that never ends by itself, killed where it has got to. */
static void go_to(enum step step, _Atomic int *is_ready)
{
	void *page = memory_map(PAGE);
	struct virgo_node node;
	int slow = slow_page_make(page);
	pthread_t thread;

	if (step == OPENED)
		open("/dev/virgo0", O_RDWR);
	else if (virgo_node_open(&node, "/dev/virgo0"))
		_exit(1);
	if (step >= WORKED) {
		memset((void *)(uintptr_t)node.shared, 0xee, VIRGO_TEST_SHARED);
		virgo_strides(&node, 0, 32, 32);
		virgo_fence(&node, 0);
	}
	if (step == RUNNING) {
		for (unsigned int unit = 0; unit < VIRGO_TEST_UNITS; unit++)
			dispatch_long_work(&node, unit, 10);
	}
	if (step >= STALLED && step < AT_BARRIER) {
		virgo_move_in(&node, 0, page, 0, 1);
		slow_page_is_wanted(slow);
	}
	*is_ready = 1;
	for (int i = 0; (step == FENCED || step == AT_BARRIER) && i < 3; i++)
		pthread_create(&thread, NULL, step == FENCED ? wait_in_fence : wait_at_barrier, &node);
	/* More than there is room for wait in their stores. */
	for (int i = 0; step == QUEUE_FULL && i < QUEUE + 2; i++)
		virgo_command(&node, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	pause();
}

TEST_F(ends, a_killed_program_leaves_a_fresh_cluster_wherever_it_was)
{
	_Atomic int *is_ready = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	virgo_node_close(&self->node);
	for (enum step step = OPENED; step < STEPS; step++) {
		pid_t child;

		*is_ready = 0;
		child = fork();
		if (!child) {
			go_to(step, is_ready);
			_exit(0);
		}
		while (!*is_ready && !waitpid(child, NULL, WNOHANG))
			usleep(1000);
		/* FENCED, QUEUE_FULL, AT_BARRIER: until it waits. */
		if (step >= FENCED)
			usleep(20000);
		EXPECT_EQ(EBUSY, others_status(can_work));
		kill(child, SIGKILL);
		EXPECT_EQ(SIGKILL, WTERMSIG(status_of(child)));
		EXPECT_EQ(0, status_once_free()) {
			TH_LOG("step %d", (int)step);
		}
	}
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
}

TEST_F(ends, a_cluster_is_closed_in_the_middle_of_its_jobs)
{
	char *to = memory_map(256 * PAGE);

	for (int round = 0; round < 5; round++) {
		for (unsigned int unit = 0; unit < VIRGO_TEST_UNITS; unit++) {
			dispatch_long_work(&self->node, unit, 3);
			virgo_strides(&self->node, unit, 64, 64);
			virgo_move_out(&self->node, unit, to + unit * 64 * PAGE, 0, 1000);
		}
		virgo_node_close(&self->node);
		ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
		EXPECT_EQ(0, virgo_get(&self->node, VIRGO_UNIT(3, DISPATCHED)));
	}
	virgo_strides(&self->node, 0, 32, 32);
	EXPECT_EQ(4242, virgo_see(&self->node, 0, self->page));
}

TEST_F(ends, exec_ends_the_use_though_another_process_keeps_the_file)
{
	int go[2];
	pid_t child;

	virgo_node_close(&self->node);
	ASSERT_EQ(0, pipe(go));
	child = fork();
	if (!child) {
		struct virgo_node node;
		char word;

		if (virgo_node_open(&node, "/dev/virgo0"))
			_exit(1);
		fcntl(node.fd, F_SETFD, 0);
		if (read(go[0], &word, 1) == 1)
			execl("/proc/self/exe", "test_virgo_ends", "--hold", (char *)NULL);
		_exit(2);
	}
	for (int i = 0; i < 2000 && memory_number(SYSFS "holder") != (unsigned long)child; i++)
		usleep(1000);
	EXPECT_EQ(EBUSY, others_status(can_work));
	EXPECT_EQ(1, write(go[1], "", 1));
	EXPECT_EQ(0, status_once_free());
	EXPECT_EQ(0, waitpid(child, NULL, WNOHANG));
	kill(child, SIGKILL);
	EXPECT_EQ(SIGKILL, WTERMSIG(status_of(child)));
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
}

static sigjmp_buf back;

static void jump(int number)
{
	siglongjmp(back, number);
}

/* Of a load of a register; or of the first byte of the shared memory. */
static int signal_of(const struct virgo_node *node, bool is_shared)
{
	int number;

	signal(SIGBUS, jump);
	number = sigsetjmp(back, 1);
	if (!number && is_shared)
		(void)node->shared[0];
	else if (!number)
		virgo_get(node, VIRGO_CONTROL_IDENTIFY);
	signal(SIGBUS, SIG_DFL);
	return number;
}

TEST_F(ends, a_child_has_neither_registers_nor_memory_and_its_parent_goes_on)
{
	pid_t child;

	dispatch_long_work(&self->node, 1, 3);
	child = fork();
	if (!child)
		_exit(signal_of(&self->node, false) != SIGBUS || signal_of(&self->node, true) != SIGBUS);
	EXPECT_EQ(0, status_of(child));
	EXPECT_EQ(0, virgo_fence(&self->node, 1) & VIRGO_STATUS_ERROR);
	EXPECT_EQ(4242, virgo_see(&self->node, 0, self->page));
}

TEST_F(ends, a_thread_that_ends_at_a_barrier_has_not_arrived)
{
	pthread_t thread;

	virgo_put(&self->node, VIRGO_BARRIER_PARTICIPANTS(0), 2);
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_at_barrier, &self->node));
	for (int i = 0; i < 5000 && virgo_get(&self->node, VIRGO_BARRIER_STATUS(0)) != 1; i++)
		usleep(1000);
	EXPECT_EQ(1, virgo_get(&self->node, VIRGO_BARRIER_STATUS(0)));
	/* Its load is taken back by the signal of its cancellation. */
	pthread_cancel(thread);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	virgo_put(&self->node, VIRGO_BARRIER_PARTICIPANTS(0), 1);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, virgo_get(&self->node, VIRGO_BARRIER_STATUS(0)) & 0xff);
}

/* More than a device's share of the bus's slots (MIMIC_BUS_DEVICE_SLOTS). */
#define WARPS 64

TEST_F(ends, as_many_threads_as_a_clusters_warps_meet_at_a_barrier)
{
	pthread_t threads[WARPS];

	virgo_put(&self->node, VIRGO_BARRIER_PARTICIPANTS(0), WARPS);
	for (int i = 0; i < WARPS - 1; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, wait_at_barrier, &self->node));
	EXPECT_EQ(0, virgo_get(&self->node, VIRGO_BARRIER_WAIT(0)));
	for (int i = 0; i < WARPS - 1; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(1 << 8, virgo_get(&self->node, VIRGO_BARRIER_STATUS(0)));
}

/* --- the device, the daemon, the driver ------------------------------------------------ */

static void expect_taken_away(struct __test_metadata *_metadata, const struct virgo_node *node, int event)
{
	struct pollfd entry = { .fd = node->fd, .events = POLLPRI };
	struct virgo_info info = { .size = sizeof(info) };

	EXPECT_EQ(SIGBUS, signal_of(node, false));
	EXPECT_EQ(0, signal_of(node, true));
	/* The registers go first. */
	for (int i = 0; i < 1000 && node->shared[0]; i++)
		usleep(1000);
	EXPECT_EQ(0, node->shared[0]);
	EXPECT_EQ(1, poll(&entry, 1, 1000));
	EXPECT_EQ(POLLERR | POLLHUP, entry.revents);
	EXPECT_EQ(-1, ioctl(node->fd, VIRGO_IOCTL_INFO, &info));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(-ENODEV, virgo_node_eventfd(node->fd, event, 1));
}

TEST_F(ends, a_device_that_is_removed_in_the_middle_of_its_jobs)
{
	int event = eventfd(0, EFD_NONBLOCK);

	ASSERT_EQ(0, virgo_node_eventfd(self->node.fd, event, VIRGO_EVENT_IDLE(0)));
	self->node.shared[0] = 1;
	dispatch_long_work(&self->node, 0, 10);
	EXPECT_EQ(0, real_daemon_command("remove", "virgo0"));
	expect_taken_away(_metadata, &self->node, event);
	/* The next one of that number is another device. */
	EXPECT_EQ(0, real_daemon_command("add", "virgo"));
	for (int i = 0; i < 1000 && access("/dev/virgo0", F_OK); i++)
		usleep(5000);
	EXPECT_EQ(0, others_status(can_work));
	EXPECT_EQ(SIGBUS, signal_of(&self->node, false));
	virgo_node_close(&self->node);
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
	close(event);
}

static int bind_driver(const char *what)
{
	char path[64];
	int fd, result;

	snprintf(path, sizeof(path), "/sys/bus/mimic/drivers/virgo/%s", what);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	result = write(fd, "virgo0", 6) == 6 ? 0 : -errno;
	close(fd);
	return result;
}

TEST_F(ends, a_driver_that_leaves_in_the_middle_of_jobs)
{
	int event = eventfd(0, EFD_NONBLOCK);

	self->node.shared[0] = 1;
	dispatch_long_work(&self->node, 0, 10);
	ASSERT_EQ(0, bind_driver("unbind"));
	expect_taken_away(_metadata, &self->node, event);
	EXPECT_NE(0, access("/dev/virgo0", F_OK));
	ASSERT_EQ(0, bind_driver("bind"));
	EXPECT_EQ(0, others_status(can_work));
	EXPECT_EQ(SIGBUS, signal_of(&self->node, false));
	virgo_node_close(&self->node);
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
	close(event);
}

static int error_of_open(void)
{
	int fd = open("/dev/virgo0", O_RDWR | O_CLOEXEC);

	return fd < 0 ? errno : 0;
}

TEST_F(ends, a_daemon_that_is_killed_in_the_middle_of_jobs)
{
	int event = eventfd(0, EFD_NONBLOCK);

	self->node.shared[0] = 1;
	dispatch_long_work(&self->node, 0, 10);
	real_daemon_kill();
	for (int i = 0; i < 5000 && !signal_of(&self->node, false); i++)
		usleep(1000);
	/* The cluster is as another process would find it. */
	expect_taken_away(_metadata, &self->node, event);
	EXPECT_EQ(EIO, others_status(error_of_open));
	ASSERT_TRUE(real_daemon_share(variant->channel, "virgo:2"));
	EXPECT_EQ(0, others_status(can_work));
	EXPECT_EQ(SIGBUS, signal_of(&self->node, false));
	virgo_node_close(&self->node);
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
	close(event);
}

TEST_F(ends, a_device_that_hangs_lets_a_program_be_killed_and_heals)
{
	pid_t child;

	virgo_node_close(&self->node);
	ASSERT_EQ(0, real_daemon_command("inject", "virgo0 hang"));
	child = fork();
	if (!child)
		_exit(can_work());
	usleep(50000);
	EXPECT_EQ(0, waitpid(child, NULL, WNOHANG));
	kill(child, SIGKILL);
	EXPECT_EQ(SIGKILL, WTERMSIG(status_of(child)));
	EXPECT_EQ(0, others_status(can_work));
	ASSERT_EQ(0, virgo_node_open(&self->node, "/dev/virgo0"));
}

/* "--hold": exec_ends_the_use executes it. */
__attribute__((constructor)) static void hold(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--hold"))
		pause();
}

TEST_HARNESS_MAIN
