/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/dare_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "examples/common/json.h"

static double rate(const struct dare_run *run)
{
	return run->seconds > 0 ? (double)run->macs / run->seconds : 0;
}

/* Utilisation of the processing elements: products done of those that the same instructions could do. */
static double utilisation(const struct dare_run *run)
{
	return run->counters.macs_offered ?
		(double)run->counters.macs_used / (double)run->counters.macs_offered : 0;
}

static void input_text(const struct dare_program *program, char *name, size_t size)
{
	if (program->has_matrix)
		input_name(&program->options->common.input, name, size);
	else
		snprintf(name, size, "random matrices");
}

/* The block sizes, each once. */
static const struct dare_run *first_of_block(const struct dare_run *runs, unsigned int i)
{
	if (runs[i].block == 0)
		return NULL;
	for (unsigned int before = 0; before < i; before++) {
		if (runs[before].block == runs[i].block)
			return NULL;
	}
	return &runs[i];
}

static void print_blocks(const struct dare_run *runs, unsigned int count)
{
	bool has_header = false;

	for (unsigned int i = 0; i < count; i++) {
		const struct dare_run *run = first_of_block(runs, i);

		if (!run)
			continue;
		if (!has_header)
			printf("%5s %8s %7s %8s %8s %8s  %s\n", "block", "blocks", "fill", "runs", "groups", "ms",
			       "blocks by fill, from up to 1/16 to full");
		has_header = true;
		printf("%5u %8" PRIu64 " %6.2f%% %8" PRIu64 " %8" PRIu64 " %8.3f ", run->block,
		       run->statistics.blocks, 100 * run->statistics.fill, run->statistics.runs,
		       run->statistics.groups, 1000 * run->blockify_seconds);
		for (unsigned int class = 0; class < DARE_FILL_CLASSES; class++)
			printf(" %" PRIu64, run->statistics.histogram[class]);
		putchar('\n');
	}
}

/* The first columns of both tables: the form, and its block size or type. */
static void print_form(const struct dare_kernel *kernel, const struct dare_run *run)
{
	char variant[16] = "-";

	if (!kernel->is_sparse)
		snprintf(variant, sizeof(variant), "%s", dare_type_name(run->type));
	else if (run->block)
		snprintf(variant, sizeof(variant), "%u", run->block);
	printf("%-8s %5s", dare_form_name(run->form), variant);
}

static void print_runs(const struct dare_kernel *kernel, const struct dare_run *runs, unsigned int count)
{
	printf("%-8s %5s %-9s %-8s %10s %9s %12s %12s %7s %6s\n", "form", kernel->is_sparse ? "block" : "type",
	       "transport", "verified", "ms", "MACs/s", "MACs used", "offered", "PE %", "faults");
	for (unsigned int i = 0; i < count; i++) {
		const struct dare_statistics *c = &runs[i].counters;

		print_form(kernel, &runs[i]);
		printf(" %-9s %-8s %10.3f %9.4g %12" PRIu64 " %12" PRIu64 " %7.3f %6" PRIu64 "\n", runs[i].transport,
		       runs[i].verified ? "yes" : "NO", 1000 * runs[i].seconds, rate(&runs[i]), c->macs_used,
		       c->macs_offered, 100 * utilisation(&runs[i]), c->faults);
	}
}

static void print_instructions(const struct dare_kernel *kernel, const struct dare_run *runs, unsigned int count)
{
	printf("%-8s %5s %9s %8s %8s %8s %8s %8s %8s %9s %11s\n", "form", kernel->is_sparse ? "block" : "type",
	       "instrs", "mcfg", "mld", "mst", "mma", "mgather", "mscatter", "rows read", "bytes read");
	for (unsigned int i = 0; i < count; i++) {
		const struct dare_statistics *c = &runs[i].counters;

		if (runs[i].form == PROGRAM_PLAIN)
			continue;
		print_form(kernel, &runs[i]);
		printf(" %9" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %9" PRIu64
		       " %11" PRIu64 "\n", c->instructions, c->mcfg, c->mld, c->mst, c->mma, c->mgather, c->mscatter,
		       c->rows_loaded, c->bytes_loaded);
	}
}

static void print_table(const struct dare_kernel *kernel, const struct dare_program *program, void *state,
			const struct dare_run *runs, unsigned int count)
{
	char name[256], text[256];

	input_text(program, name, sizeof(name));
	kernel->describe(state, text, sizeof(text));
	printf("%s of %s: %s\n", kernel->name, name, text);
	print_blocks(runs, count);
	print_runs(kernel, runs, count);
	print_instructions(kernel, runs, count);
}

static struct json_object *block_object(const struct dare_run *run)
{
	struct json_object *object = json_object_new_object();
	struct json_object *histogram = json_object_new_array();

	add_u64(object, "block", run->block);
	add_u64(object, "blocks", run->statistics.blocks);
	add_real(object, "fill", run->statistics.fill);
	add_u64(object, "runs", run->statistics.runs);
	add_u64(object, "groups", run->statistics.groups);
	add_real(object, "seconds", run->blockify_seconds);
	for (unsigned int class = 0; class < DARE_FILL_CLASSES; class++)
		json_object_array_add(histogram, json_object_new_uint64(run->statistics.histogram[class]));
	json_object_object_add(object, "histogram", histogram);
	return object;
}

static struct json_object *counters_object(const struct dare_statistics *counters)
{
	struct json_object *object = json_object_new_object();

#pragma push_macro("_")
#undef _
#define _(name, meaning) add_u64(object, #name, counters->name);
	DARE_COUNTERS(_)
#pragma pop_macro("_")
	return object;
}

static struct json_object *run_object(const struct dare_kernel *kernel, const struct dare_program *program,
				      const struct dare_run *run)
{
	struct json_object *object = json_object_new_object();

	add_text(object, "form", dare_form_name(run->form));
	if (kernel->is_sparse)
		add_u64(object, "block", run->block);
	else
		add_text(object, "type", dare_type_name(run->type));
	add_text(object, "transport", run->transport);
	add_text(object, "device", run->form == PROGRAM_PLAIN ? "" : program->device);
	json_object_object_add(object, "verified", json_object_new_boolean(run->verified));
	if (!run->verified)
		add_text(object, "error", run->message.text);
	add_u64(object, "macs", run->macs);
	add_real(object, "macs_per_second", rate(run));
	add_real(object, "seconds", run->seconds);
	add_real(object, "utilisation", utilisation(run));
	json_object_object_add(object, "counters", counters_object(&run->counters));
	return object;
}

static void print_json(const struct dare_kernel *kernel, const struct dare_program *program, void *state,
		       const struct dare_run *runs, unsigned int count)
{
	struct json_object *report = json_object_new_object();
	struct json_object *blocks = json_object_new_array(), *list = json_object_new_array();
	char name[256], text[256];

	input_text(program, name, sizeof(name));
	kernel->describe(state, text, sizeof(text));
	add_text(report, "kernel", kernel->name);
	add_text(report, "input", name);
	add_text(report, "description", text);
	if (program->has_matrix) {
		add_u64(report, "rows", program->matrix.rows);
		add_u64(report, "columns", program->matrix.columns);
		add_u64(report, "nonzeros", program->matrix.nonzeros);
	}
	for (unsigned int i = 0; i < count; i++) {
		if (first_of_block(runs, i))
			json_object_array_add(blocks, block_object(&runs[i]));
		json_object_array_add(list, run_object(kernel, program, &runs[i]));
	}
	json_object_object_add(report, "blocks", blocks);
	json_object_object_add(report, "runs", list);
	puts(json_object_to_json_string_ext(report, JSON_C_TO_STRING_PRETTY));
	json_object_put(report);
}

int dare_report(const struct dare_kernel *kernel, const struct dare_program *program, void *state,
		const struct dare_run *runs, unsigned int count)
{
	if (program->options->common.json)
		print_json(kernel, program, state, runs, count);
	else
		print_table(kernel, program, state, runs, count);
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}
