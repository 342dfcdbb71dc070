/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/text.h"

void mimic_text_begin(struct mimic_text *text, char *bytes, size_t size)
{
	*text = (struct mimic_text){ .bytes = bytes, .size = size };
	if (size)
		bytes[0] = 0;
}

void mimic_text_add(struct mimic_text *text, const char *string)
{
	for (; *string; string++, text->length++) {
		if (text->length + 1 >= text->size)
			continue;
		text->bytes[text->length] = *string;
		text->bytes[text->length + 1] = 0;
	}
}

static void add_in_base(struct mimic_text *text, uint64_t number, unsigned int base, unsigned int digits)
{
	char reversed[65];
	char *first = reversed + sizeof(reversed) - 1;

	*first = 0;
	do {
		*--first = "0123456789abcdef"[number % base];
		number /= base;
	} while (first > reversed && (number || reversed + sizeof(reversed) - 1 - first < digits));
	mimic_text_add(text, first);
}

void mimic_text_add_decimal(struct mimic_text *text, uint64_t number)
{
	add_in_base(text, number, 10, 1);
}

void mimic_text_add_hex(struct mimic_text *text, uint64_t number, unsigned int digits)
{
	mimic_text_add(text, "0x");
	add_in_base(text, number, 16, digits);
}
