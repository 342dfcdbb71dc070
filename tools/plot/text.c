/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Untrusted texts as text of HTML. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tools/plot/plot.h"

#define REPLACEMENT "\xef\xbf\xbd"	/* U+FFFD */

/* How long the character is; 0: these bytes are none. */
static unsigned int decode(const unsigned char *text, uint32_t *character)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int length = *text < 0x80 ? 1 : *text >> 5 == 6 ? 2 : *text >> 4 == 14 ? 3 : *text >> 3 == 30 ? 4 : 0;

	if (length < 2) {
		*character = *text;
		return length;
	}
	*character = *text & (0x7fu >> length);
	for (unsigned int i = 1; i < length; i++) {
		if (text[i] >> 6 != 2)
			return 0;
		*character = *character << 6 | (text[i] & 0x3f);
	}
	if (*character < least[length] || *character > 0x10ffff || *character >> 11 == 0x1b)
		return 0;
	return length;
}

/* Control characters, and those that reverse the direction of the text behind them, would change the page. */
static bool is_harmless(uint32_t character)
{
	if (character < 0x20 || (character >= 0x7f && character < 0xa0))
		return character == '\n' || character == '\t';
	if (character >= 0x202a && character <= 0x202e)
		return false;
	return !(character >= 0x2066 && character <= 0x2069) && character != 0xfffe && character != 0xffff;
}

static void put(FILE *out, const char *text, unsigned int length)
{
	switch (*text) {
	case '&':
		fputs("&amp;", out);
		break;
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '"':
		fputs("&quot;", out);
		break;
	case '\'':
		fputs("&#39;", out);
		break;
	default:
		fwrite(text, 1, length, out);
	}
}

void plot_escape(FILE *out, const char *text)
{
	while (*text) {
		uint32_t character;
		unsigned int length = decode((const unsigned char *)text, &character);

		if (length && is_harmless(character))
			put(out, text, length);
		else
			fputs(REPLACEMENT, out);
		text += length ? length : 1;
	}
}

/* One conversion of the format, which ends with its letter; "%%", %s, %u, %zu and %.Nf are all that there is. */
static const char *print_one(FILE *out, const char *format, va_list *list)
{
	char digit;

	switch (format[1]) {
	case 's':
		plot_escape(out, va_arg(*list, const char *));
		return format + 2;
	case 'u':
		fprintf(out, "%u", va_arg(*list, unsigned int));
		return format + 2;
	case 'z':
		fprintf(out, "%zu", va_arg(*list, size_t));
		return format + 3;
	case '.':
		digit = format[2];
		fprintf(out, "%.*f", digit - '0', va_arg(*list, double));
		return format + 4;
	case '%':
		putc('%', out);
		return format + 2;
	default:
		abort();
	}
}

void plot_print(FILE *out, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	while (*format) {
		if (*format == '%')
			format = print_one(out, format, &list);
		else
			putc(*format++, out);
	}
	va_end(list);
}
