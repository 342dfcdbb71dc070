/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Time of a run: the machine's, and in `mimic sim` the model's. */
#ifndef EXAMPLES_DARE_MEASURE_H
#define EXAMPLES_DARE_MEASURE_H

#include <stdint.h>

struct measure {
	double seconds;
	uint64_t cycles;	/* 0: not in virtual time */
};

/* `phase` names a section of the report of `mimic sim`. */
void measure_begin(struct measure *measure, const char *phase);
void measure_end(struct measure *measure);

#endif
