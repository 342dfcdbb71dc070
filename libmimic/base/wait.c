/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/wait.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <linux/rseq.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libmimic/base/clock.h"
#include "libmimic/base/new_libc.h"

#define HOLDER_NS 1200u
#define HOLDER_STEPS 64
#define HOLDER_LOOKS 3
/* Steps between two readings of the clock, which costs as much as a short pause. */
#define STEPS_PER_CLOCK 16
#define YIELDS 2
#define STEPS_PER_YIELD 32
/* More than a daemon that has a few commands needs, less than a time slice. */
#define YIELD_NS 300000u
/* One slice of 3 ms in that time is lost at most. */
#define NO_YIELD_NS 100000000u

static atomic_bool fence_is_asymmetric;

int mimic_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns,
		     enum mimic_futex_scope scope)
{
	int operation = FUTEX_WAIT | (scope == MIMIC_FUTEX_PRIVATE ? FUTEX_PRIVATE_FLAG : 0);
	struct timespec timeout = {
		.tv_sec = (time_t)(timeout_ns / 1000000000u),
		.tv_nsec = (long)(timeout_ns % 1000000000u),
	};
	int saved = errno;
	int error = 0;

	if (syscall(SYS_futex, word, operation, expected, timeout_ns ? &timeout : NULL, NULL, 0) < 0)
		error = -errno;
	errno = saved;
	return error;
}

int mimic_futex_wake(_Atomic uint32_t *word, int count, enum mimic_futex_scope scope)
{
	int operation = FUTEX_WAKE | (scope == MIMIC_FUTEX_PRIVATE ? FUTEX_PRIVATE_FLAG : 0);
	int saved = errno;
	long woken = syscall(SYS_futex, word, operation, count, NULL, NULL, 0);

	errno = saved;
	return woken < 0 ? 0 : (int)woken;
}

int mimic_cpu_current(void)
{
	/* glibc registers the area for each thread unless told not to; size 0 then. */
	if (&__rseq_size && __rseq_size) {
		const struct rseq *area = (const struct rseq *)(mimic_thread_pointer() + __rseq_offset);
		int cpu = (int)__atomic_load_n(&area->cpu_id, __ATOMIC_RELAXED);

		if (cpu >= 0)
			return cpu;
	}
	return sched_getcpu();
}

unsigned int mimic_cpu_count(void)
{
	/* Asked again now and then: the affinity of a running program changes. */
	static _Atomic uint64_t asked_at;
	static atomic_uint answer = 2;
	uint64_t now = mimic_now();
	cpu_set_t set;
	int saved;

	if (atomic_load_explicit(&asked_at, memory_order_relaxed) + 100000000u > now)
		return atomic_load_explicit(&answer, memory_order_relaxed);
	saved = errno;
	CPU_ZERO(&set);
	/* A machine too big for the set has more than one CPU. */
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		atomic_store_explicit(&answer, (unsigned int)CPU_COUNT(&set), memory_order_relaxed);
	errno = saved;
	atomic_store_explicit(&asked_at, now, memory_order_relaxed);
	return atomic_load_explicit(&answer, memory_order_relaxed);
}

bool mimic_cpu_is_elsewhere(int peer_cpu)
{
	if (peer_cpu != MIMIC_CPU_UNKNOWN)
		return peer_cpu != mimic_cpu_current();
	return mimic_cpu_count() > 1;
}

void mimic_spin_start(struct mimic_spin *spin, unsigned int microseconds, bool peer_elsewhere)
{
	spin->steps = 0;
	spin->end = 0;
	if (peer_elsewhere && microseconds)
		spin->end = mimic_now() + microseconds * 1000ull;
}

bool mimic_spin_step(struct mimic_spin *spin)
{
	spin->steps++;
	if (!spin->end) {
		/* The peer needs this CPU to get on. */
		if (spin->steps > YIELDS)
			return false;
		sched_yield();
		return true;
	}
	mimic_pause_cpu();
	if (spin->steps % STEPS_PER_CLOCK)
		return true;
	return mimic_now() < spin->end;
}

bool mimic_yield(struct mimic_yield *yield)
{
	uint64_t before = mimic_now(), after;

	if (before < atomic_load_explicit(&yield->not_before, memory_order_relaxed))
		return false;
	sched_yield();
	after = mimic_now();
	if (after - before > YIELD_NS)
		atomic_store_explicit(&yield->not_before, after + NO_YIELD_NS, memory_order_relaxed);
	return true;
}

bool mimic_spin_step_yielding(struct mimic_spin *spin, struct mimic_yield *yield)
{
	bool goes_on = mimic_spin_step(spin);

	if (goes_on && spin->steps % STEPS_PER_YIELD == 0)
		mimic_yield(yield);
	return goes_on;
}

void mimic_fence_prepare(void)
{
	int saved = errno;

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0)
		atomic_store(&fence_is_asymmetric, true);
	errno = saved;
}

/* Not atomic_thread_fence(): gcc refuses it where ThreadSanitizer is on, which does not know fences. */
static void full_fence(void)
{
	__sync_synchronize();
}

void mimic_fence_light(void)
{
	if (atomic_load_explicit(&fence_is_asymmetric, memory_order_relaxed))
		atomic_signal_fence(memory_order_seq_cst);
	else
		full_fence();
}

void mimic_fence_heavy(void)
{
	int saved = errno;

	/* Makes every running thread of the process execute a full barrier. */
	if (atomic_load_explicit(&fence_is_asymmetric, memory_order_relaxed))
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	errno = saved;
	full_fence();
}

static void sleep_for_lock(struct mimic_lock *lock, uint32_t self)
{
	for (;;) {
		uint32_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);

		/* Others may still sleep, and only the holder's release wakes them: keep the flag. */
		if (!word && atomic_compare_exchange_strong_explicit(&lock->word, &word,
								     self | MIMIC_LOCK_SLEEPERS,
								     memory_order_acquire,
								     memory_order_relaxed))
			break;
		if (!word)
			continue;
		if (!(word & MIMIC_LOCK_SLEEPERS) &&
		    !atomic_compare_exchange_strong_explicit(&lock->word, &word,
							     word | MIMIC_LOCK_SLEEPERS,
							     memory_order_relaxed,
							     memory_order_relaxed))
			continue;
		mimic_futex_wait(&lock->word, word | MIMIC_LOCK_SLEEPERS, 0, MIMIC_FUTEX_PRIVATE);
	}
	mimic_lock_note(lock);
}

/* false: the holder begins to wait for something else. */
static bool let_time_pass(const _Atomic uint32_t *pauses, uint32_t paused)
{
	uint64_t end = mimic_now() + HOLDER_NS;

	/* Counted, too: threads that may not read the clock have one that goes on by a nanosecond for each call. */
	for (unsigned int i = 0; i < HOLDER_STEPS && mimic_now() < end; i++) {
		if (pauses && atomic_load_explicit(pauses, memory_order_relaxed) != paused)
			return false;
		mimic_pause_cpu();
	}
	return true;
}

/*
 * A holder comes again at once, mostly, and a device's cache lines have to follow each change of the thread. So a
 * thread that waits leaves the lock alone while its holder goes on, about as long as it takes to fill a queue or to
 * empty it. Two threads that share a queue then take turns by queues, and not by words.
 */
static void leave_it_to_the_holder(struct mimic_lock *lock, const _Atomic uint32_t *pauses)
{
	uint32_t paused = pauses ? atomic_load_explicit(pauses, memory_order_relaxed) : 0;
	uint32_t turns = atomic_load_explicit(&lock->turns, memory_order_relaxed), before;

	for (unsigned int look = 0; look < HOLDER_LOOKS; look++) {
		before = turns;
		if (!let_time_pass(pauses, paused))
			return;
		turns = atomic_load_explicit(&lock->turns, memory_order_relaxed);
		if (turns == before)
			return;
	}
}

static bool spin_for_lock(struct mimic_lock *lock, uint32_t self, const _Atomic uint32_t *pauses)
{
	struct mimic_spin spin;

	mimic_spin_start(&spin, MIMIC_SPIN_MICROSECONDS,
			 mimic_cpu_is_elsewhere(atomic_load_explicit(&lock->cpu, memory_order_relaxed)));
	do {
		if (spin.end)
			leave_it_to_the_holder(lock, pauses);
		if (!atomic_load_explicit(&lock->word, memory_order_relaxed) && mimic_lock_try(lock, self))
			return true;
	} while (mimic_spin_step(&spin));
	return false;
}

int mimic_lock_wait(struct mimic_lock *lock, uint32_t self, const _Atomic uint32_t *pauses)
{
	if ((atomic_load_explicit(&lock->word, memory_order_relaxed) & ~MIMIC_LOCK_SLEEPERS) == self)
		return -EDEADLK;
	/* The holder says only after it has got the lock where it runs, and until then we would take its CPU for ours. */
	if (mimic_cpu_is_elsewhere(MIMIC_CPU_UNKNOWN)) {
		leave_it_to_the_holder(lock, pauses);
		if (mimic_lock_try(lock, self))
			return 0;
	}
	if (!spin_for_lock(lock, self, pauses))
		sleep_for_lock(lock, self);
	return 0;
}

void mimic_lock_wake(struct mimic_lock *lock)
{
	mimic_futex_wake(&lock->word, 1, MIMIC_FUTEX_PRIVATE);
}
