/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Keeps three words in queue 0 and lets others through, about 1000 a second, until its
 * standard input ends: for a test that looks at the device meanwhile.
 * Exit status 1: a wrong word.
 */
#include "contract.h"

#include <poll.h>

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "/dev/maple0";
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int fd = open(name, O_RDWR);
	volatile void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	uint32_t first = 0, last = 0;

	if (page == MAP_FAILED) {
		perror(name);
		return 2;
	}
	load32(page, RESET, 0);
	load32(page, INIT, WORDS_32);
	load32(page, OPEN_PRODUCER, 0);
	load32(page, OPEN_CONSUMER, 0);
	while (last < 3)
		store32(page, PRODUCE, 0, last++);
	puts("ready");
	fflush(stdout);
	while (!poll(&input, 1, 1)) {
		store32(page, PRODUCE, 0, last++);
		if (load32(page, CONSUME, 0) != first++)
			return 1;
	}
	return 0;
}
