/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The settings of the daemon as a file that it would take (docs/man/mimic.conf.5.scd). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/engine/engine.h"
#include "daemon/filesystem/source.h"

static unsigned int field_of(const struct mimic_own_parameters *parameters, const struct mimic_key *key)
{
	unsigned int field;

	memcpy(&field, parameters->bytes + key->offset, sizeof(field));
	return key->bit ? (field & key->bit) != 0 : field;
}

static unsigned int differences(const struct mimic_own_parameters *a, const struct mimic_own_parameters *b,
				const struct mimic_kind *kind)
{
	unsigned int count = 0;

	for (size_t i = 0; i < kind->key_count; i++)
		count += field_of(a, &kind->keys[i]) != field_of(b, &kind->keys[i]);
	return count;
}

/* The profile that says most of it; the keys that follow say the rest. */
static void write_profile(FILE *file, const struct mimic_own_parameters *parameters,
			  const struct mimic_kind *kind)
{
	unsigned int fewest = (unsigned int)kind->key_count + 1;
	char names[128], best[32] = "", *rest;

	snprintf(names, sizeof(names), "%s", kind->profiles);
	for (char *name = strtok_r(names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
		struct mimic_own_parameters other = *parameters;
		unsigned int count;

		/* The list is for people: "or" is no profile. */
		if (kind->profile(&other, name))
			continue;
		count = differences(parameters, &other, kind);
		if (count >= fewest)
			continue;
		fewest = count;
		snprintf(best, sizeof(best), "%s", name);
	}
	fprintf(file, "\nprofile = %s", best);
}

static void write_kind(FILE *file, const struct mimic_own_parameters *parameters,
		       const struct mimic_kind *kind)
{
	fprintf(file, "\n\n[%s]", kind->name);
	if (kind->profile)
		write_profile(file, parameters, kind);
	for (size_t i = 0; i < kind->key_count; i++) {
		const struct mimic_key *key = &kind->keys[i];
		unsigned int value = field_of(parameters, key);

		if (key->bit)
			fprintf(file, "\n%s = %s", key->name, value ? "yes" : "no");
		else
			fprintf(file, "\n%s = %u", key->name, value);
	}
}

static void write_devices(FILE *file, const unsigned int *counts)
{
	const char *separator = "";

	fprintf(file, "[mimic]\ndevices = ");
	for (size_t i = 0; i < mimic_kind_count(); i++) {
		if (!counts[i])
			continue;
		fprintf(file, "%s%s:%u", separator, mimic_kinds[i]->name, counts[i]);
		separator = ", ";
	}
}

char *mimicd_source_config(const struct mimicd_engine *engine)
{
	const struct mimic_settings *settings = &engine->settings;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	write_devices(file, settings->counts);
	fprintf(file, "\nspin_microseconds = %u", settings->spin_microseconds);
	for (size_t i = 0; i < mimic_kind_count(); i++)
		write_kind(file, &settings->parameters.of[i], mimic_kinds[i]);
	if (!fclose(file))
		return text;
	free(text);
	return NULL;
}
