/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Lines on stderr without stdio: a fault handler may write them. */
#include <errno.h>
#include <string.h>

#include "preload.h"

void mimic_preload_text_add(struct text *text, const char *string)
{
	size_t room = sizeof(text->bytes) - 1 - text->length;	/* 1: the newline */
	size_t length = strnlen(string, room);

	memcpy(text->bytes + text->length, string, length);
	text->length += length;
}

static void add_in_base(struct text *text, uint64_t number, unsigned int base)
{
	char digits[24];
	char *first = digits + sizeof(digits) - 1;

	*first = '\0';
	do {
		*--first = "0123456789abcdef"[number % base];
		number /= base;
	} while (number);
	mimic_preload_text_add(text, first);
}

void mimic_preload_text_add_number(struct text *text, uint64_t number)
{
	add_in_base(text, number, 10);
}

void mimic_preload_text_add_hex(struct text *text, uint64_t number)
{
	mimic_preload_text_add(text, "0x");
	add_in_base(text, number, 16);
}

void mimic_preload_text_start(struct text *text)
{
	text->length = 0;
	mimic_preload_text_add(text, "mimic: ");
	mimic_preload_text_add(text, program_invocation_short_name ? program_invocation_short_name : "?");
	mimic_preload_text_add(text, "[");
	mimic_preload_text_add_number(text, (uint64_t)mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0));
	mimic_preload_text_add(text, "]: ");
}

void mimic_preload_text_write_line(struct text *text)
{
	text->bytes[text->length++] = '\n';
	mimic_raw_syscall(SYS_write, 2, (long)text->bytes, (long)text->length, 0, 0, 0);
}
