/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic sweep: the table of the reports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/parameters.h"
#include "tools/sim/point.h"
#include "tools/sim/sweep.h"

#define PHASES_MAX 64

static void print_header(FILE *file, const struct sweep *sweep)
{
	struct sim_point_column columns[SIM_POINT_COLUMNS];
	unsigned int count = tool_sim_point_columns(columns);

	for (size_t i = 0; i < sweep->axis_count; i++) {
		const struct axis *axis = &sweep->axes[i];

		fprintf(file, "%.*s,", axis->key[0] ? (int)strlen(axis->key) - 1 : (int)strlen(axis->option) - 2,
			axis->key[0] ? axis->key : axis->option + 2);
	}
	fputs("status,phase,cycles,uncosted", file);
#define _(name, meaning) fputs("," #name, file);
	SOC_CORE_COUNTERS(_)
	SOC_COUNTERS(_)
#undef _
	for (unsigned int i = 0; i < count; i++)
		fprintf(file, ",%s_%s", columns[i].part, columns[i].counter);
	fputs(",instruction_cycles\n", file);
}

static void print_keys(FILE *file, const struct sweep *sweep, size_t number)
{
	for (size_t i = 0; i < sweep->axis_count; i++)
		fprintf(file, "%s,", tool_sweep_value(sweep, number, i));
}

static void print_point(FILE *file, const struct sim_point *point)
{
	struct sim_point_column columns[SIM_POINT_COLUMNS];
	unsigned int count = tool_sim_point_columns(columns);

	fprintf(file, "ok,%s,%llu,%llu", point->phase, (unsigned long long)point->cycles,
		(unsigned long long)point->uncosted);
#define _(name, meaning) fprintf(file, ",%llu", (unsigned long long)point->cores.name);
	SOC_CORE_COUNTERS(_)
#undef _
#define _(name, meaning) fprintf(file, ",%llu", (unsigned long long)point->soc.name);
	SOC_COUNTERS(_)
#undef _
	for (unsigned int i = 0; i < count; i++)
		fprintf(file, ",%llu", (unsigned long long)point->device[i]);
	fprintf(file, ",%llu\n", (unsigned long long)point->instruction_cycles);
}

/* The first line of the output of the point's command. */
static void tell_failure(const struct sweep *sweep, size_t number, int error)
{
	char *path = tool_sweep_path(sweep, number, "err"), line[512] = "";
	FILE *file = path ? fopen(path, "r") : NULL;

	if (file && fgets(line, sizeof(line), file))
		line[strcspn(line, "\n")] = '\0';
	if (file)
		fclose(file);
	free(path);
	tool_error(EXIT_FAILURE, "sweep: point %zu: %s", number, line[0] ? line : strerror(-error));
}

static int print_table(FILE *file, const struct sweep *sweep)
{
	static struct sim_point points[PHASES_MAX];
	int status = 0;

	print_header(file, sweep);
	for (size_t number = 0; number < sweep->points; number++) {
		char *path = tool_sweep_path(sweep, number, "json");
		int count = path ? tool_sim_point_read(path, points, PHASES_MAX) : -ENOMEM;

		free(path);
		for (int i = 0; i < count && i < PHASES_MAX; i++) {
			print_keys(file, sweep, number);
			print_point(file, &points[i]);
		}
		if (count >= 0)
			continue;
		if (!sweep->is_refused || !sweep->is_refused[number])
			tell_failure(sweep, number, count);
		print_keys(file, sweep, number);
		fputs("failed\n", file);
		status = EXIT_FAILURE;
	}
	return status;
}

int tool_sweep_write_table(const struct sweep *sweep)
{
	FILE *file = sweep->output ? fopen(sweep->output, "w") : stdout;
	int status;

	if (!file)
		return tool_error(EXIT_BAD_INPUT, "sweep: %s: %s", sweep->output, strerror(errno));
	status = print_table(file, sweep);
	if (fflush(file) || ferror(file))
		status = tool_error(EXIT_FAILURE, "sweep: cannot write the table");
	if (sweep->output)
		fclose(file);
	return status;
}
