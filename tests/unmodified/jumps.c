/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Handlers of signals that come each 50 us access the device and jump out of the interrupted code: of
 * accesses that wait or are at work, and of the library's clearing up behind earlier jumps.
 */
#include "contract.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#define JUMPS 20000u

static void *page;
static uint32_t wanted;
static sigjmp_buf out;
static volatile unsigned int jumps, wrong;

static void on_alarm(int number)
{
	(void)number;
	wrong += load32(page, DEBUG, 2) != wanted;
	if (++jumps % 4)
		siglongjmp(out, 1);
}

int main(void)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	int fd = open_or_die("/dev/maple0");

	page = map_or_die(fd, 0);
	load32(page, RESET, 0);
	CHECK(load32(page, INIT, WORDS_8) == 2);
	open_both(page, 0);
	wanted = load32(page, DEBUG, 2);
	signal(SIGALRM, on_alarm);
	/* First: on a loaded machine the first signal comes before the loop has begun. */
	if (!sigsetjmp(out, 1))
		setitimer(ITIMER_REAL, &often, NULL);
	while (sigsetjmp(out, 1) || jumps < JUMPS) {
		unsigned int i;

		if (jumps >= JUMPS)
			break;
		for (i = 0; i < 20; i++)
			wrong += load32(page, DEBUG, 2) != wanted;
		load32(page, CONSUME, 0);	/* of an empty queue: waits for ever */
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%u jumps, %u wrong values\n", jumps, wrong);
	return wrong > 0;
}
