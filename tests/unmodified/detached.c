/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program that closes all descriptors that it has not opened itself, as one does that goes to the background: pages
 * of a device that it has mapped go on working, as any mapping does.
 *
 *   detached closefrom|close_range|close|syscall|after-dup2|old-kernel
 *
 * after-dup2: behind dup2() of each number onto itself, which changes nothing. old-kernel: closefrom() where the
 * kernel has no system call close_range, as before Linux 5.9.
 */
#include "contract.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static void copy_onto_themselves(void)
{
	int i;

	for (i = 0; i < 70000; i++)
		dup2(i, i);
}

static void take_close_range_away(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
	CHECK(syscall(SYS_close_range, 3, ~0u, 0) == -1 && errno == ENOSYS);
}

static void close_all(const char *way)
{
	struct rlimit limit;
	int i;

	if (!strcmp(way, "after-dup2"))
		copy_onto_themselves();
	if (!strcmp(way, "old-kernel"))
		take_close_range_away();
	if (!strcmp(way, "syscall")) {
		CHECK(syscall(SYS_close_range, 3, ~0u, 0) == 0);
	} else if (!strcmp(way, "closefrom") || !strcmp(way, "after-dup2") || !strcmp(way, "old-kernel")) {
		closefrom(3);
	} else if (!strcmp(way, "close_range")) {
		CHECK(close_range(3, ~0u, 0) == 0);
	} else {
		CHECK(!strcmp(way, "close") && getrlimit(RLIMIT_NOFILE, &limit) == 0);
		for (i = 3; i < (int)limit.rlim_cur && i < 70000; i++)
			CHECK(close(i) == 0 || errno == EBADF);
	}
}

static __attribute__((noinline)) void exchange(void *page, uint32_t value)
{
	store32(page, PRODUCE, 0, value);
	CHECK(load32(page, CONSUME, 0) == value);
}

/* The program can close descriptors of its own, also if a library had their numbers before. */
static void check_own_files(void)
{
	int file = open_or_die("/dev/null"), i;

	for (i = 100; i < 70000; i++) {
		if (fcntl(i, F_GETFD) < 0)
			continue;
		CHECK(dup2(file, i) == i && close(i) == 0);
		CHECK(fcntl(i, F_GETFD) == -1 && errno == EBADF);
	}
	close(file);
}

int main(int argc, char **argv)
{
	void *page = map_node("/dev/maple0", WORDS_8);
	int low = open_or_die("/dev/null"), high = fcntl(low, F_DUPFD, 900);
	uint32_t i;

	CHECK(argc == 2);
	open_both(page, 0);
	for (i = 0; i < 10; i++)
		exchange(page, i);
	CHECK(high >= 900);
	close_all(argv[1]);
	CHECK(fcntl(low, F_GETFD) == -1 && errno == EBADF);
	CHECK(fcntl(high, F_GETFD) == -1 && errno == EBADF);
	for (i = 0; i < 1000; i++)
		exchange(page, i ^ 0x5a5a5a5a);
	CHECK(close_range(3, ~0u, 0x80) == -1 && errno == (strcmp(argv[1], "old-kernel") ? EINVAL : ENOSYS));
	/* By an instruction that has not accessed the device before. */
	store32(page, PRODUCE, 0, 77);
	CHECK(load32(page, CONSUME, 0) == 77);
	CHECK(munmap(page, PAGE) == 0);
	check_own_files();
	return 0;
}
