/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Reads the counts of a point from its report. */
#include <json-c/json.h>

#include "bench/figures/virgo/virgo.h"

static double number_of(struct json_object *object, const char *section, const char *key)
{
	struct json_object *part = object, *value;

	if (section && !json_object_object_get_ex(object, section, &part))
		return -1;
	return json_object_object_get_ex(part, key, &value) ? json_object_get_double(value) : -1;
}

static void take_phase(struct json_object *phase, struct virgo_result *result)
{
	static const char *const parts[VIRGO_ENERGIES] = {
		[ENERGY_CORE] = "energy_core", [ENERGY_MACS] = "energy_mac", [ENERGY_UNIT] = "energy_unit",
		[ENERGY_SHARED] = "energy_shared", [ENERGY_MEMORY] = "energy_memory",
	};

	*result = (struct virgo_result){
		.cycles = number_of(phase, "virgo_time", "kernel_cycles"),
		.elapsed = number_of(phase, NULL, "cycles"),
		.macs = number_of(phase, "virgo_time", "kernel_macs"),
		.work = number_of(phase, "virgo_time", "matrix_macs") + number_of(phase, "virgo_time", "tensor_macs"),
		.instructions = number_of(phase, "virgo_time", "warp_instructions"),
	};
	result->is_there = result->cycles > 0 && result->elapsed > 0 && result->macs > 0 && result->work > 0 &&
			   result->instructions > 0;
	for (size_t i = 0; i < VIRGO_ENERGIES; i++) {
		/* They are fJ. */
		result->energy[i] = number_of(phase, "virgo_time", parts[i]) / 1e6;
		result->is_there = result->is_there && result->energy[i] >= 0;
	}
}

/* The last phase is the product, or both of them. */
bool virgo_take_report(const char *path, struct virgo_result *result)
{
	struct json_object *report = json_object_from_file(path), *phases;
	size_t count;

	result->is_there = false;
	if (report && json_object_object_get_ex(report, "phases", &phases)) {
		count = json_object_array_length(phases);
		if (count)
			take_phase(json_object_array_get_idx(phases, count - 1), result);
	}
	json_object_put(report);
	return result->is_there;
}
