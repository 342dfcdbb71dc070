/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The window's layout, for the files of the journal. */
#ifndef MIMICD_JOURNAL_INTERNAL_H
#define MIMICD_JOURNAL_INTERNAL_H

#include <stdint.h>

#include "daemon/journal/journal.h"

/* An address where neither programs, libraries, stacks nor the heaps of sanitizers lie. */
#if defined(__x86_64__)
#define MIMICD_WINDOW_ADDRESS 0x500000000000ull
#else
#define MIMICD_WINDOW_ADDRESS 0x2000000000ull
#endif

/* The file is the header, the log and the heap; places of other files follow in the address space. */
#define MIMICD_WINDOW_LOG 4096ull
#define MIMICD_WINDOW_HEAP (MIMICD_WINDOW_LOG + MIMICD_JOURNAL_LOG_BYTES)
#define MIMICD_WINDOW_FILE_BYTES (MIMICD_WINDOW_HEAP + MIMICD_JOURNAL_HEAP_BYTES)
#define MIMICD_WINDOW_FILE_PLACE (16ull << 20)
#define MIMICD_WINDOW_BYTES (64ull << 30)

_Static_assert(MIMICD_WINDOW_FILE_BYTES + MIMICD_JOURNAL_FILES_BYTES <= MIMICD_WINDOW_BYTES,
	       "windows of two generations do not overlap");

/*
 * All versions have the beginning in common, up to is_complete: one that cannot take over says so.
 * volatile: a killed process must have written these in the order of the program.
 */
struct mimicd_window {
	uint64_t magic;
	uint64_t generation;
	uint64_t address;	/* of the header */
	char build[64];
	struct mimicd_journal_origin origin;
	volatile uint64_t is_complete;
	volatile uint64_t log_used;
	volatile uint64_t has_overflowed;
	void *root;
};

extern struct mimicd_window *mimicd_window;	/* NULL: none */

static inline char *mimicd_window_log(struct mimicd_window *window)
{
	return (char *)window + MIMICD_WINDOW_LOG;
}

/* The bytes of an entry are followed by the entry, which is aligned. */
static inline uint64_t mimicd_log_rounded(uint64_t size)
{
	return (size + 7) & ~7ull;
}

/*
 * Of the heap whole lines are logged, each once in a step as far as this table remembers: a model changes few lines
 * often. Longer pieces are logged as they are.
 */
#define MIMICD_LINE 64u
#define MIMICD_LINES_MAX 16u
#define MIMICD_LOGGED 4096u

struct mimicd_logged {
	uint64_t line;
	uint64_t step;
};

extern struct mimicd_logged mimicd_logged[MIMICD_LOGGED];
extern uint64_t mimicd_log_step;

static inline struct mimicd_logged *mimicd_logged_of(uint64_t line)
{
	return &mimicd_logged[line / MIMICD_LINE % MIMICD_LOGGED];
}

static inline bool mimicd_journal_is_heap(uint64_t address)
{
	return address - mimicd_journal.start < MIMICD_JOURNAL_HEAP_BYTES;
}

void mimicd_log_add_line(uint64_t line);

static inline void mimicd_log_line(uint64_t line)
{
	const struct mimicd_logged *logged = mimicd_logged_of(line);

	if (logged->line != line || logged->step != mimicd_log_step)
		mimicd_log_add_line(line);
}

/* A store of the models' code: mostly to a line of the heap that is logged already. */
static inline void mimicd_log_store(const void *address, size_t size)
{
	uint64_t start = (uint64_t)(uintptr_t)address, line = start & ~(MIMICD_LINE - 1ull);

	if (mimicd_journal_is_heap(start) && start + size <= line + MIMICD_LINE)
		mimicd_log_line(line);
	else
		mimicd_journal_note(address, size);
}

/* heap.c */
void mimicd_heap_begin(uint64_t start);
void mimicd_heap_end(void);

#endif
