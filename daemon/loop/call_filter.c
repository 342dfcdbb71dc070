/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/loop/call_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif
#define X32_BIT 0x40000000u
#define CALLS_MAX 256u

#ifdef ARCHITECTURE

static struct sock_filter *allow(struct sock_filter *at, const struct mimicd_call_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, list->numbers[i], 0, 1);
		*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	return at;
}

int mimicd_call_filter_enter(const struct mimicd_call_list *lists, size_t count)
{
	struct sock_filter filter[2 * CALLS_MAX + 8];
	struct sock_filter *at = filter;
	struct sock_fprog program = { .filter = filter };
	size_t calls = 0;

	for (size_t i = 0; i < count; i++)
		calls += lists[i].count;
	if (calls > CALLS_MAX)
		return -E2BIG;
	*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	for (size_t i = 0; i < count; i++)
		at = allow(at, &lists[i]);
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	program.len = (unsigned short)(at - filter);
	/* Without the mitigations that some kernels turn on with a filter: no code of others runs in here. */
	if (!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		     SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program))
		return 0;
	return -errno;
}

#else

int mimicd_call_filter_enter(const struct mimicd_call_list *lists, size_t count)
{
	(void)lists;
	(void)count;
	return -ENOSYS;
}

#endif
