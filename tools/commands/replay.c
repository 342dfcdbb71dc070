/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic replay: drives the devices of a recording again, and compares their answers. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmimic/replay/replay.h"
#include "tools/common/tools.h"

#define SETTINGS_MAX 64

static const char usage[] =
	"Usage: mimic replay [OPTION...] FILE\n\n"
	"Makes the devices of a recording (mimic record) and repeats the recorded accesses. Their\n"
	"memory is the recorded one; each answer and each read of memory is compared. The first\n"
	"difference of a device ends its replay.\n\n"
	"  --set KEY=NUMBER,...  parameters in place of the recorded ones\n"
	"  --plugin FILE         the kind of a device that is not built in; may be repeated\n"
	"  --json                print the result of each device as JSON\n"
	"  -v, --verbose         print each call\n"
	"  --help                this text\n\n"
	"Exit status: 0 all is as recorded, 1 something differs, 2 a file that is not whole or bad\n"
	"options; the whole part of such a file is replayed.\n";

struct replay_options {
	const char *set;
	struct mimic_option_values plugins;
	bool json;
	bool verbose;
	const char *path;
	const char *settings[SETTINGS_MAX];
	char *text;		/* of the settings */
	size_t setting_count;
	json_object *devices;
	bool differs;
	bool lacks_device;	/* one could not be made, and was not compared */
	bool is_bad;
	uint64_t calls;
};

static int parse(int argc, char **argv, struct replay_options *options)
{
	const struct mimic_option list[] = {
		{ .name = "set", .value = &options->set },
		{ .name = "plugin", .values = &options->plugins },
		{ .name = "json", .flag = &options->json },
		{ .name = "verbose", .letter = 'v', .flag = &options->verbose },
	};
	int status = tool_options(argc, argv, usage, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]));

	if (!status)
		status = tool_words(argc, argv, 1, 1);
	if (status)
		return status;
	options->path = argv[optind];
	status = tool_plugins_load(&options->plugins, NULL);
	if (status)
		return status;
	if (!options->set)
		return 0;
	options->text = strdup(options->set);
	for (char *word = options->text ? strtok(options->text, ",") : NULL; word; word = strtok(NULL, ",")) {
		if (options->setting_count == SETTINGS_MAX)
			return tool_error(EXIT_BAD_INPUT, "replay: more than %d settings", SETTINGS_MAX);
		options->settings[options->setting_count++] = word;
	}
	return 0;
}

static double seconds(uint64_t nanoseconds)
{
	return (double)nanoseconds / 1e9;
}

static void print_call(void *context, uint64_t number, uint64_t now, const char *text)
{
	(void)context;
	printf("%10" PRIu64 " %18.9f  %s\n", number, seconds(now), text);
}

/* --- text --------------------------------------------------------------------------------- */

static void print_difference(const struct replay_options *options,
			     const struct mimic_replay_result *result)
{
	const struct mimic_replay_difference *difference = &result->difference;

	printf("%s: %s: differs at call %" PRIu64 ", %.9f s after the first: %s\n", options->path,
	       result->name, difference->call, seconds(difference->now - result->start),
	       difference->asked);
	printf("%s: %s:   %s: recorded %s, now %s\n", options->path, result->name, difference->what,
	       difference->recorded, difference->replayed);
}

/* Its name follows its kind in the file, and may not have been read. */
static const char *name_of(const struct mimic_replay_result *result)
{
	if (*result->name)
		return result->name;
	return *result->kind ? result->kind : "a device";
}

static void print_end(const struct replay_options *options, const struct mimic_replay *replay,
		      const struct mimic_replay_result *result)
{
	if (result->end == MIMIC_REPLAY_BAD)
		printf("%s: %s: offset %" PRIu64 ": %s; %" PRIu64 " calls before it are whole\n",
		       options->path, name_of(result), result->damage.offset, result->damage.text,
		       result->calls);
	if (result->end == MIMIC_REPLAY_CUT && !mimic_replay_damage(replay)->exists)
		printf("%s: %s: its end is missing: the program was killed or still runs, or the file "
		       "is cut off; %" PRIu64 " calls are there\n", options->path, name_of(result),
		       result->calls);
}

static void print_device(const struct replay_options *options, const struct mimic_replay *replay,
			 const struct mimic_replay_result *result)
{
	if (!result->is_made) {
		print_end(options, replay, result);
		return;
	}
	printf("%s: %s: %" PRIu64 " calls in %.6f s: %" PRIu64 " accesses, %" PRIu64 " values in blocks, %"
	       PRIu64 " completions, %" PRIu64 " jobs, %" PRIu64 " bytes read, %" PRIu64 " written: %s\n",
	       options->path, result->name, result->calls, seconds(result->now - result->start),
	       result->accesses, result->values, result->completions, result->jobs, result->bytes_read,
	       result->bytes_written, result->difference.exists ? "different" : "identical");
	if (result->difference.exists)
		print_difference(options, result);
	else
		print_end(options, replay, result);
	if (options->verbose && result->shared_by_others)
		printf("%s: %s: %" PRIu64 " bytes of its memory changed while jobs ran, and not by them\n",
		       options->path, result->name, result->shared_by_others);
}

/* --- JSON ---------------------------------------------------------------------------------- */

static void add_number(json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static void add_text(json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, json_object_new_string(text));
}

static void add_damage(json_object *object, const struct mimic_replay_damage *damage)
{
	json_object *added = damage->exists ? json_object_new_object() : NULL;

	if (added) {
		add_number(added, "offset", damage->offset);
		add_text(added, "text", damage->text);
	}
	json_object_object_add(object, "damage", added);
}

static void add_difference(json_object *object, const struct mimic_replay_difference *difference)
{
	json_object *added = difference->exists ? json_object_new_object() : NULL;

	if (added) {
		add_number(added, "call", difference->call);
		add_number(added, "time", difference->now);
		add_text(added, "asked", difference->asked);
		add_text(added, "what", difference->what);
		add_text(added, "recorded", difference->recorded);
		add_text(added, "replayed", difference->replayed);
	}
	json_object_object_add(object, "difference", added);
}

static void add_device(struct replay_options *options, const struct mimic_replay_result *result)
{
	static const char *const ends[] = {
		[MIMIC_REPLAY_WHOLE] = "whole", [MIMIC_REPLAY_CUT] = "cut", [MIMIC_REPLAY_BAD] = "bad",
	};
	json_object *device = json_object_new_object();

	add_text(device, "name", result->name);
	add_text(device, "kind", result->kind);
	add_text(device, "recorded_by", result->version);
	json_object_object_add(device, "identical",
			       json_object_new_boolean(result->is_made && !result->difference.exists));
	add_text(device, "end", ends[result->end]);
	add_number(device, "calls", result->calls);
	add_number(device, "accesses", result->accesses);
	add_number(device, "values", result->values);
	add_number(device, "completions", result->completions);
	add_number(device, "interrupts", result->interrupts);
	add_number(device, "jobs", result->jobs);
	add_number(device, "bytes_read", result->bytes_read);
	add_number(device, "bytes_written", result->bytes_written);
	add_number(device, "memory_bytes_by_others", result->shared_by_others);
	add_number(device, "first_time", result->start);
	add_number(device, "last_time", result->now);
	add_difference(device, &result->difference);
	add_damage(device, &result->damage);
	json_object_array_add(options->devices, device);
}

/* --- all of it -------------------------------------------------------------------------------- */

static int replay_device(struct replay_options *options, struct mimic_replay *replay, unsigned int stream)
{
	const struct mimic_replay_options how = {
		.settings = options->settings,
		.setting_count = options->setting_count,
		.call = options->verbose && !options->json ? print_call : NULL,
	};
	struct mimic_replay_result result;
	char text[256];

	if (mimic_replay_run(replay, stream, &how, &result, text, sizeof(text)))
		return tool_error(EXIT_BAD_INPUT, "%s: %s: %s", options->path, result.name, text);
	options->calls += result.calls;
	options->differs = options->differs || result.difference.exists;
	options->lacks_device = options->lacks_device || !result.is_made;
	options->is_bad = options->is_bad || (!result.difference.exists && result.end != MIMIC_REPLAY_WHOLE);
	if (options->json)
		add_device(options, &result);
	else
		print_device(options, replay, &result);
	return 0;
}

/* Returns the exit status. */
static int finish(const struct replay_options *options, const struct mimic_replay *replay)
{
	const struct mimic_replay_damage *damage = mimic_replay_damage(replay);
	bool is_bad = options->is_bad || damage->exists || !mimic_replay_count(replay);
	int status = options->differs ? EXIT_FAILURE : is_bad ? EXIT_BAD_INPUT : EXIT_SUCCESS;
	json_object *all;

	if (!options->json) {
		if (damage->exists)
			printf("%s: offset %" PRIu64 ": %s; %" PRIu64 " calls before it are whole\n", options->path,
			       damage->offset, damage->text, options->calls);
		else if (!mimic_replay_count(replay))
			printf("%s: there is no device in it\n", options->path);
		return status;
	}
	all = json_object_new_object();
	add_text(all, "file", options->path);
	json_object_object_add(all, "identical", json_object_new_boolean(!options->differs && !options->lacks_device));
	json_object_object_add(all, "devices", json_object_get(options->devices));
	add_damage(all, damage);
	puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(all);
	return status;
}

static int replay_all(struct replay_options *options)
{
	struct mimic_replay *replay;
	char text[256];
	int status = 0;

	if (mimic_replay_open(&replay, options->path, text, sizeof(text)))
		return tool_error(EXIT_BAD_INPUT, "%s: %s", options->path, text);
	for (unsigned int i = 0; !status && i < mimic_replay_count(replay); i++)
		status = replay_device(options, replay, i);
	if (!status)
		status = finish(options, replay);
	mimic_replay_close(replay);
	return status;
}

int tool_replay(int argc, char **argv)
{
	struct replay_options options = { 0 };
	int status = parse(argc, argv, &options);

	if (!status) {
		options.devices = json_object_new_array();
		status = replay_all(&options);
		json_object_put(options.devices);
	}
	free(options.text);
	return status;
}
