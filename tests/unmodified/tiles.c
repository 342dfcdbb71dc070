/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Tiles by their physical addresses are instances of their own, and the same address is the same instance. */
#include "contract.h"

#define TILES 12u

int main(void)
{
	void *maple[TILES];
	void *again[TILES];
	void *mmu[TILES];
	void *all;
	unsigned int i;
	int file;

	map_tiles(TILES, maple, mmu);
	for (i = 0; i < TILES; i++) {
		open_both(maple[i], i % 4);
		store32(maple[i], PRODUCE, i % 4, 1000 + i);
	}
	file = open_or_die("/dev/mem");
	for (i = 0; i < TILES; i++)
		again[i] = map_or_die(file, tile_address(PHYSICAL_MAPLE, i));
	close(file);
	for (i = TILES; i-- > 0;)
		CHECK(load32(again[i], CONSUME, i % 4) == 1000 + i);
	/* One mapping that covers all pages of a tile: MAPLE at its start, MMU at 0x200000. */
	file = open_or_die("/dev/mem");
	all = mmap(NULL, 0x500000, PROT_READ | PROT_WRITE, MAP_SHARED, file,
		   (off_t)tile_address(PHYSICAL_MAPLE, 3));
	CHECK(all != MAP_FAILED);
	store32(all, PRODUCE, 3, 77);
	CHECK(load64((char *)all + 0x200000, DEBUG, 0) == 0);	/* the MMU page: flush the TLB */
	CHECK(load32(maple[3], CONSUME, 3) == 77);
	CHECK(munmap(all, 0x500000) == 0);
	/* Memory that is no device: as without mimic, so never device memory. */
	all = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)0xd000000000ull);
	CHECK(all == MAP_FAILED);
	return 0;
}
