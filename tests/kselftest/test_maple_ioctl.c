/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The calls of /dev/mapleN: ioctls, poll, signals, and those that move no data. */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "mimic/maple_ioctl.h"
#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/memory.h"

FIXTURE(maple)
{
	struct holder holder;
	struct fake_daemon *daemon;
	int fd;
	volatile uint64_t *memory;	/* a page of the program's own */
};

FIXTURE_SETUP(maple)
{
	struct fake_options options = { .channel = FAKE_SLOTS, .is_paper = true };

	ASSERT_EQ(0, holder_start(&self->holder, &options));
	self->daemon = self->holder.daemon;
	self->fd = self->holder.fd;
	self->memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

FIXTURE_TEARDOWN(maple)
{
	holder_stop(&self->holder);
}

static int call(int fd, unsigned long command, void *argument)
{
	return ioctl(fd, command, argument) ? errno : 0;
}

#define LONGER(type) struct { struct type known; uint64_t more[2]; }

static const volatile void *nobodys_address(void)
{
	return (const volatile void *)0x10000ul;
}

static int set_eventfd(int fd, int event)
{
	struct maple_eventfd wanted = { .size = sizeof(wanted), .fd = event };

	return call(fd, MAPLE_IOCTL_EVENTFD, &wanted);
}

/* --- INFO --------------------------------------------------------------------- */

TEST_F(maple, info_tells_what_the_device_is)
{
	struct maple_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, call(self->fd, MAPLE_IOCTL_INFO, &info));
	EXPECT_EQ(sizeof(info), info.size);
	EXPECT_EQ(MAPLE_ABI_VERSION, info.version);
	EXPECT_EQ((uint32_t)self->daemon->control->index, info.index);
	EXPECT_EQ(5, info.pages);
	EXPECT_EQ(MAPLE_IDENTIFY_MAGIC, info.identify >> 32);
	EXPECT_EQ(0, info.faults);
	EXPECT_EQ(0, info.unresolved);
}

TEST_F(maple, info_counts_faults_that_were_served)
{
	struct maple_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, fake_daemon_fault(self->daemon, self->memory, true));
	ASSERT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	ASSERT_EQ(0, call(self->fd, MAPLE_IOCTL_INFO, &info));
	EXPECT_EQ(1, info.faults);
	EXPECT_EQ(0, info.unresolved);
	EXPECT_EQ(MAPLE_FAULT_PIPES | MAPLE_RESOLVE_PRESENT, self->daemon->control->last_resolve);
}

TEST_F(maple, info_counts_faults_of_nobodys_addresses)
{
	struct maple_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, fake_daemon_fault(self->daemon, nobodys_address(), false));
	ASSERT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	ASSERT_EQ(0, call(self->fd, MAPLE_IOCTL_INFO, &info));
	EXPECT_EQ(0, info.faults);
	EXPECT_EQ(1, info.unresolved);
	EXPECT_EQ(MAPLE_FAULT_PIPES, self->daemon->control->last_resolve);
}

TEST_F(maple, info_counts_shootdowns)
{
	struct maple_info before = { .size = sizeof(before) }, after = before;

	self->memory[0] = 1;
	ASSERT_EQ(0, call(self->fd, MAPLE_IOCTL_INFO, &before));
	ASSERT_EQ(0, madvise((void *)self->memory, PAGE, MADV_DONTNEED));
	ASSERT_EQ(0, call(self->fd, MAPLE_IOCTL_INFO, &after));
	EXPECT_LT(before.shootdowns, after.shootdowns);
}

TEST_F(maple, counts_begin_anew_for_the_next_process)
{
	struct maple_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, fake_daemon_fault(self->daemon, nobodys_address(), false));
	ASSERT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	holder_give_back(&self->holder);
	ASSERT_EQ(0, holder_open(&self->holder));
	ASSERT_EQ(0, call(self->holder.fd, MAPLE_IOCTL_INFO, &info));
	EXPECT_EQ(0, info.unresolved);
}

/* --- the structures -------------------------------------------------------------- */

TEST_F(maple, a_smaller_structure_is_einval)
{
	uint32_t buffer[32] = { sizeof(struct maple_eventfd) - 1 };

	EXPECT_EQ(EINVAL, call(self->fd, MAPLE_IOCTL_EVENTFD, buffer));
	EXPECT_EQ(EINVAL, call(self->fd, MAPLE_IOCTL_INFO, buffer));
	EXPECT_EQ(EINVAL, call(self->fd, MAPLE_IOCTL_CONNECT, buffer));
	buffer[0] = 0;
	EXPECT_EQ(EINVAL, call(self->fd, MAPLE_IOCTL_INFO, buffer));
}

TEST_F(maple, a_longer_structure_with_zeros_behind_is_taken)
{
	LONGER(maple_info) info = { .known.size = sizeof(info) };
	LONGER(maple_eventfd) event = { .known = { .size = sizeof(event), .fd = -1 } };

	EXPECT_EQ(0, call(self->fd, MAPLE_IOCTL_INFO, &info));
	EXPECT_EQ(5, info.known.pages);
	EXPECT_EQ(0, call(self->fd, MAPLE_IOCTL_EVENTFD, &event));
}

TEST_F(maple, a_longer_structure_with_a_value_behind_is_e2big)
{
	LONGER(maple_info) info = { .known.size = sizeof(info), .more = { 0, 1 } };
	LONGER(maple_eventfd) event = { .known = { .size = sizeof(event), .fd = -1 }, .more = { 1 } };
	LONGER(maple_connect) session = { .known.size = sizeof(session), .more = { 1 } };
	uint32_t huge[2048] = { 8192 };

	EXPECT_EQ(E2BIG, call(self->fd, MAPLE_IOCTL_INFO, &info));
	EXPECT_EQ(E2BIG, call(self->fd, MAPLE_IOCTL_EVENTFD, &event));
	EXPECT_EQ(E2BIG, call(self->fd, MAPLE_IOCTL_CONNECT, &session));
	EXPECT_EQ(E2BIG, call(self->fd, MAPLE_IOCTL_INFO, huge));
	EXPECT_EQ(0, self->daemon->control->connects);
}

TEST_F(maple, reserved_fields_are_einval)
{
	struct maple_info info = { .size = sizeof(info), .reserved = { 0, 1 } };
	struct maple_eventfd event = { .size = sizeof(event), .fd = -1, .reserved = { 0, 1 } };
	struct maple_connect session = { .size = sizeof(session), .reserved = { 1, 0 } };

	EXPECT_EQ(EINVAL, call(self->fd, MAPLE_IOCTL_INFO, &info));
	EXPECT_EQ(EINVAL, call(self->fd, MAPLE_IOCTL_EVENTFD, &event));
	EXPECT_EQ(EINVAL, call(self->fd, MAPLE_IOCTL_CONNECT, &session));
}

TEST_F(maple, a_bad_pointer_is_efault)
{
	struct maple_connect *readonly = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT_EQ(EFAULT, call(self->fd, MAPLE_IOCTL_INFO, NULL));
	EXPECT_EQ(EFAULT, call(self->fd, MAPLE_IOCTL_EVENTFD, (void *)PAGE));
	EXPECT_EQ(EFAULT, call(self->fd, MAPLE_IOCTL_CONNECT, (void *)0xffff800000000000ul));
	readonly->size = sizeof(*readonly);
	mprotect(readonly, PAGE, PROT_READ);
	EXPECT_EQ(EFAULT, call(self->fd, MAPLE_IOCTL_CONNECT, readonly));
	/* The daemon was not even asked. */
	EXPECT_EQ(0, self->daemon->control->connects);
}

TEST_F(maple, an_argument_on_a_device_page_is_efault)
{
	EXPECT_EQ(EFAULT, call(self->fd, MAPLE_IOCTL_INFO, (void *)self->holder.pages));
	EXPECT_EQ(0, self->daemon->control->loads);
}

TEST_F(maple, an_unknown_command_is_enotty)
{
	EXPECT_EQ(ENOTTY, call(self->fd, _IO(MAPLE_IOCTL, 99), NULL));
	EXPECT_EQ(ENOTTY, call(self->fd, _IO('T', 1), NULL));
}

/* --- CONNECT --------------------------------------------------------------------- */

TEST_F(maple, connect_hands_the_daemons_socket_over)
{
	struct maple_connect session = { .size = sizeof(session) };
	char text[8] = "";

	ASSERT_EQ(0, call(self->fd, MAPLE_IOCTL_CONNECT, &session));
	EXPECT_EQ(5, read(session.fd, text, sizeof(text)));
	EXPECT_STREQ("mimic", text);
	EXPECT_EQ(FD_CLOEXEC, fcntl(session.fd, F_GETFD));
	/* The daemon has closed both ends: this is the only one. */
	EXPECT_EQ(0, read(session.fd, text, sizeof(text)));
	EXPECT_EQ(1, self->daemon->control->connects);
	EXPECT_EQ(self->daemon->control->last_open.binding,
		  fake_daemon_last(self->daemon, MIMIC_BUS_REQUEST_CONNECT)->binding);
	close(session.fd);
}

TEST_F(maple, connect_gives_what_the_daemon_says)
{
	struct maple_connect session = { .size = sizeof(session) };

	self->daemon->control->connect_status = -ENOSPC;
	EXPECT_EQ(ENOSPC, call(self->fd, MAPLE_IOCTL_CONNECT, &session));
	EXPECT_EQ(-1, session.fd);
	/* A status that is no error number for programs becomes EIO. */
	self->daemon->control->connect_status = 1;
	EXPECT_EQ(EIO, call(self->fd, MAPLE_IOCTL_CONNECT, &session));
	self->daemon->control->connect_status = -513;
	EXPECT_EQ(EIO, call(self->fd, MAPLE_IOCTL_CONNECT, &session));
	self->daemon->control->connect_status = 0;
	self->daemon->control->connects_without_file = true;
	EXPECT_EQ(EIO, call(self->fd, MAPLE_IOCTL_CONNECT, &session));
}

TEST_F(maple, connect_without_a_free_descriptor_is_emfile)
{
	struct maple_connect session = { .size = sizeof(session) };
	struct rlimit limit, old;

	getrlimit(RLIMIT_NOFILE, &old);
	limit = old;
	limit.rlim_cur = (rlim_t)dup(0);
	close((int)limit.rlim_cur);
	setrlimit(RLIMIT_NOFILE, &limit);
	EXPECT_EQ(EMFILE, call(self->fd, MAPLE_IOCTL_CONNECT, &session));
	setrlimit(RLIMIT_NOFILE, &old);
	EXPECT_EQ(0, call(self->fd, MAPLE_IOCTL_CONNECT, &session));
	close(session.fd);
}

/* Of all processes; the kernel counts by processor, so a few more or less. */
static long open_files(void)
{
	return (long)memory_number("/proc/sys/fs/file-nr");
}

#define CONNECTS 200
#define FEW 100

TEST_F(maple, a_connect_that_fails_leaves_no_file_behind)
{
	struct maple_connect session = { .size = sizeof(session) };
	long before = open_files();
	int i;

	self->daemon->control->connect_status = -ENOSPC;
	self->daemon->control->fails_with_file = true;
	for (i = 0; i < CONNECTS; i++)
		EXPECT_EQ(ENOSPC, call(self->fd, MAPLE_IOCTL_CONNECT, &session));
	EXPECT_GT(before + FEW, open_files());
}

/* --- EVENTFD, poll, SIGIO ---------------------------------------------------------- */

TEST_F(maple, eventfd_takes_eventfds_only)
{
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	EXPECT_EQ(EBADF, set_eventfd(self->fd, 999));
	EXPECT_EQ(EINVAL, set_eventfd(self->fd, pipes[0]));
	EXPECT_EQ(EINVAL, set_eventfd(self->fd, -2));
	EXPECT_EQ(0, set_eventfd(self->fd, -1));
	close(pipes[0]);
	close(pipes[1]);
}

TEST_F(maple, an_eventfd_counts_faults_of_nobodys_addresses)
{
	int event = eventfd(0, EFD_NONBLOCK);
	uint64_t count = 0;

	ASSERT_EQ(0, set_eventfd(self->fd, event));
	ASSERT_EQ(0, fake_daemon_fault(self->daemon, nobodys_address(), false));
	ASSERT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	EXPECT_EQ(sizeof(count), read(event, &count, sizeof(count)));
	EXPECT_EQ(1, count);
	/* A fault that is served does not count. */
	ASSERT_EQ(0, fake_daemon_fault(self->daemon, self->memory, true));
	ASSERT_TRUE(fake_wait(&self->daemon->control->resolves, 2));
	EXPECT_EQ(-1, read(event, &count, sizeof(count)));
	close(event);
}

TEST_F(maple, an_eventfd_that_was_taken_away_counts_no_more)
{
	int first = eventfd(0, EFD_NONBLOCK), second = eventfd(0, EFD_NONBLOCK);
	uint64_t count = 0;

	ASSERT_EQ(0, set_eventfd(self->fd, first));
	ASSERT_EQ(0, set_eventfd(self->fd, second));
	ASSERT_EQ(0, fake_daemon_fault(self->daemon, nobodys_address(), false));
	ASSERT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	EXPECT_EQ(-1, read(first, &count, sizeof(count)));
	EXPECT_EQ(sizeof(count), read(second, &count, sizeof(count)));
	ASSERT_EQ(0, set_eventfd(self->fd, -1));
	ASSERT_EQ(0, fake_daemon_fault(self->daemon, nobodys_address(), false));
	ASSERT_TRUE(fake_wait(&self->daemon->control->resolves, 2));
	EXPECT_EQ(-1, read(second, &count, sizeof(count)));
	close(first);
	close(second);
}

TEST_F(maple, poll_says_pollpri_until_info)
{
	struct pollfd waits = { .fd = self->fd, .events = POLLPRI | POLLIN };
	struct maple_info info = { .size = sizeof(info) };

	EXPECT_EQ(0, poll(&waits, 1, 0));
	ASSERT_EQ(0, fake_daemon_fault(self->daemon, nobodys_address(), false));
	EXPECT_EQ(1, poll(&waits, 1, 5000));
	EXPECT_EQ(POLLPRI, waits.revents);
	ASSERT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	ASSERT_EQ(0, call(self->fd, MAPLE_IOCTL_INFO, &info));
	EXPECT_EQ(0, poll(&waits, 1, 0));
}

TEST_F(maple, poll_of_a_device_that_goes_says_pollhup)
{
	struct pollfd waits = { .fd = self->fd, .events = POLLPRI };

	fake_daemon_kill(self->daemon);
	EXPECT_EQ(1, poll(&waits, 1, 5000));
	EXPECT_EQ(POLLERR | POLLHUP, waits.revents);
}

static _Atomic unsigned int io_signals;

static void count_signal(int number)
{
	(void)number;
	io_signals++;
}

TEST_F(maple, sigio_comes_where_it_was_asked_for)
{
	signal(SIGIO, count_signal);
	ASSERT_EQ(0, fake_daemon_fault(self->daemon, nobodys_address(), false));
	ASSERT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	EXPECT_EQ(0, io_signals);
	ASSERT_EQ(0, fcntl(self->fd, F_SETOWN, getpid()));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, fcntl(self->fd, F_GETFL) | O_ASYNC));
	ASSERT_EQ(0, fake_daemon_fault(self->daemon, nobodys_address(), false));
	EXPECT_TRUE(fake_wait(&io_signals, 1));
	ASSERT_TRUE(fake_wait(&self->daemon->control->resolves, 2));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, fcntl(self->fd, F_GETFL) & ~O_ASYNC));
	io_signals = 0;
	ASSERT_EQ(0, fake_daemon_fault(self->daemon, nobodys_address(), false));
	ASSERT_TRUE(fake_wait(&self->daemon->control->resolves, 3));
	EXPECT_EQ(0, io_signals);
}

/* --- no data --------------------------------------------------------------------- */

TEST_F(maple, read_finds_the_end_and_write_is_eperm)
{
	char byte = 0;

	EXPECT_EQ(0, read(self->fd, &byte, 1));
	EXPECT_EQ(-1, write(self->fd, &byte, 1));
	EXPECT_EQ(EPERM, errno);
	EXPECT_NE((off_t)-1, lseek(self->fd, 4096, SEEK_SET));
}

TEST_F(maple, the_node_is_a_character_device_for_everybody)
{
	struct stat info;

	ASSERT_EQ(0, stat(self->daemon->node, &info));
	EXPECT_TRUE(S_ISCHR(info.st_mode));
	EXPECT_EQ(0666, info.st_mode & 07777);
	ASSERT_EQ(0, stat("/dev/maple", &info));
	EXPECT_TRUE(S_ISCHR(info.st_mode));
	EXPECT_EQ(0666, info.st_mode & 07777);
}

static int uses_device_as_nobody(void *argument)
{
	struct holder *holder = argument;

	if (setgid(65534) || setuid(65534) || holder_open(holder) || holder_map(holder))
		return 1;
	*holder_register(holder, 0, 8) = 99;
	return *holder_register(holder, 0, 8) == 99 ? 0 : 2;
}

TEST_F(maple, anybody_may_use_it_and_the_daemon_learns_the_user)
{
	holder_give_back(&self->holder);
	EXPECT_EQ(0, in_child(uses_device_as_nobody, &self->holder));
	EXPECT_EQ(65534, self->daemon->control->last_open.uid);
}

TEST_F(maple, open_tells_the_daemon_process_and_name)
{
	EXPECT_EQ(getpid(), self->daemon->control->last_open.pid);
	EXPECT_EQ(0, self->daemon->control->last_open.uid);
	EXPECT_EQ(0, strncmp("test_maple_ioct", self->daemon->control->last_open.program, 15));
	EXPECT_NE(0, self->daemon->control->last_open.process);
	EXPECT_NE(0, self->daemon->control->last_open.binding);
}

TEST_F(maple, open_answers_what_the_daemon_says)
{
	holder_give_back(&self->holder);
	self->daemon->control->open_status = -ENOSPC;
	EXPECT_EQ(-ENOSPC, holder_open(&self->holder));
	self->daemon->control->open_status = 0;
	EXPECT_EQ(0, holder_open(&self->holder));
}

TEST_F(maple, open_with_create_exclusive_or_directory_is_refused)
{
	EXPECT_EQ(-1, open(self->daemon->node, O_RDWR | O_CREAT | O_EXCL, 0600));
	EXPECT_EQ(EEXIST, errno);
	EXPECT_EQ(-1, open(self->daemon->node, O_RDONLY | O_DIRECTORY));
	EXPECT_EQ(ENOTDIR, errno);
}

TEST_HARNESS_MAIN
