/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The two sides that fuzz_virgo.c compares: a Virgo model, its jobs, and memory whose
 * pages behave in every way that a page can (virgo_side.c); and the expected result by
 * the plain reference and a queue of commands (virgo_expected.c).
 *
 * Each unit has a part of the shared memory and a part of the program's memory.
 * Commands that are made to be valid stay in them, so that the order in which jobs
 * of different units are run does not matter. A command that may reach anywhere is
 * sent when all units are idle.
 */
#ifndef TESTS_FUZZ_VIRGO_SIDE_H
#define TESTS_FUZZ_VIRGO_SIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "devices/virgo/virgo_model.h"
#include "tests/fuzz/check.h"
#include "tests/lib/virgo_reference.h"

#define UNITS 4
#define PAGES 6			/* of each unit */
#define ALL_PAGES (UNITS * PAGES)
#define PAGE_BYTES 4096u
#define PART_BYTES (PAGES * PAGE_BYTES)
#define ARENA_BYTES (UNITS * PART_BYTES)
#define ARENA_ADDRESS 0x5550000000ull
#define SHARED_MAX (128u << 10)
#define OWNERS 8
#define OBSERVER (OWNERS - 1)	/* never waits */

/* --- memory and the model: virgo_side.c ---------------------------------------------- */

enum page_state {
	PRESENT,
	READ_ONLY,	/* a store is refused */
	LAZY,		/* the first access makes it present, at once */
	STUBBORN,	/* always "try again" */
	ABSENT,		/* an access stalls until RESOLVE */
	COPY_ON_WRITE,	/* a store does */
	BAD,		/* no such page */
	PAGE_STATES,
};

enum port {
	PORT_BLOCKS,
	PORT_ROWS,		/* no read_block and write_block */
	PORT_WALKS,		/* and a page table */
	PORT_MOVED,		/* whose frames are elsewhere */
	PORTS,
};

struct side {
	struct mimic_model *current, *spare;
	unsigned char *shared[2];	/* of current and spare */
	struct virgo_config config;
	enum port port;
	enum page_state state[ALL_PAGES];
	unsigned char *arena;
	bool is_parked[OWNERS];
	struct virgo_job *job[UNITS];	/* outstanding; one of each unit */
	bool has_run[UNITS];
	uint64_t now;
};

extern struct side side;

void virgo_side_start(const struct virgo_config *config, enum port port);
void virgo_side_stop(void);
/* -1: no page of ours */
int virgo_page_of(uint64_t address);
enum mimic_outcome virgo_side_access(struct mimic_access *access);
/* Accesses of the observer */
uint64_t virgo_side_load(unsigned int page, unsigned int offset);
void virgo_side_store(unsigned int page, unsigned int offset, uint64_t value);
uint64_t virgo_side_unit(unsigned int unit, unsigned int offset);
uint64_t virgo_side_errors(unsigned int unit);
/* The same state in another model, by way of an image. No job may be outstanding. */
void virgo_side_save_and_restore(void);

bool virgo_side_take_job(void);
void virgo_side_run_job(unsigned int unit);
/* Hands it back; runs it first if that has not been done. */
void virgo_side_end_job(unsigned int unit);
bool virgo_side_jobs_are_out(void);
/* A tick, or one job. false: there is nothing to do but jobs that wait for a page. */
bool virgo_side_work(void);

/* --- the expected state: virgo_expected.c ---------------------------------------------- */

#define QUEUE (VIRGO_MAX_QUEUE + 64)
#define PLACEHOLDER 200	/* funct of an entry: CISC operation 2 of the later generation */

struct entry {
	uint64_t position;
	uint64_t rs1, rs2;
	uint32_t word;
	unsigned int funct;
	bool is_valid;		/* only its pages can make it fail */
	bool is_compared;	/* else the reference takes over the model's result */
};

struct waiting {
	unsigned int owner;
	bool from_stream;
	struct entry entry;
};

struct expected {
	struct virgo_reference *reference;
	struct entry queue[QUEUE];
	unsigned int level;
	struct waiting waiting[OWNERS];		/* stores of commands */
	unsigned int waiting_count;
	uint64_t fence[OWNERS];			/* 0: none; else 1 + how many are to be over */
	unsigned int loops_at_most[OWNERS];	/* 0: none; else 1 + how many loops */
	uint64_t dispatched;
	/* Dropped commands are over when the ones are that the job had before them. */
	unsigned int dropped, before_dropped;
	bool error;
	bool reset_pending;
	unsigned int resets;
	/* A word of STREAM that was withdrawn: it is still to come, unless its owner ends. */
	bool has_withheld;
	struct waiting withheld;
	bool is_unknown;			/* see is_compared */
	bool is_stale;				/* commands were lost: see virgo_commands.h */
	uint64_t counters[VIRGO_COUNTER_COUNT];	/* of those that are compared */
};

extern struct expected expected[UNITS];
/* The bytes that shared memory and the program's memory should have when all units are idle. */
extern unsigned char virgo_expected_shared[SHARED_MAX], virgo_expected_arena[ARENA_BYTES];

void virgo_expected_start(void);
void virgo_expected_stop(void);
/* A store of a command, that has been answered. */
void virgo_expected_push(unsigned int unit, const struct entry *entry);
/* It waits. */
void virgo_expected_wait(unsigned int unit, unsigned int owner, const struct entry *entry, bool from_stream);
/* From the model: the access that waited is over. */
void virgo_expected_complete(unsigned int owner, uint64_t data);
/* is_gone: a command of it that has begun is dropped, too. */
void virgo_expected_withdraw(unsigned int owner, bool is_gone);
void virgo_expected_reset(unsigned int unit, bool power_on);
/* Follows the model since the last call, and compares all that can be compared. */
void virgo_expected_update(bool by_store);
bool virgo_expected_is_idle(unsigned int unit);
bool virgo_expected_all_idle(void);
/* The reference's memories become the model's: whole, of a command that was allowed to go anywhere. */
void virgo_expected_copy(unsigned int unit, bool whole);
/* While the model answers this, parked stores are dropped. */
extern int virgo_expected_releasing;	/* unit; -1: nobody's; UNITS: everybody's */

#endif
