/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A daemon's log, which a test has in a file. */
#ifndef TESTS_LOG_LINES_H
#define TESTS_LOG_LINES_H

/* How many lines of the file have the text in them. 0, too, if there is no such file. */
unsigned int log_lines_with(const char *path, const char *text);

#endif
