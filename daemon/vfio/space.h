/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * An address space of a guest as a device reaches it: the page tables of a process, which
 * the guest's driver names by their root, or the guest's physical addresses.
 */
#ifndef MIMICD_SPACE_H
#define MIMICD_SPACE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "daemon/vfio/guest_memory.h"
#include "daemon/vfio/page_walk.h"
#include "devices/model.h"

#define MIMICD_SPACE_TLB 64u

/* Memory of the device itself, which lies in the guest's physical addresses too: a memory BAR. */
struct mimicd_aperture {
	uint64_t address;	/* as the guest has placed it */
	uint64_t size;		/* 0: there is none */
	char *base;
};

struct mimicd_space_entry {
	uint64_t page;		/* address of the page, plus 1 where the entry is valid */
	char *base;
	bool is_writable;	/* a store needs no walk */
};

struct mimicd_space {
	struct mimicd_guest_memory *memory;
	const struct mimicd_aperture *aperture;
	struct mimicd_page_tables tables;	/* changed with the memory's lock for writing, as the next */
	bool is_physical;		/* addresses are the guest's physical ones */
	/*
	 * Translations, until a flush: as in hardware, a driver that forgets one is seen to.
	 * Only of devices whose own calls reach memory: jobs run in several threads, and walk each time.
	 */
	bool has_tlb;
	uint64_t removals;	/* of the memory, when the entries were made */
	struct mimicd_space_entry tlb[MIMICD_SPACE_TLB];
	/* A table or a page that the machine does not share is in the log. Jobs set it, too. */
	atomic_bool has_complained;
	uint32_t owner;		/* of the machine, for the log */
};

/*
 * has_jobs: the port is for a device whose jobs reach memory, else for one whose calls do. has_tlb: only
 * of the latter, and only if the device's driver can flush.
 */
void mimicd_space_init(struct mimicd_space *space, struct mimicd_guest_memory *memory,
		       const struct mimicd_aperture *aperture, bool has_jobs, bool has_tlb,
		       struct mimic_memory *port);
/*
 * Other tables from now on; `mode` is a MIMIC_PCI_MODE_. No access by the former ones goes on
 * after this. -EINVAL: no such mode; then nothing is reached.
 */
int mimicd_space_set(struct mimicd_space *space, uint64_t mode, uint64_t root);
/* The driver has flushed: no translation survives, and no access by an old one goes on. */
void mimicd_space_flush(struct mimicd_space *space);

#endif
