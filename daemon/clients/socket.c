/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/clients/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "daemon/loop/log.h"

#define SYSTEMD_FIRST_FD 3
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

int mimicd_socket_make_directory(const char *path)
{
	char copy[sizeof(((struct sockaddr_un *)0)->sun_path)];
	const char *directory;

	snprintf(copy, sizeof(copy), "%s", path);
	directory = dirname(copy);
	if (mkdir(directory, 0755) < 0 && errno != EEXIST)
		return fail(-errno, directory, "cannot make the directory of the socket");
	return 0;
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
 * A file beside the socket, locked against another mimicd that starts. Not the directory, which
 * whoever can read it could lock: this file is for its owner only.
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

/* Who waits for it finds that it is gone, and makes another one. */
static void unlock_path(int fd, const char *path)
{
	unlink(path);
	close(fd);
}

/* Removes a socket file that nobody answers on. */
static int remove_stale(const struct sockaddr_un *address)
{
	struct stat status;
	int fd, answer;

	if (lstat(address->sun_path, &status) < 0)
		return errno == ENOENT ? 0 : fail(-errno, address->sun_path, "cannot be read");
	if (!S_ISSOCK(status.st_mode))
		return fail(-EEXIST, address->sun_path, "is there and is no socket");
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
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

static int bind_and_listen(const struct sockaddr_un *address, bool allow_users)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
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

int mimicd_socket_listen(const char *path, bool allow_users, struct stat *status)
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
	fd = remove_stale(&address);
	if (!fd)
		fd = bind_and_listen(&address, allow_users);
	if (fd >= 0 && lstat(path, status) < 0) {
		int error = fail(-errno, path, "is gone again");

		close(fd);
		fd = error;
	}
	unlock_path(lock, lock_name);
	return fd;
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
