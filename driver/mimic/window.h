/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Declarations that the files of a window share: window.c, part.c, changes.c. */
#ifndef MIMIC_WINDOW_H
#define MIMIC_WINDOW_H

#include "internal.h"

/* A page of the window that is looked up, and whether it is to be written. */
struct mimic_view {
	struct mimic_binding *binding;
	struct vm_area_struct *vma;
	struct mm_struct *mm;	/* the process's; its users are counted */
	unsigned long page;
	bool write;
	u64 address;		/* in the process */
	struct list_head link;	/* binding->window.views */
	bool is_stale;		/* changed since it was looked at; under changes_lock */
};

/* A mapping, of one VMA or of the VMAs that it was cut into. */
struct mimic_part {
	refcount_t users;	/* VMAs */
	struct mimic_binding *binding;	/* counted, and its number */
	atomic_t tables;
};

/* --- changes.c ------------------------------------------------------------ */

void mimic_changes_begin(struct mimic_window *window, const struct mmu_notifier_range *range);
void mimic_changes_end(struct mimic_window *window, const struct mmu_notifier_range *range);
/* false: the page is being changed. From here to mimic_view_end() a change makes it stale. */
bool mimic_view_begin(struct mimic_view *view);
void mimic_view_end(struct mimic_view *view);

/* --- part.c --------------------------------------------------------------- */

/* The binding and its number, both counted, are the part's. NULL: no memory. */
struct mimic_part *mimic_part_create(struct mimic_binding *binding);
/* Of the VMA. */
void mimic_part_opened(struct vm_area_struct *vma);
void mimic_part_closed(struct vm_area_struct *vma);
/* Page tables for the view's page: 0 or -ENOMEM. The daemon's mmap_lock or the VMA's is held. */
int mimic_part_make_tables(const struct mimic_view *view);
bool mimic_part_is_full(const struct mimic_part *part);
/* Does the fault permit it? Then the other one frees them, and lets go of the fault's lock. */
bool mimic_part_may_renew(const struct vm_fault *vmf);
vm_fault_t mimic_part_renew(struct vm_fault *vmf);

#endif
