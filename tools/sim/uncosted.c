/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Accesses that no table has a cost for, and the sources that they are in. */
#include <json-c/json.h>
#include <stdlib.h>

#include "tools/sim/sim.h"

#define SHOWN 5		/* sources, in a message */

struct uncosted {
	uint64_t accesses;		/* all that were charged instructions */
	uint64_t uncosted;
	const struct sim_source **sources;	/* those that have some, most first */
	size_t source_count;
};

static int compare_sources(const void *one, const void *other)
{
	const struct sim_source *a = *(const struct sim_source *const *)one, *b = *(const struct sim_source *const *)other;

	if (a->uncosted != b->uncosted)
		return a->uncosted > b->uncosted ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static const char *name_of(const struct sim_setup *setup, const struct sim_source *source)
{
	return (const char *)setup + setup->names + source->name;
}

/* The first phase is the whole run. false: no memory. */
static bool count_uncosted(struct uncosted *uncosted, const struct sim_setup *setup)
{
	const struct sim_source *sources = (const void *)((const char *)setup + setup->sources);

	*uncosted = (struct uncosted){ .sources = calloc(setup->source_count + 1, sizeof(*uncosted->sources)) };
	if (!uncosted->sources)
		return false;
	for (uint64_t i = 0; i < setup->parameters.core_count; i++) {
		uncosted->accesses += setup->phases[0].cores[i].accesses;
		uncosted->uncosted += setup->phases[0].cores[i].uncosted;
	}
	for (uint64_t i = 0; i < setup->source_count; i++)
		if (sources[i].uncosted)
			uncosted->sources[uncosted->source_count++] = &sources[i];
	qsort(uncosted->sources, uncosted->source_count, sizeof(*uncosted->sources), compare_sources);
	return true;
}

void tool_sim_tell_uncosted(const struct sim_setup *setup)
{
	struct uncosted uncosted;
	char *text = NULL;
	size_t size;
	FILE *file;

	/* Where an instruction takes no time (DARE's host, a null model), a table changes nothing. */
	if (!setup->parameters.core_instruction || !count_uncosted(&uncosted, setup))
		return;
	file = uncosted.uncosted > uncosted.accesses / 100 ? open_memstream(&text, &size) : NULL;
	if (file) {
		for (size_t i = 0; i < uncosted.source_count && i < SHOWN; i++)
			fprintf(file, "%s %s (%.1f %%)", i ? "," : ":", name_of(setup, uncosted.sources[i]),
				100.0 * (double)uncosted.sources[i]->uncosted / (double)uncosted.accesses);
		if (uncosted.source_count > SHOWN)
			fprintf(file, " and %zu more", uncosted.source_count - SHOWN);
		fclose(file);
		tool_error(0, "sim: %.1f %% of the accesses have no cost in a table, and count as %d instructions each%s; "
			   "see mimic costs", 100.0 * (double)uncosted.uncosted / (double)uncosted.accesses,
			   SIM_DEFAULT_INSTRUCTIONS, text);
		free(text);
	}
	free(uncosted.sources);
}

struct json_object *tool_sim_uncosted_json(const struct sim_setup *setup)
{
	struct json_object *object = json_object_new_object(), *array = json_object_new_array();
	struct uncosted uncosted;

	if (!count_uncosted(&uncosted, setup))
		uncosted = (struct uncosted){ 0 };
	json_object_object_add(object, "accesses", json_object_new_uint64(uncosted.accesses));
	json_object_object_add(object, "uncosted", json_object_new_uint64(uncosted.uncosted));
	for (size_t i = 0; i < uncosted.source_count; i++) {
		struct json_object *source = json_object_new_object();

		json_object_object_add(source, "name", json_object_new_string(name_of(setup, uncosted.sources[i])));
		json_object_object_add(source, "uncosted", json_object_new_uint64(uncosted.sources[i]->uncosted));
		json_object_array_add(array, source);
	}
	json_object_object_add(object, "sources", array);
	free(uncosted.sources);
	return object;
}
