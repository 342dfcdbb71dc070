/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What one run of mimic sim has counted, read from its JSON: for mimic sweep and make figures. */
#ifndef TOOLS_SIM_POINT_H
#define TOOLS_SIM_POINT_H

#include <stdint.h>

#include "sim/soc.h"

/* Of one phase. */
struct sim_point {
	char phase[64];
	uint64_t cycles;
	uint64_t uncosted;
	struct soc_core_counters cores;	/* sums */
	struct soc_counters soc;
	uint64_t produced, consumed, fetched, prefetched, tlb_misses;	/* words and so on, of the device */
};

/*
 * Up to `room` phases of a report. How many there are; -EINVAL: it is no report; -EPROTO: the
 * program did not come to its end; or -errno of the file.
 */
int tool_sim_point_read(const char *path, struct sim_point *points, unsigned int room);

#endif
