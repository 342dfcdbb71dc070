/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The common part of asm and dis: options, lists of instruction words, where they come from and go to. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libdare/dare_assembly.h"
#include "tools/common/tools.h"
#include "tools/dare/words.h"

#define MISTAKES_SHOWN 20

int tool_words_options(int argc, char **argv, const char *usage, struct word_options *options)
{
	const struct mimic_option list[] = {
		{ .name = "binary", .letter = 'b', .flag = &options->binary },
		{ .name = "json", .flag = &options->json },
		{ .name = "output", .letter = 'o', .value = &options->output },
	};
	int status = tool_options(argc, argv, usage, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]));

	if (!status)
		status = tool_words(argc, argv, 0, 1);
	if (!status && argc > optind && strcmp(argv[optind], "-") != 0)
		options->input = argv[optind];
	return status;
}

FILE *tool_words_open(struct words *words, const char *command, const struct word_options *options)
{
	FILE *file;

	*words = (struct words){ .command = command, .input = options->input };
	if (!words->input) {
		words->input = "standard input";
		return stdin;
	}
	file = fopen(words->input, "re");
	if (!file)
		tool_error(EXIT_BAD_INPUT, "%s: %s: %s", command, words->input, strerror(errno));
	return file;
}

bool tool_words_add(struct words *words, uint32_t value)
{
	if (words->count == words->capacity) {
		size_t capacity = words->capacity ? 2 * words->capacity : 256;
		uint32_t *values = reallocarray(words->values, capacity, sizeof(*values));

		if (!values)
			return false;
		words->values = values;
		words->capacity = capacity;
	}
	words->values[words->count++] = value;
	return true;
}

void tool_words_mistake(struct words *words, unsigned long line, unsigned int column, const char *text)
{
	if (words->mistakes++ < MISTAKES_SHOWN)
		tool_error(EXIT_BAD_INPUT, "%s: %s:%lu:%u: %s", words->command, words->input, line, column, text);
}

int tool_words_out_of_memory(const struct words *words)
{
	return tool_error(EXIT_FAILURE, "%s: %s: out of memory", words->command, words->input);
}

int tool_words_read_lines(struct words *words, FILE *file,
			  bool (*take_line)(struct words *words, const char *line, unsigned long number))
{
	unsigned long number = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int status = 0;

	errno = 0;
	while (!status && (length = getline(&line, &size, file)) >= 0) {
		size_t text_length = strcspn(line, "\n");

		number++;
		/* A null byte would hide the rest of its line. */
		if (strlen(line) < (size_t)length) {
			tool_words_mistake(words, number, (unsigned int)strlen(line) + 1,
					   "a null byte; this is no text");
			continue;
		}
		line[text_length] = '\0';
		if (!take_line(words, line, number))
			status = tool_words_out_of_memory(words);
		errno = 0;
	}
	if (!status && !feof(file))
		status = tool_error(EXIT_BAD_INPUT, "%s: %s: %s", words->command, words->input, strerror(errno));
	free(line);
	return status;
}

static int write_words(const struct words *words, const struct word_options *options,
		       void (*print)(FILE *file, const struct words *words))
{
	const char *name = options->output ? options->output : "standard output";
	FILE *file = options->output ? fopen(options->output, "we") : stdout;
	bool has_failed;

	if (!file)
		return tool_error(EXIT_BAD_INPUT, "%s: %s: %s", words->command, name, strerror(errno));
	errno = 0;
	print(file, words);
	has_failed = fflush(file) || ferror(file);
	if (file != stdout && fclose(file))
		has_failed = true;
	if (has_failed)
		return tool_error(EXIT_FAILURE, "%s: %s: %s", words->command, name, strerror(errno));
	return EXIT_SUCCESS;
}

int tool_words_finish(struct words *words, const struct word_options *options,
		      void (*print)(FILE *file, const struct words *words))
{
	int status;

	if (words->mistakes > MISTAKES_SHOWN)
		tool_error(EXIT_BAD_INPUT, "%s: %s: and %u more", words->command, words->input,
			   words->mistakes - MISTAKES_SHOWN);
	status = words->mistakes ? EXIT_BAD_INPUT : write_words(words, options, print);
	free(words->values);
	return status;
}

void tool_words_print_json(FILE *file, const struct words *words)
{
	char text[DARE_TEXT_SIZE];

	fputs("{\"instructions\": [", file);
	for (size_t i = 0; i < words->count; i++) {
		dare_disassemble(words->values[i], text, sizeof(text));
		fprintf(file, "%s\n  {\"word\": %u, \"hex\": \"0x%08x\", \"text\": \"%s\"}", i ? "," : "",
			words->values[i], words->values[i], text);
	}
	fputs(words->count ? "\n]}\n" : "]}\n", file);
}
