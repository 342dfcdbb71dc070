/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Limits of one user: a process that has ended keeps no device memory, whichever process has
 * its descriptors, and a user has so many bindings and no more.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/program.h"

#define USER_BINDINGS "/sys/module/mimic/parameters/user_bindings"
#define NOBODY 65534
#define MEMORY_SIZE (1u << 20)
#define DEAD_PROCESSES 150

FIXTURE(limits) {
	struct fake_daemon *daemon;
};

FIXTURE_SETUP(limits)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE, .memory_size = MEMORY_SIZE };

	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
}

FIXTURE_TEARDOWN(limits)
{
	memory_write_text(USER_BINDINGS, "256");
	fake_daemon_stop(self->daemon);
}

/* Opens the device and ends; a descriptor of it stays here. -1: it could not. */
static int descriptor_of_the_dead(const struct fake_daemon *daemon)
{
	_Atomic unsigned int *fd = memory_map_file(memory_file(PAGE), PAGE);
	int process, copy;
	pid_t pid = fork();

	if (!pid) {
		int opened = open(daemon->node, O_RDWR);

		while (opened < 0) {
			sleep_ms(1);
			opened = open(daemon->node, O_RDWR);
		}
		*fd = (unsigned int)opened;
		for (;;)
			pause();
	}
	while (!*fd)
		sleep_ms(1);
	process = (int)syscall(SYS_pidfd_open, pid, 0);
	copy = (int)syscall(SYS_pidfd_getfd, process, *fd, 0);
	close(process);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap((void *)fd, PAGE);
	return copy;
}

static unsigned long free_kilobytes(void)
{
	return memory_named_number("/proc/meminfo", "MemFree:");
}

TEST_F_TIMEOUT(limits, the_dead_keep_no_memory_of_the_device, 120)
{
	unsigned long before, after;
	int fds[DEAD_PROCESSES], i;

	close(descriptor_of_the_dead(self->daemon));
	before = free_kilobytes();
	for (i = 0; i < DEAD_PROCESSES; i++)
		ASSERT_LE(0, fds[i] = descriptor_of_the_dead(self->daemon));
	sleep_ms(500);
	after = free_kilobytes();
	printf("# %ld KB for %u descriptors of processes that have ended\n", (long)(before - after),
	       DEAD_PROCESSES);
	/* A third of a device memory for each of them. */
	EXPECT_GT((long)DEAD_PROCESSES * MEMORY_SIZE / 1024 / 3, (long)(before - after));
	for (i = 0; i < DEAD_PROCESSES; i++)
		close(fds[i]);
}

static const char *node;

static int nobody_opens(void *unused)
{
	(void)unused;
	if (setresuid(NOBODY, NOBODY, NOBODY))
		return 200;
	return open(node, O_RDWR) < 0 ? errno : 0;
}

static int root_opens(void *unused)
{
	(void)unused;
	return open(node, O_RDWR) < 0 ? errno : 0;
}

TEST_F(limits, a_user_has_as_many_bindings_as_he_may)
{
	node = self->daemon->node;
	EXPECT_EQ(0, in_child(nobody_opens, NULL));
	ASSERT_TRUE(memory_write_text(USER_BINDINGS, "0"));
	EXPECT_EQ(EMFILE, in_child(nobody_opens, NULL));
	EXPECT_EQ(0, in_child(root_opens, NULL));
	ASSERT_TRUE(memory_write_text(USER_BINDINGS, "1"));
	/* The last one may be on its way out. */
	sleep_ms(500 * time_scale());
	EXPECT_EQ(0, in_child(nobody_opens, NULL));
}

/* --- charges to the program's memory -------------------------------------------- */

#define GROUP "/sys/fs/cgroup/limits"
#define TABLES 256ul

/* In a group of its own; `count` is where its sparse memory lies. */
static void join_group(struct program_shared *shared, volatile uint64_t *memory, int fd)
{
	void *sparse = mmap(NULL, TABLES * HUGE_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)memory;
	(void)fd;
	if (sparse == MAP_FAILED || !memory_write_text(GROUP "/cgroup.procs", "0"))
		return;
	madvise(sparse, TABLES * HUGE_PAGE, MADV_NOHUGEPAGE);
	shared->count = (uintptr_t)sparse;
}

/* A write fault of the device in each 2 MB: how many bytes the group has more after it. */
static unsigned long charge_of_faults(struct fake_daemon *daemon, uint64_t sparse)
{
	unsigned long before = memory_number(GROUP "/memory.current");
	size_t i;

	for (i = 0; i < TABLES; i++) {
		unsigned int resolves = daemon->control->resolves;

		if (fake_daemon_fault(daemon, (void *)(uintptr_t)(sparse + i * HUGE_PAGE), true) ||
		    !fake_wait(&daemon->control->resolves, resolves + 1))
			return 0;
	}
	return memory_number(GROUP "/memory.current") - before;
}

/* A page and a page table for each, although a thread of the kernel's brings them. */
TEST(memory_that_page_faults_need_is_charged_to_the_program)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE };
	struct fake_daemon *daemon;
	struct program program;
	unsigned long charge = 0;
	int tries;

	memory_write_text("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	if (mkdir(GROUP, 0700) || access(GROUP "/memory.current", F_OK))
		SKIP(return, "no cgroups of memory");
	daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, daemon);
	EXPECT_TRUE(program_start(&program, daemon, PAGE, join_group));
	for (tries = 0; !program.shared->count && tries < 5000; tries++)
		sleep_ms(1);
	if (program.shared->count)
		charge = charge_of_faults(daemon, program.shared->count);
	printf("# %lu kB for %lu pages and as many page tables\n", charge >> 10, TABLES);
	/* The kernel charges in batches, a quarter of a megabyte for a processor at most. */
	EXPECT_LT(TABLES * PAGE * 7 / 4, charge);
	program_stop(&program);
	fake_daemon_stop(daemon);
	rmdir(GROUP);
}

TEST_HARNESS_MAIN
