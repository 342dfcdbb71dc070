/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A signal that came too early is sent again, to the thread itself. Signals with values (the
 * real-time ones) have an order, and others of the same number may be in the kernel's queue by
 * then, before the one that is sent again. So that one is a mark only, and the siginfo of signals goes
 * through a list: each new one is put at its end, and the handler gets the one at its
 * beginning. A mark puts nothing there, and so the list gets empty.
 *
 * Of each number, as many in the list are not due as marks are on their way. Without SA_NODEFER there is
 * one mark at most; with it, the kernel begins the handlers of all that it has before the first of them runs.
 */
#include "libmimic/base/hold.h"

#include <errno.h>
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
/* glibc's signal 32, by which it cancels a thread. (musl's is 33: there nothing is held up.) */
#define CANCEL (1ull << (32 - 1))
/* In si_errno, which nothing else uses in a signal that was sent: it is a mark; it has taken its turn. */
#define MARK 0x6d696d69
#define SEEN 0x6d696d6a

__thread struct mimic_hold mimic_hold_self __attribute__((tls_model("initial-exec")));

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

static void make_due(struct mimic_thread *self, int number)
{
	for (unsigned int i = 0; i < self->signal_count; i++) {
		if (self->signals[i].number == number && !self->signals[i].is_due) {
			self->signals[i].is_due = true;
			return;
		}
	}
}

/* The siginfo of this signal takes its turn, which it has once: the program's handler may ask a second time. */
static void take_turn(struct mimic_thread *self, int number, siginfo_t *information)
{
	struct mimic_thread_signal *first = find(self, number);
	siginfo_t now = *information;
	bool was_due;

	if (number < FIRST_QUEUED || !first || now.si_errno == SEEN)
		return;
	*information = first->information;
	information->si_errno = SEEN;
	was_due = first->is_due;
	take_out(self, first);
	if (now.si_errno != MARK)
		self->signals[self->signal_count++] = (struct mimic_thread_signal){ now, number, was_due };
	else if (was_due)
		make_due(self, number);
}

/* Before all others. false: there is no room. */
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

static uint64_t change_mask(uint64_t mask)
{
	uint64_t before = 0;

	mimic_raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&before, sizeof(mask), 0, 0);
	return before;
}

enum sent { SENT, SENT_BARE, NOT_SENT };

/* To this thread. Bare: without its siginfo, because a filter of system calls forbids that. */
static enum sent send(int number, const siginfo_t *information)
{
	long process = mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	long thread = mimic_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	long error = mimic_raw_syscall(SYS_rt_tgsigqueueinfo, process, thread, number, (long)information, 0, 0);

	if (!error)
		return SENT;
	/* The kernel keeps so many for all programs of the user, and refuses more of those that queue. */
	if (error == -EAGAIN && number >= FIRST_QUEUED)
		return NOT_SENT;
	error = mimic_raw_syscall(SYS_tgkill, process, thread, number, 0, 0, 0);
	return error == -EAGAIN ? NOT_SENT : SENT_BARE;
}

static enum sent send_again(const struct mimic_thread_signal *signal)
{
	siginfo_t information = signal->information;

	if (signal->number >= FIRST_QUEUED)
		information.si_errno = MARK;
	return send(signal->number, &information);
}

/* There is no room for it: the kernel keeps it until all are let in. */
static bool give_back(int number, siginfo_t *information)
{
	uint64_t before = change_mask(~0ull);

	if (number >= FIRST_QUEUED)
		information->si_errno = 0;
	if (send(number, information) != NOT_SENT)
		return true;
	change_mask(before);
	return false;
}

/*
 * The signal mask at the entry of this place, found in the handler's frame. Of handlers that the kernel has begun in each
 * other, the one that runs last has it: the others' frames have the masks of handlers below them.
 */
static void note_mask(struct mimic_thread *self, ucontext_t *context)
{
	const uint64_t never = 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1), ours = ~FAULTS;
	uint64_t found;

	/* The kernel's mask is one word; the bytes behind it in the frame are something else. */
	memcpy(&found, &context->uc_sigmask, sizeof(found));
	/* Blocked by this place, and not by the program: its handlers and their children are not to have that. */
	if (atomic_load_explicit(&mimic_hold_self.holds_cancel_up, memory_order_relaxed))
		found &= ~CANCEL;
	/* One that has all of ours came later (those of faults are let through). */
	if (!self->has_signal_mask || (ours & ~(found | never)))
		self->signal_mask = found;
	self->has_signal_mask = true;
	/* The others stay with the kernel until this one has come. */
	memcpy(&context->uc_sigmask, &ours, sizeof(ours));
}

/* The mask before. */
static uint64_t change_cancel(int how)
{
	const uint64_t cancel = CANCEL;
	uint64_t before = 0;

	mimic_raw_syscall(SYS_rt_sigprocmask, how, (long)&cancel, (long)&before, sizeof(cancel), 0, 0);
	return before;
}

void mimic_hold_block_cancel(void)
{
	/* First: a handler that comes behind the call finds it in the mask. */
	atomic_store_explicit(&mimic_hold_self.holds_cancel_up, true, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	/* Where all signals were blocked already, they stay so. */
	if (change_cancel(SIG_BLOCK) & CANCEL)
		atomic_store_explicit(&mimic_hold_self.holds_cancel_up, false, memory_order_relaxed);
}

void mimic_hold_let_cancel_in(void)
{
	change_cancel(SIG_UNBLOCK);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&mimic_hold_self.holds_cancel_up, false, memory_order_relaxed);
}

void mimic_hold_cancel_type(bool is_asynchronous)
{
	atomic_store_explicit(&mimic_hold_self.is_cancelled_at_once, is_asynchronous, memory_order_relaxed);
}

int mimic_signal_defer(int number, siginfo_t *information, void *signal_context)
{
	struct mimic_thread *self = mimic_thread_peek();

	if (!self || is_fault(number, information))
		return 0;
	if (self->signal_count)
		take_turn(self, number, information);
	if (!atomic_load_explicit(&mimic_hold_self.depth, memory_order_relaxed) ||
	    (!put_first(self, number, information) && !give_back(number, information))) {
		if (number >= FIRST_QUEUED)
			information->si_errno = SEEN;
		return 0;
	}
	note_mask(self, signal_context);
	atomic_store_explicit(&mimic_hold_self.has_signals, true, memory_order_relaxed);
	return 1;
}

/* true: some could not be sent, and are tried again when the thread leaves such a place the next time. */
static bool send_all(struct mimic_thread *self)
{
	bool is_left = false;
	unsigned int i = 0;

	while (i < self->signal_count) {
		struct mimic_thread_signal *signal = &self->signals[i];
		enum sent sent = signal->is_due ? send_again(signal) : SENT;

		signal->is_due = sent == NOT_SENT;
		is_left |= signal->is_due;
		if (signal->is_due || (sent == SENT && signal->number >= FIRST_QUEUED))
			i++;
		else
			take_out(self, signal);
	}
	return is_left;
}

/*
 * All marks have come that the mask lets through. Those that have not were taken by sigwait() in a handler of
 * another number, which got their siginfo, or were discarded by it (SIG_IGN). The siginfo that is left of them would be
 * given to a handler in place of the next one.
 */
static void forget_taken(struct mimic_thread *self, uint64_t mask)
{
	unsigned int i = 0;

	while (i < self->signal_count) {
		struct mimic_thread_signal *signal = &self->signals[i];

		if (signal->is_due || (mask >> (signal->number - 1) & 1))
			i++;
		else
			take_out(self, signal);
	}
}

/*
 * Is this called by a handler that came in the same place further up the stack? One that was left by
 * siglongjmp() is not there any more, which shows when this is called from further up, or from the same place.
 */
static bool is_nested(const struct mimic_thread *self, uintptr_t frame)
{
	stack_t stack = { .ss_flags = SS_DISABLE };

	if (!self->letting_in || frame < self->letting_in)
		return self->letting_in;
	/* An alternate stack may lie anywhere. */
	mimic_raw_syscall(SYS_sigaltstack, 0, (long)&stack, 0, 0, 0, 0);
	return stack.ss_flags & SS_ONSTACK;
}

/* By system calls of our own: the preload library stands before the C library's, and errno is the program's. */
void mimic_hold_let_in(void)
{
	struct mimic_thread *self = mimic_thread_peek();
	/* All: a handler that came now could jump away, and leave the rest behind. */
	uint64_t mask = change_mask(~0ull);
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	bool nested = is_nested(self, frame);

	if (self->has_signal_mask)
		mask = self->signal_mask;
	self->has_signal_mask = false;
	atomic_store_explicit(&mimic_hold_self.has_signals, send_all(self), memory_order_relaxed);
	if (!nested)
		self->letting_in = frame;
	/* They come here, before this returns. */
	change_mask(mask);
	/* Further up the stack, handlers have begun whose marks have not come yet. */
	if (nested)
		return;
	self->letting_in = 0;
	if (!self->signal_count)
		return;
	change_mask(~0ull);
	forget_taken(self, mask);
	change_mask(mask);
}
