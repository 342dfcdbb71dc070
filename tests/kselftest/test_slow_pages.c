/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A device waits for a page that another program does not bring: by userfaultfd, by FUSE.
 * Nothing else waits with it: not the program's end, not the device's, not another's page.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/kselftest/lib/dare_device.h"
#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/real_daemon.h"
#include "tests/kselftest/lib/slow_page.h"

/* The seconds within which a result comes "at once". */
#define SOON 2.0

/* Shared with the program whose page it is. */
struct victim {
	_Atomic unsigned int is_ready;
	int slow, fd;	/* in the table of descriptors that both have */
	void *page;
};

FIXTURE(slow) {
	struct fake_daemon *daemon;
	struct victim *victim;
	pid_t pid;
};

FIXTURE_SETUP(slow)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE, .is_paper = true };

	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->victim = memory_map_file(memory_file(PAGE), PAGE);
	self->pid = 0;
}

FIXTURE_TEARDOWN(slow)
{
	if (self->pid > 0) {
		kill(self->pid, SIGKILL);
		waitpid(self->pid, NULL, 0);
	}
	fake_daemon_stop(self->daemon);
}

/* As fork(), but the descriptors stay common: the parent has all that the child opens. */
static pid_t fork_with_common_files(void)
{
	return (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
}

/* A program that has the device and memory whose page only this one can bring. */
static void start_victim(FIXTURE_DATA(slow) *self, bool passes_device)
{
	struct victim *victim = self->victim;

	self->pid = fork_with_common_files();
	if (self->pid)
		return;
	victim->page = memory_map(PAGE);
	victim->slow = slow_page_make(victim->page);
	if (!passes_device)
		unshare(CLONE_FILES);
	victim->fd = open(self->daemon->node, O_RDWR);
	victim->is_ready = 1;
	for (;;)
		pause();
}

/* The device waits for the page. */
static bool begin_wait(FIXTURE_DATA(slow) *self, bool passes_device)
{
	start_victim(self, passes_device);
	if (!fake_wait(&self->victim->is_ready, 1) || self->victim->slow < 0 || self->victim->fd < 0)
		return false;
	return !fake_daemon_fault(self->daemon, self->victim->page, true) &&
	       slow_page_is_wanted(self->victim->slow);
}

/* SIGKILL: seconds until it is gone; a minute at most. */
static double seconds_to_die(pid_t pid)
{
	double start = now_seconds(), end = start + 60;

	kill(pid, SIGKILL);
	while (!waitpid(pid, NULL, WNOHANG) && now_seconds() < end)
		sleep_ms(1);
	return now_seconds() - start;
}

/* Seconds until another process can have the device; 20 at most. */
static double seconds_until_free(const struct fake_daemon *daemon)
{
	double start = now_seconds(), end = start + 20;
	int fd;

	do {
		fd = open(daemon->node, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			sleep_ms(1);
	} while (fd < 0 && now_seconds() < end);
	if (fd >= 0)
		close(fd);
	return now_seconds() - start;
}

/* Is there memory behind the page's userfaultfd? It is not, when the process is gone for good. */
static bool memory_is_there(struct victim *victim)
{
	return !slow_page_give(victim->slow, victim->page, 1) || errno != ESRCH;
}

TEST_F_TIMEOUT(slow, a_program_can_be_killed_and_its_memory_goes, 60)
{
	ASSERT_TRUE(begin_wait(self, false));
	EXPECT_GT(at_most(SOON), seconds_to_die(self->pid));
	self->pid = 0;
	EXPECT_GT(at_most(SOON), seconds_until_free(self->daemon));
	sleep_ms(500 * time_scale());
	EXPECT_FALSE(memory_is_there(self->victim));
	close(self->victim->slow);
}

TEST_F_TIMEOUT(slow, a_program_can_be_killed_although_somebody_else_has_its_descriptor, 60)
{
	ASSERT_TRUE(begin_wait(self, true));
	EXPECT_GT(at_most(SOON), seconds_to_die(self->pid));
	self->pid = 0;
	EXPECT_GT(at_most(SOON), seconds_until_free(self->daemon));
	sleep_ms(500 * time_scale());
	EXPECT_FALSE(memory_is_there(self->victim));
	close(self->victim->fd);
	close(self->victim->slow);
}

TEST_F_TIMEOUT(slow, the_device_can_be_removed, 60)
{
	double start;

	ASSERT_TRUE(begin_wait(self, false));
	start = now_seconds();
	EXPECT_EQ(0, fake_daemon_unregister(self->daemon));
	EXPECT_GT(at_most(SOON), now_seconds() - start);
	EXPECT_EQ(0, slow_page_give(self->victim->slow, self->victim->page, 1));
	close(self->victim->slow);
}

TEST_F_TIMEOUT(slow, a_page_that_comes_late_resolves_the_fault, 60)
{
	ASSERT_TRUE(begin_wait(self, false));
	EXPECT_EQ(0, self->daemon->control->resolves);
	EXPECT_EQ(0, slow_page_give(self->victim->slow, self->victim->page, 7));
	EXPECT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	EXPECT_EQ(MAPLE_FAULT_PIPES | MAPLE_RESOLVE_PRESENT, self->daemon->control->last_resolve);
	close(self->victim->slow);
}

/* --- FUSE ------------------------------------------------------------------------ */

#define FUSE_FILE "/tmp/slow-file"

/*
 * A file system that is one file, in a process of its own. It answers everything but reads:
 * of these it takes the first and goes to sleep over it.
 */
static void fuse_answer(int fuse, const struct fuse_in_header *in, const void *body, size_t size)
{
	struct fuse_out_header out = {
		.len = (uint32_t)(sizeof(out) + size), .error = size ? 0 : -ENOSYS, .unique = in->unique,
	};
	char answer[512];

	memcpy(answer, &out, sizeof(out));
	if (size)
		memcpy(answer + sizeof(out), body, size);
	/* Some want none: that is an error here. */
	if (write(fuse, answer, out.len) < 0)
		errno = 0;
}

static void fuse_serve(int fuse, _Atomic unsigned int *is_read)
{
	static char request[1 << 17];
	const struct fuse_in_header *in = (const void *)request;

	while (read(fuse, request, sizeof(request)) > 0) {
		struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 4096 };
		struct fuse_attr_out attributes = { .attr = { .ino = 1, .size = 16 * PAGE, .mode = 0100644,
							      .nlink = 1, .blksize = 4096 } };
		struct fuse_open_out opened = { .fh = 1 };

		switch (in->opcode) {
		case FUSE_INIT:
			fuse_answer(fuse, in, &init, sizeof(init));
			break;
		case FUSE_GETATTR:
			fuse_answer(fuse, in, &attributes, sizeof(attributes));
			break;
		case FUSE_OPEN:
			fuse_answer(fuse, in, &opened, sizeof(opened));
			break;
		case FUSE_READ:
			*is_read = 1;
			break;
		default:
			fuse_answer(fuse, in, NULL, 0);
		}
	}
	_exit(0);
}

static pid_t fuse_start(_Atomic unsigned int *is_read)
{
	int file = open(FUSE_FILE, O_CREAT | O_RDWR | O_CLOEXEC, 0644);
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];
	pid_t server;

	close(file);
	snprintf(options, sizeof(options), "fd=%d,rootmode=100644,user_id=0,group_id=0,allow_other", fuse);
	if (fuse < 0 || mount("slow", FUSE_FILE, "fuse", MS_NODEV | MS_NOSUID, options))
		return -1;
	server = fork();
	if (!server)
		fuse_serve(fuse, is_read);
	close(fuse);
	return server;
}

TEST_F_TIMEOUT(slow, a_file_whose_server_does_not_answer_keeps_nobody, 60)
{
	_Atomic unsigned int *is_read = memory_map_file(memory_file(PAGE), PAGE);
	struct victim *victim = self->victim;
	pid_t server = fuse_start(is_read);

	if (server < 0)
		SKIP(return, "no FUSE here");
	self->pid = fork();
	if (!self->pid) {
		int file = open(FUSE_FILE, O_RDONLY);
		struct stat status;

		/* The kernel learns the file's size. */
		fstat(file, &status);
		victim->page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
		victim->fd = open(self->daemon->node, O_RDWR);
		victim->is_ready = 1;
		for (;;)
			pause();
	}
	ASSERT_TRUE(fake_wait(&victim->is_ready, 1));
	ASSERT_NE(MAP_FAILED, victim->page);
	EXPECT_EQ(0, fake_daemon_fault(self->daemon, victim->page, false));
	EXPECT_TRUE(fake_wait(is_read, 1));
	EXPECT_GT(at_most(SOON), seconds_to_die(self->pid));
	self->pid = 0;
	EXPECT_GT(at_most(SOON), seconds_until_free(self->daemon));
	EXPECT_EQ(0, fake_daemon_unregister(self->daemon));
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	umount2(FUSE_FILE, MNT_DETACH);
}

/* --- others ---------------------------------------------------------------------- */

FIXTURE(others) {
	void *page;
	int slow;
};

FIXTURE_SETUP(others)
{
	ASSERT_TRUE(real_daemon_share("uring", "dare:2"));
	self->page = memory_map(PAGE);
	self->slow = slow_page_make(self->page);
	ASSERT_LE(0, self->slow);
}

FIXTURE_TEARDOWN(others)
{
	close(self->slow);
}

/* Tasks that wait for a page of it, as the kernel counts them. */
static unsigned long waits_for(int slow)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", slow);
	return memory_named_number(path, "total:");
}

TEST_F(others, a_page_that_a_program_gave_up_is_waited_for_no_more)
{
	double end = now_seconds() + at_most(SOON);
	struct dare_node node;

	ASSERT_EQ(0, dare_node_open(&node, "/dev/dare0"));
	dare_shape(&node, 1, 8);
	dare_dispatch(&node, DARE_WORD_MLD_B(0), (uintptr_t)self->page, 0);
	ASSERT_TRUE(slow_page_is_wanted(self->slow));
	EXPECT_EQ(1, waits_for(self->slow));
	dare_node_close(&node);
	while (waits_for(self->slow) && now_seconds() < end)
		sleep_ms(1);
	EXPECT_EQ(0, waits_for(self->slow));
}

TEST_HARNESS_MAIN
