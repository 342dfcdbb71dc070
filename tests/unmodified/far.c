/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The same instruction accesses devices that lie far from each other, at addresses that the program has chosen:
 *
 *   far raw      physical addresses of twelve tiles, as they are
 *   far fixed    pages of a node, mapped a GiB from each other
 */
#include "contract.h"

#include <string.h>

#define ROUNDS 50u
#define PLACES 12u

/* An instruction of six bytes, which has room for a jump. */
static __attribute__((noinline)) uint32_t load_behind(volatile char *address)
{
	return *(volatile uint32_t *)(address + PAGE);
}

static uint32_t load_at(volatile void *address)
{
	return load_behind((volatile char *)((uintptr_t)address - PAGE));
}

static void fill_raw(volatile char **places)
{
	unsigned int i;

	for (i = 0; i < PLACES; i++)
		places[i] = (volatile char *)tile_address(PHYSICAL_MAPLE, i);
}

static void fill_fixed(volatile char **places)
{
	int fd = open("/dev/maple0", O_RDWR);
	unsigned int i;

	CHECK(fd >= 0);
	for (i = 0; i < PLACES; i++) {
		char *wanted = (char *)0x610000000000ull + (i % 3) * (1ull << 30) + i * PAGE;

		places[i] = mmap(wanted, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
		CHECK(places[i] == wanted);
	}
}

int main(int argc, char **argv)
{
	volatile char *places[PLACES];
	uint32_t first[PLACES], memory = 7;
	unsigned int round, i;

	CHECK(argc == 2);
	if (strcmp(argv[1], "raw") == 0)
		fill_raw(places);
	else
		fill_fixed(places);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < PLACES; i++) {
			uint32_t value = load_at(places[i] + (DEBUG << 3 | 2 << 9));

			if (!round)
				first[i] = value;
			CHECK(value == first[i]);
		}
		CHECK(load_at(&memory) == 7);
	}
	return 0;
}
