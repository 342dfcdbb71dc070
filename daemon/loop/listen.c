/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/loop/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "daemon/loop/log.h"

#define BACKLOG 64
#define LOCK_PATH_MAX (sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(".lock"))
/* How long another mimicd may take to start. */
#define LOCK_MS 5000
#define LOCK_PAUSE_MS 20

static int fail(int error, const char *path, const char *what)
{
	mimicd_log(MIMICD_LOG_ERROR, "%s: %s: %s", path, what, strerror(-error));
	return error;
}

/* 0; -EAGAIN: it was removed meanwhile; or -errno with a log line. */
static int take_lock(int fd, const char *path)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_MS * 1000000l };
	struct stat status;

	if (fstat(fd, &status) < 0 || status.st_uid != geteuid())
		return fail(-EPERM, path, "is the file of another user, and would be our lock");
	for (unsigned int i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
		if (errno != EWOULDBLOCK)
			return fail(-errno, path, "cannot be locked");
		if (i == LOCK_MS / LOCK_PAUSE_MS)
			return fail(-ETIMEDOUT, path, "another mimicd that starts has it locked");
		nanosleep(&pause, NULL);
	}
	return fstat(fd, &status) || !status.st_nlink ? -EAGAIN : 0;
}

/*
 * A file beside the socket, locked against another mimicd that starts. The directory would not do: each
 * user that can read it could lock it. This file is for its owner only.
 */
static int lock_path(const char *socket_path, char path[LOCK_PATH_MAX])
{
	int error;

	snprintf(path, LOCK_PATH_MAX, "%s.lock", socket_path);
	do {
		int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

		if (fd < 0)
			return fail(-errno, path, "cannot make the lock");
		error = take_lock(fd, path);
		if (!error)
			return fd;
		close(fd);
	} while (error == -EAGAIN);
	return error;
}

/* A mimicd that waits for the lock finds that the file is gone, and makes another one. */
static void unlock_path(int fd, const char *path)
{
	unlink(path);
	close(fd);
}

/* Removes a socket file that nobody answers on. */
static int remove_stale(const struct sockaddr_un *address, int type)
{
	struct stat status;
	int fd, answer;

	if (lstat(address->sun_path, &status) < 0)
		return errno == ENOENT ? 0 : fail(-errno, address->sun_path, "cannot be read");
	if (!S_ISSOCK(status.st_mode))
		return fail(-EEXIST, address->sun_path, "is there and is no socket");
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fail(-errno, address->sun_path, "cannot make a socket");
	answer = connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? errno : 0;
	close(fd);
	if (answer != ECONNREFUSED) {
		mimicd_log(MIMICD_LOG_ERROR, "%s: another daemon answers there", address->sun_path);
		return -EADDRINUSE;
	}
	mimicd_log(MIMICD_LOG_INFO, "%s: replacing the socket of a daemon that is gone",
		   address->sun_path);
	if (unlink(address->sun_path) < 0)
		return fail(-errno, address->sun_path, "cannot remove the old socket");
	return 0;
}

static int bind_and_listen(const struct sockaddr_un *address, int type, bool allow_users)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask;
	int error;

	if (fd < 0)
		return fail(-errno, address->sun_path, "cannot make a socket");
	/* Only our user can connect at all; the credentials are checked besides. */
	mask = umask(allow_users ? 0 : 0177);
	error = bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? -errno : 0;
	umask(mask);
	if (!error && listen(fd, BACKLOG) < 0)
		error = -errno;
	if (!error)
		return fd;
	close(fd);
	return fail(error, address->sun_path, "cannot listen there");
}

int mimicd_listen(const char *path, int type, bool allow_users, struct stat *status)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char lock_name[LOCK_PATH_MAX];
	int lock, fd;

	if (!*path || strlen(path) >= sizeof(address.sun_path))
		return fail(-ENAMETOOLONG, path, "is no path for a socket");
	strcpy(address.sun_path, path);
	lock = lock_path(path, lock_name);
	if (lock < 0)
		return lock;
	fd = remove_stale(&address, type);
	if (!fd)
		fd = bind_and_listen(&address, type, allow_users);
	if (fd >= 0 && lstat(path, status) < 0) {
		int error = fail(-errno, path, "is gone again");

		close(fd);
		fd = error;
	}
	unlock_path(lock, lock_name);
	return fd;
}
