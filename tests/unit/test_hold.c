/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Signals that come where the device cannot be used: they are handled afterwards, in the order in which they came. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libmimic/base/hold.h"
#include "libmimic/mimic.h"

#define SIGNALS 5

static volatile sig_atomic_t values[SIGNALS + 1], handled;
static volatile sig_atomic_t calls;	/* of mimic_signal_defer() that the handler makes */

static void handle(int number, siginfo_t *information, void *context)
{
	for (int i = 0; i < calls; i++) {
		if (mimic_signal_defer(number, information, context))
			return;
	}
	if (handled <= SIGNALS)
		values[handled] = information->si_value.sival_int;
	handled++;
}

static void send_in_a_hold(int number)
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };

	handled = 0;
	assert_int_equal(mimic_thread_attach(), 0);
	assert_int_equal(sigaction(number, &action, NULL), 0);
	mimic_hold_begin();
	/* To the thread: what is sent to the process comes after what the thread sends itself. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queued_signals_keep_their_order),
		cmocka_unit_test(a_handler_may_ask_twice),
		cmocka_unit_test(signals_that_do_not_queue_come_once_or_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
