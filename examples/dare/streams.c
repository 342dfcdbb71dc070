/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The instruction streams of the DARE paper's kernels (examples/dare/streams), beside libdare's own. As it is, it
 * runs natively; linked with the flags of `mimic cflags --libs` it runs in virtual time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/arguments.h"
#include "examples/common/json.h"
#include "examples/common/progress.h"
#include "examples/dare/streams/task.h"

#define DEFAULT_WIDTH 64
#define WIDTH_MAX 65536
#define BLOCKS 5		/* sizes: 1 << i */
#define RUNS_MAX (BLOCKS * TASK_FORMS)

static const char *const kernel_names[TASK_KERNELS] = { "spmm", "sddmm", "gemm" };
static const char *const block_names[BLOCKS] = { "1", "2", "4", "8", "16" };

struct options {
	struct common_options common;
	enum task_kernel kernel;	/* TASK_KERNELS: none */
	bool form[TASK_FORMS];
	bool are_all_forms;
	bool block[BLOCKS];
	bool has_block;
	size_t width;
	struct stream_code code;
	bool defers_stores;		/* it was asked for */
};

enum option_code { OPTION_KERNEL = 1, OPTION_FORM, OPTION_BLOCK, OPTION_WIDTH, OPTION_STORES, OPTION_SETS, OPTION_MERGE };

static const struct option long_options[] = {
	{ "kernel", required_argument, NULL, OPTION_KERNEL },
	{ "form", required_argument, NULL, OPTION_FORM },
	{ "block", required_argument, NULL, OPTION_BLOCK },
	{ "width", required_argument, NULL, OPTION_WIDTH },
	{ "stores", required_argument, NULL, OPTION_STORES },
	{ "register-sets", required_argument, NULL, OPTION_SETS },
	{ "merge", required_argument, NULL, OPTION_MERGE },
	COMMON_LONG_OPTIONS
};

static void help(void)
{
	printf("Usage: streams --kernel NAME [OPTIONS] FILE | --kronecker SCALE | --uniform ROWSxNNZ\n"
	       "The instruction streams of the DARE paper's kernels, without reuse of data between tiles, and libdare's.\n\n"
	       "  --kernel NAME        spmm, sddmm, or gemm: the whole product of which sddmm takes the input's places\n"
	       "  --form LIST          plain, gsa, libdare, libdare-gsa (with commas), or all of these; libdare-auto: the one\n"
	       "                       that libdare chooses; gemm: plain, 2x2, libdare;\n"
	       "                       default all\n"
	       "  --block LIST         sides of the blocks: 1, 2, 4, 8, 16, or all; default all; not of gemm\n"
	       "  --width NUMBER       columns of the dense operands; default %d\n"
	       "Of plain and gsa, as the paper shows no code (assumptions):\n"
	       "  --stores WHEN        deferred: behind the loads of the next tile, or at-once; default deferred\n"
	       "  --register-sets N    2: tiles take turns; 1: all use the same registers, and store at once; default 2\n"
	       "  --merge RUNS         rows that a plain tile takes together: consecutive, none, or equal: with B = 1 any at\n"
	       "                       equal distances; default consecutive\n",
	       DEFAULT_WIDTH);
	arguments_help("dare: any with a free context; dare0, dare1, ...: that one");
}

static int take_kernel(struct options *options, struct message *message)
{
	for (int kernel = 0; kernel < TASK_KERNELS; kernel++) {
		if (strcmp(optarg, kernel_names[kernel]) == 0) {
			options->kernel = (enum task_kernel)kernel;
			return 0;
		}
	}
	return message_set(message, -EINVAL, "--kernel %s: it must be spmm, sddmm or gemm", optarg);
}

static int take_forms(struct options *options, struct message *message)
{
	const char *names[TASK_FORMS];

	for (int form = 0; form < TASK_FORMS; form++)
		names[form] = task_form_name((enum task_form)form);
	options->are_all_forms = strcmp(optarg, "all") == 0;
	return argument_names("form", optarg, names, TASK_FORMS, options->form, message);
}

static int take_stores(struct options *options, struct message *message)
{
	options->defers_stores = strcmp(optarg, "deferred") == 0;
	options->code.stores_at_once = strcmp(optarg, "at-once") == 0;
	if (options->defers_stores || options->code.stores_at_once)
		return 0;
	return message_set(message, -EINVAL, "--stores %s: it must be deferred or at-once", optarg);
}

static int take_merge(struct options *options, struct message *message)
{
	static const char *const names[] = {
		[STREAM_MERGE_CONSECUTIVE] = "consecutive", [STREAM_MERGE_NONE] = "none", [STREAM_MERGE_EQUAL] = "equal",
	};

	for (size_t merge = 0; merge < sizeof(names) / sizeof(names[0]); merge++) {
		if (strcmp(optarg, names[merge]) == 0) {
			options->code.merge = (enum stream_merge)merge;
			return 0;
		}
	}
	return message_set(message, -EINVAL, "--merge %s: it must be consecutive, none or equal", optarg);
}

static int take_option(void *context, int option, struct message *message)
{
	struct options *options = context;
	uint64_t number = 0;
	int error;

	switch ((enum option_code)option) {
	case OPTION_KERNEL:
		return take_kernel(options, message);
	case OPTION_FORM:
		return take_forms(options, message);
	case OPTION_BLOCK:
		options->has_block = true;
		return argument_names("block", optarg, block_names, BLOCKS, options->block, message);
	case OPTION_WIDTH:
		error = argument_bounded("width", optarg, 1, WIDTH_MAX, &number, message);
		options->width = (size_t)number;
		return error;
	case OPTION_STORES:
		return take_stores(options, message);
	case OPTION_SETS:
		error = argument_bounded("register-sets", optarg, 1, 2, &number, message);
		options->code.has_one_set = number == 1;
		return error;
	case OPTION_MERGE:
		return take_merge(options, message);
	}
	return -EINVAL;
}

static int check_forms(const struct options *options, struct message *message)
{
	for (int form = 0; form < TASK_FORMS && !options->are_all_forms; form++) {
		if (options->form[form] && !task_has_form(options->kernel, (enum task_form)form))
			return message_set(message, -EINVAL, "--form %s: %s has no such form",
					   task_form_name((enum task_form)form), kernel_names[options->kernel]);
	}
	return 0;
}

static int parse(struct options *options, int argc, char **argv, struct message *message)
{
	int error;

	*options = (struct options){ .kernel = TASK_KERNELS, .are_all_forms = true, .width = DEFAULT_WIDTH };
	memset(options->form, true, sizeof(options->form));
	memset(options->block, true, sizeof(options->block));
	error = arguments_parse(&options->common, argc, argv, long_options, take_option, options, message);
	if (error || options->common.help)
		return error;
	if (options->kernel == TASK_KERNELS)
		return message_set(message, -EINVAL, "no --kernel");
	if (options->kernel == TASK_GEMM && options->has_block)
		return message_set(message, -EINVAL, "--block: gemm has no blocks");
	if (options->code.has_one_set && options->defers_stores)
		return message_set(message, -EINVAL, "--stores deferred: with --register-sets 1 the next tile loads what is to "
				   "be stored");
	if (!input_is_given(&options->common.input))
		return message_set(message, -EINVAL, "no input: name a file, or give --kronecker, --power-law or --uniform");
	return check_forms(options, message);
}

static unsigned int list_runs(const struct options *options, struct task_run *runs)
{
	unsigned int count = 0, blocks = options->kernel == TASK_GEMM ? 1 : BLOCKS;

	memset(runs, 0, RUNS_MAX * sizeof(*runs));
	for (unsigned int block = 0; block < blocks; block++) {
		for (int form = 0; form < TASK_FORMS; form++) {
			/* It is one of the others again. */
			if (options->are_all_forms && form == TASK_LIBDARE_AUTO)
				continue;
			if (!options->form[form] || !task_has_form(options->kernel, (enum task_form)form) ||
			    !options->block[block])
				continue;
			runs[count].form = (enum task_form)form;
			runs[count++].block = options->kernel == TASK_GEMM ? 0 : 1u << block;
		}
	}
	return count;
}

/* --- the report --------------------------------------------------------------------------------- */

static double utilisation(const struct task_run *run)
{
	return run->counters.macs_offered ? (double)run->counters.macs_used / (double)run->counters.macs_offered : 0;
}

static void print_table(const struct task *task, const struct task_run *runs, unsigned int count)
{
	printf("%-11s %5s %-9s %-8s %9s %9s %9s %10s %9s %7s %9s %10s\n", "form", "block", "transport", "verified", "tiles",
	       "instrs", "mma", "rows read", "written", "PE %", "ms", "cycles");
	for (unsigned int i = 0; i < count; i++) {
		const struct dare_statistics *c = &runs[i].counters;

		printf("%-11s %5u %-9s %-8s %9zu %9" PRIu64 " %9" PRIu64 " %10" PRIu64 " %9" PRIu64 " %7.3f %9.3f %10"
		       PRIu64 "\n", task_form_name(runs[i].form), runs[i].block, dare_transport(task->dare),
		       runs[i].is_verified ? "yes" : "NO", runs[i].tiles, c->instructions, c->mma, c->rows_loaded,
		       c->rows_stored, 100 * utilisation(&runs[i]), 1000 * runs[i].measure.seconds, runs[i].measure.cycles);
	}
}

static struct json_object *run_object(const struct task *task, const struct task_run *run)
{
	struct json_object *object = json_object_new_object(), *counters = json_object_new_object();

	add_text(object, "form", task_form_name(run->form));
	add_u64(object, "block", run->block);
	add_text(object, "transport", dare_transport(task->dare));
	add_text(object, "device", dare_device_name(task->dare));
	json_object_object_add(object, "verified", json_object_new_boolean(run->is_verified));
	if (!run->is_verified)
		add_text(object, "error", run->message.text);
	add_u64(object, "macs", task->macs);
	add_u64(object, "blocks", run->statistics.blocks);
	add_real(object, "fill", run->statistics.fill);
	add_u64(object, "tiles", run->tiles);
	add_real(object, "utilisation", utilisation(run));
	add_u64(object, "cycles", run->measure.cycles);
	/* In virtual time nothing may depend on the machine. */
	if (run->measure.cycles == 0)
		add_real(object, "seconds", run->measure.seconds);
#pragma push_macro("_")
#undef _
#define _(name, meaning) add_u64(counters, #name, run->counters.name);
	DARE_COUNTERS(_)
#pragma pop_macro("_")
	json_object_object_add(object, "counters", counters);
	return object;
}

static void print_json(const struct options *options, const struct task *task, const struct task_run *runs,
		       unsigned int count)
{
	struct json_object *object = json_object_new_object(), *list = json_object_new_array();
	char name[256];

	input_name(&options->common.input, name, sizeof(name));
	add_text(object, "kernel", kernel_names[options->kernel]);
	add_text(object, "input", name);
	add_u64(object, "rows", task->s.place.rows);
	add_u64(object, "columns", task->s.place.columns);
	add_u64(object, "nonzeros", task->s.nonzeros);
	add_u64(object, "width", task->width);
	for (unsigned int i = 0; i < count; i++)
		json_object_array_add(list, run_object(task, &runs[i]));
	json_object_object_add(object, "runs", list);
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY));
	json_object_put(object);
}

/* --- the program --------------------------------------------------------------------------------- */

static enum status complain(enum status status, const char *text)
{
	progress_clear();
	fprintf(stderr, "streams: %s\n", text);
	return status;
}

static enum status complain_of(enum status status, const struct task_run *run, const char *what)
{
	char block[16] = "", text[640];

	if (run->block)
		snprintf(block, sizeof(block), " B=%u", run->block);
	snprintf(text, sizeof(text), "%s%s: %s%s", task_form_name(run->form), block, what, run->message.text);
	return complain(status, text);
}

static enum status run_all(const struct options *options, struct task *task)
{
	enum status status = STATUS_VERIFIED;
	struct task_run runs[RUNS_MAX];
	unsigned int count = list_runs(options, runs);

	for (unsigned int i = 0; i < count; i++) {
		int error;

		progress_show("streams", i, count);
		error = task_run(task, &runs[i]);
		if (error)
			return complain_of(status_of_error(&options->common, error), &runs[i], "");
	}
	progress_clear();
	if (options->common.json)
		print_json(options, task, runs, count);
	else
		print_table(task, runs, count);
	if (fflush(stdout) || ferror(stdout))
		return complain(STATUS_FAILED, "cannot write to standard output");
	for (unsigned int i = 0; i < count; i++) {
		if (!runs[i].is_verified)
			status = complain_of(STATUS_FAILED, &runs[i], "wrong result: ");
	}
	return status;
}

static enum status run_program(const struct options *options, const struct csr *matrix)
{
	const struct dare_options device = {
		.device = options->common.device,
		.transport = options->common.transport,
		.socket_path = options->common.socket_path,
		.config_path = options->common.config_path,
	};
	struct task task = { .kernel = options->kernel, .width = options->width, .code = options->code };
	struct message message;
	enum status status;
	int error = dare_open(&task.dare, &device);

	if (error) {
		message_set(&message, error, "no device: %s", dare_error_text());
		return complain(status_of_error(&options->common, error), message.text);
	}
	error = task_make(&task, matrix, options->common.input.seed, &message);
	status = error ? complain(STATUS_BAD_INPUT, message.text) : run_all(options, &task);
	task_free(&task);
	dare_close(task.dare);
	return status;
}

int main(int argc, char **argv)
{
	struct options options;
	struct message message;
	struct csr matrix;
	enum status status;

	if (parse(&options, argc, argv, &message)) {
		complain(STATUS_BAD_INPUT, message.text);
		return STATUS_BAD_INPUT;
	}
	if (options.common.help) {
		help();
		return STATUS_VERIFIED;
	}
	if (input_load(&matrix, &options.common.input, &message))
		return complain(STATUS_BAD_INPUT, message.text);
	status = run_program(&options, &matrix);
	csr_free(&matrix);
	return status;
}
