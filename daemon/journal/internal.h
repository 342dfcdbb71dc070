/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The window's layout, for the files of the journal. */
#ifndef MIMICD_JOURNAL_INTERNAL_H
#define MIMICD_JOURNAL_INTERNAL_H

#include <stdint.h>

#include "daemon/journal/journal.h"

/* An address where neither programs, libraries, stacks nor the heaps of sanitizers lie. */
#if defined(__x86_64__) && defined(__SANITIZE_THREAD__)
#define MIMICD_WINDOW_ADDRESS 0x566000000000ull	/* where ThreadSanitizer has shadows, behind programs */
#elif defined(__x86_64__)
#define MIMICD_WINDOW_ADDRESS 0x500000000000ull
#else
#define MIMICD_WINDOW_ADDRESS 0x2000000000ull
#endif

/* The file is the header, the logs and the heap; places of other files follow in the address space. */
#define MIMICD_WINDOW_LOG 8192ull
#define MIMICD_WINDOW_LOGS_BYTES (MIMICD_JOURNAL_LOG_BYTES + (MIMICD_JOURNAL_LOGS - 1) * MIMICD_JOURNAL_FURTHER_LOG_BYTES)
#define MIMICD_WINDOW_HEAP (MIMICD_WINDOW_LOG + MIMICD_WINDOW_LOGS_BYTES)
#define MIMICD_WINDOW_FILE_BYTES (MIMICD_WINDOW_HEAP + MIMICD_JOURNAL_HEAP_BYTES)
#define MIMICD_WINDOW_FILE_PLACE (16ull << 20)
#define MIMICD_WINDOW_BYTES (64ull << 30)

_Static_assert(MIMICD_WINDOW_FILE_BYTES + MIMICD_JOURNAL_FILES_BYTES <= MIMICD_WINDOW_BYTES,
	       "windows of two generations do not overlap");

/* How far a log is. A line of its own: another thread writes the next one. */
struct mimicd_log_mark {
	_Alignas(64) volatile uint64_t used;
	volatile uint64_t has_overflowed;
};

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
	void *root;
	struct mimicd_log_mark logs[MIMICD_JOURNAL_LOGS];
};

_Static_assert(sizeof(struct mimicd_window) <= MIMICD_WINDOW_LOG, "the logs are behind the header");

extern struct mimicd_window *mimicd_window;	/* NULL: none */

static inline uint64_t mimicd_window_log_bytes(unsigned int number)
{
	return number ? MIMICD_JOURNAL_FURTHER_LOG_BYTES : MIMICD_JOURNAL_LOG_BYTES;
}

/* The first log has the first place. */
static inline char *mimicd_window_log(struct mimicd_window *window, unsigned int number)
{
	char *first = (char *)window + MIMICD_WINDOW_LOG;

	return number ? first + MIMICD_JOURNAL_LOG_BYTES + (number - 1) * MIMICD_JOURNAL_FURTHER_LOG_BYTES : first;
}

/* The bytes of an entry are followed by the entry, which is aligned. */
static inline uint64_t mimicd_log_rounded(uint64_t size)
{
	return (size + 7) & ~7ull;
}

/*
 * Of the heap whole lines are logged, each once in a step as far as this table remembers: a model changes few lines
 * often. Longer pieces are logged as they are. Blocks of the heap share no line.
 */
#define MIMICD_LINE 64u
#define MIMICD_LINES_MAX 16u
#define MIMICD_LOGGED 4096u

struct mimicd_logged {
	uint64_t line;
	uint64_t step;
};

struct mimicd_block;

/* A thread's. Only that thread uses it. */
struct mimicd_log {
	unsigned int number;
	uint64_t step;
	struct mimicd_block *freed;	/* by the step */
	struct mimicd_logged logged[MIMICD_LOGGED];
};

extern struct mimicd_log mimicd_logs[MIMICD_JOURNAL_LOGS];
extern _Thread_local struct mimicd_log *mimicd_log_own;

static inline struct mimicd_log_mark *mimicd_log_own_mark(void)
{
	return &mimicd_window->logs[mimicd_log_own->number];
}

/* A new window: nothing of the one before is known. */
void mimicd_logs_begin(void);

static inline bool mimicd_journal_is_heap(uint64_t address)
{
	return address - mimicd_journal.start < MIMICD_JOURNAL_HEAP_BYTES;
}

void mimicd_log_add_line(uint64_t line);

static inline void mimicd_log_line(uint64_t line)
{
	const struct mimicd_log *log = mimicd_log_own;
	const struct mimicd_logged *logged = &log->logged[line / MIMICD_LINE % MIMICD_LOGGED];

	if (logged->line != line || logged->step != log->step)
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
/* The step that has freed these blocks is committed. */
void mimicd_heap_take_back(struct mimicd_block *freed);

#endif
