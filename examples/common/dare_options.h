/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The command line of the DARE example programs. */
#ifndef EXAMPLES_DARE_OPTIONS_H
#define EXAMPLES_DARE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "dare.h"
#include "examples/common/arguments.h"
#include "examples/common/message.h"

enum dare_program_form { PROGRAM_PLAIN, PROGRAM_BASELINE, PROGRAM_GSA, PROGRAM_AUTO, PROGRAM_FORMS };
enum dare_program_type { PROGRAM_FP32, PROGRAM_BF16, PROGRAM_INT8, PROGRAM_TYPES };
#define PROGRAM_BLOCKS 5

struct dare_program_options {
	struct common_options common;
	bool form[PROGRAM_FORMS];
	bool block[PROGRAM_BLOCKS];		/* of 1 << i */
	bool type[PROGRAM_TYPES];		/* gemm */
	enum dare_layout layout;
	size_t columns;				/* of the dense matrices */
	size_t m, n, k;				/* gemm, generated */
};

/* `is_sparse`: a program with forms and blocks; else one with types and a size. 0, or -EINVAL with a message. */
int dare_options_parse(struct dare_program_options *options, bool is_sparse, int argc, char **argv,
		       struct message *message);
void dare_options_help(const char *program, const char *summary, bool is_sparse);

const char *dare_form_name(enum dare_program_form form);
const char *dare_type_name(enum dare_program_type type);

#endif
