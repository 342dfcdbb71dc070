/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Between the parts of Virgo's side of the harness; not for cases. */
#ifndef TESTS_CONTRACT_VIRGO_INTERNAL_H
#define TESTS_CONTRACT_VIRGO_INTERNAL_H

#include "tests/contract/virgo/contract.h"

struct virgo_config;

/* Of the functional model, with the profile of the case. */
void virgo_contract_config(struct virgo_config *config);

/* The reference hears of every command, and of a unit that begins anew. */
void check_begin(void);
void check_command(unsigned int funct, uint64_t rs1, uint64_t rs2);
/* To the device only. */
void rocc_unseen(unsigned int funct, uint64_t rs1, uint64_t rs2);

#endif
