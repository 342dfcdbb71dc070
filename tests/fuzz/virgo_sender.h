/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* How commands reach the model of fuzz_virgo, and how it is driven until they are done. */
#ifndef TESTS_FUZZ_VIRGO_SENDER_H
#define TESTS_FUZZ_VIRGO_SENDER_H

#include "tests/fuzz/virgo_commands.h"
#include "tests/fuzz/virgo_side.h"

/* The unit hears that the page it waits for is present, and finds it there; or that it is bad. */
void virgo_resolve(unsigned int unit, bool is_present, bool is_there);
/* Until all is done. A unit that waits for a page gets it. */
void virgo_settle(void);

/* A store to a unit's block. */
struct mimic_access virgo_access_of(unsigned int unit, unsigned int owner, unsigned int offset,
				    unsigned int size, uint64_t data);
void virgo_withdraw(unsigned int owner, bool is_gone);
void virgo_nobody_waits_as(unsigned int owner);

void virgo_finish_triple(unsigned int unit, unsigned int owner);
void virgo_send_by_stores(unsigned int unit, unsigned int owner, const struct entry *entry, bool in_halves);
/* In one of several ways. */
void virgo_send(unsigned int unit, unsigned int owner, const struct sequence *s, unsigned int how);

#endif
