/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The mount point: a dead mount of an earlier daemon is taken away, the directory
 * has to be there and empty, and goes again if it is the default one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <mntent.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/filesystem/internal.h"
#include "daemon/loop/log.h"

#define SUBTYPE "mimicd"
#define WHY_MAX 200

/* The one line that is said about it. */
static int fail(const char *path, int error, const char *what)
{
	mimicd_log(MIMICD_LOG_WARNING, "%s: no state filesystem: %s", path, what);
	return error;
}

/* --- dead mounts ---------------------------------------------------------------------------- */

/* Absolute, and without asking the last name of the path, which may not answer. NULL with errno. */
static char *resolve(const char *path)
{
	char copy[PATH_MAX], base[PATH_MAX], *directory, *resolved = NULL;

	if ((size_t)snprintf(copy, sizeof(copy), "%s", path) >= sizeof(copy)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	snprintf(base, sizeof(base), "%s", basename(copy));
	snprintf(copy, sizeof(copy), "%s", path);
	directory = realpath(dirname(copy), NULL);
	if (!directory)
		return NULL;
	if (!strcmp(base, "/") || !strcmp(base, ".") || !strcmp(base, ".."))
		resolved = realpath(path, NULL);
	else if (asprintf(&resolved, "%s/%s", strcmp(directory, "/") ? directory : "", base) < 0)
		resolved = NULL;
	free(directory);
	return resolved;
}

/* Is the filesystem that is mounted there a mimicd's? */
static bool is_ours(const char *path)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *entry;
	bool is_it = false;

	if (!mounts)
		return false;
	/* The last one lies on top. */
	while ((entry = getmntent(mounts))) {
		if (!strcmp(entry->mnt_dir, path))
			is_it = !strcmp(entry->mnt_type, "fuse." SUBTYPE);
	}
	endmntent(mounts);
	return is_it;
}

/* A user that may not unmount asks the command that may. */
static void detach(const char *path)
{
	char *const arguments[] = { "fusermount3", "-u", "-z", "-q", "--", (char *)(uintptr_t)path, NULL };
	pid_t child;

	if (!umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW))
		return;
	if (!posix_spawnp(&child, arguments[0], NULL, NULL, arguments, environ))
		waitpid(child, NULL, 0);
}

/* --- the directory ---------------------------------------------------------------------------- */

static bool is_empty(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	bool is_it = directory != NULL;

	while (is_it && (entry = readdir(directory)))
		is_it = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (directory)
		closedir(directory);
	return is_it;
}

static bool is_trusted(uid_t user)
{
	return user == 0 || user == geteuid();
}

/* Can nobody but us and root put another file in the place of one of ours in this directory? */
static bool is_safe_parent(const struct stat *status)
{
	mode_t others = S_IWOTH;

	if (status->st_gid != 0 && status->st_gid != getegid())
		others |= S_IWGRP;
	return S_ISDIR(status->st_mode) && is_trusted(status->st_uid) &&
	       (!(status->st_mode & others) || status->st_mode & S_ISVTX);
}

/*
 * Trust boundary: a daemon of root mounts where the path leads at that moment. The path has no
 * symbolic link (resolve()), and gets none afterwards: nobody else can rename a part of it.
 */
static int check_parents(const char *path)
{
	char part[PATH_MAX];
	struct stat status;

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", slash == path ? 1 : (int)(slash - path), path);
		if (lstat(part, &status) < 0)
			return fail(path, -errno, strerror(errno));
		if (!is_safe_parent(&status))
			return fail(path, -EPERM, "another user could put something else in its place");
	}
	return 0;
}

static int check_directory(const char *path, bool may_make)
{
	struct stat status;
	int error = check_parents(path);

	if (error)
		return error;

	if (lstat(path, &status) < 0 && errno == ENOTCONN && is_ours(path)) {
		mimicd_log(MIMICD_LOG_INFO, "%s: taking away the mount of a daemon that is gone", path);
		detach(path);
	}
	if (may_make && mkdir(path, 0755) < 0 && errno != EEXIST)
		return fail(path, -errno, strerror(errno));
	if (lstat(path, &status) < 0)
		return fail(path, -errno, strerror(errno));
	if (!S_ISDIR(status.st_mode))
		return fail(path, -ENOTDIR, strerror(ENOTDIR));
	/* In a directory such as /tmp its owner could take it away, and put a symbolic link there. */
	if (!is_trusted(status.st_uid))
		return fail(path, -EPERM, "the directory is another user's");
	if (!is_empty(path))
		return fail(path, -ENOTEMPTY, "the directory is not empty, or cannot be read");
	return 0;
}

/* --- mounting ----------------------------------------------------------------------------------- */

static char library_says[WHY_MAX];

static void keep_message(enum fuse_log_level level, const char *format, va_list arguments)
{
	(void)level;
	vsnprintf(library_says, sizeof(library_says), format, arguments);
}

/* The last line of the messages; no newline. */
static void keep_last_line(char *why, const char *text)
{
	size_t length = strlen(text);
	const char *line;

	while (length && text[length - 1] == '\n')
		length--;
	line = memrchr(text, '\n', length);
	line = line ? line + 1 : text;
	if (length > (size_t)(line - text))
		snprintf(why, WHY_MAX, "%.*s", (int)(length - (size_t)(line - text)), line);
}

/*
 * The library, and the command that mounts for users that may not, print errors on
 * standard error, each in its way: that is caught, and becomes one line of ours.
 */
static int mount_quietly(struct fuse_session *session, const char *path, char why[WHY_MAX])
{
	int heard = memfd_create("messages", MFD_CLOEXEC);
	int standard_error = heard < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	char text[1024] = "";
	int error;

	if (standard_error >= 0)
		dup2(heard, STDERR_FILENO);
	error = fuse_session_mount(session, path);
	if (standard_error >= 0) {
		dup2(standard_error, STDERR_FILENO);
		close(standard_error);
		(void)!pread(heard, text, sizeof(text) - 1, 0);
	}
	if (heard >= 0)
		close(heard);
	snprintf(why, WHY_MAX, "it cannot be mounted");
	keep_last_line(why, library_says);
	keep_last_line(why, text);
	return error ? -EIO : 0;
}

static struct fuse_session *create_session(struct mimicd_filesystem *filesystem)
{
	bool allow_users = filesystem->options.allow_users;
	char options[128], name[] = "mimicd", flag[] = "-o";
	char *arguments[] = { name, flag, options, NULL };
	struct fuse_args list = FUSE_ARGS_INIT(3, arguments);
	struct fuse_session *session;

	snprintf(options, sizeof(options), "fsname=mimicd,subtype=" SUBTYPE ",default_permissions%s",
		 allow_users ? ",allow_other" : "");
	library_says[0] = 0;
	fuse_set_log_func(keep_message);
	session = fuse_session_new(&list, &mimicd_filesystem_ops, sizeof(mimicd_filesystem_ops), filesystem);
	fuse_opt_free_args(&list);
	return session;
}

static int mount_at(struct mimicd_filesystem *filesystem, const char *path)
{
	char why[WHY_MAX];

	filesystem->session = create_session(filesystem);
	if (!filesystem->session)
		return fail(path, -EINVAL, library_says);
	if (!mount_quietly(filesystem->session, path, why)) {
		int fd = fuse_session_fd(filesystem->session);

		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		return 0;
	}
	fuse_session_destroy(filesystem->session);
	filesystem->session = NULL;
	return fail(path, -EIO, why);
}

/* Once: the daemon may change its directory. */
static int find_path(struct mimicd_filesystem *filesystem, const char *named)
{
	if (!filesystem->path)
		filesystem->path = resolve(named);
	return filesystem->path ? 0 : fail(named, -errno, strerror(errno));
}

int mimicd_filesystem_mount(struct mimicd_filesystem *filesystem)
{
	const struct mimicd_filesystem_options *options = &filesystem->options;
	int error = find_path(filesystem, options->path);

	if (!error)
		error = check_directory(filesystem->path, options->make_directory);
	if (error)
		return error;
	error = mount_at(filesystem, filesystem->path);
	if (error && options->make_directory)
		rmdir(filesystem->path);
	return error;
}

void mimicd_filesystem_unmount(struct mimicd_filesystem *filesystem)
{
	/* Closes our end first: nothing that this does can wait for us. */
	fuse_session_unmount(filesystem->session);
	fuse_session_destroy(filesystem->session);
	filesystem->session = NULL;
	if (filesystem->options.make_directory)
		rmdir(filesystem->path);
}
