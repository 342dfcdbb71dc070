/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The numbers of DARE's contract, written down a second time, from the tables of
 * the paper, of the XuanTie matrix extension and of the port's documentation, so
 * that a slip in the project's own lists does not go unseen.
 */
#ifndef TESTS_CONTRACT_DARE_NUMBERS_H
#define TESTS_CONTRACT_DARE_NUMBERS_H

#include <stdint.h>

/* Registers of a context's page. */
enum {
	RS1 = 0x00, RS2 = 0x08, INSTRUCTION = 0x10, STREAM = 0x18, STATUS = 0x20, FENCE = 0x28,
	MATRIX_M = 0x30, MATRIX_K = 0x38, MATRIX_N = 0x40, DISPATCHED = 0x48, COMPLETED = 0x50,
	ERROR = 0x58, ERROR_INSTRUCTION = 0x60, ERROR_POSITION = 0x68, ERROR_ADDRESS = 0x70,
	ERROR_ROW = 0x78, RESET = 0x80, IDENTIFY = 0x88,
};

/* Counters, from this offset on, 8 bytes each. */
enum {
	COUNT_INSTRUCTIONS = 0x100, COUNT_MCFG = 0x108, COUNT_MLD = 0x110, COUNT_MST = 0x118,
	COUNT_MMA = 0x120, COUNT_MGATHER = 0x128, COUNT_MSCATTER = 0x130, ROWS_LOADED = 0x138,
	ROWS_STORED = 0x140, BYTES_LOADED = 0x148, BYTES_STORED = 0x150, MACS_USED = 0x158,
	MACS_OFFERED = 0x160, RAW_WAITS = 0x168, WAR_WAITS = 0x170, WAW_WAITS = 0x178,
	QUEUE_WAITS = 0x180, TLB_HITS = 0x188, TLB_MISSES = 0x190, PAGE_FAULTS = 0x198,
	RESOLVES = 0x1a0, FAULTS = 0x1a8, SHOOTDOWNS = 0x1b0, ERRORS = 0x1b8, DROPPED = 0x1c0,
	ILLEGAL_ACCESSES = 0x1c8, AFTER_COUNTERS = 0x1d0,
};

/* STATUS and FENCE. */
enum { IS_BUSY = 1, HAS_ERROR = 2, WAITS_FOR_PAGE = 4 };
#define QUEUE_LEVEL(status) ((status) >> 8 & 0xff)
#define QUEUE_SIZE(status) ((status) >> 16 & 0xff)
#define STREAM_MISSING(status) ((status) >> 24 & 0xff)

/* ERROR. */
enum { NO_ERROR = 0, ILLEGAL = 1, BAD_CSR = 2, SHAPE = 3, MISALIGNED = 4, BAD_LOAD = 5, BAD_STORE = 6 };

/* mcfg's rs1. */
enum { CSR_M = 0, CSR_K = 1, CSR_N = 2, CSRS = 3 };

/* Field [11:10]: the element's size. */
enum element { BYTE = 0, HALF = 1, WORD = 2, ELEMENTS = 3 };
#define ELEMENT_BYTES(element) (1u << (element))

#define CUSTOM_1 0x2bu	/* major opcode 0101011 */
/* The host's registers a0 and a1: the device does not look at them. */
#define HOST_FIELDS (10u << 15 | 11u << 20)

static inline uint32_t word_mcfg(void)
{
	return 0x7fu << 25 | HOST_FIELDS | CUSTOM_1;
}

/* 00000 10 rs2 rs1 000 size md opcode */
static inline uint32_t word_mld(enum element size, unsigned int md)
{
	return 0x02u << 25 | HOST_FIELDS | (uint32_t)size << 10 | md << 7 | CUSTOM_1;
}

/* 00001 10 rs2 rs1 000 size ms3 opcode */
static inline uint32_t word_mst(enum element size, unsigned int ms3)
{
	return 0x06u << 25 | HOST_FIELDS | (uint32_t)size << 10 | ms3 << 7 | CUSTOM_1;
}

/* fmmacc, 00001 00 0 ms2 ms1 md 000 size 00p; mmaqa, 00010 00 0 ms2 ms1 md 000 00 000 */
static inline uint32_t word_mma(enum element size, unsigned int md, unsigned int ms1, unsigned int ms2)
{
	uint32_t registers = ms2 << 21 | ms1 << 18 | md << 15;

	if (size == BYTE)
		return 0x08u << 25 | registers | CUSTOM_1;
	return 0x04u << 25 | registers | (uint32_t)size << 10 | (size == HALF) << 7 | CUSTOM_1;
}

/* 00110 10 0000 ms1 000 000 size md opcode */
static inline uint32_t word_mgather(enum element size, unsigned int md, unsigned int ms1)
{
	return 0x1au << 25 | ms1 << 18 | (uint32_t)size << 10 | md << 7 | CUSTOM_1;
}

/* 00111 10 0 ms2 ms1 000 000 size 000 opcode */
static inline uint32_t word_mscatter(enum element size, unsigned int ms2, unsigned int ms1)
{
	return 0x1eu << 25 | ms2 << 21 | ms1 << 18 | (uint32_t)size << 10 | CUSTOM_1;
}

#endif
