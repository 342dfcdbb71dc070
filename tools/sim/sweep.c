/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mimic sweep: mimic sim on a grid of parameters. A point is one command with a report of its
 * own, so that another machine may run it; the table is made of the reports.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/parameters.h"
#include "tools/common/jobs.h"
#include "tools/sim/point.h"
#include "tools/sim/sim.h"
#include "tools/common/tools.h"

#define POINTS_MAX 100000
#define PHASES_MAX 64
#define AXES_MAX (TOOL_VALUES_MAX + 5)

static const char usage[] =
	"Usage: mimic sweep [OPTION...] [--] PROGRAM [ARGUMENT...]\n\n"
	"Runs mimic sim PROGRAM for each combination of values, on all processors, and writes one CSV\n"
	"with what each has counted.\n\n"
	"  --set KEY=V,V,...  values of a parameter, such as l2.size=32K,64K; may be given several times\n"
	"  --soc NAME,...     " SIM_PRESETS ", or INI files\n"
	"  --mode NAME,...    of " SIM_PRESET_MPU ": base, nvr, fre, static, oracle\n"
	"  --design NAME,...  of " SIM_PRESET_CLUSTER ": " SIM_DESIGNS " (second-hand)\n"
	"  --cores N,...      numbers of cores\n"
	"  --costs FILE       as of mimic sim, of all points\n"
	"  --warm N,...       numbers of times of each phase that are not counted; 0,1: cold and warm\n"
	"  -j, --jobs N       runs at a time (default: as many as processors)\n"
	"  -o, --output FILE  the CSV to FILE, not to standard output\n"
	"  --directory DIR    keeps the reports of the points there\n"
	"  --list             runs nothing; prints the command of each point, for --directory\n"
	"  --collect          runs nothing; makes the CSV of the reports in --directory\n"
	"  --help             this text\n\n"
	"The exit status is 1 if a point failed: its line says so, and has no numbers. 2: bad options.\n";

/* One dimension of the grid. */
struct axis {
	const char *option;	/* "--set", "--soc", "--mode", "--design", "--cores", "--warm" */
	char *key;		/* of --set, with its '='; else "" */
	char *values[TOOL_VALUES_MAX];
	size_t count;
};

struct sweep {
	struct axis axes[AXES_MAX];
	size_t axis_count, points;
	const char *soc, *mode, *design, *cores, *warm, *jobs, *output, *directory;
	struct tool_values sets, costs;
	bool lists, collects;
	char **program;		/* and its arguments */
	char self[PATH_MAX];
	char temporary[PATH_MAX];	/* directory that we made */
	size_t done, runs;
	bool *is_refused;	/* points whose parameters cannot be; NULL: all may run */
	bool shows_progress;
};

static int parse(int argc, char **argv, struct sweep *sweep)
{
	const struct tool_option list[] = {
		{ .name = "set", .values = &sweep->sets },
		{ .name = "soc", .value = &sweep->soc },
		{ .name = "mode", .value = &sweep->mode },
		{ .name = "design", .value = &sweep->design },
		{ .name = "cores", .value = &sweep->cores },
		{ .name = "costs", .values = &sweep->costs },
		{ .name = "warm", .value = &sweep->warm },
		{ .name = "jobs", .letter = 'j', .value = &sweep->jobs },
		{ .name = "output", .letter = 'o', .value = &sweep->output },
		{ .name = "directory", .value = &sweep->directory },
		{ .name = "list", .flag = &sweep->lists },
		{ .name = "collect", .flag = &sweep->collects },
	};
	int status = tool_options(argc, argv, usage, OPTIONS_FIRST, list, sizeof(list) / sizeof(list[0]));

	if (status)
		return status;
	if (sweep->sets.count > TOOL_VALUES_MAX || sweep->costs.count > TOOL_VALUES_MAX)
		return tool_error(EXIT_BAD_INPUT, "sweep: --set and --costs may be given %d times",
				  TOOL_VALUES_MAX);
	if (optind >= argc)
		return tool_error(EXIT_BAD_INPUT, "sweep: which program? See mimic sweep --help");
	if ((sweep->lists || sweep->collects) && !sweep->directory)
		return tool_error(EXIT_BAD_INPUT, "sweep: --list and --collect need --directory");
	if (sweep->lists && sweep->collects)
		return tool_error(EXIT_BAD_INPUT, "sweep: --list or --collect, not both");
	sweep->program = argv + optind;
	return 0;
}

/* --- the grid -------------------------------------------------------------------------- */

/* A value that does not fit is its points' trouble; a key of which none fits is a mistake. `why`: of the last one. */
static bool takes_some_value(const struct axis *axis, char *why, size_t size)
{
	for (size_t i = 0; i < axis->count; i++) {
		struct sim_parameters parameters;
		char *assignment;
		int error;

		if (sim_parameters_load(&parameters, SIM_PRESET_DEFAULT, why, size) ||
		    asprintf(&assignment, "%s%s", axis->key, axis->values[i]) < 0)
			return false;
		error = sim_parameters_set(&parameters, assignment, why, size);
		free(assignment);
		if (!error)
			return true;
	}
	return false;
}

static int add_axis(struct sweep *sweep, const char *option, const char *text)
{
	struct axis *axis = &sweep->axes[sweep->axis_count++];
	const char *values = text;
	char *copy, *next, why[256];

	axis->option = option;
	axis->key = strdup("");
	if (!strcmp(option, "--set")) {
		const char *equals = strchr(text, '=');

		if (!equals || equals == text)
			return tool_error(EXIT_BAD_INPUT, "sweep: --set %s: it must be KEY=VALUE,...", text);
		free(axis->key);
		axis->key = strndup(text, (size_t)(equals + 1 - text));
		values = equals + 1;
	}
	copy = strdup(values);
	if (!copy || !axis->key)
		return tool_error(EXIT_FAILURE, "sweep: out of memory");
	while ((next = strsep(&copy, ","))) {
		if (!*next)
			return tool_error(EXIT_BAD_INPUT, "sweep: %s %s: a value is empty", option, text);
		if (axis->count == TOOL_VALUES_MAX)
			return tool_error(EXIT_BAD_INPUT, "sweep: %s %s: more than %d values", option, text,
					  TOOL_VALUES_MAX);
		axis->values[axis->count++] = next;
	}
	if (!strcmp(option, "--set") && !takes_some_value(axis, why, sizeof(why)))
		return tool_error(EXIT_BAD_INPUT, "sweep: --set %s: %s", text, why);
	sweep->points *= axis->count;
	if (sweep->points > POINTS_MAX)
		return tool_error(EXIT_BAD_INPUT, "sweep: more than %d points", POINTS_MAX);
	return 0;
}

/* Names that stand for parameters of one preset. */
static const struct choice {
	const char *option, *preset;
	int (*set)(struct sim_parameters *parameters, const char *name, char *why, size_t size);
} choices[] = {
	{ "--mode", SIM_PRESET_MPU, sim_parameters_mode },
	{ "--design", SIM_PRESET_CLUSTER, sim_parameters_design },
};

/* NULL: the axis has other values. */
static const struct choice *choice_of(const struct axis *axis)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (!strcmp(axis->option, choices[i].option))
			return &choices[i];
	return NULL;
}

static int check_choices(const struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->axis_count; i++) {
		const struct axis *axis = &sweep->axes[i];
		const struct choice *choice = choice_of(axis);
		struct sim_parameters parameters;
		char why[256];

		for (size_t value = 0; choice && value < axis->count; value++)
			if (sim_parameters_load(&parameters, choice->preset, why, sizeof(why)) ||
			    choice->set(&parameters, axis->values[value], why, sizeof(why)))
				return tool_error(EXIT_BAD_INPUT, "sweep: %s: %s", choice->option, why);
	}
	return 0;
}

static int make_grid(struct sweep *sweep)
{
	int status = 0;

	sweep->points = 1;
	if (sweep->soc)
		status = add_axis(sweep, "--soc", sweep->soc);
	if (!status && sweep->mode)
		status = add_axis(sweep, "--mode", sweep->mode);
	if (!status && sweep->design)
		status = add_axis(sweep, "--design", sweep->design);
	if (!status)
		status = check_choices(sweep);
	if (!status && sweep->cores)
		status = add_axis(sweep, "--cores", sweep->cores);
	if (!status && sweep->warm)
		status = add_axis(sweep, "--warm", sweep->warm);
	for (size_t i = 0; i < sweep->sets.count && !status; i++)
		status = add_axis(sweep, "--set", sweep->sets.values[i]);
	return status;
}

/* The last axis changes fastest. */
static const char *value_of(const struct sweep *sweep, size_t point, size_t axis)
{
	for (size_t i = sweep->axis_count; i-- > axis + 1; )
		point /= sweep->axes[i].count;
	return sweep->axes[axis].values[point % sweep->axes[axis].count];
}

static char *report_path(const struct sweep *sweep, size_t point, const char *suffix)
{
	char *path;

	return asprintf(&path, "%s/point-%05zu.%s", sweep->directory, point, suffix) < 0 ? NULL : path;
}

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

		if (asprintf(&value, "%s%s", sweep->axes[i].key, value_of(sweep, point, i)) < 0)
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
	command[count] = report_path(sweep, point, "json");
	if (!command[count++])
		return NULL;
	command[count++] = "--";
	memcpy(command + count, sweep->program, words * sizeof(*command));
	return command;
}

/* A word as a shell takes it. */
static void print_word(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+%@";

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

/* A program that finds its result wrong has a report, too: nobody may take it for a good one. */
static int list_points(const struct sweep *sweep)
{
	for (size_t point = 0; point < sweep->points; point++) {
		char **command = make_command(sweep, point), *report = report_path(sweep, point, "json");

		if (!command || !report)
			return tool_error(EXIT_FAILURE, "sweep: out of memory");
		for (size_t i = 0; command[i]; i++) {
			print_word(command[i]);
			putchar(' ');
		}
		fputs("|| { rm -f ", stdout);
		print_word(report);
		puts("; false; }");
		free(report);
	}
	return fflush(stdout) || ferror(stdout) ? tool_error(EXIT_FAILURE, "sweep: cannot write the list") : 0;
}

/* --- points that cannot be ------------------------------------------------------------------ */

/* What is wrong, and of how many points. */
struct refusal {
	char *why;
	size_t points;
};

struct refusals {
	struct refusal *list;
	size_t count;
};

static int set_axis(struct sim_parameters *parameters, const struct axis *axis, const char *value, char *why, size_t size)
{
	const struct choice *choice = choice_of(axis);
	char *assignment;
	int error;

	if (choice)
		return choice->set(parameters, value, why, size);
	if (strcmp(axis->option, "--cores") != 0 && strcmp(axis->option, "--set") != 0)
		return 0;
	if (asprintf(&assignment, "%s%s", axis->key[0] ? axis->key : "core.count=", value) < 0)
		return -ENOMEM;
	error = sim_parameters_set(parameters, assignment, why, size);
	free(assignment);
	return error;
}

/* Could mimic sim have these parameters? --soc is the first axis. */
static int check_point(const struct sweep *sweep, size_t point, char *why, size_t size)
{
	struct sim_parameters parameters;
	int error = sim_parameters_load(&parameters, sweep->soc ? value_of(sweep, point, 0) : SIM_PRESET_DEFAULT, why, size);

	for (size_t i = 0; i < sweep->axis_count && !error; i++)
		error = set_axis(&parameters, &sweep->axes[i], value_of(sweep, point, i), why, size);
	return error ? error : tool_sim_fits(&parameters, why, size);
}

static int add_refusal(struct refusals *refusals, const char *why)
{
	struct refusal *larger;

	for (size_t i = 0; i < refusals->count; i++) {
		if (strcmp(refusals->list[i].why, why) != 0)
			continue;
		refusals->list[i].points++;
		return 0;
	}
	larger = reallocarray(refusals->list, refusals->count + 1, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	refusals->list = larger;
	larger[refusals->count] = (struct refusal){ .why = strdup(why), .points = 1 };
	return larger[refusals->count].why ? (refusals->count++, 0) : -ENOMEM;
}

static void tell_refusals(const struct sweep *sweep, struct refusals *refusals)
{
	for (size_t i = 0; i < refusals->count; i++) {
		tool_error(0, "sweep: %s (%zu of %zu points, which do not run)", refusals->list[i].why,
			   refusals->list[i].points, sweep->points);
		free(refusals->list[i].why);
	}
	free(refusals->list);
}

/* What is wrong is told once, before anything runs. */
static int check_points(struct sweep *sweep)
{
	struct refusals refusals = { 0 };
	int error = 0;

	sweep->is_refused = calloc(sweep->points, sizeof(*sweep->is_refused));
	for (size_t point = 0; sweep->is_refused && point < sweep->points && !error; point++) {
		char why[256] = "";

		sweep->is_refused[point] = check_point(sweep, point, why, sizeof(why)) != 0;
		if (sweep->is_refused[point])
			error = add_refusal(&refusals, why[0] ? why : "a parameter cannot be");
		else
			sweep->runs++;
	}
	tell_refusals(sweep, &refusals);
	return error || !sweep->is_refused ? tool_error(EXIT_FAILURE, "sweep: out of memory") : 0;
}

/* --- running it ------------------------------------------------------------------------- */

static void show_progress(void *context, size_t point)
{
	struct sweep *sweep = context;

	(void)point;
	sweep->done++;
	if (sweep->shows_progress)
		fprintf(stderr, "\rsweep: %zu of %zu%s", sweep->done, sweep->runs,
			sweep->done == sweep->runs ? "\n" : "");
}

static int run_points(struct sweep *sweep, unsigned int at_once)
{
	struct job *jobs = calloc(sweep->runs + 1, sizeof(*jobs)), *job = jobs;
	int error;

	if (!jobs)
		return tool_error(EXIT_FAILURE, "sweep: out of memory");
	for (size_t point = 0; point < sweep->points; point++) {
		char *report = report_path(sweep, point, "json");

		if (!report)
			return tool_error(EXIT_FAILURE, "sweep: out of memory");
		/* One of another run may not pass for this one's. */
		unlink(report);
		free(report);
		if (sweep->is_refused[point])
			continue;
		job->arguments = make_command(sweep, point);
		job->errors = report_path(sweep, point, "err");
		if (!job->arguments || !job->errors)
			return tool_error(EXIT_FAILURE, "sweep: out of memory");
		job++;
	}
	sweep->shows_progress = isatty(STDERR_FILENO);
	error = tool_jobs_run(jobs, sweep->runs, at_once, show_progress, sweep);
	if (error)
		return tool_error(EXIT_FAILURE, "sweep: %s", error == -EINTR ? "stopped by a signal" : strerror(-error));
	job = jobs;
	for (size_t point = 0; point < sweep->points; point++) {
		char *report = report_path(sweep, point, "json");

		/* A program that found its results wrong has a report, too. */
		if (!sweep->is_refused[point] && job++->status && report)
			unlink(report);
		free(report);
	}
	free(jobs);
	return 0;
}

/* --- the table ----------------------------------------------------------------------------- */

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
		fprintf(file, "%s,", value_of(sweep, number, i));
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

/* What the point's command said; its first line. */
static void tell_failure(const struct sweep *sweep, size_t number, int error)
{
	char *path = report_path(sweep, number, "err"), line[512] = "";
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
		char *path = report_path(sweep, number, "json");
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

static int write_table(const struct sweep *sweep)
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

/* --- all of it --------------------------------------------------------------------------------- */

static int find_self(struct sweep *sweep)
{
	ssize_t length = readlink("/proc/self/exe", sweep->self, sizeof(sweep->self) - 1);

	if (length < 0)
		return tool_error(EXIT_FAILURE, "/proc/self/exe: %s", strerror(errno));
	sweep->self[length] = '\0';
	return 0;
}

static int make_directory(struct sweep *sweep)
{
	const char *base = getenv("TMPDIR");

	if (sweep->directory) {
		if (mkdir(sweep->directory, 0777) && errno != EEXIST)
			return tool_error(EXIT_BAD_INPUT, "sweep: %s: %s", sweep->directory, strerror(errno));
		return 0;
	}
	snprintf(sweep->temporary, sizeof(sweep->temporary), "%s/mimic-sweep-XXXXXX", base && *base ? base : "/tmp");
	sweep->directory = mkdtemp(sweep->temporary);
	if (sweep->directory)
		return 0;
	tool_error(0, "sweep: %s: %s", sweep->temporary, strerror(errno));
	sweep->temporary[0] = '\0';
	return EXIT_FAILURE;
}

static void remove_temporary(const struct sweep *sweep)
{
	if (!sweep->temporary[0])
		return;
	for (size_t point = 0; point < sweep->points; point++) {
		char *report = report_path(sweep, point, "json"), *errors = report_path(sweep, point, "err");

		if (report)
			unlink(report);
		if (errors)
			unlink(errors);
		free(report);
		free(errors);
	}
	rmdir(sweep->temporary);
}

static int read_jobs(const struct sweep *sweep, unsigned int *at_once)
{
	char *end;
	unsigned long number;

	*at_once = tool_jobs_processors();
	if (!sweep->jobs)
		return 0;
	number = strtoul(sweep->jobs, &end, 10);
	if (sweep->jobs[0] < '0' || sweep->jobs[0] > '9' || *end || number < 1 || number > 1024)
		return tool_error(EXIT_BAD_INPUT, "sweep: --jobs %s: it must be a number from 1 to 1024", sweep->jobs);
	*at_once = (unsigned int)number;
	return 0;
}

int tool_sweep(int argc, char **argv)
{
	struct sweep sweep = { 0 };
	unsigned int at_once;
	int status = parse(argc, argv, &sweep);

	if (!status)
		status = make_grid(&sweep);
	if (!status)
		status = read_jobs(&sweep, &at_once);
	if (!status)
		status = find_self(&sweep);
	if (status)
		return status;
	if (sweep.lists)
		return list_points(&sweep);
	status = sweep.collects ? 0 : make_directory(&sweep);
	if (!status && !sweep.collects)
		status = check_points(&sweep);
	if (!status && !sweep.collects)
		status = run_points(&sweep, at_once);
	if (!status)
		status = write_table(&sweep);
	remove_temporary(&sweep);
	free(sweep.is_refused);
	tool_jobs_pass_on_signal();
	return status;
}
