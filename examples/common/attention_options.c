/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/attention_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mimic/virgo_registers.h"

#define DEFAULT_SEQUENCE 1024
#define DEFAULT_HEAD 64
#define DEFAULT_THREADS 4	/* the paper's cores */
#define SEQUENCE_MAX 8192
#define HEAD_MAX 512
#define THREADS_MAX 64

static const char *const exp_names[ATTENTION_EXPS] = {
	[ATTENTION_TAYLOR] = "taylor", [ATTENTION_EXACT] = "exact",
};

enum option_code { OPTION_EXP = 1, OPTION_HEAD, OPTION_SEQUENCE, OPTION_THREADS, OPTION_UNIT };

static const struct option long_options[] = {
	{ "exp", required_argument, NULL, OPTION_EXP },
	{ "head", required_argument, NULL, OPTION_HEAD },
	{ "sequence", required_argument, NULL, OPTION_SEQUENCE },
	{ "threads", required_argument, NULL, OPTION_THREADS },
	{ "unit", required_argument, NULL, OPTION_UNIT },
	DEVICE_LONG_OPTIONS
};

const char *attention_exp_text(enum attention_exp exp)
{
	return exp_names[exp];
}

void attention_options_help(const char *program)
{
	printf("Usage: %s [OPTIONS]\n"
	       "Attention of one head, softmax(Q K^T / sqrt(d)) V, on a Virgo cluster: a matrix unit\n"
	       "multiplies while the threads do the softmax of the tile before.\n\n"
	       "  --sequence NUMBER    rows of Q, K and V; default %d\n"
	       "  --head NUMBER        their columns, d; default %d\n"
	       "  --exp LIST           taylor (1 + x + x^2/2), exact (with a comma), or all; default all\n"
	       "  --unit NUMBER        the matrix unit; default the first of type fp32\n"
	       "  --threads NUMBER     host threads that stand for warps; default %d\n", program, DEFAULT_SEQUENCE,
	       DEFAULT_HEAD, DEFAULT_THREADS);
	arguments_help_device("virgo: any free cluster; virgo0, virgo1, ...: that one");
}

static int take_option(void *context, int option, struct message *message)
{
	struct attention_options *options = context;
	uint64_t number = 0;
	int error = 0;

	switch ((enum option_code)option) {
	case OPTION_EXP:
		return argument_names("exp", optarg, exp_names, ATTENTION_EXPS, options->exp, message);
	case OPTION_HEAD:
		error = argument_bounded("head", optarg, 1, HEAD_MAX, &number, message);
		options->head = (size_t)number;
		return error;
	case OPTION_SEQUENCE:
		error = argument_bounded("sequence", optarg, 1, SEQUENCE_MAX, &number, message);
		options->sequence = (size_t)number;
		return error;
	case OPTION_THREADS:
		error = argument_bounded("threads", optarg, 1, THREADS_MAX, &number, message);
		options->threads = (unsigned int)number;
		return error;
	case OPTION_UNIT:
		error = argument_bounded("unit", optarg, 0, VIRGO_UNITS_MAX - 1, &number, message);
		options->unit = (unsigned int)number;
		options->has_unit = true;
		return error;
	}
	return -EINVAL;
}

int attention_options_parse(struct attention_options *options, int argc, char **argv, struct message *message)
{
	int error;

	*options = (struct attention_options){
		.sequence = DEFAULT_SEQUENCE, .head = DEFAULT_HEAD, .threads = DEFAULT_THREADS,
	};
	memset(options->exp, true, sizeof(options->exp));
	error = arguments_parse(&options->common, argc, argv, long_options, take_option, options, message);
	if (error || options->common.help)
		return error;
	if (options->common.input.path)
		return message_set(message, -EINVAL, "%s: this program takes no input", options->common.input.path);
	return 0;
}
