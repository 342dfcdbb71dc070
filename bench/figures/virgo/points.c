/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The points of virgo_points.csv, and variants of them. A point is one command of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/virgo/virgo.h"

int virgo_runs_read(struct virgo_runs *runs, const char *folder)
{
	const struct table *table = &runs->table;

	runs->name = "virgo-";
	runs->settings = "";
	if (table_read(&runs->table, folder, "virgo_points.csv"))
		return -1;
	if (table->count > VIRGO_POINTS)
		return figures_error("virgo_points.csv: more than %d points", VIRGO_POINTS);
	for (; runs->point_count < table->count; runs->point_count++) {
		char *const *row = table->rows[runs->point_count];

		runs->points[runs->point_count] = (struct virgo_point){
			.name = row[0], .design = row[1], .settings = row[2], .program = row[3], .arguments = row[4], .also = row[5],
		};
	}
	return 0;
}

/* Words of a text, which lie in *copy: both are the caller's to free. NULL: the reason is said. */
static char **words_of(const char *text, char **copy)
{
	char **words;

	*copy = strdup(text);
	words = *copy ? table_words(*copy, 0) : NULL;
	if (!words) {
		figures_error("%s", strerror(ENOMEM));
		free(*copy);
		*copy = NULL;
	}
	return words;
}

static bool has_one_of(const char *list, char *const *words)
{
	for (; *words; words++)
		if (table_has_word(list, *words))
			return true;
	return false;
}

struct virgo_runs *virgo_runs_variant(const struct virgo_runs *base, const char *kinds, const char *name, const char *settings)
{
	struct virgo_runs *variant = calloc(1, sizeof(*variant));
	char *copy, **words = variant ? words_of(kinds, &copy) : NULL;

	if (!words) {
		free(variant);
		return NULL;
	}
	*variant = (struct virgo_runs){
		.build = base->build, .output = base->output, .jobs = base->jobs, .name = name, .settings = settings,
	};
	for (size_t i = 0; i < base->point_count; i++) {
		if (has_one_of(base->points[i].also, words))
			variant->points[variant->point_count++] = base->points[i];
	}
	free(words);
	free(copy);
	return variant;
}

const struct virgo_result *virgo_result(const struct virgo_runs *runs, const char *point)
{
	for (size_t i = 0; i < runs->point_count; i++) {
		if (strcmp(runs->points[i].name, point) == 0)
			return runs->results[i].is_there ? &runs->results[i] : NULL;
	}
	return NULL;
}

/* --- commands ------------------------------------------------------------------------------- */

/* Of a key that comes twice the last one is taken. The words are the command's, which is there until the end. */
static int add_settings(char **command, const char *settings)
{
	char *copy, **words = words_of(settings, &copy);

	for (size_t i = 0; words && words[i]; i++)
		batch_words(command, (char *[]){ "--set", words[i], NULL });
	free(words);
	return words ? 0 : -1;
}

static int fill_command(char **command, const struct virgo_runs *runs, const struct virgo_point *point, char *report)
{
	char *copy, **arguments = words_of(point->arguments, &copy), *mimic, *program;

	if (!arguments || asprintf(&mimic, "%s/bin/mimic", runs->build) < 0 ||
	    asprintf(&program, "%s/sim/examples/virgo/%s", runs->build, point->program) < 0)
		return figures_error("%s", strerror(ENOMEM));
	batch_words(command, (char *[]){ mimic, "sim", "--soc", "virgo", "--design", (char *)point->design, NULL });
	if (add_settings(command, point->settings) || add_settings(command, runs->settings))
		return -1;
	batch_words(command, (char *[]){ "--json", "--output", report, "--", program, "--type", "fp32", "--form", "library", NULL });
	batch_words(command, arguments);
	free(arguments);
	return 0;
}

static int add_runs(struct point_batch *batch, struct virgo_runs *runs)
{
	for (size_t i = 0; i < runs->point_count; i++) {
		char name[64], **command;

		snprintf(name, sizeof(name), "%s%02zu", runs->name, i);
		command = batch_add(batch, name, &runs->results[i]);
		if (!command || fill_command(command, runs, &runs->points[i], batch_report(batch)))
			return -1;
	}
	return 0;
}

static bool take(const char *report, void *result)
{
	return virgo_take_report(report, result);
}

int virgo_runs_execute(struct virgo_runs *const *runs, size_t count)
{
	struct point_batch batch;
	size_t room = 0;

	for (size_t i = 0; i < count; i++)
		room += runs[i]->point_count;
	if (batch_begin(&batch, runs[0]->output, room, take))
		return -1;
	batch.tell_every = 10;
	for (size_t i = 0; i < count; i++) {
		if (add_runs(&batch, runs[i]))
			return -1;
	}
	if (batch_run(&batch, "Virgo's rows", runs[0]->jobs))
		return -1;
	return batch.failed ? figures_error("%zu points failed", batch.failed) : 0;
}
