/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Physical addresses used as pointers, with nothing opened and nothing mapped. raw ADDRESS: only a load of
 * the page there, when standard input has ended.
 */
#include "contract.h"

static int touch(uint64_t page)
{
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	load32((void *)page, RESET, 0);
	return 0;
}

int main(int argc, char **argv)
{
	volatile uint64_t *custom = (volatile uint64_t *)tile_address(PHYSICAL_CUSTOM, 0);
	void *maple = (void *)tile_address(PHYSICAL_MAPLE, 1);
	uint32_t answer;

	if (argc > 1)
		return touch(strtoull(argv[1], NULL, 16));
	/* The shipped accelerator echoes; the RTL swaps the bytes of each word. */
	*custom = 42;
	answer = (uint32_t)*custom;
	CHECK(answer == 42 || answer == 0x2a000000);
	CHECK(*custom == 0);	/* the response FIFO is empty again */
	load32(maple, RESET, 0);
	CHECK(load32(maple, INIT, WORDS_8) == 2);
	open_both(maple, 2);
	store64(maple, PRODUCE, 2, 0x1111222233334444ull);
	CHECK(load32(maple, CONSUME, 2) == 0x33334444);
	CHECK(load32(maple, CONSUME, 2) == 0x11112222);
	return 0;
}
