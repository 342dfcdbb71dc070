/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A host for a bare DARE model whose memory, page table and answers the test
 * controls, and short forms of the tests' calls. Contexts 0 and 1 are
 * attached to address spaces 1 and 2; space 3 is free.
 */
#ifndef TESTS_DARE_HOST_H
#define TESTS_DARE_HOST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above */
#include <cmocka.h>

#include "devices/dare/dare_model.h"

#define HOST_BASE 0x40000u		/* first address of each space */
#define HOST_PAGES 16u
#define HOST_PAGE 4096u
#define HOST_SPACES 3u
#define HOST_OWNERS 600u

enum host_options {
	HOST_IDENTITY = 0,
	HOST_WALKS = 1,		/* a page table; frames do not follow each other as pages do */
	HOST_FAULTS = 2,	/* asks host->fault_answer; else every fault is bad */
};

struct host_space {
	struct dare_host *host;
	struct mimic_memory port;
	uint8_t bytes[HOST_PAGES * HOST_PAGE];
	bool absent[HOST_PAGES];
	bool read_only[HOST_PAGES];
	bool unreadable[HOST_PAGES];	/* has a translation, but reads and writes fail */
	unsigned int reads, writes;	/* calls of the port */
};

struct dare_host {
	struct mimic_model *model;
	uint64_t now;
	struct host_space space[HOST_SPACES];
	bool parked[HOST_OWNERS];
	bool completed[HOST_OWNERS];
	uint64_t answer[HOST_OWNERS];
	unsigned int order[HOST_OWNERS];	/* owners in the order of their completion */
	unsigned int order_count;
	unsigned int unexpected;		/* completions of accesses that were not parked */
	enum mimic_fault_answer fault_answer;
	bool fault_maps_page;			/* the fault handler makes the page present */
	unsigned int faults;
	unsigned int fault_context;
	uint64_t fault_address;
	bool fault_writes;
	unsigned int interrupts;
};

struct dare_host *host_create(unsigned int options);
/* NULL config: the default. */
struct dare_host *host_create_with(unsigned int options, const struct dare_config *config);
void host_destroy(struct dare_host *host);

/* The byte at an address of a space, counted from 1 as the spaces are. */
uint8_t *host_bytes(struct dare_host *host, unsigned int space, uint64_t address);
/* Every byte of every space gets a value that depends on where it is. */
void host_fill(struct dare_host *host);

enum mimic_outcome host_access(struct dare_host *host, struct mimic_access *access);
/* Loads and stores of 8 bytes by owner 1 unless one is named. A load that parks gives HOST_PARKED. */
#define HOST_PARKED 0xdeadfacedeadfaceull
uint64_t host_load(struct dare_host *host, unsigned int context, unsigned int offset);
uint64_t host_load_as(struct dare_host *host, uint64_t owner, unsigned int context, unsigned int offset);
bool host_store(struct dare_host *host, unsigned int context, unsigned int offset, uint64_t value);
bool host_store_as(struct dare_host *host, uint64_t owner, unsigned int context, unsigned int offset,
		   uint64_t value);
uint64_t host_control_load(struct dare_host *host, unsigned int offset);
void host_control_store(struct dare_host *host, unsigned int offset, uint64_t value);
void host_attach(struct dare_host *host, unsigned int context, uint64_t space);
/* RESOLVE of context 0. */
void host_resolve(struct dare_host *host, bool present);
/* The driver's part of a fault: the page of FAULT_STATUS is made present in context's space, and resolved. */
void host_map_and_resolve(struct dare_host *host, unsigned int context);

/* One instruction in context 0, by RS1, RS2 and INSTRUCTION. true: the store was acknowledged. */
bool host_run(struct dare_host *host, uint32_t word, uint64_t rs1, uint64_t rs2);
bool host_run_in(struct dare_host *host, unsigned int context, uint32_t word, uint64_t rs1, uint64_t rs2);
void host_set_shape(struct dare_host *host, unsigned int m, unsigned int k, unsigned int n);
/* Row of a matrix register of context 0. */
const uint8_t *host_matrix_row(struct dare_host *host, unsigned int number, unsigned int row);
/* Puts 1 KB into a register of context 0, with a full shape, by way of memory page 15. */
void host_set_matrix(struct dare_host *host, unsigned int number, const void *bytes);
/* The same; row i begins with addresses[i]. */
void host_set_addresses(struct dare_host *host, unsigned int number, const uint64_t addresses[16]);
uint64_t host_counter(struct dare_host *host, unsigned int context, enum dare_counter counter);
void host_assert_no_error(struct dare_host *host);
void host_assert_error(struct dare_host *host, enum dare_error error, uint32_t word, uint64_t address,
		  uint64_t row);

/* Instruction words, written down from the XuanTie layout and not by our encoder. */
#define CUSTOM_1 0x2bu
#define W_STRIDED(store, size, m) ((uint32_t)(2u | (store) << 2) << 25 | (size) << 10 | (m) << 7 | CUSTOM_1)
#define W_MLD(md) W_STRIDED(0u, 2u, (uint32_t)(md))
#define W_MLD_H(md) W_STRIDED(0u, 1u, (uint32_t)(md))
#define W_MLD_B(md) W_STRIDED(0u, 0u, (uint32_t)(md))
#define W_MST(ms) W_STRIDED(1u, 2u, (uint32_t)(ms))
#define W_MST_H(ms) W_STRIDED(1u, 1u, (uint32_t)(ms))
#define W_MST_B(ms) W_STRIDED(1u, 0u, (uint32_t)(ms))
#define W_THREE(function, size, md, ms1, ms2) \
	((uint32_t)(function) << 25 | (uint32_t)(ms2) << 21 | (uint32_t)(ms1) << 18 | \
	 (uint32_t)(md) << 15 | (uint32_t)(size) << 10 | CUSTOM_1)
#define W_MMA(md, ms1, ms2) W_THREE(4, 2, md, ms1, ms2)
#define W_MMA_BF16(md, ms1, ms2) (W_THREE(4, 1, md, ms1, ms2) | 1u << 7)
#define W_MMA_I8(md, ms1, ms2) W_THREE(8, 0, md, ms1, ms2)
#define W_MGATHER_SIZED(size, md, ms1) \
	(26u << 25 | (uint32_t)(ms1) << 18 | (uint32_t)(size) << 10 | (uint32_t)(md) << 7 | CUSTOM_1)
#define W_MGATHER(md, ms1) W_MGATHER_SIZED(2, md, ms1)
#define W_MGATHER_B(md, ms1) W_MGATHER_SIZED(0, md, ms1)
#define W_MSCATTER(ms2, ms1) W_THREE(30, 2, 0, ms1, ms2)
#define W_MSCATTER_B(ms2, ms1) W_THREE(30, 0, 0, ms1, ms2)
#define W_MCFG (127u << 25 | CUSTOM_1)
#define W_ILLEGAL 0xffffffffu

#endif
