/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef LIBMIMIC_ERROR_H
#define LIBMIMIC_ERROR_H

#pragma GCC visibility push(default)
/* Sets the text that this thread's mimic_error_text() (mimic.h) returns, and returns `error`. */
int mimic_error(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
#pragma GCC visibility pop

#endif
