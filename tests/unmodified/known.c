/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A handler of a signal accesses one device while the program accesses another, and changes the rights of its page
 * before each access, so that nothing that the library knows of pages stays true. The pages lie so that they share a
 * place in a small table. Each answers for itself.
 */
#include "contract.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

#define ROUNDS 1000000u
#define SECONDS 30 /* where a signal takes as long as the time between two */
#define APART (4 * PAGE)

static volatile char *pages[2];
static uint32_t wanted[2];
static volatile unsigned int handled, wrong;

/* As far away as is needed for six bytes: an instruction that has room for a jump. */
static __attribute__((noinline)) uint32_t load_debug(volatile char *page)
{
	uint32_t value;

	__asm__ volatile("mov %c2(%1), %0\n" : "=r"(value) : "r"(page - 65536), "i"(65536 + (DEBUG << 3)) : "memory");
	return value;
}

static void on_alarm(int number)
{
	(void)number;
	handled++;
	wrong += load_debug(pages[1]) != wanted[1];
}

static void start(unsigned int i)
{
	int fd = open(i ? "/dev/maple1" : "/dev/maple0", O_RDWR);
	char *address = (char *)0x200000000ull + i * APART;
	unsigned int words;

	CHECK(fd >= 0);
	pages[i] = mmap(address, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
	CHECK(pages[i] == address);
	load64((void *)pages[i], RESET, 0);
	CHECK(load64((void *)pages[i], INIT, WORDS_64));
	CHECK(load64((void *)pages[i], OPEN_PRODUCER, 0));
	for (words = 0; words < 3 + 4 * i; words++)
		store32((void *)pages[i], PRODUCE, 0, words);
	wanted[i] = load_debug(pages[i]);
}

int main(void)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	const time_t end = time(NULL) + SECONDS;
	unsigned int round;

	start(0);
	start(1);
	CHECK(wanted[0] != wanted[1]);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (round = 0; round < ROUNDS && time(NULL) < end; round++) {
		CHECK(mprotect((void *)pages[0], PAGE, PROT_READ | PROT_WRITE) == 0);
		wrong += load_debug(pages[0]) != wanted[0];
		wrong += load_debug(pages[0]) != wanted[0];
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%u handlers, %u wrong values\n", handled, wrong);
	return wrong > 0;
}
