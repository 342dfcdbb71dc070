/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/kselftest/lib/dare_device.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kselftest/lib/time_scale.h"

#define TOP "/mimic"
#define TRIES 2000	/* of 5 ms */

pid_t dare_daemon_start(const char *channel, const char *devices)
{
	pid_t pid = fork();
	int fd = -1;

	if (!pid) {
		/* Not one of those whom a test's end takes along. */
		setsid();
		execl(TOP "/bin/mimicd", "mimicd", "--kernel=required", "--channel", channel, "--devices",
		      devices, "--socket", DARE_TEST_SOCKET, (char *)NULL);
		_exit(127);
	}
	for (int i = 0; fd < 0 && i < TRIES; i++) {
		fd = open("/dev/dare0", O_RDWR | O_CLOEXEC);
		if (fd < 0)
			usleep(5000);
	}
	if (fd >= 0)
		close(fd);
	return pid;
}

int dare_command(const char *command, const char *arguments)
{
	char line[256];
	int status;

	snprintf(line, sizeof(line), TOP "/bin/mimic %s --socket " DARE_TEST_SOCKET " %s >/dev/null 2>&1",
		 command, arguments);
	status = system(line);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void dare_daemon_stop(pid_t daemon, unsigned int devices)
{
	char name[16];

	for (unsigned int i = 0; i < devices; i++) {
		snprintf(name, sizeof(name), "dare%u", i);
		dare_command("remove", name);
	}
	kill(daemon, SIGTERM);
	waitpid(daemon, NULL, 0);
}

/* --- one for all tests -------------------------------------------------------- */

#define SHARED_DEVICES 2

/* In memory of all tests: each is a child of the program. */
static struct shared_daemon {
	pid_t main;
	pid_t daemon;		/* 0: none runs */
	char channel[16];
} *shared;

__attribute__((constructor)) static void shared_begin(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		abort();
	shared->main = getpid();
}

/* It may be the child of a test that is over. */
static void await_shared(void)
{
	waitpid(shared->daemon, NULL, 0);
	while (!kill(shared->daemon, 0))
		usleep(1000);
	shared->daemon = 0;
}

static void stop_shared(void)
{
	if (!shared->daemon)
		return;
	dare_daemon_stop(shared->daemon, SHARED_DEVICES);
	await_shared();
}

void dare_daemon_kill_shared(void)
{
	kill(shared->daemon, SIGKILL);
	await_shared();
}

__attribute__((destructor)) static void shared_end(void)
{
	if (getpid() == shared->main)
		stop_shared();
}

bool dare_daemon_share(const char *channel)
{
	if (shared->daemon && (strcmp(shared->channel, channel) || kill(shared->daemon, 0)))
		stop_shared();
	if (!shared->daemon) {
		snprintf(shared->channel, sizeof(shared->channel), "%s", channel);
		shared->daemon = dare_daemon_start(channel, "dare:2");
	}
	return !kill(shared->daemon, 0);
}

/* --- nodes ---------------------------------------------------------------------- */

int dare_node_open(struct dare_node *node, const char *path)
{
	void *page;

	node->page = NULL;
	node->fd = open(path, O_RDWR | O_CLOEXEC);
	if (node->fd < 0)
		return -errno;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, node->fd, 0);
	if (page == MAP_FAILED) {
		int error = -errno;

		close(node->fd);
		return error;
	}
	node->page = page;
	return 0;
}

void dare_node_close(struct dare_node *node)
{
	if (node->page)
		munmap((void *)(uintptr_t)node->page, 4096);
	if (node->fd >= 0)
		close(node->fd);
	node->page = NULL;
	node->fd = -1;
}

struct dare_info dare_node_info(int fd)
{
	struct dare_info info = { .size = sizeof(info) };

	if (ioctl(fd, DARE_IOCTL_INFO, &info))
		memset(&info, 0xff, sizeof(info));
	return info;
}

void dare_shape(const struct dare_node *node, unsigned int rows, unsigned int bytes)
{
	dare_dispatch(node, DARE_WORD_MCFG, DARE_CSR_MATRIX_M, rows);
	dare_dispatch(node, DARE_WORD_MCFG, DARE_CSR_MATRIX_K, bytes);
}

uint64_t dare_load(const struct dare_node *node, unsigned int md, const volatile void *address,
		   uint64_t stride)
{
	dare_dispatch(node, DARE_WORD_MLD_B(md), (uintptr_t)address, stride);
	return dare_get(node, DARE_FENCE);
}

uint64_t dare_store(const struct dare_node *node, unsigned int ms3, volatile void *address,
		    uint64_t stride)
{
	dare_dispatch(node, DARE_WORD_MST_B(ms3), (uintptr_t)address, stride);
	return dare_get(node, DARE_FENCE);
}

uint64_t dare_see(const struct dare_node *node, const volatile void *address)
{
	static __thread volatile uint64_t place;

	place = 0;
	dare_dispatch(node, DARE_WORD_MLD_B(7), (uintptr_t)address, 0);
	dare_store(node, 7, &place, 0);
	return place;
}
