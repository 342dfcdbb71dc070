/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mimic compare: two reports of mimic sim, phase by phase. Each cycle of a core has one
 * cause: an instruction, a wait, or nothing to do. So the changes of the causes add up to the change of
 * the cores' cycles, and the largest one is why.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/tools.h"
#include "tools/sim/point.h"

#define PHASES_MAX 64
#define CAUSES 7

static const char usage[] =
	"Usage: mimic compare [OPTION...] A B\n\n"
	"Compares two reports of mimic sim (--json -o FILE): which parameters differ, and of each phase\n"
	"how its cycles moved, why (cycles of all cores by the cause of waits), and which counters\n"
	"moved by 1 % and more.\n\n"
	"  --phase NAME       this phase only\n"
	"  --all              counters that moved by less, too\n"
	"  --help             this text\n\n"
	"The exit status is 0 if the reports can be compared, and 2 if not.\n";

struct report {
	const char *path;
	struct json_object *object;
	struct sim_point points[PHASES_MAX];
	unsigned int count;
};

struct cause {
	const char *name;
	uint64_t one, other;
};

static int read_report(struct report *report, const char *path)
{
	int found = tool_sim_point_read(path, report->points, PHASES_MAX);

	report->path = path;
	if (found == -EINVAL)
		return tool_error(EXIT_BAD_INPUT, "%s: no report of mimic sim --json, or of another schema", path);
	if (found == -EPROTO)
		return tool_error(EXIT_BAD_INPUT, "%s: its program did not come to its end", path);
	if (found < 0)
		return tool_error(EXIT_BAD_INPUT, "%s: %s", path, strerror(-found));
	report->count = found < PHASES_MAX ? (unsigned int)found : PHASES_MAX;
	report->object = json_object_from_file(path);
	return report->object ? 0 : tool_error(EXIT_FAILURE, "%s: out of memory", path);
}

/* May be below 0. */
static double change(uint64_t one, uint64_t other)
{
	return (double)other - (double)one;
}

static double percent(uint64_t one, uint64_t other)
{
	return one ? 100 * change(one, other) / (double)one : 0;
}

/* --- parameters ------------------------------------------------------------------------ */

static struct json_object *field(struct json_object *object, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(object, name, &value) ? value : NULL;
}

static const char *text(struct json_object *value)
{
	return value ? json_object_get_string(value) : "-";
}

/* A value that both reports have by one name. */
static void print_difference(const char *name, struct json_object *one, struct json_object *other)
{
	if (strcmp(text(one), text(other)))
		printf("  %-24s %14s %14s\n", name, text(one), text(other));
}

static void print_parameters(const struct report *one, const struct report *other)
{
	struct json_object *sections = field(one->object, "parameters"), *others = field(other->object, "parameters");

	print_difference("program", field(one->object, "program"), field(other->object, "program"));
	print_difference("soc", field(one->object, "soc"), field(other->object, "soc"));
	print_difference("warm", field(one->object, "warm"), field(other->object, "warm"));
	if (!json_object_is_type(sections, json_type_object))
		return;
	json_object_object_foreach(sections, section, keys) {
		if (!json_object_is_type(keys, json_type_object))
			continue;
		json_object_object_foreach(keys, key, value) {
			char name[128];

			snprintf(name, sizeof(name), "%s.%s", section, key);
			print_difference(name, value, field(field(others, section), key));
		}
	}
}

/* --- a phase ------------------------------------------------------------------------------- */

static int by_change(const void *one, const void *other)
{
	const struct cause *a = one, *b = other;
	double first = change(a->one, a->other), second = change(b->one, b->other);

	first = first < 0 ? -first : first;
	second = second < 0 ? -second : second;
	return (first < second) - (first > second);
}

static uint64_t rest(const struct sim_point *point)
{
	const struct soc_core_counters *cores = &point->cores;
	uint64_t known = point->instruction_cycles + cores->load_stalls + cores->store_stalls + cores->mmio_stalls +
			 cores->walk_cycles + cores->pipeline_stalls;

	return point->core_cycles > known ? point->core_cycles - known : 0;
}

static void print_causes(const struct sim_point *one, const struct sim_point *other)
{
	struct cause causes[CAUSES] = {
		{ "instructions", one->instruction_cycles, other->instruction_cycles },
		{ "loads wait for memory", one->cores.load_stalls, other->cores.load_stalls },
		{ "stores wait for room", one->cores.store_stalls, other->cores.store_stalls },
		{ "waits for the device", one->cores.mmio_stalls, other->cores.mmio_stalls },
		{ "branches, multiplications", one->cores.pipeline_stalls, other->cores.pipeline_stalls },
		{ "walks of the page table", one->cores.walk_cycles, other->cores.walk_cycles },
		{ "nothing to do", rest(one), rest(other) },
	};
	double all = change(one->core_cycles, other->core_cycles);

	qsort(causes, CAUSES, sizeof(causes[0]), by_change);
	printf("  %-24s %14s %14s %14s %8s\n", "cycles of all cores", "A", "B", "B - A", "of it");
	for (int i = 0; i < CAUSES; i++) {
		double moved = change(causes[i].one, causes[i].other);

		if (!causes[i].one && !causes[i].other)
			continue;
		printf("  %-24s %14" PRIu64 " %14" PRIu64 " %+14.0f", causes[i].name, causes[i].one, causes[i].other, moved);
		if (all != 0)
			printf(" %6.1f %%", 100 * moved / all + 0.0);
		putchar('\n');
	}
	printf("  %-24s %14" PRIu64 " %14" PRIu64 " %+14.0f\n", "all", one->core_cycles, other->core_cycles, all);
}

static void print_counter(const char *kind, const char *name, uint64_t one, uint64_t other, bool all)
{
	uint64_t largest = one > other ? one : other;
	double moved = change(one, other);
	char whole[96];

	if (one == other || (!all && (moved < 0 ? -moved : moved) < 0.01 * (double)largest))
		return;
	snprintf(whole, sizeof(whole), "%s%s%s", kind, *kind ? "." : "", name);
	printf("  %-24s %14" PRIu64 " %14" PRIu64 " %+14.0f", whole, one, other, moved);
	if (one)
		printf(" %+6.1f %%", percent(one, other));
	putchar('\n');
}

static void print_latency(const struct sim_point *one, const struct sim_point *other)
{
	double first = one->cores.loads ? (double)one->cores.load_cycles / (double)one->cores.loads : 0;
	double second = other->cores.loads ? (double)other->cores.load_cycles / (double)other->cores.loads : 0;

	printf("  %-24s %14.2f %14.2f %+14.2f\n", "mean latency of loads", first, second, second - first);
}

/* The phase of this name in a report; NULL: it has none. */
static struct json_object *phase_of(const struct report *report, const char *name)
{
	struct json_object *phases = field(report->object, "phases");
	size_t count = json_object_is_type(phases, json_type_array) ? json_object_array_length(phases) : 0;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(text(field(json_object_array_get_idx(phases, i), "name")), name))
			return json_object_array_get_idx(phases, i);
	return NULL;
}

/* The device of this name in a phase, where a SoC has several; NULL: it has none. */
static struct json_object *device_of(struct json_object *phase, const char *name)
{
	struct json_object *devices = field(phase, "devices");
	size_t count = json_object_is_type(devices, json_type_array) ? json_object_array_length(devices) : 0;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(text(field(json_object_array_get_idx(devices, i), "name")), name))
			return json_object_array_get_idx(devices, i);
	return NULL;
}

/* Of each device that both have. */
static void print_devices(struct json_object *one, struct json_object *other, bool all)
{
	struct sim_point_column columns[SIM_POINT_COLUMNS];
	unsigned int count = tool_sim_point_columns(columns);
	struct json_object *devices = field(one, "devices");
	size_t device_count = json_object_is_type(devices, json_type_array) ? json_object_array_length(devices) : 0;

	for (size_t i = 0; i < device_count; i++) {
		struct json_object *device = json_object_array_get_idx(devices, i);
		const char *name = text(field(device, "name"));
		struct json_object *partner = device_of(other, name);

		for (unsigned int column = 0; partner && column < count; column++) {
			const char *part = columns[column].part, *counter = columns[column].counter;

			print_counter(name, counter, json_object_get_uint64(field(field(device, part), counter)),
				      json_object_get_uint64(field(field(partner, part), counter)), all);
		}
	}
}

static void print_counters(const struct sim_point *one, const struct sim_point *other, bool all)
{
	struct sim_point_column columns[SIM_POINT_COLUMNS];
	unsigned int count = tool_sim_point_columns(columns);

	printf("  counters\n");
	print_latency(one, other);
#define _(name, meaning) print_counter("", #name, one->cores.name, other->cores.name, all);
	SOC_CORE_COUNTERS(_)
#undef _
#define _(name, meaning) print_counter("soc", #name, one->soc.name, other->soc.name, all);
	SOC_COUNTERS(_)
#undef _
	for (unsigned int i = 0; i < count; i++)
		print_counter(columns[i].part, columns[i].counter, one->device[i], other->device[i], all);
}

static void print_phase(const struct report *report, const struct report *partner, const struct sim_point *one,
			const struct sim_point *other, bool all)
{
	printf("\n%s: %" PRIu64 " -> %" PRIu64 " cycles, %+.1f %%", one->phase, one->cycles, other->cycles,
	       percent(one->cycles, other->cycles));
	if (one->cycles && other->cycles && one->cycles != other->cycles)
		printf(", %.2f times as fast", (double)one->cycles / (double)other->cycles);
	putchar('\n');
	print_causes(one, other);
	print_counters(one, other, all);
	print_devices(phase_of(report, one->phase), phase_of(partner, one->phase), all);
}

/* --- all of them ----------------------------------------------------------------------------- */

static const struct sim_point *find(const struct report *report, const char *phase)
{
	for (unsigned int i = 0; i < report->count; i++)
		if (!strcmp(report->points[i].phase, phase))
			return &report->points[i];
	return NULL;
}

static void tell_alone(const struct report *report, const struct report *other, const char *wanted)
{
	for (unsigned int i = 0; i < report->count; i++)
		if (!find(other, report->points[i].phase) && (!wanted || !strcmp(wanted, report->points[i].phase)))
			printf("\n%s: only in %s\n", report->points[i].phase, report->path);
}

static int compare(const struct report *one, const struct report *other, const char *wanted, bool all)
{
	if (wanted && !find(one, wanted) && !find(other, wanted))
		return tool_error(EXIT_BAD_INPUT, "compare: no report has a phase %s", wanted);
	printf("A: %s\nB: %s\n", one->path, other->path);
	print_parameters(one, other);
	for (unsigned int i = 0; i < one->count; i++) {
		const struct sim_point *partner = find(other, one->points[i].phase);

		if (partner && (!wanted || !strcmp(wanted, partner->phase)))
			print_phase(one, other, &one->points[i], partner, all);
	}
	tell_alone(one, other, wanted);
	tell_alone(other, one, wanted);
	return fflush(stdout) || ferror(stdout) ? tool_error(EXIT_FAILURE, "compare: cannot write") : 0;
}

int tool_compare(int argc, char **argv)
{
	static struct report one, other;
	const char *phase = NULL;
	bool all = false;
	const struct mimic_option list[] = {
		{ .name = "phase", .value = &phase },
		{ .name = "all", .flag = &all },
	};
	int status = tool_options(argc, argv, usage, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]));

	if (!status)
		status = tool_words(argc, argv, 2, 2);
	if (!status)
		status = read_report(&one, argv[optind]);
	if (!status)
		status = read_report(&other, argv[optind + 1]);
	if (!status)
		status = compare(&one, &other, phase, all);
	json_object_put(one.object);
	json_object_put(other.object);
	return status;
}
