/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The value of each row of virgo_paper.csv in some runs. */
#include "bench/figures/virgo/virgo.h"

/* "Much smaller" (V23): so much of the other loss at most. */
#define MUCH_SMALLER 0.5

static struct virgo_outcome one(double value)
{
	return (struct virgo_outcome){ .values = { value } };
}

/* In percent, of a ratio. */
static struct virgo_outcome reduction(double ratio)
{
	return one(ratio > 0 ? 100 * (1 - ratio) : 0);
}

static struct virgo_outcome utilisations(const struct virgo_runs *runs, const char *size)
{
	struct virgo_outcome outcome = { 0 };

	for (size_t i = 0; i < VIRGO_TABLE_DESIGNS; i++)
		outcome.values[i] = virgo_utilisation(virgo_gemm_result(runs, size, virgo_designs[i]), 64);
	return outcome;
}

/* V23: points that are lost with the middle value of an activation's cost, Virgo first. */
static struct virgo_outcome swish(const struct virgo_runs *runs)
{
	const unsigned int middle = virgo_swishes[VIRGO_SWISHES / 2];
	struct virgo_outcome outcome = { { virgo_swish_loss(runs, middle, "virgo-dma"), virgo_swish_loss(runs, middle, "tc-dma") }, true };

	for (size_t i = 0; i < VIRGO_SWISHES; i++) {
		double virgo = virgo_swish_loss(runs, virgo_swishes[i], "virgo-dma"), tensor = virgo_swish_loss(runs, virgo_swishes[i], "tc-dma");

		if (virgo < 0 || tensor < 0)
			return (struct virgo_outcome){ 0 };
		outcome.is_shape = outcome.is_shape && virgo <= MUCH_SMALLER * tensor;
	}
	return outcome;
}

struct virgo_outcome virgo_row_value(const struct virgo_runs *runs, unsigned int number)
{
	if (number >= 1 && number <= VIRGO_SIZES * VIRGO_TABLE_DESIGNS)
		return one(virgo_cycles(runs, virgo_sizes[(number - 1) / VIRGO_TABLE_DESIGNS],
					virgo_designs[(number - 1) % VIRGO_TABLE_DESIGNS]));
	switch (number) {
	case 13: return utilisations(runs, virgo_sizes[0]);
	case 14: return utilisations(runs, virgo_sizes[1]);
	case 15: return utilisations(runs, virgo_sizes[2]);
	case 16: return reduction(virgo_power_ratio(runs, "512"));
	case 17: return reduction(virgo_energy_ratio(runs, "512"));
	case 18: return reduction(virgo_power_ratio(runs, "256"));
	case 19: return reduction(virgo_energy_ratio(runs, "256"));
	case 20: return (struct virgo_outcome){ .values = { 100 * virgo_instruction_ratio(runs, "256"),
							    100 * virgo_instruction_ratio(runs, "512") } };
	case 21: return one(virgo_parallel(runs, "two"));
	case 22: return one(virgo_serial(runs, "two"));
	case 23: return swish(runs);
	default: return (struct virgo_outcome){ 0 };
	}
}
