/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Sessions: programs that are connected by a socket. */
#ifndef MIMICD_SESSION_H
#define MIMICD_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mimicd_binding;
struct mimicd_clients;
struct mimicd_session;

/* Takes the connected socket `fd` over, also when it fails. 0 or -errno, with a log line. */
int mimicd_session_create(struct mimicd_clients *clients, int fd);
/*
 * A session for the process of a binding; *fd is its end, the caller's
 * to hand on. -EMFILE, -ENOMEM, -ESRCH, -EDQUOT, -ENOSPC.
 */
int mimicd_session_connect(struct mimicd_clients *clients, const struct mimicd_binding *binding,
			   int *fd);

/* A session as the daemon before had it. */
struct mimicd_adopted_session {
	int socket, event_fd, pidfd;	/* the session's, also when it fails; -1: there is none */
	uint64_t number;
	pid_t pid;
	uid_t uid;
	bool is_visible;
};

/* 0; -ENOENT: its socket or its eventfd is missing; the errors of mimicd_session_create(). */
int mimicd_session_adopt(struct mimicd_clients *clients, const struct mimicd_adopted_session *adopted,
			 struct mimicd_session **session);
void mimicd_session_destroy(struct mimicd_session *session);
/* Behind mimicd_packet_pause(). */
void mimicd_session_resume(struct mimicd_session *session);
/* Those that say nothing at all. For the timer of the struct mimicd_clients. */
void mimicd_sessions_end_mute(void *clients);

#endif
