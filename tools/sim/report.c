/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The report of mimic sim on a run, as text and as JSON. docs/sim-json.md has a row for each field of the JSON. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/sim.h"

static const char *end_text(const struct sim_setup *setup)
{
	switch ((enum sim_end)atomic_load(&setup->end)) {
	case SIM_NEVER_BEGAN:
	case SIM_BEGAN:
		break;
	case SIM_ENDED:
		return "ended";
	case SIM_DEADLOCK:
		return "deadlock";
	case SIM_REFUSED:
		return "refused";
	case SIM_CYCLE_LIMIT:
		return "cycle limit";
	}
	return "broken";
}

/* Percent of `part` in all; 0 of nothing. */
static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static double ratio(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

/* NULL: the program has opened no device. */
static const struct mimic_kind *kind_of(const struct sim_setup *setup)
{
	const struct mimic_kind *kind = mimic_kind_find(setup->kind, strlen(setup->kind));

	return kind && kind->time ? kind : NULL;
}

static const struct sim_interval *interval_at(const struct sim_setup *setup, uint32_t index)
{
	return (const void *)((const char *)setup + setup->intervals + index * setup->interval_size);
}

/* The counters of several devices together: sums, and the highest of those that are maxima. */
static void add_report(const struct mimic_kind *kind, struct sim_device_report *sum, const struct sim_device_report *device)
{
	unsigned int at = 0;

	for (size_t i = 0; i < kind->counter_count; i++)
		sum->counters[i] += device->counters[i];
	for (unsigned int i = 0; i < kind->time->statistic_count; i++) {
		const struct mimic_time_statistic *statistic = &kind->time->statistics[i];

		for (unsigned int end = at + statistic->values; at < end; at++) {
			if (!statistic->is_most)
				sum->statistics[at] += device->statistics[at];
			else if (device->statistics[at] > sum->statistics[at])
				sum->statistics[at] = device->statistics[at];
		}
	}
}

static bool has_several(const struct sim_setup *setup)
{
	return sim_parameters_devices(&setup->parameters) > 1;
}

/* The numbers of those that the program has opened: *number, from `from` on; false: there are no more. */
static bool next_opened(const struct sim_setup *setup, unsigned int from, unsigned int *number)
{
	unsigned int count = sim_parameters_devices(&setup->parameters);

	for (*number = from; *number < count; ++*number)
		if (setup->opened >> *number & 1)
			return true;
	return false;
}

/* --- text -------------------------------------------------------------------------------------------- */

static void print_cores(FILE *file, const struct sim_setup *setup, const struct sim_phase *phase)
{
	fprintf(file, "  core %12s %13s %11s %9s %7s %11s %9s %9s %9s %9s\n", "cycles", "instructions", "loads", "latency",
		"L1 hit%", "stores", "MMIO", "load st.%", "MMIO st.%", "uncosted%");
	for (uint64_t i = 0; i < setup->parameters.core_count; i++) {
		const struct sim_core_report *core = &phase->cores[i];
		const struct soc_core_counters *counters = &core->counters;

		if (!core->cycles)
			continue;
		fprintf(file, "  %4llu %12llu %13llu %11llu %9.2f %7.2f %11llu %9llu %9.2f %9.2f %9.2f\n",
			(unsigned long long)i, (unsigned long long)core->cycles,
			(unsigned long long)counters->instructions, (unsigned long long)counters->loads,
			ratio(counters->load_cycles, counters->loads),
			percent(counters->l1_hits, counters->l1_hits + counters->l1_misses),
			(unsigned long long)counters->stores,
			(unsigned long long)(counters->mmio_loads + counters->mmio_stores),
			percent(counters->load_stalls, core->cycles), percent(counters->mmio_stalls, core->cycles),
			percent(core->uncosted, core->accesses));
	}
}

/* Where no core has walked there is no line. */
static void print_translation(FILE *file, const struct sim_setup *setup, const struct sim_phase *phase)
{
	uint64_t misses = 0, cycles = 0;

	for (uint64_t i = 0; i < setup->parameters.core_count; i++) {
		misses += phase->cores[i].counters.tlb_misses;
		cycles += phase->cores[i].counters.walk_cycles;
	}
	if (misses)
		fprintf(file, "  TLBs of the cores: %llu misses, %llu cycles of walks\n", (unsigned long long)misses,
			(unsigned long long)cycles);
}

static void print_memory(FILE *file, const struct sim_phase *phase)
{
	const struct soc_counters *soc = &phase->soc;

	fprintf(file, "  L2   %llu hits, %llu misses (%.2f %% hit), %llu forwards, %llu invalidations, %llu prefetched\n",
		(unsigned long long)soc->l2_hits, (unsigned long long)soc->l2_misses,
		percent(soc->l2_hits, soc->l2_hits + soc->l2_misses), (unsigned long long)soc->l2_forwards,
		(unsigned long long)soc->invalidations, (unsigned long long)soc->prefetched);
	fprintf(file, "  DRAM %llu lines read, %llu written; %llu cycles of waiting for an MSHR\n",
		(unsigned long long)soc->dram_lines, (unsigned long long)soc->write_backs,
		(unsigned long long)soc->mshr_stalls);
}

/* Of a device that has nothing to say there is no name either. */
static void print_with_name(FILE *file, const struct mimic_kind *kind, unsigned int number,
			    const struct mimic_time_host *soc, const struct sim_device_report *device)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return;
	kind->time->print(memory, soc, device->counters, device->statistics);
	if (!fclose(memory) && size)
		fprintf(file, "  %s%u\n%s", kind->name, number, text);
	free(text);
}

static void print_devices(FILE *file, const struct sim_setup *setup, const struct sim_phase *phase)
{
	struct sim_parameters parameters = setup->parameters;
	const struct mimic_time_host soc = tool_sim_soc(&parameters);
	const struct mimic_kind *kind = kind_of(setup);

	for (unsigned int i = 0; kind && next_opened(setup, i, &i); i++) {
		if (has_several(setup))
			print_with_name(file, kind, i, &soc, &phase->devices[i]);
		else
			kind->time->print(file, &soc, phase->devices[i].counters, phase->devices[i].statistics);
	}
}

/* Where a statistic of one value stands among all; -1: the kind has none of the name. */
static int statistic_at(const struct mimic_time *time, const char *name)
{
	int at = 0;

	for (unsigned int i = 0; i < time->statistic_count; i++) {
		if (!strcmp(time->statistics[i].name, name))
			return at;
		at += (int)time->statistics[i].values;
	}
	return -1;
}

/* The values that are shown over time: of all devices together. */
static void print_device_intervals(FILE *file, const struct sim_setup *setup)
{
	const struct mimic_kind *kind = kind_of(setup);
	const char *const *names = kind ? kind->time->interval_columns : NULL;

	if (!names)
		return;
	fprintf(file, "intervals of %llu cycles, %s\n  %12s", (unsigned long long)setup->interval, kind->name, "from cycle");
	for (const char *const *name = names; *name; name++)
		fprintf(file, " %15s", *name);
	fputc('\n', file);
	for (uint32_t i = 0; i < setup->interval_count; i++) {
		const struct sim_interval *interval = interval_at(setup, i);
		struct sim_device_report sum = { .counters = { 0 } };

		for (unsigned int number = 0; next_opened(setup, number, &number); number++)
			add_report(kind, &sum, &interval->devices[number]);
		fprintf(file, "  %12llu", (unsigned long long)interval->begin);
		for (const char *const *name = names; *name; name++) {
			int at = statistic_at(kind->time, *name);

			fprintf(file, " %15llu", at < 0 ? 0 : (unsigned long long)sum.statistics[at]);
		}
		fputc('\n', file);
	}
}

static void print_intervals(FILE *file, const struct sim_setup *setup)
{
	fprintf(file, "intervals of %llu cycles, all cores\n  %12s %13s %11s %11s %12s %12s %12s %11s\n",
		(unsigned long long)setup->interval, "from cycle", "instructions", "loads", "L1 misses", "load stalls",
		"MMIO stalls", "sleeps", "DRAM lines");
	for (uint32_t i = 0; i < setup->interval_count; i++) {
		const struct sim_interval *interval = interval_at(setup, i);
		const struct soc_core_counters *cores = &interval->cores;

		fprintf(file, "  %12llu %13llu %11llu %11llu %12llu %12llu %12llu %11llu\n",
			(unsigned long long)interval->begin, (unsigned long long)cores->instructions,
			(unsigned long long)cores->loads, (unsigned long long)cores->l1_misses,
			(unsigned long long)cores->load_stalls, (unsigned long long)cores->mmio_stalls,
			(unsigned long long)cores->sleeps, (unsigned long long)interval->soc.dram_lines);
	}
}

int tool_sim_report_text(FILE *file, const struct sim_report *report)
{
	const struct sim_setup *setup = report->setup;

	fprintf(file, "%s on %s: %s; %u thread%s, %llu pages\n", report->program, report->soc, end_text(setup),
		setup->threads, setup->threads == 1 ? "" : "s", (unsigned long long)setup->frames);
	for (uint32_t i = 0; i < setup->phase_count; i++) {
		const struct sim_phase *phase = &setup->phases[i];

		fprintf(file, "%s: %llu cycles", phase->name, (unsigned long long)phase->cycles);
		if (phase->times > 1)
			fprintf(file, " in %llu parts", (unsigned long long)phase->times);
		if (phase->warm_times)
			fprintf(file, " after %llu to warm up", (unsigned long long)phase->warm_times);
		fputc('\n', file);
		print_cores(file, setup, phase);
		print_translation(file, setup, phase);
		print_memory(file, phase);
		print_devices(file, setup, phase);
	}
	if (setup->interval) {
		print_intervals(file, setup);
		print_device_intervals(file, setup);
	}
	if (setup->lost_phases)
		fprintf(file, "%u phases found no room\n", setup->lost_phases);
	return ferror(file) ? -EIO : 0;
}

/* --- JSON ---------------------------------------------------------------------------------------------- */

static void add_number(struct json_object *object, const char *name, uint64_t value)
{
	json_object_object_add(object, name, json_object_new_uint64(value));
}

static struct json_object *add_object(struct json_object *object, const char *name)
{
	struct json_object *part = json_object_new_object();

	json_object_object_add(object, name, part);
	return part;
}

static void add_core_counters(struct json_object *object, const struct soc_core_counters *counters)
{
#define _(name, meaning) add_number(object, #name, counters->name);
	SOC_CORE_COUNTERS(_)
#undef _
}

static void add_soc_counters(struct json_object *object, const struct soc_counters *counters)
{
#define _(name, meaning) add_number(object, #name, counters->name);
	SOC_COUNTERS(_)
#undef _
}

static struct json_object *core_json(uint64_t number, const struct sim_core_report *core)
{
	struct json_object *object = json_object_new_object();

	add_number(object, "core", number);
	add_number(object, "cycles", core->cycles);
	add_number(object, "accesses", core->accesses);
	add_number(object, "uncosted", core->uncosted);
	add_core_counters(object, &core->counters);
	return object;
}

static void add_values(struct json_object *object, const struct mimic_time_statistic *statistic, const uint64_t *values)
{
	struct json_object *array;

	if (statistic->values == 1) {
		add_number(object, statistic->name, *values);
		return;
	}
	array = json_object_new_array();
	for (unsigned int i = 0; i < statistic->values; i++)
		json_object_array_add(array, json_object_new_uint64(values[i]));
	json_object_object_add(object, statistic->name, array);
}

/* Two objects: the counters of the model, and those of its timing. */
static void add_device(struct json_object *object, const struct mimic_kind *kind, const struct sim_device_report *device)
{
	const struct mimic_time *time = kind->time;
	struct json_object *part = add_object(object, kind->name);
	char name[32];
	unsigned int at = 0;

	for (size_t i = 0; i < kind->counter_count; i++)
		add_number(part, kind->counters[i], device->counters[i]);
	snprintf(name, sizeof(name), "%s_time", kind->name);
	part = add_object(object, name);
	for (unsigned int i = 0; i < time->statistic_count; i++) {
		add_values(part, &time->statistics[i], &device->statistics[at]);
		at += time->statistics[i].values;
	}
}

/* All of them together, and if the SoC has several each of those that the program has opened. */
static void add_devices(struct json_object *object, const struct sim_setup *setup, const struct sim_device_report *devices)
{
	const struct mimic_kind *kind = kind_of(setup);
	struct sim_device_report sum = { .counters = { 0 } };
	struct json_object *array;

	if (!kind)
		return;
	for (unsigned int i = 0; next_opened(setup, i, &i); i++)
		add_report(kind, &sum, &devices[i]);
	add_device(object, kind, &sum);
	if (!has_several(setup))
		return;
	array = json_object_new_array();
	for (unsigned int i = 0; next_opened(setup, i, &i); i++) {
		struct json_object *device = json_object_new_object();
		char name[32];

		snprintf(name, sizeof(name), "%s%u", kind->name, i);
		json_object_object_add(device, "name", json_object_new_string(name));
		add_device(device, kind, &devices[i]);
		json_object_array_add(array, device);
	}
	json_object_object_add(object, "devices", array);
}

static struct json_object *phase_json(const struct sim_setup *setup, const struct sim_phase *phase)
{
	struct json_object *object = json_object_new_object(), *cores = json_object_new_array();

	json_object_object_add(object, "name", json_object_new_string(phase->name));
	add_number(object, "times", phase->times);
	add_number(object, "warm_times", phase->warm_times);
	add_number(object, "cycles", phase->cycles);
	for (uint64_t i = 0; i < setup->parameters.core_count; i++)
		json_object_array_add(cores, core_json(i, &phase->cores[i]));
	json_object_object_add(object, "cores", cores);
	add_soc_counters(add_object(object, "soc"), &phase->soc);
	add_devices(object, setup, phase->devices);
	return object;
}

/* There only if it was asked for. */
static void add_intervals(struct json_object *report, const struct sim_setup *setup)
{
	struct json_object *array;

	if (!setup->interval)
		return;
	array = json_object_new_array();
	for (uint32_t i = 0; i < setup->interval_count; i++) {
		const struct sim_interval *interval = interval_at(setup, i);
		struct json_object *object = json_object_new_object();

		add_number(object, "begin", interval->begin);
		add_number(object, "cycles", interval->cycles);
		add_core_counters(add_object(object, "cores"), &interval->cores);
		add_soc_counters(add_object(object, "soc"), &interval->soc);
		add_devices(object, setup, interval->devices);
		json_object_array_add(array, object);
	}
	add_number(report, "interval", setup->interval);
	add_number(report, "lost_intervals", setup->lost_intervals);
	json_object_object_add(report, "intervals", array);
}

static void add_parameters(struct json_object *report, const struct sim_parameters *parameters)
{
	const struct sim_parameter_description *description = sim_parameter_descriptions;
	struct json_object *all = add_object(report, "parameters"), *section = NULL;
	const char *name = "";

	for (; description->section; description++) {
		if (strcmp(name, description->section))
			section = add_object(all, description->section);
		name = description->section;
		add_number(section, description->key,
			   *(const uint64_t *)((const char *)parameters + description->offset));
	}
}

int tool_sim_report_json(FILE *file, const struct sim_report *report)
{
	const struct sim_setup *setup = report->setup;
	struct json_object *object = json_object_new_object(), *phases = json_object_new_array();
	int error = 0;

	add_number(object, "schema", SIM_SCHEMA);
	json_object_object_add(object, "program", json_object_new_string(report->program));
	json_object_object_add(object, "soc", json_object_new_string(report->soc));
	json_object_object_add(object, "end", json_object_new_string(end_text(setup)));
	add_number(object, "threads", setup->threads);
	add_number(object, "frames", setup->frames);
	add_number(object, "dirty_lines", setup->dirty_lines);
	add_number(object, "lost_phases", setup->lost_phases);
	add_number(object, "warm", setup->warm_times);
	json_object_object_add(object, "uncosted", tool_sim_uncosted_json(setup));
	for (uint32_t i = 0; i < setup->phase_count; i++)
		json_object_array_add(phases, phase_json(setup, &setup->phases[i]));
	json_object_object_add(object, "phases", phases);
	add_intervals(object, setup);
	add_parameters(object, &setup->parameters);
	/* 0, or errno now: later calls might change it. */
	if (fprintf(file, "%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY)) < 0 || fflush(file))
		error = errno ? -errno : -EIO;
	json_object_put(object);
	return error;
}
