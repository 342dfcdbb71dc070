/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Mimicd's end of the keeper. */
#include "daemon/loop/keeper.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/loop/keeping.h"
#include "daemon/loop/log.h"
#include "daemon/loop/loop.h"

#define REAP_MS 200

#define NOTES_BYTES ((size_t)MIMICD_KEEPING_MAX * MIMICD_KEEPING_NOTE)

struct mimicd_keeper {
	pid_t pid;
	char *notes;			/* memory of both processes */
	bool is_used[MIMICD_KEEPING_MAX];
	uint32_t next;			/* of the notes: none is used again soon, while the keeper may have its connection */
	int fd;				/* -1: it has ended */
	struct mimicd_loop *loop;	/* that watches it; NULL: none */
	struct mimicd_source source;
};

/* 0 or -errno. */
static int start(struct mimicd_keeper *keeper, mimicd_last_replies replies)
{
	int ends[2], error;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	keeper->pid = fork();
	if (!keeper->pid)
		mimicd_keeping_run(ends[1], keeper->notes, replies);
	error = keeper->pid < 0 ? -errno : 0;
	close(ends[1]);
	keeper->fd = ends[0];
	if (error)
		close(keeper->fd);
	return error;
}

static void release(struct mimicd_keeper *keeper)
{
	if (keeper->notes != MAP_FAILED)
		munmap(keeper->notes, NOTES_BYTES);
	free(keeper);
}

struct mimicd_keeper *mimicd_keeper_create(mimicd_last_replies replies)
{
	struct mimicd_keeper *keeper = calloc(1, sizeof(*keeper));
	int error = -ENOMEM;

	if (keeper) {
		keeper->notes = mmap(NULL, NOTES_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (keeper->notes != MAP_FAILED)
			error = start(keeper, replies);
		if (!error)
			return keeper;
		release(keeper);
	}
	mimicd_log(MIMICD_LOG_WARNING, "no process can be made that keeps connections of virtual machines: %s; QEMU may "
		   "abort when mimicd is killed", strerror(-error));
	return NULL;
}

/* Its descriptors are closed before it can be waited for; it is not waited for if that takes long. */
static void reap(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (unsigned int i = 0; i < REAP_MS && !waitpid(pid, NULL, WNOHANG); i++)
		nanosleep(&pause, NULL);
}

static void let_go(struct mimicd_keeper *keeper)
{
	if (keeper->loop)
		mimicd_loop_forget(keeper->loop, keeper->fd);
	close(keeper->fd);
	keeper->fd = -1;
	reap(keeper->pid);
}

/* It says nothing: this is its end. */
static void hear_of_end(void *context)
{
	struct mimicd_keeper *keeper = context;

	if (keeper->fd < 0)
		return;
	let_go(keeper);
	mimicd_log(MIMICD_LOG_WARNING, "the process that keeps connections of virtual machines (pid %d) has ended; QEMU "
		   "may abort when mimicd is killed", (int)keeper->pid);
}

int mimicd_keeper_watch(struct mimicd_keeper *keeper, struct mimicd_loop *loop)
{
	int error;

	if (!keeper)
		return 0;
	keeper->source = (struct mimicd_source){ hear_of_end, keeper };
	error = mimicd_loop_watch(loop, keeper->fd, EPOLLIN, &keeper->source);
	if (!error)
		keeper->loop = loop;
	return error;
}

/* NULL: all are used. */
static char *take_note(struct mimicd_keeper *keeper, struct mimicd_keeping_message *message)
{
	for (unsigned int i = 0; i < MIMICD_KEEPING_MAX; i++) {
		uint32_t number = keeper->next++ % MIMICD_KEEPING_MAX;

		if (keeper->is_used[number])
			continue;
		keeper->is_used[number] = true;
		message->note = number;
		return memset(keeper->notes + (size_t)number * MIMICD_KEEPING_NOTE, 0, MIMICD_KEEPING_NOTE);
	}
	errno = EMFILE;
	return NULL;
}

static bool send_connection(int to, struct mimicd_keeping_message *body, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec piece = { body, sizeof(*body) };
	struct msghdr message = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *entry = CMSG_FIRSTHDR(&message);

	entry->cmsg_level = SOL_SOCKET;
	entry->cmsg_type = SCM_RIGHTS;
	entry->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(entry), &fd, sizeof(int));
	return sendmsg(to, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof(*body);
}

void *mimicd_keeper_keep(struct mimicd_keeper *keeper, int fd)
{
	struct mimicd_keeping_message message;
	void *note;

	if (!keeper || keeper->fd < 0)
		return NULL;
	note = take_note(keeper, &message);
	if (note && send_connection(keeper->fd, &message, fd))
		return note;
	mimicd_log(MIMICD_LOG_WARNING, "a connection of a virtual machine is not kept: %s; its QEMU may abort when "
		   "mimicd is killed", strerror(errno));
	mimicd_keeper_forget(keeper, note);
	return NULL;
}

void mimicd_keeper_forget(struct mimicd_keeper *keeper, void *note)
{
	char *place = note;

	if (keeper && place >= keeper->notes && place < keeper->notes + NOTES_BYTES)
		keeper->is_used[(size_t)(place - keeper->notes) / MIMICD_KEEPING_NOTE] = false;
}

void mimicd_keeper_destroy(struct mimicd_keeper *keeper)
{
	if (!keeper)
		return;
	if (keeper->fd >= 0)
		let_go(keeper);
	release(keeper);
}
