/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* run.json, checked field by field: docs/report.md describes the fields. */
#include <stdlib.h>
#include <string.h>

#include "tools/report/reader.h"

#define RUNS_MOST 10000
#define SAMPLES_MOST 1000000
#define NAMES_MOST 1000			/* counters or queues of a run */

/* --- arguments, counters ----------------------------------------------------------------------- */

/* As one would type them. */
static void append_word(FILE *out, const char *word)
{
	bool is_plain = *word && !word[strcspn(word, " \t\n\"'\\$`*?[](){}<>|&;#~!")];

	if (is_plain) {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char[]){ *word, '\0' }, out);
	putc('\'', out);
}

static char *read_arguments(struct reader *reader, struct json_object *object)
{
	struct json_object *array =
		report_reader_member(reader, object, "arguments", json_type_array, "an array", true);
	size_t length = 0, field = report_reader_enter(reader, "arguments");
	char *line = NULL;
	FILE *out = open_memstream(&line, &length);

	for (size_t i = 0; out && array && i < json_object_array_length(array) && !reader->has_failed; i++) {
		size_t outer = report_reader_enter_index(reader, i);

		if (i)
			putc(' ', out);
		append_word(out, report_reader_text_of(reader, json_object_array_get_idx(array, i)));
		report_reader_leave(reader, outer);
	}
	if (!out || fclose(out))
		report_reader_fail(reader, "out of memory");
	report_reader_leave(reader, field);
	return line;
}

static void read_counters(struct reader *reader, struct json_object *object, struct report_run *run)
{
	struct json_object *counters =
		report_reader_member(reader, object, "counters", json_type_object, "an object", true);
	size_t field = report_reader_enter(reader, "counters");

	if (counters && report_reader_is_few(reader, (size_t)json_object_object_length(counters), NAMES_MOST))
		run->counters = report_reader_room(reader, (size_t)json_object_object_length(counters),
						   sizeof(*run->counters));
	if (run->counters) {
		json_object_object_foreach(counters, name, value) {
			size_t outer = report_reader_enter(reader, name);

			run->counters[run->counter_count++] =
				(struct report_counter){ name, report_reader_count_of(reader, value) };
			report_reader_leave(reader, outer);
		}
	}
	report_reader_leave(reader, field);
}

/* --- samples ---------------------------------------------------------------------------------------- */

/* An array of as many counts as there are samples. NULL: the mistake is reported. */
static uint64_t *read_column(struct reader *reader, struct json_object *array, size_t number)
{
	uint64_t *values;

	if (!report_reader_is_type(reader, array, json_type_array, "an array"))
		return NULL;
	if (json_object_array_length(array) != number) {
		report_reader_fail(reader, "it has %zu values, and there are %zu times",
				   json_object_array_length(array), number);
		return NULL;
	}
	values = report_reader_room(reader, number, sizeof(*values));
	for (size_t i = 0; values && i < number && !reader->has_failed; i++) {
		size_t field = report_reader_enter_index(reader, i);

		values[i] = report_reader_count_of(reader, json_object_array_get_idx(array, i));
		report_reader_leave(reader, field);
	}
	return values;
}

static void read_times(struct reader *reader, struct json_object *object, struct report_samples *samples)
{
	struct json_object *array =
		report_reader_member(reader, object, "seconds", json_type_array, "an array", false);
	size_t field = report_reader_enter(reader, "seconds"),
	       number = array ? json_object_array_length(array) : 0;

	if (array && report_reader_is_few(reader, number, SAMPLES_MOST))
		samples->seconds = report_reader_room(reader, number, sizeof(*samples->seconds));
	for (size_t i = 0; samples->seconds && i < number && !reader->has_failed; i++) {
		size_t outer = report_reader_enter_index(reader, i);

		samples->seconds[i] = report_reader_seconds_of(reader, json_object_array_get_idx(array, i));
		if (i && samples->seconds[i] < samples->seconds[i - 1])
			report_reader_fail(reader, "time goes backwards");
		report_reader_leave(reader, outer);
	}
	samples->count = number;
	report_reader_leave(reader, field);
}

static void read_queue(struct reader *reader, struct json_object *object, struct report_samples *samples)
{
	struct report_queue *queue = &samples->queues[samples->queue_count++];
	struct json_object *levels;
	size_t field;

	if (!report_reader_is_type(reader, object, json_type_object, "an object"))
		return;
	queue->name = report_reader_text(reader, object, "name", false);
	queue->size = report_reader_count(reader, object, "size", false);
	levels = report_reader_member(reader, object, "levels", json_type_array, "an array", false);
	field = report_reader_enter(reader, "levels");
	if (levels)
		queue->levels = read_column(reader, levels, samples->count);
	for (size_t i = 0; queue->levels && i < samples->count; i++) {
		if (queue->levels[i] > queue->size)
			report_reader_fail(reader, "value %zu is more than the queue's size", i);
	}
	report_reader_leave(reader, field);
}

static void read_queues(struct reader *reader, struct json_object *object, struct report_samples *samples)
{
	struct json_object *array =
		report_reader_member(reader, object, "queues", json_type_array, "an array", false);
	size_t field = report_reader_enter(reader, "queues"),
	       number = array ? json_object_array_length(array) : 0;

	if (array && report_reader_is_few(reader, number, NAMES_MOST))
		samples->queues = report_reader_room(reader, number, sizeof(*samples->queues));
	for (size_t i = 0; samples->queues && i < number && !reader->has_failed; i++) {
		size_t outer = report_reader_enter_index(reader, i);

		read_queue(reader, json_object_array_get_idx(array, i), samples);
		report_reader_leave(reader, outer);
	}
	report_reader_leave(reader, field);
}

static void read_growths(struct reader *reader, struct json_object *object, struct report_samples *samples)
{
	struct json_object *counters =
		report_reader_member(reader, object, "counters", json_type_object, "an object", false);
	size_t field = report_reader_enter(reader, "counters");

	if (counters && report_reader_is_few(reader, (size_t)json_object_object_length(counters), NAMES_MOST))
		samples->growths = report_reader_room(reader, (size_t)json_object_object_length(counters),
						      sizeof(*samples->growths));
	if (samples->growths) {
		json_object_object_foreach(counters, name, array) {
			size_t outer = report_reader_enter(reader, name);
			struct report_growth *growth = &samples->growths[samples->growth_count++];

			growth->name = name;
			growth->values = reader->has_failed ? NULL : read_column(reader, array, samples->count);
			report_reader_leave(reader, outer);
		}
	}
	report_reader_leave(reader, field);
}

static void read_samples(struct reader *reader, struct json_object *object, struct report_samples *samples)
{
	struct json_object *from =
		report_reader_member(reader, object, "samples", json_type_object, "an object", true);
	size_t field = report_reader_enter(reader, "samples");

	if (from)
		read_times(reader, from, samples);
	if (from && !reader->has_failed)
		read_queues(reader, from, samples);
	if (from && !reader->has_failed)
		read_growths(reader, from, samples);
	report_reader_leave(reader, field);
}

/* --- runs, and the whole ------------------------------------------------------------------------------- */

static void read_run(struct reader *reader, struct json_object *object, struct report_run *run)
{
	struct json_object *value, *work;

	if (!report_reader_is_type(reader, object, json_type_object, "an object"))
		return;
	run->program = report_reader_text(reader, object, "program", true);
	run->arguments = read_arguments(reader, object);
	run->kind = report_reader_text(reader, object, "kind", false);
	run->device = report_reader_text(reader, object, "device", true);
	run->kernel = report_reader_text(reader, object, "kernel", false);
	run->form = report_reader_text(reader, object, "form", false);
	run->variant = report_reader_text(reader, object, "variant", true);
	run->transport = report_reader_text(reader, object, "transport", false);
	run->input = report_reader_text(reader, object, "input", true);
	run->size = report_reader_text(reader, object, "size", true);
	value = report_reader_member(reader, object, "verified", json_type_boolean, "true or false", false);
	run->verified = value && json_object_get_boolean(value);
	run->against = report_reader_text(reader, object, "against", true);
	run->error = report_reader_text(reader, object, "error", true);
	run->seconds = report_reader_seconds(reader, object, "seconds", false);
	work = report_reader_member(reader, object, "work", json_type_object, "an object", true);
	run->unit = "";
	if (work) {
		size_t field = report_reader_enter(reader, "work");

		run->amount = report_reader_count(reader, work, "amount", false);
		run->unit = report_reader_text(reader, work, "unit", false);
		report_reader_leave(reader, field);
	}
	read_counters(reader, object, run);
	read_samples(reader, object, &run->samples);
}

static void read_runs(struct reader *reader, struct report *report)
{
	struct json_object *array =
		report_reader_member(reader, report->root, "runs", json_type_array, "an array", false);
	size_t field = report_reader_enter(reader, "runs"),
	       number = array ? json_object_array_length(array) : 0;

	if (array && !number)
		report_reader_fail(reader, "there is none");
	if (array && report_reader_is_few(reader, number, RUNS_MOST))
		report->runs = report_reader_room(reader, number, sizeof(*report->runs));
	for (size_t i = 0; report->runs && i < number && !reader->has_failed; i++) {
		size_t outer = report_reader_enter_index(reader, i);

		report->run_count = i + 1;
		read_run(reader, json_object_array_get_idx(array, i), &report->runs[i]);
		report_reader_leave(reader, outer);
	}
	report_reader_leave(reader, field);
}

static void read_machine(struct reader *reader, struct report *report)
{
	struct json_object *machine =
		report_reader_member(reader, report->root, "machine", json_type_object, "an object", false);
	size_t field = report_reader_enter(reader, "machine");

	if (machine) {
		report->system = report_reader_text(reader, machine, "system", true);
		report->processor = report_reader_text(reader, machine, "processor", true);
		report->processors = report_reader_count(reader, machine, "processors", true);
		report->memory = report_reader_count(reader, machine, "memory", true);
	}
	report_reader_leave(reader, field);
}

/* Of another format or version, no other field means anything. */
static void check_format(struct reader *reader, struct json_object *root)
{
	const char *format;
	uint64_t version;

	if (!report_reader_is_type(reader, root, json_type_object, "an object"))
		return;
	format = report_reader_text(reader, root, "format", false);
	if (!reader->has_failed && strcmp(format, REPORT_FORMAT))
		report_reader_fail(reader, "format: it must be \"%s\", and is \"%.40s\"", REPORT_FORMAT,
				   format);
	version = report_reader_count(reader, root, "version", false);
	if (!reader->has_failed && version != REPORT_VERSION)
		report_reader_fail(reader, "version: it is %llu, and this mimic reads version %d",
				   (unsigned long long)version, REPORT_VERSION);
}

static void read_root(struct reader *reader, struct report *report)
{
	report->mimic = report_reader_text(reader, report->root, "mimic", false);
	report->date = report_reader_text(reader, report->root, "date", false);
	report->program = report_reader_text(reader, report->root, "program", false);
	report->arguments = read_arguments(reader, report->root);
	report->seconds = report_reader_seconds(reader, report->root, "seconds", true);
	read_machine(reader, report);
	read_runs(reader, report);
}

struct report *report_read(const char *name, const char *text, size_t size, char *message)
{
	struct reader reader = { .file = name, .message = message };
	struct report *report = report_reader_room(&reader, 1, sizeof(*report));

	if (!report)
		return NULL;
	report->root = report_reader_parse(&reader, text, size);
	if (!reader.has_failed)
		check_format(&reader, report->root);
	if (!reader.has_failed)
		read_root(&reader, report);
	if (!reader.has_failed)
		return report;
	report_free(report);
	return NULL;
}

static void free_samples(struct report_samples *samples)
{
	for (size_t i = 0; i < samples->queue_count; i++)
		free(samples->queues[i].levels);
	for (size_t i = 0; i < samples->growth_count; i++)
		free(samples->growths[i].values);
	free(samples->queues);
	free(samples->growths);
	free(samples->seconds);
}

void report_free(struct report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->run_count; i++) {
		free_samples(&report->runs[i].samples);
		free(report->runs[i].counters);
		free(report->runs[i].arguments);
	}
	free(report->runs);
	free(report->arguments);
	json_object_put(report->root);
	free(report);
}
