/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The text of an error: the mistake and its place. */
#ifndef EXAMPLES_MESSAGE_H
#define EXAMPLES_MESSAGE_H

struct message {
	char text[512];
};

/* Writes the text and returns `error`, so that a function can return the error that it reports. */
int message_set(struct message *message, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
