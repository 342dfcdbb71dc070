/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The program's handlers of SIGSEGV and SIGBUS. The kernel has ours; the
 * program reads back its own settings, and its handlers are called with the
 * semantics that it asked for.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "patch.h"
#include "preload.h"

#define SIGNAL_COUNT 65

/*
 * The action that the program set. Read in the fault handler without a lock: the
 * sequence is odd while a thread writes, and writers block all signals, so
 * that no handler on their own thread can wait for them.
 */
static struct {
	atomic_uint sequence;
	struct sigaction action;
} programs[2];

static atomic_flag writer = ATOMIC_FLAG_INIT;
/* Which of our two the program had in sa_mask of its other handlers, to be read back. */
static _Atomic uint8_t masked_elsewhere[SIGNAL_COUNT];

static int real_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	return NEXT(sigaction)(number, action, old);
}

static struct sigaction program_action(int number)
{
	unsigned int i = number == SIGBUS;
	struct sigaction action;
	unsigned int before;

	do {
		before = atomic_load_explicit(&programs[i].sequence, memory_order_acquire);
		action = programs[i].action;
		/* the copy is over before the sequence is read again */
		atomic_thread_fence(memory_order_acquire);
	} while ((before & 1) ||
		 before != atomic_load_explicit(&programs[i].sequence, memory_order_relaxed));
	return action;
}

static bool has_handler(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) ||
	       (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

/*
 * Ours runs on the alternate stack unless the program's handler would not:
 * it is called from ours, and must find itself on the stack that it expects.
 * SA_NODEFER and an empty mask: other handlers run while an access waits.
 */
static int install(int number, const struct sigaction *program)
{
	struct sigaction ours = { .sa_sigaction = mimic_preload_fault_handler,
				  .sa_flags = SA_SIGINFO | SA_NODEFER };

	if (!has_handler(program) || (program->sa_flags & SA_ONSTACK))
		ours.sa_flags |= SA_ONSTACK;
	sigemptyset(&ours.sa_mask);
	return real_sigaction(number, &ours, NULL);
}

static uint64_t lock_out_signals(void)
{
	uint64_t all = ~0ull;
	uint64_t old;

	mimic_raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&old, sizeof(all), 0, 0);
	while (atomic_flag_test_and_set_explicit(&writer, memory_order_acquire))
		;
	return old;
}

static void let_in_signals(uint64_t old)
{
	atomic_flag_clear_explicit(&writer, memory_order_release);
	mimic_raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, sizeof(old), 0, 0);
}

static void set_program_action(int number, const struct sigaction *action, struct sigaction *old)
{
	unsigned int i = number == SIGBUS;
	uint64_t mask = lock_out_signals();

	if (old)
		*old = programs[i].action;
	atomic_fetch_add_explicit(&programs[i].sequence, 1, memory_order_acq_rel);
	programs[i].action = *action;
	atomic_fetch_add_explicit(&programs[i].sequence, 1, memory_order_release);
	install(number, action);
	let_in_signals(mask);
}

EXPORT int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict old)
{
	struct sigaction copy;
	struct sigaction before;
	sighandler_t handler = mimic_preload_handlers_get(number);
	uint8_t bits = 0;
	int result;

	if (mimic_preload_signal_is_virtual(number)) {
		if (!action) {
			if (old)
				*old = program_action(number);
			return 0;
		}
		/* A copy, made while a bad pointer still faults as the program's own fault. */
		copy = *action;
		set_program_action(number, &copy, &before);
		if (old)
			*old = before;
		return 0;
	}
	if (action) {
		copy = *action;
		bits = (uint8_t)mimic_preload_mask_bits(&copy.sa_mask);
		mimic_preload_mask_strip(&copy.sa_mask);
		copy.sa_handler = mimic_preload_handlers_replace(number, copy.sa_handler);
	}
	result = real_sigaction(number, action ? &copy : NULL, old);
	if (!result && old)
		old->sa_handler = mimic_preload_handlers_restore(old->sa_handler, handler);
	if (result || number <= 0 || number >= SIGNAL_COUNT)
		return result;
	if (old)
		mimic_preload_mask_add(&old->sa_mask, atomic_load(&masked_elsewhere[number]));
	if (action)
		atomic_store(&masked_elsewhere[number], bits);
	return 0;
}

/* --- the other ways to set a handler ---------------------------------------------- */

EXPORT sighandler_t bsd_signal(int number, sighandler_t handler);
EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler);

static sighandler_t set_virtual(int number, sighandler_t handler, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	struct sigaction old;

	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	sigemptyset(&action.sa_mask);
	sigaction(number, &action, &old);
	return old.sa_handler;
}

/* By the C library's function, which takes a handler only. */
static sighandler_t set_other(int number, sighandler_t handler,
			      sighandler_t (*next)(int number, sighandler_t handler))
{
	sighandler_t before = mimic_preload_handlers_get(number);

	return mimic_preload_handlers_restore(next(number, mimic_preload_handlers_replace(number, handler)),
					      before);
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	return mimic_preload_signal_is_virtual(number) ? set_virtual(number, handler, SA_RESTART)
						       : set_other(number, handler, NEXT(signal));
}

EXPORT sighandler_t bsd_signal(int number, sighandler_t handler)
{
	return signal(number, handler);
}

EXPORT sighandler_t ssignal(int number, sighandler_t handler)
{
	return signal(number, handler);
}

EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
	return mimic_preload_signal_is_virtual(number)
		       ? set_virtual(number, handler, (int)SA_RESETHAND | SA_NODEFER)
		       : set_other(number, handler, NEXT(__sysv_signal));
}

EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
	return __sysv_signal(number, handler);
}

EXPORT int sigignore(int number)
{
	struct sigaction action = { .sa_handler = SIG_IGN };

	return sigaction(number, &action, NULL);
}

EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
	struct sigaction old;
	bool was_blocked;

	/* Looked up by hand: the header calls it deprecated. */
	if (!mimic_preload_signal_is_virtual(number))
		return set_other(number, handler,
				 (sighandler_t(*)(int, sighandler_t))mimic_preload_next("sigset"));
	was_blocked = mimic_preload_mask_blocked() & mimic_preload_mask_bit(number);
	old = program_action(number);
	if (handler == SIG_HOLD) {
		mimic_preload_mask_change_one(SIG_BLOCK, number);
	} else {
		if (set_virtual(number, handler, 0) == SIG_ERR)
			return SIG_ERR;
		mimic_preload_mask_change_one(SIG_UNBLOCK, number);
	}
	return was_blocked ? SIG_HOLD : old.sa_handler;
}

/* --- giving a signal to the program ---------------------------------------------------- */

static void send_to_self(int number, siginfo_t *information)
{
	mimic_raw_syscall(SYS_rt_tgsigqueueinfo, mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0),
			mimic_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0), number, (long)information, 0, 0);
}

/*
 * The default action. The instruction of a real fault faults again when we
 * return, and the kernel then kills with the right address and core; a signal
 * that was sent, or that we made up, must be sent once more.
 */
static void die(int number, siginfo_t *information, bool faults_again)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	real_sigaction(number, &action, NULL);
	if (!faults_again)
		send_to_self(number, information);
}

static void call_handler(int number, const struct sigaction *action, siginfo_t *information,
			 ucontext_t *context)
{
	unsigned int before = mimic_preload_mask_blocked();
	sigset_t during = action->sa_mask;
	sigset_t old;

	if (!(action->sa_flags & SA_NODEFER))
		sigaddset(&during, number);
	mimic_preload_mask_set_blocked(before | mimic_preload_mask_bits(&during));
	mimic_preload_mask_add(&context->uc_sigmask, before);
	mimic_preload_mask_strip(&during);
	NEXT(pthread_sigmask)(SIG_BLOCK, &during, &old);
	if (action->sa_flags & SA_SIGINFO)
		action->sa_sigaction(number, information, context);
	else
		action->sa_handler(number);
	/* The kernel puts back uc_sigmask when we return, and the handler may have changed it. */
	before = mimic_preload_mask_bits(&context->uc_sigmask);
	mimic_preload_mask_strip(&context->uc_sigmask);
	NEXT(pthread_sigmask)(SIG_SETMASK, &old, NULL);
	mimic_preload_mask_set_blocked(before);
}

static atomic_bool is_filtered;

void mimic_preload_signals_filtered(void)
{
	atomic_store(&is_filtered, true);
}

bool mimic_preload_signals_defer(int number, siginfo_t *information, void *context)
{
	return !atomic_load_explicit(&is_filtered, memory_order_relaxed) &&
	       mimic_signal_defer(number, information, context);
}

void mimic_preload_signals_deliver(int number, siginfo_t *information, ucontext_t *context,
				   enum signal_origin origin)
{
	struct sigaction action = program_action(number);
	bool was_sent = origin == SIGNAL_SENT;
	bool is_blocked = mimic_preload_mask_blocked() & mimic_preload_mask_bit(number);

	if (is_blocked && was_sent) {
		mimic_preload_mask_hold_back(number, information);
		return;
	}
	if (!has_handler(&action) || is_blocked) {
		if (was_sent && !is_blocked && action.sa_handler == SIG_IGN)
			return;
		die(number, information, origin == SIGNAL_FAULT);
		return;
	}
	if (action.sa_flags & (int)SA_RESETHAND) {
		struct sigaction reset = action;

		reset.sa_handler = SIG_DFL;
		reset.sa_flags &= ~SA_SIGINFO;
		set_program_action(number, &reset, NULL);
	}
	call_handler(number, &action, information, context);
}

void mimic_preload_signals_start(void)
{
	uint64_t ours = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1);
	uint64_t old = 0;
	unsigned int i;

	/* The process that started us may have had them blocked or ignored: that was meant for the program. */
	for (i = 0; i < 2; i++) {
		int number = i ? SIGBUS : SIGSEGV;
		struct sigaction action;

		real_sigaction(number, NULL, &action);
		/* A sanitizer's start-up code may have been here before us, through our wrapper. */
		if (!has_handler(&action) && !has_handler(&programs[i].action))
			programs[i].action = action;
		install(number, &programs[i].action);
	}
	mimic_raw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&ours, (long)&old, sizeof(ours), 0, 0);
	mimic_preload_mask_set_blocked(mimic_preload_mask_blocked() | ((old >> (SIGSEGV - 1)) & 1) |
				       ((old >> (SIGBUS - 1)) & 1) << 1);
}
