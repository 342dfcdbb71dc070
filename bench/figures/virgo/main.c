/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/virgo/virgo.h"

/* All settings of virgo_fits.csv. NULL: the reason is said. */
static struct virgo_runs *read_fits(const struct virgo_runs *runs, const char *folder)
{
	struct table table;
	char *settings = NULL;
	size_t size;
	FILE *file;

	if (table_read(&table, folder, "virgo_fits.csv"))
		return NULL;
	file = open_memstream(&settings, &size);
	for (size_t i = 0; file && i < table.count; i++)
		fprintf(file, "%s%s", i ? " " : "", table.rows[i][1]);
	if (!file || fclose(file)) {
		figures_error("%s", strerror(ENOMEM));
		return NULL;
	}
	return virgo_runs_variant(runs, "fits", "fits-", settings);
}

static int execute(struct virgo_runs *runs, struct virgo_runs *fits, const struct virgo_nulls *nulls)
{
	struct virgo_runs *all[VIRGO_NULLS + 2] = { runs, fits };

	for (size_t i = 0; i < nulls->count; i++)
		all[i + 2] = nulls->models[i].runs;
	return virgo_runs_execute(all, nulls->count + 2);
}

int main(int argc, char **argv)
{
	static struct virgo_runs runs;
	static struct virgo_rows rows;
	static struct virgo_nulls nulls;
	struct figures_options options;
	struct gate gates[VIRGO_GATES];
	struct virgo_view view = { .runs = &runs, .nulls = &nulls, .rows = &rows };
	struct virgo_runs *fits;
	struct table texts;
	int status = figures_options(&options, argc, argv), closed;

	if (status)
		return status;
	runs.build = options.build;
	runs.output = options.output;
	runs.jobs = options.jobs;
	if (virgo_runs_read(&runs, options.tables) || virgo_rows_read(&rows, options.tables) ||
	    table_read(&texts, options.tables, "virgo_gates.csv"))
		return 1;
	if (options.is_of_ranges)
		return virgo_ranges_run(&runs, &rows, options.tables, options.commit) ? 1 : 0;
	view.fits = fits = read_fits(&runs, options.tables);
	if (!fits || virgo_nulls_read(&nulls, &runs, options.tables) || execute(&runs, fits, &nulls))
		return 1;
	virgo_rows_judge(&rows, &view);
	if (virgo_write_rows(&rows, &view) || virgo_plots_write(&view))
		return 1;
	virgo_print_rows(&rows, fits->settings);
	virgo_print_nulls(&view);
	virgo_gates(gates, &texts, &view);
	closed = gates_tell(gates, VIRGO_GATES);
	printf("\n%s has the table, each row on each of its null models, cycles without each mechanism, plots, and the report of each point.\n",
	       runs.output);
	return closed ? 1 : 0;
}
