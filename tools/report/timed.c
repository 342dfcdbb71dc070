/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Runs in virtual time: the JSON of mimic sim (docs/sim-json.md), or the CSV of mimic sweep. A
 * row is a phase of a run; both give the causes of its cores' cycles.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/report.h"

#define SCHEMA 1
#define ROWS_MAX 100000
#define COLUMNS_MAX 256
#define INSTRUCTIONS 0			/* among the causes */

const char *const report_causes[REPORT_CAUSES] = {
	"instructions", "loads wait for memory", "stores wait for room", "waits for the device", "walks of the page table",
	"branches, multiplications", "nothing to do",
};

static const char *const fields[REPORT_CAUSES] = {
	"instructions", "load_stalls", "store_stalls", "mmio_stalls", "walk_cycles", "pipeline_stalls",
	"sleeps",
};

static struct report_timed_row *add_row(struct report_timed *timed, const char *phase, const char *label)
{
	struct report_timed_row *rows = timed->rows, *row;

	/* Twice as much at each power of two. */
	if (!(timed->count & (timed->count - 1)))
		rows = reallocarray(rows, timed->count ? 2 * timed->count : 1, sizeof(*rows));
	if (!rows)
		return NULL;
	timed->rows = rows;
	row = &rows[timed->count];
	*row = (struct report_timed_row){ .phase = strdup(phase), .label = strdup(label) };
	timed->count++;
	return row->phase && row->label ? row : NULL;
}

void report_timed_free(struct report_timed *timed)
{
	for (size_t i = 0; timed && i < timed->count; i++) {
		free(timed->rows[i].phase);
		free(timed->rows[i].label);
		report_devices_free(&timed->rows[i]);
	}
	if (timed) {
		free(timed->rows);
		json_object_put(timed->device_intervals);
		free(timed->intervals);
		free(timed->title);
		free(timed->about);
	}
	free(timed);
}

/* --- the JSON of mimic sim ------------------------------------------------------------------ */

static struct json_object *field(struct json_object *object, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(object, name, &value) ? value : NULL;
}

static uint64_t number(struct json_object *object, const char *name)
{
	return json_object_get_uint64(field(object, name));
}

static const char *text_of(struct json_object *object, const char *name)
{
	struct json_object *value = field(object, name);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

static bool take_phase(struct report_timed *timed, struct json_object *phase)
{
	struct json_object *cores = field(phase, "cores");
	size_t count = json_object_is_type(cores, json_type_array) ? json_object_array_length(cores) : 0;
	struct report_timed_row *row;

	/* It only warmed up. */
	if (!number(phase, "times"))
		return true;
	row = add_row(timed, text_of(phase, "name"), "");
	if (!row)
		return false;
	row->cycles = number(phase, "cycles");
	for (size_t core = 0; core < count; core++)
		for (unsigned int i = 0; i < REPORT_CAUSES; i++)
			row->causes[i] += number(json_object_array_get_idx(cores, core), fields[i]);
	row->causes[INSTRUCTIONS] *= timed->instruction;
	return report_devices_take(row, phase);
}

/* They are there only if the run was asked for them. */
static const char *take_intervals(struct report_timed *timed, struct json_object *intervals)
{
	size_t count = json_object_is_type(intervals, json_type_array) ? json_object_array_length(intervals) : 0;

	timed->intervals = calloc(count + 1, sizeof(*timed->intervals));
	if (!timed->intervals)
		return "out of memory";
	for (size_t i = 0; i < count; i++) {
		struct json_object *object = json_object_array_get_idx(intervals, i), *cores = field(object, "cores");
		struct report_timed_interval *interval = &timed->intervals[i];

		interval->begin = number(object, "begin");
		interval->cycles = number(object, "cycles");
		if (i && interval->begin < interval[-1].begin + interval[-1].cycles)
			return "intervals that are not in order";
		for (unsigned int cause = 0; cause < REPORT_CAUSES; cause++)
			interval->causes[cause] = number(cores, fields[cause]);
		interval->causes[INSTRUCTIONS] *= timed->instruction;
	}
	timed->interval_count = count;
	timed->device_intervals = count ? json_object_get(intervals) : NULL;
	return NULL;
}

static const char *take_object(struct report_timed *timed, struct json_object *root)
{
	struct json_object *phases = field(root, "phases"), *core = field(field(root, "parameters"), "core");

	timed->instruction = !field(core, "instruction") || number(core, "instruction");
	if (number(root, "schema") != SCHEMA)
		return "a report of mimic sim of another schema than 1";
	if (!json_object_is_type(phases, json_type_array))
		return "a report of mimic sim without phases";
	timed->title = strdup(text_of(root, "program"));
	if (asprintf(&timed->about, "%s, %s", text_of(root, "soc"), text_of(root, "end")) < 0)
		timed->about = NULL;
	for (size_t i = 0; i < json_object_array_length(phases); i++)
		if (!take_phase(timed, json_object_array_get_idx(phases, i)))
			return "out of memory";
	return timed->title && timed->about ? take_intervals(timed, field(root, "intervals")) : "out of memory";
}

/* --- the CSV of mimic sweep ------------------------------------------------------------------- */

struct columns {
	unsigned int keys;		/* parameters, in front */
	unsigned int count;
	char *names[COLUMNS_MAX];
	int cycles, phase, causes[REPORT_CAUSES];
	/* -1: a sweep of an earlier mimic lacks it */
	struct report_device_column device_columns[REPORT_DEVICE_COLUMNS];
	int devices[REPORT_DEVICE_COLUMNS];
	unsigned int device_count;
};

static unsigned int split(char *line, char **words)
{
	unsigned int count = 0;

	while (line && count < COLUMNS_MAX)
		words[count++] = strsep(&line, ",");
	return count;
}

static int find(const struct columns *columns, const char *name)
{
	for (unsigned int i = 0; i < columns->count; i++)
		if (!strcmp(columns->names[i], name))
			return (int)i;
	return -1;
}

static void find_devices(struct columns *columns)
{
	columns->device_count = report_device_columns(columns->device_columns);
	for (unsigned int i = 0; i < columns->device_count; i++) {
		char name[128];

		snprintf(name, sizeof(name), "%s_%s", columns->device_columns[i].part, columns->device_columns[i].name);
		columns->devices[i] = find(columns, name);
	}
}

static const char *take_header(struct columns *columns, char *line)
{
	int status;

	columns->count = split(line, columns->names);
	status = find(columns, "status");
	columns->keys = (unsigned int)status;
	columns->phase = find(columns, "phase");
	columns->cycles = find(columns, "cycles");
	if (status < 0 || columns->phase < 0 || columns->cycles < 0)
		return "a CSV without the columns status, phase and cycles of mimic sweep";
	for (unsigned int i = 0; i < REPORT_CAUSES; i++) {
		columns->causes[i] = find(columns, fields[i]);
		/* Earlier ones have no branches. */
		if (columns->causes[i] < 0 && strcmp(fields[i], "pipeline_stalls"))
			return "a CSV that lacks columns of mimic sweep";
	}
	/* Those of earlier ones took a cycle each. */
	if (find(columns, "instruction_cycles") >= 0)
		columns->causes[INSTRUCTIONS] = find(columns, "instruction_cycles");
	find_devices(columns);
	return NULL;
}

/* "l2.size=64K l2.mshrs=4" */
static void make_label(const struct columns *columns, char **words, char *label, size_t size)
{
	size_t at = 0;

	label[0] = '\0';
	for (unsigned int i = 0; i < columns->keys && at < size; i++)
		at += (size_t)snprintf(label + at, size - at, "%s%s=%s", i ? " " : "", columns->names[i], words[i]);
}

static bool take_number(const char *word, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(word, &end, 10);
	return *word >= '0' && *word <= '9' && !*end && !errno;
}

/* Kinds of which a line has something. */
static bool take_devices(struct report_timed_row *row, const struct columns *columns, char **words)
{
	struct report_device *device = NULL;

	for (unsigned int i = 0; i < columns->device_count; i++) {
		const char *kind = columns->device_columns[i].kind;
		uint64_t value = 0;

		if (columns->devices[i] >= 0 && !take_number(words[columns->devices[i]], &value))
			return false;
		if (!value)
			continue;
		if (!device || strcmp(device->kind, kind))
			device = report_device_add(row, kind, kind);
		if (!device)
			return false;
		device->values[i] = value;
	}
	return true;
}

static const char *take_line(struct report_timed *timed, const struct columns *columns, char *line)
{
	char *words[COLUMNS_MAX], label[512];
	unsigned int count = split(line, words);
	struct report_timed_row *row;
	bool is_right;

	if (count <= columns->keys)
		return "a line with too few values";
	make_label(columns, words, label, sizeof(label));
	if (strcmp(words[columns->keys], "ok")) {
		timed->failed++;
		return NULL;
	}
	if (count != columns->count)
		return "a line with too few or too many values";
	row = timed->count < ROWS_MAX ? add_row(timed, words[columns->phase], label) : NULL;
	if (!row)
		return "too many lines";
	is_right = take_number(words[columns->cycles], &row->cycles);
	for (unsigned int i = 0; i < REPORT_CAUSES; i++)
		is_right &= columns->causes[i] < 0 || take_number(words[columns->causes[i]], &row->causes[i]);
	is_right &= take_devices(row, columns, words);
	return is_right ? NULL : "a value that must be a whole number is none";
}

static const char *take_csv(struct report_timed *timed, char *text, unsigned int *number_of_line)
{
	struct columns columns;
	const char *wrong = take_header(&columns, strsep(&text, "\n"));

	timed->title = strdup("mimic sweep");
	timed->about = strdup("a point for each combination of parameters");
	for (*number_of_line = 1; !wrong && text && *text; ++*number_of_line)
		wrong = take_line(timed, &columns, strsep(&text, "\n"));
	return wrong || (timed->title && timed->about) ? wrong : "out of memory";
}

/* --- which of the two ---------------------------------------------------------------------------- */

/* NULL: it is none of both. A run.json says its format, and a report of mimic sim its schema. */
static struct json_object *parse(const char *text, size_t size)
{
	struct json_tokener *tokener = json_tokener_new_ex(32);
	struct json_object *root = tokener && size < INT32_MAX ? json_tokener_parse_ex(tokener, text, (int)size + 1) : NULL;

	if (tokener)
		json_tokener_free(tokener);
	if (json_object_is_type(root, json_type_object) && field(root, "schema") && !field(root, "format"))
		return root;
	json_object_put(root);
	return NULL;
}

struct report_timed *report_timed_read(const char *name, char *text, size_t size, char *message)
{
	const char *first = text + strspn(text, " \t\r\n"), *wrong;
	bool is_csv = *first && *first != '{' && memmem(text, strcspn(text, "\n"), "status,phase,cycles", 19);
	struct json_object *root = is_csv ? NULL : parse(text, size);
	struct report_timed *timed;
	unsigned int line = 0;

	if (!is_csv && !root)
		return NULL;
	timed = calloc(1, sizeof(*timed));
	if (!timed)
		wrong = "out of memory";
	else
		wrong = root ? take_object(timed, root) : take_csv(timed, text, &line);
	json_object_put(root);
	if (!wrong && timed->count)
		return timed;
	if (!wrong) {
		wrong = "there is nothing to show";
		line = 0;
	}
	if (line)
		snprintf(message, REPORT_MESSAGE_SIZE, "%.200s:%u: %s", name, line, wrong);
	else
		snprintf(message, REPORT_MESSAGE_SIZE, "%.200s: %s", name, wrong);
	report_timed_free(timed);
	return NULL;
}
