/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/clients/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/loop/log.h"
#include "libmimic/base/runtime_folder.h"

static int fail(int error, const char *path, const char *what)
{
	mimicd_log(MIMICD_LOG_ERROR, "%s: %s: %s", path, what, strerror(-error));
	return error;
}

int mimicd_socket_make_directory(const char *path)
{
	char copy[sizeof(((struct sockaddr_un *)0)->sun_path)];
	const char *directory;
	int error;

	snprintf(copy, sizeof(copy), "%s", path);
	directory = dirname(copy);
	error = mimic_runtime_folder_make(directory);
	if (error == -EPERM)
		mimicd_log(MIMICD_LOG_ERROR, "%s: it belongs to another user, or others may write to it: give --socket PATH",
			   directory);
	else if (error)
		return fail(error, directory, "cannot make the directory of the socket");
	return error;
}

int mimicd_socket_give_to_group(const char *path, gid_t group)
{
	/* Its directory is ours, so nobody else puts another file there in between. */
	if (lchown(path, (uid_t)-1, group) < 0)
		return fail(-errno, path, "cannot be given to the group");
	return chmod(path, 0660) < 0 ? fail(-errno, path, "cannot be opened for the group") : 0;
}

static bool listens(int fd)
{
	socklen_t size = sizeof(int);
	int answer = 0;

	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &answer, &size) && answer;
}

/* By its name, or the only one that listens, whatever its unit is called. */
static struct mimicd_stored *find_listener(struct mimicd_stored *stored, size_t count)
{
	struct mimicd_stored *found = NULL;
	size_t listeners = 0;

	for (size_t i = 0; i < count; i++) {
		/* Ours, that the daemon before has made (daemon/engine/keep.h), is no manager's. */
		if (stored[i].fd < 0 || !listens(stored[i].fd) || !strncmp(stored[i].name, "listen-", 7))
			continue;
		if (!strcmp(stored[i].name, MIMICD_SOCKET_STORED))
			return &stored[i];
		found = &stored[i];
		listeners++;
	}
	return listeners == 1 ? found : NULL;
}

int mimicd_socket_from_manager(struct mimicd_stored *stored, size_t count)
{
	struct mimicd_stored *listener = find_listener(stored, count);
	int fd;

	if (!listener)
		return -1;
	fd = listener->fd;
	listener->fd = -1;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}
