/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/generate.h"

#define DEFAULT_SEED 1
#define EXPAND_MAX 1024

const char *argument_number(const char *text, char stop, uint64_t *value)
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

int argument_bounded(const char *option, const char *text, uint64_t minimum, uint64_t maximum,
		     uint64_t *value, struct message *message)
{
	if (argument_number(text, '\0', value) && *value >= minimum && *value <= maximum)
		return 0;
	return message_set(message, -EINVAL, "--%s %s: it must be a number from %llu to %llu", option, text,
			   (unsigned long long)minimum, (unsigned long long)maximum);
}

int argument_transport(const char *text, struct message *message)
{
	if (strcmp(text, "auto") && strcmp(text, "kernel") && strcmp(text, "daemon") && strcmp(text, "embedded"))
		return message_set(message, -EINVAL, "--transport %s: it must be auto, kernel, daemon or embedded",
				   text);
	return 0;
}

int argument_uniform(struct input *input, const char *text, struct message *message)
{
	uint64_t rows = 0, columns = 0, per_row = 0;
	const char *rest = argument_number(text, 'x', &rows), *third;

	third = rest ? argument_number(rest, 'x', &columns) : NULL;
	if (third)
		rest = third;
	if (!rest || !argument_number(rest, '\0', &per_row) || rows < 1 || rows > UINT32_MAX || per_row < 1 ||
	    (third && (columns < 1 || columns > UINT32_MAX)))
		return message_set(message, -EINVAL, "--uniform %s: it must be ROWSxNNZ, such as 1000000x16, or "
				   "ROWSxCOLUMNSxNNZ", text);
	if (!third)
		columns = rows;
	if (per_row > columns)
		return message_set(message, -EINVAL, "--uniform %s: %" PRIu64 " non-zeros in each row are more than its %"
				   PRIu64 " columns", text, per_row, columns);
	input->uniform_rows = rows;
	input->uniform_columns = third ? columns : 0;
	input->uniform_per_row = per_row;
	return 0;
}

int argument_size(const char *option, const char *text, size_t maximum, size_t *m, size_t *n, size_t *k,
		  struct message *message)
{
	uint64_t rows = 0, columns = 0, depth = 0;
	const char *rest = argument_number(text, 'x', &rows);

	if (rest)
		rest = argument_number(rest, 'x', &columns);
	if (!rest || !argument_number(rest, '\0', &depth) || rows < 1 || columns < 1 || depth < 1 ||
	    rows > maximum || columns > maximum || depth > maximum)
		return message_set(message, -EINVAL, "--%s %s: it must be MxNxK, each from 1 to %zu", option, text,
				   maximum);
	*m = (size_t)rows;
	*n = (size_t)columns;
	*k = (size_t)depth;
	return 0;
}

static int no_such_name(const char *option, const char *text, size_t length, const char *const *names,
			unsigned int count, struct message *message)
{
	char list[128] = "";

	for (unsigned int i = 0; i < count; i++) {
		strcat(list, names[i]);
		strcat(list, i + 1 < count ? ", " : " or all");
	}
	return message_set(message, -EINVAL, "--%s %.*s: it must be %s", option, (int)length, text, list);
}

int argument_names(const char *option, const char *text, const char *const *names, unsigned int count,
		   bool *chosen, struct message *message)
{
	memset(chosen, 0, count * sizeof(*chosen));
	for (;;) {
		size_t length = strcspn(text, ",");
		bool all = length == 3 && memcmp(text, "all", 3) == 0, found = all;

		for (unsigned int i = 0; i < count; i++) {
			bool same = strlen(names[i]) == length && memcmp(names[i], text, length) == 0;

			chosen[i] |= all || same;
			found |= same;
		}
		if (!found)
			return no_such_name(option, text, length, names, count, message);
		if (text[length] == '\0')
			return 0;
		text += length + 1;
	}
}

static int source_count(const struct input *input)
{
	return (input->path != NULL) + (input->kronecker_scale != 0) + (input->uniform_rows != 0) +
	       (input->power_law_vertices != 0) + (input->collab_vertices != 0) + (input->proteins_vertices != 0) +
	       (input->attention_tokens != 0);
}

bool input_is_given(const struct input *input)
{
	return source_count(input) > 0;
}

/* The rest of the command line, from `first` on, is one file at most, and the only input. */
static int take_input(struct input *input, int argc, char **argv, int first, struct message *message)
{
	if (argc - first > 1)
		return message_set(message, -EINVAL, "%s: one input at a time", argv[first + 1]);
	if (first < argc)
		input->path = argv[first];
	if (source_count(input) > 1)
		return message_set(message, -EINVAL, "more than one of FILE, --kronecker, --power-law, --collab, --proteins, "
				   "--attention and --uniform");
	return 0;
}

static int take_kronecker(struct input *input, struct message *message)
{
	uint64_t scale = 0, edge_factor = 0;
	const char *rest = argument_number(optarg, 'x', &scale);
	int error;

	if (!rest) {
		error = argument_bounded("kronecker", optarg, 1, KRONECKER_SCALE_MAX, &scale, message);
		input->kronecker_scale = (unsigned int)scale;
		return error;
	}
	if (scale < 1 || scale > KRONECKER_SCALE_MAX || !argument_number(rest, '\0', &edge_factor) || edge_factor < 1 ||
	    edge_factor > KRONECKER_EDGE_FACTOR_MAX)
		return message_set(message, -EINVAL, "--kronecker %s: it must be SCALE, or SCALExEDGES", optarg);
	input->kronecker_scale = (unsigned int)scale;
	input->kronecker_edge_factor = (unsigned int)edge_factor;
	return 0;
}

static int take_power_law(struct input *input, struct message *message)
{
	uint64_t vertices = 0, edges = 0, largest = 0;
	const char *rest = argument_number(optarg, 'x', &vertices);

	if (rest)
		rest = argument_number(rest, 'x', &edges);
	if (!rest || !argument_number(rest, '\0', &largest) || vertices < 1)
		return message_set(message, -EINVAL, "--power-law %s: it must be VERTICESxEDGESxDEGREE", optarg);
	input->power_law_vertices = vertices;
	input->power_law_edges = edges;
	input->power_law_largest = largest;
	return 0;
}

/* VERTICESxDEGREE; the generator checks their ranges. */
static int take_graph(const char *option, uint64_t *vertices, uint64_t *degree, struct message *message)
{
	const char *rest = argument_number(optarg, 'x', vertices);

	if (!rest || !argument_number(rest, '\0', degree) || *vertices < 1 || *degree < 1)
		return message_set(message, -EINVAL, "--%s %s: it must be VERTICESxDEGREE", option, optarg);
	return 0;
}

static int take_expand(struct input *input, struct message *message)
{
	uint64_t side = 0;
	int error = argument_bounded("expand", optarg, 1, EXPAND_MAX, &side, message);

	input->expand = (unsigned int)side;
	return error;
}

static int take_common(struct common_options *common, int option, struct message *message)
{
	switch ((enum common_option)option) {
	case OPTION_TRANSPORT:
		common->transport = optarg;
		return argument_transport(optarg, message);
	case OPTION_SOCKET:
		common->socket_path = optarg;
		return 0;
	case OPTION_CONFIG:
		common->config_path = optarg;
		return 0;
	case OPTION_DEVICE:
		common->device = optarg;
		return 0;
	case OPTION_KRONECKER:
		return take_kronecker(&common->input, message);
	case OPTION_POWER_LAW:
		return take_power_law(&common->input, message);
	case OPTION_COLLAB:
		return take_graph("collab", &common->input.collab_vertices, &common->input.collab_degree, message);
	case OPTION_PROTEINS:
		return take_graph("proteins", &common->input.proteins_vertices, &common->input.proteins_degree, message);
	case OPTION_ATTENTION:
		return argument_bounded("attention", optarg, 1, ATTENTION_TOKENS_MAX, &common->input.attention_tokens,
					message);
	case OPTION_BFS_VERTICES:
		return argument_bounded("bfs-vertices", optarg, 1, UINT32_MAX, &common->input.bfs_vertices, message);
	case OPTION_EXPAND:
		return take_expand(&common->input, message);
	case OPTION_UNIFORM:
		return argument_uniform(&common->input, optarg, message);
	case OPTION_SEED:
		return argument_bounded("seed", optarg, 0, UINT64_MAX, &common->input.seed, message);
	case OPTION_JSON:
		common->json = true;
		return 0;
	case OPTION_HELP:
		common->help = true;
		return 0;
	}
	return -EINVAL;
}

int arguments_parse(struct common_options *common, int argc, char **argv, const struct option *long_options,
		    int (*take_option)(void *context, int option, struct message *message), void *context,
		    struct message *message)
{
	int option, error;

	*common = (struct common_options){ .input.seed = DEFAULT_SEED };
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		if (option == ':')
			return message_set(message, -EINVAL, "%s needs a value; see --help", argv[optind - 1]);
		if (option == '?')
			return message_set(message, -EINVAL, "%s: unknown option; --help lists them", argv[optind - 1]);
		if (option < OPTION_TRANSPORT)
			error = take_option(context, option, message);
		else
			error = take_common(common, option, message);
		if (error || common->help)
			return error;
	}
	return take_input(&common->input, argc, argv, optind, message);
}

enum status status_of_error(const struct common_options *common, int error)
{
	/* With --config there is no daemon that could refuse us: then it is the file that cannot be read. */
	if (error == -EINVAL || error == -ENOENT || (error == -EACCES && common->config_path))
		return STATUS_BAD_INPUT;
	/* A name that the user gave, not a machine without such devices. */
	if (error == -ENODEV && common->device)
		return STATUS_BAD_INPUT;
	return STATUS_FAILED;
}

static void print_help(const char *devices, const char *inputs)
{
	printf("  --transport NAME     kernel, daemon, embedded, or auto: the first that is there; default auto\n"
	       "  --socket PATH        socket of the daemon\n"
	       "  --config FILE        configuration of the device; embedded only, and auto is then embedded\n"
	       "  --device NAME        %s\n"
	       "%s"
	       "  --seed NUMBER        of generated data; default %d\n"
	       "  --json               print the report as JSON\n"
	       "  --help               print this\n\n"
	       "Exit status: 0 all results verified, 1 a wrong result or a failing device, 2 bad input.\n",
	       devices, inputs, DEFAULT_SEED);
}

void arguments_help(const char *devices)
{
	print_help(devices,
		   "  --kronecker SCALE    a Graph500 graph of 2^SCALE vertices, 16 edges for each; SCALExEDGES: as many\n"
		   "  --power-law VERTICESxEDGESxDEGREE\n"
		   "                       a graph whose degrees follow a power law, the largest near DEGREE\n"
		   "  --collab VERTICESxDEGREE, --proteins VERTICESxDEGREE, --attention TOKENS\n"
		   "                       stand-ins for the DARE paper's data: co-authors, communities, a causal mask\n"
		   "  --uniform ROWSxNNZ   a square matrix of ROWS rows, NNZ non-zeros in each row, at random columns;\n"
		   "                       ROWSxCOLUMNSxNNZ: not a square one\n"
		   "  --bfs-vertices N     of any of these only the N vertices that a breadth-first search finds first\n"
		   "  --expand N           each element becomes a block of N x N\n");
}

void arguments_help_device(const char *devices)
{
	print_help(devices, "");
}
