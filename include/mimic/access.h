/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * One access to a device's page, as a trap, a ring entry and a device model see it.
 *
 * This header is shared by every part of mimic, the kernel driver included, so
 * it needs nothing but fixed-width integers.
 */
#ifndef MIMIC_ACCESS_H
#define MIMIC_ACCESS_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define MIMIC_PAGE_SIZE 4096u

struct mimic_access {
	/*
	 * The thread that asks. Never 0. A thread has one owner number for each device, and
	 * at most one access of an owner is outstanding at any time.
	 */
	uint64_t owner;
	/* A store's value, or a load's answer: the low `size` bytes, the rest 0. */
	uint64_t data;
	uint32_t offset;	/* in bytes from the start of the page, below 4096 */
	uint8_t page;		/* which page of the device, e.g. enum maple_page */
	uint8_t size;		/* 1, 2, 4 or 8 bytes */
	uint8_t is_write;	/* 1: store, 0: load */
	uint8_t reserved;	/* 0 */
};

#endif
