/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/clients/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/loop/log.h"
#include "libmimic/base/runtime_folder.h"

#define SYSTEMD_FIRST_FD 3

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

int mimicd_socket_from_systemd(void)
{
	const char *pid = getenv("LISTEN_PID");
	const char *count = getenv("LISTEN_FDS");

	if (!pid || !count || strtol(pid, NULL, 10) != (long)getpid() || strcmp(count, "1"))
		return -1;
	fcntl(SYSTEMD_FIRST_FD, F_SETFD, FD_CLOEXEC);
	fcntl(SYSTEMD_FIRST_FD, F_SETFL, O_NONBLOCK);
	return SYSTEMD_FIRST_FD;
}

void mimicd_notify(const char *state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length;
	int fd;

	if (!path || (path[0] != '/' && path[0] != '@'))
		return;
	length = strlen(path);
	if (length >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, length);
	if (path[0] == '@')
		address.sun_path[0] = 0;	/* the abstract name space */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) < 0)
		mimicd_log(MIMICD_LOG_WARNING, "%s: cannot notify systemd: %s", path, strerror(errno));
	close(fd);
}
