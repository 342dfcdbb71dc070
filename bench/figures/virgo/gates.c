/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The gates of virgo_gates.csv, which has their text. Those of cycles must hold without and with fitted parameters. */
#include <math.h>
#include <string.h>

#include "bench/figures/virgo/virgo.h"

#define MOVED 3.0	/* percent, that a mechanism moves at least whom it is for */
#define UNMOVED 2.0	/* and at most others */

struct gate_state {
	const struct virgo_view *view;
	char *seen;
	size_t size;
	bool is_open;
};

/* One condition of a gate; `seen` describes the one that failed, or the last one. */
static void expect(struct gate_state *state, bool holds, const char *format, const char *where, double a, double b)
{
	if (!state->is_open)
		return;
	state->is_open = holds;
	snprintf(state->seen, state->size, format, where, a, b);
}

static double cycles(const struct virgo_runs *runs, size_t size, const char *design)
{
	return virgo_cycles(runs, virgo_sizes[size], design);
}

/* --- Table 2 ------------------------------------------------------------------------------------ */

static void order(struct gate_state *state, const struct virgo_runs *runs)
{
	static const char *const slower[] = { "tc", "virgo", "tc-dma", "virgo-dma" };

	for (size_t size = 0; size < VIRGO_SIZES; size++) {
		for (size_t i = 1; i < VIRGO_TABLE_DESIGNS; i++) {
			double before = cycles(runs, size, slower[i - 1]), now = cycles(runs, size, slower[i]);

			expect(state, now < before && now > 0, "%s: %.0f cycles, the next slower design %.0f", slower[i], now, before);
		}
	}
}

static void gains(struct gate_state *state, const struct virgo_runs *runs)
{
	for (size_t size = 0; size < VIRGO_SIZES; size++) {
		double tensor = cycles(runs, size, "tc") / cycles(runs, size, "tc-dma");
		double virgo = cycles(runs, size, "virgo") / cycles(runs, size, "virgo-dma");
		double both = cycles(runs, size, "tc-dma") / cycles(runs, size, "virgo-dma");

		expect(state, tensor > 1.5 && virgo > 1.5, "%s: DMA makes TC %.3f times as fast, Virgo %.3f times", virgo_sizes[size],
		       tensor, virgo);
		expect(state, both > 1.4 && both < 1.5, "%s: Virgo with DMA %.3f times as fast as TC with it", virgo_sizes[size], both, 0);
	}
}

static double utilisation(const struct virgo_runs *runs, size_t size, const char *design)
{
	return virgo_utilisation(virgo_gemm_result(runs, virgo_sizes[size], design), 64);
}

static void sizes(struct gate_state *state, const struct virgo_runs *runs)
{
	double lowest = INFINITY, highest = 0;

	for (size_t size = 0; size < VIRGO_SIZES; size++) {
		lowest = fmin(lowest, utilisation(runs, size, "tc"));
		highest = fmax(highest, utilisation(runs, size, "tc"));
	}
	expect(state, lowest > 0 && highest - lowest <= 1.5, "%s from %.2f to %.2f %%", "TC", lowest, highest);
	for (size_t size = 1; size < VIRGO_SIZES; size++) {
		double before = utilisation(runs, size - 1, "virgo-dma"), now = utilisation(runs, size, "virgo-dma");

		expect(state, now > before && before > 0, "%s: %.2f %% after %.2f %%", "Virgo with DMA", now, before);
	}
}

/* The second size has as many tiles of C as the first, and 64 operations of 64 x 64 x 64 more. */
static double each_operation(const struct virgo_runs *runs, const char *design)
{
	double first = cycles(runs, 0, design), second = cycles(runs, 1, design);

	return first > 0 ? (second - first) / 64 : 0;
}

static void operations(struct gate_state *state, const struct virgo_runs *runs)
{
	double virgo = each_operation(runs, "virgo-dma"), tensor = each_operation(runs, "tc");

	expect(state, virgo >= 4096 && tensor >= 4096 + 3584, "%s: Virgo with DMA %.0f cycles, TC %.0f", "an operation", virgo, tensor);
}

/* The same of both. */
static void of_both(struct gate_state *state, void (*gate)(struct gate_state *state, const struct virgo_runs *runs))
{
	gate(state, state->view->fits);
	gate(state, state->view->runs);
}

static void gate_of_order(struct gate_state *state) { of_both(state, order); }
static void gate_of_gains(struct gate_state *state) { of_both(state, gains); }
static void gate_of_sizes(struct gate_state *state) { of_both(state, sizes); }
static void gate_of_operations(struct gate_state *state) { of_both(state, operations); }

/* --- mechanisms ------------------------------------------------------------------------------------ */

static void check_null(struct gate_state *state, const struct virgo_null *null, const char *design)
{
	double change;
	char where[96];

	snprintf(where, sizeof(where), "%s, %s", null->name, design);
	if (!virgo_null_change(null, state->view->runs, design, &change))
		expect(state, false, "%s: no points", where, 0, 0);
	else if (null->is_slight)
		expect(state, fabs(change) < UNMOVED && (!virgo_null_moves(null, design) || change < 0), "%s: %+.2f %% of its cycles",
		       where, change, 0);
	else if (virgo_null_moves(null, design))
		expect(state, fabs(change) > MOVED, "%s: %+.1f %%, must be more than %.0f", where, change, MOVED);
	else
		expect(state, fabs(change) < UNMOVED, "%s: %+.1f %%, must be less than %.0f", where, change, UNMOVED);
}

static void gate_of_mechanisms(struct gate_state *state)
{
	const struct virgo_nulls *nulls = state->view->nulls;
	unsigned int count = 0;

	for (size_t i = 0; i < nulls->count; i++) {
		for (size_t design = 0; nulls->models[i].is_gate && design < VIRGO_TABLE_DESIGNS; design++) {
			check_null(state, &nulls->models[i], virgo_designs[design]);
			count += design == 0;
		}
	}
	expect(state, count >= 5, "%s: each moves whom it is for, of %.0f; others by less than %.0f %%", "all", count, UNMOVED);
}

static double what_if(const struct gate_state *state, const char *name, const char *design)
{
	return virgo_cycles(state->view->runs, name, design);
}

static void gate_of_array(struct gate_state *state)
{
	double small = what_if(state, "tile 32", "virgo-dma"), usual = what_if(state, "256", "virgo-dma");
	double large = what_if(state, "tile 128", "virgo-dma"), dim_4 = what_if(state, "dim 4", "virgo-dma");
	double dim_16 = what_if(state, "dim 16", "virgo-dma"), dim_32 = what_if(state, "dim 32", "virgo-dma");
	double tensor = what_if(state, "256", "tc");

	expect(state, large < usual && usual < small && large > 0, "%s: %.0f cycles, of 64 %.0f", "tiles of 128", large, usual);
	expect(state, dim_16 < 0.6 * usual && usual < 0.6 * dim_4 && dim_16 > 0, "%s: %.0f cycles, of 8 %.0f", "an array of 16", dim_16, usual);
	/* Its multiplication, 256 cycles, is shorter than the load, 1440: little is left to gain. */
	expect(state, dim_32 > 0.85 * dim_16 && dim_16 > 0, "%s: %.0f cycles, of 16 %.0f", "an array of 32", dim_32, dim_16);
	for (const char *const *dim = (const char *const[]){ "dim 4", "dim 16", "dim 32", NULL }; *dim; dim++)
		expect(state, tensor > 0 && what_if(state, *dim, "tc") == tensor, "TC, %s: %.0f cycles, of 8 %.0f", *dim,
		       what_if(state, *dim, "tc"), tensor);
}

static void gate_of_units(struct gate_state *state)
{
	static const char *const pairs[] = { "two", "two 30", "two 80", "two 110", "two of 64", "two of 64 at 60" };
	double alone = virgo_serial(state->view->runs, "two in a bank"), both = virgo_parallel(state->view->runs, "two in a bank");

	expect(state, both > 0 && both < alone - 2, "%s: both %.1f %%, in series %.1f %%", "two in a bank", both, alone);
	for (size_t i = 0; i <= sizeof(pairs) / sizeof(pairs[0]); i++) {
		const struct virgo_runs *runs = i ? state->view->runs : state->view->fits;
		const char *name = pairs[i ? i - 1 : 0];
		double parallel = virgo_parallel(runs, name), serial = virgo_serial(runs, name);

		expect(state, parallel > 0 && serial > 0 && fabs(parallel - serial) <= 2, "%s: both %.1f %%, in series %.1f %%", name, parallel,
		       serial);
	}
}

/* --- instructions, energy ---------------------------------------------------------------------------- */

static double core_share(const struct virgo_runs *runs, const char *design)
{
	const struct virgo_result *result = virgo_gemm_result(runs, "512", design);

	return result ? 100 * result->energy[ENERGY_CORE] / virgo_energy(result) : -1;
}

static void energies(struct gate_state *state, const struct virgo_runs *runs)
{
	const struct virgo_result *tensor = virgo_gemm_result(runs, "512", "tc-dma"), *virgo = virgo_gemm_result(runs, "512", "virgo-dma");

	expect(state, tensor && virgo && tensor->energy[ENERGY_MACS] == virgo->energy[ENERGY_MACS], "%s: %.0f nJ, %.0f nJ", "MACs",
	       tensor ? tensor->energy[ENERGY_MACS] : 0, virgo ? virgo->energy[ENERGY_MACS] : 0);
	expect(state, core_share(runs, "tc-dma") > 50 && core_share(runs, "virgo-dma") >= 0 && core_share(runs, "virgo-dma") < 10,
	       "%s: TC with DMA %.1f %% of its energy, Virgo with it %.1f %%", "cores", core_share(runs, "tc-dma"),
	       core_share(runs, "virgo-dma"));
}

static void gate_of_instructions(struct gate_state *state)
{
	double before = 100 * virgo_instruction_ratio(state->view->runs, "256"), now = 100 * virgo_instruction_ratio(state->view->runs, "512");

	expect(state, before > 0 && before < 10 && now > 0 && now < before, "%s: %.2f %% of TC's at 256, %.2f %% at 512", "instructions",
	       before, now);
	energies(state, state->view->fits);
	energies(state, state->view->runs);
}

static void gate_of_swish(struct gate_state *state)
{
	for (size_t i = 0; i < VIRGO_SWISHES; i++) {
		double virgo = virgo_swish_loss(state->view->runs, virgo_swishes[i], "virgo-dma");
		double tensor = virgo_swish_loss(state->view->runs, virgo_swishes[i], "tc-dma");
		char where[32];

		snprintf(where, sizeof(where), "%u instructions", virgo_swishes[i]);
		expect(state, virgo >= 0 && virgo < tensor, "%s: %.2f points, TC %.2f", where, virgo, tensor);
	}
}

/* A point's exit status tells whether its results are right: a wrong one ends all before this. */
static void gate_of_results(struct gate_state *state)
{
	for (size_t i = 0; i < VIRGO_TABLE_DESIGNS; i++) {
		double first = cycles(state->view->runs, 0, virgo_designs[i]), second = what_if(state, "again", virgo_designs[i]);

		expect(state, first > 0 && first == second, "%s: results right, %.0f and %.0f cycles", virgo_designs[i], first, second);
	}
}

bool virgo_gate(const struct virgo_view *view, unsigned int number, char *seen, size_t size)
{
	static void (*const gates[VIRGO_GATES])(struct gate_state *state) = {
		gate_of_order, gate_of_gains, gate_of_sizes, gate_of_operations, gate_of_mechanisms, gate_of_array, gate_of_units,
		gate_of_instructions, gate_of_swish, gate_of_results,
	};
	struct gate_state state = { .view = view, .seen = seen, .size = size, .is_open = true };

	*seen = '\0';
	gates[number - 1](&state);
	return state.is_open && *seen;
}

void virgo_gates(struct gate *gates, const struct table *texts, const struct virgo_view *view)
{
	for (size_t i = 0; i < VIRGO_GATES; i++) {
		gates[i].text = i < texts->count ? texts->rows[i][1] : "";
		gates[i].is_open = virgo_gate(view, (unsigned int)i + 1, gates[i].seen, sizeof(gates[i].seen));
	}
}
