/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <string.h>

#include "bench/figures/dare/dare.h"

static void print_number(double value)
{
	if (value > 0)
		printf(" %8.3f", value);
	else
		printf(" %8s", "");
}

static void print_rows(const struct dare_rows *rows)
{
	printf("%-4s %-72.72s %10s %8s %8s %6s  %s\n", "row", "compared", "paper", "mimic", "second", "ratio", "verdict");
	for (size_t i = 0; i < rows->count; i++) {
		const struct dare_row *row = &rows->rows[i];
		bool has_number = *row->paper && row->value > 0;

		printf("%-4s %-72.72s %10s", row->id, row->what, *row->paper ? row->paper : row->kind);
		print_number(strcmp(row->kind, "shape") ? row->value : 0);
		print_number(row->second);
		if (has_number)
			printf(" %6.2f  %s\n", row->value / row->low, row->verdict);
		else
			printf(" %6s  %s\n", "", row->verdict);
	}
	puts("\nSecond: D04 to D07 with libdare's own kernels, D08 and D13 the highest, D09 to D12 performance by energy, D14 B = 8, D17 GEMM, D25\n"
	     "the mean latency of nvr's demanded rows by base's.\n"
	     "One setting of what the paper leaves open was chosen after a prototype's results on D02 to D07 were seen (docs/timing.md).");
}

static int print_gates(const struct dare_runs *runs, const char *folder)
{
	struct gate gates[DARE_GATES];
	struct table table;

	if (table_read(&table, folder, "dare_gates.csv"))
		return -1;
	for (size_t i = 0; i < DARE_GATES; i++) {
		gates[i].text = i < table.count ? table.rows[i][1] : "";
		gates[i].is_open = dare_gate(runs, (unsigned int)i + 1, gates[i].seen, sizeof(gates[i].seen));
	}
	return gates_tell(gates, DARE_GATES);
}

int main(int argc, char **argv)
{
	static struct dare_runs runs;
	static struct dare_rows rows;
	struct figures_options options;
	int status = figures_options(&options, argc, argv), closed;

	if (status)
		return status;
	runs.build = options.build;
	runs.data = options.data;
	runs.output = options.output;
	runs.jobs = options.jobs;
	if (dare_runs_read(&runs, options.tables) || dare_rows_read(&rows, options.tables) || dare_runs_execute(&runs))
		return 1;
	dare_rows_judge(&rows, &runs);
	print_rows(&rows);
	if (runs.missing)
		printf("%u data sets were left out: their files are not there.\n", runs.missing);
	closed = print_gates(&runs, options.tables);
	return closed ? 1 : 0;
}
