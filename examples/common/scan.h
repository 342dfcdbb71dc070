/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Reads lines and numbers from text in memory that need not end in a newline
 * or a NUL, and keeps the line number for messages.
 */
#ifndef EXAMPLES_SCAN_H
#define EXAMPLES_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "examples/common/message.h"

struct scan {
	const char *name;	/* of the file, for messages */
	const char *next;	/* the next line */
	const char *end;
	uint64_t line;		/* number of the current line, from 1 */
	const char *at;		/* the rest of the current line */
	const char *line_end;
	struct message *message;
};

struct token {
	const char *text;
	size_t length;
};

void scan_start(struct scan *scan, const char *name, const char *text, size_t size,
		struct message *message);
/* Goes to the next line, without its LF or CRLF. false: there is none. */
bool scan_line(struct scan *scan);
/* The next word between blanks and tabs. false: the line has no more. */
bool scan_token(struct scan *scan, struct token *token);
bool token_is(const struct token *token, const char *word);	/* letters in either case */

/*
 * These return 0, or -EINVAL or -ERANGE with a message that names file, line
 * and `what`, the number's name. Spaces around a number are skipped.
 */
int scan_unsigned(struct scan *scan, const char *what, uint64_t *value);
int scan_signed(struct scan *scan, const char *what, int64_t *value);
int scan_real(struct scan *scan, const char *what, double *value);
/* An error if anything is left on the line. */
int scan_end(struct scan *scan);

/* Puts "file:line: " in front of the text and returns `error`. */
int scan_error(struct scan *scan, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
