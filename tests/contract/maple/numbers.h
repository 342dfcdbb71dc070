/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The numbers of the MAPLE contract, written down a second time as it gives
 * them, so that a slip in the project's own register list does not go unseen.
 */
#ifndef TESTS_CONTRACT_NUMBERS_H
#define TESTS_CONTRACT_NUMBERS_H

enum { PAGE_MAPLE = 0, PAGE_SPD = 1, PAGE_MMU = 2, PAGE_CUSTOM = 3, PAGE_NIBBLER = 4, PAGES = 5 };

enum {
	/* loads */
	INIT = 0, RESET = 1, OPEN_PRODUCER = 2, OPEN_CONSUMER = 3, CLOSE_PRODUCER = 4,
	CLOSE_CONSUMER = 5, FIFO_ADD = 6, CONSUME = 7, FIFO_CLEAR = 9, STATISTICS = 12, DEBUG = 13,
	/* stores */
	PRODUCE = 8, POINTER32 = 10, POINTER64 = 11, LOOP = 14, MMU_STORE = 15,
	ATOMIC_ADD = 32, ATOMIC_AND = 33, ATOMIC_OR = 34, ATOMIC_XOR = 35, ATOMIC_MAX = 36,
	ATOMIC_MAXU = 37, ATOMIC_MIN = 38, ATOMIC_MINU = 39, ATOMIC_SWAP = 40, CAS1 = 41, CAS2 = 42,
	PREFETCH = 43, LLC_POINTER32 = 44, LLC_POINTER64 = 45,
	LIMA_POINTER32 = 48, LIMA_POINTER64 = 49, LIMA_PRODUCE = 50, LIMA_PRODUCE_2 = 51,
	LIMA_LLC_POINTER32 = 52, LIMA_LLC_POINTER64 = 53, LIMA_PREFETCH = 54,
	SET_BASE32 = 57, SET_BASE64 = 58,
	/* loads of the paper profile */
	IDENTIFY = 16, QUEUE_STATE = 17, FAULT_ADDRESS = 18, FAULT_COUNT = 19, FAULT_STATUS = 20,
	/* stores of the paper profile */
	FULL_POINTER32 = 16, FULL_POINTER64 = 17, FULL_LLC_POINTER32 = 18, FULL_LLC_POINTER64 = 19,
	FULL_PREFETCH = 20, QUEUE_LIMA_A = 21, QUEUE_LIMA_B = 22, QUEUE_LOOP_POINTER32 = 24,
	QUEUE_LOOP_POINTER64 = 25, QUEUE_LOOP_LLC_POINTER32 = 26, QUEUE_LOOP_LLC_POINTER64 = 27,
	QUEUE_LOOP_PREFETCH32 = 28, QUEUE_LOOP_PREFETCH64 = 29,
};

/* [11:9] queue, sub-operation or size code; [8:3] operation */
#define AT(operation, queue) ((unsigned int)(operation) << 3 | (unsigned int)(queue) << 9)

/* Words of a queue by size code (contract A2). */
enum { WORDS_8 = 0, WORDS_16 = 1, WORDS_32 = 2, WORDS_48 = 3, WORDS_64 = 4, WORDS_80 = 5,
	WORDS_96 = 6, WORDS_128 = 7 };

#endif
