/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Requests about open files: a file is a copy of its content when it was opened. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/engine/manage.h"
#include "daemon/filesystem/internal.h"

/* --- open files -------------------------------------------------------------------------- */

static bool fits(size_t own, size_t all, size_t more, size_t max, bool may_have_all)
{
	size_t left = max - all;

	return more <= left && (may_have_all || own + more <= left - more);
}

/*
 * A user gets at most half of the room that others have left, so that no user and no few of
 * them take it all. Root and the daemon's user do.
 */
static bool has_room(const struct mimicd_filesystem *filesystem, uid_t uid, size_t files, size_t bytes)
{
	bool may_have_all = mimicd_may_manage(uid);
	size_t own_files = 0, own_bytes = 0;

	for (const struct mimicd_open_file *file = filesystem->files; file && !may_have_all; file = file->next) {
		if (file->uid != uid)
			continue;
		own_files++;
		own_bytes += file->content.size;
	}
	return fits(own_files, filesystem->file_count, files, MIMICD_FILES_MAX, may_have_all) &&
	       fits(own_bytes, filesystem->file_bytes, bytes, MIMICD_FILES_BYTES_MAX, may_have_all);
}

static int take_content(struct mimicd_filesystem *filesystem, const struct mimicd_open_file *file,
			struct mimicd_content *content)
{
	struct mimicd_engine *engine = filesystem->engine;
	int error = file->is_folder ? mimicd_tree_list(engine, file->path, file->uid, content) :
				      mimicd_tree_read(engine, file->path, file->uid, content);

	if (error)
		return error;
	if (has_room(filesystem, file->uid, 0, content->size))
		return 0;
	free(content->bytes);
	return -ENFILE;
}

int mimicd_file_renew(struct mimicd_filesystem *filesystem, struct mimicd_open_file *file)
{
	struct mimicd_content content;
	int error = take_content(filesystem, file, &content);

	if (error)
		return error;
	filesystem->file_bytes += content.size - file->content.size;
	free(file->content.bytes);
	file->content = content;
	file->has_changed = false;
	if (!file->is_folder)
		file->digest = mimicd_tree_digest(filesystem->engine, file->path, file->uid);
	return 0;
}

static void enlist(struct mimicd_filesystem *filesystem, struct mimicd_open_file *file)
{
	file->link = &filesystem->files;
	file->next = filesystem->files;
	if (file->next)
		file->next->link = &file->next;
	filesystem->files = file;
	filesystem->file_count++;
}

int mimicd_file_create(struct mimicd_filesystem *filesystem, const char *path, uid_t uid,
		       bool is_folder, struct mimicd_open_file **created)
{
	size_t size = strlen(path) + 1;
	struct mimicd_open_file *file;
	int error;

	if (!has_room(filesystem, uid, 1, 0))
		return -ENFILE;
	file = calloc(1, sizeof(*file) + size);
	if (!file)
		return -ENOMEM;
	file->uid = uid;
	file->is_folder = is_folder;
	memcpy(file->path, path, size);
	error = mimicd_file_renew(filesystem, file);
	if (error) {
		free(file);
		return error;
	}
	enlist(filesystem, file);
	*created = file;
	return 0;
}

void mimicd_file_destroy(struct mimicd_filesystem *filesystem, struct mimicd_open_file *file)
{
	mimicd_file_end_poll(filesystem, file);
	*file->link = file->next;
	if (file->next)
		file->next->link = file->link;
	filesystem->file_count--;
	filesystem->file_bytes -= file->content.size;
	free(file->content.bytes);
	free(file);
}

/* --- open, read, release ------------------------------------------------------------------- */

/* Control files are for the daemon's user and root, also past the kernel's checks; no other is written. */
static int check_access(const struct mimicd_node *node, uid_t uid, int flags)
{
	if (node->entry.kind == MIMICD_ENTRY_CONTROL)
		return mimicd_may_manage(uid) ? 0 : -EACCES;
	return (flags & O_ACCMODE) == O_RDONLY ? 0 : -EACCES;
}

void mimicd_file_open(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *info)
{
	struct mimicd_filesystem *filesystem = mimicd_filesystem_of(request);
	const struct mimicd_node *node = mimicd_filesystem_node(request, number);
	struct mimicd_open_file *file = NULL;
	int error;

	if (!node)
		return;
	error = check_access(node, mimicd_asks(request), info->flags);
	if (!error && (info->flags & O_ACCMODE) != O_WRONLY)
		error = mimicd_file_create(filesystem, node->path, mimicd_asks(request), false, &file);
	if (error) {
		fuse_reply_err(request, -error);
		return;
	}
	info->fh = (uintptr_t)file;
	info->direct_io = 1;
	/*
	 * A close asks nothing of us: it may be ours, of a descriptor that a client
	 * has sent us.
	 */
	info->noflush = 1;
	if (fuse_reply_open(request, info) && file)
		mimicd_file_destroy(filesystem, file);
}

void mimicd_file_read(fuse_req_t request, fuse_ino_t number, size_t size, off_t offset,
		      struct fuse_file_info *info)
{
	struct mimicd_open_file *file = mimicd_file_of(info);
	const struct mimicd_content *content = &file->content;
	size_t from = (size_t)offset;
	int error = 0;

	(void)number;
	if (!offset && file->has_changed)
		error = mimicd_file_renew(mimicd_filesystem_of(request), file);
	if (error) {
		/* It said that there was something new: that it is not there any more. */
		fuse_reply_err(request, error == -ENOENT ? ENODEV : -error);
		return;
	}
	file->was_read = true;
	if (from > content->size)
		from = content->size;
	if (size > content->size - from)
		size = content->size - from;
	fuse_reply_buf(request, content->bytes + from, size);
}

void mimicd_file_release(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *info)
{
	struct mimicd_open_file *file = mimicd_file_of(info);

	(void)number;
	if (file)
		mimicd_file_destroy(mimicd_filesystem_of(request), file);
	fuse_reply_err(request, 0);
}
