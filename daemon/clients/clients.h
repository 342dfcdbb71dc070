/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The front end for programs in user space: a listening socket, a session for each program
 * that connects, its messages (docs/protocol.md).
 */
#ifndef MIMICD_CLIENTS_H
#define MIMICD_CLIENTS_H

#include <stdbool.h>
#include <sys/types.h>

struct mimicd_clients;
struct mimicd_engine;
struct mimicd_quotas;

struct mimicd_clients_options {
	const char *socket_path;	/* NULL, and no listen_fd: nobody can connect (for tests) */
	int listen_fd;			/* of systemd; -1: make one */
	bool allow_users;		/* serve other users than ours and root */
	bool has_group;
	gid_t group;			/* if so: whose members may connect, and nobody else */
	unsigned int recovery_seconds;	/* that programs wait for a successor of ours; 0: they do not */
	const struct mimicd_quotas *quotas;	/* of other users; NULL: the defaults */
};

/* 0 or -errno, with a log line. */
int mimicd_clients_create(struct mimicd_clients **created, struct mimicd_engine *engine,
			  const struct mimicd_clients_options *options);
/* Ends all sessions. NULL: nothing. */
void mimicd_clients_destroy(struct mimicd_clients *clients);

#endif
