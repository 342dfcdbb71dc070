/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/dare_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/common/dare_report.h"
#include "examples/common/progress.h"

static enum status complain(const struct dare_kernel *kernel, enum status status, const char *text)
{
	progress_clear();
	fprintf(stderr, "%s: %s\n", kernel->name, text);
	return status;
}

static const char *device_error(int error)
{
	const char *text = dare_error_text();

	return *text ? text : strerror(-error);
}

double dare_program_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

enum dare_form dare_program_form(enum dare_program_form form)
{
	return form == PROGRAM_GSA ? DARE_GSA : form == PROGRAM_AUTO ? DARE_AUTO : DARE_BASELINE;
}

void *dare_program_alloc(struct dare_program *program, size_t items, size_t size, const char *what,
			 struct message *message)
{
	void *memory = NULL;
	size_t bytes;

	if (items == 0)
		items = 1;
	errno = ENOMEM;
	if (!__builtin_mul_overflow(items, size, &bytes))
		memory = program->dare ? dare_alloc(program->dare, bytes) : calloc(items, size);
	if (!memory)
		message_set(message, -ENOMEM, "no memory for %s (%zu elements): %s", what, items, strerror(errno));
	return memory;
}

void dare_program_free(struct dare_program *program, void *memory)
{
	if (program->dare)
		dare_free(program->dare, memory);
	else
		free(memory);
}

static bool needs_device(const struct dare_program_options *options)
{
	for (int form = PROGRAM_BASELINE; form < PROGRAM_FORMS; form++) {
		if (options->form[form])
			return true;
	}
	return false;
}

static int open_device(struct dare_program *program, struct message *message)
{
	const struct dare_program_options *options = program->options;
	const struct dare_options device = {
		.device = options->common.device,
		.transport = options->common.transport,
		.socket_path = options->common.socket_path,
		.config_path = options->common.config_path,
	};
	int error;

	strcpy(program->transport, "none");
	if (!needs_device(options))
		return 0;
	error = dare_open(&program->dare, &device);
	if (error)
		return message_set(message, error, "no device: %s", device_error(error));
	snprintf(program->transport, sizeof(program->transport), "%s", dare_transport(program->dare));
	snprintf(program->device, sizeof(program->device), "%s", dare_device_name(program->dare));
	return 0;
}

static void subtract(struct dare_statistics *after, const struct dare_statistics *before)
{
#pragma push_macro("_")
#undef _
#define _(name, meaning) after->name -= before->name;
	DARE_COUNTERS(_)
#pragma pop_macro("_")
}

static int run_counted(const struct dare_kernel *kernel, struct dare_program *program, void *state,
		       struct dare_run *run)
{
	struct dare_statistics before;
	int error;

	run->transport = run->form == PROGRAM_PLAIN ? "none" : program->transport;
	if (run->form == PROGRAM_PLAIN)
		return kernel->run(state, run);
	error = dare_counters(program->dare, &before);
	if (!error)
		error = kernel->run(state, run);
	if (!error)
		error = dare_counters(program->dare, &run->counters);
	if (!error)
		subtract(&run->counters, &before);
	else if (run->message.text[0] == '\0')
		message_set(&run->message, error, "%s", device_error(error));
	return error;
}

/* Lists the runs. The plain form has neither blocks nor a second type. */
static unsigned int list_runs(const struct dare_kernel *kernel, const struct dare_program_options *options,
			      struct dare_run *runs)
{
	unsigned int count = 0, variants = kernel->is_sparse ? PROGRAM_BLOCKS : PROGRAM_TYPES;

	if (options->form[PROGRAM_PLAIN])
		runs[count++].form = PROGRAM_PLAIN;
	for (unsigned int variant = 0; variant < variants; variant++) {
		for (int form = PROGRAM_BASELINE; form < PROGRAM_FORMS; form++) {
			struct dare_run *run = &runs[count];

			if (!options->form[form] || !(kernel->is_sparse ? options->block : options->type)[variant])
				continue;
			if (!kernel->is_sparse && form != PROGRAM_BASELINE)
				continue;
			run->form = (enum dare_program_form)form;
			if (kernel->is_sparse)
				run->block = 1u << variant;
			else
				run->type = (enum dare_program_type)variant;
			count++;
		}
	}
	return count;
}

/* An error, with the run that has it. */
static enum status complain_of(const struct dare_kernel *kernel, enum status status, const struct dare_run *run,
			       const char *what)
{
	char variant[16] = "", text[640];

	if (!kernel->is_sparse)
		snprintf(variant, sizeof(variant), " %s", dare_type_name(run->type));
	else if (run->block)
		snprintf(variant, sizeof(variant), " B=%u", run->block);
	snprintf(text, sizeof(text), "%s%s: %s%s", dare_form_name(run->form), variant, what, run->message.text);
	return complain(kernel, status, text);
}

static enum status report(const struct dare_kernel *kernel, struct dare_program *program, void *state,
			  const struct dare_run *runs, unsigned int count)
{
	enum status status = STATUS_VERIFIED;

	progress_clear();
	for (unsigned int i = 0; i < count; i++) {
		if (!runs[i].verified)
			status = complain_of(kernel, STATUS_FAILED, &runs[i], "wrong result: ");
	}
	if (dare_report(kernel, program, state, runs, count))
		return complain(kernel, STATUS_FAILED, "cannot write to standard output");
	return status;
}

static enum status run_all(const struct dare_kernel *kernel, struct dare_program *program, void *state)
{
	struct dare_run *runs = calloc(1 + PROGRAM_FORMS * PROGRAM_BLOCKS, sizeof(*runs));
	enum status status;
	unsigned int count;

	if (!runs)
		return complain(kernel, STATUS_FAILED, "out of memory");
	count = list_runs(kernel, program->options, runs);
	for (unsigned int i = 0; i < count; i++) {
		int error;

		progress_show(kernel->name, i, count);
		error = run_counted(kernel, program, state, &runs[i]);
		if (!error)
			continue;
		status = status_of_error(&program->options->common, error);
		complain_of(kernel, status, &runs[i], "");
		free(runs);
		return status;
	}
	status = report(kernel, program, state, runs, count);
	free(runs);
	return status;
}

static enum status run_program(const struct dare_kernel *kernel, struct dare_program *program)
{
	struct message message;
	enum status status;
	void *state;
	int error;

	if (program->has_matrix && input_load(&program->matrix, &program->options->common.input, &message))
		return complain(kernel, STATUS_BAD_INPUT, message.text);
	error = open_device(program, &message);
	if (error)
		return complain(kernel, status_of_error(&program->options->common, error),
				message.text);
	state = kernel->create(program, &message);
	if (!state)
		return complain(kernel, STATUS_BAD_INPUT, message.text);
	status = run_all(kernel, program, state);
	kernel->destroy(state);
	return status;
}

int dare_program_main(const struct dare_kernel *kernel, int argc, char **argv)
{
	struct dare_program_options options;
	struct dare_program program = { .options = &options };
	struct message message;
	enum status status;

	if (dare_options_parse(&options, kernel->is_sparse, argc, argv, &message)) {
		complain(kernel, STATUS_BAD_INPUT, message.text);
		return STATUS_BAD_INPUT;
	}
	if (options.common.help) {
		dare_options_help(kernel->name, kernel->summary, kernel->is_sparse);
		return STATUS_VERIFIED;
	}
	program.has_matrix = options.m == 0;
	status = run_program(kernel, &program);
	dare_close(program.dare);
	if (program.has_matrix)
		csr_free(&program.matrix);
	return status;
}
