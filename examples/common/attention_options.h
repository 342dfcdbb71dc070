/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The command line of flash_attention. */
#ifndef EXAMPLES_ATTENTION_OPTIONS_H
#define EXAMPLES_ATTENTION_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "examples/common/arguments.h"
#include "examples/common/attention_check.h"
#include "examples/common/message.h"

struct attention_options {
	struct common_options common;
	size_t sequence, head;
	bool exp[ATTENTION_EXPS];
	bool has_unit;
	unsigned int unit;
	unsigned int threads;
};

/* 0, or -EINVAL with a message. */
int attention_options_parse(struct attention_options *options, int argc, char **argv, struct message *message);
void attention_options_help(const char *program);

const char *attention_exp_text(enum attention_exp exp);

#endif
