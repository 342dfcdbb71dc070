/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How threads wait: spin by time while the peer runs on another CPU, give the
 * CPU away while it shares ours, then sleep on a futex.
 *
 * Everything here may be used in a signal handler and keeps errno.
 */
#ifndef LIBMIMIC_WAIT_H
#define LIBMIMIC_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmimic/pause.h"

/*
 * More than two wake-ups of a thread on another CPU (40 us each on a virtual
 * machine). With less, two sides that have once fallen asleep stay so: each gives
 * up while the other is still waking. In time, because `pause` takes 20 to 80 ns.
 */
#define MIMIC_SPIN_MICROSECONDS 100
#define MIMIC_CPU_UNKNOWN (-1)

/* shared: the word lies in memory of several processes. */
enum mimic_futex_scope { MIMIC_FUTEX_PRIVATE, MIMIC_FUTEX_SHARED };

/*
 * Sleeps while *word == expected. 0 when woken (or for no reason), -EAGAIN if
 * the value was another, -EINTR, -ETIMEDOUT. timeout_ns 0: no timeout.
 */
int mimic_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns,
		     enum mimic_futex_scope scope);
/* Wakes up to `count` sleepers; returns how many. */
int mimic_futex_wake(_Atomic uint32_t *word, int count, enum mimic_futex_scope scope);

/* The CPU this thread runs on, for the peer to read. About a nanosecond. */
int mimic_cpu_current(void);
/* CPUs that this process may use. Asked again now and then. */
unsigned int mimic_cpu_count(void);
/* Can a peer that was last on `peer_cpu` run while we spin? Unknown: yes if there is more than one CPU for us. */
bool mimic_cpu_is_elsewhere(int peer_cpu);

struct mimic_spin {
	uint64_t end;		/* of the monotonic clock; 0: do not spin */
	unsigned int steps;
};

void mimic_spin_start(struct mimic_spin *spin, unsigned int microseconds, bool peer_elsewhere);
/* Lets a moment pass. false: that was long enough, go to sleep. */
bool mimic_spin_step(struct mimic_spin *spin);

/*
 * Where a peer shares our CPU, or waits for it. To yield takes a microsecond, to sleep and be woken some ten. But
 * programs that compute would have the CPU for a time slice: if that has happened, no thread yields for a while.
 */
struct mimic_yield {
	_Atomic uint64_t not_before;	/* of the monotonic clock */
};

/* false: it did not. */
bool mimic_yield(struct mimic_yield *yield);
/* As mimic_spin_step(); after about a microsecond, and then after each, it yields. */
bool mimic_spin_step_yielding(struct mimic_spin *spin, struct mimic_yield *yield);

/*
 * Two fences for a flag that one side checks often and the other sets before it
 * sleeps. The light one is free where the kernel offers membarrier(), the heavy
 * one pays. Threads of one process only.
 */
void mimic_fence_prepare(void);
void mimic_fence_light(void);
void mimic_fence_heavy(void);

/*
 * A mutex that a signal handler can use: it knows its holder, so an attempt of
 * the thread that holds it already is -EDEADLK, not a deadlock. `self` is a number
 * of the thread, 1 to MIMIC_LOCK_HOLDER_MAX.
 */
#define MIMIC_LOCK_HOLDER_MAX 0x7fffffffu
#define MIMIC_LOCK_SLEEPERS 0x80000000u

struct mimic_lock {
	_Atomic uint32_t word;	/* holder, and bit 31: a thread sleeps */
	_Atomic int cpu;	/* where the holder runs */
	_Atomic uint32_t turns;	/* times that it was taken */
};

/*
 * After an attempt that has failed. `pauses`: NULL, or a number that changes when a holder begins to wait for something
 * else, and will not take the lock again at once.
 */
int mimic_lock_wait(struct mimic_lock *lock, uint32_t self, const _Atomic uint32_t *pauses);
void mimic_lock_wake(struct mimic_lock *lock);

/* By its new holder. A number that stays the same is not written: the store would cost more than the look. */
static inline void mimic_lock_note(struct mimic_lock *lock)
{
	int cpu = mimic_cpu_current();

	if (atomic_load_explicit(&lock->cpu, memory_order_relaxed) != cpu)
		atomic_store_explicit(&lock->cpu, cpu, memory_order_relaxed);
	atomic_store_explicit(&lock->turns, atomic_load_explicit(&lock->turns, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

static inline bool mimic_lock_try(struct mimic_lock *lock, uint32_t self)
{
	uint32_t nobody = 0;

	if (!atomic_compare_exchange_strong_explicit(&lock->word, &nobody, self,
						     memory_order_acquire, memory_order_relaxed))
		return false;
	mimic_lock_note(lock);
	return true;
}

static inline int mimic_lock_acquire(struct mimic_lock *lock, uint32_t self)
{
	return mimic_lock_try(lock, self) ? 0 : mimic_lock_wait(lock, self, NULL);
}

static inline void mimic_lock_release(struct mimic_lock *lock)
{
	if (__builtin_expect(atomic_exchange_explicit(&lock->word, 0, memory_order_release) & MIMIC_LOCK_SLEEPERS, 0))
		mimic_lock_wake(lock);
}

#endif
