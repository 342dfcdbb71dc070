/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_ROOTS 64
#define THREADS_MAX 64
#define ROOTS_MAX 65536

static const char *const form_names[FORM_COUNT] = {
	[MAPLE_PLAIN] = "plain",
	[MAPLE_DECOUPLED] = "decoupled",
	[MAPLE_LIMA] = "lima",
	[MAPLE_PREFETCH] = "prefetch",
};

enum option_code { OPTION_FORM = 1, OPTION_THREADS, OPTION_ROOTS, OPTION_REGISTER };

static const struct option long_options[] = {
	{ "form", required_argument, NULL, OPTION_FORM },
	{ "threads", required_argument, NULL, OPTION_THREADS },
	{ "roots", required_argument, NULL, OPTION_ROOTS },
	{ "register", no_argument, NULL, OPTION_REGISTER },
	COMMON_LONG_OPTIONS
};

const char *form_name(enum maple_form form)
{
	return form_names[form];
}

void options_help(const char *program, const char *summary)
{
	printf("Usage: %s [OPTIONS] FILE | --kronecker SCALE | --uniform ROWSxNNZ\n"
	       "%s\n\n"
	       "FILE is a Matrix Market file (coordinate; real, integer or pattern) or a list of edges.\n\n"
	       "  --form LIST          plain, decoupled, lima, prefetch (with commas), or all; default all\n"
	       "  --threads A+E        access and execute threads of the decoupled form; default 1+1\n"
	       "  --register           let the device reach the arrays directly\n"
	       "  --roots NUMBER       searches of bfs; default %d\n",
	       program, summary, DEFAULT_ROOTS);
	arguments_help("maple: any free one; maple0, maple1, ...: that one");
}

static int parse_threads(struct options *options, const char *text, struct message *message)
{
	uint64_t access = 0, execute = 0;
	const char *rest = argument_number(text, '+', &access);

	if (!rest || !argument_number(rest, '\0', &execute) || access < 1 || execute < 1 ||
	    access > THREADS_MAX || execute > THREADS_MAX)
		return message_set(message, -EINVAL, "--threads %s: it must be A+E, each from 1 to %d", text,
				   THREADS_MAX);
	options->access_threads = (unsigned int)access;
	options->execute_threads = (unsigned int)execute;
	return 0;
}

static int parse_option(void *context, int option, struct message *message)
{
	struct options *options = context;
	uint64_t number = 0;
	int error;

	switch ((enum option_code)option) {
	case OPTION_FORM:
		return argument_names("form", optarg, form_names, FORM_COUNT, options->form, message);
	case OPTION_THREADS:
		return parse_threads(options, optarg, message);
	case OPTION_ROOTS:
		error = argument_bounded("roots", optarg, 1, ROOTS_MAX, &number, message);
		options->roots = (unsigned int)number;
		return error;
	case OPTION_REGISTER:
		options->register_memory = true;
		return 0;
	}
	return -EINVAL;
}

int options_parse(struct options *options, int argc, char **argv, struct message *message)
{
	int error;

	memset(options, 0, sizeof(*options));
	memset(options->form, true, sizeof(options->form));
	options->access_threads = 1;
	options->execute_threads = 1;
	options->roots = DEFAULT_ROOTS;
	error = arguments_parse(&options->common, argc, argv, long_options, parse_option, options, message);
	if (error || options->common.help)
		return error;
	if (!input_is_given(&options->common.input))
		return message_set(message, -EINVAL, "no input: name a file, or give --kronecker, --power-law or --uniform");
	return 0;
}
