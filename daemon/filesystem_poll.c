/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A file is readable until it was read, and again when its device is another one.
 * While somebody waits for that, a timer looks at the devices, but only after
 * something has come to the loop: an idle daemon stays idle.
 */
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "daemon/filesystem_internal.h"
#include "libmimic/transport.h"

static bool has_changed(struct mimicd_filesystem *filesystem, struct mimicd_open_file *file)
{
	if (!file->has_changed)
		file->has_changed = file->digest !=
			mimicd_tree_digest(filesystem->server, file->path, file->uid);
	return file->has_changed;
}

void mimicd_file_drop_poll(struct mimicd_filesystem *filesystem, struct mimicd_open_file *file)
{
	if (!file->poll)
		return;
	fuse_pollhandle_destroy(file->poll);
	file->poll = NULL;
	filesystem->polls--;
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
	if (handle && file) {
		mimicd_file_drop_poll(filesystem, file);
		file->poll = handle;
		filesystem->polls++;
		filesystem->saw_event = true;
	} else if (handle) {
		fuse_pollhandle_destroy(handle);
	}
	fuse_reply_poll(request, events);
}

static void arm(struct mimicd_filesystem *filesystem)
{
	uint64_t due = filesystem->last_tick + MIMICD_FILESYSTEM_TICK_NS;
	struct itimerspec time = { .it_value = { (time_t)(due / 1000000000), (long)(due % 1000000000) } };

	timerfd_settime(filesystem->timer_fd, TFD_TIMER_ABSTIME, &time, NULL);
	filesystem->is_armed = true;
}

void mimicd_filesystem_note_event(struct mimicd_filesystem *filesystem)
{
	filesystem->saw_event = true;
}

void mimicd_filesystem_prepare(struct mimicd_filesystem *filesystem)
{
	const struct mimicd_server *server = filesystem->server;

	if (!filesystem->polls || filesystem->is_armed)
		return;
	/* A worker that stands in for the loop does not wake it. */
	if (filesystem->saw_event || server->jobs.out || server->now != filesystem->last_work)
		arm(filesystem);
}

void mimicd_filesystem_look_for_changes(struct mimicd_filesystem *filesystem)
{
	struct mimicd_open_file *file = filesystem->files;
	uint64_t count;

	(void)!read(filesystem->timer_fd, &count, sizeof(count));
	filesystem->is_armed = false;
	filesystem->saw_event = false;
	filesystem->last_work = filesystem->server->now;
	filesystem->last_tick = mimic_now();
	for (; file && filesystem->polls; file = file->next) {
		if (!file->poll || !has_changed(filesystem, file))
			continue;
		fuse_lowlevel_notify_poll(file->poll);
		mimicd_file_drop_poll(filesystem, file);
	}
}
