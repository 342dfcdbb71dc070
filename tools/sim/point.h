/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The counters of one run of mimic sim, read from its JSON: for mimic sweep, mimic compare and make figures. */
#ifndef TOOLS_SIM_POINT_H
#define TOOLS_SIM_POINT_H

#include <stdint.h>

#include "libmimic/base/kinds.h"
#include "sim/soc.h"

#define SIM_POINT_COLUMNS 128

/* Of one phase. */
struct sim_point {
	char phase[64];
	uint64_t cycles;
	uint64_t uncosted;
	uint64_t core_cycles;	/* of all cores, in which they had threads */
	struct soc_core_counters cores;	/* sums */
	uint64_t instruction_cycles;	/* that their instructions took: none, where core.instruction is 0 */
	struct soc_counters soc;
	uint64_t device[SIM_POINT_COLUMNS];	/* tool_sim_point_columns() */
};

/* The counters of a device: columns of each kind that can be in virtual time (struct mimic_time). */
struct sim_point_column {
	const struct mimic_kind *kind;
	const char *counter;
	char part[32];		/* the object of the JSON that has it: "maple", or "maple_time" */
};

/* Returns how many there are. */
unsigned int tool_sim_point_columns(struct sim_point_column columns[SIM_POINT_COLUMNS]);

/*
 * Up to `room` phases of a report. How many there are; -EINVAL: it is no report of this schema; -EPROTO: the
 * program did not come to its end; or -errno of the file.
 */
int tool_sim_point_read(const char *path, struct sim_point *points, unsigned int room);

#endif
