/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A mimic that is built without libdw cannot tell to which loop an instruction belongs: there is no virtual time. */
#include <stdlib.h>

#include "tools/sim/sim.h"

int tool_sim_program_read(struct sim_program *program, const char *path, const struct sim_costs *costs)
{
	(void)program, (void)costs;
	return tool_error(EXIT_FAILURE, "%s: no virtual time: this mimic was built without libdw (elfutils)", path);
}

int tool_sim_program_add(struct sim_program *program, const char *path, const struct sim_costs *costs)
{
	return tool_sim_program_read(program, path, costs);
}

void tool_sim_program_free(struct sim_program *program)
{
	(void)program;
}
