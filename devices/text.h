/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Texts for people that are made piece by piece, without stdio: a thread that waits may be inside of a
 * signal handler, where snprintf() may not be called.
 */
#ifndef MIMIC_DEVICES_TEXT_H
#define MIMIC_DEVICES_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct mimic_text {
	char *bytes;	/* always ends with 0 */
	size_t size;	/* of these, the 0 included */
	size_t length;	/* counts characters without room, too, as snprintf's */
};

/* Empty, in `size` bytes; `bytes` may be NULL if size is 0. */
void mimic_text_begin(struct mimic_text *text, char *bytes, size_t size);
void mimic_text_add(struct mimic_text *text, const char *string);
void mimic_text_add_decimal(struct mimic_text *text, uint64_t number);
/* "0x", and as many digits as it takes, but no fewer than `digits`. */
void mimic_text_add_hex(struct mimic_text *text, uint64_t number, unsigned int digits);

#endif
