/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state filesystem (docs/state.md): the daemon's devices and clients as files.
 *
 *   filesystem.c   the connection to the kernel, in the daemon's loop
 *   mount.c        the mount point
 *   guard.c        against a daemon that waits for itself
 *   nodes.c        inode numbers
 *   folders.c, files.c, control.c   the kernel's requests
 *   poll.c         files that have something new
 *   tree.c, source.c, walk.c, render.c, config.c   the folders and files
 *
 * A daemon that serves a filesystem must not use it: a request of ours to ourselves waits
 * for ever. The daemon opens no path below its mount, and asks nothing of descriptors
 * that come from clients but calls that need no answer of their filesystem. It cannot
 * know which files lie behind a client's memory; see guard.c.
 *
 * All of this belongs to the loop's thread, with the engine's lock: workers leave the
 * filesystem alone.
 */
#ifndef MIMICD_FILESYSTEM_H
#define MIMICD_FILESYSTEM_H

#include <stdbool.h>
#include <sys/types.h>

struct mimicd_filesystem;
struct mimicd_engine;

struct mimicd_filesystem_options {
	const char *path;	/* where it is mounted; NULL: nowhere */
	bool make_directory;	/* that is the default place: made and removed by us */
	bool allow_users;	/* other users than ours and root may read it */
	bool has_group;		/* of them only the members of this group */
	gid_t group;
};

/* Mounts it. NULL: it is not wanted, or something failed, which is in the log. */
struct mimicd_filesystem *mimicd_filesystem_create(struct mimicd_engine *engine,
						   const struct mimicd_filesystem_options *options);
/* Unmounts, also while a program uses it. The directory goes if it is the default one. NULL: nothing. */
void mimicd_filesystem_destroy(struct mimicd_filesystem *filesystem);

#endif
