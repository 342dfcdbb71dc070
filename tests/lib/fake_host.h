/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A host for a bare MAPLE model whose memory, page table and answers the test
 * controls, and short forms of the accesses that tests make.
 */
#ifndef TESTS_FAKE_HOST_H
#define TESTS_FAKE_HOST_H

#include "devices/maple/maple_model.h"
#include "tests/contract/maple/numbers.h"

#define FAKE_BASE 0x100000u	/* first address of its memory */
#define FAKE_PAGES 32u
#define FAKE_WORDS (FAKE_PAGES * 1024u)
#define FAKE_OWNERS 8u
#define FAKE_DEFERRED 512u

struct fake_fetch {
	uint64_t tag;
	uint64_t address;
	unsigned int size;
};

struct fake_host {
	struct mimic_model *model;
	uint64_t now;
	uint32_t words[FAKE_WORDS];
	/* completions */
	bool parked[FAKE_OWNERS];
	bool completed[FAKE_OWNERS];
	uint64_t answer[FAKE_OWNERS];
	unsigned int unexpected;	/* completions of accesses that were not parked */
	/* deferred gathers, in the order they were asked for */
	bool defer;
	struct fake_fetch deferred[FAKE_DEFERRED];
	unsigned int deferred_count;
	uint64_t prefetched[FAKE_DEFERRED];
	unsigned int prefetched_count;
	uint64_t announced[FAKE_DEFERRED];
	unsigned int announced_count;
	unsigned int unannounced_count;	/* values that were read and had not been announced */
	/* page table: identity, but where frame_of says otherwise */
	bool absent[FAKE_PAGES];
	uint64_t frame_of[FAKE_PAGES];	/* 0: identity */
	enum mimic_fault_answer fault_answer;
	bool fault_maps_page;		/* the fault handler makes the page present */
	unsigned int faults;
	uint64_t fault_address;
	unsigned int fault_source;
	unsigned int interrupts;
	/* for a model that asks for the time */
	uint64_t clock;
	unsigned int clock_readings;
};

enum fake_options { FAKE_IDENTITY = 0, FAKE_WALKS = 1, FAKE_FAULTS = 2, FAKE_CLOCK = 4 };

/* Word i of its memory holds 0xf0000000 + i. NULL if the model cannot be made. */
struct fake_host *fake_host_create(const struct maple_config *config, unsigned int options);
struct fake_host *fake_host_profile(const char *profile, unsigned int options);
void fake_host_destroy(struct fake_host *host);

enum mimic_outcome fake_access(struct fake_host *host, struct mimic_access *access);
/* On the MAPLE page. Loads that park answer FAKE_PARKED. */
#define FAKE_PARKED 0xdeadfacedeadfaceull
uint64_t fake_load(struct fake_host *host, uint64_t owner, unsigned int operation,
		   unsigned int queue, unsigned int size);
/* true: acknowledged */
bool fake_store(struct fake_host *host, uint64_t owner, unsigned int operation,
		unsigned int queue, unsigned int size, uint64_t value);
uint64_t fake_mmu_load(struct fake_host *host, unsigned int what);
void fake_mmu_store(struct fake_host *host, unsigned int what, uint64_t value);

/* Owner 1 produces into and owner 2 consumes from each queue. */
void fake_open(struct fake_host *host, unsigned int size_code, unsigned int queues);
/* The memory answers deferred fetch i with the value at its address. */
void fake_fill(struct fake_host *host, unsigned int i);
uint64_t fake_counter(struct fake_host *host, enum maple_counter counter);
void fake_tick(struct fake_host *host);

static inline uint64_t fake_address(unsigned int word)
{
	return FAKE_BASE + 4ull * word;
}

#endif
