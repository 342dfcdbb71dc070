/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mimic sweep: the directory of the points. Its file "sweep" says which sweep it is of, so that the reports
 * of one are not taken for those of another.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/sim/point.h"
#include "tools/sim/sweep.h"

char *tool_sweep_path(const struct sweep *sweep, size_t point, const char *suffix)
{
	char *path;

	return asprintf(&path, "%s/point-%05zu.%s", sweep->directory, point, suffix) < 0 ? NULL : path;
}

static int out_of_memory(void)
{
	return tool_error(EXIT_FAILURE, "sweep: out of memory");
}

/* --- which sweep it is --------------------------------------------------------------------- */

/* The grid and the program's words. */
static void describe_grid(FILE *file, const struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->axis_count; i++) {
		const struct axis *axis = &sweep->axes[i];

		fprintf(file, "%s %s", axis->option, axis->key);
		for (size_t value = 0; value < axis->count; value++)
			fprintf(file, "%s%s", value ? "," : "", axis->values[value]);
		fputc('\n', file);
	}
	for (size_t i = 0; i < sweep->costs.count; i++)
		fprintf(file, "--costs %s\n", sweep->costs.values[i]);
	for (char **word = sweep->program; *word; word++)
		fprintf(file, "program %s\n", *word);
}

/* Another build of the program gives other counts. */
static void describe_build(FILE *file, const struct sweep *sweep)
{
	struct stat status;

	if (strchr(sweep->program[0], '/') && stat(sweep->program[0], &status) == 0)
		fprintf(file, "build %lld bytes, of %lld.%09ld\n", (long long)status.st_size,
			(long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

/* For free(); *grid: how much of it is the grid. NULL: out of memory. */
static char *describe(const struct sweep *sweep, size_t *grid)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	describe_grid(file, sweep);
	fflush(file);
	*grid = size;
	describe_build(file, sweep);
	return fclose(file) ? NULL : text;
}

/* The text of the file, for free(). NULL: there is none, or errno says why not. */
static char *read_description(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (!file)
		return NULL;
	if (getdelim(&text, &size, 0, file) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(file);
	return text;
}

/* Whole or not at all: a sweep may be cut off at any moment. */
static int write_description(const char *path, const char *text)
{
	char *part;
	FILE *file;
	bool is_written;

	if (asprintf(&part, "%s.part", path) < 0)
		return out_of_memory();
	file = fopen(part, "we");
	is_written = file && fputs(text, file) >= 0;
	if (file && fclose(file))
		is_written = false;
	if (!is_written || rename(part, path)) {
		int status = tool_error(EXIT_BAD_INPUT, "sweep: %s: %s", path, strerror(errno));

		unlink(part);
		free(part);
		return status;
	}
	free(part);
	return 0;
}

/*
 * --list and --collect take reports as they are: they must be of this grid. --resume does, too, and of this
 * build.
 */
static int check_description(const struct sweep *sweep, const char *before, const char *now, size_t grid)
{
	bool is_same_grid = before && !strncmp(before, now, grid) &&
			    (!before[grid] || !strncmp(before + grid, "build ", strlen("build ")));

	if (!before && sweep->resumes)
		return tool_error(EXIT_BAD_INPUT, "sweep: %s: no sweep was begun there", sweep->directory);
	if (before && !is_same_grid)
		return tool_error(EXIT_BAD_INPUT,
				  "sweep: %s: it has another sweep (%s/sweep says which); remove it, or "
				  "choose another directory",
				  sweep->directory, sweep->directory);
	if (before && sweep->resumes && strcmp(before, now) != 0)
		return tool_error(EXIT_BAD_INPUT,
				  "sweep: %s has changed since the sweep in %s began; without --resume all "
				  "points run again",
				  sweep->program[0], sweep->directory);
	return 0;
}

static int settle_description(const struct sweep *sweep)
{
	char *path, *before = NULL, *now;
	size_t grid;
	int status = 0;

	if (asprintf(&path, "%s/sweep", sweep->directory) < 0)
		return out_of_memory();
	now = describe(sweep, &grid);
	if (!now) {
		free(path);
		return out_of_memory();
	}
	before = read_description(path);
	if (sweep->lists || sweep->collects || sweep->resumes)
		status = check_description(sweep, before, now, grid);
	if (!status && !sweep->collects)
		status = write_description(path, now);
	free(before);
	free(now);
	free(path);
	return status;
}

/* --- the folder ------------------------------------------------------------------------------ */

static int make_temporary(struct sweep *sweep)
{
	const char *base = getenv("TMPDIR");

	snprintf(sweep->temporary, sizeof(sweep->temporary), "%s/mimic-sweep-XXXXXX",
		 base && *base ? base : "/tmp");
	sweep->directory = mkdtemp(sweep->temporary);
	if (sweep->directory)
		return 0;
	tool_error(0, "sweep: %s: %s", sweep->temporary, strerror(errno));
	sweep->temporary[0] = '\0';
	return EXIT_FAILURE;
}

int tool_sweep_open_folder(struct sweep *sweep)
{
	if (!sweep->directory)
		return make_temporary(sweep);
	if (!sweep->collects && mkdir(sweep->directory, 0777) && errno != EEXIST)
		return tool_error(EXIT_BAD_INPUT, "sweep: %s: %s", sweep->directory, strerror(errno));
	return settle_description(sweep);
}

int tool_sweep_find_reports(struct sweep *sweep)
{
	struct sim_point none;
	size_t found = 0;

	sweep->is_there = calloc(sweep->points, sizeof(*sweep->is_there));
	if (!sweep->is_there)
		return out_of_memory();
	for (size_t point = 0; point < sweep->points; point++) {
		char *report = tool_sweep_path(sweep, point, "json");

		/* A report that is cut off is none. */
		sweep->is_there[point] = report && tool_sim_point_read(report, &none, 0) >= 0;
		found += sweep->is_there[point];
		free(report);
	}
	tool_error(0, "sweep: %zu of %zu points are there", found, sweep->points);
	return 0;
}

void tool_sweep_remove_temporary(const struct sweep *sweep)
{
	static const char *const suffixes[] = { "json", "part", "err" };

	if (!sweep->temporary[0])
		return;
	for (size_t point = 0; point < sweep->points; point++) {
		for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
			char *path = tool_sweep_path(sweep, point, suffixes[i]);

			if (path)
				unlink(path);
			free(path);
		}
	}
	rmdir(sweep->temporary);
}
