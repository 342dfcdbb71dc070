/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Declarations that the files of this front end share. */
#ifndef MIMICD_CLIENTS_INTERNAL_H
#define MIMICD_CLIENTS_INTERNAL_H

#include <sys/types.h>

#include "daemon/clients/clients.h"
#include "daemon/clients/packet.h"
#include "daemon/engine/client.h"
#include "daemon/engine/front_end.h"
#include "daemon/loop/loop.h"
#include "daemon/loop/timer.h"

/* A program that has connected says HELLO within this, or makes room. */
#define MIMICD_GREETING_NS 5000000000ull

struct mimicd_clients {
	struct mimicd_engine *engine;
	struct mimicd_front_end front_end;
	struct mimicd_clients_options options;
	struct mimicd_session *sessions;
	unsigned int count;		/* of these */
	struct mimicd_timer greeting_timer;
	unsigned int put_off;		/* of these: they have a message that is put off */
	unsigned int paused;		/* of these */
	uint64_t last_turn;		/* of such messages, see struct mimicd_user */
	int listen_fd;			/* -1: none */
	int spare_fd;			/* given up to refuse a client when there are no others; -1: until there are some */
	struct mimicd_source listen_source;
	bool lacks_memory;		/* for their records, at the last step */
	bool has_ended;			/* a session has, since the list of their records was written */
	char *socket_path;
	dev_t socket_device;		/* to remove our own socket only */
	ino_t socket_inode;
};

/* A program that is connected by a socket. */
struct mimicd_session {
	struct mimicd_client client;	/* first: the engine knows only this part */
	struct mimicd_clients *clients;
	struct mimicd_session *next;
	int socket;
	int event_fd;
	struct mimicd_source socket_source;
	struct mimicd_source kick_source;
	struct mimicd_source process_source;
	bool is_paused;			/* nothing is received (packet.h) */
	bool greeted;
	uint64_t greet_before;
	/* The posts before this message take longer than a turn: nothing is received until it is served. */
	bool is_put_off;
	struct mimicd_packet put_off;
	uint64_t turn;			/* when it was tried last */
	uint64_t put_off_since;		/* 0: no message is */
	uint64_t due;			/* when it is tried again; 0: in its next turn */
	bool waits_for_job;		/* it is tried again when one has come back, too */
	uint32_t returns;		/* of jobs, when it was tried last (jobs.h) */
	unsigned int complaints;	/* refused messages, see messages.c */
	bool text_is_unread;	/* a reply with a text, that may not have been read yet */

	/* The rest is of a daemon that can be recovered (record.h). */
	struct mimicd_session_record *record;	/* in the window; NULL: there is none yet */
	size_t record_size;
	uint32_t sequence;		/* of the last message that was answered, and the answer */
	size_t reply_size;
	char reply[MIMIC_MESSAGE_MAX];
	bool may_repeat;		/* the next message may be one that the daemon before has answered */
	bool was_put_off;		/* the answer is of a message that is out of the socket */
	struct mimicd_packet pending;	/* that is put off, until it is answered; length 0: none */
};

static inline struct mimicd_session *mimicd_session_of(struct mimicd_client *client)
{
	return (struct mimicd_session *)client;
}

#endif
