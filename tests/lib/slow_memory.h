/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program's memory as the daemon of turns_fixture.h has it: each page comes a moment after it is touched. It stands
 * for memory that is being punched out, or lies on a disk, which cannot be had for a certain time. For cmocka programs.
 */
#ifndef TESTS_SLOW_MEMORY_H
#define TESTS_SLOW_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "tests/lib/turns_fixture.h"

#define SLOW_PAGE 4096u
#define SLOW_PAGES 4096u
#define SLOW_ADDRESS 0x100000u	/* the program's */

struct slow_memory {
	atomic_uint sleep_us;	/* before a page comes */
	atomic_uint served;	/* pages that have come, each word of which is the page's number */
};

extern struct slow_memory slow_memory;

/* false: it cannot be had here, and a line says so. */
bool slow_memory_begin(void);
void slow_memory_end(void);
/* The program shares all of it. */
void slow_memory_share(struct turns_program *program);

#endif
