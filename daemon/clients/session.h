/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A program that is connected by a socket. */
#ifndef MIMICD_SESSION_H
#define MIMICD_SESSION_H

#include "daemon/clients/clients.h"
#include "daemon/engine/client.h"
#include "daemon/loop/loop.h"

struct mimicd_binding;

struct mimicd_session {
	struct mimicd_client client;	/* first: it is what the engine knows of it */
	struct mimicd_clients *clients;
	struct mimicd_session *next;
	int socket;
	int event_fd;
	struct mimicd_source socket_source;
	struct mimicd_source kick_source;
	struct mimicd_source process_source;
	bool greeted;
	unsigned int complaints;	/* refused messages, see messages.c */
	bool text_is_out;	/* a reply with a text, that may not be read yet */
};

static inline struct mimicd_session *mimicd_session_of(struct mimicd_client *client)
{
	return (struct mimicd_session *)client;
}

/* Takes the connected socket `fd` over, also when it fails. 0 or -errno, with a log line. */
int mimicd_session_create(struct mimicd_clients *clients, int fd);
/*
 * A session for the process of a binding; *fd is its end, the caller's
 * to hand on. -EMFILE, -ENOMEM, -ESRCH.
 */
int mimicd_session_connect(struct mimicd_clients *clients, const struct mimicd_binding *binding,
			   int *fd);
void mimicd_session_destroy(struct mimicd_session *session);

/* messages.c: the socket has something to say. */
void mimicd_session_receive(struct mimicd_session *session);

/* list.c: JSON text for the client that asks. NULL without memory; free() it. */
char *mimicd_list_text(const struct mimicd_engine *engine, const struct mimicd_client *asking);

/*
 * A thread's number in our pid namespace. It says `tid`, which means something
 * in its own. 0: it has no such thread that we can see.
 */
pid_t mimicd_thread_id(pid_t process, uint32_t tid);

#endif
