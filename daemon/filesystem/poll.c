/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A file is readable until it was read, and again when its device is another one.
 * While a program waits for that, a timer has the devices read, but only after
 * something has come to the loop: an idle daemon stays idle. However many files of a
 * user are polled, each device is read once.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/shards.h"
#include "daemon/engine/inspection.h"
#include "daemon/engine/user.h"
#include "daemon/filesystem/internal.h"
#include "daemon/filesystem/source.h"
#include "libmimic/base/clock.h"

/* --- watched paths ----------------------------------------------------------------------- */

static struct mimicd_watched *find_watched(struct mimicd_filesystem *filesystem, const char *path,
					   size_t length, uid_t uid)
{
	struct mimicd_watched *watched = filesystem->watched;

	for (; watched; watched = watched->next) {
		if (watched->uid == uid && !strncmp(watched->path, path, length) && !watched->path[length])
			return watched;
	}
	watched = calloc(1, sizeof(*watched) + length + 1);
	if (!watched)
		return NULL;
	watched->uid = uid;
	memcpy(watched->path, path, length);
	watched->next = filesystem->watched;
	filesystem->watched = watched;
	return watched;
}

static bool begin_watch(struct mimicd_filesystem *filesystem, struct mimicd_open_file *file)
{
	if (file->watched)
		return true;
	file->watched = find_watched(filesystem, file->path, mimicd_source_length(file->path), file->uid);
	if (file->watched)
		file->watched->files++;
	return file->watched;
}

static void end_watch(struct mimicd_filesystem *filesystem, struct mimicd_open_file *file)
{
	struct mimicd_watched *watched = file->watched, **link = &filesystem->watched;

	file->watched = NULL;
	if (!watched || --watched->files)
		return;
	while (*link != watched)
		link = &(*link)->next;
	*link = watched->next;
	free(watched);
}

/* As of this check for changes. */
static uint64_t watched_digest(const struct mimicd_filesystem *filesystem, struct mimicd_watched *watched)
{
	if (watched->tick != filesystem->tick)
		watched->digest = mimicd_tree_digest(filesystem->engine, watched->path, watched->uid);
	watched->tick = filesystem->tick;
	return watched->digest;
}

/* --- polling --------------------------------------------------------------------------------- */

static bool has_changed(struct mimicd_filesystem *filesystem, struct mimicd_open_file *file)
{
	if (!file->has_changed)
		file->has_changed = file->digest !=
			mimicd_tree_digest(filesystem->engine, file->path, file->uid);
	return file->has_changed;
}

static void drop_poll(struct mimicd_filesystem *filesystem, struct mimicd_open_file *file)
{
	if (!file->poll)
		return;
	fuse_pollhandle_destroy(file->poll);
	file->poll = NULL;
	filesystem->polls--;
}

void mimicd_file_end_poll(struct mimicd_filesystem *filesystem, struct mimicd_open_file *file)
{
	drop_poll(filesystem, file);
	end_watch(filesystem, file);
}

static void keep_poll(struct mimicd_filesystem *filesystem, struct mimicd_open_file *file,
		      struct fuse_pollhandle *handle)
{
	drop_poll(filesystem, file);
	file->poll = handle;
	filesystem->polls++;
	filesystem->is_due = true;
}

void mimicd_file_poll(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *info,
		      struct fuse_pollhandle *handle)
{
	struct mimicd_filesystem *filesystem = mimicd_filesystem_of(request);
	struct mimicd_open_file *file = mimicd_file_of(info);
	unsigned int events = POLLOUT | POLLWRNORM;

	(void)number;
	if (file) {
		bool is_readable = has_changed(filesystem, file) || !file->was_read;

		events = is_readable ? POLLIN | POLLRDNORM : 0;
	}
	if (handle && file && begin_watch(filesystem, file)) {
		keep_poll(filesystem, file, handle);
	} else if (handle) {
		fuse_pollhandle_destroy(handle);
		/* Without memory the program that waits would not be told. */
		events |= file ? POLLERR : 0;
	}
	fuse_reply_poll(request, events);
}

/* --- checks for changes ------------------------------------------------------------------------ */

/* Something came to the loop that is no request to us: a device may have changed. */
static bool has_news(const struct mimicd_filesystem *filesystem)
{
	const struct mimicd_engine *engine = filesystem->engine;

	/* A worker that stands in for the loop does not wake it, and neither do threads of further shards. */
	return filesystem->is_due || mimicd_shards_have_clients(engine) || engine->loop->events - filesystem->requests != filesystem->events ||
	       engine->jobs.in_flight || engine->loop_shard.now != filesystem->last_work;
}

void mimicd_filesystem_prepare(struct mimicd_filesystem *filesystem)
{
	if (!filesystem->polls || filesystem->is_armed || !has_news(filesystem))
		return;
	mimicd_timer_arm(&filesystem->timer, filesystem->last_tick + MIMICD_FILESYSTEM_TICK_NS);
	filesystem->is_armed = true;
}

/* false: not now, the user is throttled (wakes.h). */
static bool tell(struct mimicd_filesystem *filesystem, struct mimicd_open_file *file)
{
	struct mimicd_user *user = mimicd_user_get(filesystem->engine, file->uid);
	struct mimicd_wake_clock clock;

	if (!user || mimicd_wakes_throttled(user, MIMICD_WAKE_FILE))
		return false;
	mimicd_wake_begin(&clock, user, MIMICD_WAKE_FILE);
	fuse_lowlevel_notify_poll(file->poll);
	mimicd_wake_end(&clock, user, MIMICD_WAKE_FILE);
	return true;
}

void mimicd_filesystem_check_changes(struct mimicd_filesystem *filesystem)
{
	struct mimicd_open_file *file = filesystem->files;
	uint64_t begun = mimic_now();

	filesystem->is_armed = false;
	filesystem->is_due = false;
	filesystem->events = filesystem->engine->loop->events - filesystem->requests;
	filesystem->last_work = filesystem->engine->loop_shard.now;
	filesystem->tick++;
	for (; file && filesystem->polls; file = file->next) {
		if (!file->poll)
			continue;
		if (!file->has_changed && file->digest == watched_digest(filesystem, file->watched))
			continue;
		file->has_changed = true;
		if (tell(filesystem, file))
			drop_poll(filesystem, file);
		else
			filesystem->is_due = true;
	}
	mimicd_inspection_ended(filesystem->engine, begun);
	filesystem->last_tick = mimic_now();
}
