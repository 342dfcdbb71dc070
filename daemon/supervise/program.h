/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The file that a supervisor runs as its daemon. It is held open: after a kill the same program is started
 * again, also where another one, which may not fit, has been installed at its path.
 */
#ifndef MIMICD_SUPERVISE_PROGRAM_H
#define MIMICD_SUPERVISE_PROGRAM_H

#include <stdbool.h>

struct mimicd_program {
	const char *path;
	int fd; /* -1: none */
};

#define MIMICD_NO_PROGRAM \
	{ \
		.fd = -1 \
	}

/* The file that is at the path now. 0 or -errno. */
int mimicd_program_open(struct mimicd_program *program, const char *path);
/* One that is not open is left alone. */
void mimicd_program_close(struct mimicd_program *program);
bool mimicd_program_is_same(const struct mimicd_program *a, const struct mimicd_program *b);

#endif
