/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/programs.h"

#define DAEMON_START_TRIES 500

void program_path(char *path, size_t size, const char *name)
{
	char self[480];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[length < 0 ? 0 : length] = 0;
	/* A test program is BUILD/tests/<kind>/<program>. */
	for (int up = 0; name && up < 3; up++) {
		slash = strrchr(self, '/');
		if (slash)
			*slash = 0;
	}
	snprintf(path, size, "%s%s%s", self, name ? "/" : "", name ? name : "");
}

pid_t program_start(const char *const *arguments)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0)
		perror("fork");
	if (child != 0)
		return child;
	execv(arguments[0], (char *const *)arguments);
	fprintf(stderr, "%s: %s\n", arguments[0], strerror(errno));
	_exit(127);
}

int program_wait(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int answers(const char *socket_path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int result;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	result = connect(fd, (struct sockaddr *)&address, sizeof(address));
	close(fd);
	return result == 0;
}

/* A node may have been left behind by a daemon that is gone: its being there says nothing. */
static int can_be_opened(const char *node)
{
	int fd = open(node, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int start_daemon(struct daemon_process *daemon, const char *configuration, const char *node)
{
	struct timespec pause = { 0, 10000000 };
	char mimicd[512];
	const char *arguments[] = { mimicd, "--socket", daemon->socket, "--config", configuration,
				    node ? "--kernel" : "--kernel=off", NULL };

	strcpy(daemon->directory, "/tmp/mimic-test-XXXXXX");
	if (!mkdtemp(daemon->directory)) {
		perror("mkdtemp");
		return -1;
	}
	snprintf(daemon->socket, sizeof(daemon->socket), "%s/socket", daemon->directory);
	setenv("MIMIC_SOCKET", daemon->socket, 1);
	program_path(mimicd, sizeof(mimicd), "bin/mimicd");
	daemon->pid = program_start(arguments);
	for (int i = 0; i < DAEMON_START_TRIES && daemon->pid > 0; i++) {
		if (answers(daemon->socket) && (!node || can_be_opened(node)))
			return 0;
		if (waitpid(daemon->pid, NULL, WNOHANG) == daemon->pid)
			break;
		nanosleep(&pause, NULL);
	}
	fprintf(stderr, "%s does not answer on %s%s%s\n", mimicd, daemon->socket, node ? " and " : "",
		node ? node : "");
	return -1;
}

int daemon_start(struct daemon_process *daemon, const char *configuration)
{
	return start_daemon(daemon, configuration, NULL);
}

int daemon_start_on_bus(struct daemon_process *daemon, const char *configuration, const char *device)
{
	char node[32];

	snprintf(node, sizeof(node), "/dev/%s", device);
	return start_daemon(daemon, configuration, node);
}

int daemon_stop(struct daemon_process *daemon)
{
	int status;

	kill(daemon->pid, SIGTERM);
	status = program_wait(daemon->pid);
	if (status)
		fprintf(stderr, "mimicd ended with status %d\n", status);
	unlink(daemon->socket);
	rmdir(daemon->directory);
	return status ? -1 : 0;
}
