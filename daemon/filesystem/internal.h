/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMICD_FILESYSTEM_INTERNAL_H
#define MIMICD_FILESYSTEM_INTERNAL_H

#define FUSE_USE_VERSION 312

#include <errno.h>
#include <fuse3/fuse_lowlevel.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/front_end.h"
#include "daemon/filesystem/filesystem.h"
#include "daemon/filesystem/nodes.h"
#include "daemon/filesystem/tree.h"
#include "daemon/loop/timer.h"

/* Limits of the open files and of their bytes; see has_room(). */
#define MIMICD_FILES_MAX 4096u
#define MIMICD_FILES_BYTES_MAX (64u << 20)
/* How often changes are checked for, at most. */
#define MIMICD_FILESYSTEM_TICK_NS 100000000ull

/* A path that a user's files are polled at, so that it is read once for all of them. */
struct mimicd_watched {
	struct mimicd_watched *next;
	unsigned int files;
	uid_t uid;
	uint64_t tick;			/* the last check for changes that came to it */
	uint64_t digest;		/* then */
	char path[];
};

/* An open file or folder: its content when it was opened, until it is closed. */
struct mimicd_open_file {
	struct mimicd_open_file *next, **link;	/* of all that are open */
	uid_t uid;			/* that opened it */
	bool is_folder;			/* the content is a list of names */
	struct mimicd_content content;
	uint64_t digest;		/* of the device, when the content was taken */
	struct fuse_pollhandle *poll;	/* a program waits for a change */
	struct mimicd_watched *watched;	/* since the first poll */
	bool was_read;
	bool has_changed;		/* and poll() has said so: read on from the start takes the new state */
	char path[];
};

/* Ends a wait of the daemon for itself; see guard.c. */
struct mimicd_guard {
	pthread_t thread;
	bool is_running;
	int fuse_fd;
	struct mimicd_timer *timer;	/* wakes the loop */
	int stop_fd;
	_Atomic uint64_t turns;	/* times that the loop has asked for requests */
	atomic_bool has_cut;		/* the guard has cut the connection */
};

struct mimicd_filesystem {
	struct mimicd_engine *engine;
	struct mimicd_front_end front_end;
	struct mimicd_filesystem_options options;
	struct fuse_session *session;
	struct fuse_buf buffer;		/* of requests */
	char *path;			/* of the mount point, absolute */
	bool is_over;			/* a person has unmounted it */
	struct timespec since;
	struct mimicd_source source;
	struct mimicd_timer timer;

	struct mimicd_nodes nodes;
	struct mimicd_open_file *files;
	unsigned int file_count;
	size_t file_bytes;

	unsigned int polls;		/* files with a poll handle */
	struct mimicd_watched *watched;
	uint64_t tick;			/* checks for changes so far */
	bool is_armed;			/* the timer */
	bool is_due;			/* a check for changes, even if no event comes */
	uint64_t requests;		/* events of the loop that were for us */
	uint64_t events;		/* of the loop that were not, at the last check for changes */
	uint64_t last_work;		/* engine->loop_shard.now at that check */
	uint64_t last_tick;		/* the end of that check */
	struct mimicd_guard guard;
};

/* --- mount ------------------------------------------------------------------------------ */

/* Makes the mount point ready and mounts. 0, or -errno with a log line. */
int mimicd_filesystem_mount(struct mimicd_filesystem *filesystem);
void mimicd_filesystem_unmount(struct mimicd_filesystem *filesystem);

/* --- guard ------------------------------------------------------------------------------ */

int mimicd_guard_start(struct mimicd_guard *guard, int fuse_fd, struct mimicd_timer *timer);
void mimicd_guard_stop(struct mimicd_guard *guard);

/* --- requests --------------------------------------------------------------------------- */

static inline struct mimicd_filesystem *mimicd_filesystem_of(fuse_req_t request)
{
	return fuse_req_userdata(request);
}

static inline struct mimicd_open_file *mimicd_file_of(const struct fuse_file_info *info)
{
	return (struct mimicd_open_file *)(uintptr_t)info->fh;
}

static inline uid_t mimicd_asks(fuse_req_t request)
{
	return fuse_req_ctx(request)->uid;
}

/* NULL: the request got its answer, that the kernel should not know it any more. */
static inline struct mimicd_node *mimicd_filesystem_node(fuse_req_t request, fuse_ino_t number)
{
	struct mimicd_node *node = mimicd_node_find(&mimicd_filesystem_of(request)->nodes, number);

	if (!node)
		fuse_reply_err(request, ESTALE);
	return node;
}

/* A file or a folder, and its content. 0, or -errno: -ENFILE, too much is open; as mimicd_tree_read(). */
int mimicd_file_create(struct mimicd_filesystem *filesystem, const char *path, uid_t uid,
		       bool is_folder, struct mimicd_open_file **created);
/* Reads the file's content anew. 0 or -errno; then it is as it was. */
int mimicd_file_renew(struct mimicd_filesystem *filesystem, struct mimicd_open_file *file);
void mimicd_file_destroy(struct mimicd_filesystem *filesystem, struct mimicd_open_file *file);

void mimicd_file_write(fuse_req_t request, fuse_ino_t number, const char *bytes, size_t size,
		       off_t offset, struct fuse_file_info *info);
void mimicd_file_open(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *info);
void mimicd_file_read(fuse_req_t request, fuse_ino_t number, size_t size, off_t offset,
		      struct fuse_file_info *info);
void mimicd_file_release(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *info);
void mimicd_file_poll(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *info,
		      struct fuse_pollhandle *handle);
/* Sets the timer for a check for changes, if one is needed. */
void mimicd_filesystem_prepare(struct mimicd_filesystem *filesystem);
/* Tells programs that poll files of changes. */
void mimicd_filesystem_check_changes(struct mimicd_filesystem *filesystem);
/* No program will wait for it any more. */
void mimicd_file_end_poll(struct mimicd_filesystem *filesystem, struct mimicd_open_file *file);

extern const struct fuse_lowlevel_ops mimicd_filesystem_ops;

#endif
