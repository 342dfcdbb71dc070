/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The log of mimicd, for people: a line each, to standard error or to syslog. */
#ifndef MIMICD_LOG_H
#define MIMICD_LOG_H

#include <stdint.h>

enum mimicd_log_level {
	MIMICD_LOG_ERROR,
	MIMICD_LOG_WARNING,
	MIMICD_LOG_INFO,
	MIMICD_LOG_DEBUG,
};

/* "error", "warning", "info", "debug". 0, or -EINVAL. */
int mimicd_log_level_parse(const char *text, enum mimicd_log_level *level);
void mimicd_log_set_level(enum mimicd_log_level level);
/* From now on to syslog: a daemon in the background has no terminal. */
void mimicd_log_to_syslog(void);

/* Characters of the line that are not printable, such as in a program's name, are shown as \x1b. */
void mimicd_log(enum mimicd_log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A line that programs of this user cause as often as they like: some a second, and how many were left out. */
void mimicd_log_of(uint32_t user, enum mimicd_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
