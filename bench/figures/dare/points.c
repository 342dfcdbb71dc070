/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The points: each system on its kernels, blocks and data sets. A point is one command of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/dare/dare.h"

static const char *const kernels[DARE_KERNELS] = { "spmm", "sddmm", "gemm" };
static const char *const blocks[DARE_BLOCKS] = { "1", "2", "4", "8", "16" };

/* --- tables --------------------------------------------------------------------------------- */

static bool has_files(const struct dare_runs *runs, const struct dare_set *set)
{
	return table_find_file(runs->data, &set->arguments[0]) && table_find_file(runs->data, &set->small[0]);
}

/* 1: taken; 0: it is left out; -1: no memory. */
static int read_set(struct dare_runs *runs, char *const *row)
{
	struct dare_set *set = &runs->sets[runs->set_count];

	*set = (struct dare_set){
		.name = row[0], .arguments = table_words(row[1], 0), .small = table_words(row[2], 0),
		.nulls = table_words(row[4], 0), .is_in_means = strcmp(row[3], "yes") == 0, .is_extra = strcmp(row[3], "extra") == 0,
	};
	if (!set->arguments || !set->small || !set->nulls)
		return figures_error("%s", strerror(ENOMEM));
	if (has_files(runs, set))
		return 1;
	if (!*row[5]) {
		fprintf(stderr, "figures: %s: left out: %s is not there\n", set->name, set->arguments[0]);
		free(set->arguments);
		free(set->small);
		free(set->nulls);
		return 0;
	}
	free(set->arguments);
	free(set->small);
	set->is_instead = true;
	set->arguments = table_words(row[5], 0);
	set->small = table_words(row[6], 0);
	return set->arguments && set->small ? 1 : figures_error("%s", strerror(ENOMEM));
}

static int read_sets(struct dare_runs *runs, const char *folder)
{
	if (table_read(&runs->set_table, folder, "dare_datasets.csv"))
		return -1;
	for (size_t i = 0; i < runs->set_table.count && runs->set_count < DARE_SETS; i++) {
		int status = read_set(runs, runs->set_table.rows[i]);

		if (status < 0)
			return -1;
		runs->set_count += (size_t)status;
		runs->missing += !status;
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

static enum dare_size size_of(const char *sets)
{
	static const char *const names[SIZE_NAMED] = {
		[SIZE_MEANS] = "means", [SIZE_SMALL] = "small", [SIZE_PLOTS] = "plots", [SIZE_EXTRA] = "extra",
	};
	int size = 0;

	while (size < SIZE_NAMED && strcmp(names[size], sets))
		size++;
	return (enum dare_size)size;
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
			.name = row[0], .mode = row[1], .settings = row[2], .form = row[3], .set = row[6], .size = size_of(row[6]),
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
	runs->name = "dare-";
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

static bool takes_set(const struct dare_system *system, const struct dare_set *set)
{
	switch (system->size) {
	case SIZE_NAMED: return strcmp(system->set, set->name) == 0;
	case SIZE_EXTRA: return set->is_extra;
	default: return set->is_in_means;
	}
}

bool dare_is_point(const struct dare_runs *runs, const struct dare_system *system, enum dare_kernel kernel,
		   enum dare_block block, const struct dare_set *set)
{
	bool is_variant = runs->same != NULL;

	return system->kernel[kernel] && system->block[block] && takes_set(system, set) &&
	       !(is_variant && system->size == SIZE_PLOTS);
}

static char *const *arguments_of(const struct dare_system *system, const struct dare_set *set)
{
	return system->size == SIZE_SMALL || system->size == SIZE_PLOTS || system->size == SIZE_EXTRA ? set->small : set->arguments;
}

/* The result of the same command, if it is run for others; NULL: it is not. Sets are the same ones. */
static const struct dare_result *find_same(const struct dare_runs *runs, const struct dare_system *ours,
					   enum dare_kernel kernel, enum dare_block block, size_t set)
{
	for (size_t i = 0; runs->same && i < runs->same->system_count; i++) {
		const struct dare_system *theirs = &runs->same->systems[i];

		if (strcmp(ours->mode, theirs->mode) == 0 && strcmp(ours->settings, theirs->settings) == 0 &&
		    strcmp(ours->form, theirs->form) == 0 && dare_is_point(runs->same, theirs, kernel, block, &runs->sets[set]) &&
		    arguments_of(ours, &runs->sets[set]) == arguments_of(theirs, &runs->sets[set]))
			return &runs->same->results[i][kernel][block][set];
	}
	return NULL;
}

static char *text_of(const char *format, const char *a, const char *b)
{
	char *text;

	return asprintf(&text, format, a, b) < 0 ? NULL : text;
}

static bool is_of_program(const char *setting)
{
	return strncmp(setting, "--", 2) == 0;
}

static int fill_command(char **command, const struct dare_runs *runs, char *report,
			const struct dare_system *system, enum dare_kernel kernel, enum dare_block block,
			const struct dare_set *set)
{
	char *mimic = text_of("%s/bin/mimic%s", runs->build, "");
	char *program = text_of("%s/sim/examples/dare/streams%s", runs->build, "");
	char *copy = strdup(system->settings), **settings = copy ? table_words(copy, 0) : NULL;

	if (!mimic || !program || !settings)
		return figures_error("%s", strerror(ENOMEM));
	batch_words(command, (char *[]){ mimic, "sim", "--soc", "dare", "--mode", (char *)system->mode, NULL });
	for (size_t i = 0; settings[i]; i++) {
		if (!is_of_program(settings[i]))
			batch_words(command, (char *[]){ "--set", settings[i], NULL });
	}
	batch_words(command, (char *[]){ "--json", "--output", report, "--", program, "--kernel", (char *)kernels[kernel],
					 "--form", (char *)system->form, NULL });
	if (kernel != DARE_GEMM)
		batch_words(command, (char *[]){ "--block", (char *)blocks[block], NULL });
	for (size_t i = 0; settings[i]; i++) {
		if (is_of_program(settings[i]))
			batch_words(command, (char *[]){ settings[i], NULL });
	}
	batch_words(command, arguments_of(system, set));
	return 0;
}

static int add_point(struct point_batch *batch, struct dare_runs *runs, size_t system, enum dare_kernel kernel,
		     enum dare_block block, size_t set)
{
	char name[64], **command;

	snprintf(name, sizeof(name), "%s%02zu-%s-%s-%zu", runs->name, system, kernels[kernel], blocks[block], set);
	command = batch_add(batch, name, &runs->results[system][kernel][block][set]);
	if (!command)
		return -1;
	return fill_command(command, runs, batch_report(batch), &runs->systems[system], kernel, block, &runs->sets[set]);
}

typedef int visit_point(struct point_batch *batch, struct dare_runs *runs, size_t system, enum dare_kernel kernel,
			enum dare_block block, size_t set);

static int each_point(struct point_batch *batch, struct dare_runs *runs, visit_point *visit)
{
	for (size_t system = 0; system < runs->system_count; system++) {
		for (int kernel = 0; kernel < DARE_KERNELS; kernel++) {
			for (int block = 0; block < DARE_BLOCKS; block++) {
				for (size_t set = 0; set < runs->set_count; set++) {
					if (dare_is_point(runs, &runs->systems[system], (enum dare_kernel)kernel, (enum dare_block)block,
							  &runs->sets[set]) &&
					    visit(batch, runs, system, (enum dare_kernel)kernel, (enum dare_block)block, set))
						return -1;
				}
			}
		}
	}
	return 0;
}

static int add_if_new(struct point_batch *batch, struct dare_runs *runs, size_t system, enum dare_kernel kernel,
		      enum dare_block block, size_t set)
{
	if (find_same(runs, &runs->systems[system], kernel, block, set))
		return 0;
	return add_point(batch, runs, system, kernel, block, set);
}

/* Takes the results of points that were not run because others run the same. */
static int take_same(struct point_batch *batch, struct dare_runs *runs, size_t system, enum dare_kernel kernel,
		     enum dare_block block, size_t set)
{
	const struct dare_result *same = find_same(runs, &runs->systems[system], kernel, block, set);

	(void)batch;
	if (same)
		runs->results[system][kernel][block][set] = *same;
	return 0;
}

/* --- execution -------------------------------------------------------------------------------- */

static bool take(const char *report, void *result)
{
	return dare_take_report(report, result);
}

static int make_batch(struct point_batch *batch, struct dare_runs *const *runs, size_t count)
{
	size_t room = 0;

	for (size_t i = 0; i < count; i++)
		room += runs[i]->system_count * DARE_KERNELS * DARE_BLOCKS * runs[i]->set_count;
	if (batch_begin(batch, runs[0]->output, room, take))
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (each_point(batch, runs[i], add_if_new))
			return -1;
	}
	return 0;
}

int dare_runs_execute(struct dare_runs *const *runs, size_t count)
{
	struct point_batch batch;

	if (make_batch(&batch, runs, count) || batch_run(&batch, "DARE's rows", runs[0]->jobs))
		return -1;
	for (size_t i = 0; i < count; i++)
		each_point(&batch, runs[i], take_same);
	return batch.failed ? figures_error("%zu points failed", batch.failed) : 0;
}
