/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The command line of the Virgo example programs. */
#ifndef EXAMPLES_VIRGO_OPTIONS_H
#define EXAMPLES_VIRGO_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "examples/common/arguments.h"
#include "examples/common/message.h"
#include "mimic/virgo_registers.h"

#define VIRGO_PROGRAM_PRODUCTS 2
#define VIRGO_PROGRAM_FORMS 4

/* The forms of one program. The first form is "plain" and uses no device, the last one is "library". */
struct virgo_offer {
	const char *form[VIRGO_PROGRAM_FORMS];
	unsigned int forms;
	bool type[VIRGO_TYPES];
	unsigned int products;			/* at once, each on a unit of its own */
	size_t size[VIRGO_PROGRAM_PRODUCTS][3];	/* the default M, N, K */
};

struct virgo_program_options {
	struct common_options common;
	const struct virgo_offer *offer;
	bool form[VIRGO_PROGRAM_FORMS];
	bool type[VIRGO_TYPES];
	bool has_types;				/* they were named, so each must be there */
	bool has_units;
	unsigned int unit[VIRGO_PROGRAM_PRODUCTS];
	unsigned int threads;
	size_t m[VIRGO_PROGRAM_PRODUCTS], n[VIRGO_PROGRAM_PRODUCTS], k[VIRGO_PROGRAM_PRODUCTS];
};

/* 0, or -EINVAL with a message. */
int virgo_options_parse(struct virgo_program_options *options, const struct virgo_offer *offer, int argc,
			char **argv, struct message *message);
void virgo_options_help(const char *program, const char *summary, const struct virgo_offer *offer);

const char *virgo_type_text(enum virgo_type type);

#endif
