/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The two profiles; every value's source is in config/paper.ini and config/artifact.ini. */
#include <errno.h>

#include "devices/maple/maple_internal.h"

static const struct maple_config profiles[] = {
	{
		.profile = "paper",
		.queues = 8,
		.scratchpad_words = 256,
		.tlb_entries = 16,
		.address_bits = 48,
		.lima_loops = 256,
		.lima_chunks = 16,
		.custom_commands = 16,
		.custom_responses = 4,
		.quirks = 0,
	},
	{
		.profile = "artifact",
		.queues = 4,
		.scratchpad_words = 128,
		.tlb_entries = 16,
		.address_bits = 40,
		.lima_loops = 4,
		.lima_chunks = 16,
		.custom_commands = 16,
		.custom_responses = 4,
#define _(bit, name, meaning) | MAPLE_QUIRK_##name
		.quirks = 0 MAPLE_QUIRKS(_),
#undef _
	},
};

int maple_config_profile(struct maple_config *config, const char *profile)
{
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		if (strcmp(profiles[i].profile, profile))
			continue;
		*config = profiles[i];
		return 0;
	}
	return -EINVAL;
}

static bool outside(unsigned int value, unsigned int low, unsigned int high)
{
	return value < low || value > high;
}

static bool power_of_two(unsigned int value)
{
	return value && !(value & (value - 1));
}

const char *maple_config_check(const struct maple_config *config)
{
	if (outside(config->queues, 1, MAPLE_MAX_QUEUES))
		return "queues must be 1 to 8";
	if (outside(config->scratchpad_words, 8, MAPLE_MAX_WORDS) || config->scratchpad_words % 8)
		return "scratchpad_words must be a multiple of 8 from 8 to 1024";
	if (outside(config->tlb_entries, 2, MAPLE_MAX_TLB) || !power_of_two(config->tlb_entries))
		return "tlb_entries must be a power of two from 2 to 64";
	if (outside(config->address_bits, 32, 64))
		return "address_bits must be 32 to 64";
	if (outside(config->lima_loops, 1, MAPLE_MAX_LIMA_LOOPS))
		return "lima_loops must be 1 to 1024";
	if (outside(config->lima_chunks, config->queues, MAPLE_MAX_LIMA_CHUNKS))
		return "lima_chunks must be 1 to 64, and at least as many as queues";
	if (outside(config->custom_commands, 1, CUSTOM_MAX))
		return "custom_commands must be 1 to 64";
	if (outside(config->custom_responses, 1, CUSTOM_MAX))
		return "custom_responses must be 1 to 64";
#define _(bit, name, meaning) | MAPLE_QUIRK_##name
	if (config->quirks & ~(0u MAPLE_QUIRKS(_)))
#undef _
		return "quirks holds a bit that is no quirk";
	if (!memchr(config->profile, '\0', sizeof(config->profile)))
		return "profile is too long a name";
	return NULL;
}
