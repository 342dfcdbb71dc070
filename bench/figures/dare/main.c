/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "bench/figures/dare/dare.h"

int main(int argc, char **argv)
{
	static struct dare_runs runs;
	static struct dare_rows rows;
	static struct dare_nulls nulls;
	struct figures_options options;
	struct gate gates[DARE_GATES];
	struct table texts;
	int status = figures_options(&options, argc, argv), closed;

	if (status)
		return status;
	runs.build = options.build;
	runs.data = options.data;
	runs.output = options.output;
	runs.jobs = options.jobs;
	if (dare_runs_read(&runs, options.tables) || dare_rows_read(&rows, options.tables) ||
	    table_read(&texts, options.tables, "dare_gates.csv"))
		return 1;
	if (options.is_of_ranges)
		return dare_ranges_run(&runs, &rows, options.tables, options.commit) ? 1 : 0;
	if (dare_nulls_read(&nulls, &runs, options.tables) || dare_nulls_execute(&nulls, &runs))
		return 1;
	dare_rows_judge(&rows, &runs, &nulls);
	if (dare_write_rows(&rows, &runs, &nulls) || dare_plots_write(&runs))
		return 1;
	dare_print_rows(&rows);
	dare_print_data(&runs, &nulls);
	dare_gates(gates, &texts, &runs);
	closed = gates_tell(gates, DARE_GATES) + (int)dare_nulls_check(&nulls, &texts);
	printf("\n%s has the table, each row on each of its null models, a CSV and a plot of each figure, and the report of each point.\n", runs.output);
	return closed ? 1 : 0;
}
