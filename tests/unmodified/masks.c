/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Signals blocked around device accesses: the accesses work, and the program sees the mask that it set. */
#include "contract.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/select.h>
#include <time.h>

static void *page;
static volatile int count;

static void on_signal(int number)
{
	(void)number;
	count++;
}

static void use_device(unsigned int queue, uint32_t value)
{
	store32(page, PRODUCE, queue, value);
	CHECK(load32(page, CONSUME, queue) == value);
}

static void *thread_main(void *argument)
{
	sigset_t all;
	sigset_t seen;

	(void)argument;
	sigfillset(&all);
	CHECK(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
	open_both(page, 1);
	use_device(1, 9);
	CHECK(pthread_sigmask(SIG_BLOCK, NULL, &seen) == 0);
	CHECK(sigismember(&seen, SIGSEGV) == 1 && sigismember(&seen, SIGTERM) == 1);
	return NULL;
}

static void mask_of_handler(int number)
{
	(void)number;
	use_device(0, 10);	/* sa_mask holds all signals */
	count++;
}

static void wait_with_mask(void)
{
	struct timespec short_time = { .tv_nsec = 1000 };
	sigset_t all;
	sigset_t seen;

	sigfillset(&all);
	CHECK(ppoll(NULL, 0, &short_time, &all) == 0);
	CHECK(pselect(0, NULL, NULL, NULL, &short_time, &all) == 0);
	CHECK(sigprocmask(SIG_BLOCK, NULL, &seen) == 0);
	CHECK(sigismember(&seen, SIGSEGV) == 0);
	use_device(0, 11);
}

/* sigsuspend() lets the signal in, and its handler uses the device with all others blocked. */
static void suspend(void)
{
	struct sigaction action = { .sa_handler = mask_of_handler };
	struct sigaction old;
	sigset_t block;
	sigset_t during;

	sigfillset(&action.sa_mask);
	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	CHECK(sigaction(SIGUSR1, NULL, &old) == 0);
	CHECK(sigismember(&old.sa_mask, SIGSEGV) == 1);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	CHECK(sigprocmask(SIG_BLOCK, &block, NULL) == 0);
	count = 0;
	raise(SIGUSR1);
	CHECK(count == 0);
	sigfillset(&during);
	sigdelset(&during, SIGUSR1);
	CHECK(sigsuspend(&during) == -1);
	CHECK(count == 1);
	CHECK(sigprocmask(SIG_UNBLOCK, &block, NULL) == 0);
}

int main(void)
{
	sigset_t all;
	sigset_t none;
	sigset_t seen;
	pthread_t thread;

	page = map_node("/dev/maple0", WORDS_8);
	open_both(page, 0);
	sigfillset(&all);
	sigemptyset(&none);
	signal(SIGSEGV, on_signal);
	CHECK(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
	use_device(0, 7);
	CHECK(sigprocmask(SIG_SETMASK, NULL, &seen) == 0);
	CHECK(sigismember(&seen, SIGSEGV) == 1 && sigismember(&seen, SIGBUS) == 1);
	/* One that is sent meanwhile waits until it is let in. */
	raise(SIGSEGV);
	CHECK(count == 0);
	CHECK(sigpending(&seen) == 0 && sigismember(&seen, SIGSEGV) == 1);
	use_device(0, 8);
	CHECK(sigprocmask(SIG_SETMASK, &none, &seen) == 0);
	CHECK(sigismember(&seen, SIGSEGV) == 1);
	CHECK(count == 1);
	CHECK(pthread_create(&thread, NULL, thread_main, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	wait_with_mask();
	suspend();
	return 0;
}
