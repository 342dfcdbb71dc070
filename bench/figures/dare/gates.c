/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The gates of dare_gates.csv, which has their text. */
#include <math.h>
#include <string.h>

#include "bench/figures/dare/dare.h"

struct gate_view {
	const struct dare_runs *runs;
	char *seen;
	size_t size;
	bool is_open;
};

/* One condition of a gate; `seen` describes the one that failed, or the last one. */
static void expect(struct gate_view *view, bool holds, const char *format, double a, double b)
{
	if (!view->is_open)
		return;
	view->is_open = holds;
	snprintf(view->seen, view->size, format, a, b);
}

static double speedup(const struct gate_view *view, int kernel, int block, const char *system)
{
	return dare_speedup(view->runs, (enum dare_kernel)kernel, (enum dare_block)block, system);
}

static double ratio(const struct gate_view *view, int kernel, int block, dare_metric *metric, const char *above,
		    const char *below)
{
	return dare_ratio(view->runs, (enum dare_kernel)kernel, (enum dare_block)block, metric, above, below);
}

static double demanded(const struct dare_result *result) { return result->demanded; }
static double prefetched(const struct dare_result *result) { return result->prefetched; }
static double reads(const struct dare_result *result) { return result->demanded + result->prefetched; }

/* --- of means ------------------------------------------------------------------------------------ */

static void gate_of_irregular(struct gate_view *view)
{
	for (int kernel = DARE_SPMM; kernel <= DARE_SDDMM; kernel++) {
		double fre = speedup(view, kernel, B1, "fre"), gsa = speedup(view, kernel, B1, "gsa");
		double full = speedup(view, kernel, B1, "full");

		expect(view, full > gsa && gsa > fre, "gsa %.2f, full %.2f", gsa, full);
		expect(view, kernel == DARE_SPMM ? fre > 1 : fre >= 1, "fre %.2f, gsa %.2f", fre, gsa);
	}
}

static void gate_of_synergy(struct gate_view *view)
{
	double product = speedup(view, DARE_SPMM, B1, "fre") * speedup(view, DARE_SPMM, B1, "gsa");
	double full = speedup(view, DARE_SPMM, B1, "full");

	expect(view, full > product && product > 0, "full %.2f, product %.2f", full, product);
}

static void gate_of_nvr(struct gate_view *view)
{
	double spmm = speedup(view, DARE_SPMM, B8, "nvr");
	double gemm = ratio(view, DARE_GEMM, B1, dare_cycles, "gemm base", "gemm nvr");

	expect(view, spmm < 1 && spmm > 0 && gemm < 1 && gemm > 0, "SpMM %.2f, GEMM %.2f", spmm, gemm);
	for (int kernel = DARE_SPMM; kernel <= DARE_SDDMM; kernel++)
		expect(view, speedup(view, kernel, B8, "nvr") < speedup(view, kernel, B8, "fre"), "nvr %.2f, fre %.2f",
		       speedup(view, kernel, B8, "nvr"), speedup(view, kernel, B8, "fre"));
}

static void gate_of_choice(struct gate_view *view)
{
	for (int kernel = DARE_SPMM; kernel <= DARE_SDDMM; kernel++) {
		for (int block = 0; block < DARE_BLOCKS; block++) {
			double nvr = speedup(view, kernel, block, "nvr");
			double dare = fmax(speedup(view, kernel, block, "fre"), speedup(view, kernel, block, "full"));

			expect(view, dare > nvr && dare >= 1, "DARE %.3f, nvr %.3f", dare, nvr);
		}
	}
}

static void gate_of_gsa(struct gate_view *view)
{
	double spmm = speedup(view, DARE_SPMM, B8, "gsa"), sddmm = speedup(view, DARE_SDDMM, B8, "gsa");

	expect(view, spmm < 1 && spmm > 0 && sddmm < 1 && sddmm > 0, "SpMM %.2f, SDDMM %.2f", spmm, sddmm);
}

static void gate_of_full(struct gate_view *view)
{
	for (int kernel = DARE_SPMM; kernel <= DARE_SDDMM; kernel++) {
		double before = INFINITY;

		for (int block = 0; block < DARE_BLOCKS; block++) {
			double now = ratio(view, kernel, block, dare_cycles, "fre", "full");

			expect(view, now < before && now > 0, "full by fre %.3f after %.3f", now, before);
			before = now;
		}
		expect(view, ratio(view, kernel, B1, dare_cycles, "fre", "full") > 1 &&
			     ratio(view, kernel, B8, dare_cycles, "fre", "full") < 1, "B = 1: %.2f, B = 8: %.2f",
		       ratio(view, kernel, B1, dare_cycles, "fre", "full"), ratio(view, kernel, B8, dare_cycles, "fre", "full"));
	}
}

static void gate_of_blocks(struct gate_view *view)
{
	for (int kernel = DARE_SPMM; kernel <= DARE_SDDMM; kernel++) {
		for (int block = B2; block < DARE_BLOCKS; block++) {
			double before = dare_mean_cycles(view->runs, "base", (enum dare_kernel)kernel, (enum dare_block)(block - 1));
			double now = dare_mean_cycles(view->runs, "base", (enum dare_kernel)kernel, (enum dare_block)block);

			expect(view, now < before && now > 0, "%.0f cycles after %.0f", now, before);
		}
		for (int block = B8; block < DARE_BLOCKS; block++) {
			double fre = speedup(view, kernel, block, "fre"), nvr = speedup(view, kernel, block, "nvr");

			expect(view, fre > 1 && fre > nvr, "fre %.2f, nvr %.2f", fre, nvr);
		}
	}
}

/* --- of points ------------------------------------------------------------------------------------ */

/* SDDMM, all data sets together: the share of base's rows that miss, and of nvr's prefetched ones that were not needed. */
static bool shares_of_block(const struct gate_view *view, int block, double *missed, double *redundant)
{
	const struct dare_result *base = dare_results(view->runs, "base", DARE_SDDMM, (enum dare_block)block);
	const struct dare_result *nvr = dare_results(view->runs, "nvr", DARE_SDDMM, (enum dare_block)block);
	double misses = 0, rows = 0, found = 0, all = 0;

	for (size_t set = 0; base && nvr && set < view->runs->set_count; set++) {
		misses += base[set].misses;
		rows += base[set].demanded;
		found += nvr[set].redundant;
		all += nvr[set].prefetched;
	}
	*missed = rows > 0 ? misses / rows : 0;
	*redundant = all > 0 ? found / all : 0;
	return rows > 0 && all > 0;
}

static void gate_of_redundancy(struct gate_view *view)
{
	for (int a = 0; a < DARE_BLOCKS; a++) {
		for (int b = 0; b < DARE_BLOCKS; b++) {
			double missed_a, missed_b, redundant_a, redundant_b;
			bool is_there = shares_of_block(view, a, &missed_a, &redundant_a) &&
					shares_of_block(view, b, &missed_b, &redundant_b);

			if (is_there && missed_a < missed_b)
				expect(view, redundant_a > redundant_b, "%.3f redundant where less is missed, %.3f where more is",
				       redundant_a, redundant_b);
		}
	}
	for (int kernel = DARE_SPMM; kernel <= DARE_SDDMM; kernel++) {
		for (int block = 0; block < DARE_BLOCKS; block++) {
			double share = ratio(view, kernel, block, prefetched, "fre", "nvr");

			expect(view, share < 1 && share > 0, "fre has %.2f of nvr's prefetches", share, 0);
		}
	}
}

double dare_efficiency_at(const struct dare_runs *runs, unsigned int step, const char *mode, dare_metric *metric)
{
	char base[64], system[64];

	snprintf(base, sizeof(base), "latency %u base", 10 * step + 10);
	snprintf(system, sizeof(system), "latency %u %s", 10 * step + 10, mode);
	return dare_ratio(runs, DARE_SDDMM, B8, metric, base, system);
}

static void gate_of_threshold(struct gate_view *view)
{
	double at_60 = dare_efficiency_at(view->runs, 5, "static", dare_energy_delay);
	double at_70 = dare_efficiency_at(view->runs, 6, "static", dare_energy_delay);

	for (unsigned int step = 1; step < DARE_LATENCIES; step++) {
		double before = dare_efficiency_at(view->runs, step - 1, "fre", dare_energy_delay);
		double now = dare_efficiency_at(view->runs, step, "fre", dare_energy_delay);

		expect(view, now > 0.9 * before, "dynamic: %.2f after %.2f", now, before);
	}
	expect(view, at_70 < 0.8 * at_60 && at_70 > 0, "static: %.2f after %.2f", at_70, at_60);
}

static void gate_of_queue(struct gate_view *view)
{
	for (int kernel = DARE_SPMM; kernel <= DARE_SDDMM; kernel++) {
		double to_16 = ratio(view, kernel, B8, dare_cycles, "riq 8 fre", "riq 16 fre");
		double to_32 = ratio(view, kernel, B8, dare_cycles, "riq 16 fre", "riq 32 fre");
		double vmr = ratio(view, kernel, B8, dare_cycles, "vmr 1 fre", "vmr 32 fre");

		expect(view, to_16 > 0.98 && to_32 > 0.98, "from 8 to 16 entries %.2f, to 32 %.2f", to_16, to_32);
		expect(view, fabs(vmr - 1) < 1e-9, "VMR of 32 by VMR of 1: %.4f", vmr, 0);
	}
}

static void gate_of_vmr(struct gate_view *view)
{
	for (int kernel = DARE_SPMM; kernel <= DARE_SDDMM; kernel++) {
		double to_2 = ratio(view, kernel, B1, dare_cycles, "vmr 1 full", "vmr 2 full");
		double to_4 = ratio(view, kernel, B1, dare_cycles, "vmr 2 full", "vmr 4 full");

		expect(view, to_2 >= 1 && to_4 >= 1, "from 1 to 2 entries %.3f, to 4 %.3f", to_2, to_4);
	}
}

static void gate_of_growth(struct gate_view *view)
{
	double spmm = ratio(view, DARE_SPMM, B1, dare_cycles, "vmr 1 full", "vmr 4 full");
	double sddmm = ratio(view, DARE_SDDMM, B1, dare_cycles, "vmr 1 full", "vmr 4 full");

	expect(view, spmm >= DARE_GROWTH && sddmm >= DARE_GROWTH, "SpMM %.3f, SDDMM %.3f", spmm, sddmm);
}

/* Each point of `system` against the one of `other` with the same code. */
static void each_point(struct gate_view *view, const char *system, const char *other,
		       bool (*holds)(const struct dare_result *a, const struct dare_result *b), const char *what)
{
	for (int kernel = DARE_SPMM; kernel <= DARE_SDDMM; kernel++) {
		for (int block = 0; block < DARE_BLOCKS; block++) {
			const struct dare_result *a = dare_results(view->runs, system, (enum dare_kernel)kernel, (enum dare_block)block);
			const struct dare_result *b = dare_results(view->runs, other, (enum dare_kernel)kernel, (enum dare_block)block);

			for (size_t set = 0; a && b && view->is_open && set < view->runs->set_count; set++) {
				if (!a[set].is_there || !b[set].is_there)
					continue;
				view->is_open = holds(&a[set], &b[set]);
				snprintf(view->seen, view->size, "%s and %s: %s: kernel %d, B = %d, %s", system, other, what, kernel,
					 1 << block, view->runs->sets[set].name);
			}
		}
	}
}

static bool is_no_slower(const struct dare_result *a, const struct dare_result *b)
{
	return a->cycles <= b->cycles;
}

static bool does_the_same(const struct dare_result *a, const struct dare_result *b)
{
	return a->demanded == b->demanded && a->stored == b->stored && a->mma == b->mma && a->macs == b->macs;
}

static bool has_the_same_macs(const struct dare_result *a, const struct dare_result *b)
{
	return a->macs == b->macs;
}

static bool takes_less_energy(const struct dare_result *a, const struct dare_result *b)
{
	return dare_energy(a) < dare_energy(b);
}

static bool reads_at_most_twice(const struct dare_result *a, const struct dare_result *b)
{
	return reads(a) <= 2 * reads(b);
}

static void gate_of_oracle(struct gate_view *view)
{
	each_point(view, "oracle", "base", is_no_slower, "cycles");
	each_point(view, "oracle", "nvr", is_no_slower, "cycles");
	each_point(view, "oracle", "fre", is_no_slower, "cycles");
	each_point(view, "gsa oracle", "gsa", is_no_slower, "cycles");
	each_point(view, "gsa oracle", "full", is_no_slower, "cycles");
}

static void gate_of_energy(struct gate_view *view)
{
	each_point(view, "base", "fre", takes_less_energy, "energy");
	each_point(view, "fre", "nvr", takes_less_energy, "energy");
	each_point(view, "gsa", "full", takes_less_energy, "energy");
	each_point(view, "nvr", "base", reads_at_most_twice, "LLC reads");
}

static void gate_of_work(struct gate_view *view)
{
	each_point(view, "nvr", "base", does_the_same, "rows, mma and MACs");
	each_point(view, "fre", "base", does_the_same, "rows, mma and MACs");
	each_point(view, "oracle", "base", does_the_same, "rows, mma and MACs");
	each_point(view, "full", "gsa", does_the_same, "rows, mma and MACs");
	each_point(view, "gsa", "base", has_the_same_macs, "MACs");
	expect(view, ratio(view, DARE_SPMM, B8, demanded, "riq 32 fre", "riq 8 fre") == 1, "%.2f of the rows", 1, 0);
	/* These are two runs of one command. */
	expect(view, ratio(view, DARE_SDDMM, B8, dare_cycles, "riq 32 fre", "latency 20 fre") == 1 &&
		     ratio(view, DARE_SPMM, B1, dare_cycles, "riq 32 full", "vmr 16 full") == 1,
	       "same rows, mma and MACs; two runs: %.0f times the cycles", 1, 0);
}

bool dare_gate(const struct dare_runs *runs, unsigned int number, char *seen, size_t size)
{
	static void (*const gates[DARE_GATES])(struct gate_view *view) = {
		gate_of_irregular, gate_of_synergy, gate_of_nvr, gate_of_choice, gate_of_gsa, gate_of_full, gate_of_blocks,
		gate_of_redundancy, gate_of_threshold, gate_of_queue, gate_of_vmr, gate_of_oracle, gate_of_energy,
		gate_of_work, gate_of_growth,
	};
	struct gate_view view = { .runs = runs, .seen = seen, .size = size, .is_open = true };

	*seen = '\0';
	gates[number - 1](&view);
	return view.is_open && *seen;
}

void dare_gates(struct gate *gates, const struct table *texts, const struct dare_runs *runs)
{
	for (size_t i = 0; i < DARE_GATES; i++) {
		gates[i].text = i < texts->count ? texts->rows[i][1] : "";
		gates[i].is_open = dare_gate(runs, (unsigned int)i + 1, gates[i].seen, sizeof(gates[i].seen));
	}
}
