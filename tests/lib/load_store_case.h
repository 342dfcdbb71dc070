/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* An instruction, and the expected answer of a decoder of load_store.h. */
#ifndef MIMIC_TEST_LOAD_STORE_CASE_H
#define MIMIC_TEST_LOAD_STORE_CASE_H

#include "libmimic/base/load_store.h"

#define NONE MIMIC_LOAD_STORE_NONE

struct load_store_case {
	const char *text;	/* as the assembler takes it */
	uint32_t instruction;
	struct mimic_load_store expected;
	int error;	/* or this */
};

typedef int (*load_store_decoder)(uint32_t instruction, struct mimic_load_store *result);

/* Fails with the text of the first that is decoded otherwise. */
void load_store_check(load_store_decoder decode, const struct load_store_case *cases, size_t count);

#endif
