/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Lines on stderr without stdio: a fault handler may write them. */
#include <errno.h>
#include <string.h>

#include "preload.h"

void mimic_preload_text_add(struct text *text, const char *string)
{
	mimic_text_add(&text->line, string);
}

void mimic_preload_text_add_number(struct text *text, uint64_t number)
{
	mimic_text_add_decimal(&text->line, number);
}

void mimic_preload_text_add_hex(struct text *text, uint64_t number)
{
	mimic_text_add_hex(&text->line, number, 1);
}

void mimic_preload_text_start(struct text *text)
{
	mimic_text_begin(&text->line, text->bytes, sizeof(text->bytes));
	mimic_preload_text_add(text, "mimic: ");
	mimic_preload_text_add(text, program_invocation_short_name ? program_invocation_short_name : "?");
	mimic_preload_text_add(text, "[");
	mimic_preload_text_add_number(text, (uint64_t)mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0));
	mimic_preload_text_add(text, "]: ");
}

/* The newline takes the place of the final 0. */
void mimic_preload_text_write_line(struct text *text)
{
	size_t length = strlen(text->bytes);

	text->bytes[length] = '\n';
	mimic_raw_syscall(SYS_write, 2, (long)text->bytes, (long)length + 1, 0, 0, 0);
}
