/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The paper's loops in all forms, element by element (examples/maple/loops). As it is,
 * it runs natively; the same loops compiled with the flags of `mimic cflags` run in
 * virtual time. docs/timing-maple.md describes each form.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "examples/common/arguments.h"
#include "examples/common/json.h"
#include "examples/common/saved.h"
#include "examples/maple/loops/task.h"

#define THREADS_MAX 8

static const char *const form_names[LOOP_FORMS] = {
	[LOOP_DOALL] = "doall", [LOOP_SOFTWARE] = "software", [LOOP_PREFETCH] = "prefetch",
	[LOOP_DECOUPLED] = "decoupled", [LOOP_DESC] = "desc", [LOOP_LIMA] = "lima",
};

static const struct loop_kernel *const kernels[] = { &spmv_kernel, &sdhp_kernel, &bfs_kernel, &spmm_kernel };
#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

struct options {
	struct common_options common;
	const struct loop_kernel *kernel;
	struct loop_options loop;
	unsigned int queue_words;	/* 0: 64 for LIMA with up to 4 threads, else 32 */
	unsigned int times;
	const char *save;	/* NULL: run */
	bool form[LOOP_FORMS];
};

struct run {
	const char *form;
	char transport[16];
	bool is_verified;
	uint64_t elements, cycles;
	double seconds;
	struct message message;
};

enum option_code { OPTION_KERNEL = 1, OPTION_FORM, OPTION_THREADS, OPTION_LEVELS, OPTION_QUEUE_WORDS, OPTION_TIMES,
		   OPTION_SAVE };

static const struct option long_options[] = {
	{ "kernel", required_argument, NULL, OPTION_KERNEL },
	{ "form", required_argument, NULL, OPTION_FORM },
	{ "threads", required_argument, NULL, OPTION_THREADS },
	{ "levels", required_argument, NULL, OPTION_LEVELS },
	{ "queue-words", required_argument, NULL, OPTION_QUEUE_WORDS },
	{ "times", required_argument, NULL, OPTION_TIMES },
	{ "save", required_argument, NULL, OPTION_SAVE },
	COMMON_LONG_OPTIONS
};

static void help(void)
{
	printf("Usage: loops --kernel NAME [OPTIONS] FILE | --kronecker SCALE | --uniform ROWSxNNZ\n"
	       "The loops of the MAPLE paper, one operation for each element, for `mimic sim`.\n\n"
	       "  --kernel NAME        spmv, sdhp, bfs or spmm\n"
	       "  --form LIST          doall, software, prefetch, decoupled, desc, lima (with commas), or all; default doall\n"
	       "  --threads NUMBER     1 to %d; decoupled forms need an even number; default 2\n"
	       "  --levels NUMBER      of bfs, from the root's neighbours on; 0: the whole search; default 1\n"
	       "  --queue-words WORDS  of each queue; default 32, with LIMA on up to 4 threads 64\n"
	       "  --times NUMBER       runs of each form, one after the other; the last one is shown; default 1\n"
	       "  --save FILE          writes the input into FILE, which is read without being made anew, and runs nothing\n",
	       THREADS_MAX);
	arguments_help("maple: any free one; maple0, maple1, ...: that one");
}

static int take_kernel(struct options *options, const char *name, struct message *message)
{
	for (size_t i = 0; i < KERNELS; i++) {
		if (strcmp(kernels[i]->name, name) == 0)
			options->kernel = kernels[i];
	}
	return options->kernel ? 0 : message_set(message, -EINVAL, "--kernel %s: it must be spmv, sdhp, bfs or spmm",
						 name);
}

static int take_number(const char *option, uint64_t minimum, uint64_t maximum, unsigned int *value,
		       struct message *message)
{
	uint64_t number = 0;
	int error = argument_bounded(option, optarg, minimum, maximum, &number, message);

	*value = (unsigned int)number;
	return error;
}

static int take_option(void *context, int option, struct message *message)
{
	struct options *options = context;

	switch ((enum option_code)option) {
	case OPTION_KERNEL:
		return take_kernel(options, optarg, message);
	case OPTION_FORM:
		return argument_names("form", optarg, form_names, LOOP_FORMS, options->form, message);
	case OPTION_THREADS:
		return take_number("threads", 1, THREADS_MAX, &options->loop.threads, message);
	case OPTION_LEVELS:
		return take_number("levels", 0, 1000000, &options->loop.levels, message);
	case OPTION_QUEUE_WORDS:
		return take_number("queue-words", 8, 128, &options->queue_words, message);
	case OPTION_TIMES:
		return take_number("times", 1, 1000, &options->times, message);
	case OPTION_SAVE:
		options->save = optarg;
		return 0;
	}
	return -EINVAL;
}

static int parse(struct options *options, int argc, char **argv, struct message *message)
{
	int error;

	memset(options, 0, sizeof(*options));
	options->form[LOOP_DOALL] = true;
	options->loop = (struct loop_options){ .threads = 2, .levels = 1 };
	options->times = 1;
	error = arguments_parse(&options->common, argc, argv, long_options, take_option, options, message);
	if (error || options->common.help)
		return error;
	if (!options->kernel && !options->save)
		return message_set(message, -EINVAL, "no --kernel");
	if (!input_is_given(&options->common.input))
		return message_set(message, -EINVAL, "no input: name a file, or give --kronecker, --power-law or --uniform");
	return 0;
}

static unsigned int words_of_queue(const struct options *options, enum loop_form form)
{
	if (options->queue_words)
		return options->queue_words;
	return form == LOOP_LIMA && options->loop.threads <= 4 ? 64 : 32;
}

static int open_device(const struct options *options, enum loop_form form, struct run *run, struct maple **maple)
{
	const struct maple_options device = {
		.device = options->common.device,
		.transport = options->common.transport,
		.socket_path = options->common.socket_path,
		.config_path = options->common.config_path,
		.queue_words = words_of_queue(options, form),
	};
	unsigned int threads = options->loop.threads, needed = threads, count;
	int error;

	*maple = NULL;
	strcpy(run->transport, "none");
	if (form != LOOP_LIMA && (form == LOOP_SOFTWARE || !options->kernel->is_decoupled(form)))
		return 0;
	error = maple_init(maple, &device);
	if (error)
		return message_set(&run->message, error, "no device: %s", maple_error_text());
	snprintf(run->transport, sizeof(run->transport), "%s", maple_transport(*maple));
	if (form == LOOP_DECOUPLED)
		needed = threads / 2;
	count = maple_queue_count(*maple);
	if (needed <= count)
		return 0;
	maple_fini(*maple);
	return message_set(&run->message, -EINVAL, "%s with %u threads needs %u queues; there are %u of %u words",
			   form_names[form], threads, needed, count, device.queue_words);
}

static int run_form(const struct options *options, void *state, enum loop_form form, struct run *run)
{
	const struct loop_kernel *kernel = options->kernel;
	struct maple *maple;
	int error;

	memset(run, 0, sizeof(*run));
	run->form = form_names[form];
	error = open_device(options, form, run, &maple);
	if (error)
		return error;
	for (unsigned int i = 0; i < options->times && !error; i++) {
		kernel->reset(state);
		error = team_run(kernel, state, form, run->form, options->loop.threads, maple, &run->seconds,
				 &run->cycles, &run->message);
	}
	maple_fini(maple);
	if (error)
		return error;
	run->elements = kernel->elements(state);
	run->is_verified = kernel->verify(state, &run->message);
	return 0;
}

static void print_table(const struct options *options, const struct run *runs, unsigned int count)
{
	printf("%-9s %-7s %-9s %-8s %10s %10s %12s\n", "form", "threads", "transport", "verified", options->kernel->unit,
	       "seconds", "cycles");
	for (unsigned int i = 0; i < count; i++)
		printf("%-9s %-7u %-9s %-8s %10" PRIu64 " %10.4g %12" PRIu64 "\n", runs[i].form, options->loop.threads,
		       runs[i].transport, runs[i].is_verified ? "yes" : "NO", runs[i].elements, runs[i].seconds,
		       runs[i].cycles);
}

static struct json_object *run_object(const struct options *options, const struct run *run)
{
	struct json_object *object = json_object_new_object();

	add_text(object, "form", run->form);
	add_u64(object, "threads", options->loop.threads);
	add_text(object, "transport", run->transport);
	json_object_object_add(object, "verified", json_object_new_boolean(run->is_verified));
	add_u64(object, "elements", run->elements);
	add_u64(object, "cycles", run->cycles);
	/* In virtual time nothing may depend on the machine. */
	if (run->cycles == 0)
		add_real(object, "seconds", run->seconds);
	return object;
}

static void print_json(const struct options *options, const struct csr *matrix, const struct run *runs,
		       unsigned int count)
{
	struct json_object *object = json_object_new_object(), *forms = json_object_new_array();
	char name[256];

	input_name(&options->common.input, name, sizeof(name));
	add_text(object, "kernel", options->kernel->name);
	add_text(object, "input", name);
	add_u64(object, "rows", matrix->rows);
	add_u64(object, "columns", matrix->columns);
	add_u64(object, "nonzeros", matrix->nonzeros);
	add_text(object, "unit", options->kernel->unit);
	for (unsigned int i = 0; i < count; i++)
		json_object_array_add(forms, run_object(options, &runs[i]));
	json_object_object_add(object, "runs", forms);
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
	json_object_put(object);
}

static enum status complain(enum status status, const char *what, const char *text)
{
	fprintf(stderr, "loops: %s%s%s\n", what, *what ? ": " : "", text);
	return status;
}

static enum status run_forms(const struct options *options, const struct csr *matrix, void *state)
{
	enum status status = STATUS_VERIFIED;
	struct run runs[LOOP_FORMS];
	unsigned int count = 0;

	for (int form = 0; form < LOOP_FORMS; form++) {
		int error;

		if (!options->form[form])
			continue;
		error = run_form(options, state, (enum loop_form)form, &runs[count]);
		if (error)
			return complain(status_of_error(&options->common, error), form_names[form],
					runs[count].message.text);
		count++;
	}
	if (options->common.json)
		print_json(options, matrix, runs, count);
	else
		print_table(options, runs, count);
	if (fflush(stdout) || ferror(stdout))
		return complain(STATUS_FAILED, "", "cannot write to standard output");
	for (unsigned int i = 0; i < count; i++) {
		if (!runs[i].is_verified)
			status = complain(STATUS_FAILED, runs[i].form, runs[i].message.text);
	}
	return status;
}

static enum status run_kernel(const struct options *options, const struct csr *matrix, struct message *message)
{
	void *state = options->kernel->create(matrix, &options->loop, message);
	enum status status;

	if (!state)
		return complain(STATUS_BAD_INPUT, "", message->text);
	status = run_forms(options, matrix, state);
	options->kernel->destroy(state);
	return status;
}

int main(int argc, char **argv)
{
	struct options options;
	struct message message;
	struct csr matrix;
	enum status status;

	if (parse(&options, argc, argv, &message))
		return complain(STATUS_BAD_INPUT, "", message.text);
	if (options.common.help) {
		help();
		return STATUS_VERIFIED;
	}
	if (input_load(&matrix, &options.common.input, &message))
		return complain(STATUS_BAD_INPUT, "", message.text);
	if (!options.save)
		status = run_kernel(&options, &matrix, &message);
	else if (saved_write(&matrix, options.save, &message))
		status = complain(STATUS_FAILED, "", message.text);
	else
		status = STATUS_VERIFIED;
	csr_free(&matrix);
	return status;
}
