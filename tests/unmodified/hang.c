/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A coherent 64-bit fetch at 4 mod 8, with which the artifact's queue hangs for good (contract A5).
 * With an argument in two queues. Exit status 1: a queue answers, as hardware cannot.
 */
#include "contract.h"

enum { LLC_POINTER64 = 45 };

/* No half is 0, which the queue answers in place of data. */
static const uint64_t data[4] = {
	0x1111111122222222, 0x3333333344444444, 0x5555555566666666, 0x7777777788888888,
};

static uint32_t hang(volatile void *page, unsigned int queue)
{
	load32(page, OPEN_PRODUCER, queue);
	load32(page, OPEN_CONSUMER, queue);
	store64(page, SET_BASE32, queue, (uintptr_t)data);
	store64(page, LLC_POINTER64, queue, 1);
	/* hardware would stand here */
	return load32(page, CONSUME, queue);
}

int main(int argc, char **argv)
{
	unsigned int queues = argc > 1 ? 2 : 1;
	int fd = open("/dev/maple0", O_RDWR);
	volatile void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return 2;
	load32(page, RESET, 0);
	load32(page, INIT, WORDS_32);
	(void)argv;
	for (unsigned int queue = 0; queue < queues; queue++) {
		if (hang(page, queue))
			return 1;
	}
	return 0;
}
