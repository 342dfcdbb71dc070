/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic dis: instruction words of DARE to assembly text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libdare/dare_assembly.h"
#include "tools/common/tools.h"
#include "tools/dare/words.h"

static const char usage[] =
	"Usage: mimic dis [OPTION...] [FILE]\n\n"
	"Turns instruction words of DARE into text that mimic asm takes again. FILE, or else standard\n"
	"input, has them in hexadecimal, with or without 0x, apart by spaces or newlines; # begins a\n"
	"comment. A word that is no instruction becomes a .word.\n\n"
	"  -b, --binary       FILE has words of 4 bytes, little endian\n"
	"  --json             print JSON\n"
	"  -o, --output FILE  write to FILE instead of standard output\n"
	"  --help             this text\n\n"
	"Exit status: 0; 1: cannot write; 2: bad options, or input that is no words. Nothing is\n"
	"written then.\n";

static const char separators[] = " \t\r";

/* 1 to 8 digits, perhaps behind 0x. */
static bool parse_hex(const char *text, size_t length, uint32_t *value)
{
	char digits[9];

	if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		text += 2;
		length -= 2;
	}
	if (!length || length > 8 || strspn(text, "0123456789abcdefABCDEF") < length)
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	*value = (uint32_t)strtoul(digits, NULL, 16);
	return true;
}

static bool take_line(struct words *words, const char *line, unsigned long number)
{
	const char *position = line + strspn(line, separators);
	uint32_t value;

	while (*position && *position != '#') {
		size_t length = strcspn(position, " \t\r#");

		if (!parse_hex(position, length, &value)) {
			tool_words_mistake(words, number, (unsigned int)(position - line) + 1,
					   "expected a word: up to 8 hexadecimal digits");
			return true;
		}
		if (!tool_words_add(words, value))
			return false;
		position += length;
		position += strspn(position, separators);
	}
	return true;
}

static int read_binary(struct words *words, FILE *file)
{
	unsigned long long bytes = 0;
	uint32_t value = 0;
	int byte;

	errno = 0;
	while ((byte = getc(file)) != EOF) {
		value |= (uint32_t)byte << 8 * (bytes % 4);
		if (++bytes % 4)
			continue;
		if (!tool_words_add(words, value))
			return tool_words_out_of_memory(words);
		value = 0;
	}
	if (ferror(file))
		return tool_error(EXIT_BAD_INPUT, "dis: %s: %s", words->input, strerror(errno));
	if (bytes % 4)
		return tool_error(EXIT_BAD_INPUT, "dis: %s: %llu bytes, which is no multiple of 4", words->input, bytes);
	return 0;
}

static void print_text(FILE *file, const struct words *words)
{
	char text[DARE_TEXT_SIZE];

	for (size_t i = 0; i < words->count; i++) {
		dare_disassemble(words->values[i], text, sizeof(text));
		fprintf(file, "%s\n", text);
	}
}

int tool_dis(int argc, char **argv)
{
	struct word_options options = { 0 };
	int status = tool_words_options(argc, argv, usage, &options);
	struct words words;
	FILE *file;

	if (status)
		return status;
	file = tool_words_open(&words, "dis", &options);
	if (!file)
		return EXIT_BAD_INPUT;
	status = options.binary ? read_binary(&words, file) : tool_words_read_lines(&words, file, take_line);
	if (file != stdin)
		fclose(file);
	if (status) {
		free(words.values);
		return status;
	}
	return tool_words_finish(&words, &options, options.json ? tool_words_print_json : print_text);
}
