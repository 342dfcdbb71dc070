/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "examples/common/json.h"

#define COUNTER(name) { #name, offsetof(struct maple_counters, name) }

static const struct {
	const char *name;
	size_t offset;
} counter_list[] = {
	COUNTER(produced), COUNTER(consumed), COUNTER(fetched), COUNTER(prefetched),
	COUNTER(atomics), COUNTER(lima_loops), COUNTER(lima_dropped), COUNTER(lima_chunks),
	COUNTER(tlb_hits), COUNTER(tlb_misses), COUNTER(faults), COUNTER(shootdowns),
	COUNTER(store_waits), COUNTER(load_waits), COUNTER(illegal), COUNTER(hangs),
};

#define COUNTERS (sizeof(counter_list) / sizeof(counter_list[0]))

static uint64_t *counter(struct maple_counters *counters, size_t number)
{
	return (uint64_t *)((char *)counters + counter_list[number].offset);
}

void counters_subtract(struct maple_counters *after, const struct maple_counters *before)
{
	struct maple_counters copy = *before;

	for (size_t i = 0; i < COUNTERS; i++)
		*counter(after, i) -= *counter(&copy, i);
}

static double rate(const struct run *run)
{
	return run->seconds > 0 ? (double)run->elements / run->seconds : 0;
}

static int flush(void)
{
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}

static void table_line(const struct run *run)
{
	const struct maple_counters *c = &run->counters;

	printf("%-9s %-9s %-8s %9.4g %9.4g %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %6" PRIu64 "\n",
	       form_name(run->form), run->transport, run->verified ? "yes" : "NO", rate(run), run->seconds,
	       c->produced, c->consumed, c->fetched, c->tlb_misses, c->faults);
}

int report_table(const struct kernel *kernel, const struct csr *matrix, const struct run *runs,
		 unsigned int count)
{
	char name[256];

	input_name(&runs[0].options->common.input, name, sizeof(name));
	printf("%s of %s: %" PRIu64 " by %" PRIu64 ", %" PRIu64 " non-zeros; rates are %s per second\n", kernel->name,
	       name, matrix->rows, matrix->columns, matrix->nonzeros, kernel->unit);
	printf("%-9s %-9s %-8s %9s %9s %10s %10s %10s %10s %6s\n", "form", "transport", "verified", "rate",
	       "seconds", "produced", "consumed", "fetched", "TLB misses", "faults");
	for (unsigned int i = 0; i < count; i++)
		table_line(&runs[i]);
	for (unsigned int i = 0; i < count; i++) {
		if (runs[i].roots)
			printf("%s: %u searches, %.4g traversed edges per second (harmonic mean)\n",
			       form_name(runs[i].form), runs[i].roots, runs[i].teps);
	}
	return flush();
}

static struct json_object *form_object(const struct run *run)
{
	struct json_object *object = json_object_new_object();
	struct json_object *counters = json_object_new_object();
	struct maple_counters copy = run->counters;

	add_text(object, "form", form_name(run->form));
	add_text(object, "transport", run->transport);
	add_text(object, "device", run->device);
	json_object_object_add(object, "verified", json_object_new_boolean(run->verified));
	if (!run->verified)
		add_text(object, "error", run->message.text);
	add_u64(object, "elements", run->elements);
	add_real(object, "elements_per_second", rate(run));
	add_real(object, "seconds", run->seconds);
	if (run->roots) {
		add_u64(object, "roots", run->roots);
		add_real(object, "teps_harmonic_mean", run->teps);
	}
	for (size_t i = 0; i < COUNTERS; i++)
		add_u64(counters, counter_list[i].name, *counter(&copy, i));
	json_object_object_add(object, "counters", counters);
	return object;
}

int report_json(const struct kernel *kernel, const struct csr *matrix, const struct run *runs,
		unsigned int count)
{
	struct json_object *report = json_object_new_object();
	struct json_object *forms = json_object_new_array();
	char name[256];

	input_name(&runs[0].options->common.input, name, sizeof(name));
	add_text(report, "kernel", kernel->name);
	add_text(report, "input", name);
	add_u64(report, "rows", matrix->rows);
	add_u64(report, "columns", matrix->columns);
	add_u64(report, "nonzeros", matrix->nonzeros);
	add_text(report, "unit", kernel->unit);
	for (unsigned int i = 0; i < count; i++)
		json_object_array_add(forms, form_object(&runs[i]));
	json_object_object_add(report, "forms", forms);
	puts(json_object_to_json_string_ext(report, JSON_C_TO_STRING_PRETTY));
	json_object_put(report);
	return flush();
}
