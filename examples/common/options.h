/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The command line that the example programs share. */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <stdbool.h>

#include "examples/common/arguments.h"
#include "examples/common/message.h"
#include "maple.h"

#define FORM_COUNT 4

struct options {
	struct common_options common;
	bool form[FORM_COUNT];		/* by enum maple_form */
	unsigned int access_threads;
	unsigned int execute_threads;
	unsigned int roots;		/* bfs */
	bool register_memory;
};

/* 0, or -EINVAL with a message. */
int options_parse(struct options *options, int argc, char **argv, struct message *message);
void options_help(const char *program, const char *summary);
const char *form_name(enum maple_form form);

#endif
