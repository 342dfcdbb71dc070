/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Ends of everything that a context hangs on: the program, wherever it is killed; the
 * device; the daemon; the driver. And a page that is long in coming. The other programs on the
 * device do not notice, or are told.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/kselftest/lib/dare_device.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/real_daemon.h"
#include "tests/kselftest/lib/slow_page.h"
#include "tests/kselftest/lib/time_scale.h"

#define CONTEXTS 8
#define QUEUE 32

FIXTURE(ends)
{
	struct dare_node node;
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
	ASSERT_TRUE(real_daemon_share(variant->channel, "dare:2"));
	ASSERT_EQ(0, dare_node_open(&self->node, "/dev/dare0"));
	self->page = memory_map(PAGE);
	self->page[0] = 4242;
	dare_shape(&self->node, 1, 8);
	EXPECT_EQ(4242, dare_see(&self->node, self->page));
}

FIXTURE_TEARDOWN(ends)
{
	dare_node_close(&self->node);
}

/* How many contexts of dare0 have no holder. */
static unsigned int free_contexts(void)
{
	FILE *file = fopen("/sys/bus/mimic/devices/dare0/holders", "re");
	unsigned int count = 0;
	int holder;

	while (file && fscanf(file, "%d", &holder) == 1)
		count += !holder;
	if (file)
		fclose(file);
	return count;
}

static bool becomes_free(unsigned int wanted)
{
	for (unsigned int i = 0; i < 1000 * time_scale() && free_contexts() != wanted; i++)
		usleep(5000);
	return free_contexts() == wanted;
}

/* --- a page that is long in coming -------------------------------------------------- */

static int can_work(void)
{
	volatile uint64_t *page = memory_map(PAGE);
	struct dare_node node;

	page[0] = 17;
	if (dare_node_open(&node, "/dev/dare0"))
		return 1;
	dare_shape(&node, 1, 8);
	return dare_see(&node, page) != 17 || dare_get(&node, DARE_ERROR);
}

static int status_of(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return status;
}

TEST_F(ends, a_slow_page_of_one_program_keeps_no_other_waiting)
{
	void *page = memory_map(PAGE);
	int slow = slow_page_make(page);
	pid_t other;

	if (slow < 0)
		SKIP(return, "no userfaultfd here");
	dare_dispatch(&self->node, DARE_WORD_MLD_B(0), (uintptr_t)page, 0);
	ASSERT_TRUE(slow_page_is_wanted(slow));
	EXPECT_EQ(DARE_STATUS_PAGE, dare_get(&self->node, DARE_STATUS) & DARE_STATUS_PAGE);
	other = fork();
	if (!other)
		_exit(can_work());
	EXPECT_EQ(0, status_of(other));
	EXPECT_EQ(DARE_STATUS_PAGE, dare_get(&self->node, DARE_STATUS) & DARE_STATUS_PAGE);
	ASSERT_EQ(0, slow_page_give(slow, page, 99));
	EXPECT_EQ(0, dare_get(&self->node, DARE_FENCE) & (DARE_STATUS_ERROR | DARE_STATUS_PAGE));
	EXPECT_EQ(0, dare_store(&self->node, 0, self->page, 0) & DARE_STATUS_ERROR);
	EXPECT_EQ(99, self->page[0]);
	close(slow);
}

TEST_F(ends, slow_pages_of_several_contexts_come_in_any_order)
{
	struct dare_node nodes[3];
	void *pages[3];
	int slow[3];

	for (int i = 0; i < 3; i++) {
		pages[i] = memory_map(PAGE);
		slow[i] = slow_page_make(pages[i]);
		if (slow[i] < 0)
			SKIP(return, "no userfaultfd here");
		ASSERT_EQ(0, dare_node_open(&nodes[i], "/dev/dare0"));
		dare_shape(&nodes[i], 1, 8);
		dare_dispatch(&nodes[i], DARE_WORD_MLD_B(0), (uintptr_t)pages[i], 0);
		ASSERT_TRUE(slow_page_is_wanted(slow[i]));
	}
	for (int i = 2; i >= 0; i--) {
		ASSERT_EQ(0, slow_page_give(slow[i], pages[i], 50 + (uint64_t)i));
		EXPECT_EQ(0, dare_store(&nodes[i], 0, self->page, 0) & DARE_STATUS_ERROR);
		EXPECT_EQ(50 + (uint64_t)i, self->page[0]);
		dare_node_close(&nodes[i]);
		close(slow[i]);
	}
}

TEST_F(ends, a_reset_forgets_a_slow_page)
{
	void *page = memory_map(PAGE);
	int slow = slow_page_make(page);

	if (slow < 0)
		SKIP(return, "no userfaultfd here");
	dare_dispatch(&self->node, DARE_WORD_MLD_B(0), (uintptr_t)page, 0);
	ASSERT_TRUE(slow_page_is_wanted(slow));
	dare_put(&self->node, DARE_RESET, 0);
	EXPECT_EQ(0, dare_get(&self->node, DARE_STATUS) & (DARE_STATUS_PAGE | DARE_STATUS_BUSY));
	ASSERT_EQ(0, slow_page_give(slow, page, 1));
	dare_shape(&self->node, 1, 8);
	EXPECT_EQ(4242, dare_see(&self->node, self->page));
	EXPECT_EQ(0, dare_get(&self->node, DARE_ERROR));
	close(slow);
}

/* --- death of a program ------------------------------------------------------------- */

enum step { OPENED, MAPPED, DISPATCHED, STALLED, FENCED, QUEUE_FULL, SEVERAL, STEPS };

struct victim {
	_Atomic int is_ready;
};

static void *wait_in_fence(void *argument)
{
	dare_get(argument, DARE_FENCE);
	return NULL;
}

/* A program that never ends by itself, killed where it has got to. */
static void go_to(enum step step, struct victim *victim)
{
	struct dare_node nodes[CONTEXTS - 1];
	void *page = memory_map(PAGE);
	pthread_t thread;
	int slow = slow_page_make(page);

	if (step == OPENED) {
		nodes[0].fd = open("/dev/dare0", O_RDWR);
	} else {
		for (unsigned int i = 0; i < (step == SEVERAL ? CONTEXTS - 1 : 1); i++) {
			if (dare_node_open(&nodes[i], "/dev/dare0"))
				_exit(1);
		}
	}
	if (step >= DISPATCHED)
		dare_shape(&nodes[0], 1, 8);
	if (step == DISPATCHED)
		dare_see(&nodes[0], memory_map(PAGE));
	if (step >= STALLED) {
		dare_dispatch(&nodes[0], DARE_WORD_MLD_B(0), (uintptr_t)page, 0);
		slow_page_is_wanted(slow);
	}
	victim->is_ready = 1;
	if (step == FENCED) {
		for (int i = 0; i < 6; i++)
			pthread_create(&thread, NULL, wait_in_fence, &nodes[0]);
	}
	/* One more than there is room for waits in its store. */
	for (int i = 0; step == QUEUE_FULL && i < QUEUE + 1; i++)
		dare_put(&nodes[0], DARE_INSTRUCTION, DARE_WORD_MCFG);
	pause();
}

TEST_F(ends, a_killed_program_leaves_free_contexts_wherever_it_was)
{
	struct victim *victim = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (enum step step = OPENED; step < STEPS; step++) {
		pid_t child;

		victim->is_ready = 0;
		child = fork();
		if (!child) {
			go_to(step, victim);
			_exit(0);
		}
		while (!victim->is_ready)
			usleep(1000);
		/* FENCED, QUEUE_FULL: until it waits. */
		usleep(20000);
		EXPECT_EQ(CONTEXTS - 1 - (step == SEVERAL ? CONTEXTS - 1 : 1), free_contexts());
		kill(child, SIGKILL);
		EXPECT_EQ(SIGKILL, WTERMSIG(status_of(child)));
		EXPECT_TRUE(becomes_free(CONTEXTS - 1));
		self->page[0] = 5000 + step;
		EXPECT_EQ(5000 + step, dare_see(&self->node, self->page));
	}
}

TEST_F(ends, exec_ends_the_context)
{
	int go[2];
	pid_t child;

	ASSERT_EQ(0, pipe(go));
	child = fork();
	if (!child) {
		struct dare_node node;
		char word;

		if (dare_node_open(&node, "/dev/dare0"))
			_exit(1);
		/* The file stays open over it. */
		fcntl(node.fd, F_SETFD, 0);
		if (read(go[0], &word, 1) == 1)
			execl("/proc/self/exe", "test_dare_ends", "--hold", (char *)NULL);
		_exit(2);
	}
	EXPECT_TRUE(becomes_free(CONTEXTS - 2));
	EXPECT_EQ(1, write(go[1], "", 1));
	EXPECT_TRUE(becomes_free(CONTEXTS - 1));
	EXPECT_EQ(0, waitpid(child, NULL, WNOHANG));
	kill(child, SIGKILL);
	EXPECT_EQ(SIGKILL, WTERMSIG(status_of(child)));
	EXPECT_EQ(4242, dare_see(&self->node, self->page));
}

/* --- the device, the daemon, the driver ------------------------------------------------ */

static sigjmp_buf back;

static void jump(int signal)
{
	siglongjmp(back, signal);
}

static int signal_of_access(const struct dare_node *node)
{
	int signal_number;

	signal(SIGBUS, jump);
	signal_number = sigsetjmp(back, 1);
	if (!signal_number)
		dare_get(node, DARE_STATUS);
	signal(SIGBUS, SIG_DFL);
	return signal_number;
}

TEST_F(ends, a_device_that_is_removed_takes_its_contexts_along)
{
	struct pollfd entry = { .fd = self->node.fd, .events = POLLPRI };
	struct dare_info info = { .size = sizeof(info) };
	struct dare_node second;

	ASSERT_EQ(0, dare_node_open(&second, "/dev/dare0"));
	EXPECT_EQ(0, real_daemon_command("remove", "dare0"));
	EXPECT_EQ(SIGBUS, signal_of_access(&self->node));
	EXPECT_EQ(SIGBUS, signal_of_access(&second));
	EXPECT_EQ(1, poll(&entry, 1, 1000));
	EXPECT_EQ(POLLERR | POLLHUP, entry.revents);
	EXPECT_EQ(-1, ioctl(self->node.fd, DARE_IOCTL_INFO, &info));
	EXPECT_EQ(ENODEV, errno);
	dare_node_close(&second);
	/* The next one of that number is another device. */
	EXPECT_EQ(0, real_daemon_command("add", "dare"));
	for (int i = 0; i < 1000 && access("/sys/bus/mimic/devices/dare0/holders", F_OK); i++)
		usleep(5000);
	EXPECT_TRUE(becomes_free(CONTEXTS));
	EXPECT_EQ(SIGBUS, signal_of_access(&self->node));
	dare_node_close(&self->node);
	ASSERT_EQ(0, dare_node_open(&self->node, "/dev/dare0"));
}

static int bind_driver(const char *what)
{
	char path[64];
	int fd, result;

	snprintf(path, sizeof(path), "/sys/bus/mimic/drivers/dare/%s", what);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	result = write(fd, "dare0", 5) == 5 ? 0 : -errno;
	close(fd);
	return result;
}

TEST_F(ends, a_driver_that_leaves_takes_the_contexts_along)
{
	ASSERT_EQ(0, bind_driver("unbind"));
	EXPECT_EQ(SIGBUS, signal_of_access(&self->node));
	EXPECT_NE(0, access("/dev/dare0", F_OK));
	ASSERT_EQ(0, bind_driver("bind"));
	EXPECT_EQ(CONTEXTS, free_contexts());
	/* The old mapping does not reach a context that another program has now. */
	EXPECT_EQ(0, can_work());
	EXPECT_EQ(SIGBUS, signal_of_access(&self->node));
	dare_node_close(&self->node);
	EXPECT_EQ(CONTEXTS, free_contexts() + 1);
}

TEST_F(ends, a_device_that_hangs_lets_a_program_be_killed_and_heals)
{
	struct dare_info info;
	pid_t child;

	ASSERT_EQ(0, real_daemon_command("inject", "dare0 hang"));
	child = fork();
	if (!child) {
		struct dare_node node;

		/* ATTACH has no answer. */
		_exit(dare_node_open(&node, "/dev/dare0") != -ETIMEDOUT);
	}
	EXPECT_EQ(0, status_of(child));
	ASSERT_EQ(0, real_daemon_command("inject", "dare0 none"));
	info = dare_node_info(self->node.fd);
	EXPECT_EQ(0, info.unresolved);
	EXPECT_EQ(4242, dare_see(&self->node, self->page));
	EXPECT_EQ(0, can_work());
}

TEST_F(ends, a_lost_interrupt_only_takes_longer)
{
	volatile uint64_t *page = memory_map(PAGE);

	ASSERT_EQ(0, real_daemon_command("inject", "dare0 lost-interrupt"));
	EXPECT_EQ(0, dare_see(&self->node, page));
	EXPECT_EQ(0, dare_get(&self->node, DARE_ERROR));
}

TEST_F(ends, a_dead_daemons_contexts_are_dead_and_the_next_ones_are_fresh)
{
	unsigned int context = dare_node_info(self->node.fd).context;

	real_daemon_kill();
	EXPECT_EQ(SIGBUS, signal_of_access(&self->node));
	EXPECT_EQ(-1, open("/dev/dare0", O_RDWR));
	EXPECT_EQ(EIO, errno);
	ASSERT_TRUE(real_daemon_share(variant->channel, "dare:2"));
	EXPECT_EQ(SIGBUS, signal_of_access(&self->node));
	/* Its old file is no hindrance. */
	{
		struct dare_node fresh;

		ASSERT_EQ(0, dare_node_open(&fresh, "/dev/dare0"));
		EXPECT_EQ(context, dare_node_info(fresh.fd).context);
		dare_shape(&fresh, 1, 8);
		EXPECT_EQ(4242, dare_see(&fresh, self->page));
		/* Nor is its end. */
		dare_node_close(&self->node);
		EXPECT_EQ(4242, dare_see(&fresh, self->page));
		dare_node_close(&fresh);
	}
}

/* "--hold": exec_ends_the_context executes it. */
__attribute__((constructor)) static void hold(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--hold"))
		pause();
}

TEST_HARNESS_MAIN
