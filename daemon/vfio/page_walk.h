/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Walks of the page tables of a machine's processor, in that machine's memory: x86-64 with 4
 * and 5 levels, RISC-V's Sv39, Sv48 and Sv57. A device with an MMU of its own does the same. A walk
 * needs nothing but memory: no file of mimic is included here.
 *
 * Only pages of user space are translated. Sources: Intel's Software Developer's Manual, volume
 * 3A, chapter 4 (4-level and 5-level paging), and the RISC-V privileged specification,
 * sections "Sv39", "Svnapot" and "Svpbmt".
 */
#ifndef MIMICD_PAGE_WALK_H
#define MIMICD_PAGE_WALK_H

#include <stdbool.h>
#include <stdint.h>

#define MIMICD_WALK_PAGE_SIZE 4096u

enum mimicd_walk_mode {
	MIMICD_WALK_NONE = 0,	/* nothing is translated */
	MIMICD_WALK_X86_4 = 4,
	MIMICD_WALK_X86_5 = 5,
	MIMICD_WALK_SV39 = 39,
	MIMICD_WALK_SV48 = 48,
	MIMICD_WALK_SV57 = 57,
};

struct mimicd_page_tables {
	enum mimicd_walk_mode mode;
	uint64_t root;		/* the physical address of the topmost table */
	/*
	 * Where the 8 bytes at a physical address, a multiple of 8, are seen here. They are shared
	 * with the processors of the machine. NULL: there is no memory at that address.
	 */
	uint64_t *(*entry)(void *context, uint64_t physical);
	void *context;
};

struct mimicd_walk {
	uint64_t physical;	/* of the address that was asked for */
	uint64_t size;		/* of the page: 4 KB to 256 TB; 64 KB with Svnapot */
	bool is_writable;	/* the tables let user space write it */
	bool is_dirty;		/* a store needs no further walk */
};

/* Is it one of the modes above, but for MIMICD_WALK_NONE? */
bool mimicd_walk_is_mode(uint64_t mode);

/*
 * Translates an address for a load, or for a store. The accessed bit of each entry that has
 * one is set, for a store the dirty bit of the last, by compare and swap: as the processor's own walker
 * does it, beside which this one runs. On an error none is set.
 * 0; -EFAULT: no page, or one that user space must not reach so, or an entry that the
 * architecture reserves; -ENXIO: a table lies where there is no memory; -EAGAIN: others
 * changed the tables each time, walk again later.
 */
int mimicd_page_walk(const struct mimicd_page_tables *tables, uint64_t address, bool is_store,
		     struct mimicd_walk *walk);

#endif
