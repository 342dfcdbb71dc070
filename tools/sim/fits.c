/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Can a SoC be as its parameters say? Those of the cores and caches are sim's, those of a device its kind's. */
#include <errno.h>

#include "sim.h"

static uint64_t parameter(void *context, const char *section, const char *key)
{
	return sim_parameters_get(context, section, key);
}

struct mimic_time_host tool_sim_soc(struct sim_parameters *parameters)
{
	return (struct mimic_time_host){ .context = parameters, .parameter = parameter };
}

int tool_sim_fits(struct sim_parameters *parameters, char *why, size_t size)
{
	const struct mimic_time_host soc = tool_sim_soc(parameters);
	int error = sim_parameters_check(parameters, why, size);

	for (unsigned int i = 0; i < mimic_kind_count() && !error; i++) {
		const struct mimic_time *time = mimic_kinds[i]->time;
		const char *wrong = time && time->check && time->is_there(&soc) ? time->check(&soc) : NULL;

		if (!wrong)
			continue;
		snprintf(why, size, "%s", wrong);
		error = -EINVAL;
	}
	return error;
}
