/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What each row of dare_paper.csv is in our runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/dare/dare.h"

#define NEAR 0.10
/* "in kind" is on the paper's side of 1, and within a factor of so much. */
#define FAR 2.0

struct values {
	double value, second;
	bool is_shape;		/* a shape holds */
};

static double of_only_set(const struct dare_runs *runs, const char *system, enum dare_kernel kernel,
			  enum dare_block block)
{
	const struct dare_result *results = dare_results(runs, system, kernel, block);

	for (size_t set = 0; results && set < runs->set_count; set++) {
		if (results[set].is_there)
			return results[set].cycles;
	}
	return 0;
}

static double quotient(double above, double below)
{
	return below > 0 ? above / below : 0;
}

static double efficiency(const struct dare_runs *runs, enum dare_kernel kernel, enum dare_block block,
			 const char *system, dare_metric *metric)
{
	return dare_ratio(runs, kernel, block, metric, "base", system);
}

static struct values both_efficiencies(const struct dare_runs *runs, enum dare_kernel kernel, enum dare_block block,
				       const char *system)
{
	return (struct values){ efficiency(runs, kernel, block, system, dare_energy),
				efficiency(runs, kernel, block, system, dare_energy_delay), false };
}

/* The lowest and the highest of DARE over all benchmarks. */
static struct values range_of_dare(const struct dare_runs *runs, dare_metric *metric)
{
	struct values range = { INFINITY, 0, false };

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

static struct values sddmm_over_gemm(const struct dare_runs *runs)
{
	double gemm = of_only_set(runs, "gemm base", DARE_GEMM, B1);

	return (struct values){ quotient(gemm, of_only_set(runs, "sparse 4 base", DARE_SDDMM, B4)),
				quotient(gemm, of_only_set(runs, "sparse 8 base", DARE_SDDMM, B8)), false };
}

static struct values oracle_over_cache(const struct dare_runs *runs)
{
	double of_4 = dare_ratio(runs, DARE_SDDMM, B4, dare_cycles, "sparse 4 base", "sparse 4 oracle");
	double of_8 = dare_ratio(runs, DARE_SDDMM, B8, dare_cycles, "sparse 8 base", "sparse 8 oracle");
	double of_16 = dare_ratio(runs, DARE_SDDMM, B16, dare_cycles, "sparse 16 base", "sparse 16 oracle");

	return (struct values){ fmax(of_4, fmax(of_8, of_16)), 0, false };
}

static struct values nvr_below_one(const struct dare_runs *runs)
{
	double gemm = dare_ratio(runs, DARE_GEMM, B1, dare_cycles, "gemm base", "gemm nvr");

	return (struct values){ fmax(gemm, dare_speedup(runs, DARE_SPMM, B8, "nvr")), gemm, false };
}

static struct values crossover(const struct dare_runs *runs, enum dare_kernel kernel)
{
	for (int block = 0; block < DARE_BLOCKS; block++) {
		double ratio = dare_ratio(runs, kernel, (enum dare_block)block, dare_cycles, "fre", "full");

		if (ratio == 0)
			return (struct values){ 0 };
		if (ratio < 1)
			return (struct values){ 1u << block, 0, false };
	}
	return (struct values){ 2u << B16, 0, false };
}

/* D18, D19, D20 and D25 are the same as gates, but for what the paper says of RIQ at B = 1, which may be either. */
static struct values shape(const struct dare_runs *runs, unsigned int gate, const char *system, enum dare_kernel kernel,
			   enum dare_block block)
{
	char seen[160];
	/* Without this one there are no points. */
	bool is_there = dare_ratio(runs, kernel, block, dare_cycles, system, system) > 0;

	return (struct values){ is_there, 0, dare_gate(runs, gate, seen, sizeof(seen)) };
}

/* D25: as the gate, and demand waits longer. */
static struct values redundancy(const struct dare_runs *runs)
{
	struct values values = shape(runs, 8, "nvr", DARE_SDDMM, B8);

	values.second = dare_ratio(runs, DARE_SDDMM, B8, dare_latency, "nvr", "base");
	values.is_shape = values.is_shape && values.second > 1;
	return values;
}

static struct values row_values(const struct dare_runs *runs, unsigned int number)
{
	switch (number) {
	case 1: return (struct values){ dare_speedup(runs, DARE_SPMM, B1, "fre"), 0, false };
	case 2: return (struct values){ dare_speedup(runs, DARE_SPMM, B1, "gsa"), 0, false };
	case 3: return (struct values){ dare_speedup(runs, DARE_SPMM, B1, "full"), 0, false };
	case 4: return (struct values){ dare_speedup(runs, DARE_SPMM, B8, "nvr"),
					dare_ratio(runs, DARE_SPMM, B8, dare_cycles, "libdare base", "libdare nvr"), false };
	case 5: return (struct values){ dare_speedup(runs, DARE_SPMM, B8, dare_chosen(runs, DARE_SPMM, B8)),
					dare_ratio(runs, DARE_SPMM, B8, dare_cycles, "libdare base", "libdare fre"), false };
	case 6: return (struct values){ dare_speedup(runs, DARE_SDDMM, B8, "nvr"),
					dare_ratio(runs, DARE_SDDMM, B8, dare_cycles, "libdare base", "libdare nvr"), false };
	case 7: return (struct values){ dare_speedup(runs, DARE_SDDMM, B8, dare_chosen(runs, DARE_SDDMM, B8)),
					dare_ratio(runs, DARE_SDDMM, B8, dare_cycles, "libdare base", "libdare fre"), false };
	case 8: return range_of_dare(runs, dare_cycles);
	case 9: return both_efficiencies(runs, DARE_SDDMM, B8, "nvr");
	case 10: return both_efficiencies(runs, DARE_SDDMM, B8, dare_chosen(runs, DARE_SDDMM, B8));
	case 11: return both_efficiencies(runs, DARE_SDDMM, B1, dare_chosen(runs, DARE_SDDMM, B1));
	case 12: return both_efficiencies(runs, DARE_SPMM, B1, dare_chosen(runs, DARE_SPMM, B1));
	case 13: return range_of_dare(runs, dare_energy);
	case 14: return sddmm_over_gemm(runs);
	case 15: return oracle_over_cache(runs);
	case 16: return (struct values){ fmax(dare_best_filling(runs, DARE_SPMM, "gsa", "base"),
					      dare_best_filling(runs, DARE_SDDMM, "gsa", "base")), 0, false };
	case 17: return nvr_below_one(runs);
	case 18: return shape(runs, 9, "latency 20 base", DARE_SDDMM, B8);
	case 19: return shape(runs, 11, "vmr 1 full", DARE_SPMM, B1);
	case 20: return shape(runs, 10, "riq 8 fre", DARE_SPMM, B8);
	case 21: return crossover(runs, DARE_SDDMM);
	case 22: return crossover(runs, DARE_SPMM);
	case 25: return redundancy(runs);
	default: return (struct values){ 0 };
	}
}

/* --- verdicts ------------------------------------------------------------------------------- */

static bool is_near(double value, double paper)
{
	return fabs(value / paper - 1) <= NEAR;
}

static bool is_in_kind(double value, double paper)
{
	return (value > 1) == (paper > 1) && value <= paper * FAR && value >= paper / FAR;
}

static bool is_kind(const struct dare_row *row, const char *kind)
{
	return strcmp(row->kind, kind) == 0;
}

static const char *verdict_of_number(const struct dare_row *row)
{
	if (is_kind(row, "range") && is_near(row->value, row->low) && is_near(row->second, row->high))
		return "within 10 %";
	if (is_kind(row, "range"))
		return is_in_kind(row->second, row->high) ? "in kind" : "deviates";
	if (is_kind(row, "below"))
		return row->value < row->high ? "as the paper" : "deviates";
	if (is_kind(row, "crossover") && row->value == row->low)
		return "as the paper";
	if (is_kind(row, "at most") && row->value > row->high)
		return is_near(row->value, row->high) ? "in kind" : "deviates";
	if (is_near(row->value, row->low))
		return "within 10 %";
	return is_in_kind(row->value, row->low) ? "in kind" : "deviates";
}

static const char *verdict_of_row(const struct dare_row *row, const struct values *values)
{
	if (is_kind(row, "parameters"))
		return "a parameter";
	if (row->value == 0)
		return "no data";
	if (is_kind(row, "shape"))
		return values->is_shape ? "as the paper" : "deviates";
	return verdict_of_number(row);
}

int dare_rows_read(struct dare_rows *rows, const char *folder)
{
	if (table_read(&rows->table, folder, "dare_paper.csv"))
		return -1;
	for (rows->count = 0; rows->count < rows->table.count && rows->count < DARE_ROWS_MAX; rows->count++) {
		char **fields = rows->table.rows[rows->count], *end;
		struct dare_row *row = &rows->rows[rows->count];

		*row = (struct dare_row){
			.id = fields[0], .what = fields[4], .paper = fields[5], .kind = fields[7],
			.low = strtod(fields[5], &end), .verdict = "",
		};
		row->high = *end == '-' ? strtod(end + 1, NULL) : row->low;
	}
	return 0;
}

void dare_rows_judge(struct dare_rows *rows, const struct dare_runs *runs)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct dare_row *row = &rows->rows[i];
		unsigned int number = (unsigned int)atoi(row->id + 1);
		struct values values = row_values(runs, number);

		row->value = values.value;
		row->second = values.second;
		row->verdict = number == 23 || number == 24 ? "not simulated" : verdict_of_row(row, &values);
	}
}
