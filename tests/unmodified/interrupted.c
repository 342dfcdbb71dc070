/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Signals that come at any moment of an access, with handlers that use the same device: each
 * access must be answered, on either side, and each signal must come as it was sent.
 */
#include "contract.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define OUTSIDE 0	/* the queue of the interrupted program */
#define INSIDE 1	/* and that of its handlers */

static void *page;
static unsigned int rounds = 150;
static pthread_t watched;
static atomic_int handled;
static atomic_bool is_over;
static volatile int next_value;
static volatile sig_atomic_t jumps;
static sigjmp_buf out;

/* The values differ from the other side's: an answer that went astray shows. */
static void use_the_device(int number)
{
	uint32_t value = 0x80000000u + (uint32_t)atomic_fetch_add(&handled, 1);

	(void)number;
	store32(page, PRODUCE, INSIDE, value);
	CHECK(load32(page, CONSUME, INSIDE) == value);
}

/* Without `jumps` the device is being set up. */
static void use_and_jump(int number)
{
	if (!jumps) {
		atomic_fetch_add(&handled, 1);
		return;
	}
	use_the_device(number);
	siglongjmp(out, 1);
}

/* Signals with values come in their order, none is lost, and each says which one sent it. */
static void use_and_compare(int number, siginfo_t *information, void *context)
{
	(void)context;
	CHECK(information->si_signo == number && information->si_code == SI_QUEUE);
	CHECK(information->si_pid == getpid());
	CHECK(information->si_value.sival_int == next_value);
	use_the_device(number);
	next_value++;
}

static void set_once(void);

/* Set for one signal only: the handler has to set itself anew. */
static void use_and_set(int number)
{
	struct sigaction action;

	CHECK(sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
	use_the_device(number);
	set_once();
}

static void set_once(void)
{
	struct sigaction action = { .sa_handler = use_and_set, .sa_flags = (int)SA_RESETHAND };

	CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
}

static void pause_for(long nanoseconds)
{
	struct timespec time = { .tv_nsec = nanoseconds };

	nanosleep(&time, NULL);
}

/* A thread that only yields would take the processor from the one that it waits for, when others want it, too. */
static void wait_a_moment(unsigned int times)
{
	if (times < 20)
		sched_yield();
	else
		pause_for(20000);
}

/*
 * The next one is sent when the last one was handled. A SIGSEGV that is sent while one of a trap is
 * on its way is the same signal to the kernel: it is sent again.
 */
static void send_one(int number)
{
	int before = atomic_load(&handled);
	unsigned int times = 0;

	pthread_kill(watched, number);
	while (atomic_load(&handled) == before) {
		wait_a_moment(++times);
		if (number == SIGSEGV && times % 100 == 0)
			pthread_kill(watched, number);
	}
}

/* Of the other thread, at moments that differ. */
static void *send(void *how)
{
	int number = *(int *)how;
	union sigval value = { 0 };
	uint64_t state = 88172645463325252ull;
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		value.sival_int = (int)i;
		if (number >= SIGRTMIN)
			pthread_sigqueue(watched, number, value);
		else
			send_one(number);
		pause_for((long)(next_random(&state) % 20000));
	}
	while (atomic_load(&handled) < (int)rounds)
		pause_for(20000);
	atomic_store(&is_over, true);
	return NULL;
}

/* Accesses of the interrupted side, until all signals have been handled. */
static void access_until_over(void)
{
	uint32_t i;

	for (i = 0; !atomic_load(&is_over); i = (i + 1) & 0x7fffffff) {
		store32(page, PRODUCE, OUTSIDE, i);
		CHECK(load32(page, CONSUME, OUTSIDE) == i);
	}
}

static void under(int number)
{
	pthread_t sender;

	atomic_store(&handled, 0);
	atomic_store(&is_over, false);
	next_value = 0;
	CHECK(pthread_create(&sender, NULL, send, &number) == 0);
	access_until_over();
	CHECK(pthread_join(sender, NULL) == 0);
	CHECK(atomic_load(&handled) >= (int)rounds);
}

/* After a jump nobody knows whether the access was done: the queue starts anew. */
static void under_jumps(void)
{
	int number = SIGUSR1;
	pthread_t sender;

	atomic_store(&handled, 0);
	atomic_store(&is_over, false);
	signal(SIGUSR1, use_and_jump);
	CHECK(pthread_create(&sender, NULL, send, &number) == 0);
	for (;;) {
		if (sigsetjmp(out, 1) == 0) {
			jumps = 1;
			access_until_over();
			jumps = 0;
			break;
		}
		jumps = 0;
		load32(page, RESET, 0);
		CHECK(load32(page, INIT, WORDS_8) == 2);
		open_both(page, OUTSIDE);
		open_both(page, INSIDE);
	}
	CHECK(pthread_join(sender, NULL) == 0);
}

static void under_queued(int number)
{
	struct sigaction action = { .sa_sigaction = use_and_compare, .sa_flags = SA_SIGINFO };

	CHECK(sigaction(number, &action, NULL) == 0);
	under(number);
}

/* A thread that waits in the device takes its signals there, and its handlers are served. */
static void feed_when_interrupted(int number)
{
	use_the_device(number);
	if (atomic_load(&handled) == (int)rounds)
		store32(page, PRODUCE, OUTSIDE, 4711);
}

static void while_waiting(void)
{
	int number = SIGUSR1;
	pthread_t sender;

	atomic_store(&handled, 0);
	signal(SIGUSR1, feed_when_interrupted);
	CHECK(pthread_create(&sender, NULL, send, &number) == 0);
	CHECK(load32(page, CONSUME, OUTSIDE) == 4711);
	CHECK(pthread_join(sender, NULL) == 0);
}

/* The mask is the program's own again once a signal was handled. */
static void mask_is_kept(const sigset_t *before)
{
	sigset_t now;
	int i;

	CHECK(sigprocmask(SIG_BLOCK, NULL, &now) == 0);
	for (i = 1; i < SIGRTMAX; i++)
		CHECK(sigismember(&now, i) == sigismember(before, i));
}

int main(int argc, char **argv)
{
	sigset_t mask;

	if (argc > 1)
		rounds = (unsigned int)atoi(argv[1]);
	watched = pthread_self();
	sigemptyset(&mask);
	sigaddset(&mask, SIGWINCH);
	CHECK(sigprocmask(SIG_BLOCK, &mask, NULL) == 0);
	CHECK(sigprocmask(SIG_BLOCK, NULL, &mask) == 0);
	page = map_node("/dev/maple0", WORDS_8);
	open_both(page, OUTSIDE);
	open_both(page, INSIDE);
	signal(SIGUSR1, use_the_device);
	under(SIGUSR1);
	signal(SIGSEGV, use_the_device);
	under(SIGSEGV);
	set_once();
	under(SIGUSR2);
	under_queued(SIGRTMIN + 3);
	mask_is_kept(&mask);
	while_waiting();
	under_jumps();
	mask_is_kept(&mask);
	return 0;
}
