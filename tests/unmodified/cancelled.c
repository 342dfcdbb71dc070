/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Threads are cancelled in the middle of an access, at any instruction. Each has a cleanup handler with a large buffer,
 * which lies where the access had its frame, and which unmaps the page: nothing may be written into the buffer.
 */
#include "contract.h"

#include <pthread.h>
#include <string.h>

#define THREADS 500u
#define FILLED 0xa5

static volatile unsigned int cleaned, damaged;
static volatile int works;

static __attribute__((noinline)) void clean(void *page)
{
	volatile unsigned char buffer[16384];
	unsigned int i;

	for (i = 0; i < sizeof(buffer); i++)
		buffer[i] = FILLED;
	munmap(page, PAGE);
	for (i = 0; i < sizeof(buffer); i++)
		damaged += buffer[i] != FILLED;
	cleaned++;
}

/* Of six bytes: an instruction that has room for a jump. */
static inline uint32_t load_debug(const char *page)
{
	uint32_t value;

	__asm__ volatile("mov %c2(%1), %0\n" : "=r"(value) : "r"(page - 65536), "i"(65536 + (DEBUG << 3)) : "memory");
	return value;
}

static void *access_for_ever(void *unused)
{
	int fd = open_or_die("/dev/maple0");
	void *page = map_or_die(fd, 0);
	int before;

	(void)unused;
	close(fd);
	pthread_cleanup_push(clean, page);
	load32(page, DEBUG, 2);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
	works = 1;
	for (;;)
		load_debug(page);
	pthread_cleanup_pop(0);
	return NULL;
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < THREADS && !damaged; i++) {
		pthread_t thread;

		works = 0;
		CHECK(pthread_create(&thread, NULL, access_for_ever, NULL) == 0);
		while (!works)
			usleep(10);
		usleep(50 + i % 97);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	printf("%u threads cancelled, %u bytes damaged\n", cleaned, damaged);
	return damaged > 0;
}
