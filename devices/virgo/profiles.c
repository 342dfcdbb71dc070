/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Clusters that have names. */
#include <errno.h>

#include "devices/virgo/virgo_internal.h"

struct profile {
	const char *name;
	unsigned int units;
	unsigned int shared_kb;
	unsigned int cisc_generation;
	struct virgo_unit_config unit[4];
};

static const struct profile profiles[] = {
	{
		.name = "mixed",
		.units = 4,
		.shared_kb = 128,
		.unit = {
			{ .type = VIRGO_FP32, .dim = 8, .accumulator_kb = 16 },
			{ .type = VIRGO_FP32, .dim = 4, .accumulator_kb = 16 },
			{ .type = VIRGO_INT8, .dim = 16, .accumulator_kb = 16 },
			{ .type = VIRGO_FP16, .dim = 16, .accumulator_kb = 16 },
		},
	},
	{
		.name = "paper",
		.units = 1,
		.shared_kb = 64,
		.unit = { { .type = VIRGO_FP32, .dim = 8, .accumulator_kb = 16 } },
	},
	{
		.name = "heterogeneous",
		.units = 2,
		.shared_kb = 64,
		.unit = {
			{ .type = VIRGO_FP32, .dim = 8, .accumulator_kb = 16 },
			{ .type = VIRGO_FP32, .dim = 4, .accumulator_kb = 16 },
		},
	},
	{
		.name = "gemmini",
		.units = 1,
		.shared_kb = 256,
		.unit = { { .type = VIRGO_INT8, .dim = 16, .accumulator_kb = 64 } },
	},
	{
		.name = "later",
		.units = 1,
		.shared_kb = 128,
		.cisc_generation = VIRGO_CISC_LATER,
		.unit = { { .type = VIRGO_FP16, .dim = 16, .accumulator_kb = 32 } },
	},
};

int virgo_config_profile(struct virgo_config *config, const char *name)
{
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		const struct profile *profile = &profiles[i];

		if (strcmp(profile->name, name))
			continue;
		/* Units that a configuration adds are the paper's. */
		virgo_config_default(config);
		config->units = profile->units;
		config->shared_kb = profile->shared_kb;
		config->cisc_generation = profile->cisc_generation;
		memcpy(config->unit, profile->unit, profile->units * sizeof(config->unit[0]));
		return 0;
	}
	return -EINVAL;
}
