/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The state of a device as a list of paths, in which tests look values up. */
#ifndef TESTS_STATE_TREE_H
#define TESTS_STATE_TREE_H

#include "devices/kind.h"

enum state_type { STATE_NUMBER, STATE_TEXT, STATE_BYTES };

struct state_entry {
	char *path;		/* "registers/MAPLE/INIT" */
	enum state_type type;
	uint64_t value;		/* of a number; size of bytes */
	enum mimic_state_format format;
	char *text;
	unsigned char *bytes;
	const char *meaning;
};

struct state_tree {
	struct state_entry *entries;
	size_t count;
	char path[256];		/* of the folder that is open; "" in the end */
};

/* Aborts if there is no memory, if folders are not balanced or if a path comes twice. */
struct state_tree *state_tree_take(const struct mimic_kind *kind, const struct mimic_model *model,
				   uint64_t now);
void state_tree_free(struct state_tree *tree);

/* NULL: there is no value of this path. */
const struct state_entry *state_tree_find(const struct state_tree *tree, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* These two print the path and abort if there is no such number or text. */
uint64_t state_tree_number(const struct state_tree *tree, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
const char *state_tree_text(const struct state_tree *tree, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
