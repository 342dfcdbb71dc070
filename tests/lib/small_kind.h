/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A kind with the least that is required, to be spoiled. Its functions do nothing. */
#ifndef TESTS_LIB_SMALL_KIND_H
#define TESTS_LIB_SMALL_KIND_H

#include "devices/kind.h"

struct small_parameters {
	unsigned int depth;
	unsigned int memory_pages;
};

void small_kind(struct mimic_kind *kind);

#endif
