/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Reads the counts of a point from its report. */
#include <json-c/json.h>

#include "bench/figures/dare/dare.h"

static double number_of(struct json_object *object, const char *section, const char *key)
{
	struct json_object *part = object, *value;

	if (section && !json_object_object_get_ex(object, section, &part))
		return -1;
	return json_object_object_get_ex(part, key, &value) ? json_object_get_double(value) : -1;
}

/* nJ, of all parts of the report, which are fJ. Below 0: it has not all of them. */
static double energy_of(struct json_object *phase)
{
	static const char *const parts[] = { "energy_reads", "energy_prefetches", "energy_writes", "energy_mma",
					     "energy_macs", "energy_leakage" };
	double sum = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		double part = number_of(phase, "dare_time", parts[i]);

		if (part < 0)
			return -1;
		sum += part;
	}
	return sum / 1e6;
}

static void take_phase(struct json_object *phase, struct dare_result *result)
{
	*result = (struct dare_result){
		.cycles = number_of(phase, NULL, "cycles"),
		.mma = number_of(phase, "dare", "mma"),
		.macs = number_of(phase, "dare", "macs_used"),
		.demanded = number_of(phase, "dare_time", "rows_demanded"),
		.stored = number_of(phase, "dare_time", "rows_stored"),
		.prefetched = number_of(phase, "dare_time", "rows_prefetched"),
		.redundant = number_of(phase, "dare_time", "prefetch_redundant"),
		.misses = number_of(phase, "dare_time", "demand_misses"),
		.latency = number_of(phase, "dare_time", "demand_latency"),
		.since_issue = number_of(phase, "dare_time", "demand_since_issue"),
		.energy = energy_of(phase),
	};
	result->is_there = result->cycles > 0 && result->mma > 0 && result->macs > 0 && result->demanded > 0 &&
			   result->stored > 0 && result->prefetched >= 0 && result->redundant >= 0 &&
			   result->misses >= 0 && result->latency > 0 && result->since_issue > 0 && result->energy > 0;
}

/* The last phase is the kernel. */
bool dare_take_report(const char *path, struct dare_result *result)
{
	struct json_object *report = json_object_from_file(path), *phases;
	size_t count;

	if (report && json_object_object_get_ex(report, "phases", &phases)) {
		count = json_object_array_length(phases);
		if (count)
			take_phase(json_object_array_get_idx(phases, count - 1), result);
	}
	json_object_put(report);
	return result->is_there;
}
