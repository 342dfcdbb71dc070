/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The parameters of a cluster. */
#include "devices/virgo/virgo_internal.h"

void virgo_config_default(struct virgo_config *config)
{
	*config = (struct virgo_config){
		.units = 1, .cores = 4, .shared_kb = 64, .queue_entries = 16, .inline_jobs = 1,
	};
	for (unsigned int i = 0; i < VIRGO_UNITS_MAX; i++)
		config->unit[i] = (struct virgo_unit_config){
			.type = VIRGO_FP32, .dim = 8, .accumulator_kb = 16,
		};
}

static bool outside(unsigned int value, unsigned int low, unsigned int high)
{
	return value < low || value > high;
}

static bool is_power_of_two(unsigned int value)
{
	return value && !(value & (value - 1));
}

struct unit_texts {
	const char *type, *dim, *accumulator_kb, *tile;
};

static const struct unit_texts unit_texts[VIRGO_UNITS_MAX] = {
#define _(number) { \
	"unit" #number "_type must be 0 (int8), 1 (fp16) or 2 (fp32)", \
	"unit" #number "_dim must be 4, 8, 16 or 32", \
	"unit" #number "_accumulator_kb must be a power of two from 4 to 256", \
	"a tile of unit " #number " has at most 65535 blocks" },
	_(0) _(1) _(2) _(3) _(4) _(5) _(6) _(7)
#undef _
};

static const char *check_unit(const struct virgo_unit_config *unit, const struct unit_texts *texts)
{
	if (unit->type >= VIRGO_TYPES)
		return texts->type;
	if (outside(unit->dim, 4, VIRGO_MAX_DIM) || !is_power_of_two(unit->dim))
		return texts->dim;
	if (outside(unit->accumulator_kb, VIRGO_ACCUMULATOR_MIN >> 10, VIRGO_ACCUMULATOR_MAX >> 10) ||
	    !is_power_of_two(unit->accumulator_kb))
		return texts->accumulator_kb;
	if (unit->tile_i > 0xffff || unit->tile_j > 0xffff || unit->tile_k > 0xffff)
		return texts->tile;
	return NULL;
}

const char *virgo_config_check(const struct virgo_config *config)
{
	if (outside(config->units, 1, VIRGO_UNITS_MAX))
		return "units must be 1 to 8";
	if (outside(config->cores, 1, 255))
		return "cores must be 1 to 255";
	if (outside(config->shared_kb, 64, 256) || !is_power_of_two(config->shared_kb))
		return "shared_kb must be 64, 128 or 256";
	if (outside(config->queue_entries, 4, VIRGO_MAX_QUEUE))
		return "queue_entries must be 4 to 64";
	if (config->overflow_is_error > 1)
		return "overflow_is_error must be 0 or 1";
	if (config->synchronous > 1)
		return "synchronous must be 0 or 1";
	if (config->cisc_generation >= VIRGO_CISC_GENERATIONS)
		return "cisc_generation must be 0 or 1";
	if (config->inline_jobs > 1)
		return "inline_jobs must be 0 or 1";
	for (unsigned int i = 0; i < config->units; i++) {
		const char *wrong = check_unit(&config->unit[i], &unit_texts[i]);

		if (wrong)
			return wrong;
	}
	return NULL;
}
