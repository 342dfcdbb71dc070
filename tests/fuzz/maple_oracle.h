/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A second MAPLE, slow and simple, to compare the model with: the contract's
 * queues, roles, pointers, atomics and loops. Queues are plain lists.
 * It has no TLB and no time; it does not predict values that depend on those.
 */
#ifndef TESTS_FUZZ_MAPLE_ORACLE_H
#define TESTS_FUZZ_MAPLE_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "mimic/access.h"

#define ORACLE_OWNERS 6
#define ORACLE_QUEUES 8
#define ORACLE_LOOPS 256
#define ORACLE_CHUNKS 16
#define ORACLE_PENDING 512

/* The program's memory, as a device reaches it. false: nothing there, *value is 0. */
struct oracle_memory {
	void *context;
	bool (*fetch)(void *context, uint64_t address, uint32_t *value);
	/* B of loops, and both halves of a fetch that crosses a page */
	bool (*read)(void *context, uint64_t address, uint32_t *value);
	/* NULL: not writable */
	uint32_t *(*atomic)(void *context, uint64_t address);
};

struct oracle_word {
	uint32_t value;
	uint32_t pending;	/* 0: it is there; else the number of its fetch */
};

struct oracle_loop {
	uint64_t a, b;
	uint32_t next, end;
	unsigned int operation;	/* as the tile-wide operations 48 to 54; 55: prefetch by 4 */
};

struct oracle_chunk {
	uint64_t a;
	unsigned int operation;
	unsigned int count, done;
	uint32_t index[16];
};

struct oracle_queue {
	bool exists, hung, base_set, cas1_set;
	unsigned int first, reserved, depth;	/* words of the scratchpad; its capacity */
	unsigned int level;
	struct oracle_word words[128];
	uint64_t producer, consumer;
	uint64_t base, cas1, lima_a, lima_b;
	unsigned int shift;
	uint64_t popped;
	bool store_waits, load_waits;
	bool abandoned;	/* the load's producer ended: it gets a word on its way, or 0 */
	struct mimic_access store, load;
	struct oracle_loop loops[ORACLE_LOOPS + 1];	/* the first is at work if `active` */
	unsigned int loop_count;
	bool active;
	struct oracle_chunk chunks[ORACLE_CHUNKS];
	unsigned int chunk_count;
};

struct oracle_fetch {
	uint32_t number;
	uint64_t address;
	unsigned int queue, words;
	bool lima, stale;
};

struct oracle {
	bool artifact;
	bool defer;		/* fetches are answered later, by oracle_fill() */
	struct oracle_memory memory;
	unsigned int queue_count, word_count, loop_limit;
	uint64_t address_mask;
	struct oracle_queue queue[ORACLE_QUEUES];
	bool a_set;
	uint64_t a;
	unsigned int a_operation;
	unsigned int statistics;
	uint64_t tile_pops;
	uint64_t responses[4];
	unsigned int response_count;
	uint64_t fault_page, fault_address, fault_count;
	unsigned int fault_source, armed;
	bool fault_writes;
	bool fault_unknown;	/* a late or a loop's fault: not predicted until RESET */
	struct oracle_fetch pending[ORACLE_PENDING];
	unsigned int pending_count;
	uint32_t fetch_number;
	/* the threads that wait, and the answers of those that waited */
	bool parked[ORACLE_OWNERS];
	uint64_t answer[ORACLE_OWNERS];
	/* the counters it keeps */
	uint64_t produced, consumed, fetched, prefetched, atomics, loops_taken, loops_dropped;
	uint64_t store_waits, load_waits, hangs;
};

void oracle_init(struct oracle *oracle, bool artifact, bool defer, const struct oracle_memory *memory);
/*
 * true: done, a load's answer is in access->data unless *unknown. false: it
 * waits, and oracle->parked says so until it is over.
 */
bool oracle_access(struct oracle *oracle, struct mimic_access *access, bool *unknown);
void oracle_cancel(struct oracle *oracle, uint64_t owner);
void oracle_owner_gone(struct oracle *oracle, uint64_t owner);
/* The answer to outstanding fetch i, in the order they were asked for. */
void oracle_fill(struct oracle *oracle, unsigned int i, bool there, uint64_t value);

#endif
