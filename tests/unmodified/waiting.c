/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A thread that waits for an empty queue still runs its signal handlers, and one of them may jump away. */
#include "contract.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

static void *page;
static sigjmp_buf out;
static volatile int ticks;
static volatile int errors;

static void feed(int number)
{
	(void)number;
	if (++ticks == 5)
		store32(page, PRODUCE, 0, 1234);	/* lets the interrupted load go on */
}

static void jump(int number)
{
	(void)number;
	ticks++;
	siglongjmp(out, 1);
}

/* Again and again, or once: a machine with much to do may need more than 10 ms to stop a timer. */
static void after_10_ms(void (*handler)(int), int is_repeated)
{
	struct itimerval timer = { { 0, is_repeated ? 10000 : 0 }, { 0, 10000 } };

	ticks = 0;
	signal(SIGALRM, handler);
	CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void stop(void)
{
	struct itimerval timer = { 0 };

	CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

int main(int argc, char **argv)
{
	int i;

	(void)argv;
	page = map_node("/dev/maple0", WORDS_8);
	open_both(page, 0);
	if (argc > 1) {	/* the test kills it */
		puts("waiting");
		fflush(stdout);
		return (int)load32(page, CONSUME, 0);
	}
	after_10_ms(feed, 1);
	errno = EDOM;
	CHECK(load32(page, CONSUME, 0) == 1234);
	CHECK(errno == EDOM);	/* a load is no call */
	CHECK(ticks >= 5);
	stop();
	for (i = 0; i < 5; i++) {
		if (sigsetjmp(out, 1) == 0) {
			after_10_ms(jump, 0);
			load32(page, CONSUME, 0);
			errors++;	/* nobody produced */
		}
		stop();
		CHECK(errors == 0 && ticks == 1);
		store64(page, PRODUCE, 0, 0x0000000700000006ull);
		CHECK(load32(page, CONSUME, 0) == 6);
		CHECK(load32(page, CONSUME, 0) == 7);
	}
	return 0;
}
