/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SHOWN 32	/* characters of a bad word that a message shows */
#define NUMBER_MAX 512	/* characters of a real number */

void scan_start(struct scan *scan, const char *name, const char *text, size_t size,
		struct message *message)
{
	memset(scan, 0, sizeof(*scan));
	scan->name = name;
	scan->next = text;
	scan->end = text + size;
	scan->message = message;
}

bool scan_line(struct scan *scan)
{
	const char *newline;

	if (scan->next == scan->end)
		return false;
	scan->line++;
	scan->at = scan->next;
	newline = memchr(scan->at, '\n', (size_t)(scan->end - scan->at));
	scan->line_end = newline ? newline : scan->end;
	scan->next = newline ? newline + 1 : scan->end;
	if (scan->line_end > scan->at && scan->line_end[-1] == '\r')
		scan->line_end--;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool scan_token(struct scan *scan, struct token *token)
{
	while (scan->at < scan->line_end && is_blank(*scan->at))
		scan->at++;
	token->text = scan->at;
	while (scan->at < scan->line_end && !is_blank(*scan->at))
		scan->at++;
	token->length = (size_t)(scan->at - token->text);
	return token->length > 0;
}

bool token_is(const struct token *token, const char *word)
{
	return token->length == strlen(word) && strncasecmp(token->text, word, token->length) == 0;
}

int scan_error(struct scan *scan, int error, const char *format, ...)
{
	char text[384];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return message_set(scan->message, error, "%s:%" PRIu64 ": %s", scan->name, scan->line, text);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A word as a message may show it: short, and no control characters. */
static const char *shown(const struct token *token, char *buffer)
{
	size_t length = token->length < SHOWN ? token->length : SHOWN;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)token->text[i];

		buffer[i] = c >= 0x20 && c < 0x7f ? (char)c : '?';
	}
	strcpy(buffer + length, token->length > SHOWN ? "..." : "");
	return buffer;
}

static int not_a_number(struct scan *scan, const char *what, const struct token *token)
{
	char buffer[SHOWN + 4];

	return scan_error(scan, -EINVAL, "%s \"%s\" is not a number", what, shown(token, buffer));
}

static int too_large(struct scan *scan, const char *what, const struct token *token)
{
	char buffer[SHOWN + 4];

	return scan_error(scan, -ERANGE, "%s %s is out of range", what, shown(token, buffer));
}

static int need_token(struct scan *scan, const char *what, struct token *token)
{
	if (scan_token(scan, token))
		return 0;
	return scan_error(scan, -EINVAL, "%s is missing", what);
}

/* -EINVAL: not digits only; -ERANGE: does not fit. */
static int parse_digits(const char *text, size_t length, uint64_t *value)
{
	bool overflow = false;

	*value = 0;
	if (length == 0)
		return -EINVAL;
	for (size_t i = 0; i < length; i++) {
		if (!is_digit(text[i]))
			return -EINVAL;
		if (__builtin_mul_overflow(*value, 10u, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(text[i] - '0'), value))
			overflow = true;
	}
	return overflow ? -ERANGE : 0;
}

int scan_unsigned(struct scan *scan, const char *what, uint64_t *value)
{
	struct token token;
	int error = need_token(scan, what, &token);

	if (error)
		return error;
	error = parse_digits(token.text, token.length, value);
	if (error == -EINVAL)
		return not_a_number(scan, what, &token);
	if (error)
		return too_large(scan, what, &token);
	return 0;
}

int scan_signed(struct scan *scan, const char *what, int64_t *value)
{
	struct token token;
	uint64_t magnitude, limit;
	size_t sign;
	bool negative;
	int error = need_token(scan, what, &token);

	if (error)
		return error;
	negative = token.text[0] == '-';
	sign = negative || token.text[0] == '+';
	error = parse_digits(token.text + sign, token.length - sign, &magnitude);
	if (error == -EINVAL)
		return not_a_number(scan, what, &token);
	limit = (uint64_t)INT64_MAX + negative;
	if (error || magnitude > limit)
		return too_large(scan, what, &token);
	*value = (int64_t)(negative ? 0 - magnitude : magnitude);
	return 0;
}

static size_t skip_digits(const char *text, size_t at)
{
	while (is_digit(text[at]))
		at++;
	return at;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit before or after the point: no "inf", "nan" or hexadecimal. */
static bool is_decimal(const char *text)
{
	size_t start = text[0] == '+' || text[0] == '-';
	size_t at = skip_digits(text, start);
	size_t digits = at - start;

	if (text[at] == '.') {
		size_t fraction = at + 1;

		at = skip_digits(text, fraction);
		digits += at - fraction;
	}
	if (digits == 0)
		return false;
	if (text[at] == 'e' || text[at] == 'E') {
		size_t exponent;

		at++;
		at += text[at] == '+' || text[at] == '-';
		exponent = at;
		at = skip_digits(text, at);
		if (at == exponent)
			return false;
	}
	return text[at] == '\0';
}

int scan_real(struct scan *scan, const char *what, double *value)
{
	char text[NUMBER_MAX + 1];
	struct token token;
	int error = need_token(scan, what, &token);

	if (error)
		return error;
	if (token.length > NUMBER_MAX)
		return scan_error(scan, -EINVAL, "%s has more than %d characters", what, NUMBER_MAX);
	memcpy(text, token.text, token.length);
	text[token.length] = '\0';
	if (strlen(text) != token.length || !is_decimal(text))
		return not_a_number(scan, what, &token);
	*value = strtod(text, NULL);
	if (!isfinite(*value))
		return too_large(scan, what, &token);
	return 0;
}

int scan_end(struct scan *scan)
{
	struct token token;
	char buffer[SHOWN + 4];

	if (!scan_token(scan, &token))
		return 0;
	return scan_error(scan, -EINVAL, "\"%s\" is left over at the end of the line",
			  shown(&token, buffer));
}
