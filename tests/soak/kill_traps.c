/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Plain loads and stores of a program that knows no library, at the pages of the kernel's node: each is an access
 * that the kernel traps, so each answer is seen alone. Two threads wait for each other in the device.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/soak/kill_work.h"

#define NODE "/dev/maple"
#define PAGE 4096u
#define WORDS 200u
#define AT(operation, field) ((operation) << 3 | (field) << 9)
enum { INIT = 0, OPEN_PRODUCER = 2, OPEN_CONSUMER = 3, CONSUME = 7, PRODUCE = 8, FULL_POINTER32 = 16,
       WORDS_32 = 2 };

struct trap_run {
	volatile unsigned char *page;	/* of the device */
	uint32_t memory[WORDS];		/* that it reads */
};

static uint32_t load32(const struct trap_run *run, unsigned int operation, unsigned int field)
{
	uint32_t value = *(const volatile uint32_t *)(run->page + AT(operation, field));

	kill_mark("a load");
	return value;
}

static void *produce(void *context)
{
	struct trap_run *run = context;

	if ((load32(run, OPEN_PRODUCER, 0) & 3) != 2) {
		kill_fail("a producer is not let in");
		return NULL;
	}
	for (uint32_t i = 0; i < WORDS; i++) {
		if (i % 3)
			*(volatile uint32_t *)(run->page + AT(PRODUCE, 0)) = i;
		else
			*(volatile uint64_t *)(run->page + AT(FULL_POINTER32, 0)) = (uintptr_t)&run->memory[i];
		kill_mark("a store");
	}
	return run;
}

static int consume(const struct trap_run *run, unsigned int variant)
{
	for (uint32_t i = 0; i < WORDS; i++) {
		uint32_t value = load32(run, CONSUME, 0), wanted = i % 3 ? i : i * 7 + variant;

		if (value != wanted)
			return kill_fail("word %u of a queue is %#x, and %#x was produced", i, value, wanted);
	}
	return 0;
}

static int use_page(struct trap_run *run, unsigned int variant)
{
	pthread_t producer;
	void *whole;
	int error;

	for (uint32_t i = 0; i < WORDS; i++)
		run->memory[i] = i * 7 + variant;
	if (load32(run, INIT, WORDS_32) != 2)
		return kill_fail("INIT fails");
	if (pthread_create(&producer, NULL, produce, run))
		return kill_fail("no thread");
	if ((load32(run, OPEN_CONSUMER, 0) & 3) == 1)
		error = consume(run, variant);
	else
		error = kill_fail("a consumer is not let in");
	/* After an error the producer may wait for ever: the process ends. */
	if (error)
		return error;
	pthread_join(producer, &whole);
	return whole ? 0 : -1;
}

static int run_traps(const struct kill_place *place, unsigned int variant, struct kill_result *result)
{
	int fd = open(NODE, O_RDWR | O_CLOEXEC), error;
	struct trap_run run;

	(void)place;
	(void)result;
	if (fd < 0)
		return kill_fail(NODE ": %s", strerror(errno));
	run.page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (run.page == MAP_FAILED)
		return kill_fail(NODE ": mmap: %s", strerror(errno));
	kill_mark("OPEN");
	error = use_page(&run, variant);
	if (error)
		return error;
	munmap((void *)run.page, PAGE);
	close(fd);
	kill_mark("CLOSE");
	return 0;
}

const struct kill_work kill_traps = {
	.name = "traps",
	.run = run_traps,
	.needs_daemon = true,
	.needs_kernel = true,
};
