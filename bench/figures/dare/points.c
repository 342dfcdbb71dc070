/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The points: each system on its kernels, blocks and data sets. A point is one command of its own. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/figures/dare/dare.h"
#include "tools/common/jobs.h"

#define WORDS_MAX 48

static const char *const kernels[DARE_KERNELS] = { "spmm", "sddmm", "gemm" };
static const char *const blocks[DARE_BLOCKS] = { "1", "2", "4", "8", "16" };

/* --- tables --------------------------------------------------------------------------------- */

static int read_sets(struct dare_runs *runs, const char *folder)
{
	const struct table *table = &runs->set_table;

	if (table_read(&runs->set_table, folder, "dare_datasets.csv"))
		return -1;
	for (size_t i = 0; i < table->count && runs->set_count < DARE_SETS; i++) {
		struct dare_set *set = &runs->sets[runs->set_count];

		*set = (struct dare_set){
			.name = table->rows[i][0], .arguments = table_words(table->rows[i][1], 0),
			.small = table_words(table->rows[i][2], 0), .is_in_means = strcmp(table->rows[i][3], "yes") == 0,
		};
		if (!set->arguments || !set->small)
			return figures_error("%s", strerror(ENOMEM));
		if (table_find_file(runs->data, &set->arguments[0]) && table_find_file(runs->data, &set->small[0])) {
			runs->set_count++;
			continue;
		}
		runs->missing++;
		fprintf(stderr, "figures: %s: left out: %s is not there\n", set->name, set->arguments[0]);
		free(set->arguments);
		free(set->small);
	}
	return 0;
}

/* Marks the names of a list with blanks, which is cut. false: one is unknown. */
static bool mark_names(char *list, const char *const *names, size_t count, bool *marks)
{
	char *word;

	while ((word = strsep(&list, " "))) {
		size_t i = 0;

		while (i < count && strcmp(names[i], word))
			i++;
		if (i < count)
			marks[i] = true;
		else if (*word)
			return false;
	}
	return true;
}

static int read_systems(struct dare_runs *runs, const char *folder)
{
	const struct table *table = &runs->system_table;

	if (table_read(&runs->system_table, folder, "dare_systems.csv"))
		return -1;
	if (table->count > DARE_SYSTEMS)
		return figures_error("dare_systems.csv: more than %d systems", DARE_SYSTEMS);
	for (; runs->system_count < table->count; runs->system_count++) {
		struct dare_system *system = &runs->systems[runs->system_count];
		char **row = table->rows[runs->system_count];

		*system = (struct dare_system){
			.name = row[0], .mode = row[1], .settings = row[2], .form = row[3], .set = row[6],
			.size = strcmp(row[6], "means") == 0 ? SIZE_MEANS :
				strcmp(row[6], "small") == 0 ? SIZE_SMALL : SIZE_NAMED,
		};
		if (!mark_names(row[4], kernels, DARE_KERNELS, system->kernel) ||
		    !mark_names(row[5], blocks, DARE_BLOCKS, system->block))
			return figures_error("dare_systems.csv: %s: an unknown kernel or block", row[0]);
		system->block[B1] |= system->kernel[DARE_GEMM];
	}
	return 0;
}

int dare_runs_read(struct dare_runs *runs, const char *folder)
{
	return read_sets(runs, folder) || read_systems(runs, folder) ? -1 : 0;
}

const struct dare_result *dare_results(const struct dare_runs *runs, const char *system, enum dare_kernel kernel,
				       enum dare_block block)
{
	for (size_t i = 0; i < runs->system_count; i++) {
		if (strcmp(runs->systems[i].name, system) == 0)
			return runs->results[i][kernel][block];
	}
	return NULL;
}

/* --- commands ------------------------------------------------------------------------------- */

struct batch {
	struct dare_runs *runs;
	struct job *jobs;
	struct dare_result **results;	/* of each job */
	char **reports;
	size_t count, room, done, failed;
};

static bool runs_on(const struct dare_system *system, const struct dare_set *set)
{
	return system->size == SIZE_NAMED ? strcmp(system->set, set->name) == 0 : set->is_in_means;
}

static void add_words(char **command, size_t *count, char *const *words)
{
	for (; *words && *count < WORDS_MAX - 1; words++)
		command[(*count)++] = *words;
}

static char *text_of(const char *format, const char *a, const char *b)
{
	char *text;

	return asprintf(&text, format, a, b) < 0 ? NULL : text;
}

static int fill_command(char **command, const struct batch *batch, const struct dare_system *system,
			enum dare_kernel kernel, enum dare_block block, const struct dare_set *set)
{
	const struct dare_runs *runs = batch->runs;
	char *mimic = text_of("%s/bin/mimic%s", runs->build, "");
	char *program = text_of("%s/sim/examples/dare/streams%s", runs->build, "");
	char *copy = strdup(system->settings), **settings = copy ? table_words(copy, 0) : NULL;
	size_t count = 0;

	if (!mimic || !program || !settings)
		return figures_error("%s", strerror(ENOMEM));
	add_words(command, &count, (char *[]){ mimic, "sim", "--soc", "dare", "--mode", (char *)system->mode, NULL });
	for (; *settings; settings++)
		add_words(command, &count, (char *[]){ "--set", *settings, NULL });
	add_words(command, &count, (char *[]){ "--json", "--output", batch->reports[batch->count], "--", program,
					       "--kernel", (char *)kernels[kernel], "--form", (char *)system->form, NULL });
	if (kernel != DARE_GEMM)
		add_words(command, &count, (char *[]){ "--block", (char *)blocks[block], NULL });
	add_words(command, &count, system->size == SIZE_SMALL ? set->small : set->arguments);
	return 0;
}

static int add_point(struct batch *batch, size_t system, enum dare_kernel kernel, enum dare_block block, size_t set)
{
	struct dare_runs *runs = batch->runs;
	char **command = calloc(WORDS_MAX, sizeof(*command));
	char name[64];

	snprintf(name, sizeof(name), "dare-%02zu-%s-%s-%zu", system, kernels[kernel], blocks[block], set);
	batch->reports[batch->count] = text_of("%s/points/%s.json", runs->output, name);
	batch->jobs[batch->count].arguments = command;
	batch->jobs[batch->count].errors = text_of("%s/points/%s.err", runs->output, name);
	if (!command || !batch->reports[batch->count] || !batch->jobs[batch->count].errors)
		return figures_error("%s", strerror(ENOMEM));
	unlink(batch->reports[batch->count]);
	if (fill_command(command, batch, &runs->systems[system], kernel, block, &runs->sets[set]))
		return -1;
	batch->results[batch->count++] = &runs->results[system][kernel][block][set];
	return 0;
}

static int add_system(struct batch *batch, size_t number)
{
	const struct dare_system *system = &batch->runs->systems[number];

	for (int kernel = 0; kernel < DARE_KERNELS; kernel++) {
		for (int block = 0; block < DARE_BLOCKS; block++) {
			for (size_t set = 0; set < batch->runs->set_count; set++) {
				if (system->kernel[kernel] && system->block[block] &&
				    runs_on(system, &batch->runs->sets[set]) &&
				    add_point(batch, number, (enum dare_kernel)kernel, (enum dare_block)block, set))
					return -1;
			}
		}
	}
	return 0;
}

/* --- reports ---------------------------------------------------------------------------------- */

static double number_of(struct json_object *object, const char *section, const char *key)
{
	struct json_object *part = object, *value;

	if (section && !json_object_object_get_ex(object, section, &part))
		return -1;
	return json_object_object_get_ex(part, key, &value) ? json_object_get_double(value) : -1;
}

/* nJ, of all parts of the report, which are fJ. Below 0: it has not all of them. */
static double energy_of(struct json_object *phase)
{
	static const char *const parts[] = { "energy_reads", "energy_prefetches", "energy_writes", "energy_mma",
					     "energy_macs", "energy_leakage" };
	double sum = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		double part = number_of(phase, "dare_time", parts[i]);

		if (part < 0)
			return -1;
		sum += part;
	}
	return sum / 1e6;
}

static void take_phase(struct json_object *phase, struct dare_result *result)
{
	*result = (struct dare_result){
		.cycles = number_of(phase, NULL, "cycles"),
		.mma = number_of(phase, "dare", "mma"),
		.macs = number_of(phase, "dare", "macs_used"),
		.demanded = number_of(phase, "dare_time", "rows_demanded"),
		.stored = number_of(phase, "dare_time", "rows_stored"),
		.prefetched = number_of(phase, "dare_time", "rows_prefetched"),
		.redundant = number_of(phase, "dare_time", "prefetch_redundant"),
		.misses = number_of(phase, "dare_time", "demand_misses"),
		.latency = number_of(phase, "dare_time", "demand_latency"),
		.energy = energy_of(phase),
	};
	result->is_there = result->cycles > 0 && result->mma > 0 && result->macs > 0 && result->demanded > 0 &&
			   result->stored > 0 && result->prefetched >= 0 && result->redundant >= 0 &&
			   result->misses >= 0 && result->latency > 0 && result->energy > 0;
}

/* The last phase is the kernel. */
static bool take_report(const char *path, struct dare_result *result)
{
	struct json_object *report = json_object_from_file(path), *phases;
	size_t count;

	if (report && json_object_object_get_ex(report, "phases", &phases)) {
		count = json_object_array_length(phases);
		if (count)
			take_phase(json_object_array_get_idx(phases, count - 1), result);
	}
	json_object_put(report);
	return result->is_there;
}

static void job_is_done(void *context, size_t number)
{
	struct batch *batch = context;

	batch->done++;
	/* The program's exit status says that its result is right. */
	if (batch->jobs[number].status || !take_report(batch->reports[number], batch->results[number])) {
		batch->failed++;
		figures_tell_failure(&batch->jobs[number]);
	}
	if (batch->done % 50 == 0 || batch->done == batch->count)
		fprintf(stderr, "figures: %zu of %zu points\n", batch->done, batch->count);
}

int dare_runs_execute(struct dare_runs *runs)
{
	struct batch batch = { .runs = runs, .room = runs->system_count * DARE_KERNELS * DARE_BLOCKS * runs->set_count };
	int error;

	batch.jobs = calloc(batch.room + 1, sizeof(*batch.jobs));
	batch.results = calloc(batch.room + 1, sizeof(struct dare_result *));
	batch.reports = calloc(batch.room + 1, sizeof(char *));
	if (!batch.jobs || !batch.results || !batch.reports)
		return figures_error("%s", strerror(ENOMEM));
	if (figures_folder(runs->output, "points"))
		return -1;
	for (size_t system = 0; system < runs->system_count; system++) {
		if (add_system(&batch, system))
			return -1;
	}
	error = tool_jobs_run(batch.jobs, batch.count, runs->jobs, job_is_done, &batch);
	tool_jobs_pass_on_signal();
	if (error)
		return figures_error("%s", strerror(-error));
	return batch.failed ? figures_error("%zu points failed", batch.failed) : 0;
}
