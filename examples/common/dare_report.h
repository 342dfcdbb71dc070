/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Prints the results of the DARE programs: a table for people, JSON for programs. */
#ifndef EXAMPLES_DARE_REPORT_H
#define EXAMPLES_DARE_REPORT_H

#include "examples/common/dare_program.h"

/* 0, or -errno if standard output cannot be written. */
int dare_report(const struct dare_kernel *kernel, const struct dare_program *program, void *state,
		const struct dare_run *runs, unsigned int count);

#endif
