/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A device and the ways of processes: fork, exec, vfork, clone, namespaces, limits, passed descriptors. */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "mimic/maple_ioctl.h"
#include "tests/kselftest/lib/holder.h"

FIXTURE(process)
{
	struct holder holder;
	struct fake_control *control;
};

FIXTURE_SETUP(process)
{
	ASSERT_EQ(0, holder_start(&self->holder, NULL));
	self->control = self->holder.control;
}

FIXTURE_TEARDOWN(process)
{
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

	return page == MAP_FAILED ? errno : 0;
}

static int write_text(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);
	ssize_t done = file < 0 ? -1 : write(file, text, strlen(text));

	close(file);
	return done == (ssize_t)strlen(text) ? 0 : -1;
}

static bool still_works(struct holder *holder)
{
	*holder_register(holder, 2, 0x88) = 0x1234;
	return *holder_register(holder, 2, 0x88) == 0x1234 && !info_of(holder->fd);
}

/* --- fork ------------------------------------------------------------------------- */

static int child_loads(void *holder)
{
	return (int)*holder_register(holder, 0, 8);
}

static int child_stores(void *holder)
{
	*holder_register(holder, 0, 8) = 1;
	return 0;
}

TEST_F(process, a_childs_access_to_its_parents_pages_is_sigbus)
{
	EXPECT_EQ(128 + SIGBUS, in_child(child_loads, &self->holder));
	EXPECT_EQ(128 + SIGBUS, in_child(child_stores, &self->holder));
	EXPECT_EQ(0, self->control->loads + self->control->stores);
	EXPECT_TRUE(still_works(&self->holder));
}

static int child_opens(void *holder)
{
	return -holder_open(holder);
}

TEST_F(process, a_childs_open_is_ebusy)
{
	EXPECT_EQ(EBUSY, in_child(child_opens, &self->holder));
	EXPECT_EQ(1, self->control->opens);
}

static int child_asks(void *holder)
{
	return info_of(((struct holder *)holder)->fd);
}

TEST_F(process, a_childs_ioctl_is_enodev)
{
	EXPECT_EQ(ENODEV, in_child(child_asks, &self->holder));
}

static int child_closes(void *holder)
{
	holder_give_back(holder);
	return 3;
}

TEST_F(process, a_child_may_close_and_unmap_what_it_inherited)
{
	EXPECT_EQ(3, in_child(child_closes, &self->holder));
	EXPECT_EQ(0, self->control->closes);
	EXPECT_TRUE(still_works(&self->holder));
}

static _Atomic pid_t *left_behind;

static int opens_and_leaves_a_child(void *holder)
{
	pid_t child;

	if (holder_open(holder) || holder_map(holder))
		return 1;
	child = fork();
	if (child) {
		*left_behind = child;
		return child < 0;
	}
	for (;;)
		pause();
}

TEST_F(process, the_end_of_the_process_frees_the_device_although_a_child_has_the_descriptor)
{
	left_behind = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	holder_give_back(&self->holder);
	ASSERT_TRUE(fake_wait(&self->control->closes, 1));
	EXPECT_EQ(0, in_child(opens_and_leaves_a_child, &self->holder));
	EXPECT_TRUE(fake_wait(&self->control->closes, 2));
	EXPECT_EQ(0, holder_open(&self->holder));
	ASSERT_LT(0, *left_behind);
	EXPECT_EQ(0, kill(*left_behind, SIGKILL));
	EXPECT_EQ(128 + SIGKILL, exit_of(*left_behind));
}

static int opens_own(void *holder)
{
	if (holder_open(holder) || holder_map(holder))
		return 1;
	return still_works(holder) ? 0 : 2;
}

TEST_F(process, a_child_can_have_the_device_after_its_parent_gave_it_back)
{
	holder_give_back(&self->holder);
	EXPECT_EQ(0, in_child(opens_own, &self->holder));
	EXPECT_EQ(2, self->control->opens);
	EXPECT_NE(self->control->log[0].process, self->control->last_open.process);
}

/* --- exec ------------------------------------------------------------------------- */

/*
 * This program again, by exec: it makes the check that the environment names, before
 * the harness begins. It exits with the errno that it saw.
 */
static void __attribute__((constructor)) run_after_exec(void)
{
	const char *what = getenv("MIMIC_TEST_AFTER_EXEC");
	const char *fd = getenv("MIMIC_TEST_FD");
	const char *node = getenv("MIMIC_TEST_NODE");

	if (!what)
		return;
	if (!strcmp(what, "info"))
		_exit(info_of(atoi(fd)));
	if (!strcmp(what, "map"))
		_exit(map_of(atoi(fd)));
	if (!strcmp(what, "closed"))
		_exit(fcntl(atoi(fd), F_GETFD) < 0 ? errno : 0);
	if (!strcmp(what, "open"))
		_exit(open(node, O_RDWR) < 0 ? errno : 0);
	_exit(99);
}

struct execution {
	struct holder *holder;
	const char *what;
	bool keeps;	/* the descriptor */
};

static int opens_and_executes(void *argument)
{
	struct execution *execution = argument;
	char text[16];

	if (holder_open(execution->holder) || holder_map(execution->holder))
		return 101;
	if (execution->keeps)
		fcntl(execution->holder->fd, F_SETFD, 0);
	snprintf(text, sizeof(text), "%d", execution->holder->fd);
	setenv("MIMIC_TEST_AFTER_EXEC", execution->what, 1);
	setenv("MIMIC_TEST_FD", text, 1);
	setenv("MIMIC_TEST_NODE", execution->holder->daemon->node, 1);
	execl("/proc/self/exe", "exec", NULL);
	return 102;
}

static int after_exec(struct holder *holder, const char *what, bool keeps)
{
	struct execution execution = { holder, what, keeps };

	holder_give_back(holder);
	return in_child(opens_and_executes, &execution);
}

TEST_F(process, after_exec_a_descriptor_that_stays_is_dead)
{
	EXPECT_EQ(ENODEV, after_exec(&self->holder, "info", true));
	EXPECT_EQ(ENODEV, after_exec(&self->holder, "map", true));
}

TEST_F(process, exec_frees_the_device)
{
	EXPECT_EQ(0, after_exec(&self->holder, "open", true));
	EXPECT_TRUE(fake_wait(&self->control->closes, 3));
}

TEST_F(process, close_on_exec_closes)
{
	EXPECT_EQ(EBADF, after_exec(&self->holder, "closed", false));
}

TEST_F(process, posix_spawn_leaves_the_device_alone)
{
	char *arguments[] = { "exec", NULL };
	char *environment[] = { "MIMIC_TEST_AFTER_EXEC=closed", "MIMIC_TEST_FD=1000", NULL };
	pid_t child;

	ASSERT_EQ(0, posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environment));
	EXPECT_EQ(EBADF, exit_of(child));
	EXPECT_EQ(0, self->control->closes);
	EXPECT_TRUE(still_works(&self->holder));
}

/* --- shared memory: vfork and clone -------------------------------------------------- */

/* They run in their parent's memory, stack included. */
static int shares_memory(void *argument)
{
	struct holder *holder = argument;

	*holder_register(holder, 1, 0x10) = 0x4711;
	return *holder_register(holder, 1, 0x10) == 0x4711 && !info_of(holder->fd) ? 5 : 6;
}

static int clone_child(int flags, struct holder *holder)
{
	static char stack[65536] __attribute__((aligned(16)));

	return exit_of(clone(shares_memory, stack + sizeof(stack), flags | SIGCHLD, holder));
}

TEST_F(process, a_process_that_shares_the_memory_shares_the_device)
{
	EXPECT_EQ(5, clone_child(CLONE_VM, &self->holder));
	EXPECT_TRUE(fake_wait(&self->control->threads_gone, 1));
	EXPECT_EQ(0, self->control->closes);
	EXPECT_TRUE(still_works(&self->holder));
}

TEST_F(process, a_child_of_vfork_shares_the_device)
{
	EXPECT_EQ(5, clone_child(CLONE_VM | CLONE_VFORK, &self->holder));
	EXPECT_TRUE(still_works(&self->holder));
	EXPECT_EQ(0, self->control->closes);
}

static int opens_again(void *argument)
{
	struct holder *holder = argument;
	int fd = open(holder->daemon->node, O_RDWR);

	if (fd < 0)
		return errno;
	close(fd);
	return 5;
}

TEST_F(process, a_process_that_shares_the_memory_opens_the_same_instance)
{
	static char stack[65536] __attribute__((aligned(16)));

	EXPECT_EQ(5, exit_of(clone(opens_again, stack + sizeof(stack), CLONE_VM | CLONE_FILES | SIGCHLD,
				   &self->holder)));
	EXPECT_EQ(1, self->control->opens);
	EXPECT_EQ(0, self->control->closes);
}

/* --- namespaces, filters, limits ------------------------------------------------------ */

static int opens_in_new_pid_namespace(void *holder)
{
	pid_t child;

	if (unshare(CLONE_NEWPID))
		return 100;
	child = child_start(opens_own, holder);
	/* The daemon should see the child's number of this namespace, where it is not 1. */
	return exit_of(child) ? 1 : 0;
}

TEST_F(process, the_daemon_sees_pids_of_its_own_namespace)
{
	holder_give_back(&self->holder);
	ASSERT_EQ(0, in_child(opens_in_new_pid_namespace, &self->holder));
	EXPECT_EQ(2, self->control->opens);
	EXPECT_LT(1, self->control->last_open.pid);
	EXPECT_NE(getpid(), self->control->last_open.pid);
}

static int accesses_under_strict_seccomp(void *argument)
{
	struct holder *holder = argument;
	uint64_t value;

	if (holder_open(holder) || holder_map(holder))
		return 1;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return 2;
	/* No system call but exit from here on; the access is none. */
	*holder_register(holder, 2, 8) = 0x77;
	value = *holder_register(holder, 2, 8);
	syscall(60 /* exit */, value == 0x77 ? 0 : 3);
	return 4;
}

TEST_F(process, seccomp_does_not_stop_accesses)
{
	holder_give_back(&self->holder);
	EXPECT_EQ(0, in_child(accesses_under_strict_seccomp, &self->holder));
}

static int ioctl_under_filter(void *argument)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 16 /* ioctl */, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, filter };
	struct holder *holder = argument;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 1;
	if (holder_open(holder) || holder_map(holder))
		return 2;
	if (info_of(holder->fd) != EPERM)
		return 3;
	*holder_register(holder, 2, 8) = 0x78;
	return *holder_register(holder, 2, 8) == 0x78 ? 0 : 4;
}

TEST_F(process, a_filter_may_forbid_the_ioctls_and_leave_the_pages)
{
	holder_give_back(&self->holder);
	EXPECT_EQ(0, in_child(ioctl_under_filter, &self->holder));
}

static int opens_without_memlock(void *holder)
{
	struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_MEMLOCK, &none) || setuid(65534))
		return 100;
	return opens_own(holder);
}

TEST_F(process, no_memory_has_to_be_locked)
{
	holder_give_back(&self->holder);
	EXPECT_EQ(0, in_child(opens_without_memlock, &self->holder));
}

static int opens_with_little_memory(void *holder)
{
	int i;

	if (write_text("/tmp/mimic-cgroup/small/cgroup.procs", "0"))
		return 100;
	for (i = 0; i < 200; i++) {
		if (opens_own(holder))
			return 1;
		holder_give_back(holder);
	}
	return 0;
}

TEST_F(process, a_small_memory_cgroup_is_enough)
{
	mkdir("/tmp/mimic-cgroup", 0700);
	if (mount("none", "/tmp/mimic-cgroup", "cgroup2", 0, NULL))
		SKIP(return, "no cgroup2");
	write_text("/tmp/mimic-cgroup/cgroup.subtree_control", "+memory");
	mkdir("/tmp/mimic-cgroup/small", 0700);
	if (write_text("/tmp/mimic-cgroup/small/memory.max", "2M")) {
		umount("/tmp/mimic-cgroup");
		SKIP(return, "no memory controller");
	}
	holder_give_back(&self->holder);
	EXPECT_EQ(0, in_child(opens_with_little_memory, &self->holder));
	rmdir("/tmp/mimic-cgroup/small");
	umount("/tmp/mimic-cgroup");
}

/* --- descriptors that travel ------------------------------------------------------------ */

static int send_descriptor(int socket, int fd)
{
	char space[CMSG_SPACE(sizeof(fd))] = { 0 }, byte = 0;
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space),
	};
	struct cmsghdr *control = CMSG_FIRSTHDR(&message);

	control->cmsg_level = SOL_SOCKET;
	control->cmsg_type = SCM_RIGHTS;
	control->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(control), &fd, sizeof(fd));
	return sendmsg(socket, &message, 0) == 1 ? 0 : -1;
}

static int receive_descriptor(int socket)
{
	char space[CMSG_SPACE(sizeof(int))], byte;
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space),
	};
	int fd = -1;

	if (recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static int ends[2];

static int uses_received_descriptor(void *unused)
{
	int fd = receive_descriptor(ends[1]);

	(void)unused;
	if (fd < 0)
		return 1;
	if (info_of(fd) != ENODEV || map_of(fd) != ENODEV)
		return 2;
	close(fd);
	return 0;
}

TEST_F(process, a_descriptor_sent_to_another_process_is_dead_there)
{
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	child = child_start(uses_received_descriptor, NULL);
	ASSERT_EQ(0, send_descriptor(ends[0], self->holder.fd));
	EXPECT_EQ(0, exit_of(child));
	EXPECT_TRUE(still_works(&self->holder));
}

TEST_F(process, a_descriptor_in_flight_holds_the_device)
{
	int fd;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	ASSERT_EQ(0, send_descriptor(ends[0], self->holder.fd));
	holder_give_back(&self->holder);
	sleep_ms(20);
	EXPECT_EQ(0, self->control->closes);
	fd = receive_descriptor(ends[1]);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, info_of(fd));
	close(fd);
	EXPECT_TRUE(fake_wait(&self->control->closes, 1));
}

TEST_F(process, a_duplicate_holds_the_device_until_it_is_closed)
{
	int copy = dup(self->holder.fd);

	holder_give_back(&self->holder);
	sleep_ms(20);
	EXPECT_EQ(0, self->control->closes);
	EXPECT_EQ(0, info_of(copy));
	EXPECT_EQ(0, map_of(copy));
	close(copy);
	/* That mapping is still there. */
	sleep_ms(20);
	EXPECT_EQ(0, self->control->closes);
}

TEST_HARNESS_MAIN
