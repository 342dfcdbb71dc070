/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tools/sim/point.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

static uint64_t number(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_uint64(value) : 0;
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

static void read_phase(struct json_object *phase, struct sim_point *point)
{
	struct json_object *cores = part(phase, "cores"), *soc = part(phase, "soc"), *maple = part(phase, "maple");
	size_t count = json_object_is_type(cores, json_type_array) ? json_object_array_length(cores) : 0;

	memset(point, 0, sizeof(*point));
	snprintf(point->phase, sizeof(point->phase), "%s", text(phase, "name"));
	point->cycles = number(phase, "cycles");
	for (size_t i = 0; i < count; i++) {
		struct json_object *core = json_object_array_get_idx(cores, i);

		point->uncosted += number(core, "uncosted");
#define _(name, meaning) point->cores.name += number(core, #name);
		SOC_CORE_COUNTERS(_)
#undef _
	}
#define _(name, meaning) point->soc.name = number(soc, #name);
	SOC_COUNTERS(_)
#undef _
	point->produced = number(maple, "produced");
	point->consumed = number(maple, "consumed");
	point->fetched = number(maple, "fetched");
	point->prefetched = number(maple, "prefetched");
	point->tlb_misses = number(maple, "tlb_misses");
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
	if (strcmp(text(report, "end"), "ended") == 0 && json_object_is_type(phases, json_type_array)) {
		size_t count = json_object_array_length(phases);

		for (size_t i = 0; i < count && i < room; i++)
			read_phase(json_object_array_get_idx(phases, i), &points[i]);
		found = (int)count;
	} else if (json_object_is_type(report, json_type_object)) {
		found = -EPROTO;
	}
	json_object_put(report);
	return found;
}
