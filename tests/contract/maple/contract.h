/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Functions for the cases of MAPLE's contract (tests/contract/harness.h). */
#ifndef TESTS_CONTRACT_MAPLE_H
#define TESTS_CONTRACT_MAPLE_H

#include "tests/contract/harness.h"
#include "tests/contract/maple/numbers.h"

enum contract_profile { PAPER = 1, ARTIFACT = 2, BOTH = 3 };

extern const struct contract_way maple_ways[];

/* --- beginnings of most cases -------------------------------------------- */

/* On the MAPLE page, 4 bytes. */
uint64_t command(enum bus_thread who, unsigned int operation, unsigned int queue);
/* On the MAPLE page, 8 bytes. */
void request(enum bus_thread who, unsigned int operation, unsigned int queue, uint64_t value);

void init(unsigned int size_code);
/* A becomes the producer and B the consumer. */
void open_queue(unsigned int queue);
void init_and_open(unsigned int size_code, unsigned int queue);

/* A's stores and B's loads. */
void produce32(unsigned int queue, uint32_t value);
void produce64(unsigned int queue, uint64_t value);
uint64_t consume32(unsigned int queue);
uint64_t consume64(unsigned int queue);
void consume_begin(unsigned int queue);
/* The queue holds nothing: a word produced now is the next one consumed. */
void expect_empty(unsigned int queue);

#endif
