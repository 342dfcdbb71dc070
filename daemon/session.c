/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/engine.h"
#include "daemon/log.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77	/* Linux 6.5 */
#endif

static void read_program_name(struct mimicd_session *session)
{
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)session->pid);
	file = fopen(path, "re");
	if (!file || !fgets(session->program, sizeof(session->program), file))
		strcpy(session->program, "?");
	session->program[strcspn(session->program, "\n")] = 0;
	if (file)
		fclose(file);
}

/* A handle of the process that cannot come to mean another one. */
static int open_peer(int fd, pid_t pid)
{
	socklen_t length = sizeof(int);
	int pidfd;

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length))
		return pidfd;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return pidfd < 0 ? -errno : pidfd;
}

static void refuse(int fd, int error)
{
	struct mimic_hello_reply reply = {
		.header = {
			.size = sizeof(reply),
			.type = MIMIC_MESSAGE_HELLO | MIMIC_MESSAGE_REPLY,
			.error = error,
		},
		.magic = MIMIC_PROTOCOL_MAGIC,
		.version = MIMIC_PROTOCOL_VERSION,
		.daemon_pid = (uint32_t)getpid(),
	};

	/* It may have gone already; we owe it nothing. */
	(void)!send(fd, &reply, sizeof(reply), MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

static int check_peer(struct mimicd_server *server, int fd, struct ucred *peer)
{
	socklen_t length = sizeof(*peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &length) < 0) {
		mimicd_log(MIMICD_LOG_WARNING, "a client was refused: its credentials cannot be read: %s",
			   strerror(errno));
		return -EACCES;
	}
	if (peer->uid != geteuid() && peer->uid != 0 && !server->options.allow_users) {
		mimicd_log(MIMICD_LOG_WARNING,
			   "process %d was refused: it is of user %u, this daemon serves user %u (--allow-users)",
			   (int)peer->pid, (unsigned int)peer->uid, (unsigned int)geteuid());
		return -EACCES;
	}
	if (server->session_count == MIMICD_SESSIONS_MAX) {
		mimicd_log(MIMICD_LOG_WARNING, "process %d was refused: %u programs are connected already",
			   (int)peer->pid, MIMICD_SESSIONS_MAX);
		return -EMFILE;
	}
	return 0;
}

static int watch(struct mimicd_session *session)
{
	struct mimicd_server *server = session->server;
	int error;

	session->socket_source = (struct mimicd_source){ MIMICD_SOURCE_SOCKET, session };
	session->kick_source = (struct mimicd_source){ MIMICD_SOURCE_KICK, session };
	session->process_source = (struct mimicd_source){ MIMICD_SOURCE_PROCESS, session };
	error = mimicd_server_watch(server, session->socket, EPOLLIN | EPOLLRDHUP,
				    &session->socket_source);
	/*
	 * Edge triggered and never read: the client has the same eventfd and could
	 * make a read of ours wait for ever.
	 */
	if (!error)
		error = mimicd_server_watch(server, session->event_fd, EPOLLIN | EPOLLET,
					    &session->kick_source);
	if (!error)
		error = mimicd_server_watch(server, session->memory.pidfd, EPOLLIN,
					    &session->process_source);
	return error;
}

int mimicd_session_create(struct mimicd_server *server, int fd)
{
	struct mimicd_session *session;
	struct ucred peer;
	int error = check_peer(server, fd, &peer);

	if (error) {
		refuse(fd, error);
		return error;
	}
	session = calloc(1, sizeof(*session));
	if (!session) {
		refuse(fd, -ENOMEM);
		return -ENOMEM;
	}
	session->server = server;
	session->socket = fd;
	session->pid = peer.pid;
	session->uid = peer.uid;
	session->memory.pid = peer.pid;
	session->memory.may_read_process = peer.uid == geteuid();
	session->memory.pidfd = open_peer(fd, peer.pid);
	session->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	session->next = server->sessions;
	server->sessions = session;
	server->session_count++;
	if (session->memory.pidfd < 0)
		error = session->memory.pidfd;
	else
		error = session->event_fd < 0 ? -errno : watch(session);
	if (error) {
		mimicd_log(MIMICD_LOG_WARNING, "process %d was refused: %s", (int)peer.pid, strerror(-error));
		session->socket = -1;
		mimicd_session_destroy(session);
		refuse(fd, error);
		return error;
	}
	read_program_name(session);
	mimicd_log(MIMICD_LOG_DEBUG, "process %d (%s) connected", (int)session->pid, session->program);
	return 0;
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

void mimicd_session_destroy(struct mimicd_session *session)
{
	struct mimicd_server *server = session->server;
	struct mimicd_session **link = &server->sessions;

	/* Devices first: nothing of this session waits in a model when its lanes go. */
	mimicd_instances_release(session);
	while (session->lanes)
		mimicd_lane_destroy(session->lanes);
	for (uint32_t i = 1; i <= MIMIC_SESSION_THREADS; i++)
		free(session->threads[i]);
	mimicd_memory_clear(&session->memory);
	close_if_open(session->socket);
	close_if_open(session->event_fd);
	close_if_open(session->memory.pidfd);
	while (*link != session)
		link = &(*link)->next;
	*link = session->next;
	server->session_count--;
	if (session->greeted)
		mimicd_log(MIMICD_LOG_DEBUG, "process %d (%s) is gone", (int)session->pid, session->program);
	free(session);
}

void mimicd_session_break(struct mimicd_session *session, const char *format, ...)
{
	char reason[256];
	va_list arguments;

	if (session->broken)
		return;
	session->broken = true;
	session->server->reap = true;
	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	mimicd_log(MIMICD_LOG_WARNING, "process %d (%s): session ended: %s", (int)session->pid,
		   session->program, reason);
}
