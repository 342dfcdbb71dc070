/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Futexes, spinning and the lock of libmimic/base/wait.h. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/base/clock.h"
#include "libmimic/base/wait.h"

#define MILLISECOND 1000000ull

static _Atomic uint32_t word;

static void a_futex_with_another_value_does_not_wait(void **state)
{
	(void)state;
	atomic_store(&word, 5);
	assert_int_equal(mimic_futex_wait(&word, 4, 0, MIMIC_FUTEX_PRIVATE), -EAGAIN);
	assert_int_equal(mimic_futex_wait(&word, 4, 0, MIMIC_FUTEX_SHARED), -EAGAIN);
}

static void a_futex_waits_no_longer_than_its_timeout(void **state)
{
	uint64_t start = mimic_now();

	(void)state;
	atomic_store(&word, 5);
	assert_int_equal(mimic_futex_wait(&word, 5, 20 * MILLISECOND, MIMIC_FUTEX_PRIVATE), -ETIMEDOUT);
	assert_true(mimic_now() - start >= 20 * MILLISECOND);
}

static void *wake_later(void *scope)
{
	usleep(20000);
	atomic_store(&word, 6);
	mimic_futex_wake(&word, 1, *(enum mimic_futex_scope *)scope);
	return NULL;
}

static void a_futex_sleeper_is_woken(void **state)
{
	enum mimic_futex_scope scopes[] = { MIMIC_FUTEX_PRIVATE, MIMIC_FUTEX_SHARED };
	pthread_t thread;

	(void)state;
	for (int i = 0; i < 2; i++) {
		atomic_store(&word, 5);
		assert_int_equal(pthread_create(&thread, NULL, wake_later, &scopes[i]), 0);
		while (atomic_load(&word) == 5)
			mimic_futex_wait(&word, 5, 10000 * MILLISECOND, scopes[i]);
		assert_int_equal(atomic_load(&word), 6);
		pthread_join(thread, NULL);
	}
}

static void waiting_keeps_errno(void **state)
{
	(void)state;
	atomic_store(&word, 5);
	errno = 1234;
	mimic_futex_wait(&word, 4, 0, MIMIC_FUTEX_PRIVATE);
	mimic_futex_wait(&word, 5, MILLISECOND, MIMIC_FUTEX_PRIVATE);
	mimic_futex_wake(&word, 1, MIMIC_FUTEX_PRIVATE);
	mimic_fence_prepare();
	mimic_fence_heavy();
	mimic_cpu_is_elsewhere(MIMIC_CPU_UNKNOWN);
	assert_int_equal(errno, 1234);
}

static void the_cpu_is_the_one_we_are_pinned_to(void **state)
{
	cpu_set_t before, one;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &before))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
		assert_int_equal(mimic_cpu_current(), cpu);
		assert_false(mimic_cpu_is_elsewhere(cpu));
		assert_true(mimic_cpu_is_elsewhere(cpu + 1));
	}
	sched_setaffinity(0, sizeof(before), &before);
}

static void spinning_ends_by_time(void **state)
{
	struct mimic_spin spin;
	uint64_t start = mimic_now(), spun;

	(void)state;
	mimic_spin_start(&spin, 2000, true);
	while (mimic_spin_step(&spin))
		;
	spun = mimic_now() - start;
	assert_true(spun >= 2 * MILLISECOND);
	/* Generous: the machine may be busy. A count of steps would take seconds. */
	assert_true(spun < 500 * MILLISECOND);
}

static void nobody_spins_for_a_peer_on_the_same_cpu(void **state)
{
	struct mimic_spin spin;
	int steps = 0;

	(void)state;
	mimic_spin_start(&spin, 1000000, false);
	while (mimic_spin_step(&spin))
		steps++;
	assert_in_range(steps, 1, 2);
	mimic_spin_start(&spin, 0, true);
	for (steps = 0; mimic_spin_step(&spin); steps++)
		;
	assert_in_range(steps, 1, 2);
}

static struct mimic_lock lock;
static uint64_t counter;

static void the_holder_of_a_lock_is_told_of_a_deadlock(void **state)
{
	(void)state;
	assert_int_equal(mimic_lock_acquire(&lock, 7), 0);
	assert_int_equal(mimic_lock_acquire(&lock, 7), -EDEADLK);
	assert_false(mimic_lock_try(&lock, 7));
	assert_false(mimic_lock_try(&lock, 8));
	mimic_lock_release(&lock);
	assert_true(mimic_lock_try(&lock, 8));
	mimic_lock_release(&lock);
}

static void *count_up(void *self)
{
	for (int i = 0; i < 20000; i++) {
		if (mimic_lock_acquire(&lock, (uint32_t)(uintptr_t)self))
			abort();
		counter++;
		/* Let others run into the lock, some of them asleep. */
		if (i % 1000 == 0)
			sched_yield();
		mimic_lock_release(&lock);
	}
	return NULL;
}

static void a_lock_lets_one_thread_in_at_a_time(void **state)
{
	pthread_t threads[4];

	(void)state;
	counter = 0;
	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_up, (void *)(i + 1)), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(counter, 80000);
}

static _Atomic bool got_it;

static void *acquire_once(void *unused)
{
	(void)unused;
	if (mimic_lock_acquire(&lock, 2))
		abort();
	atomic_store(&got_it, true);
	mimic_lock_release(&lock);
	return NULL;
}

/* Not on this CPU, if the thread may use another one. */
static void leave_cpu(int cpu)
{
	cpu_set_t others;

	if (sched_getaffinity(0, sizeof(others), &others))
		return;
	CPU_CLR(cpu, &others);
	sched_setaffinity(0, sizeof(others), &others);
}

#define SECTIONS 20u

static void *take_again_and_again(void *cpu)
{
	leave_cpu((int)(uintptr_t)cpu);
	while (!atomic_load(&got_it)) {
		if (mimic_lock_acquire(&lock, 3))
			abort();
		mimic_lock_release(&lock);
	}
	return cpu;
}

static void a_thread_gets_a_lock_soon_whose_holder_goes_on(void **state)
{
	unsigned int soon = 0;
	pthread_t holder;
	cpu_set_t cpus;

	(void)state;
	if (!sched_getaffinity(0, sizeof(cpus), &cpus) && CPU_COUNT(&cpus) < 2) {
		print_message("on one CPU a thread waits for the holder's time slice\n");
		skip();
	}
	atomic_store(&got_it, false);
	assert_int_equal(pthread_create(&holder, NULL, take_again_and_again,
					(void *)(uintptr_t)mimic_cpu_current()), 0);
	/* The number of CPUs is asked again by then; tests before this one were on one. */
	usleep(120000);
	/* As if it had run into a section each time. */
	for (unsigned int i = 0; i < SECTIONS; i++) {
		uint32_t turns = atomic_load(&lock.turns);

		/* It may sleep since our section. */
		while (atomic_load(&lock.turns) == turns)
			;
		turns = atomic_load(&lock.turns);
		assert_int_equal(mimic_lock_wait(&lock, 1, NULL), 0);
		turns = atomic_load(&lock.turns) - turns;
		mimic_lock_release(&lock);
		/* Of a time slice there would be a hundred thousand. */
		soon += turns < 5000;
	}
	atomic_store(&got_it, true);
	pthread_join(holder, NULL);
	assert_in_range(soon, SECTIONS / 2, SECTIONS);
}

static void *wait_with_pauses(void *pauses)
{
	if (!mimic_lock_try(&lock, 2) && mimic_lock_wait(&lock, 2, pauses))
		abort();
	counter++;
	mimic_lock_release(&lock);
	return NULL;
}

static void a_pause_of_the_holder_is_no_release(void **state)
{
	static _Atomic uint32_t pauses;
	pthread_t thread;

	(void)state;
	counter = 0;
	assert_int_equal(mimic_lock_acquire(&lock, 1), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_with_pauses, &pauses), 0);
	for (int i = 0; i < 1000; i++) {
		atomic_fetch_add(&pauses, 1);
		sched_yield();
		assert_int_equal(counter, 0);
	}
	mimic_lock_release(&lock);
	pthread_join(thread, NULL);
	assert_int_equal(counter, 1);
}

static void a_thread_that_sleeps_for_a_lock_is_woken(void **state)
{
	pthread_t thread;

	(void)state;
	atomic_store(&got_it, false);
	assert_int_equal(mimic_lock_acquire(&lock, 1), 0);
	assert_int_equal(pthread_create(&thread, NULL, acquire_once, NULL), 0);
	/* Far longer than anybody spins. */
	usleep(30000);
	assert_false(atomic_load(&got_it));
	mimic_lock_release(&lock);
	pthread_join(thread, NULL);
	assert_true(atomic_load(&got_it));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_futex_with_another_value_does_not_wait),
		cmocka_unit_test(a_futex_waits_no_longer_than_its_timeout),
		cmocka_unit_test(a_futex_sleeper_is_woken),
		cmocka_unit_test(waiting_keeps_errno),
		cmocka_unit_test(the_cpu_is_the_one_we_are_pinned_to),
		cmocka_unit_test(spinning_ends_by_time),
		cmocka_unit_test(nobody_spins_for_a_peer_on_the_same_cpu),
		cmocka_unit_test(the_holder_of_a_lock_is_told_of_a_deadlock),
		cmocka_unit_test(a_lock_lets_one_thread_in_at_a_time),
		cmocka_unit_test(a_thread_gets_a_lock_soon_whose_holder_goes_on),
		cmocka_unit_test(a_pause_of_the_holder_is_no_release),
		cmocka_unit_test(a_thread_that_sleeps_for_a_lock_is_woken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
