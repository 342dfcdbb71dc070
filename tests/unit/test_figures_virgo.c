/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The rows and gates of Virgo's figures, of made-up points: a model that is as the paper says passes all gates, and each
 * gate finds the deviation that it is for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "bench/figures/virgo/virgo.h"

#define TABLES "bench/figures"

static struct virgo_runs runs;
static struct virgo_runs *fits;
static struct virgo_rows rows;
static struct virgo_nulls nulls;
static struct virgo_view view = { .runs = &runs, .nulls = &nulls, .rows = &rows };

/* --- points as the paper has them --------------------------------------------------------------------- */

struct made_up {
	const char *name;
	double cycles, macs;
};

static const struct made_up made_up[] = {
	{ "256 tc", 726e3, 1 << 24 }, { "256 tc-dma", 458e3, 1 << 24 }, { "256 virgo", 540e3, 1 << 24 }, { "256 virgo-dma", 310e3, 1 << 24 },
	{ "128x512 tc", 1450e3, 1 << 25 }, { "128x512 tc-dma", 832e3, 1 << 25 }, { "128x512 virgo", 941e3, 1 << 25 },
	{ "128x512 virgo-dma", 583e3, 1 << 25 },
	{ "512 tc", 5790e3, 1 << 27 }, { "512 tc-dma", 3340e3, 1 << 27 }, { "512 virgo", 3710e3, 1 << 27 }, { "512 virgo-dma", 2300e3, 1 << 27 },
	{ "again tc", 726e3, 1 << 24 }, { "again tc-dma", 458e3, 1 << 24 }, { "again virgo", 540e3, 1 << 24 }, { "again virgo-dma", 310e3, 1 << 24 },
	/* 2 % of time, 5 %. */
	{ "swish 20 tc-dma", 3507e3, 1 << 27 }, { "swish 20 virgo-dma", 2316e3, 1 << 27 },
	{ "swish 40 tc-dma", 3507e3, 1 << 27 }, { "swish 40 virgo-dma", 2316e3, 1 << 27 },
	{ "swish 80 tc-dma", 3507e3, 1 << 27 }, { "swish 80 virgo-dma", 2316e3, 1 << 27 },
	{ "dim 4 tc", 726e3, 1 << 24 }, { "dim 16 tc", 726e3, 1 << 24 }, { "dim 32 tc", 726e3, 1 << 24 },
	{ "dim 4 virgo-dma", 1100e3, 1 << 24 }, { "dim 16 virgo-dma", 140e3, 1 << 24 }, { "dim 32 virgo-dma", 130e3, 1 << 24 },
	{ "tile 32 virgo-dma", 370e3, 1 << 24 }, { "tile 128 virgo-dma", 290e3, 1 << 24 },
};

/* 80 MACs a cycle and 64 of them are 60 % then: (256^3 + 128 * 128 * 256) / 48 and / 38.4 cycles. */
static double pair_cycles(const char *name)
{
	bool is_bank = strstr(name, "in a bank");

	if (strstr(name, "parallel"))
		return (is_bank ? 1.5 : 1) * 20971520 / 48;
	return (strstr(name, "large") ? 16777216 : 4194304) / 38.4;
}

static double pair_macs(const char *name)
{
	return strstr(name, "parallel") ? 20971520 : strstr(name, "large") ? 16777216 : 4194304;
}

static void fill_point(const struct virgo_point *point, struct virgo_result *result)
{
	bool is_virgo = strstr(point->design, "virgo");

	*result = (struct virgo_result){ .is_there = true, .cycles = 1e6, .macs = 1 << 24 };
	for (size_t i = 0; i < sizeof(made_up) / sizeof(made_up[0]); i++) {
		if (strcmp(made_up[i].name, point->name) == 0) {
			result->cycles = made_up[i].cycles;
			result->macs = made_up[i].macs;
		}
	}
	if (strncmp(point->name, "two", 3) == 0) {
		result->cycles = pair_cycles(point->name);
		result->macs = pair_macs(point->name);
	}
	result->elapsed = result->cycles;
	result->work = result->macs;
	result->instructions = (is_virgo ? 0.082 : 1) * result->macs / 100 - (is_virgo && result->macs > 1e8 ? 1000 : 0);
	/* nJ for a thousand MACs: 29.3 % of TC's is Virgo's. */
	result->energy[ENERGY_CORE] = (is_virgo ? 0.53 : 12) * result->macs / 1000;
	result->energy[ENERGY_MACS] = 4 * result->macs / 1000;
	result->energy[ENERGY_UNIT] = (is_virgo ? 1.33 : 4) * result->macs / 1000;
}

static void fill_runs(struct virgo_runs *some)
{
	for (size_t i = 0; i < some->point_count; i++)
		fill_point(&some->points[i], &some->results[i]);
}

static struct virgo_result *result_of(struct virgo_runs *some, const char *name)
{
	struct virgo_result *found = (struct virgo_result *)(uintptr_t)virgo_result(some, name);

	if (!found)
		fail_msg("no point %s", name);
	return found;
}

/* Each null model makes those slower that it is for. */
static void fill_nulls(void)
{
	for (size_t i = 0; i < nulls.count; i++) {
		const struct virgo_null *null = &nulls.models[i];

		fill_runs(null->runs);
		for (size_t point = 0; point < null->runs->point_count; point++) {
			struct virgo_result *result = &null->runs->results[point];

			if (virgo_null_moves(null, null->runs->points[point].design))
				result->cycles *= null->is_slight ? 0.995 : 1.3;
			if (virgo_null_moves(null, null->runs->points[point].design))
				result->elapsed = result->cycles;
		}
	}
}

static void fill(void)
{
	fill_runs(&runs);
	fill_runs(fits);
	fill_nulls();
}

/* --- gates ---------------------------------------------------------------------------------------------------- */

static void check_gate(unsigned int number, bool is_open)
{
	char seen[160];

	if (virgo_gate(&view, number, seen, sizeof(seen)) != is_open)
		fail_msg("gate %u is %s: %s", number, is_open ? "closed" : "open", seen);
}

static void a_model_that_is_as_the_paper_says_passes_all_gates(void **unused)
{
	(void)unused;
	fill();
	for (unsigned int number = 1; number <= VIRGO_GATES; number++)
		check_gate(number, true);
}

static void without_points_no_gate_is_open(void **unused)
{
	(void)unused;
	fill();
	memset(runs.results, 0, sizeof(runs.results));
	for (unsigned int number = 1; number <= VIRGO_GATES; number++)
		check_gate(number, false);
}

static void change_cycles(struct virgo_runs *some, const char *name, double times)
{
	fill();
	result_of(some, name)->cycles *= times;
	result_of(some, name)->elapsed *= times;
}

static void each_gate_finds_what_it_is_for(void **unused)
{
	(void)unused;
	change_cycles(&runs, "512 virgo", 0.8), check_gate(1, false);
	change_cycles(&runs, "256 tc", 0.9), check_gate(2, false);
	change_cycles(&runs, "512 virgo-dma", 1.1), check_gate(2, false);
	change_cycles(&runs, "512 virgo-dma", 1.02), check_gate(3, false);
	change_cycles(&runs, "512 tc", 0.95), check_gate(3, false);
	change_cycles(&runs, "128x512 virgo-dma", 0.95), check_gate(4, false);
	change_cycles(&runs, "dim 16 virgo-dma", 2), check_gate(6, false);
	change_cycles(&runs, "dim 32 virgo-dma", 0.8), check_gate(6, false);
	change_cycles(&runs, "tile 128 virgo-dma", 1.2), check_gate(6, false);
	change_cycles(&runs, "dim 4 tc", 1.001), check_gate(6, false);
	change_cycles(&runs, "two 110 parallel", 1.05), check_gate(7, false);
	change_cycles(&runs, "two in a bank parallel", 1 / 1.5), check_gate(7, false);
	change_cycles(&runs, "swish 80 virgo-dma", 1.1), check_gate(9, false);
	change_cycles(&runs, "again tc-dma", 1.00001), check_gate(10, false);
}

static void gates_of_cycles_must_hold_with_what_is_fitted_too(void **unused)
{
	(void)unused;
	change_cycles(fits, "512 virgo", 0.8), check_gate(1, false);
	change_cycles(fits, "256 tc", 0.9), check_gate(2, false);
	change_cycles(fits, "512 tc", 0.95), check_gate(3, false);
	change_cycles(fits, "128x512 virgo-dma", 0.95), check_gate(4, false);
	change_cycles(fits, "two parallel", 1.05), check_gate(7, false);
}

static const struct virgo_null *find_null(const char *name)
{
	for (size_t i = 0; i < nulls.count; i++)
		if (strcmp(nulls.models[i].name, name) == 0)
			return &nulls.models[i];
	fail_msg("no null model %s", name);
	return NULL;
}

static void a_mechanism_moves_whom_it_is_for_and_nobody_else(void **unused)
{
	(void)unused;
	/* A design that it is for stays where it is; one that it is not for moves. */
	fill();
	result_of(find_null("no reloads")->runs, "256 virgo")->cycles = 540e3;
	check_gate(5, false);
	fill();
	result_of(find_null("no unaligned port")->runs, "256 tc-dma")->cycles *= 1.025;
	check_gate(5, false);
	fill();
	result_of(find_null("no MMIO latency")->runs, "256 tc")->cycles *= 0.97;
	check_gate(5, false);
	/* Models that are shown only are in no gate. */
	fill();
	result_of(find_null("no L1")->runs, "256 tc")->cycles *= 2;
	check_gate(5, true);
}

static void gate_8_sees_instructions_and_energy(void **unused)
{
	(void)unused;
	fill();
	result_of(&runs, "256 virgo-dma")->instructions *= 1.3;
	check_gate(8, false);
	fill();
	result_of(&runs, "512 virgo-dma")->instructions *= 1.1;
	check_gate(8, false);
	fill();
	result_of(&runs, "512 virgo-dma")->energy[ENERGY_MACS] += 1;
	check_gate(8, false);
	fill();
	result_of(fits, "512 tc-dma")->energy[ENERGY_UNIT] *= 2;
	check_gate(8, false);
}

/* --- rows ------------------------------------------------------------------------------------------------------ */

static const struct virgo_row *find_row(const char *id)
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
	const struct virgo_row *row = find_row(id);

	if (row->value.values[0] < value - 0.05 || row->value.values[0] > value + 0.05)
		fail_msg("%s is %f, not %f", id, row->value.values[0], value);
	if (strcmp(row->verdict, verdict))
		fail_msg("%s: %s, not %s", id, row->verdict, verdict);
}

static void rows_have_values_and_verdicts(void **unused)
{
	(void)unused;
	fill();
	/* Nothing is left of Virgo's gain in energy without that of cores. */
	for (const char *const *name = (const char *const[]){ "256 virgo-dma", "512 virgo-dma", NULL }; *name; name++)
		result_of(find_null("no energy of cores")->runs, *name)->energy[ENERGY_CORE] *= 20;
	virgo_rows_judge(&rows, &view);
	assert_int_equal(rows.count, 24);
	/* The paper names the front end, which does nothing here. */
	check_row("V01", 726000, "consistent");
	check_row("V04", 310000, "reproduced");
	check_row("V12", 2300000, "reproduced");
	check_row("V13", 36.1, "follows the cycles");
	/* 5.86 of 20 is left of energy; of power 3340 / 2300 of that. */
	check_row("V16", 57.45, "reproduced");
	check_row("V17", 70.7, "reproduced");
	/* Up to 66.3: at 256 x 256 x 256 0.293 * 458 / 310 is left, 0.433 of 0.337. */
	check_row("V18", 56.7, "deviates");
	check_row("V19", 70.7, "deviates");
	check_row("V20", 8.2, "in kind");
	check_row("V21", 60, "reproduced");
	check_row("V22", 60, "reproduced");
	check_row("V23", 0.63, "in kind");
	check_row("V24", 0, "a parameter");
}

static void ten_and_a_hundred_percent_are_the_bounds_of_verdicts(void **unused)
{
	(void)unused;
	change_cycles(&runs, "256 virgo-dma", 1.09);
	virgo_rows_judge(&rows, &view);
	check_row("V04", 310e3 * 1.09, "reproduced");
	change_cycles(&runs, "256 virgo-dma", 0.89);
	virgo_rows_judge(&rows, &view);
	check_row("V04", 310e3 * 0.89, "in kind");
	change_cycles(&runs, "256 virgo-dma", 2.1);
	virgo_rows_judge(&rows, &view);
	check_row("V04", 310e3 * 2.1, "deviates");
	assert_string_equal(find_row("V04")->fitted_verdict, "reproduced");
}

static void a_row_that_a_null_model_gets_too_is_consistent(void **unused)
{
	(void)unused;
	fill();
	fill_runs(find_null("no double buffer")->runs);
	virgo_rows_judge(&rows, &view);
	check_row("V04", 310000, "consistent");
	assert_string_equal(find_row("V04")->null_name, "no double buffer");
	check_row("V21", 60, "consistent");
}

/* A value that a fit has put near supports nothing by being within a factor of two. */
static void a_reduction_that_is_not_near_deviates(void **unused)
{
	(void)unused;
	fill();
	result_of(&runs, "512 virgo-dma")->energy[ENERGY_UNIT] *= 2;
	virgo_rows_judge(&rows, &view);
	/* 7.19 of 20. */
	check_row("V17", 64.05, "deviates");
}

static void much_smaller_is_half_at_most(void **unused)
{
	(void)unused;
	change_cycles(&runs, "swish 80 virgo-dma", 1.02);
	virgo_rows_judge(&rows, &view);
	assert_string_equal(find_row("V23")->verdict, "deviates");
	check_gate(9, true);
}

static void without_points_rows_have_no_data(void **unused)
{
	(void)unused;
	fill();
	memset(runs.results, 0, sizeof(runs.results));
	virgo_rows_judge(&rows, &view);
	for (size_t i = 0; i + 1 < rows.count; i++)
		assert_string_equal(rows.rows[i].verdict, "no data");
}

/* --- reports, variants ------------------------------------------------------------------------------------------- */

static void check_report(const char *text, bool is_there, struct virgo_result *result)
{
	char path[] = "/tmp/figures-virgo-XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(virgo_take_report(path, result), is_there);
	unlink(path);
}

#define COUNTED "\"kernel_cycles\": 900, \"kernel_macs\": 4096, \"matrix_macs\": 5000, \"tensor_macs\": 7, \"warp_instructions\": 12, "

static void a_report_is_that_of_its_last_phase(void **unused)
{
	struct virgo_result result;

	(void)unused;
	check_report("{\"phases\": [{\"cycles\": 1}, {\"cycles\": 1000, \"virgo_time\": {" COUNTED "\"energy_core\": 3e6, \"energy_mac\": 4e6, "
		     "\"energy_unit\": 5e6, \"energy_shared\": 0, \"energy_memory\": 7e6}}]}", true, &result);
	assert_true(result.cycles == 900 && result.elapsed == 1000 && result.macs == 4096 && result.work == 5007 && result.instructions == 12);
	assert_true(result.energy[ENERGY_CORE] == 3 && result.energy[ENERGY_MEMORY] == 7 && virgo_energy(&result) == 19);
}

static void a_report_that_lacks_something_is_none(void **unused)
{
	struct virgo_result result;

	(void)unused;
	check_report("{\"phases\": [{\"cycles\": 1000, \"virgo_time\": {" COUNTED "\"energy_core\": 3e6}}]}", false, &result);
	check_report("{\"phases\": []}", false, &result);
	check_report("nothing", false, &result);
	assert_false(virgo_take_report("/nowhere", &result));
}

static void variants_run_what_their_tables_say(void **unused)
{
	const struct virgo_runs *slight = find_null("no MMIO latency")->runs;

	(void)unused;
	assert_string_equal(fits->settings, "a.b=1");
	assert_non_null(result_of(fits, "512 tc"));
	assert_string_equal(find_null("no front end")->runs->settings, "simt.fetch=1 simt.dispatch=1");
	fill_runs(find_null("no front end")->runs);
	assert_non_null(result_of(find_null("no front end")->runs, "512 virgo"));
	assert_int_equal(slight->point_count, 4);
	assert_string_equal(slight->points[3].name, "256 virgo-dma");
}

static int read_tables(void **unused)
{
	(void)unused;
	if (virgo_runs_read(&runs, TABLES) || virgo_rows_read(&rows, TABLES) || virgo_nulls_read(&nulls, &runs, TABLES))
		return -1;
	view.fits = fits = virgo_runs_variant(&runs, "fits", "fits-", "a.b=1");
	return fits ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_that_is_as_the_paper_says_passes_all_gates),
		cmocka_unit_test(without_points_no_gate_is_open),
		cmocka_unit_test(each_gate_finds_what_it_is_for),
		cmocka_unit_test(gates_of_cycles_must_hold_with_what_is_fitted_too),
		cmocka_unit_test(a_mechanism_moves_whom_it_is_for_and_nobody_else),
		cmocka_unit_test(gate_8_sees_instructions_and_energy),
		cmocka_unit_test(rows_have_values_and_verdicts),
		cmocka_unit_test(ten_and_a_hundred_percent_are_the_bounds_of_verdicts),
		cmocka_unit_test(a_row_that_a_null_model_gets_too_is_consistent),
		cmocka_unit_test(a_reduction_that_is_not_near_deviates),
		cmocka_unit_test(much_smaller_is_half_at_most),
		cmocka_unit_test(without_points_rows_have_no_data),
		cmocka_unit_test(a_report_is_that_of_its_last_phase),
		cmocka_unit_test(a_report_that_lacks_something_is_none),
		cmocka_unit_test(variants_run_what_their_tables_say),
	};

	return cmocka_run_group_tests(tests, read_tables, NULL);
}
