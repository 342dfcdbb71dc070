/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A signal that came too early is sent again, to the thread itself. Signals with values (the
 * real-time ones) have an order, and others of the same number may be in the kernel's queue by
 * then, before the one that is sent again. So that one is a mark only, and what signals tell goes
 * through a list: each that comes is put at its end, and what is handled is taken from its
 * beginning. A mark puts nothing there, and so the list gets empty.
 */
#include "libmimic/base/hold.h"

#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "libmimic/base/raw_syscall.h"
#include "libmimic/base/thread.h"
#include "libmimic/mimic.h"

/* Signals of faults stay let through: in these places the device reads memory that may not be there. */
#define FAULTS (1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGILL - 1) | \
		1ull << (SIGFPE - 1) | 1ull << (SIGTRAP - 1) | 1ull << (SIGSYS - 1))
/* The kernel's first; the C library keeps two of them for itself. */
#define FIRST_QUEUED 32
/* In si_errno, which nothing else uses in a signal that was sent: it is a mark; it has taken its turn. */
#define MARK 0x6d696d69
#define SEEN 0x6d696d6a

__thread struct mimic_hold mimic_hold_self;

static bool is_fault(int number, const siginfo_t *information)
{
	return (FAULTS >> (number - 1) & 1) && information->si_code > 0;
}

static struct mimic_thread_signal *find(struct mimic_thread *self, int number)
{
	for (unsigned int i = 0; i < self->signal_count; i++) {
		if (self->signals[i].number == number)
			return &self->signals[i];
	}
	return NULL;
}

static void take_out(struct mimic_thread *self, struct mimic_thread_signal *signal)
{
	size_t behind = (size_t)(self->signals + self->signal_count - (signal + 1));

	memmove(signal, signal + 1, behind * sizeof(*signal));
	self->signal_count--;
}

/* What this signal tells takes its turn, which it has once: the program's handler may ask a second time. */
static void take_turn(struct mimic_thread *self, int number, siginfo_t *information)
{
	struct mimic_thread_signal *first = find(self, number);
	siginfo_t now = *information;

	if (number < FIRST_QUEUED || !first || now.si_errno == SEEN)
		return;
	*information = first->information;
	information->si_errno = SEEN;
	take_out(self, first);
	if (now.si_errno != MARK)
		self->signals[self->signal_count++] =
			(struct mimic_thread_signal){ .information = now, .number = number };
}

/* Before all others. false: there is no room, which takes more handlers in each other than a stack has. */
static bool put_first(struct mimic_thread *self, int number, const siginfo_t *information)
{
	if (number < FIRST_QUEUED && find(self, number))
		return true;
	/* A place is left for take_turn(). */
	if (self->signal_count == MIMIC_THREAD_SIGNALS - 1)
		return false;
	memmove(self->signals + 1, self->signals, self->signal_count * sizeof(*self->signals));
	self->signals[0] = (struct mimic_thread_signal){ *information, number, true };
	self->signal_count++;
	return true;
}

int mimic_signal_defer(int number, siginfo_t *information, void *signal_context)
{
	struct mimic_thread *self = mimic_thread_peek();
	ucontext_t *context = signal_context;
	uint64_t mask = ~FAULTS;

	if (!self || is_fault(number, information))
		return 0;
	if (self->signal_count)
		take_turn(self, number, information);
	if (!atomic_load_explicit(&mimic_hold_self.depth, memory_order_relaxed) ||
	    !put_first(self, number, information)) {
		if (number >= FIRST_QUEUED)
			information->si_errno = SEEN;
		return 0;
	}
	/* The kernel's mask is one word; what follows it in the frame is something else. */
	if (!atomic_load_explicit(&mimic_hold_self.has_signals, memory_order_relaxed))
		memcpy(&self->signal_mask, &context->uc_sigmask, sizeof(mask));
	/* The others stay with the kernel until this one has come. */
	memcpy(&context->uc_sigmask, &mask, sizeof(mask));
	atomic_store_explicit(&mimic_hold_self.has_signals, true, memory_order_relaxed);
	return 1;
}

static long change_mask(uint64_t mask)
{
	return mimic_raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
}

/* false: without what it tells, because a filter of system calls forbids that or the kernel's queue is full. */
static bool send(const struct mimic_thread_signal *signal)
{
	long process = mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	long thread = mimic_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	siginfo_t information = signal->information;

	if (signal->number >= FIRST_QUEUED)
		information.si_errno = MARK;
	if (!mimic_raw_syscall(SYS_rt_tgsigqueueinfo, process, thread, signal->number, (long)&information, 0, 0))
		return true;
	mimic_raw_syscall(SYS_tgkill, process, thread, signal->number, 0, 0, 0);
	return false;
}

/* By system calls of our own: the preload library stands before the C library's, and errno is the program's. */
void mimic_hold_let_in(void)
{
	struct mimic_thread *self = mimic_thread_peek();
	struct mimic_thread_signal *signal;
	unsigned int i = 0;
	uint64_t mask;
	bool stays;

	/* All: a handler that came now could jump away, and leave the rest behind. */
	change_mask(~0ull);
	mask = self->signal_mask;
	while (i < self->signal_count) {
		signal = &self->signals[i];
		stays = (!signal->is_due || send(signal)) && signal->number >= FIRST_QUEUED;
		signal->is_due = false;
		if (stays)
			i++;
		else
			take_out(self, signal);
	}
	atomic_store_explicit(&mimic_hold_self.has_signals, false, memory_order_relaxed);
	/* They come here, before this returns. */
	change_mask(mask);
}
