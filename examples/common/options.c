/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/generate.h"

#define DEFAULT_SEED 1
#define DEFAULT_ROOTS 64
#define THREADS_MAX 64
#define ROOTS_MAX 65536

static const char *const form_names[FORM_COUNT] = {
	[MAPLE_PLAIN] = "plain",
	[MAPLE_DECOUPLED] = "decoupled",
	[MAPLE_LIMA] = "lima",
	[MAPLE_PREFETCH] = "prefetch",
};

enum option_code {
	OPTION_FORM = 1, OPTION_THREADS, OPTION_TRANSPORT, OPTION_SOCKET, OPTION_CONFIG, OPTION_DEVICE,
	OPTION_KRONECKER, OPTION_UNIFORM, OPTION_SEED, OPTION_ROOTS, OPTION_REGISTER, OPTION_JSON, OPTION_HELP,
};

static const struct option long_options[] = {
	{ "form", required_argument, NULL, OPTION_FORM },
	{ "threads", required_argument, NULL, OPTION_THREADS },
	{ "transport", required_argument, NULL, OPTION_TRANSPORT },
	{ "socket", required_argument, NULL, OPTION_SOCKET },
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "device", required_argument, NULL, OPTION_DEVICE },
	{ "kronecker", required_argument, NULL, OPTION_KRONECKER },
	{ "uniform", required_argument, NULL, OPTION_UNIFORM },
	{ "seed", required_argument, NULL, OPTION_SEED },
	{ "roots", required_argument, NULL, OPTION_ROOTS },
	{ "register", no_argument, NULL, OPTION_REGISTER },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ 0 },
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
	       "  --transport NAME     kernel, daemon, embedded, or auto: the first that is there; default auto\n"
	       "  --socket PATH        socket of the daemon\n"
	       "  --config FILE        configuration of the device; embedded only, and auto is then embedded\n"
	       "  --device NAME        maple: any free one; maple0, maple1, ...: that one\n"
	       "  --register           let the device reach the arrays directly\n"
	       "  --kronecker SCALE    a Graph500 graph of 2^SCALE vertices, 16 edges for each\n"
	       "  --uniform ROWSxNNZ   a square matrix of ROWS rows, NNZ elements at random in each\n"
	       "  --seed NUMBER        of what is generated; default %d\n"
	       "  --roots NUMBER       searches of bfs; default %d\n"
	       "  --json               print the report as JSON\n"
	       "  --help               print this\n\n"
	       "Exit status: 0 all results verified, 1 a wrong result or a failing device, 2 bad input.\n",
	       program, summary, DEFAULT_SEED, DEFAULT_ROOTS);
}

/* Digits only, up to `end` of the text or the character `stop`; returns what follows, NULL if it is no such number. */
static const char *parse_number(const char *text, char stop, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno || *end != stop)
		return NULL;
	return stop ? end + 1 : end;
}

static int parse_bounded(const char *option, const char *text, uint64_t minimum, uint64_t maximum,
			 uint64_t *value, struct message *message)
{
	if (parse_number(text, '\0', value) && *value >= minimum && *value <= maximum)
		return 0;
	return message_set(message, -EINVAL, "--%s %s: it must be a number from %llu to %llu", option, text,
			   (unsigned long long)minimum, (unsigned long long)maximum);
}

static int parse_form(struct options *options, const char *word, size_t length, struct message *message)
{
	bool all = length == 3 && memcmp(word, "all", 3) == 0;
	bool found = all;

	for (int form = 0; form < FORM_COUNT; form++) {
		bool same = strlen(form_names[form]) == length && memcmp(word, form_names[form], length) == 0;

		options->form[form] |= all || same;
		found |= same;
	}
	if (found)
		return 0;
	return message_set(message, -EINVAL, "--form %.*s: it must be plain, decoupled, lima, prefetch or all",
			   (int)length, word);
}

static int parse_forms(struct options *options, const char *text, struct message *message)
{
	memset(options->form, 0, sizeof(options->form));
	for (;;) {
		size_t length = strcspn(text, ",");
		int error = parse_form(options, text, length, message);

		if (error || text[length] == '\0')
			return error;
		text += length + 1;
	}
}

static int parse_threads(struct options *options, const char *text, struct message *message)
{
	uint64_t access = 0, execute = 0;
	const char *rest = parse_number(text, '+', &access);

	if (!rest || !parse_number(rest, '\0', &execute) || access < 1 || execute < 1 ||
	    access > THREADS_MAX || execute > THREADS_MAX)
		return message_set(message, -EINVAL, "--threads %s: it must be A+E, each from 1 to %d", text,
				   THREADS_MAX);
	options->access_threads = (unsigned int)access;
	options->execute_threads = (unsigned int)execute;
	return 0;
}

static int parse_uniform(struct options *options, const char *text, struct message *message)
{
	uint64_t rows = 0, per_row = 0;
	const char *rest = parse_number(text, 'x', &rows);

	if (!rest || !parse_number(rest, '\0', &per_row) || rows < 1 || rows > UINT32_MAX || per_row < 1)
		return message_set(message, -EINVAL, "--uniform %s: it must be ROWSxNNZ, such as 1000000x16", text);
	options->input.uniform_rows = rows;
	options->input.uniform_per_row = per_row;
	return 0;
}

static int parse_transport(struct options *options, const char *text, struct message *message)
{
	if (strcmp(text, "auto") && strcmp(text, "kernel") && strcmp(text, "daemon") && strcmp(text, "embedded"))
		return message_set(message, -EINVAL, "--transport %s: it must be auto, kernel, daemon or embedded",
				   text);
	options->transport = text;
	return 0;
}

static int parse_option(struct options *options, int option, struct message *message)
{
	uint64_t number = 0;
	int error = 0;

	switch (option) {
	case OPTION_FORM:
		return parse_forms(options, optarg, message);
	case OPTION_THREADS:
		return parse_threads(options, optarg, message);
	case OPTION_TRANSPORT:
		return parse_transport(options, optarg, message);
	case OPTION_SOCKET:
		options->socket_path = optarg;
		return 0;
	case OPTION_CONFIG:
		options->config_path = optarg;
		return 0;
	case OPTION_DEVICE:
		options->device = optarg;
		return 0;
	case OPTION_KRONECKER:
		error = parse_bounded("kronecker", optarg, 1, KRONECKER_SCALE_MAX, &number, message);
		options->input.kronecker_scale = (unsigned int)number;
		return error;
	case OPTION_UNIFORM:
		return parse_uniform(options, optarg, message);
	case OPTION_SEED:
		return parse_bounded("seed", optarg, 0, UINT64_MAX, &options->input.seed, message);
	case OPTION_ROOTS:
		error = parse_bounded("roots", optarg, 1, ROOTS_MAX, &number, message);
		options->roots = (unsigned int)number;
		return error;
	case OPTION_REGISTER:
		options->register_memory = true;
		return 0;
	case OPTION_JSON:
		options->json = true;
		return 0;
	case OPTION_HELP:
		options->help = true;
		return 0;
	}
	return -EINVAL;
}

static int check_input(struct options *options, int argc, char **argv, struct message *message)
{
	int sources;

	if (argc - optind > 1)
		return message_set(message, -EINVAL, "%s: one input at a time", argv[optind + 1]);
	if (optind < argc)
		options->input.path = argv[optind];
	sources = (options->input.path != NULL) + (options->input.kronecker_scale != 0) +
		  (options->input.uniform_rows != 0);
	if (sources == 0)
		return message_set(message, -EINVAL, "no input: name a file, or give --kronecker or --uniform");
	if (sources > 1)
		return message_set(message, -EINVAL, "more than one of FILE, --kronecker and --uniform");
	return 0;
}

int options_parse(struct options *options, int argc, char **argv, struct message *message)
{
	int option;

	memset(options, 0, sizeof(*options));
	for (int form = 0; form < FORM_COUNT; form++)
		options->form[form] = true;
	options->access_threads = 1;
	options->execute_threads = 1;
	options->roots = DEFAULT_ROOTS;
	options->input.seed = DEFAULT_SEED;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		int error;

		if (option == ':')
			return message_set(message, -EINVAL, "%s needs a value", argv[optind - 1]);
		if (option == '?')
			return message_set(message, -EINVAL, "%s: unknown option", argv[optind - 1]);
		error = parse_option(options, option, message);
		if (error || options->help)
			return error;
	}
	return check_input(options, argc, argv, message);
}
