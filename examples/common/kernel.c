/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "examples/common/array.h"
#include "examples/common/progress.h"
#include "examples/common/report.h"

static enum status complain(const struct kernel *kernel, enum status status, const char *text)
{
	progress_clear();
	fprintf(stderr, "%s: %s\n", kernel->name, text);
	return status;
}

/* The library's text where there is one, else errno's. */
static const char *device_error(int error)
{
	const char *text = maple_error_text();

	return text && *text ? text : strerror(-error);
}

static int open_device(struct run *run)
{
	const struct options *options = run->options;
	struct maple_options device = {
		.device = options->common.device,
		.transport = options->common.transport,
		.socket_path = options->common.socket_path,
		.config_path = options->common.config_path,
	};
	int error = maple_init(&run->maple, &device);

	if (error)
		return message_set(&run->message, error, "no device: %s", device_error(error));
	snprintf(run->transport, sizeof(run->transport), "%s", maple_transport(run->maple));
	snprintf(run->device, sizeof(run->device), "%s", maple_device_name(run->maple));
	return 0;
}

static int register_regions(const struct kernel *kernel, void *state, struct run *run)
{
	struct region regions[REGIONS_MAX];
	unsigned int count = run->options->register_memory ? kernel->regions(state, regions) : 0;

	for (unsigned int i = 0; i < count; i++) {
		int error = maple_register(run->maple, regions[i].memory, array_whole_pages(regions[i].size));

		if (!error)
			continue;
		message_set(&run->message, error, "cannot register %s (%zu bytes): %s", regions[i].name,
			    regions[i].size, device_error(error));
		while (i-- > 0)
			maple_unregister(run->maple, regions[i].memory, array_whole_pages(regions[i].size));
		return error;
	}
	return 0;
}

static void unregister_regions(const struct kernel *kernel, void *state, struct run *run)
{
	struct region regions[REGIONS_MAX];
	unsigned int count = run->options->register_memory ? kernel->regions(state, regions) : 0;

	for (unsigned int i = 0; i < count; i++)
		maple_unregister(run->maple, regions[i].memory, array_whole_pages(regions[i].size));
}

static int run_counted(const struct kernel *kernel, void *state, struct run *run)
{
	struct maple_counters before;
	int error = maple_counters(run->maple, &before);

	if (!error)
		error = kernel->run(state, run);
	if (!error)
		error = maple_counters(run->maple, &run->counters);
	if (!error)
		counters_subtract(&run->counters, &before);
	else if (run->message.text[0] == '\0')
		message_set(&run->message, error, "%s", device_error(error));
	return error;
}

static int run_on_device(const struct kernel *kernel, void *state, struct run *run)
{
	int error = open_device(run);

	if (error)
		return error;
	error = register_regions(kernel, state, run);
	if (!error) {
		error = run_counted(kernel, state, run);
		unregister_regions(kernel, state, run);
	}
	maple_fini(run->maple);
	run->maple = NULL;
	return error;
}

static int run_form(const struct kernel *kernel, void *state, const struct options *options,
		    enum maple_form form, struct run *run)
{
	memset(run, 0, sizeof(*run));
	run->options = options;
	run->form = form;
	snprintf(run->label, sizeof(run->label), "%s %s", kernel->name, form_name(form));
	if (form != MAPLE_PLAIN)
		return run_on_device(kernel, state, run);
	strcpy(run->transport, "none");
	return kernel->run(state, run);
}

static enum status report(const struct kernel *kernel, const struct csr *matrix,
			  const struct options *options, const struct run *runs, unsigned int count)
{
	enum status status = STATUS_VERIFIED;
	char text[640];

	progress_clear();
	if ((options->common.json ? report_json : report_table)(kernel, matrix, runs, count))
		return complain(kernel, STATUS_FAILED, "cannot write to standard output");
	for (unsigned int i = 0; i < count; i++) {
		if (runs[i].verified)
			continue;
		snprintf(text, sizeof(text), "%s: wrong result: %s", form_name(runs[i].form), runs[i].message.text);
		status = complain(kernel, STATUS_FAILED, text);
	}
	return status;
}

static enum status run_forms(const struct kernel *kernel, const struct csr *matrix,
			     const struct options *options, void *state)
{
	struct run runs[FORM_COUNT];
	unsigned int count = 0;
	char text[640];

	for (int form = 0; form < FORM_COUNT; form++) {
		struct run *run = &runs[count];
		int error;

		if (!options->form[form])
			continue;
		error = run_form(kernel, state, options, (enum maple_form)form, run);
		if (error) {
			snprintf(text, sizeof(text), "%s: %s", form_name(run->form),
				 run->message.text[0] ? run->message.text : strerror(-error));
			return complain(kernel, status_of_error(&options->common, error), text);
		}
		count++;
	}
	return report(kernel, matrix, options, runs, count);
}

int kernel_main(const struct kernel *kernel, int argc, char **argv)
{
	struct options options;
	struct message message;
	struct csr matrix;
	enum status status;
	void *state;

	if (options_parse(&options, argc, argv, &message)) {
		complain(kernel, STATUS_BAD_INPUT, message.text);
		return STATUS_BAD_INPUT;
	}
	if (options.common.help) {
		options_help(kernel->name, kernel->summary);
		return STATUS_VERIFIED;
	}
	if (input_load(&matrix, &options.common.input, &message))
		return complain(kernel, STATUS_BAD_INPUT, message.text);
	state = kernel->create(&matrix, &options, &message);
	if (state) {
		status = run_forms(kernel, &matrix, &options, state);
		kernel->destroy(state);
	} else {
		status = complain(kernel, STATUS_BAD_INPUT, message.text);
	}
	csr_free(&matrix);
	return status;
}
