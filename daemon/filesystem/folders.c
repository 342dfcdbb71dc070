/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Requests about names and folders. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/filesystem/internal.h"

/* --- attributes ------------------------------------------------------------------------- */

/* The kernel holds readers to it (default_permissions). */
static mode_t mode_of(const struct mimicd_filesystem *filesystem, enum mimicd_entry_kind kind)
{
	const struct mimicd_filesystem_options *options = &filesystem->options;
	mode_t mode = S_IFREG | 0444;

	if (kind == MIMICD_ENTRY_CONTROL)
		return S_IFREG | 0600;
	if (kind == MIMICD_ENTRY_FOLDER)
		mode = S_IFDIR | 0555;
	if (!options->allow_users)
		return mode & ~(mode_t)0077;
	return options->has_group ? mode & ~(mode_t)0007 : mode;
}

static void fill_attributes(const struct mimicd_filesystem *filesystem, const struct mimicd_node *node,
			    struct stat *attributes)
{
	*attributes = (struct stat){
		.st_ino = node->number,
		.st_mode = mode_of(filesystem, node->entry.kind),
		.st_nlink = node->entry.kind == MIMICD_ENTRY_FOLDER ? 2 : 1,
		.st_uid = geteuid(),
		.st_gid = filesystem->options.has_group ? filesystem->options.group : getegid(),
		.st_size = (off_t)node->entry.size,
		.st_blksize = 4096,
		.st_atim = filesystem->since,
		.st_mtim = filesystem->since,
		.st_ctim = filesystem->since,
	};
}

/* Timeouts of 0: the kernel asks each time, so that nothing that it says is old. */
static void get_attributes(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *info)
{
	struct mimicd_filesystem *filesystem = mimicd_filesystem_of(request);
	struct mimicd_node *node = mimicd_filesystem_node(request, number);
	struct stat attributes;

	(void)info;
	if (!node)
		return;
	/* An open file stays as it was when its value is not there any more. */
	mimicd_tree_look(filesystem->engine, node->path, mimicd_asks(request), &node->entry);
	fill_attributes(filesystem, node, &attributes);
	fuse_reply_attr(request, &attributes, 0);
}

/* `echo 1 > reset` may cut the file to no bytes first. */
static void set_attributes(fuse_req_t request, fuse_ino_t number, struct stat *wanted, int what,
			   struct fuse_file_info *info)
{
	const struct mimicd_node *node = mimicd_filesystem_node(request, number);

	(void)wanted;
	if (!node)
		return;
	if (node->entry.kind == MIMICD_ENTRY_CONTROL && !(what & ~FUSE_SET_ATTR_SIZE))
		get_attributes(request, number, info);
	else
		fuse_reply_err(request, EPERM);
}

/* --- names --------------------------------------------------------------------------------- */

static int join(char path[MIMICD_PATH_MAX], const char *folder, const char *name)
{
	int length = snprintf(path, MIMICD_PATH_MAX, "%s%s%s", folder, *folder ? "/" : "", name);

	return length < MIMICD_PATH_MAX ? 0 : -ENAMETOOLONG;
}

static void look_up(fuse_req_t request, fuse_ino_t parent, const char *name)
{
	struct mimicd_filesystem *filesystem = mimicd_filesystem_of(request);
	const struct mimicd_node *folder = mimicd_filesystem_node(request, parent);
	struct fuse_entry_param reply = { .generation = (uint64_t)filesystem->since.tv_sec };
	struct mimicd_entry entry;
	char path[MIMICD_PATH_MAX];
	struct mimicd_node *node;
	int error;

	if (!folder)
		return;
	error = join(path, folder->path, name);
	if (!error)
		error = mimicd_tree_look(filesystem->engine, path, mimicd_asks(request), &entry);
	if (error) {
		fuse_reply_err(request, -error);
		return;
	}
	node = mimicd_node_get(&filesystem->nodes, path);
	if (!node) {
		fuse_reply_err(request, ENOMEM);
		return;
	}
	node->entry = entry;
	fill_attributes(filesystem, node, &reply.attr);
	reply.ino = node->number;
	/* A request that was interrupted has not got it, and the kernel will not forget it. */
	if (fuse_reply_entry(request, &reply))
		mimicd_node_forget(&filesystem->nodes, node->number, 1);
}

static void forget(fuse_req_t request, fuse_ino_t number, uint64_t lookups)
{
	mimicd_node_forget(&mimicd_filesystem_of(request)->nodes, number, lookups);
	fuse_reply_none(request);
}

static void forget_many(fuse_req_t request, size_t count, struct fuse_forget_data *forgotten)
{
	for (size_t i = 0; i < count; i++)
		mimicd_node_forget(&mimicd_filesystem_of(request)->nodes, forgotten[i].ino,
				   forgotten[i].nlookup);
	fuse_reply_none(request);
}

/* --- folders --------------------------------------------------------------------------------- */

static void open_folder(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *info)
{
	struct mimicd_filesystem *filesystem = mimicd_filesystem_of(request);
	const struct mimicd_node *node = mimicd_filesystem_node(request, number);
	struct mimicd_open_file *file;
	int error;

	if (!node)
		return;
	error = mimicd_file_create(filesystem, node->path, mimicd_asks(request), true, &file);
	if (error) {
		fuse_reply_err(request, -error);
		return;
	}
	info->fh = (uintptr_t)file;
	if (fuse_reply_open(request, info))
		mimicd_file_destroy(filesystem, file);
}

struct filling {
	fuse_req_t request;
	char bytes[4096];
	size_t size, used;
	off_t offset;	/* of the next name */
};

/* false: there is no room for it. */
static bool fill(struct filling *filling, const char *name, uint64_t number, bool is_folder, off_t next)
{
	struct stat attributes = { .st_ino = number, .st_mode = is_folder ? S_IFDIR : S_IFREG };
	size_t room = filling->size - filling->used;
	size_t size = fuse_add_direntry(filling->request, filling->bytes + filling->used, room, name,
					&attributes, next);

	if (size > room)
		return false;
	filling->used += size;
	filling->offset = next;
	return true;
}

/* Offsets: 0 and 1 are "." and "..", the entry at byte n of the list is n + 2. */
static void fill_names(struct filling *filling, const struct mimicd_open_file *file)
{
	char path[MIMICD_PATH_MAX];

	if (filling->offset == 0 && !fill(filling, ".", mimicd_node_number(file->path), true, 1))
		return;
	if (filling->offset == 1 && !fill(filling, "..", 1, true, 2))
		return;
	while (filling->offset >= 2 && (size_t)filling->offset - 2 < file->content.size) {
		const char *entry = file->content.bytes + filling->offset - 2;
		off_t next = filling->offset + (off_t)strlen(entry) + 1;

		/* A name that no path could be made of is left out. */
		if (join(path, file->path, entry + 1))
			filling->offset = next;
		else if (!fill(filling, entry + 1, mimicd_node_number(path),
			       *entry == MIMICD_ENTRY_FOLDER, next))
			return;
	}
}

static void read_folder(fuse_req_t request, fuse_ino_t number, size_t size, off_t offset,
			struct fuse_file_info *info)
{
	struct mimicd_open_file *file = mimicd_file_of(info);
	struct filling filling = { .request = request, .offset = offset };

	(void)number;
	/* rewinddir(): reads the entries anew. */
	if (!offset && file->was_read)
		mimicd_file_renew(mimicd_filesystem_of(request), file);
	file->was_read = true;
	filling.size = size < sizeof(filling.bytes) ? size : sizeof(filling.bytes);
	fill_names(&filling, file);
	fuse_reply_buf(request, filling.bytes, filling.used);
}

/* --- operations that no program may do ------------------------------------------------------------ */

static void refuse_node(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode, dev_t device)
{
	(void)parent, (void)name, (void)mode, (void)device;
	fuse_reply_err(request, EPERM);
}

static void refuse_folder(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode)
{
	(void)parent, (void)name, (void)mode;
	fuse_reply_err(request, EPERM);
}

static void refuse_file(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode,
			struct fuse_file_info *info)
{
	(void)parent, (void)name, (void)mode, (void)info;
	fuse_reply_err(request, EPERM);
}

static void refuse_removal(fuse_req_t request, fuse_ino_t parent, const char *name)
{
	(void)parent, (void)name;
	fuse_reply_err(request, EPERM);
}

static void refuse_symlink(fuse_req_t request, const char *target, fuse_ino_t parent, const char *name)
{
	(void)target, (void)parent, (void)name;
	fuse_reply_err(request, EPERM);
}

static void refuse_rename(fuse_req_t request, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
			  const char *new_name, unsigned int flags)
{
	(void)parent, (void)name, (void)new_parent, (void)new_name, (void)flags;
	fuse_reply_err(request, EPERM);
}

static void refuse_link(fuse_req_t request, fuse_ino_t number, fuse_ino_t parent, const char *name)
{
	(void)number, (void)parent, (void)name;
	fuse_reply_err(request, EPERM);
}

static void begin(void *context, struct fuse_conn_info *connection)
{
	(void)context;
	/* Requests and answers are small: pipes would only cost. */
	connection->want &= ~(unsigned int)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
	/* Of two pages: else the kernel splits a short text that crosses into a second page. */
	connection->max_write = 2 * (unsigned int)getpagesize();
	connection->max_readahead = 0;
}

const struct fuse_lowlevel_ops mimicd_filesystem_ops = {
	.init = begin,
	.lookup = look_up,
	.forget = forget,
	.forget_multi = forget_many,
	.getattr = get_attributes,
	.setattr = set_attributes,
	.opendir = open_folder,
	.readdir = read_folder,
	.releasedir = mimicd_file_release,
	.open = mimicd_file_open,
	.read = mimicd_file_read,
	.write = mimicd_file_write,
	.poll = mimicd_file_poll,
	.release = mimicd_file_release,
	.mknod = refuse_node,
	.mkdir = refuse_folder,
	.create = refuse_file,
	.unlink = refuse_removal,
	.rmdir = refuse_removal,
	.symlink = refuse_symlink,
	.rename = refuse_rename,
	.link = refuse_link,
};
