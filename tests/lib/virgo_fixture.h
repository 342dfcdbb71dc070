/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A Virgo cluster of a test, driven without threads: its memory port reaches one
 * arena of the test, by pointers, and pages of it can be absent.
 */
#ifndef TESTS_VIRGO_FIXTURE_H
#define TESTS_VIRGO_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devices/virgo/virgo_model.h"

#define ARENA_BYTES (4u << 20)
#define ARENA_PAGES (ARENA_BYTES / 4096)
#define FIXTURE_OWNERS 4500

enum virgo_fixture_option {
	FIXTURE_WALKS = 1,	/* a page table; frames are the pages themselves */
	FIXTURE_ROWS = 2,	/* no read_block and write_block */
	FIXTURE_FAULTS = 4,	/* page_fault() answers fault_answer */
	FIXTURE_MOVED = 8,	/* with FIXTURE_WALKS: frames are elsewhere */
	FIXTURE_FILE = 16,	/* the shared memory can be mapped once more */
};

struct virgo_fixture {
	struct mimic_model *model;
	struct virgo_config config;
	unsigned int options;
	unsigned char *shared;
	int shared_file;		/* with FIXTURE_FILE */
	unsigned char *arena;
	bool absent[ARENA_PAGES];	/* cannot be read or written */
	bool read_only[ARENA_PAGES];
	enum mimic_fault_answer fault_answer;
	bool fault_brings_page;
	unsigned int faults, interrupts, walks;
	uint64_t fault_address;
	unsigned int fault_source;
	uint64_t now;
	bool parked[FIXTURE_OWNERS], completed[FIXTURE_OWNERS];
	uint64_t answer[FIXTURE_OWNERS];
	unsigned int unexpected;
};

/* Aborts if there is no memory. NULL config: the default. */
struct virgo_fixture *virgo_fixture_create(const struct virgo_config *config, unsigned int options);
void virgo_fixture_destroy(struct virgo_fixture *fixture);
/* A default cluster with one unit of this kind. */
struct virgo_config virgo_fixture_config(unsigned int type, unsigned int dim);

enum mimic_outcome virgo_fixture_access(struct virgo_fixture *fixture, struct mimic_access *access);
uint64_t virgo_load(struct virgo_fixture *fixture, unsigned int page, unsigned int offset,
		    unsigned int size);
/* false: it waits */
bool virgo_store(struct virgo_fixture *fixture, unsigned int page, unsigned int offset,
		 unsigned int size, uint64_t value);
uint64_t virgo_unit_load(struct virgo_fixture *fixture, unsigned int unit, unsigned int offset);
void virgo_unit_store(struct virgo_fixture *fixture, unsigned int unit, unsigned int offset,
		      uint64_t value);
/* Ticks until there is nothing to do. */
void virgo_run(struct virgo_fixture *fixture);
/* RS1, RS2, INSTRUCTION; waits if the queue is full. */
void virgo_send(struct virgo_fixture *fixture, unsigned int unit, unsigned int funct, uint64_t rs1,
		uint64_t rs2);
uint64_t virgo_counter(struct virgo_fixture *fixture, unsigned int unit, enum virgo_counter counter);

static inline uint64_t virgo_address(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

static inline uint64_t virgo_pack(unsigned int rows, unsigned int columns, uint32_t local)
{
	return (uint64_t)rows << 48 | (uint64_t)columns << 32 | local;
}

#endif
