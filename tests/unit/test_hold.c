/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Signals that come where the device cannot be used: they are handled afterwards, in the order in which they came. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "libmimic/base/hold.h"
#include "libmimic/base/thread.h"
#include "libmimic/mimic.h"

#define SIGNALS 5

static volatile sig_atomic_t values[SIGNALS + 1], handled;
static volatile sig_atomic_t sum;	/* of all values */
static volatile sig_atomic_t calls;	/* of mimic_signal_defer() that the handler makes */

static void handle(int number, siginfo_t *information, void *context)
{
	for (int i = 0; i < calls; i++) {
		if (mimic_signal_defer(number, information, context))
			return;
	}
	if (handled <= SIGNALS)
		values[handled] = information->si_value.sival_int;
	sum += information->si_value.sival_int;
	handled++;
}

static void send_in_a_hold(int number)
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };

	handled = 0;
	assert_int_equal(mimic_thread_attach(), 0);
	assert_int_equal(sigaction(number, &action, NULL), 0);
	mimic_hold_begin();
	/* To the thread: signals of the process come after those that the thread sends itself. */
	for (int i = 0; i < SIGNALS; i++)
		assert_int_equal(pthread_sigqueue(pthread_self(), number, (union sigval){ .sival_int = 10 + i }), 0);
	assert_int_equal(handled, 0);
	mimic_hold_end();
}

static void queued_signals_keep_their_order(void **state)
{
	(void)state;
	calls = 1;
	send_in_a_hold(SIGRTMIN);
	assert_int_equal(handled, SIGNALS);
	for (int i = 0; i < SIGNALS; i++)
		assert_int_equal(values[i], 10 + i);
}

/* Under `mimic run` the library has taken the step before a handler that takes it, too. */
static void a_handler_may_ask_twice(void **state)
{
	(void)state;
	calls = 2;
	send_in_a_hold(SIGRTMIN);
	assert_int_equal(handled, SIGNALS);
	for (int i = 0; i < SIGNALS; i++)
		assert_int_equal(values[i], 10 + i);
}

/* The kernel keeps one of them at most beside the one that was deferred. */
static void signals_that_do_not_queue_come_once_or_twice(void **state)
{
	(void)state;
	calls = 2;
	send_in_a_hold(SIGUSR1);
	assert_true(handled == 1 || handled == 2);
}

static void queue(int number, int value)
{
	assert_int_equal(pthread_sigqueue(pthread_self(), number, (union sigval){ .sival_int = value }), 0);
}

static void set_handler(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };

	assert_int_equal(mimic_thread_attach(), 0);
	assert_int_equal(sigaction(number, &action, NULL), 0);
	handled = 0;
	calls = 1;
}

/* All at once: the kernel begins the handlers of all of them before the first instruction of one. */
static void send_at_once(int number, unsigned int count)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	handled = 0;
	for (unsigned int i = 0; i < count; i++)
		queue(number, 10 + (int)i);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void handlers_in_each_other_are_told_what_they_are_without_the_device(void **state)
{
	int expected[SIGNALS];

	(void)state;
	set_handler(SIGRTMIN, handle, SA_NODEFER);
	send_at_once(SIGRTMIN, SIGNALS);
	assert_int_equal(handled, SIGNALS);
	for (int i = 0; i < SIGNALS; i++)
		expected[i] = values[i];
	mimic_hold_begin();
	send_at_once(SIGRTMIN, SIGNALS);
	assert_int_equal(handled, 0);
	mimic_hold_end();
	assert_int_equal(handled, SIGNALS);
	for (int i = 0; i < SIGNALS; i++)
		assert_int_equal(values[i], expected[i]);
	/* Nothing is left of them. */
	handled = 0;
	queue(SIGRTMIN, 77);
	assert_int_equal(handled, 1);
	assert_int_equal(values[0], 77);
}

static void more_handlers_in_each_other_than_have_room_are_told_later(void **state)
{
	const int count = 3 * MIMIC_THREAD_SIGNALS;

	(void)state;
	set_handler(SIGRTMIN, handle, SA_NODEFER);
	sum = 0;
	mimic_hold_begin();
	send_at_once(SIGRTMIN, (unsigned int)count);
	assert_int_equal(handled, 0);
	mimic_hold_end();
	assert_int_equal(handled, count);
	assert_int_equal(sum, count * 10 + count * (count - 1) / 2);
}

static void the_mask_is_afterwards_what_it_was(void **state)
{
	sigset_t before, after, both;

	(void)state;
	set_handler(SIGUSR1, handle, 0);
	set_handler(SIGUSR2, handle, 0);
	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	mimic_hold_begin();
	pthread_sigmask(SIG_BLOCK, &both, NULL);
	raise(SIGUSR1);
	raise(SIGUSR2);
	pthread_sigmask(SIG_UNBLOCK, &both, NULL);
	assert_int_equal(handled, 0);
	mimic_hold_end();
	assert_int_equal(handled, 2);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	for (int i = 1; i < SIGRTMAX; i++)
		assert_int_equal(sigismember(&after, i), sigismember(&before, i));
}

/* Other programs of the user may take the last place meanwhile. */
static void a_signal_waits_while_the_kernel_has_no_room_for_it(void **state)
{
	struct rlimit before, none;

	(void)state;
	set_handler(SIGRTMIN, handle, 0);
	assert_int_equal(getrlimit(RLIMIT_SIGPENDING, &before), 0);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
	mimic_hold_begin();
	queue(SIGRTMIN, 10);
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &none), 0);
	mimic_hold_end();
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &before), 0);
	/* Until the thread has used a device again, or another one comes. */
	mimic_hold_begin();
	assert_int_equal(handled, 0);
	mimic_hold_end();
	assert_int_equal(handled, 1);
	assert_int_equal(values[0], 10);
}

static int waited;

/* Blocks all others. */
static void take_by_waiting(int number, siginfo_t *information, void *context)
{
	const struct timespec none = { 0 };
	siginfo_t taken = { 0 };
	sigset_t set;

	if (mimic_signal_defer(number, information, context))
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	waited = sigtimedwait(&set, &taken, &none) == SIGRTMIN ? taken.si_value.sival_int : 0;
}

/* As a function that accesses the device: a signal that comes meanwhile is told at its end. */
static void __attribute__((noinline)) get_while_in_use(int queued, int other)
{
	mimic_hold_begin();
	if (queued)
		queue(queued, 10);
	raise(other);
	mimic_hold_end();
}

static void a_signal_that_is_taken_otherwise_is_told_once(void **state)
{
	struct sigaction action = { .sa_sigaction = take_by_waiting, .sa_flags = SA_SIGINFO };

	(void)state;
	set_handler(SIGRTMIN, handle, 0);
	sigfillset(&action.sa_mask);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	/* The other one comes first, by its number. */
	get_while_in_use(SIGRTMIN, SIGUSR1);
	assert_int_equal(waited, 10);
	assert_int_equal(handled, 0);
	queue(SIGRTMIN, 20);
	assert_int_equal(handled, 1);
	assert_int_equal(values[0], 20);
}

static sigjmp_buf out;

static void jump_out(int number, siginfo_t *information, void *context)
{
	if (!mimic_signal_defer(number, information, context))
		siglongjmp(out, 1);
}

static void a_handler_that_jumps_away_leaves_nothing_behind(void **state)
{
	struct sigaction action = { .sa_sigaction = take_by_waiting, .sa_flags = SA_SIGINFO };

	(void)state;
	set_handler(SIGUSR2, jump_out, 0);
	set_handler(SIGRTMIN, handle, 0);
	sigfillset(&action.sa_mask);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	if (!sigsetjmp(out, 1)) {
		get_while_in_use(0, SIGUSR2);
		fail();
	}
	get_while_in_use(SIGRTMIN, SIGUSR1);
	assert_int_equal(waited, 10);
	queue(SIGRTMIN, 20);
	assert_int_equal(handled, 1);
	assert_int_equal(values[0], 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queued_signals_keep_their_order),
		cmocka_unit_test(a_handler_may_ask_twice),
		cmocka_unit_test(signals_that_do_not_queue_come_once_or_twice),
		cmocka_unit_test(a_signal_waits_while_the_kernel_has_no_room_for_it),
		cmocka_unit_test(a_signal_that_is_taken_otherwise_is_told_once),
		cmocka_unit_test(a_handler_that_jumps_away_leaves_nothing_behind),
		cmocka_unit_test(the_mask_is_afterwards_what_it_was),
		cmocka_unit_test(more_handlers_in_each_other_than_have_room_are_told_later),
		cmocka_unit_test(handlers_in_each_other_are_told_what_they_are_without_the_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
