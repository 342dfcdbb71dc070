/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Windows that are refused; and no other process reaches one that is there. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "mimic/bus.h"
#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/window.h"

#define ADDRESS 0x10000ull
#define BOTH (PROT_READ | PROT_WRITE)

FIXTURE(refusal) {
	struct fake_daemon *daemon;
	int fd;
	uint64_t window;	/* offset of the binding's */
	uint64_t value;
};

FIXTURE_SETUP(refusal)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE };

	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->window = MIMIC_BUS_WINDOW(window_binding(self->daemon));
}

FIXTURE_TEARDOWN(refusal)
{
	if (self->fd >= 0)
		close(self->fd);
	fake_daemon_stop(self->daemon);
}

#define TRY(offset, size, prot, flags) window_try_map(self->daemon, offset, size, prot, flags)

TEST_F(refusal, a_shared_window_is_mapped)
{
	EXPECT_EQ(0, TRY(self->window + ADDRESS, PAGE, BOTH, MAP_SHARED));
	EXPECT_EQ(0, TRY(self->window + ADDRESS, PAGE, PROT_READ, MAP_SHARED));
	EXPECT_EQ(0, TRY(self->window + ADDRESS, 1ul << 40, BOTH, MAP_SHARED));
}

TEST_F(refusal, a_private_one_is_not)
{
	EXPECT_EQ(-EINVAL, TRY(self->window + ADDRESS, PAGE, BOTH, MAP_PRIVATE));
	EXPECT_EQ(-EINVAL, TRY(self->window + ADDRESS, PAGE, PROT_READ, MAP_PRIVATE));
}

TEST_F(refusal, an_executable_one_is_not)
{
	EXPECT_EQ(-EINVAL, TRY(self->window + ADDRESS, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED));
}

static long make_executable(struct fake_self *self, void *argument)
{
	void *window = fake_self_window(self, (uint32_t)self->control->open_binding, ADDRESS, PAGE);

	(void)argument;
	if (window == MAP_FAILED)
		return -errno;
	return mprotect(window, PAGE, PROT_READ | PROT_EXEC) ? -errno : 0;
}

TEST_F(refusal, a_window_cannot_become_executable)
{
	EXPECT_EQ(-EACCES, fake_daemon_call(self->daemon, make_executable, NULL, 0));
}

TEST_F(refusal, one_that_reaches_into_the_next_binding_is_not)
{
	uint64_t end = self->window + (1ull << MIMIC_BUS_WINDOW_SHIFT);

	EXPECT_EQ(0, TRY(end - PAGE, PAGE, BOTH, MAP_SHARED));
	EXPECT_EQ(0, TRY(end - 16 * PAGE, 16 * PAGE, BOTH, MAP_SHARED));
	EXPECT_EQ(-EINVAL, TRY(end - PAGE, 2 * PAGE, BOTH, MAP_SHARED));
	EXPECT_EQ(-EINVAL, TRY(end - 16 * PAGE, 17 * PAGE, BOTH, MAP_SHARED));
}

TEST_F(refusal, a_binding_that_is_not_there_is_not)
{
	uint64_t next = self->window + (1ull << MIMIC_BUS_WINDOW_SHIFT);

	EXPECT_EQ(-ENOENT, TRY(next + ADDRESS, PAGE, BOTH, MAP_SHARED));
	EXPECT_EQ(-ENOENT, TRY(MIMIC_BUS_WINDOW(MIMIC_BUS_BINDINGS_MAX) + ADDRESS, PAGE, BOTH, MAP_SHARED));
	EXPECT_EQ(-ENOENT, TRY(MIMIC_BUS_WINDOW(0x10000) + ADDRESS, PAGE, BOTH, MAP_SHARED));
	/* There is no binding 0, and only its first pages are the slots. */
	EXPECT_EQ(-ENOENT, TRY(ADDRESS, PAGE, BOTH, MAP_SHARED));
}

TEST_F(refusal, another_daemons_binding_is_not)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE };
	struct fake_daemon *other = fake_daemon_start(&options);

	ASSERT_NE(NULL, other);
	EXPECT_EQ(-ENOENT, window_try_map(other, self->window + ADDRESS, PAGE, BOTH, MAP_SHARED));
	fake_daemon_stop(other);
}

TEST_F(refusal, a_device_without_access_to_memory_has_none)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE, .capabilities = MIMIC_BUS_TRAPS };
	struct fake_daemon *other = fake_daemon_start(&options);
	int fd;

	ASSERT_NE(NULL, other);
	fd = open(other->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EPERM, window_try_map(other, MIMIC_BUS_WINDOW(window_binding(other)) + ADDRESS, PAGE,
					 BOTH, MAP_SHARED));
	close(fd);
	fake_daemon_stop(other);
}

/* A child of the daemon has the descriptor, but is not the daemon. */
static long map_in_child(struct fake_self *self, void *argument)
{
	pid_t child = fork();
	int status;

	(void)argument;
	if (!child) {
		void *window = fake_self_window(self, (uint32_t)self->control->open_binding, ADDRESS,
						PAGE);

		_exit(window == MAP_FAILED ? errno : 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -ECHILD;
	return -WEXITSTATUS(status);
}

TEST_F(refusal, a_process_that_has_the_daemons_descriptor_maps_nothing)
{
	EXPECT_EQ(-EPERM, fake_daemon_call(self->daemon, map_in_child, NULL, 0));
}

/* The signal that ends a child of the daemon which touches the daemon's window. */
static long touch_in_child(struct fake_self *self, void *argument)
{
	volatile char *window = fake_self_window(self, (uint32_t)self->control->open_binding,
						 *(uint64_t *)argument, PAGE);
	pid_t child;
	int status;

	if (window == MAP_FAILED)
		return -errno;
	if (window[0] != 1)
		return -EIO;
	child = fork();
	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		_exit(window[0]);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -ECHILD;
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

TEST_F(refusal, a_child_of_the_daemon_does_not_inherit_a_window)
{
	volatile char *page = memory_map(PAGE);
	uint64_t address = (uintptr_t)page;

	page[0] = 1;
	EXPECT_EQ(SIGSEGV, fake_daemon_call(self->daemon, touch_in_child, &address, sizeof(address)));
}

static long grow(struct fake_self *self, void *argument)
{
	void *window = fake_self_window(self, (uint32_t)self->control->open_binding, ADDRESS, PAGE);

	(void)argument;
	if (window == MAP_FAILED)
		return -errno;
	return mremap(window, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED ? -errno : 0;
}

TEST_F(refusal, a_window_does_not_grow)
{
	EXPECT_EQ(-EFAULT, fake_daemon_call(self->daemon, grow, NULL, 0));
}

struct moved {
	uint64_t address;
	char *window;
	uint64_t value;
};

static long map_and_move(struct fake_self *self, void *argument)
{
	struct moved *moved = argument;
	char *window = fake_self_window(self, (uint32_t)self->control->open_binding, moved->address,
					PAGE);
	void *place = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (window == MAP_FAILED || place == MAP_FAILED)
		return -errno;
	window_catch_bus_errors();
	if (window_load(window, &moved->value))
		return -EFAULT;
	moved->window = mremap(window, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	return moved->window == MAP_FAILED ? -errno : window_load(moved->window, &moved->value);
}

static long look_again(struct fake_self *self, void *argument)
{
	struct moved *moved = argument;

	(void)self;
	return window_load(moved->window, &moved->value);
}

TEST_F(refusal, a_window_that_was_moved_is_not_stale)
{
	volatile uint64_t *page = memory_map(PAGE);
	struct moved moved = { .address = (uintptr_t)page };

	page[0] = 5;
	EXPECT_EQ(0, fake_daemon_call(self->daemon, map_and_move, &moved, sizeof(moved)));
	EXPECT_EQ(5, moved.value);
	ASSERT_EQ(0, madvise((void *)page, PAGE, MADV_DONTNEED));
	EXPECT_EQ(WINDOW_ABSENT, fake_daemon_call(self->daemon, look_again, &moved, sizeof(moved)));
	page[0] = 6;
	EXPECT_EQ(0, fake_daemon_call(self->daemon, look_again, &moved, sizeof(moved)));
	EXPECT_EQ(6, moved.value);
}

/* A mapping for reading that the daemon makes writable. */
static long write_after_mprotect(struct fake_self *self, void *argument)
{
	char *window = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd,
			    (off_t)(MIMIC_BUS_WINDOW((uint32_t)self->control->open_binding) +
				    *(uint64_t *)argument));
	uint64_t value;

	if (window == MAP_FAILED)
		return -errno;
	window_catch_bus_errors();
	if (window_load(window, &value) || mprotect(window, PAGE, BOTH))
		return -EIO;
	return window_store(window, 99);
}

TEST_F(refusal, mprotect_of_a_window_gives_no_more_than_the_program_has)
{
	volatile uint64_t *page = memory_map(2 * PAGE);
	uint64_t address = (uintptr_t)page;

	page[0] = 1;
	page[512] = 1;
	ASSERT_EQ(0, mprotect((void *)page, PAGE, PROT_READ));
	EXPECT_EQ(WINDOW_ABSENT, fake_daemon_call(self->daemon, write_after_mprotect, &address,
						  sizeof(address)));
	EXPECT_EQ(1, page[0]);
	address += PAGE;
	EXPECT_EQ(0, fake_daemon_call(self->daemon, write_after_mprotect, &address, sizeof(address)));
	EXPECT_EQ(99, page[512]);
}

TEST_F(refusal, a_process_with_a_device_cannot_be_a_daemon)
{
	int fd = open(MIMIC_BUS_NODE, O_RDWR | O_CLOEXEC);

	/* This process has a device: no daemon. */
	EXPECT_EQ(-1, fd);
	EXPECT_EQ(EDEADLK, errno);
}

/* --- other processes ------------------------------------------------------- */

struct there {
	uint64_t address;
	volatile char *window;
};

static long keep_window(struct fake_self *self, void *argument)
{
	struct there *there = argument;

	there->window = fake_self_window(self, (uint32_t)self->control->open_binding, there->address,
					 PAGE);
	return there->window == MAP_FAILED ? -errno : there->window[0];
}

FIXTURE(outside) {
	struct fake_daemon *daemon;
	int fd;
	struct there there;
};

FIXTURE_SETUP(outside)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE };
	volatile char *page;

	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	page = memory_map(PAGE);
	page[0] = 1;
	self->there = (struct there){ .address = (uintptr_t)page };
	ASSERT_EQ(1, fake_daemon_call(self->daemon, keep_window, &self->there, sizeof(self->there)));
}

FIXTURE_TEARDOWN(outside)
{
	close(self->fd);
	fake_daemon_stop(self->daemon);
}

TEST_F(outside, process_vm_readv_of_a_window_fails)
{
	char byte = 42;
	struct iovec here = { &byte, 1 }, there = { (void *)self->there.window, 1 };

	EXPECT_EQ(-1, process_vm_readv(self->daemon->pid, &here, 1, &there, 1, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, process_vm_writev(self->daemon->pid, &here, 1, &there, 1, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(1, *(volatile char *)self->there.address);
}

TEST_F(outside, the_mem_file_of_the_daemon_does_not_show_a_window)
{
	char name[64], byte;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/mem", self->daemon->pid);
	fd = open(name, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, pread(fd, &byte, 1, (off_t)(uintptr_t)self->there.window));
	EXPECT_EQ(EIO, errno);
	EXPECT_EQ(-1, pwrite(fd, &byte, 1, (off_t)(uintptr_t)self->there.window));
	EXPECT_EQ(EIO, errno);
	close(fd);
}

TEST_F(outside, ptrace_of_a_window_fails)
{
	int status;

	ASSERT_EQ(0, ptrace(PTRACE_ATTACH, self->daemon->pid, NULL, NULL));
	ASSERT_EQ(self->daemon->pid, waitpid(self->daemon->pid, &status, 0));
	errno = 0;
	EXPECT_EQ(-1, ptrace(PTRACE_PEEKDATA, self->daemon->pid, self->there.window, NULL));
	EXPECT_EQ(EIO, errno);
	EXPECT_EQ(-1, ptrace(PTRACE_POKEDATA, self->daemon->pid, self->there.window, 5));
	EXPECT_EQ(EIO, errno);
	EXPECT_EQ(1, *(volatile char *)self->there.address);
	EXPECT_EQ(0, ptrace(PTRACE_DETACH, self->daemon->pid, NULL, NULL));
}

/* A fork of the program is another process: the window stays with the first. */
TEST_F(outside, the_window_is_not_the_childs)
{
	volatile char *page = (volatile char *)self->there.address;
	pid_t child = fork();
	int status;

	ASSERT_LE(0, child);
	if (!child) {
		page[0] = 2;
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	page[0] = 3;
	EXPECT_EQ(3, fake_daemon_call(self->daemon, keep_window, &self->there, sizeof(self->there)));
}

/* --- secret memory ---------------------------------------------------------- */

/* memfd_secret(2): not even the kernel's direct map has it. MAP_FAILED: there is none here. */
static volatile uint64_t *map_secret(void)
{
	int file = (int)syscall(SYS_memfd_secret, 0);
	void *page;

	if (file < 0 || ftruncate(file, PAGE))
		return MAP_FAILED;
	page = mmap(NULL, PAGE, BOTH, MAP_SHARED, file, 0);
	close(file);
	return page;
}

TEST_F(refusal, secret_memory_is_not_shown)
{
	volatile uint64_t *secret = map_secret();

	if (secret == MAP_FAILED)
		SKIP(return, "no memfd_secret here");
	*secret = 42;
	EXPECT_EQ(-EFAULT, fake_window_read(self->daemon, secret, &self->value, sizeof(self->value)));
	EXPECT_EQ(-EFAULT, fake_window_write(self->daemon, secret, &self->value, sizeof(self->value)));
	EXPECT_EQ(42, *secret);
}

#ifndef SYS_map_shadow_stack
#define SYS_map_shadow_stack 453
#endif

/*
 * As by get_user_pages(). Only on a processor that has them, which the emulated one has not: there
 * a bit of the VMA refuses (mimic_window_may_show()), the same for window and page fault.
 */
TEST_F(refusal, a_shadow_stack_is_shown_and_not_written)
{
	const unsigned int with_token = 1;
	long place = syscall(SYS_map_shadow_stack, 0, PAGE, with_token);
	const uint64_t *stack = (const uint64_t *)place;
	uint64_t token;

	if (place < 0 && place > -4096)
		SKIP(return, "no shadow stacks here");
	token = stack[PAGE / 8 - 1];
	EXPECT_EQ(0, fake_window_read(self->daemon, stack + PAGE / 8 - 1, &self->value, 8));
	EXPECT_EQ(token, self->value);
	EXPECT_EQ(-EFAULT, fake_window_write(self->daemon, (void *)(stack + PAGE / 8 - 1), &self->value, 8));
	EXPECT_EQ(0, fake_daemon_fault(self->daemon, stack, true));
	EXPECT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	EXPECT_EQ(-EFAULT, fake_window_write(self->daemon, (void *)stack, &self->value, 8));
	EXPECT_EQ(0, self->daemon->control->last_resolve & MAPLE_RESOLVE_PRESENT);
}

TEST_HARNESS_MAIN
