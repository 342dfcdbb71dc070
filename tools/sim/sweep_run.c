/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic sweep: the commands of the points, listed or run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/jobs.h"
#include "tools/sim/sweep.h"

/* NULL: out of memory. All of it stays until the end. */
static char **make_command(const struct sweep *sweep, size_t point)
{
	size_t words = 0, count = 0;
	char **command;

	while (sweep->program[words])
		words++;
	command = calloc(8 + 2 * (sweep->axis_count + sweep->costs.count) + words, sizeof(*command));
	if (!command)
		return NULL;
	command[count++] = (char *)sweep->self;
	command[count++] = "sim";
	for (size_t i = 0; i < sweep->axis_count; i++) {
		char *value;

		if (asprintf(&value, "%s%s", sweep->axes[i].key, tool_sweep_value(sweep, point, i)) < 0)
			return NULL;
		command[count++] = (char *)sweep->axes[i].option;
		command[count++] = value;
	}
	for (size_t i = 0; i < sweep->costs.count; i++) {
		command[count++] = "--costs";
		command[count++] = (char *)sweep->costs.values[i];
	}
	command[count++] = "--json";
	command[count++] = "--output";
	command[count] = tool_sweep_path(sweep, point, "part");
	if (!command[count++])
		return NULL;
	command[count++] = "--";
	memcpy(command + count, sweep->program, words * sizeof(*command));
	return command;
}

/* A word as a shell takes it. */
static void print_word(const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+%@";

	if (*word && strspn(word, plain) == strlen(word)) {
		fputs(word, stdout);
		return;
	}
	putchar('\'');
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*word);
	}
	putchar('\'');
}

static void print_path(const char *before, const char *path)
{
	fputs(before, stdout);
	print_word(path);
}

/*
 * The report gets its name when its program has ended well: one that finds its result wrong has a report,
 * too, and a point may be cut off at any moment.
 */
static int list_point(const struct sweep *sweep, size_t point)
{
	char **command = make_command(sweep, point), *report = tool_sweep_path(sweep, point, "json");
	char *part = tool_sweep_path(sweep, point, "part");

	if (!command || !report || !part)
		return tool_error(EXIT_FAILURE, "sweep: out of memory");
	for (size_t i = 0; command[i]; i++)
		print_path(i ? " " : "", command[i]);
	print_path(" && mv -f ", part);
	print_path(" ", report);
	print_path(" || { rm -f ", part);
	print_path(" ", report);
	puts("; false; }");
	free(part);
	free(report);
	return 0;
}

int tool_sweep_list(const struct sweep *sweep)
{
	int status = 0;

	for (size_t point = 0; point < sweep->points && !status; point++) {
		if (!sweep->is_there || !sweep->is_there[point])
			status = list_point(sweep, point);
	}
	if (!status && (fflush(stdout) || ferror(stdout)))
		status = tool_error(EXIT_FAILURE, "sweep: cannot write the list");
	return status;
}

/* --- running them -------------------------------------------------------------------------- */

struct run {
	struct sweep *sweep;
	struct job *jobs;
	size_t *points; /* of the jobs */
	size_t count;
};

/* A program that found its results wrong has a report, too: it does not get its name. */
static void settle_report(const struct sweep *sweep, size_t point, bool is_good)
{
	char *part = tool_sweep_path(sweep, point, "part"), *report = tool_sweep_path(sweep, point, "json");

	if (part && report && (!is_good || rename(part, report)))
		unlink(part);
	free(part);
	free(report);
}

static void end_point(void *context, size_t number)
{
	struct run *run = context;
	struct sweep *sweep = run->sweep;

	settle_report(sweep, run->points[number], run->jobs[number].status == 0);
	sweep->done++;
	if (sweep->shows_progress)
		fprintf(stderr, "\rsweep: %zu of %zu%s", sweep->done, run->count,
			sweep->done == run->count ? "\n" : "");
}

static int add_job(struct run *run, size_t point)
{
	struct job *job = &run->jobs[run->count];
	char *report = tool_sweep_path(run->sweep, point, "json");

	/* One of another run may not pass for this one's. */
	if (report)
		unlink(report);
	free(report);
	job->arguments = make_command(run->sweep, point);
	job->errors = tool_sweep_path(run->sweep, point, "err");
	run->points[run->count++] = point;
	return report && job->arguments && job->errors ? 0 : -ENOMEM;
}

static int run_jobs(struct run *run, unsigned int at_once)
{
	struct sweep *sweep = run->sweep;
	int error = 0;

	for (size_t point = 0; point < sweep->points && !error; point++) {
		if (!sweep->is_refused[point] && (!sweep->is_there || !sweep->is_there[point]))
			error = add_job(run, point);
	}
	sweep->shows_progress = isatty(STDERR_FILENO);
	if (!error)
		error = tool_jobs_run(run->jobs, run->count, at_once, end_point, run);
	/* The line that was cut off. */
	for (size_t i = 0; error && i < run->count; i++)
		settle_report(sweep, run->points[i], false);
	return error;
}

int tool_sweep_run(struct sweep *sweep, unsigned int at_once)
{
	struct run run = {
		.sweep = sweep,
		.jobs = calloc(sweep->points, sizeof(*run.jobs)),
		.points = calloc(sweep->points, sizeof(*run.points)),
	};
	int error = run.jobs && run.points ? run_jobs(&run, at_once) : -ENOMEM;

	free(run.jobs);
	free(run.points);
	if (!error)
		return 0;
	return tool_error(EXIT_FAILURE, "sweep: %s%s",
			  error == -EINTR ? "stopped by a signal" : strerror(-error),
			  sweep->temporary[0] ? "" : "; with --resume it goes on from there");
}
