/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Ends in the way its argument says. */
#include "contract.h"

#include <signal.h>
#include <string.h>

static void *volatile nowhere;

static void bus(void)
{
	FILE *file = tmpfile();
	volatile char *memory = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fileno(file), 0);

	(void)*memory;
}

/* A fetch-and-add on a device page: no plain load or store. */
static void exchange_add(volatile void *page)
{
	__asm__ volatile("lock xaddl %%eax, (%0)" : : "r"(page) : "eax", "memory");
}

static void back_to_the_default(int number)
{
	signal(number, SIG_DFL);
}

static __attribute__((noinline)) uint32_t load_it(const volatile void *address)
{
	return *(const volatile uint32_t *)address;
}

/* By an instruction that has accessed the device before. */
static int load_nowhere(volatile char *page)
{
	uint32_t sum = 0;
	unsigned int i;

	for (i = 0; i < 10; i++)
		sum += load_it(page + (DEBUG << 3));
	return (int)(sum + load_it(nowhere));
}

static int overflow(void)
{
	volatile char *memory = malloc(10);
	volatile int index = 10;

	return memory[index];
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	void *page = map_node("/dev/maple0", WORDS_8);

	if (strcmp(how, "status") == 0)
		return 42;
	if (strcmp(how, "null") == 0)
		*(volatile int *)nowhere = 1;
	if (strcmp(how, "call") == 0)
		((void (*)(void))nowhere)();
	if (strcmp(how, "execute-device") == 0)
		((void (*)(void))page)();
	if (strcmp(how, "raise") == 0)
		raise(SIGSEGV);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "bus") == 0)
		bus();
	if (strcmp(how, "exchange-add") == 0)
		exchange_add(page);
	if (strcmp(how, "handled-exchange-add") == 0) {
		signal(SIGBUS, back_to_the_default);
		exchange_add(page);
	}
	if (strcmp(how, "load-null") == 0)
		return load_nowhere(page);
	if (strcmp(how, "overflow") == 0)
		return overflow();
	if (strcmp(how, "blocked-null") == 0) {
		sigset_t all;

		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, NULL);
		signal(SIGSEGV, SIG_IGN);
		*(volatile int *)nowhere = 1;
	}
	puts("still alive");
	return 0;
}
