/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Runs that differ from others: on fewer data sets, or with other settings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/dare/dare.h"

/* Tables and commands, without results. */
static struct dare_runs *copy(const struct dare_runs *runs)
{
	struct dare_runs *new = calloc(1, sizeof(*new));

	if (!new) {
		figures_error("%s", strerror(ENOMEM));
		return NULL;
	}
	new->build = runs->build;
	new->data = runs->data;
	new->output = runs->output;
	new->jobs = runs->jobs;
	new->set_count = runs->set_count;
	new->system_count = runs->system_count;
	memcpy(new->sets, runs->sets, sizeof(new->sets));
	memcpy(new->systems, runs->systems, sizeof(new->systems));
	return new;
}

struct dare_runs *dare_runs_small(const struct dare_runs *runs)
{
	struct dare_runs *small = copy(runs);

	if (!small)
		return NULL;
	small->name = "null-0-";
	small->set_count = 0;
	for (size_t i = 0; i < runs->set_count; i++) {
		struct dare_set *set = &small->sets[small->set_count];

		if (!runs->sets[i].nulls[0])
			continue;
		*set = runs->sets[i];
		set->arguments = set->small = set->nulls;
		small->set_count++;
	}
	if (small->set_count)
		return small;
	figures_error("dare_datasets.csv: no data set that is there is one for null models");
	free(small);
	return NULL;
}

/* Its new name in "OLD=NEW ...", or itself. Modes and forms have no common names but the words that are listed. */
static const char *replace(char *const *instead, const char *word)
{
	size_t length = strlen(word);

	for (; *instead; instead++) {
		if (strncmp(*instead, word, length) == 0 && (*instead)[length] == '=')
			return *instead + length + 1;
	}
	return word;
}

/* Of a key that comes twice the last one is taken. */
static int change_system(struct dare_system *system, const struct dare_change *change, char *const *instead)
{
	char *settings;

	if (*change->settings && (!*change->modes || table_has_word(change->modes, system->mode))) {
		if (asprintf(&settings, "%s%s%s", system->settings, *system->settings ? " " : "", change->settings) < 0)
			return -1;
		system->settings = settings;
	}
	system->mode = replace(instead, system->mode);
	system->form = replace(instead, system->form);
	return 0;
}

struct dare_runs *dare_runs_variant(const struct dare_runs *base, const struct dare_change *change)
{
	struct dare_runs *variant = copy(base);
	char *text = strdup(change->instead), **instead = text ? table_words(text, 0) : NULL;
	bool is_bad = !variant || !instead;

	for (size_t i = 0; !is_bad && i < variant->system_count; i++)
		is_bad = change_system(&variant->systems[i], change, instead);
	free(instead);
	if (is_bad) {
		figures_error("%s", strerror(ENOMEM));
		free(text);
		free(variant);
		return NULL;
	}
	variant->instead = text;
	variant->name = change->name;
	variant->same = base;
	return variant;
}
