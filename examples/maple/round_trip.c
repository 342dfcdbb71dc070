/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How long a load from MAPLE takes whose data is there: the paper's Figure 14. In virtual
 * time (mimic sim) the report says it exactly: load_cycles by loads of the phase. Here the
 * loop's own instructions are in it, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <mimic/sim.h>
#include <stdio.h>
#include <string.h>

#include "examples/common/pairs.h"
#include "examples/maple/loops/round_trip.h"
#include "maple.h"

#define WORDS 16

static int measure(struct maple *maple, double *nanoseconds)
{
	uint32_t sum;
	int error = maple_open(maple, 0, MAPLE_PRODUCER);

	if (!error)
		error = maple_open(maple, 0, MAPLE_CONSUMER);
	for (uint32_t i = 0; i < WORDS && !error; i++)
		error = maple_produce32(maple, 0, i);
	if (error)
		return error;
	if (mimic_sim_phase_begin)
		mimic_sim_phase_begin("round trips");
	*nanoseconds = 1e9 * clock_seconds();
	sum = round_trips(maple, 0, WORDS);
	*nanoseconds = (1e9 * clock_seconds() - *nanoseconds) / WORDS;
	if (mimic_sim_phase_end)
		mimic_sim_phase_end();
	return sum == WORDS * (WORDS - 1) / 2 ? 0 : -EIO;
}

int main(void)
{
	struct maple *maple;
	double nanoseconds;
	int error = maple_init(&maple, NULL);

	if (!error)
		error = measure(maple, &nanoseconds);
	if (error) {
		fprintf(stderr, "round_trip: %s\n", *maple_error_text() ? maple_error_text() : strerror(-error));
		return 1;
	}
	printf("A load from MAPLE takes %.1f ns (in virtual time: cycles).\n", nanoseconds);
	maple_fini(maple);
	return 0;
}
