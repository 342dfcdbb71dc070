/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A matrix in a file as it lies in memory, for programs that are started many times with the same large one: making it
 * takes seconds, and reading this file takes none. It is of the machine that wrote it, and not for keeping.
 */
#ifndef EXAMPLES_SAVED_H
#define EXAMPLES_SAVED_H

#include <stdbool.h>

#include "examples/common/csr.h"
#include "examples/common/message.h"

/* 0, or -errno with a message. A file that was there is replaced. */
int saved_write(const struct csr *csr, const char *path, struct message *message);
/* The descriptor is of such a file. Its position stays. */
bool saved_is(int descriptor);
/* 0, or -errno with a message that names the mistake. */
int saved_read(struct csr *csr, const char *name, int descriptor, struct message *message);

#endif
