/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Where MAPLE's pages lie in the physical address space of the artifact's chip (docs/maple.md, "Address"). */
#include "devices/kind.h"
#include "devices/maple/maple_state.h"
#include "mimic/maple_registers.h"

#define TILE_X_SHIFT 28
#define TILE_Y_SHIFT 24
#define TILES_IN_A_ROW 8

static uint64_t address(unsigned int tile, unsigned int page)
{
	unsigned int number = 2 * tile + 1;	/* MAPLE sits on the odd tiles of the mesh */

	/* Added, not or-ed: the base has the first page's number in bits [23:20]. */
	return MAPLE_PHYSICAL_BASE + ((uint64_t)(number % TILES_IN_A_ROW) << TILE_X_SHIFT) +
	       ((uint64_t)(number / TILES_IN_A_ROW) << TILE_Y_SHIFT) +
	       ((uint64_t)page << MAPLE_PHYSICAL_PAGE_SHIFT);
}

static bool page_of(uint64_t at, unsigned int *tile, unsigned int *page)
{
	unsigned int number = ((at >> TILE_Y_SHIFT) & 0xf) * TILES_IN_A_ROW + ((at >> TILE_X_SHIFT) & 7);

	*page = ((at >> MAPLE_PHYSICAL_PAGE_SHIFT) & 0xf) - 8u;
	*tile = number / 2;
	return number % 2 && *page < MAPLE_PAGE_COUNT &&
	       address(*tile, *page) == (at & ~(uint64_t)(MIMIC_PAGE_SIZE - 1));
}

const struct mimic_physical maple_physical = {
	.start = MAPLE_PHYSICAL_BASE & ~0x7fffffffull,
	.size = 0x80000000ull,	/* x and y fill bits [30:24] */
	.address = address,
	.page_of = page_of,
};
