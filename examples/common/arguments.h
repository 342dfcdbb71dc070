/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The options that all example programs take, and their values. Functions that can fail
 * return 0, or -EINVAL with a message.
 *
 * It is the examples' one parser, and not options/ of mimic's commands: examples are installed as
 * sources that users copy, with examples/common and the libraries and nothing else of mimic's.
 */
#ifndef EXAMPLES_ARGUMENTS_H
#define EXAMPLES_ARGUMENTS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "examples/common/input.h"
#include "examples/common/message.h"

/* Digits only, up to `end` of the text or the character `stop`; returns the rest, NULL if it is no such number. */
const char *argument_number(const char *text, char stop, uint64_t *value);

int argument_bounded(const char *option, const char *text, uint64_t minimum, uint64_t maximum,
		     uint64_t *value, struct message *message);
int argument_transport(const char *text, struct message *message);
int argument_uniform(struct input *input, const char *text, struct message *message);
/* MxNxK, each from 1 to `maximum` */
int argument_size(const char *option, const char *text, size_t maximum, size_t *m, size_t *n, size_t *k,
		  struct message *message);

/* Sets chosen[i] for each name of a list with commas, or for all. All names fit in 128 bytes of a message. */
int argument_names(const char *option, const char *text, const char *const *names, unsigned int count,
		   bool *chosen, struct message *message);

bool input_is_given(const struct input *input);

/* The input, the device, and the form of the report. */
struct common_options {
	struct input input;
	const char *transport;
	const char *socket_path;
	const char *config_path;
	const char *device;
	bool json;
	bool help;
};

/* Codes of the common options; a program's own are lower. */
enum common_option {
	OPTION_TRANSPORT = 256, OPTION_SOCKET, OPTION_CONFIG, OPTION_DEVICE, OPTION_KRONECKER,
	OPTION_POWER_LAW, OPTION_COLLAB, OPTION_PROTEINS, OPTION_ATTENTION, OPTION_UNIFORM, OPTION_BFS_VERTICES, OPTION_EXPAND,
	OPTION_SEED, OPTION_JSON, OPTION_HELP,
};

/* The last entries of the list of a program that takes no input. */
#define DEVICE_LONG_OPTIONS \
	{ "transport", required_argument, NULL, OPTION_TRANSPORT }, \
	{ "socket", required_argument, NULL, OPTION_SOCKET }, \
	{ "config", required_argument, NULL, OPTION_CONFIG }, \
	{ "device", required_argument, NULL, OPTION_DEVICE }, \
	{ "seed", required_argument, NULL, OPTION_SEED }, \
	{ "json", no_argument, NULL, OPTION_JSON }, \
	{ "help", no_argument, NULL, OPTION_HELP }, \
	{ NULL, 0, NULL, 0 }

/* ... and of one that does. */
#define COMMON_LONG_OPTIONS \
	{ "kronecker", required_argument, NULL, OPTION_KRONECKER }, \
	{ "power-law", required_argument, NULL, OPTION_POWER_LAW }, \
	{ "collab", required_argument, NULL, OPTION_COLLAB }, \
	{ "proteins", required_argument, NULL, OPTION_PROTEINS }, \
	{ "attention", required_argument, NULL, OPTION_ATTENTION }, \
	{ "uniform", required_argument, NULL, OPTION_UNIFORM }, \
	{ "bfs-vertices", required_argument, NULL, OPTION_BFS_VERTICES }, \
	{ "expand", required_argument, NULL, OPTION_EXPAND }, \
	DEVICE_LONG_OPTIONS

/*
 * Reads the command line up to --help: the common options and at most one
 * input. take_option(context, option) gets the program's own, with optarg; NULL: it has none.
 */
int arguments_parse(struct common_options *common, int argc, char **argv, const struct option *long_options,
		    int (*take_option)(void *context, int option, struct message *message), void *context,
		    struct message *message);

/* Exit statuses. */
enum status { STATUS_VERIFIED = 0, STATUS_FAILED = 1, STATUS_BAD_INPUT = 2 };

/* Of a device that does not open, or a run that could not be. */
enum status status_of_error(const struct common_options *common, int error);

/* The common options' part of the help: `devices` lists the names for --device. */
void arguments_help(const char *devices);
/* The same for a program that takes no input. */
void arguments_help_device(const char *devices);

#endif
