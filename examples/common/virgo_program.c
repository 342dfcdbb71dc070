/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/virgo_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/common/progress.h"
#include "examples/common/virgo_report.h"

#define RUNS_MAX (VIRGO_TYPES * VIRGO_PROGRAM_FORMS)	/* of one program */
#define PLAIN_DIM 8	/* where there is no unit that says how it adds */

static enum status complain(const struct virgo_kernel *kernel, enum status status, const char *text)
{
	progress_clear();
	fprintf(stderr, "%s: %s\n", kernel->name, text);
	return status;
}

static const char *device_error(int error)
{
	const char *text = virgo_error_text();

	return *text ? text : strerror(-error);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int open_device(struct virgo_program *program, struct message *message)
{
	const struct common_options *common = &program->options->common;
	const struct virgo_options device = {
		.device = common->device,
		.transport = common->transport,
		.socket_path = common->socket_path,
		.config_path = common->config_path,
	};
	bool is_needed = false;
	int error;

	for (unsigned int form = 1; form < program->kernel->offer.forms; form++)
		is_needed |= program->options->form[form];
	if (!is_needed)
		return 0;
	error = virgo_open(&program->virgo, &device);
	if (error)
		return message_set(message, error, "no device: %s", device_error(error));
	snprintf(program->transport, sizeof(program->transport), "%s", virgo_transport(program->virgo));
	snprintf(program->device, sizeof(program->device), "%s", virgo_device_name(program->virgo));
	return 0;
}

/* --- units ------------------------------------------------------------------------------- */

/* Those that were named, if they are of the type; else the first ones that are. Returns how many there are. */
static unsigned int find_units(const struct virgo_program *program, enum virgo_type type, unsigned int *unit)
{
	const struct virgo_program_options *options = program->options;
	unsigned int wanted = program->kernel->offer.products, count = 0;
	struct virgo_unit_info info;

	for (unsigned int i = 0; i < wanted && options->has_units; i++) {
		if (virgo_unit_info(program->virgo, options->unit[i], &info) || info.type != type)
			return i;
		unit[count++] = options->unit[i];
	}
	for (unsigned int i = 0; i < virgo_unit_count(program->virgo) && count < wanted; i++) {
		if (virgo_unit_info(program->virgo, i, &info) == 0 && info.type == type)
			unit[count++] = i;
	}
	return count;
}

static int no_units(const struct virgo_program *program, enum virgo_type type, unsigned int found,
		    struct message *message)
{
	const struct virgo_program_options *options = program->options;
	const char *name = virgo_type_text(type);

	if (options->has_units && options->unit[found] >= virgo_unit_count(program->virgo))
		return message_set(message, -EINVAL, "--unit %u: %s has %u units", options->unit[found], program->device,
				   virgo_unit_count(program->virgo));
	if (options->has_units)
		return message_set(message, -EINVAL, "--unit %u: it is not of type %s", options->unit[found], name);
	return message_set(message, -EINVAL, "--type %s: %s has %u such units, but %u are needed", name, program->device,
			   found, program->kernel->offer.products);
}

/* --- matrices ------------------------------------------------------------------------------ */

static void *allocate(struct virgo_program *program, size_t items, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(items, size, &bytes))
		return NULL;
	return program->virgo ? virgo_alloc(program->virgo, bytes) : calloc(1, bytes);
}

static void release(struct virgo_program *program, void *memory)
{
	if (program->virgo)
		virgo_free(program->virgo, memory);
	else
		free(memory);
}

static void free_task(struct virgo_program *program, struct virgo_task *task)
{
	release(program, task->a);
	release(program, task->b);
	release(program, task->c);
	free(task->sums);
}

static int make_task(struct virgo_program *program, struct virgo_task *task, unsigned int number,
		     enum virgo_type type, struct message *message)
{
	const struct virgo_program_options *options = program->options;
	size_t m = options->m[number], n = options->n[number], k = options->k[number];
	uint64_t seed = options->common.input.seed + number;

	task->a = allocate(program, m * k, dense_element_size(type));
	task->b = allocate(program, k * n, dense_element_size(type));
	task->c = allocate(program, m * n, dense_result_size(type));
	task->sums = calloc(m * n, sizeof(float));
	if (!task->a || !task->b || !task->c || !task->sums)
		return message_set(message, -ENOMEM, "no memory for matrices of %zu by %zu by %zu", m, n, k);
	dense_fill_type(type, task->a, m * k, seed);
	dense_fill_type(type, task->b, k * n, ~seed);
	task->product = (struct dense_product){ .type = type, .m = m, .n = n, .k = k, .a = task->a, .b = task->b };
	return 0;
}

static int make_sums(struct virgo_program *program, struct virgo_task *task, struct message *message)
{
	struct virgo_unit_info info = { .dim = PLAIN_DIM };

	if (program->virgo)
		virgo_unit_info(program->virgo, task->unit, &info);
	/* Integers are the same, however they are added. */
	if (task->sums_dim && (task->sums_dim == info.dim || task->product.type == VIRGO_INT8))
		return 0;
	if (dense_plain(&task->product, info.dim, task->sums))
		return message_set(message, -ENOMEM, "out of memory for the plain loop");
	task->sums_dim = info.dim;
	return 0;
}

/* --- runs ------------------------------------------------------------------------------------ */

static int run_plain(struct virgo_program *program, struct virgo_run *run)
{
	double started = seconds();

	for (unsigned int i = 0; i < run->tasks; i++) {
		struct virgo_task *task = &run->task[i];

		task->sums_dim = 0;
		if (make_sums(program, task, &run->message))
			return -ENOMEM;
		dense_finish(&task->product, task->sums, program->kernel->is_swish, task->c);
	}
	run->seconds = seconds() - started;
	return 0;
}

/* Reads the cluster's counters, then those of the tasks' units. */
static int read_counters(const struct virgo_run *run, struct virgo_statistics *all, struct virgo_statistics *unit)
{
	int error = virgo_counters(run->virgo, VIRGO_ALL_UNITS, all);

	for (unsigned int i = 0; i < run->tasks && !error; i++)
		error = virgo_counters(run->virgo, run->task[i].unit, &unit[i]);
	return error;
}

static int run_counted(struct virgo_program *program, struct virgo_run *run)
{
	struct virgo_statistics before, unit_before[VIRGO_PROGRAM_PRODUCTS];
	double started;
	int error = read_counters(run, &before, unit_before);

	if (error)
		return error;
	started = seconds();
	error = program->kernel->run(run);
	run->seconds = seconds() - started;
	if (!error)
		error = read_counters(run, &run->counters, run->unit_counters);
	if (error)
		return error;
	virgo_report_subtract(&run->counters, &before);
	for (unsigned int i = 0; i < run->tasks; i++) {
		virgo_report_subtract(&run->unit_counters[i], &unit_before[i]);
		run->unit[i] = run->task[i].unit;
	}
	return 0;
}

static bool verify(struct virgo_program *program, struct virgo_run *run)
{
	for (unsigned int i = 0; i < run->tasks; i++) {
		struct virgo_task *task = &run->task[i];

		if (make_sums(program, task, &run->message))
			return false;
		if (program->kernel->is_swish ?
		    !dense_verify_swish(&task->product, task->c, task->sums, &run->message) :
		    !dense_verify(&task->product, task->c, task->sums, &run->message))
			return false;
	}
	return true;
}

/* The result of an earlier form must not pass for this one's. */
static void forget_results(struct virgo_run *run)
{
	for (unsigned int i = 0; i < run->tasks; i++) {
		const struct dense_product *product = &run->task[i].product;

		memset(run->task[i].c, 0xff, product->m * product->n * dense_result_size(product->type));
	}
}

static int run_form(struct virgo_program *program, struct virgo_run *run)
{
	int error;

	for (unsigned int i = 0; i < run->tasks; i++) {
		const struct dense_product *product = &run->task[i].product;

		run->macs += (uint64_t)product->m * product->n * product->k;
	}
	forget_results(run);
	run->transport = run->form ? program->transport : "none";
	error = run->form ? run_counted(program, run) : run_plain(program, run);
	if (error && run->message.text[0] == '\0')
		message_set(&run->message, error, "%s", device_error(error));
	if (!error)
		run->verified = verify(program, run);
	return error;
}

static enum status complain_of(const struct virgo_program *program, const struct virgo_run *run, const char *what)
{
	char text[640];

	snprintf(text, sizeof(text), "%s %s: %s%s", program->kernel->offer.form[run->form],
		 virgo_type_text(run->type), what, run->message.text);
	return complain(program->kernel, STATUS_FAILED, text);
}

/* If the cluster has units of all types. */
static unsigned int planned_runs(const struct virgo_program_options *options)
{
	unsigned int forms = 0, types = 0;

	for (unsigned int form = 0; form < options->offer->forms; form++)
		forms += options->form[form];
	for (unsigned int type = 0; type < VIRGO_TYPES; type++)
		types += options->type[type];
	return forms * types;
}

/* All forms of a type, behind the runs that there are. */
static enum status run_type(struct virgo_program *program, enum virgo_type type, const unsigned int *unit,
			    struct virgo_run *runs, unsigned int *count)
{
	const struct virgo_offer *offer = &program->kernel->offer;
	struct virgo_task task[VIRGO_PROGRAM_PRODUCTS] = { 0 };
	enum status status = STATUS_VERIFIED;
	struct message message;

	for (unsigned int i = 0; i < offer->products && status == STATUS_VERIFIED; i++) {
		if (make_task(program, &task[i], i, type, &message))
			status = complain(program->kernel, STATUS_FAILED, message.text);
	}
	for (unsigned int form = 0; form < offer->forms && status == STATUS_VERIFIED; form++) {
		struct virgo_run *run = &runs[*count];

		if (!program->options->form[form])
			continue;
		*run = (struct virgo_run){
			.virgo = program->virgo, .form = form, .type = type, .threads = program->options->threads,
			.task = task, .tasks = offer->products,
		};
		for (unsigned int i = 0; i < offer->products; i++)
			task[i].unit = unit[i];
		progress_show(program->kernel->name, *count, planned_runs(program->options));
		if (run_form(program, run))
			status = complain_of(program, run, "");
		run->task = NULL;
		*count += 1;
	}
	for (unsigned int i = 0; i < offer->products; i++)
		free_task(program, &task[i]);
	return status;
}

static enum status report(struct virgo_program *program, const struct virgo_run *runs, unsigned int count)
{
	enum status status = STATUS_VERIFIED;

	progress_clear();
	for (unsigned int i = 0; i < count; i++) {
		if (!runs[i].verified)
			status = complain_of(program, &runs[i], "wrong result: ");
	}
	if (virgo_report(program, runs, count))
		return complain(program->kernel, STATUS_FAILED, "cannot write to standard output");
	return status;
}

static enum status run_program(struct virgo_program *program)
{
	const struct virgo_program_options *options = program->options;
	struct virgo_run runs[RUNS_MAX];
	unsigned int count = 0, found, types = 0;
	enum status status = STATUS_VERIFIED;
	struct message message = { "" };

	for (unsigned int i = VIRGO_TYPES; i-- > 0 && status == STATUS_VERIFIED;) {
		enum virgo_type type = (enum virgo_type)i;
		unsigned int unit[VIRGO_PROGRAM_PRODUCTS] = { 0 };

		if (!options->type[type])
			continue;
		found = program->virgo ? find_units(program, type, unit) : program->kernel->offer.products;
		if (found < program->kernel->offer.products) {
			no_units(program, type, found, &message);
			if (options->has_types)
				return complain(program->kernel, STATUS_BAD_INPUT, message.text);
			continue;
		}
		types++;
		status = run_type(program, type, unit, runs, &count);
	}
	if (status != STATUS_VERIFIED)
		return status;
	if (!types)
		return complain(program->kernel, STATUS_BAD_INPUT, message.text);
	return report(program, runs, count);
}

int virgo_program_main(const struct virgo_kernel *kernel, int argc, char **argv)
{
	struct virgo_program_options options;
	struct virgo_program program = { .kernel = kernel, .options = &options };
	struct message message;
	enum status status;
	int error;

	if (virgo_options_parse(&options, &kernel->offer, argc, argv, &message)) {
		complain(kernel, STATUS_BAD_INPUT, message.text);
		return STATUS_BAD_INPUT;
	}
	if (options.common.help) {
		virgo_options_help(kernel->name, kernel->summary, &kernel->offer);
		return STATUS_VERIFIED;
	}
	error = open_device(&program, &message);
	if (error)
		return complain(kernel, status_of_error(&options.common, error), message.text);
	status = run_program(&program);
	virgo_close(program.virgo);
	return status;
}
