/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Which system calls are left when mimicd serves. */
#include "daemon/sandbox_calls.h"

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

static const unsigned int calls[] = {
	/* bytes */
	SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_lseek, SYS_close, SYS_close_range,
	SYS_fstat, SYS_newfstatat, SYS_statx, SYS_fstatfs, SYS_fcntl, SYS_ioctl, SYS_dup, SYS_dup3,
	SYS_ftruncate, SYS_fallocate, SYS_memfd_create,
	/* files: /proc, /dev/null, the socket */
	SYS_chdir, SYS_openat, SYS_getdents64, SYS_readlinkat, SYS_faccessat, SYS_unlinkat,
	/* memory, of programs too */
	SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_brk, SYS_mlock, SYS_munlock,
	SYS_process_vm_readv, SYS_process_vm_writev, SYS_membarrier,
	/* sockets */
	SYS_socket, SYS_connect, SYS_accept4, SYS_sendto, SYS_sendmsg, SYS_recvfrom, SYS_recvmsg,
	SYS_getsockopt, SYS_setsockopt, SYS_getsockname, SYS_getpeername, SYS_shutdown, SYS_socketpair,
	/* what happens */
	SYS_epoll_pwait, SYS_epoll_ctl, SYS_ppoll, SYS_eventfd2, SYS_timerfd_create, SYS_timerfd_settime,
	SYS_pidfd_open, SYS_io_setup, SYS_io_submit, SYS_io_getevents, SYS_io_destroy, SYS_io_uring_enter,
	SYS_io_uring_register,
	/* threads and signals */
	SYS_clone, SYS_clone3, SYS_set_robust_list, SYS_rseq, SYS_futex, SYS_exit, SYS_exit_group, SYS_sched_yield,
	SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_sched_getparam, SYS_sched_getscheduler, SYS_getcpu, SYS_gettid,
	SYS_getpid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getgroups, SYS_tgkill, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
	SYS_rt_sigtimedwait, SYS_rt_sigpending, SYS_sigaltstack, SYS_restart_syscall, SYS_prctl, SYS_prlimit64, SYS_umask,
	/* time, and chance */
	SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_getrusage, SYS_getrandom,
#ifdef SYS_epoll_wait
	/* older forms of the same, which the library has on this architecture */
	SYS_epoll_wait, SYS_poll, SYS_open, SYS_access, SYS_readlink, SYS_unlink, SYS_rmdir, SYS_dup2, SYS_stat, SYS_lstat,
	SYS_getrlimit,
#endif
};

/* With --state: umount, by the command that may if we may not. */
static const unsigned int mount_calls[] = {
	SYS_umount2, SYS_execve, SYS_wait4, SYS_waitid, SYS_pipe2,
#ifdef SYS_vfork
	SYS_vfork, SYS_rmdir,
#endif
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#ifdef ARCHITECTURE

static struct sock_filter *allow(struct sock_filter *at, const unsigned int *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], 0, 1);
		*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	return at;
}

int mimicd_sandbox_filter_calls(bool mounts)
{
	static struct sock_filter filter[2 * (COUNT(calls) + COUNT(mount_calls)) + 8];
	struct sock_filter *at = filter;
	struct sock_fprog program = { .filter = filter };

	*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	at = allow(at, calls, COUNT(calls));
	if (mounts)
		at = allow(at, mount_calls, COUNT(mount_calls));
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	program.len = (unsigned short)(at - filter);
	/* Without the mitigations that some kernels turn on with a filter: no code of others runs in here. */
	if (!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		     SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program))
		return 0;
	return -errno;
}

#else

int mimicd_sandbox_filter_calls(bool mounts)
{
	(void)mounts;
	return -ENOSYS;
}

#endif
