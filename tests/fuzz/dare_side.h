/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The two sides that fuzz_dare.c compares: a DARE model with memory whose pages
 * behave in every way that a page can (dare_side.c), and the expected result of each
 * access by the plain interpreter, a queue and a list of waiting threads (dare_expected.c).
 */
#ifndef TESTS_FUZZ_DARE_SIDE_H
#define TESTS_FUZZ_DARE_SIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "devices/dare/dare_model.h"
#include "tests/fuzz/check.h"
#include "tests/lib/dare_oracle.h"

#define CONTEXTS 2
#define PAGES 5
#define PAGE_BYTES 4096u
#define OWNERS 8

/* --- memory: one of each context -------------------------------------------------- */

enum page_state {
	PRESENT,
	READ_ONLY,	/* a store is refused */
	LAZY,		/* the first access makes it present, at once */
	STUBBORN,	/* always "try again" */
	ABSENT,		/* an access stalls until RESOLVE */
	COPY_ON_WRITE,	/* a store does */
	BAD,		/* no such page */
	HOLE,		/* has a translation, but nothing is there */
	PAGE_STATES,
};

struct dare_memory {
	enum page_state state[PAGES];
	bool has_moved[PAGES];		/* to another frame */
	bool walks;			/* the port's addresses are of frames */
	uint8_t model[PAGES][PAGE_BYTES];
	uint8_t oracle[PAGES][PAGE_BYTES];
	int refused;			/* page that RESOLVE called bad, while the oracle looks; else -1 */
	uint64_t stalled_address;	/* of the model's last stall */
	bool stalled_writes;
};

/* Virtual address of a page. Three follow each other; so do the last and the first of all addresses. */
uint64_t page_address(unsigned int page);
/* -1: none of ours */
int page_of(uint64_t address);

/* --- the model ----------------------------------------------------------------------- */

struct side {
	struct mimic_model *current, *spare;
	struct dare_memory memory[CONTEXTS];
	struct mimic_memory port[CONTEXTS];
	bool is_parked[OWNERS];
	uint64_t answer[OWNERS];
	uint64_t now;
};

void dare_side_start(struct side *side, const struct dare_config *config, bool walks);
void dare_side_stop(struct side *side);
enum mimic_outcome dare_side_access(struct side *side, struct mimic_access *access);
/* The same state in another model, by way of an image. */
void dare_side_save_and_restore(struct side *side);
/* Until nothing goes on by itself. */
void dare_side_settle(struct side *side);

/* --- the expected state of a context ---------------------------------------------------- */

enum waiting_kind { WAITS_INSTRUCTION, WAITS_STREAM, WAITS_FENCE };

struct waiting {
	unsigned int owner;
	enum waiting_kind kind;
	uint64_t value;		/* stored; a fence: how many are to be complete */
	uint64_t rs1, rs2;
};

struct expected {
	struct dare_oracle oracle;
	struct dare_oracle_memory port;
	struct dare_memory *memory;
	unsigned int queue_size;
	struct {
		uint32_t word;
		uint64_t rs1, rs2;
	} queue[DARE_MAX_QUEUE];
	unsigned int level;
	bool stalled;
	uint64_t stall_order;		/* later stalls have higher numbers */
	uint64_t rs1, rs2;		/* the registers */
	unsigned int stream_owner;
	struct waiting waiting[OWNERS];
	unsigned int waiting_count;
	uint64_t queue_waits, page_faults, resolves, faults, illegal;
	/* since the last step */
	unsigned int executed;
	bool has_nan;
};

/* As after power-on, detached. */
void expected_start(struct expected *e, struct dare_memory *memory, unsigned int queue_size);
void expected_attach(struct expected *e, bool is_attached);
void expected_reset(struct expected *e);
/* A store to INSTRUCTION or STREAM would have to wait. */
bool expected_would_wait(const struct expected *e, enum waiting_kind kind, uint64_t value);
/* The store. true: it waits. */
bool expected_store(struct expected *e, unsigned int owner, enum waiting_kind kind, uint64_t value);
/* A load of FENCE. true: it waits. */
bool expected_fence(struct expected *e, unsigned int owner);
void expected_resolve(struct expected *e, bool is_present);
void expected_resolve_later(struct expected *e);
void expected_withdraw(struct expected *e, unsigned int owner, bool is_gone);
bool expected_is_waiting(const struct expected *e, unsigned int owner);
uint64_t expected_status(const struct expected *e);

#endif
