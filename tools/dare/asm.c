/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic asm: assembly text of DARE to instruction words. */
#include <stdlib.h>
#include <unistd.h>

#include "libdare/dare_assembly.h"
#include "tools/common/tools.h"
#include "tools/dare/words.h"

static const char usage[] =
	"Usage: mimic asm [OPTION...] [FILE]\n\n"
	"Turns instructions of DARE into words. FILE, or else standard input, has one on a line:\n\n"
	"  mcfg a0, a1            # comments begin with # or //\n"
	"  mld m1, (a0), a1\n"
	"  mma m0, m1, m2\n"
	"  .word 0x0400082b\n\n"
	"Prints one word on a line in hexadecimal. docs/dare-isa.md has all instructions.\n\n"
	"  -b, --binary       write words of 4 bytes, little endian; not to a terminal\n"
	"  --json             print JSON\n"
	"  -o, --output FILE  write to FILE instead of standard output\n"
	"  --help             this text\n\n"
	"Exit status: 0; 1: cannot write; 2: bad options, or a line that is no instruction. Nothing\n"
	"is written then.\n";

static bool take_line(struct words *words, const char *line, unsigned long number)
{
	struct dare_assembly_error error;
	uint32_t word;
	int count = dare_assemble(line, &word, &error);

	if (count == 1)
		return tool_words_add(words, word);
	if (count < 0)
		tool_words_mistake(words, number, error.column, error.text);
	return true;
}

static void print_hex(FILE *file, const struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		fprintf(file, "0x%08x\n", words->values[i]);
}

static void print_binary(FILE *file, const struct words *words)
{
	for (size_t i = 0; i < words->count; i++) {
		for (unsigned int shift = 0; shift < 32; shift += 8)
			putc((int)(words->values[i] >> shift & 0xff), file);
	}
}

int tool_asm(int argc, char **argv)
{
	struct word_options options = { 0 };
	int status = tool_words_options(argc, argv, usage, &options);
	struct words words;
	FILE *file;

	if (status)
		return status;
	if (options.binary && options.json)
		return tool_error(EXIT_BAD_INPUT, "asm: --binary and --json exclude each other");
	if (options.binary && !options.output && isatty(STDOUT_FILENO))
		return tool_error(EXIT_BAD_INPUT, "asm: --binary to a terminal; give --output FILE");
	file = tool_words_open(&words, "asm", &options);
	if (!file)
		return EXIT_BAD_INPUT;
	status = tool_words_read_lines(&words, file, take_line);
	if (file != stdin)
		fclose(file);
	if (status) {
		free(words.values);
		return status;
	}
	return tool_words_finish(&words, &options,
				 options.json ? tool_words_print_json :
				 options.binary ? print_binary : print_hex);
}
