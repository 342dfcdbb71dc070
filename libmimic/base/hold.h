/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Places that a thread cannot be in twice: it holds a device's lock, or writes to its ring. A
 * handler of the program that comes there and uses the device could neither wait for the thread
 * that it interrupts nor go round it. To block signals for so short a time would take longer than
 * all the rest, so nothing is done but to say that the thread is there. A handler's first step
 * (mimic_signal_defer(), which the preload library takes for the program) finds this, and the
 * signal is sent once more when the thread leaves.
 */
#ifndef LIBMIMIC_HOLD_H
#define LIBMIMIC_HOLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct mimic_hold {
	_Atomic uint32_t depth;		/* such places that this thread is in, one in the other */
	atomic_bool has_signals;	/* that wait until it is in none */
	/* The thread may be cancelled at any instruction (PTHREAD_CANCEL_ASYNCHRONOUS): not in such a place. */
	atomic_bool is_cancelled_at_once;
	atomic_bool holds_cancel_up;	/* its mask has the signal because of this place */
};

/* initial-exec: as the thread's record (thread.c). */
extern __thread struct mimic_hold mimic_hold_self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Sends the signals that came, and lets them in. */
void mimic_hold_let_in(void);

/* Holds up the C library's signal by which a thread is cancelled, and lets it in. */
void mimic_hold_block_cancel(void);
void mimic_hold_let_cancel_in(void);

/*
 * For a program under `mimic run`, before this thread's type of cancellation becomes asynchronous, and after it no
 * more is. libmimic-preload.so calls it.
 */
__attribute__((visibility("default")))
void mimic_hold_cancel_type(bool is_asynchronous);

/*
 * Only this thread and its handlers use these: the order is the compiler's matter. The signal of cancellation is blocked
 * only while `depth` says so: a handler of the program that comes before or after has the program's mask.
 */
static inline void mimic_hold_begin(void)
{
	uint32_t depth = atomic_load_explicit(&mimic_hold_self.depth, memory_order_relaxed);

	atomic_store_explicit(&mimic_hold_self.depth, depth + 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(atomic_load_explicit(&mimic_hold_self.is_cancelled_at_once, memory_order_relaxed), 0) &&
	    !depth)
		mimic_hold_block_cancel();
}

static inline void mimic_hold_end(void)
{
	uint32_t depth = atomic_load_explicit(&mimic_hold_self.depth, memory_order_relaxed) - 1;

	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(atomic_load_explicit(&mimic_hold_self.holds_cancel_up, memory_order_relaxed), 0) && !depth)
		mimic_hold_let_cancel_in();
	atomic_store_explicit(&mimic_hold_self.depth, depth, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (!depth && atomic_load_explicit(&mimic_hold_self.has_signals, memory_order_relaxed))
		mimic_hold_let_in();
}

#endif
