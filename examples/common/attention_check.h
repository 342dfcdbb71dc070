/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Attention of one head, O = softmax(Q K^T / sqrt(d)) V, and its right value: a plain
 * computation in double precision, row by row. All matrices lie row by row, without gaps.
 */
#ifndef EXAMPLES_ATTENTION_CHECK_H
#define EXAMPLES_ATTENTION_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "examples/common/message.h"

enum attention_exp {
	ATTENTION_TAYLOR,	/* 1 + x + x^2 / 2, as the authors' kernel has it */
	ATTENTION_EXACT,
	ATTENTION_EXPS
};

struct attention {
	size_t sequence, head;		/* rows and columns of each matrix */
	const float *q, *k, *v;
};

/*
 * Each element may be so far from the plain one, in parts of sum(p |v|) / sum(p) of its
 * row's weights p. Those found are below a fifth of it (docs/examples.md).
 */
#define ATTENTION_TOLERANCE 1e-6

/*
 * Is O right? *error is the largest distance, in the unit of the tolerance. The weights
 * of the Taylor polynomial depend on the maxima that a row has had, so it is computed
 * with the same number of keys at a time; the exact one with all keys at once. If O is
 * wrong, the message names the first element that is.
 */
bool attention_verify(const struct attention *attention, enum attention_exp exp, size_t keys, const float *o,
		      double *error, struct message *message);

#endif
