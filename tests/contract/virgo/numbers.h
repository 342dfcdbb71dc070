/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The numbers of Virgo's contract, written down a second time, from the tables of
 * the paper, of Gemmini's instruction list and of docs/virgo.md, so that a slip in
 * the project's own lists does not go unseen.
 */
#ifndef TESTS_CONTRACT_VIRGO_NUMBERS_H
#define TESTS_CONTRACT_VIRGO_NUMBERS_H

#include <stdint.h>

enum { PAGE_CLUSTER = 0, PAGE_UNITS = 1, PAGES = 2, SHARED_MEMORY = 0x100000 };

/* Registers of a unit, whose block begins at 0x100 times its number. */
enum {
	INSTRUCTION = 0x00, RS1 = 0x10, RS2 = 0x18, BUSY = 0x20, LOOPS = 0x28, STATUS = 0x30,
	CISC = 0x38, CISC_GENERATION = 0x40, CISC_TILE = 0x48, ERROR = 0x50,
	ERROR_INSTRUCTION = 0x58, ERROR_POSITION = 0x60, ERROR_ADDRESS = 0x68, ERROR_RS1 = 0x70,
	ERROR_RS2 = 0x78, DISPATCHED = 0x80, COMPLETED = 0x88, IDENTIFY = 0x90,
	COUNTER_RESULT = 0x98, COUNTER_SELECT = 0xa0, COUNTER_VALUE = 0xa8, RESET = 0xb0,
	FENCE = 0xb8, WAIT_LOOPS_0 = 0xc0, WAIT_LOOPS_1 = 0xc8, WAIT_LOOPS_2 = 0xd0,
	WAIT_LOOPS_3 = 0xd8, STREAM = 0xe0,
};

/* Registers of the cluster. */
enum {
	CLUSTER_IDENTIFY = 0x000, SHARED_SIZE = 0x008, FAULT_STATUS = 0x010, RESOLVE = 0x018,
	FLUSH_ALL = 0x020, FAULT_COUNT = 0x028, EVENT_STATUS = 0x030, EVENT_ENABLE = 0x038,
	PARTICIPANTS = 0x100, BARRIER_WAIT = 0x200, BARRIER_STATUS = 0x300, COUNTERS = 0x800,
};
#define BARRIERS 16

/* STATUS and FENCE. */
enum { IS_BUSY = 1, HAS_ERROR = 2, WAITS_FOR_PAGE = 4 };
#define QUEUE_LEVEL(status) ((status) >> 8 & 0xff)
#define QUEUE_SIZE(status) ((status) >> 16 & 0xff)

/* ERROR. */
enum {
	NO_ERROR, BAD_COMMAND, BAD_RANGE, BAD_SIZE, BAD_VALUE, OVERFLOW, BAD_LOAD, BAD_STORE,
};

/* Element types, as IDENTIFY has them. */
enum type { INT8, FP16, FP32 };

/* EVENT_STATUS: of a unit from these bits on, and of the barriers. */
enum { EVENT_IDLE = 0, EVENT_ERROR = 8, EVENT_LOOP = 16, EVENT_BARRIER = 24 };

/* Counters in their order. */
enum count {
	COUNT_COMMANDS, COUNT_CONFIGURATIONS, COUNT_MOVES_IN, COUNT_MOVES_OUT, COUNT_PRELOADS,
	COUNT_COMPUTES, COUNT_LOOPS, COUNT_CISC, COUNT_TILES, COUNT_MACS, COUNT_DMA_READS,
	COUNT_DMA_WRITES, COUNT_BYTES_READ, COUNT_BYTES_WRITTEN, COUNT_SHARED_READ,
	COUNT_SHARED_WRITTEN, COUNT_ACCUMULATOR_READ, COUNT_ACCUMULATOR_WRITTEN, COUNT_POLLS,
	COUNT_QUEUE_WAITS, COUNT_WALKS, COUNT_PAGE_FAULTS, COUNT_RESOLVES, COUNT_FAULTS,
	COUNT_SHOOTDOWNS, COUNT_ERRORS, COUNT_DROPPED, COUNT_ILLEGAL, COUNTS,
};

enum funct {
	CONFIG = 0, MVIN2 = 1, MVIN = 2, MVOUT = 3, COMPUTE_PRELOADED = 4, COMPUTE_ACCUMULATED = 5,
	PRELOAD = 6, FLUSH = 7, LOOP_WS = 8, LOOP_WS_BOUNDS = 9, LOOP_WS_ADDRS_AB = 10,
	LOOP_WS_ADDRS_DC = 11, LOOP_WS_STRIDES_AB = 12, LOOP_WS_STRIDES_DC = 13, MVIN3 = 14,
	LOOP_CONV_WS = 15, LOOP_CONV_1 = 16, LOOP_CONV_2 = 17, LOOP_CONV_3 = 18, LOOP_CONV_4 = 19,
	LOOP_CONV_5 = 20, LOOP_CONV_6 = 21, CLOCK_GATE = 22, MVOUT_SPAD = 23, SPAD_AB = 24,
	SPAD_C = 25, COUNTER = 126,
};

/* custom-3, func3 3, rs1 in x1, rs2 in x2 */
#define WORD(funct) (0x7bu | 3u << 12 | 1u << 15 | 2u << 20 | (uint32_t)(funct) << 25)

enum { OUTPUT_STATIONARY, WEIGHT_STATIONARY };
enum activation { NO_ACTIVATION, RELU, LAYERNORM, IGELU, SOFTMAX };

/* Local addresses. */
#define ACC 0x80000000u		/* accumulator */
#define ADD 0x40000000u		/* adds to the element there */
#define FULL 0x20000000u	/* as it is */
#define GARBAGE 0xffffffffu
#define NORM(what) ((uint32_t)(what) << 26)
enum norm {
	NORM_RESET, NORM_SUM, NORM_MEAN, NORM_VARIANCE, NORM_DEVIATION, NORM_MAX, NORM_SUM_EXP,
	NORM_END_EXP,
};

/* LOOP_WS: rs1, then rs2. */
enum { LOOP_ACCUMULATE = 1, LOOP_FULL_C = 2, LOOP_LOW_D = 4 };
#define LOOP_ACTIVATION(activation) ((uint32_t)(activation) << 8)
#define LOOP_B_ID(id) ((uint32_t)(id) << 16)
#define LOOP_A_ID(id) ((uint32_t)(id) << 18)
enum {
	LOOP_A_T = 1, LOOP_B_T = 2, LOOP_RESIDUAL = 4, SKIP_A = 8, SKIP_B = 16, SKIP_D = 32,
	SKIP_EXECUTE = 64, SKIP_C = 128, NEXT_ACCUMULATOR = 256, SPAD_ONLY = 512,
};
#define LOOP_C_ROW(row) ((uint64_t)(row) << 32)

/* The numbers of the authors' kernels. */
enum {
	ONLY_COMPUTE = 0x2b8, COMPUTE_TO_SPAD = 0x238, ONLY_STORE_SPAD = 0x278, ONLY_LOAD = 0x2e0,
	ONLY_STORE = 0x78,
};

/* Rows, columns and a local address, as moves, preload and compute take them. */
static inline uint64_t pack(unsigned int rows, unsigned int columns, uint32_t local)
{
	return (uint64_t)rows << 48 | (uint64_t)columns << 32 | local;
}

#endif
