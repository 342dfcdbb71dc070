/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Threads are cancelled in the middle of an access, at any instruction. Each has a cleanup handler with a large buffer,
 * which lies where the access had its frame, and which unmaps the page: nothing may be written into the buffer. Others
 * leave an access by a handler first.
 */
#include "contract.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#define THREADS 500u
#define FILLED 0xa5
#define JUMPS 60u

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

static jmp_buf out;
static const char *page_of_jumps;

static void jump_out(int number)
{
	longjmp(out, number);
}

/* Its mask is the program's, wherever in an access the handler came. */
static void *jump_and_wait(void *unused)
{
	sigset_t mask;
	uint64_t blocked = 0;
	int before;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
	if (!setjmp(out)) {
		works = 1;
		for (;;)
			load_debug(page_of_jumps);
	}
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(blocked));
	memcpy(&blocked, &mask, sizeof(blocked));
	damaged += blocked != 0;
	works = 2;
	for (;;)
		pause();
	return unused;
}

/* Threads that leave an access by a handler can be cancelled afterwards. */
static void check_jumps(void)
{
	const struct sigaction action = { .sa_handler = jump_out, .sa_flags = SA_NODEFER };
	unsigned int i;

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	page_of_jumps = map_or_die(open_or_die("/dev/maple0"), 0);
	for (i = 0; i < JUMPS; i++) {
		pthread_t thread;

		works = 0;
		CHECK(pthread_create(&thread, NULL, jump_and_wait, NULL) == 0);
		while (!works)
			usleep(10);
		usleep(50 + i % 97);
		pthread_kill(thread, SIGUSR1);
		while (works != 2)
			usleep(10);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
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
	check_jumps();
	printf("%u threads cancelled, %u bytes damaged\n", cleaned, damaged);
	return damaged > 0;
}
