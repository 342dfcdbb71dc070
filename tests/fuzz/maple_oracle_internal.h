/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Between the oracle's two files. */
#ifndef TESTS_FUZZ_MAPLE_ORACLE_INTERNAL_H
#define TESTS_FUZZ_MAPLE_ORACLE_INTERNAL_H

#include "tests/fuzz/maple_oracle.h"
#include "tests/contract/maple/numbers.h"

enum { PIPES = 1, LIMA = 2 };	/* sources of faults */

uint64_t oracle_cut(uint64_t value, unsigned int size);
unsigned int oracle_existing(const struct oracle *o);
void oracle_note_fault(struct oracle *o, uint64_t address, unsigned int source);
void oracle_end_store(struct oracle *o, struct oracle_queue *q);
void oracle_end_load(struct oracle *o, struct oracle_queue *q, uint64_t data);
bool oracle_pop(struct oracle *o, struct oracle_queue *q, unsigned int n, uint64_t *data);
bool oracle_backlog(const struct oracle_queue *q);
bool oracle_produce(struct oracle *o, unsigned int number, const struct mimic_access *access);
bool oracle_is_produce(const struct oracle *o, unsigned int operation);
bool oracle_is_loop(const struct oracle *o, unsigned int operation);
void oracle_go_on(struct oracle *o, unsigned int number);

#endif
