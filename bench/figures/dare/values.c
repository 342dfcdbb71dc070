/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The value of each row of dare_paper.csv in some runs. */
#include <math.h>

#include "bench/figures/dare/dare.h"

static double quotient(double above, double below)
{
	return below > 0 ? above / below : 0;
}

static double efficiency(const struct dare_runs *runs, enum dare_kernel kernel, enum dare_block block,
			 const char *system, dare_metric *metric)
{
	return dare_ratio(runs, kernel, block, metric, "base", system);
}

static struct dare_outcome both_efficiencies(const struct dare_runs *runs, enum dare_kernel kernel, enum dare_block block,
				       const char *system)
{
	return (struct dare_outcome){ efficiency(runs, kernel, block, system, dare_energy),
				efficiency(runs, kernel, block, system, dare_energy_delay), false };
}

/* The lowest and the highest of DARE over all benchmarks. */
static struct dare_outcome range_of_chosen(const struct dare_runs *runs, dare_metric *metric)
{
	struct dare_outcome range = { INFINITY, 0, false };

	for (int kernel = DARE_SPMM; kernel <= DARE_SDDMM; kernel++) {
		for (int block = 0; block < DARE_BLOCKS; block++) {
			const char *chosen = dare_chosen(runs, (enum dare_kernel)kernel, (enum dare_block)block);
			double value = efficiency(runs, (enum dare_kernel)kernel, (enum dare_block)block, chosen, metric);

			range.value = fmin(range.value, value);
			range.second = fmax(range.second, value);
		}
	}
	return range;
}

static struct dare_outcome sddmm_over_gemm(const struct dare_runs *runs)
{
	double gemm = dare_mean_cycles(runs, "gemm base", DARE_GEMM, B1);

	return (struct dare_outcome){ quotient(gemm, dare_mean_cycles(runs, "sparse 4 base", DARE_SDDMM, B4)),
				quotient(gemm, dare_mean_cycles(runs, "sparse 8 base", DARE_SDDMM, B8)), false };
}

static struct dare_outcome oracle_over_cache(const struct dare_runs *runs)
{
	double of_4 = dare_ratio(runs, DARE_SDDMM, B4, dare_cycles, "sparse 4 base", "sparse 4 oracle");
	double of_8 = dare_ratio(runs, DARE_SDDMM, B8, dare_cycles, "sparse 8 base", "sparse 8 oracle");
	double of_16 = dare_ratio(runs, DARE_SDDMM, B16, dare_cycles, "sparse 16 base", "sparse 16 oracle");

	return (struct dare_outcome){ fmax(of_4, fmax(of_8, of_16)), 0, false };
}

static struct dare_outcome nvr_below_one(const struct dare_runs *runs)
{
	double gemm = dare_ratio(runs, DARE_GEMM, B1, dare_cycles, "gemm base", "gemm nvr");

	return (struct dare_outcome){ fmax(gemm, dare_speedup(runs, DARE_SPMM, B8, "nvr")), gemm, false };
}

static struct dare_outcome crossover(const struct dare_runs *runs, enum dare_kernel kernel)
{
	for (int block = 0; block < DARE_BLOCKS; block++) {
		double ratio = dare_ratio(runs, kernel, (enum dare_block)block, dare_cycles, "fre", "full");

		if (ratio == 0)
			return (struct dare_outcome){ 0 };
		if (ratio < 1)
			return (struct dare_outcome){ 1u << block, 0, false };
	}
	return (struct dare_outcome){ 2u << B16, 0, false };
}

/* D18, D19, D20 and D25 are gates, too; D25 and growth are more than these. */
static struct dare_outcome shape(const struct dare_runs *runs, unsigned int gate, const char *system,
				 enum dare_kernel kernel, enum dare_block block)
{
	char seen[160];
	/* Without this one there are no points. */
	bool is_there = dare_ratio(runs, kernel, block, dare_cycles, system, system) > 0;

	return (struct dare_outcome){ is_there, 0, dare_gate(runs, gate, seen, sizeof(seen)) };
}

/* As the gate, and from the first of two sizes to the other one each kernel gains. */
static struct dare_outcome growth(const struct dare_runs *runs, unsigned int gate, const char *small, const char *large,
				  enum dare_block block)
{
	struct dare_outcome outcome = shape(runs, gate, small, DARE_SPMM, block);

	outcome.second = fmin(dare_ratio(runs, DARE_SPMM, block, dare_cycles, small, large),
			      dare_ratio(runs, DARE_SDDMM, block, dare_cycles, small, large));
	outcome.is_shape = outcome.is_shape && outcome.second >= DARE_GROWTH;
	return outcome;
}

/* D25: as the gate, and demand waits longer. */
static struct dare_outcome redundancy(const struct dare_runs *runs)
{
	struct dare_outcome values = shape(runs, 8, "nvr", DARE_SDDMM, B8);

	values.second = dare_ratio(runs, DARE_SDDMM, B8, dare_latency, "nvr", "base");
	values.is_shape = values.is_shape && values.second > 1;
	return values;
}

struct dare_outcome dare_row_value(const struct dare_runs *runs, unsigned int number)
{
	switch (number) {
	case 1: return (struct dare_outcome){ dare_speedup(runs, DARE_SPMM, B1, "fre"), 0, false };
	case 2: return (struct dare_outcome){ dare_speedup(runs, DARE_SPMM, B1, "gsa"), 0, false };
	case 3: return (struct dare_outcome){ dare_speedup(runs, DARE_SPMM, B1, "full"), 0, false };
	case 4: return (struct dare_outcome){ dare_speedup(runs, DARE_SPMM, B8, "nvr"),
					dare_ratio(runs, DARE_SPMM, B8, dare_cycles, "libdare base", "libdare nvr"), false };
	case 5: return (struct dare_outcome){ dare_speedup(runs, DARE_SPMM, B8, dare_chosen(runs, DARE_SPMM, B8)),
					dare_ratio(runs, DARE_SPMM, B8, dare_cycles, "libdare base", "libdare fre"), false };
	case 6: return (struct dare_outcome){ dare_speedup(runs, DARE_SDDMM, B8, "nvr"),
					dare_ratio(runs, DARE_SDDMM, B8, dare_cycles, "libdare base", "libdare nvr"), false };
	case 7: return (struct dare_outcome){ dare_speedup(runs, DARE_SDDMM, B8, dare_chosen(runs, DARE_SDDMM, B8)),
					dare_ratio(runs, DARE_SDDMM, B8, dare_cycles, "libdare base", "libdare fre"), false };
	case 8: return range_of_chosen(runs, dare_cycles);
	case 9: return both_efficiencies(runs, DARE_SDDMM, B8, "nvr");
	case 10: return both_efficiencies(runs, DARE_SDDMM, B8, dare_chosen(runs, DARE_SDDMM, B8));
	case 11: return both_efficiencies(runs, DARE_SDDMM, B1, dare_chosen(runs, DARE_SDDMM, B1));
	case 12: return both_efficiencies(runs, DARE_SPMM, B1, dare_chosen(runs, DARE_SPMM, B1));
	case 13: return range_of_chosen(runs, dare_energy);
	case 14: return sddmm_over_gemm(runs);
	case 15: return oracle_over_cache(runs);
	case 16: return (struct dare_outcome){ fmax(dare_best_filling(runs, DARE_SPMM, "gsa", "base"),
					      dare_best_filling(runs, DARE_SDDMM, "gsa", "base")), 0, false };
	case 17: return nvr_below_one(runs);
	case 18: return shape(runs, 9, "latency 20 base", DARE_SDDMM, B8);
	case 19: return growth(runs, 11, "vmr 1 full", "vmr 4 full", B1);
	case 20: return growth(runs, 10, "riq 8 fre", "riq 32 fre", B8);
	case 21: return crossover(runs, DARE_SDDMM);
	case 22: return crossover(runs, DARE_SPMM);
	case 25: return redundancy(runs);
	default: return (struct dare_outcome){ 0 };
	}
}
