/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The rows and gates of DARE's figures, of made-up points: a model that is as the paper says passes all gates, and each
 * gate finds the deviation that it is for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bench/figures/dare/dare.h"

#define TABLES "bench/figures"

static struct dare_runs runs;
static struct dare_rows rows;
static struct dare_nulls nulls;

/* How many times faster than base, by block. */
static double speedup_of(const char *system, int kernel, int block)
{
	static const double gsa[] = { 2.5, 1.8, 1.1, 0.8, 0.7 }, full[] = { 4.5, 2.5, 1.3, 0.9, 0.8 };

	if (strcmp(system, "nvr") == 0)
		return kernel == DARE_SPMM ? 0.77 : 1.05;
	if (strcmp(system, "fre") == 0)
		return block >= B8 ? 1.25 : 1.1;
	if (strcmp(system, "gsa") == 0)
		return gsa[block];
	if (strcmp(system, "full") == 0)
		return full[block];
	if (strcmp(system, "oracle") == 0 || strcmp(system, "gsa oracle") == 0)
		return 9;
	return strcmp(system, "gemm nvr") == 0 ? 0.9 : 1;
}

static double prefetched_of(const char *mode)
{
	if (strcmp(mode, "nvr") == 0)
		return 900;
	return strcmp(mode, "fre") == 0 || strcmp(mode, "static") == 0 ? 100 : 0;
}

/* Of a sweep: the parameter's name, its value, and the mode. */
static double sweep_speedup(const struct dare_system *system)
{
	char what[16] = "", mode[16] = "";
	unsigned int number = 0;

	if (sscanf(system->name, "%15s %u %15s", what, &number, mode) != 3)
		return 1;
	if (strcmp(what, "latency") == 0)
		return strcmp(mode, "static") == 0 && number >= 70 ? 0.6 : strcmp(mode, "base") ? 1.2 : 1;
	if (strcmp(what, "riq") == 0)
		return strcmp(mode, "full") == 0 || number >= 32 ? 1.2 : number == 8 ? 1.0 : 1.1;
	return strcmp(mode, "full") == 0 && number < 4 ? 1.1 : 1.2;
}

/* nJ: 0.216 for a row read, 0.276 for one that is written, 0.432 for an mma and 0.0023 for a MAC. */
static void fill_energy(struct dare_result *result)
{
	result->energy = 0.216 * (result->demanded + result->prefetched) + 0.276 * result->stored + 0.432 * result->mma +
			 0.0023 * result->macs;
}

static void fill_point(const struct dare_system *system, int kernel, int block, size_t set, struct dare_result *result)
{
	double base = 1e6 * (double)(set + 1) / (block + 1) * (kernel + 1);
	bool is_gsa = strcmp(system->form, "gsa") == 0;

	*result = (struct dare_result){
		.is_there = true,
		.cycles = base / speedup_of(system->name, kernel, block) / sweep_speedup(system),
		.mma = is_gsa ? 100 : 1000, .macs = 16000, .demanded = 1000, .stored = 100,
		.prefetched = prefetched_of(system->mode), .redundant = prefetched_of(system->mode) * (block + 1) / 6,
		.misses = 500.0 / (block + 1), .latency = 21000, .since_issue = strcmp(system->mode, "nvr") == 0 ? 43000 : 36000,
	};
	fill_energy(result);
}

static void fill_runs(struct dare_runs *some)
{
	memset(some->results, 0, sizeof(some->results));
	for (size_t i = 0; i < some->system_count; i++) {
		const struct dare_system *system = &some->systems[i];

		for (int kernel = 0; kernel < DARE_KERNELS; kernel++) {
			for (int block = 0; block < DARE_BLOCKS; block++) {
				for (size_t set = 0; set < some->set_count; set++) {
					if (dare_is_point(some, system, (enum dare_kernel)kernel, (enum dare_block)block, &some->sets[set]))
						fill_point(system, kernel, block, set, &some->results[i][kernel][block][set]);
				}
			}
		}
	}
}

static void fill(void)
{
	fill_runs(&runs);
}

/* Null models: each a model in which nothing makes a difference, so that all speedups are 1; or, without it, ours. */
static void level(struct dare_result *result)
{
	result->cycles = 1e6;
	result->mma = 1000;
	result->prefetched = 0;
	result->energy = 712.4;
}

static void fill_nulls(void (*change)(struct dare_result *result))
{
	for (size_t i = 0; i < nulls.count; i++) {
		struct dare_result *all = &nulls.models[i].runs->results[0][0][0][0];

		fill_runs(nulls.models[i].runs);
		for (size_t j = 0; change && j < sizeof(nulls.models[i].runs->results) / sizeof(*all); j++)
			if (all[j].is_there)
				change(&all[j]);
	}
}

static struct dare_result *results(const char *system, enum dare_kernel kernel, enum dare_block block)
{
	struct dare_result *found = (struct dare_result *)(uintptr_t)dare_results(&runs, system, kernel, block);

	assert_non_null(found);
	return found;
}

static void check_gate(unsigned int number, bool is_open)
{
	char seen[160];

	if (dare_gate(&runs, number, seen, sizeof(seen)) != is_open)
		fail_msg("gate %u is %s: %s", number, is_open ? "closed" : "open", seen);
}

static void a_model_that_is_as_the_paper_says_passes_all_gates(void **unused)
{
	(void)unused;
	fill();
	for (unsigned int number = 1; number <= DARE_GATES; number++)
		check_gate(number, true);
}

static void without_points_no_gate_is_open(void **unused)
{
	(void)unused;
	memset(runs.results, 0, sizeof(runs.results));
	for (unsigned int number = 1; number <= DARE_GATES; number++)
		check_gate(number, false);
}

/* Makes one system so many times slower, in one block size. */
static void slow_down(const char *system, enum dare_kernel kernel, enum dare_block block, double times)
{
	struct dare_result *points = results(system, kernel, block);

	fill();
	for (size_t set = 0; set < runs.set_count; set++)
		points[set].cycles *= times;
}

static void each_gate_finds_what_it_is_for(void **unused)
{
	(void)unused;
	fill();
	slow_down("full", DARE_SPMM, B1, 2), check_gate(1, false);
	slow_down("full", DARE_SPMM, B1, 1.7), check_gate(2, false);
	slow_down("nvr", DARE_SPMM, B8, 0.7), check_gate(3, false);
	slow_down("gemm nvr", DARE_GEMM, B1, 0.8), check_gate(3, false);
	slow_down("nvr", DARE_SDDMM, B2, 0.3), check_gate(4, false);
	slow_down("gsa", DARE_SDDMM, B8, 0.7), check_gate(5, false);
	slow_down("full", DARE_SDDMM, B16, 0.5), check_gate(6, false);
	slow_down("base", DARE_SPMM, B4, 2), check_gate(7, false);
	slow_down("latency 70 static", DARE_SDDMM, B8, 0.6), check_gate(9, false);
	slow_down("latency 80 fre", DARE_SDDMM, B8, 1.2), check_gate(9, false);
	slow_down("riq 16 fre", DARE_SDDMM, B8, 1.3), check_gate(10, false);
	slow_down("vmr 1 fre", DARE_SPMM, B8, 1.01), check_gate(10, false);
	slow_down("vmr 4 full", DARE_SPMM, B1, 1.5), check_gate(11, false);
	slow_down("vmr 4 full", DARE_SDDMM, B1, 1.09), check_gate(15, false);
	slow_down("gsa oracle", DARE_SPMM, B8, 20), check_gate(12, false);
	slow_down("riq 32 full", DARE_SPMM, B1, 1.001), check_gate(14, false);
}

static void gates_see_rows_and_work_of_each_point(void **unused)
{
	(void)unused;
	fill();
	results("nvr", DARE_SDDMM, B4)[1].redundant = 0;
	results("nvr", DARE_SDDMM, B4)[2].redundant = 0;
	check_gate(8, false);
	fill();
	results("nvr", DARE_SPMM, B2)[2].prefetched = 1200;
	fill_energy(&results("nvr", DARE_SPMM, B2)[2]);
	check_gate(13, false);
	fill();
	results("fre", DARE_SPMM, B2)[2].prefetched = 0;
	fill_energy(&results("fre", DARE_SPMM, B2)[2]);
	check_gate(13, false);
	fill();
	results("oracle", DARE_SDDMM, B8)[1].demanded = 999;
	check_gate(14, false);
	fill();
	results("gsa", DARE_SDDMM, B8)[1].macs = 15999;
	check_gate(14, false);
}

static const struct dare_row *find_row(const char *id)
{
	for (size_t i = 0; i < rows.count; i++) {
		if (strcmp(rows.rows[i].id, id) == 0)
			return &rows.rows[i];
	}
	fail_msg("no row %s", id);
	return NULL;
}

static void check_row(const char *id, double value, const char *verdict)
{
	const struct dare_row *row = find_row(id);

	if (row->value.value < value - 1e-6 || row->value.value > value + 1e-6)
		fail_msg("%s is %f, not %f", id, row->value.value, value);
	assert_string_equal(row->verdict, verdict);
}

static void rows_have_values_and_verdicts(void **unused)
{
	(void)unused;
	fill();
	fill_nulls(level);
	dare_rows_judge(&rows, &runs, &nulls);
	assert_int_equal(rows.count, 28);
	/* Of a model in which nothing makes a difference: 1.00, which is within 10 % of 1.06. */
	check_row("D01", 1.1, "consistent");
	check_row("D03", 4.5, "reproduced");
	check_row("D04", 0.77, "reproduced");
	check_row("D05", 1.25, "in kind");
	check_row("D08", 1.25, "in kind");
	/* Energy: 216 + 27.6 + 432 + 36.8 nJ; NVR's prefetches are 194.4 more, DARE's at B = 8 21.6. */
	check_row("D09", 712.4 / 906.8, "in kind");
	check_row("D10", 712.4 / 734.0, "deviates");
	/* GSA with a tenth of the mma: 323.6, and 21.6 for prefetches. */
	check_row("D12", 712.4 / 345.2, "deviates");
	check_row("D16", 10, "in kind");
	check_row("D17", 0.9, "reproduced");
	/* Shapes hold, and have no number. */
	check_row("D18", 1, "in kind");
	check_row("D19", 1, "in kind");
	check_row("D21", 8, "in kind");
	check_row("D22", 8, "reproduced");
	check_row("D23", 0, "not simulated");
	check_row("D25", 1, "in kind");
	check_row("D26", 0, "a parameter");
}

static void a_row_that_a_null_model_gets_too_is_consistent(void **unused)
{
	(void)unused;
	fill();
	fill_nulls(NULL);
	dare_rows_judge(&rows, &runs, &nulls);
	check_row("D03", 4.5, "consistent");
	check_row("D18", 1, "consistent");
	check_row("D22", 8, "consistent");
	/* Rows that differ from the paper: no null model makes them better or worse. */
	check_row("D05", 1.25, "in kind");
	check_row("D12", 712.4 / 345.2, "deviates");
}

static void one_of_several_null_models_is_enough(void **unused)
{
	const struct dare_null *model;
	size_t next = 0;

	(void)unused;
	fill();
	fill_nulls(level);
	model = dare_nulls_next(&nulls, "D03", &next);
	assert_string_equal(model->name, "no GSA");
	model = dare_nulls_next(&nulls, "D03", &next);
	assert_string_equal(model->name, "no runahead");
	fill_runs(model->runs);
	dare_rows_judge(&rows, &runs, &nulls);
	check_row("D03", 4.5, "consistent");
	assert_string_equal(find_row("D03")->null_name, "no runahead");
}

static void a_row_that_no_null_model_fails_is_not_reproduced(void **unused)
{
	(void)unused;
	fill();
	dare_rows_judge(&rows, &runs, NULL);
	check_row("D03", 4.5, "in kind");
}

static void a_size_without_effect_is_no_growth(void **unused)
{
	(void)unused;
	fill();
	for (const char *const *system = (const char *const[]){ "vmr 1 full", "vmr 2 full", NULL }; *system; system++)
		memcpy(results(*system, DARE_SDDMM, B1), results("vmr 4 full", DARE_SDDMM, B1), sizeof(struct dare_result) * DARE_SETS);
	check_gate(11, true);
	assert_false(dare_row_value(&runs, 19).is_shape);
	assert_true(dare_row_value(&runs, 20).is_shape);
}

static void null_models_run_what_their_table_says(void **unused)
{
	const struct dare_runs *filter = nulls.models[1].runs, *gsa = nulls.models[4].runs;

	(void)unused;
	assert_string_equal(nulls.models[0].name, "no runahead");
	assert_string_equal(nulls.models[1].name, "no filter");
	assert_string_equal(nulls.models[4].name, "no GSA");
	assert_string_equal(runs.systems[1].name, "nvr");
	assert_string_equal(runs.systems[2].name, "fre");
	assert_string_equal(runs.systems[4].name, "gsa");
	assert_string_equal(nulls.models[0].runs->systems[2].mode, "base");
	assert_string_equal(filter->systems[2].settings, "rfu.enabled=0");
	assert_string_equal(filter->systems[1].settings, "");
	assert_string_equal(gsa->systems[4].form, "plain");
	assert_string_equal(gsa->systems[4].mode, "base");
	/* Files may not be there, and need not. */
	assert_string_equal(nulls.small->sets[0].name, "collab");
	assert_string_equal(nulls.small->sets[0].arguments[1], "256x10");
}

static void a_null_model_that_passes_all_gates_is_found(void **unused)
{
	static struct table texts;	/* nothing frees the fields of a table */

	(void)unused;
	assert_int_equal(table_read(&texts, TABLES, "dare_gates.csv"), 0);
	fill_runs(nulls.small);
	fill_nulls(level);
	assert_int_equal(dare_nulls_check(&nulls, &texts), 0);
	fill_runs(nulls.models[3].runs);
	assert_int_equal(dare_nulls_check(&nulls, &texts), 1);
}

static void without_points_rows_have_no_data(void **unused)
{
	(void)unused;
	memset(runs.results, 0, sizeof(runs.results));
	dare_rows_judge(&rows, &runs, &nulls);
	for (const char *const *id = (const char *const[]){ "D01", "D08", "D09", "D14", "D15", "D16", "D17", "D18", "D19", "D20", "D21", "D25", NULL };
	     *id; id++)
		assert_string_equal(find_row(*id)->verdict, "no data");
}

static int read_tables(void **unused)
{
	(void)unused;
	return dare_runs_read(&runs, TABLES) || dare_rows_read(&rows, TABLES) || dare_nulls_read(&nulls, &runs, TABLES) ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_that_is_as_the_paper_says_passes_all_gates),
		cmocka_unit_test(without_points_no_gate_is_open),
		cmocka_unit_test(each_gate_finds_what_it_is_for),
		cmocka_unit_test(gates_see_rows_and_work_of_each_point),
		cmocka_unit_test(rows_have_values_and_verdicts),
		cmocka_unit_test(a_row_that_a_null_model_gets_too_is_consistent),
		cmocka_unit_test(one_of_several_null_models_is_enough),
		cmocka_unit_test(a_row_that_no_null_model_fails_is_not_reproduced),
		cmocka_unit_test(a_size_without_effect_is_no_growth),
		cmocka_unit_test(null_models_run_what_their_table_says),
		cmocka_unit_test(a_null_model_that_passes_all_gates_is_found),
		cmocka_unit_test(without_points_rows_have_no_data),
	};

	return cmocka_run_group_tests(tests, read_tables, NULL);
}
