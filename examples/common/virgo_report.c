/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/virgo_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "examples/common/json.h"

static double rate(const struct virgo_run *run)
{
	return run->seconds > 0 ? (double)run->macs / run->seconds : 0;
}

static const char *form_name(const struct virgo_program *program, const struct virgo_run *run)
{
	return program->kernel->offer.form[run->form];
}

/* The units that worked, each once. */
static void units_text(const struct virgo_run *run, char *text, size_t size)
{
	if (!run->form)
		snprintf(text, size, "-");
	else if (run->tasks > 1 && run->unit[0] != run->unit[1])
		snprintf(text, size, "%u,%u", run->unit[0], run->unit[1]);
	else
		snprintf(text, size, "%u", run->unit[0]);
}

static void describe(const struct virgo_program *program, char *text, size_t size)
{
	const struct virgo_program_options *o = program->options;
	unsigned int count = program->kernel->offer.products;
	int used = 0;

	for (unsigned int i = 0; i < count && used >= 0 && (size_t)used < size; i++)
		used += snprintf(text + used, size - (size_t)used, "%sA %zu x %zu, B %zu x %zu",
				 i ? "; " : "", o->m[i], o->k[i], o->k[i], o->n[i]);
}

void virgo_report_subtract(struct virgo_statistics *after, const struct virgo_statistics *before)
{
#pragma push_macro("_")
#undef _
#define _(name, meaning) after->name -= before->name;
	VIRGO_COUNTERS(_)
#pragma pop_macro("_")
}

/* --- tables ------------------------------------------------------------------------------ */

static void print_runs(const struct virgo_program *program, const struct virgo_run *runs, unsigned int count)
{
	printf("%-8s %-4s %-5s %-9s %-8s %10s %9s %7s %7s\n", "form", "type", "units", "transport", "verified", "ms",
	       "MACs/s", "faults", "errors");
	for (unsigned int i = 0; i < count; i++) {
		char units[16];

		units_text(&runs[i], units, sizeof(units));
		printf("%-8s %-4s %-5s %-9s %-8s %10.3f %9.4g %7" PRIu64 " %7" PRIu64 "\n", form_name(program, &runs[i]),
		       virgo_type_text(runs[i].type), units, runs[i].transport, runs[i].verified ? "yes" : "NO",
		       1000 * runs[i].seconds, rate(&runs[i]), runs[i].counters.faults, runs[i].counters.errors);
	}
}

static void print_counters(const struct virgo_program *program, const struct virgo_run *runs, unsigned int count)
{
	bool has_header = false;

	for (unsigned int i = 0; i < count; i++) {
		const struct virgo_statistics *c = &runs[i].counters;

		if (!runs[i].form)
			continue;
		if (!has_header)
			printf("%-8s %-4s %8s %8s %12s %10s %10s %11s %11s %6s\n", "form", "type", "commands", "tiles",
			       "MACs", "DMA read", "written", "shared read", "written", "polls");
		has_header = true;
		printf("%-8s %-4s %8" PRIu64 " %8" PRIu64 " %12" PRIu64 " %10" PRIu64 " %10" PRIu64 " %11" PRIu64
		       " %11" PRIu64 " %6" PRIu64 "\n", form_name(program, &runs[i]), virgo_type_text(runs[i].type),
		       c->commands, c->tiles, c->macs, c->dma_bytes_read, c->dma_bytes_written, c->shared_bytes_read,
		       c->shared_bytes_written, c->polls);
	}
}

static void print_tables(const struct virgo_program *program, const struct virgo_run *runs, unsigned int count)
{
	char text[256];

	describe(program, text, sizeof(text));
	printf("%s of random matrices: %s\n", program->kernel->name, text);
	print_runs(program, runs, count);
	print_counters(program, runs, count);
}

/* --- JSON ---------------------------------------------------------------------------------- */

struct json_object *virgo_report_counters(const struct virgo_statistics *counters)
{
	struct json_object *object = json_object_new_object();

#pragma push_macro("_")
#undef _
#define _(name, meaning) add_u64(object, #name, counters->name);
	VIRGO_COUNTERS(_)
#pragma pop_macro("_")
	return object;
}

static struct json_object *units_array(const struct virgo_run *run)
{
	struct json_object *array = json_object_new_array();

	for (unsigned int i = 0; i < run->tasks && run->form; i++) {
		struct json_object *object;

		if (i && run->unit[i] == run->unit[0])
			continue;
		object = json_object_new_object();
		add_u64(object, "unit", run->unit[i]);
		json_object_object_add(object, "counters", virgo_report_counters(&run->unit_counters[i]));
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *run_object(const struct virgo_program *program, const struct virgo_run *run)
{
	struct json_object *object = json_object_new_object();

	add_text(object, "form", form_name(program, run));
	add_text(object, "type", virgo_type_text(run->type));
	add_text(object, "transport", run->transport);
	add_text(object, "device", run->form ? program->device : "");
	json_object_object_add(object, "verified", json_object_new_boolean(run->verified));
	if (!run->verified)
		add_text(object, "error", run->message.text);
	add_u64(object, "macs", run->macs);
	add_real(object, "macs_per_second", rate(run));
	add_real(object, "seconds", run->seconds);
	json_object_object_add(object, "counters", virgo_report_counters(&run->counters));
	json_object_object_add(object, "units", units_array(run));
	return object;
}

static void print_json(const struct virgo_program *program, const struct virgo_run *runs, unsigned int count)
{
	struct json_object *report = json_object_new_object(), *list = json_object_new_array();
	char text[256];

	describe(program, text, sizeof(text));
	add_text(report, "kernel", program->kernel->name);
	add_text(report, "input", "random matrices");
	add_text(report, "description", text);
	add_u64(report, "threads", program->options->threads);
	for (unsigned int i = 0; i < count; i++)
		json_object_array_add(list, run_object(program, &runs[i]));
	json_object_object_add(report, "runs", list);
	puts(json_object_to_json_string_ext(report, JSON_C_TO_STRING_PRETTY));
	json_object_put(report);
}

int virgo_report(const struct virgo_program *program, const struct virgo_run *runs, unsigned int count)
{
	if (program->options->common.json)
		print_json(program, runs, count);
	else
		print_tables(program, runs, count);
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}
