/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/dare/dare.h"
#include "tools/common/jobs.h"

int figures_error(const char *format, ...)
{
	va_list list;

	fputs("figures: ", stderr);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	return -1;
}

static int usage(const char *name)
{
	fprintf(stderr, "Usage: %s --build DIR --tables DIR --output DIR [--data DIR] [--jobs N]\n", name);
	return 2;
}

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
	struct table table;
	int closed = 0;

	if (table_read(&table, folder, "dare_gates.csv"))
		return -1;
	puts("\nOrderings and shapes that must come out:");
	for (size_t i = 0; i < table.count && i < DARE_GATES; i++) {
		char seen[160];
		bool is_open = dare_gate(runs, (unsigned int)i + 1, seen, sizeof(seen));

		printf("%-4s %s (%s)\n", is_open ? "yes" : "NO", table.rows[i][1], seen);
		closed += !is_open;
	}
	return closed;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "build", required_argument, NULL, 'b' }, { "tables", required_argument, NULL, 't' },
		{ "output", required_argument, NULL, 'o' }, { "data", required_argument, NULL, 'd' },
		{ "jobs", required_argument, NULL, 'j' }, { NULL, 0, NULL, 0 },
	};
	static struct dare_runs runs;
	static struct dare_rows rows;
	const char *tables = NULL;
	int option, closed;

	runs.jobs = tool_jobs_processors();
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'b': runs.build = optarg; break;
		case 't': tables = optarg; break;
		case 'o': runs.output = optarg; break;
		case 'd': runs.data = *optarg ? optarg : NULL; break;
		case 'j': runs.jobs = (unsigned int)atoi(optarg); break;
		default: return usage(argv[0]);
		}
	}
	if (!runs.build || !tables || !runs.output || runs.jobs < 1 || optind != argc)
		return usage(argv[0]);
	if (dare_runs_read(&runs, tables) || dare_rows_read(&rows, tables) || dare_runs_execute(&runs))
		return 1;
	dare_rows_judge(&rows, &runs);
	print_rows(&rows);
	if (runs.missing)
		printf("%u data sets were left out: their files are not there.\n", runs.missing);
	closed = print_gates(&runs, tables);
	return closed ? 1 : 0;
}
