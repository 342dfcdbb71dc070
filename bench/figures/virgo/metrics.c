/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Metrics that are computed from points. */
#include "bench/figures/virgo/virgo.h"

#define MULTIPLIERS 64		/* of one array of 8 x 8, or four cores */
#define MULTIPLIERS_OF_BOTH 80	/* and of one of 4 x 4 */

const char *const virgo_sizes[VIRGO_SIZES] = { "256", "128x512", "512" };
const char *const virgo_designs[VIRGO_TABLE_DESIGNS] = { "tc", "tc-dma", "virgo", "virgo-dma" };
const unsigned int virgo_swishes[VIRGO_SWISHES] = { 20, 40, 80 };

const struct virgo_result *virgo_gemm_result(const struct virgo_runs *runs, const char *size, const char *design)
{
	char point[64];

	snprintf(point, sizeof(point), "%s %s", size, design);
	return virgo_result(runs, point);
}

double virgo_cycles(const struct virgo_runs *runs, const char *size, const char *design)
{
	const struct virgo_result *result = virgo_gemm_result(runs, size, design);

	return result ? result->cycles : 0;
}

double virgo_utilisation(const struct virgo_result *result, double units)
{
	return result ? 100 * result->macs / units / result->cycles : 0;
}

double virgo_energy(const struct virgo_result *result)
{
	double sum = 0;

	for (size_t i = 0; result && i < VIRGO_ENERGIES; i++)
		sum += result->energy[i];
	return sum;
}

double virgo_energy_ratio(const struct virgo_runs *runs, const char *size)
{
	double below = virgo_energy(virgo_gemm_result(runs, size, "tc-dma"));

	return below > 0 ? virgo_energy(virgo_gemm_result(runs, size, "virgo-dma")) / below : 0;
}

double virgo_power_ratio(const struct virgo_runs *runs, const char *size)
{
	double cycles = virgo_cycles(runs, size, "virgo-dma");

	return cycles > 0 ? virgo_energy_ratio(runs, size) * virgo_cycles(runs, size, "tc-dma") / cycles : 0;
}

double virgo_instruction_ratio(const struct virgo_runs *runs, const char *size)
{
	const struct virgo_result *above = virgo_gemm_result(runs, size, "virgo-dma"), *below = virgo_gemm_result(runs, size, "tc-dma");

	return above && below ? above->instructions / below->instructions : 0;
}

double virgo_parallel(const struct virgo_runs *runs, const char *prefix)
{
	const struct virgo_result *both = virgo_gemm_result(runs, prefix, "parallel");

	return both ? 100 * both->macs / MULTIPLIERS_OF_BOTH / both->elapsed : 0;
}

double virgo_serial(const struct virgo_runs *runs, const char *prefix)
{
	const struct virgo_result *large = virgo_gemm_result(runs, prefix, "large"), *small = virgo_gemm_result(runs, prefix, "small");

	return large && small ? 100 * (large->macs + small->macs) / MULTIPLIERS / (large->elapsed + small->elapsed) : 0;
}

double virgo_swish_loss(const struct virgo_runs *runs, unsigned int n, const char *design)
{
	const struct virgo_result *plain = virgo_gemm_result(runs, "512", design), *fused;
	char size[32];

	snprintf(size, sizeof(size), "swish %u", n);
	fused = virgo_gemm_result(runs, size, design);
	return plain && fused ? virgo_utilisation(plain, MULTIPLIERS) - virgo_utilisation(fused, MULTIPLIERS) : -1;
}
