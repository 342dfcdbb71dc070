/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Signal masks. A fault on a blocked signal kills, and a program may block all
 * signals and then touch a device page: so SIGSEGV and SIGBUS are never really
 * blocked, and each thread's own idea of them is kept here.
 */
/* Distributions define it for all they build: longjmp() then is another name for __longjmp_chk(), which is defined here, too. */
#undef _FORTIFY_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "preload.h"

static THREAD_LOCAL unsigned int blocked_bits;
static THREAD_LOCAL unsigned int held_bits;
static THREAD_LOCAL siginfo_t held[2];

static const int numbers[2] = { SIGSEGV, SIGBUS };

unsigned int mimic_preload_mask_bits(const sigset_t *set)
{
	return (sigismember(set, SIGSEGV) == 1 ? 1u : 0u) | (sigismember(set, SIGBUS) == 1 ? 2u : 0u);
}

void mimic_preload_mask_strip(sigset_t *set)
{
	sigdelset(set, SIGSEGV);
	sigdelset(set, SIGBUS);
}

void mimic_preload_mask_add(sigset_t *set, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (bits & 1u << i)
			sigaddset(set, numbers[i]);
}

unsigned int mimic_preload_mask_blocked(void)
{
	return blocked_bits;
}

/* A signal that was sent and held back is sent once more when it is let in. */
void mimic_preload_mask_set_blocked(unsigned int bits)
{
	unsigned int due = held_bits & ~bits;
	unsigned int i;

	blocked_bits = bits;
	held_bits &= ~due;
	for (i = 0; due && i < 2; i++)
		if (due & 1u << i)
			mimic_raw_syscall(SYS_rt_tgsigqueueinfo,
					mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0),
					mimic_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0),
					numbers[i], (long)&held[i], 0, 0);
}

void mimic_preload_mask_hold_back(int number, const siginfo_t *information)
{
	held[number == SIGBUS] = *information;
	held_bits |= mimic_preload_mask_bit(number);
}

static unsigned int next_bits(int how, unsigned int before, unsigned int bits)
{
	if (how == SIG_BLOCK)
		return before | bits;
	if (how == SIG_UNBLOCK)
		return before & ~bits;
	return bits;
}

static int change(int how, const sigset_t *set, sigset_t *old,
		  int (*next)(int how, const sigset_t *set, sigset_t *old))
{
	unsigned int before = blocked_bits;
	unsigned int bits = 0;
	sigset_t without;
	int result;

	if (set) {
		bits = mimic_preload_mask_bits(set);
		without = *set;
		mimic_preload_mask_strip(&without);
	}
	result = next(how, set ? &without : NULL, old);
	if (result)
		return result;
	if (old)
		mimic_preload_mask_add(old, before);
	if (set)
		mimic_preload_mask_set_blocked(next_bits(how, before, bits));
	return 0;
}

EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	return change(how, set, old, NEXT(sigprocmask));
}

EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	return change(how, set, old, NEXT(pthread_sigmask));
}

EXPORT int sigpending(sigset_t *set)
{
	int result = NEXT(sigpending)(set);

	if (result == 0)
		mimic_preload_mask_add(set, held_bits);
	return result;
}

/* --- the old BSD and System V forms ------------------------------------------ */

static sigset_t set_of_mask(int mask)
{
	sigset_t set;
	int i;

	sigemptyset(&set);
	for (i = 1; i <= 32; i++)
		if ((unsigned int)mask >> (i - 1) & 1)
			sigaddset(&set, i);
	return set;
}

static int change_by_mask(int how, int mask)
{
	sigset_t set = set_of_mask(mask);
	unsigned int result = 0;
	sigset_t old;
	int i;

	if (sigprocmask(how, &set, &old))
		return -1;
	for (i = 1; i <= 32; i++)
		result |= sigismember(&old, i) == 1 ? 1u << (i - 1) : 0;
	return (int)result;
}

EXPORT int sigblock(int mask)
{
	return change_by_mask(SIG_BLOCK, mask);
}

EXPORT int sigsetmask(int mask)
{
	return change_by_mask(SIG_SETMASK, mask);
}

int mimic_preload_mask_change_one(int how, int number)
{
	sigset_t set;

	sigemptyset(&set);
	if (sigaddset(&set, number))
		return -1;
	return sigprocmask(how, &set, NULL);
}

EXPORT int sighold(int number)
{
	return mimic_preload_mask_change_one(SIG_BLOCK, number);
}

EXPORT int sigrelse(int number)
{
	return mimic_preload_mask_change_one(SIG_UNBLOCK, number);
}

/* --- calls that wait with another mask ----------------------------------------- */

/* Sets the program's view for the length of a call; *without is the mask for the kernel. */
static const sigset_t *wait_begin(const sigset_t *set, sigset_t *without, unsigned int *before)
{
	*before = blocked_bits;
	if (!set)
		return NULL;
	*without = *set;
	mimic_preload_mask_strip(without);
	mimic_preload_mask_set_blocked(mimic_preload_mask_bits(set));
	return without;
}

static void wait_end(unsigned int before)
{
	int saved_errno = errno;

	mimic_preload_mask_set_blocked(before);
	errno = saved_errno;
}

EXPORT int sigsuspend(const sigset_t *set)
{
	unsigned int before;
	sigset_t without;
	const sigset_t *used = wait_begin(set, &without, &before);
	int result = NEXT(sigsuspend)(used);

	wait_end(before);
	return result;
}

EXPORT int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *set)
{
	unsigned int before;
	sigset_t without;
	const sigset_t *used = wait_begin(set, &without, &before);
	int result = NEXT(ppoll)(files, count, timeout, used);

	wait_end(before);
	return result;
}

/* ppoll() of a program that was built with _FORTIFY_SOURCE. */
EXPORT int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *timeout,
		       const sigset_t *set, size_t size);
EXPORT int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *timeout,
		       const sigset_t *set, size_t size)
{
	unsigned int before;
	sigset_t without;
	const sigset_t *used = wait_begin(set, &without, &before);
	int result = NEXT(__ppoll_chk)(files, count, timeout, used, size);

	wait_end(before);
	return result;
}

EXPORT int pselect(int count, fd_set *restrict reads, fd_set *restrict writes, fd_set *restrict others,
		   const struct timespec *restrict timeout, const sigset_t *restrict set)
{
	unsigned int before;
	sigset_t without;
	const sigset_t *used = wait_begin(set, &without, &before);
	int result = NEXT(pselect)(count, reads, writes, others, timeout, used);

	wait_end(before);
	return result;
}

EXPORT int epoll_pwait(int descriptor, struct epoll_event *events, int count, int timeout,
		       const sigset_t *set)
{
	unsigned int before;
	sigset_t without;
	const sigset_t *used = wait_begin(set, &without, &before);
	int result = NEXT(epoll_pwait)(descriptor, events, count, timeout, used);

	wait_end(before);
	return result;
}

EXPORT int epoll_pwait2(int descriptor, struct epoll_event *events, int count,
			const struct timespec *timeout, const sigset_t *set)
{
	unsigned int before;
	sigset_t without;
	const sigset_t *used = wait_begin(set, &without, &before);
	int result = NEXT(epoll_pwait2)(descriptor, events, count, timeout, used);

	wait_end(before);
	return result;
}

/* --- leaving a handler by a jump ---------------------------------------------------- */

/*
 * The jump puts back the mask that sigsetjmp() saved. It saved the kernel's,
 * without our two signals; a program that catches its own faults relies on
 * their not being blocked then.
 */
static void before_jump(const struct __jmp_buf_tag *target)
{
	if (target->__mask_was_saved)
		mimic_preload_mask_set_blocked(0);
}

EXPORT void siglongjmp(sigjmp_buf target, int value)
{
	before_jump(target);
	NEXT(siglongjmp)(target, value);
	__builtin_unreachable();
}

EXPORT void longjmp(jmp_buf target, int value)
{
	before_jump(target);
	NEXT(longjmp)(target, value);
	__builtin_unreachable();
}

EXPORT void _longjmp(jmp_buf target, int value)
{
	before_jump(target);
	NEXT(_longjmp)(target, value);
	__builtin_unreachable();
}

/* longjmp() of a program that was built with _FORTIFY_SOURCE. */
EXPORT void __longjmp_chk(jmp_buf target, int value) __attribute__((noreturn));
EXPORT void __longjmp_chk(jmp_buf target, int value)
{
	before_jump(target);
	NEXT(__longjmp_chk)(target, value);
	__builtin_unreachable();
}
