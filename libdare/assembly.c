/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Assembly text of one instruction to its word and back. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/dare/isa.h"
#include "libdare/dare_assembly.h"

/*
 * The operands of each format in their order in the text (Table I):
 * d md, a ms1, b ms2 or ms3, s rs1, t rs2; other characters are themselves.
 */
static const char *const operand_texts[] = {
	[DARE_FORMAT_CONFIGURE] = "s,t",
	[DARE_FORMAT_LOAD] = "d,(s),t",
	[DARE_FORMAT_STORE] = "b,(s),t",
	[DARE_FORMAT_MULTIPLY] = "d,a,b",
	[DARE_FORMAT_GATHER] = "d,(a)",
	[DARE_FORMAT_SCATTER] = "b,(a)",
};

static const char scalar_names[32][5] = {
	"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
	"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

static unsigned int *operand(struct dare_fields *fields, char letter)
{
	switch (letter) {
	case 'd':
		return &fields->md;
	case 'a':
		return &fields->ms1;
	case 'b':
		return &fields->ms2;
	case 's':
		return &fields->rs1;
	case 't':
		return &fields->rs2;
	default:
		return NULL;
	}
}

static bool is_scalar(char letter)
{
	return letter == 's' || letter == 't';
}

/* --- text to word ------------------------------------------------------------------- */

struct token {
	const char *text;
	size_t length;		/* 0: the end of the line */
};

struct parser {
	const char *line;
	const char *position;
	struct dare_assembly_error *error;
};

static bool is_word_byte(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
	       byte == '.' || byte == '_' || byte == '-';
}

static bool is_end(const char *text)
{
	return !*text || *text == '\n' || *text == '#' || (text[0] == '/' && text[1] == '/');
}

static struct token next_token(struct parser *parser)
{
	struct token token;

	parser->position += strspn(parser->position, " \t\r");
	token = (struct token){ parser->position, 0 };
	if (is_end(token.text))
		return token;
	while (is_word_byte(token.text[token.length]))
		token.length++;
	if (!token.length)
		token.length = 1;
	parser->position += token.length;
	return token;
}

static bool token_is(struct token token, const char *text)
{
	return strlen(text) == token.length && !memcmp(token.text, text, token.length);
}

/* Says that `expected` is missing where `token` is. */
static int wrong(const struct parser *parser, struct token token, const char *expected)
{
	struct dare_assembly_error *error = parser->error;
	char shown[41];
	size_t i;

	if (!error)
		return -EINVAL;
	error->column = (unsigned int)(token.text - parser->line) + 1;
	if (!token.length) {
		snprintf(error->text, sizeof(error->text), "%s, not the end of the line", expected);
		return -EINVAL;
	}
	/* The text may come from anywhere, and the message may go to a terminal. */
	for (i = 0; i < token.length && i < sizeof(shown) - 1; i++)
		shown[i] = token.text[i] < ' ' || token.text[i] > '~' ? '?' : token.text[i];
	shown[i] = '\0';
	snprintf(error->text, sizeof(error->text), "%s, not '%s%s'", expected, shown,
		 i < token.length ? "..." : "");
	return -EINVAL;
}

/* `prefix` and a number without superfluous zeros; -EINVAL if it is not that or above `largest`. */
static int numbered(const char *name, size_t length, char prefix, int largest)
{
	int number = 0;

	if (length < 2 || length > 3 || name[0] != prefix || (name[1] == '0' && length > 2))
		return -EINVAL;
	for (size_t i = 1; i < length; i++) {
		if (name[i] < '0' || name[i] > '9')
			return -EINVAL;
		number = 10 * number + name[i] - '0';
	}
	return number <= largest ? number : -EINVAL;
}

int dare_scalar_register(const char *name, size_t length)
{
	if (!name)
		return -EINVAL;
	if (length == 2 && !memcmp(name, "fp", 2))
		return 8;
	for (int i = 0; i < 32; i++) {
		if (strlen(scalar_names[i]) == length && !memcmp(scalar_names[i], name, length))
			return i;
	}
	return numbered(name, length, 'x', 31);
}

static int parse_operand(struct parser *parser, char letter, struct dare_fields *fields)
{
	struct token token = next_token(parser);
	const char *expected;
	int number;

	if (is_scalar(letter)) {
		expected = "expected a scalar register (x0 to x31, or a name such as a0)";
		number = dare_scalar_register(token.text, token.length);
	} else {
		expected = "expected a matrix register (m0 to m7)";
		number = numbered(token.text, token.length, 'm', DARE_REGISTERS - 1);
	}
	if (number < 0)
		return wrong(parser, token, expected);
	*operand(fields, letter) = (unsigned int)number;
	return 0;
}

static int parse_sign(struct parser *parser, char sign)
{
	struct token token = next_token(parser);
	const char expected[] = { 'e', 'x', 'p', 'e', 'c', 't', 'e', 'd', ' ', '\'', sign, '\'', '\0' };

	if (token.length == 1 && *token.text == sign)
		return 0;
	return wrong(parser, token, expected);
}

static int parse_end(struct parser *parser)
{
	struct token token = next_token(parser);

	return token.length ? wrong(parser, token, "expected the end of the line") : 0;
}

static int parse_word(struct parser *parser, uint32_t *word)
{
	static const char expected[] = "expected a number from 0 to 0xffffffff";
	struct token token = next_token(parser);
	unsigned long long value;
	char *end;
	int error;

	/* strtoull() would take a sign and the spaces before one. */
	if (!token.length || *token.text < '0' || *token.text > '9')
		return wrong(parser, token, expected);
	errno = 0;
	value = strtoull(token.text, &end, 0);
	if (errno || value > UINT32_MAX || end != token.text + token.length)
		return wrong(parser, token, expected);
	error = parse_end(parser);
	if (error)
		return error;
	*word = (uint32_t)value;
	return 1;
}

static int parse_operands(struct parser *parser, enum dare_operation operation, uint32_t *word)
{
	struct dare_fields fields = { .operation = operation };
	const char *text = operand_texts[dare_instructions[operation].format];
	int error;

	for (; *text; text++) {
		if (operand(&fields, *text))
			error = parse_operand(parser, *text, &fields);
		else
			error = parse_sign(parser, *text);
		if (error)
			return error;
	}
	error = parse_end(parser);
	if (error)
		return error;
	error = dare_encode(&fields, word);
	return error ? error : 1;
}

int dare_assemble(const char *line, uint32_t *word, struct dare_assembly_error *error)
{
	struct parser parser = { line, line, error };
	struct token token;

	if (!line || !word)
		return -EINVAL;
	token = next_token(&parser);
	if (!token.length)
		return 0;
	if (token_is(token, ".word"))
		return parse_word(&parser, word);
	for (unsigned int i = 0; i < DARE_OPERATION_COUNT; i++) {
		if (token_is(token, dare_instructions[i].name))
			return parse_operands(&parser, (enum dare_operation)i, word);
	}
	return wrong(&parser, token, "expected an instruction of DARE or .word");
}

/* --- word to text -------------------------------------------------------------------- */

static size_t append_operand(char *text, struct dare_fields *fields, char letter)
{
	unsigned int number = *operand(fields, letter);

	if (is_scalar(letter))
		return (size_t)sprintf(text, "%s", scalar_names[number]);
	return (size_t)sprintf(text, "m%u", number);
}

int dare_disassemble(uint32_t word, char *text, size_t size)
{
	struct dare_fields fields;
	char whole[DARE_TEXT_SIZE];
	const char *operands;
	size_t length;

	if (dare_decode(word, &fields))
		return snprintf(text, size, ".word 0x%08x", word);
	length = (size_t)sprintf(whole, "%s ", dare_instructions[fields.operation].name);
	operands = operand_texts[dare_instructions[fields.operation].format];
	for (; *operands; operands++) {
		if (operand(&fields, *operands)) {
			length += append_operand(whole + length, &fields, *operands);
			continue;
		}
		whole[length++] = *operands;
		if (*operands == ',')
			whole[length++] = ' ';
	}
	whole[length] = '\0';
	return snprintf(text, size, "%s", whole);
}
