/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A coherent 64-bit fetch at 4 mod 8, with which the artifact's queue hangs for good (contract A5). */
#include "contract.h"

enum { LLC_POINTER64 = 45 };

int main(void)
{
	static const uint64_t data[4] = { 1, 2, 3, 4 };
	int fd = open("/dev/maple0", O_RDWR);
	volatile void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return 2;
	load32(page, RESET, 0);
	load32(page, INIT, WORDS_32);
	load32(page, OPEN_PRODUCER, 0);
	load32(page, OPEN_CONSUMER, 0);
	store64(page, SET_BASE32, 0, (uintptr_t)data);
	store64(page, LLC_POINTER64, 0, 1);
	/* hardware would stand here */
	return load32(page, CONSUME, 0) != 0;
}
