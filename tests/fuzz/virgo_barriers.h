/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The expected state of the barriers: the threads that wait, and how often each barrier has opened. */
#ifndef TESTS_FUZZ_VIRGO_BARRIERS_H
#define TESTS_FUZZ_VIRGO_BARRIERS_H

#include <stdint.h>

void barriers_start(void);
/* From the model: a load that waited, with its answer. */
void barriers_complete(unsigned int owner, uint64_t data);
void barriers_withdraw(unsigned int owner);
/* Power-on: nobody waits, nothing is kept. */
void barriers_reset(void);
void barriers_arrive(unsigned int owner, unsigned int barrier);
void barriers_set_participants(unsigned int barrier, unsigned int participants);
void barriers_compare(void);

#endif
