/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Prints the results of the forms: a table for people, JSON for programs. */
#ifndef EXAMPLES_REPORT_H
#define EXAMPLES_REPORT_H

#include "examples/common/kernel.h"

/* 0, or -errno if standard output cannot be written. */
int report_table(const struct kernel *kernel, const struct csr *matrix, const struct run *runs,
		 unsigned int count);
int report_json(const struct kernel *kernel, const struct csr *matrix, const struct run *runs,
		unsigned int count);

/* after - before, counter by counter */
void counters_subtract(struct maple_counters *after, const struct maple_counters *before);

#endif
