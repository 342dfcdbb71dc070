/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One product through libdare beside the plain loop. cmocka. */
#ifndef TESTS_GEMM_CHECK_H
#define TESTS_GEMM_CHECK_H

#include "dare.h"
#include "tests/lib/gemm_reference.h"

/* Random matrices; every bit of C, the bytes between its rows, and A and B afterwards. */
void gemm_check(struct dare *dare, const struct gemm_case *c, bool specials, uint64_t *random);

/* A shape with sides up to `largest`, any type and flags. */
struct gemm_case gemm_random_case(size_t largest, uint64_t *random);

#endif
