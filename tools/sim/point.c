/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tools/sim/point.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "sim/setup.h"

/* Of an array the sum. */
static uint64_t number(struct json_object *object, const char *key)
{
	struct json_object *value;
	uint64_t sum = 0;

	if (!json_object_object_get_ex(object, key, &value))
		return 0;
	if (!json_object_is_type(value, json_type_array))
		return json_object_get_uint64(value);
	for (size_t i = 0; i < json_object_array_length(value); i++)
		sum += json_object_get_uint64(json_object_array_get_idx(value, i));
	return sum;
}

static struct json_object *part(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? value : NULL;
}

static const char *text(struct json_object *object, const char *key)
{
	struct json_object *value = part(object, key);

	return value && json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

static void add_columns(struct sim_point_column *columns, unsigned int *count, const struct mimic_kind *kind,
			const char *const *names, const char *suffix)
{
	for (; names && *names && *count < SIM_POINT_COLUMNS; names++) {
		struct sim_point_column *column = &columns[(*count)++];

		*column = (struct sim_point_column){ .kind = kind, .counter = *names };
		snprintf(column->part, sizeof(column->part), "%s%s", kind->name, suffix);
	}
}

unsigned int tool_sim_point_columns(struct sim_point_column columns[SIM_POINT_COLUMNS])
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < mimic_kind_count(); i++) {
		const struct mimic_kind *kind = mimic_kinds[i];

		if (!kind->time)
			continue;
		add_columns(columns, &count, kind, kind->time->columns, "");
		add_columns(columns, &count, kind, kind->time->time_columns, "_time");
	}
	return count;
}

/* Cycles of an instruction: 1 unless the report's parameters say that it takes none. */
static uint64_t cycles_of_instruction(struct json_object *report)
{
	struct json_object *core = part(part(report, "parameters"), "core");

	return part(core, "instruction") ? number(core, "instruction") : 1;
}

static void read_phase(struct json_object *phase, struct sim_point *point)
{
	struct json_object *cores = part(phase, "cores"), *soc = part(phase, "soc");
	struct sim_point_column columns[SIM_POINT_COLUMNS];
	unsigned int column_count = tool_sim_point_columns(columns);
	size_t count = json_object_is_type(cores, json_type_array) ? json_object_array_length(cores) : 0;

	memset(point, 0, sizeof(*point));
	snprintf(point->phase, sizeof(point->phase), "%s", text(phase, "name"));
	point->cycles = number(phase, "cycles");
	for (size_t i = 0; i < count; i++) {
		struct json_object *core = json_object_array_get_idx(cores, i);

		point->uncosted += number(core, "uncosted");
		point->core_cycles += number(core, "cycles");
#define _(name, meaning) point->cores.name += number(core, #name);
		SOC_CORE_COUNTERS(_)
#undef _
	}
#define _(name, meaning) point->soc.name = number(soc, #name);
	SOC_COUNTERS(_)
#undef _
	for (unsigned int i = 0; i < column_count; i++)
		point->device[i] = number(part(phase, columns[i].part), columns[i].counter);
}

int tool_sim_point_read(const char *path, struct sim_point *points, unsigned int room)
{
	struct json_object *report, *phases;
	FILE *file = fopen(path, "r");
	int found = -EINVAL;

	if (!file)
		return -errno;
	fclose(file);
	report = json_object_from_file(path);
	phases = part(report, "phases");
	if (report && number(report, "schema") != SIM_SCHEMA)
		found = -EINVAL;
	else if (strcmp(text(report, "end"), "ended") == 0 && json_object_is_type(phases, json_type_array)) {
		size_t count = json_object_array_length(phases);

		found = 0;
		for (size_t i = 0; i < count; i++) {
			struct json_object *phase = json_object_array_get_idx(phases, i);

			/* One that only warmed up has no counts. */
			if (!number(phase, "times"))
				continue;
			if ((unsigned int)found < room) {
				read_phase(phase, &points[found]);
				points[found].instruction_cycles =
					points[found].cores.instructions * cycles_of_instruction(report);
			}
			found++;
		}
	} else if (json_object_is_type(report, json_type_object)) {
		found = -EPROTO;
	}
	json_object_put(report);
	return found;
}
