/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Which system calls are left when mimicd serves. */
#include "daemon/sandbox_calls.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "daemon/loop/call_filter.h"
#include "daemon/loop/new_calls.h"

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
	/* the filter's answer */
	SYS_epoll_pwait, SYS_epoll_ctl, SYS_ppoll, SYS_eventfd2, SYS_timerfd_create, SYS_timerfd_settime,
	SYS_pidfd_open, SYS_io_setup, SYS_io_submit, SYS_io_getevents, SYS_io_destroy, SYS_io_uring_enter,
	SYS_io_uring_register,
	/* threads and signals */
	SYS_clone, SYS_clone3, SYS_set_robust_list, SYS_rseq, SYS_futex, SYS_exit, SYS_exit_group, SYS_sched_yield,
	SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_sched_getparam, SYS_sched_getscheduler, SYS_getcpu, SYS_gettid,
	SYS_getpid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getgroups, SYS_tgkill, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
	SYS_rt_sigtimedwait, SYS_rt_sigpending, SYS_sigaltstack, SYS_restart_syscall, SYS_wait4, SYS_prctl, SYS_prlimit64, SYS_umask,
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
	SYS_umount2, SYS_execve, SYS_waitid, SYS_pipe2,
#ifdef SYS_vfork
	SYS_vfork, SYS_rmdir,
#endif
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int mimicd_sandbox_filter_calls(bool mounts)
{
	const struct mimicd_call_list lists[] = {
		{ calls, COUNT(calls) },
		{ mount_calls, mounts ? COUNT(mount_calls) : 0 },
	};

	return mimicd_call_filter_enter(lists, COUNT(lists));
}
