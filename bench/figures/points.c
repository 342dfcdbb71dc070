/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The points: each data set on each system. A point is one command of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/figures/figures.h"
#include "tools/common/jobs.h"

/* Processor time of a command for which datasets.csv has none. */
#define SECONDS_OF_A_POINT 0.3
#define WORDS_MAX 40

const char *const kernel_names[KERNELS] = { [SPMV] = "spmv", [SPMM] = "spmm", [SDHP] = "sdhp", [BFS] = "bfs" };

static int find_kernel(const char *name)
{
	for (int i = 0; i < KERNELS; i++) {
		if (strcmp(kernel_names[i], name) == 0)
			return i;
	}
	return -1;
}

static int read_sets(struct runs *runs, const char *folder)
{
	struct table table;

	if (table_read(&table, folder, "datasets.csv"))
		return -1;
	runs->sets = calloc(table.count, sizeof(*runs->sets));
	for (size_t i = 0; i < table.count && runs->sets; i++) {
		struct data_set *set = &runs->sets[runs->set_count];
		int kernel = find_kernel(table.rows[i][0]);

		if (kernel < 0)
			return figures_error("datasets.csv: %s is no kernel", table.rows[i][0]);
		set->kernel = (enum kernel)kernel;
		set->name = table.rows[i][1];
		set->arguments = table_words(table.rows[i][2], 1);
		set->is_in_means = strcmp(table.rows[i][3], "no") != 0;
		set->is_for_nulls = strcmp(table.rows[i][4], "yes") == 0;
		set->seconds = *table.rows[i][5] ? atof(table.rows[i][5]) : SECONDS_OF_A_POINT;
		if (!set->arguments)
			return figures_error("%s", strerror(ENOMEM));
		if (table_find_file(runs->data, &set->arguments[0])) {
			runs->set_count++;
			continue;
		}
		runs->missing++;
		fprintf(stderr, "figures: %s: left out for %s: not there\n", set->arguments[0], table.rows[i][0]);
	}
	return runs->sets ? 0 : figures_error("%s", strerror(ENOMEM));
}

static int read_systems(struct runs *runs, const char *folder)
{
	struct table table;

	if (table_read(&table, folder, "systems.csv"))
		return -1;
	runs->systems = calloc(table.count, sizeof(*runs->systems));
	if (!runs->systems)
		return figures_error("%s", strerror(ENOMEM));
	for (; runs->system_count < table.count; runs->system_count++) {
		char **row = table.rows[runs->system_count];

		runs->systems[runs->system_count] = (struct system){
			.name = row[0], .soc = row[1], .settings = row[2], .form = row[3], .threads = row[4],
			.is_alone = strcmp(row[4], "1") == 0, .is_for_means = strcmp(row[5], "means") == 0,
		};
	}
	return 0;
}

int runs_read(struct runs *runs, const char *folder)
{
	if (read_sets(runs, folder) || read_systems(runs, folder))
		return -1;
	return runs_allocate(runs);
}

int runs_allocate(struct runs *runs)
{
	runs->results = calloc(runs->set_count * runs->system_count + 1, sizeof(*runs->results));
	return runs->results ? 0 : figures_error("%s", strerror(ENOMEM));
}

const struct result *runs_result(const struct runs *runs, const struct data_set *set, const char *system)
{
	for (size_t i = 0; i < runs->system_count; i++) {
		if (strcmp(runs->systems[i].name, system) == 0)
			return &runs->results[(size_t)(set - runs->sets) * runs->system_count + i];
	}
	return NULL;
}

/* --- commands ------------------------------------------------------------------------------- */

struct batch {
	const struct runs *runs;	/* the first: the common part of all */
	struct job *jobs;
	struct result **results;	/* of each job */
	char **reports;
	size_t count, done, failed;
	double seconds;			/* of one processor, for all: about */
	time_t started;
};

static char *text_of(const char *format, const char *a, const char *b, const char *c)
{
	char *text;

	return asprintf(&text, format, a, b, c) < 0 ? NULL : text;
}

static void add_words(char **command, size_t *count, char *const *words)
{
	for (; *words && *count < WORDS_MAX - 1; words++)
		command[(*count)++] = *words;
}

static int add_job(struct batch *batch, struct result *result, const char *name, const char *settings,
		   const struct system *system, char *const *program)
{
	struct job *job = &batch->jobs[batch->count];
	char **command = calloc(WORDS_MAX, sizeof(*command));
	char *text = strdup(settings);
	char **sets = text ? table_words(text, 1) : NULL;
	size_t count = 0;

	batch->reports[batch->count] = text_of("%s/points/%s.json", batch->runs->output, name, NULL);
	if (!command || !sets || !batch->reports[batch->count])
		return figures_error("%s", strerror(ENOMEM));
	add_words(command, &count, (char *[]){ text_of("%s/bin/mimic", batch->runs->build, NULL, NULL), "sim", NULL });
	if (system)
		add_words(command, &count, (char *[]){ "--soc", (char *)system->soc, "--cores",
						       (char *)(system->is_alone ? "2" : system->threads), NULL });
	if (system && system->is_warm)
		add_words(command, &count, (char *[]){ "--warm", "1", NULL });
	for (; *sets; sets++)
		add_words(command, &count, (char *[]){ "--set", *sets, NULL });
	add_words(command, &count, (char *[]){ "--json", "--output", batch->reports[batch->count], "--", NULL });
	add_words(command, &count, program);
	job->arguments = command;
	job->errors = text_of("%s/points/%s.err", batch->runs->output, name, NULL);
	batch->results[batch->count++] = result;
	unlink(job->errors ? batch->reports[batch->count - 1] : "");
	return 0;
}

static bool is_point(const struct data_set *set, const struct system *system)
{
	return !(system->is_alone && set->kernel == BFS) && (set->is_in_means || !system->is_for_means);
}

/* The result of the same command, if it is run for others; NULL: it is not. */
static const struct result *find_same(const struct runs *runs, size_t set, size_t system)
{
	const struct system *ours = &runs->systems[system], *theirs = runs->same ? &runs->same->systems[system] : NULL;

	if (!theirs || ours->is_warm != theirs->is_warm || strcmp(ours->settings, theirs->settings) != 0 || strcmp(ours->form, theirs->form) != 0)
		return NULL;
	for (size_t i = 0; i < runs->same->set_count; i++) {
		const struct data_set *other = &runs->same->sets[i];

		if (other->kernel == runs->sets[set].kernel && strcmp(other->name, runs->sets[set].name) == 0 &&
		    is_point(other, theirs))
			return runs_result(runs->same, other, ours->name);
	}
	return NULL;
}

/* The report of a point is named after its place in the two tables. */
static int add_point(struct batch *batch, struct runs *runs, size_t set_number, size_t system_number)
{
	const struct data_set *set = &runs->sets[set_number];
	const struct system *system = &runs->systems[system_number];
	char *program[WORDS_MAX] = {
		text_of("%s/sim/examples/maple/loops", runs->build, NULL, NULL), "--kernel",
		(char *)kernel_names[set->kernel], "--form", (char *)system->form, "--threads",
		(char *)system->threads,
	};
	size_t count = 7;
	char name[64];

	if (!is_point(set, system) || find_same(runs, set_number, system_number))
		return 0;
	if (system->is_warm)
		add_words(program, &count, (char *[]){ "--times", "2", NULL });
	add_words(program, &count, set->arguments);
	batch->seconds += system->is_warm ? 2 * set->seconds : set->seconds;
	snprintf(name, sizeof(name), "%s%02zu-%02zu", runs->name, set_number, system_number);
	return add_job(batch, &runs->results[set_number * runs->system_count + system_number], name, system->settings,
		       system, program);
}

/* The argument: bytes, four times the L1 and half of the L2; and 16 times the L2. */
static const struct {
	const char *name, *argument;
} measured[MEASURED] = {
	[ROUND_TRIP] = { "round-trip", NULL }, [L2_ACCESS] = { "l2-access", "32768" },
	[DRAM_ACCESS] = { "dram-access", "1048576" },
};

static bool is_measured_elsewhere(const struct runs *runs)
{
	return runs->same && strcmp(runs->settings, runs->same->settings) == 0;
}

/* Of those that are not `taken`, the first one with the longest points; `set_count`: there is none. */
static size_t find_longest(const struct runs *runs, const bool *taken)
{
	size_t longest = runs->set_count;

	for (size_t set = 0; set < runs->set_count; set++) {
		if (!taken[set] && (longest == runs->set_count || runs->sets[set].seconds > runs->sets[longest].seconds))
			longest = set;
	}
	return longest;
}

/* Long ones first: two processors are done at about the same time. */
static int add_points(struct batch *batch, struct runs *runs)
{
	bool *taken = calloc(runs->set_count + 1, sizeof(*taken));
	int error = taken ? 0 : figures_error("%s", strerror(ENOMEM));
	size_t set;

	while (!error && (set = find_longest(runs, taken)) < runs->set_count) {
		taken[set] = true;
		for (size_t system = 0; system < runs->system_count && !error; system++)
			error = add_point(batch, runs, set, system);
	}
	free(taken);
	return error;
}

static int add_runs(struct batch *batch, struct runs *runs)
{
	if (add_points(batch, runs))
		return -1;
	for (int i = 0; i < MEASURED && !is_measured_elsewhere(runs); i++) {
		char *program[] = { text_of("%s/sim/examples/maple/round_trip", runs->build, NULL, NULL),
				    (char *)measured[i].argument, NULL };
		char name[64];

		snprintf(name, sizeof(name), "%s%s", runs->name, measured[i].name);
		if (!program[0] || add_job(batch, &runs->measured[i], name, runs->settings, NULL, program))
			return -1;
	}
	return 0;
}

static int make_batch(struct batch *batch, struct runs *const *runs, size_t count)
{
	size_t most = 0;

	for (size_t i = 0; i < count; i++)
		most += runs[i]->set_count * runs[i]->system_count + MEASURED;
	*batch = (struct batch){
		.runs = runs[0],
		.jobs = calloc(most, sizeof(*batch->jobs)),
		.results = calloc(most, sizeof(struct result *)),
		.reports = calloc(most, sizeof(char *)),
	};
	if (!batch->jobs || !batch->results || !batch->reports)
		return figures_error("%s", strerror(ENOMEM));
	for (size_t i = 0; i < count; i++) {
		if (add_runs(batch, runs[i]))
			return -1;
	}
	return 0;
}

/* Takes the results of points that were not run because others run the same. */
static void take_same(struct runs *runs)
{
	for (size_t set = 0; set < runs->set_count; set++) {
		for (size_t system = 0; system < runs->system_count; system++) {
			const struct result *same = find_same(runs, set, system);

			if (same)
				runs->results[set * runs->system_count + system] = *same;
		}
	}
	if (is_measured_elsewhere(runs))
		memcpy(runs->measured, runs->same->measured, sizeof(runs->measured));
}

/* The last phase is the loop; the first is the whole run, with the parts that are not measured. */
static bool take_report(const char *path, struct result *result)
{
	struct sim_point points[8];
	int count = tool_sim_point_read(path, points, 8);

	if (count < 1 || count > 8)
		return false;
	result->point = points[count - 1];
	result->is_there = true;
	return true;
}

static void job_is_done(void *context, size_t number)
{
	struct batch *batch = context;
	struct job *job = &batch->jobs[number];
	time_t passed = time(NULL) - batch->started;

	batch->done++;
	/* The program's exit status says that its result is right. */
	if (job->status || !take_report(batch->reports[number], batch->results[number])) {
		batch->failed++;
		figures_tell_failure(job);
	}
	if (isatty(STDERR_FILENO) || batch->done % 50 == 0 || batch->done == batch->count)
		fprintf(stderr, "%sfigures: %zu of %zu points, %ld s%s", isatty(STDERR_FILENO) ? "\r" : "", batch->done,
			batch->count, (long)passed, isatty(STDERR_FILENO) && batch->done < batch->count ? "" : "\n");
}

int runs_execute(struct runs *const *runs, size_t count)
{
	struct batch batch;
	unsigned int jobs = runs[0]->jobs;
	int error;

	if (figures_folder(runs[0]->output, "points") || make_batch(&batch, runs, count))
		return -1;
	fprintf(stderr, "figures: %zu points, %u at a time; takes about %.0f seconds.\n", batch.count, jobs,
		1 + batch.seconds / jobs);
	batch.started = time(NULL);
	error = tool_jobs_run(batch.jobs, batch.count, jobs, job_is_done, &batch);
	tool_jobs_pass_on_signal();
	if (error)
		return figures_error("%s", strerror(-error));
	for (size_t i = 0; i < count; i++)
		take_same(runs[i]);
	return batch.failed ? figures_error("%zu points failed", batch.failed) : 0;
}
