/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/dare_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_COLUMNS 64
#define DEFAULT_ROWS 1024
#define DEFAULT_PER_ROW 64
#define DEFAULT_SIZE 512
#define COLUMNS_MAX 65536
#define SIZE_MAX_GEMM 65536

static const char *const form_names[PROGRAM_FORMS] = { "plain", "baseline", "gsa", "auto" };
static const char *const type_names[PROGRAM_TYPES] = { "fp32", "bf16", "int8" };
static const char *const block_names[PROGRAM_BLOCKS] = { "1", "2", "4", "8", "16" };

enum option_code {
	OPTION_FORM = 1, OPTION_BLOCK, OPTION_TYPE, OPTION_LAYOUT, OPTION_COLUMNS, OPTION_SIZE,
};

static const struct option sparse_options[] = {
	{ "form", required_argument, NULL, OPTION_FORM },
	{ "block", required_argument, NULL, OPTION_BLOCK },
	{ "layout", required_argument, NULL, OPTION_LAYOUT },
	{ "columns", required_argument, NULL, OPTION_COLUMNS },
	COMMON_LONG_OPTIONS
};

static const struct option dense_options[] = {
	{ "form", required_argument, NULL, OPTION_FORM },
	{ "type", required_argument, NULL, OPTION_TYPE },
	{ "size", required_argument, NULL, OPTION_SIZE },
	{ "columns", required_argument, NULL, OPTION_COLUMNS },
	COMMON_LONG_OPTIONS
};

/* The context of parse_option(). */
struct parsing {
	struct dare_program_options *options;
	bool is_sparse;
};

const char *dare_form_name(enum dare_program_form form)
{
	return form_names[form];
}

const char *dare_type_name(enum dare_program_type type)
{
	return type_names[type];
}

void dare_options_help(const char *program, const char *summary, bool is_sparse)
{
	printf("Usage: %s [OPTIONS] [FILE]\n%s\n\n"
	       "FILE is a Matrix Market file (coordinate; real, integer or pattern) or a list of edges.\n",
	       program, summary);
	if (is_sparse)
		printf("Without it: --uniform %dx%d.\n\n"
		       "  --form LIST          plain, baseline, gsa, auto (with commas), or all; default all\n"
		       "  --block LIST         sides of the blocks: 1, 2, 4, 8, 16, or all; default all\n"
		       "  --layout NAME        csr or csc: how the kernel is given the matrix; default csr\n",
		       DEFAULT_ROWS, DEFAULT_PER_ROW);
	else
		printf("Without it: --size %dx%dx%d.\n\n"
		       "  --form LIST          plain, baseline (with commas), or all; default all\n"
		       "  --type LIST          fp32, bf16, int8, or all; default all\n"
		       "  --size MxNxK         generated matrices: A has M rows, B has N columns\n",
		       DEFAULT_SIZE, DEFAULT_SIZE, DEFAULT_SIZE);
	printf("  --columns NUMBER     columns of the dense matrices%s; default %d\n",
	       is_sparse ? "" : " (with an input)", DEFAULT_COLUMNS);
	arguments_help("dare: any with a free context; dare0, dare1, ...: that one");
}

static int parse_layout(struct dare_program_options *options, const char *text, struct message *message)
{
	if (strcmp(text, "csr") && strcmp(text, "csc"))
		return message_set(message, -EINVAL, "--layout %s: it must be csr or csc", text);
	options->layout = strcmp(text, "csc") == 0 ? DARE_CSC : DARE_CSR;
	return 0;
}

static int parse_columns(struct dare_program_options *options, const char *text, struct message *message)
{
	uint64_t number = 0;
	int error = argument_bounded("columns", text, 1, COLUMNS_MAX, &number, message);

	options->columns = (size_t)number;
	return error;
}

static int parse_option(void *context, int option, struct message *message)
{
	const struct parsing *parsing = context;
	struct dare_program_options *options = parsing->options;

	switch ((enum option_code)option) {
	case OPTION_FORM:
		/* A kernel without addresses to gather has no densified form. */
		return argument_names("form", optarg, form_names,
				      parsing->is_sparse ? PROGRAM_FORMS : PROGRAM_BASELINE + 1, options->form,
				      message);
	case OPTION_BLOCK:
		return argument_names("block", optarg, block_names, PROGRAM_BLOCKS, options->block, message);
	case OPTION_TYPE:
		return argument_names("type", optarg, type_names, PROGRAM_TYPES, options->type, message);
	case OPTION_LAYOUT:
		return parse_layout(options, optarg, message);
	case OPTION_COLUMNS:
		return parse_columns(options, optarg, message);
	case OPTION_SIZE:
		return argument_size("size", optarg, SIZE_MAX_GEMM, &options->m, &options->n, &options->k, message);
	}
	return -EINVAL;
}

static int settle_input(struct dare_program_options *options, bool is_sparse, struct message *message)
{
	struct input *input = &options->common.input;

	if (input_is_given(input)) {
		if (options->m)
			return message_set(message, -EINVAL, "--size is for generated matrices, and there is an input");
		return 0;
	}
	if (is_sparse) {
		input->uniform_rows = DEFAULT_ROWS;
		input->uniform_per_row = DEFAULT_PER_ROW;
	} else if (!options->m) {
		options->m = options->n = options->k = DEFAULT_SIZE;
	}
	return 0;
}

int dare_options_parse(struct dare_program_options *options, bool is_sparse, int argc, char **argv,
		       struct message *message)
{
	struct parsing parsing = { .options = options, .is_sparse = is_sparse };
	int error;

	memset(options, 0, sizeof(*options));
	memset(options->form, true, sizeof(options->form));
	memset(options->block, true, sizeof(options->block));
	memset(options->type, true, sizeof(options->type));
	options->columns = DEFAULT_COLUMNS;
	error = arguments_parse(&options->common, argc, argv, is_sparse ? sparse_options : dense_options, parse_option,
				&parsing, message);
	if (error || options->common.help)
		return error;
	return settle_input(options, is_sparse, message);
}
