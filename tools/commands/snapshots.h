/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Files of mimic save, for the commands that write, show and read them. */
#ifndef TOOLS_SNAPSHOTS_H
#define TOOLS_SNAPSHOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "libmimic/record/snapshot.h"

/* A whole file, and its devices. */
struct snapshots {
	void *bytes;
	size_t size;
	struct mimic_snapshot *devices;
	size_t count;
};

/* Reads and checks it. 0, or the exit status after a message. Either way tool_snapshots_free(). */
int tool_snapshots_read(const char *command, const char *path, struct snapshots *file);
void tool_snapshots_free(struct snapshots *file);
/* Prints what it has, as a table or as JSON. */
void tool_snapshots_show(const struct snapshots *file, bool json);
/* All of it or nothing: a file that is there is replaced when the new one is whole. 0 or -errno. */
int tool_snapshots_write(const char *path, const void *bytes, size_t size);

#endif
