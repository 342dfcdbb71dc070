/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/kselftest/lib/real_daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kselftest/lib/on_pci.h"

#define TOP "/mimic"
#define SOCKET "/tmp/kselftest.sock"
#define TRIES 2000	/* of 5 ms */

/* In memory of all tests: each is a child of the program. */
static struct shared_daemon {
	pid_t main;
	pid_t daemon;		/* 0: none runs */
	char channel[16];
	char kind[16];
	unsigned int devices;
} *shared;

int real_daemon_command(const char *command, const char *arguments)
{
	char line[256];
	int status;

	snprintf(line, sizeof(line), TOP "/bin/mimic %s --socket " SOCKET " %s >/dev/null 2>&1", command,
		 arguments);
	status = system(line);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void wait_for_node(void)
{
	char path[32];
	int fd = -1;

	snprintf(path, sizeof(path), "/dev/%s0", shared->kind);
	for (int i = 0; fd < 0 && i < TRIES; i++) {
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			usleep(5000);
	}
	if (fd >= 0)
		close(fd);
}

static void start(const char *channel, const char *devices)
{
	pid_t daemon;

	snprintf(shared->channel, sizeof(shared->channel), "%s", channel);
	if (sscanf(devices, "%15[a-z]:%u", shared->kind, &shared->devices) != 2)
		abort();
	daemon = fork();
	if (!daemon) {
		/* Not one of those whom a test's end takes along. */
		setsid();
		execl(TOP "/bin/mimicd", "mimicd", "--kernel=required", "--channel", channel, "--devices",
		      devices, "--socket", SOCKET, (char *)NULL);
		_exit(127);
	}
	shared->daemon = daemon;
	wait_for_node();
}

/* It may be the child of a test that is over. */
static void await(void)
{
	waitpid(shared->daemon, NULL, 0);
	while (!kill(shared->daemon, 0))
		usleep(1000);
	shared->daemon = 0;
}

static void stop(void)
{
	char name[32];

	for (unsigned int i = 0; i < shared->devices; i++) {
		snprintf(name, sizeof(name), "%s%u", shared->kind, i);
		real_daemon_command("remove", name);
	}
	kill(shared->daemon, SIGTERM);
	await();
}

void real_daemon_kill(void)
{
	kill(shared->daemon, SIGKILL);
	await();
}

bool real_daemon_share(const char *channel, const char *devices)
{
	char first[20];

	if (sscanf(devices, "%15[a-z]", first) == 1 && on_pci(strcat(first, "0")))
		return true;
	if (shared->daemon && (strcmp(shared->channel, channel) || kill(shared->daemon, 0)))
		stop();
	if (!shared->daemon)
		start(channel, devices);
	return !kill(shared->daemon, 0);
}

__attribute__((constructor)) static void begin(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		abort();
	shared->main = getpid();
}

__attribute__((destructor)) static void end(void)
{
	if (getpid() == shared->main && shared->daemon)
		stop();
}
