/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/virgo_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_THREADS 4	/* the paper's cores */
#define THREADS_MAX 64
#define SIDE_MAX 8192

static const char *const type_names[VIRGO_TYPES] = {
	[VIRGO_INT8] = "int8", [VIRGO_FP16] = "fp16", [VIRGO_FP32] = "fp32",
};

enum option_code {
	OPTION_FORM = 1, OPTION_LIBRARY, OPTION_SIZE, OPTION_SECOND, OPTION_THREADS, OPTION_TYPE, OPTION_UNIT,
};

static const struct option long_options[] = {
	{ "form", required_argument, NULL, OPTION_FORM },
	{ "library", no_argument, NULL, OPTION_LIBRARY },
	{ "second", required_argument, NULL, OPTION_SECOND },
	{ "size", required_argument, NULL, OPTION_SIZE },
	{ "threads", required_argument, NULL, OPTION_THREADS },
	{ "type", required_argument, NULL, OPTION_TYPE },
	{ "unit", required_argument, NULL, OPTION_UNIT },
	DEVICE_LONG_OPTIONS
};

const char *virgo_type_text(enum virgo_type type)
{
	return type_names[type];
}

static void list(char *text, const char *const *names, const bool *chosen, unsigned int count)
{
	text[0] = '\0';
	for (unsigned int i = 0; i < count; i++) {
		if (chosen && !chosen[i])
			continue;
		strcat(text, text[0] ? ", " : "");
		strcat(text, names[i]);
	}
}

void virgo_options_help(const char *program, const char *summary, const struct virgo_offer *offer)
{
	char forms[128], types[64];

	list(forms, offer->form, NULL, offer->forms);
	list(types, type_names, offer->type, VIRGO_TYPES);
	printf("Usage: %s [OPTIONS]\n%s\n\n"
	       "  --form LIST          %s (with commas), or all; default all\n"
	       "  --library            the same as --form library: calls virgo_gemm\n", program, summary, forms);
	printf("  --type LIST          %s, or all; default all that the cluster has units for\n"
	       "  --size MxNxK         A has M rows, B has N columns; default %zux%zux%zu\n", types,
	       offer->size[0][0], offer->size[0][1], offer->size[0][2]);
	if (offer->products > 1)
		printf("  --second MxNxK       of the second product; default %zux%zux%zu\n"
		       "  --unit NUMBER,NUMBER the units; default the first two of the type\n", offer->size[1][0],
		       offer->size[1][1], offer->size[1][2]);
	else
		printf("  --unit NUMBER        the matrix unit; default the first of the type\n");
	printf("  --threads NUMBER     host threads that stand for warps; default %d\n", DEFAULT_THREADS);
	arguments_help_device("virgo: any free cluster; virgo0, virgo1, ...: that one");
}

static int take_units(struct virgo_program_options *options, const char *text, struct message *message)
{
	unsigned int count = options->offer->products;
	const char *rest = text;

	for (unsigned int i = 0; i < count && rest; i++) {
		uint64_t number = 0;

		rest = argument_number(rest, i + 1 < count ? ',' : '\0', &number);
		if (number >= VIRGO_UNITS_MAX)
			rest = NULL;
		options->unit[i] = (unsigned int)number;
	}
	options->has_units = true;
	if (!rest)
		return message_set(message, -EINVAL, "--unit %s: it must be %s from 0 to %d", text,
				   count > 1 ? "two numbers with a comma," : "a number", VIRGO_UNITS_MAX - 1);
	if (count > 1 && options->unit[0] == options->unit[1])
		return message_set(message, -EINVAL, "--unit %s: they must be two units", text);
	return 0;
}

/* argument_names() over the types that the program has. */
static int take_types(struct virgo_program_options *options, const char *text, struct message *message)
{
	const char *names[VIRGO_TYPES];
	enum virgo_type types[VIRGO_TYPES];
	bool chosen[VIRGO_TYPES];
	unsigned int count = 0;
	int error;

	for (unsigned int type = 0; type < VIRGO_TYPES; type++) {
		if (!options->offer->type[type])
			continue;
		types[count] = (enum virgo_type)type;
		names[count++] = type_names[type];
	}
	error = argument_names("type", text, names, count, chosen, message);
	for (unsigned int i = 0; i < count && !error; i++)
		options->type[types[i]] = chosen[i];
	options->has_types = true;
	return error;
}

static int take_second(struct virgo_program_options *options, struct message *message)
{
	if (options->offer->products < 2)
		return message_set(message, -EINVAL, "--second: this program has one product");
	return argument_size("second", optarg, SIDE_MAX, &options->m[1], &options->n[1], &options->k[1], message);
}

static int take_threads(struct virgo_program_options *options, struct message *message)
{
	uint64_t number = 0;
	/* A product has a thread that drives its unit. */
	int error = argument_bounded("threads", optarg, options->offer->products, THREADS_MAX, &number, message);

	options->threads = (unsigned int)number;
	return error;
}

static int take_option(void *context, int option, struct message *message)
{
	struct virgo_program_options *options = context;

	switch ((enum option_code)option) {
	case OPTION_FORM:
		return argument_names("form", optarg, options->offer->form, options->offer->forms, options->form, message);
	case OPTION_LIBRARY:
		memset(options->form, 0, sizeof(options->form));
		options->form[options->offer->forms - 1] = true;
		return 0;
	case OPTION_SIZE:
		return argument_size("size", optarg, SIDE_MAX, &options->m[0], &options->n[0], &options->k[0], message);
	case OPTION_SECOND:
		return take_second(options, message);
	case OPTION_THREADS:
		return take_threads(options, message);
	case OPTION_TYPE:
		return take_types(options, optarg, message);
	case OPTION_UNIT:
		return take_units(options, optarg, message);
	}
	return -EINVAL;
}

int virgo_options_parse(struct virgo_program_options *options, const struct virgo_offer *offer, int argc,
			char **argv, struct message *message)
{
	int error;

	memset(options, 0, sizeof(*options));
	options->offer = offer;
	options->threads = DEFAULT_THREADS;
	memset(options->form, true, offer->forms);
	memcpy(options->type, offer->type, sizeof(options->type));
	for (unsigned int i = 0; i < offer->products; i++) {
		options->m[i] = offer->size[i][0];
		options->n[i] = offer->size[i][1];
		options->k[i] = offer->size[i][2];
	}
	error = arguments_parse(&options->common, argc, argv, long_options, take_option, options, message);
	if (error || options->common.help)
		return error;
	if (options->common.input.path)
		return message_set(message, -EINVAL, "%s: this program takes no input", options->common.input.path);
	return 0;
}
