/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The common part of mimic asm and mimic dis: lists of instruction words, in and out. */
#ifndef TOOLS_DARE_WORDS_H
#define TOOLS_DARE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int tool_asm(int argc, char **argv);
int tool_dis(int argc, char **argv);

struct word_options {
	const char *input;	/* NULL: standard input */
	const char *output;	/* NULL: standard output */
	bool binary;
	bool json;
};

struct words {
	const char *command;	/* for messages */
	const char *input;	/* its name, for messages */
	uint32_t *values;
	size_t count;
	size_t capacity;
	unsigned int mistakes;
};

/* Options and at most one file. 0, or the exit status after a message. */
int tool_words_options(int argc, char **argv, const char *usage, struct word_options *options);
/* The file to read. NULL after a message. */
FILE *tool_words_open(struct words *words, const char *command, const struct word_options *options);
bool tool_words_add(struct words *words, uint32_t value);
/* Counts a mistake in the input and prints it, unless many were printed before. */
void tool_words_mistake(struct words *words, unsigned long line, unsigned int column, const char *text);
/*
 * Reads lines until the end and gives each to take_line(), without its newline.
 * Ends `words` if out of memory. 0, or the exit status after a message.
 */
int tool_words_read_lines(struct words *words, FILE *file,
			  bool (*take_line)(struct words *words, const char *line, unsigned long number));
int tool_words_out_of_memory(const struct words *words);
/*
 * Writes all words by print() to where the options say, and frees them. Only if
 * there was no mistake; else the old file stays. Returns the exit status.
 */
int tool_words_finish(struct words *words, const struct word_options *options,
		      void (*print)(FILE *file, const struct words *words));
void tool_words_print_json(FILE *file, const struct words *words);

#endif
