/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A model with memory of its own, and the threads that wait on it: one side of fuzz_maple. */
#ifndef TESTS_FUZZ_MAPLE_SIDE_H
#define TESTS_FUZZ_MAPLE_SIDE_H

#include <stdio.h>
#include <stdlib.h>

#include "devices/maple/maple_model.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/maple_oracle.h"

/*
 * Program memory: four pages to read, a hole, one page for atomics, a hole. B
 * of a loop is read some time before it is used, so it must not be where
 * atomics write: there read() finds nothing.
 */
#define MEMORY_BASE 0x10000u
#define READ_WORDS 4096u
#define ATOMIC_BASE (MEMORY_BASE + 5 * 4096)
#define ATOMIC_WORDS 1024u

struct memory {
	uint32_t read_words[READ_WORDS];
	uint32_t atomic_words[ATOMIC_WORDS];
};

struct late {
	uint64_t tag, address, value;
	unsigned int size;
	bool there;
};

struct side {
	struct mimic_model *model[2];	/* paper, artifact */
	struct mimic_model *current;
	struct memory memory;
	bool parked[ORACLE_OWNERS];
	uint64_t answer[ORACLE_OWNERS];
	struct late late[ORACLE_PENDING];
	unsigned int late_count;
	bool defer;	/* memory answers later */
	/* Bits of pages that a driver has to bring. Reads of B and of split values find them there. */
	unsigned int absent;
	bool stalled;	/* a pointer or an atomic has met one, and no driver has brought it yet */
	uint64_t taken_back;	/* stores that waited for a driver, had a signal and came again */
	uint64_t now;
};

/* Ticks until the model is idle and brings pages, as a driver does. true: there was something to do. */
bool side_settle(struct side *side);

/* NULL: nothing there, or not of that kind. */
uint32_t *memory_readable(struct memory *memory, uint64_t address);
uint32_t *memory_writable(struct memory *memory, uint64_t address);
bool memory_fetch(struct memory *memory, uint64_t address, uint32_t *value);
void memory_fill(struct memory *memory);
/* Makes a model of each profile. */
void side_create(struct side *side);
void side_start(struct side *side, bool artifact, bool defer);
/* Leaves the model as after power-on for the next input; waiting threads are released. */
void side_stop(struct side *side);
/* A store that waits for a page is taken back by a signal, and comes again when the page is there. */
enum mimic_outcome side_access(struct side *side, struct mimic_access *access);
void side_save_and_restore(struct side *side);

#endif
