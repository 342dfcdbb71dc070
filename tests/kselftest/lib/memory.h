/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Memory of a test program, and the kernel's state of it. The functions abort where there is none. */
#ifndef MIMIC_TESTS_MEMORY_H
#define MIMIC_TESTS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE 4096ul
#define HUGE_PAGE (2ul << 20)

/* Anonymous, private, nothing present, no huge pages. */
void *memory_map(size_t size);
/* The same, one huge page's place: aligned, and a huge page at the first touch. NULL: the kernel has none. */
void *memory_map_huge(void);
/* In a test of the harness. */
#define SKIP_WITHOUT_HUGE_PAGES(base)                                                              \
	do {                                                                                       \
		if (!(base))                                                                       \
			SKIP(return, "the kernel has no transparent huge pages");                  \
	} while (0)
/* An unlinked file in memory, of `size` zeros; and a shared mapping of it. */
int memory_file(size_t size);
void *memory_map_file(int file, size_t size);

/* Seconds. */
double memory_clock(void);

/* A file of /proc or /sys that is one number, or has one behind a name; 0: it has not. */
unsigned long memory_number(const char *file);
unsigned long memory_named_number(const char *file, const char *name);
bool memory_write_text(const char *file, const char *text);

/* Of a page that is present: its frame, 0 if it is not; and that frame's word in a /proc/kpage... file. */
uint64_t memory_frame(const volatile void *address);
uint64_t memory_frame_word(const char *file, uint64_t frame);

#endif
