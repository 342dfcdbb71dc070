/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Recoverable accesses, and the signal handlers that recover them. */
#include "libmimic/base/probe_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "devices/atomic.h"
#include "libmimic/base/context.h"
#include "libmimic/mimic.h"

int mimic_probe_read(uint64_t address, void *buffer, size_t size)
{
	size_t left = mimic_probe_copy(buffer, address, size);

	if (!left)
		return 0;
	memset((char *)buffer + size - left, 0, left);
	return -EFAULT;
}

int mimic_probe_atomic(uint64_t address, enum mimic_atomic operation, uint32_t operand,
		       uint32_t expected, uint32_t *old)
{
	uint32_t seen;

	switch (operation) {
	case MIMIC_ATOMIC_ADD:
		return mimic_probe_add32(address, operand, old);
	case MIMIC_ATOMIC_SWAP:
		return mimic_probe_swap32(address, operand, old);
	case MIMIC_ATOMIC_CAS:
		return mimic_probe_cas32(address, expected, operand, old);
	case MIMIC_ATOMIC_AND:
	case MIMIC_ATOMIC_OR:
	case MIMIC_ATOMIC_XOR:
	case MIMIC_ATOMIC_MAX:
	case MIMIC_ATOMIC_MAXU:
	case MIMIC_ATOMIC_MIN:
	case MIMIC_ATOMIC_MINU:
		break;
	default:
		return -EINVAL;
	}
	if (mimic_probe_load32(address, old))
		return -EFAULT;
	for (;;) {
		seen = *old;
		if (mimic_probe_cas32(address, seen, mimic_atomic_result(operation, seen, operand, 0), old))
			return -EFAULT;
		if (*old == seen)
			return 0;
	}
}

/* --- signal handlers ------------------------------------------------------ */

static const int fault_signals[] = { SIGSEGV, SIGBUS };
/* The handlers that were there before ours, by the index of the signal above. */
static struct sigaction chained[2];
static atomic_bool handled_elsewhere;
static bool installed;

void mimic_faults_are_handled(void)
{
	atomic_store(&handled_elsewhere, true);
}

/* As the kernel would without us: a fault happens again at the same instruction, a sent signal is sent again. */
static void act_by_default(int number, siginfo_t *info)
{
	struct sigaction by_default = { .sa_handler = SIG_DFL };

	sigaction(number, &by_default, NULL);
	if (info->si_code <= 0)
		syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), number, info);
}

static void call_handler(struct sigaction *action, int number, siginfo_t *info, void *context)
{
	struct sigaction copy = *action;
	sigset_t blocked = copy.sa_mask;

	if (copy.sa_flags & SA_RESETHAND) {
		action->sa_handler = SIG_DFL;
		action->sa_flags = 0;
	}
	if (!(copy.sa_flags & SA_NODEFER))
		sigaddset(&blocked, number);
	/* Our own mask is empty: the program's handler runs with the mask that it asked for. */
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	if (copy.sa_flags & SA_SIGINFO)
		copy.sa_sigaction(number, info, context);
	else
		copy.sa_handler(number);
}

/* A fault at an instruction of ours: goes on behind it. */
static bool recover(ucontext_t *context)
{
	uintptr_t target = mimic_fault_fixup(mimic_context_instruction(context));

	if (target)
		mimic_context_go_to(context, target);
	return target != 0;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	struct sigaction *action = &chained[number == SIGBUS];
	int saved = errno;

	if (recover(context))
		return;
	if (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	if (!(action->sa_flags & SA_SIGINFO) &&
	    (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN))
		act_by_default(number, info);
	else
		call_handler(action, number, info, context);
	errno = saved;
}

int mimic_probe_install_handlers(void)
{
	/* SA_NODEFER: a device read inside a handler of the program may fault too. */
	struct sigaction action = {
		.sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART,
	};

	if (installed || atomic_load(&handled_elsewhere))
		return 0;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < 2; i++) {
		if (sigaction(fault_signals[i], NULL, &chained[i]) ||
		    sigaction(fault_signals[i], &action, NULL))
			return -errno;
	}
	installed = true;
	return 0;
}

void mimic_probe_unblock_signals(void)
{
	sigset_t faults;

	sigemptyset(&faults);
	for (size_t i = 0; i < 2; i++)
		sigaddset(&faults, fault_signals[i]);
	pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
}
