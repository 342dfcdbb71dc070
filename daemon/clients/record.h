/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Sessions of a daemon that can be recovered: their records in the window, and how they are taken over. */
#ifndef MIMICD_SESSION_RECORD_H
#define MIMICD_SESSION_RECORD_H

#include <stdbool.h>
#include <stddef.h>

struct mimicd_clients;
struct mimicd_packet;
struct mimicd_session;

/* A client has connected: its descriptors are kept. 0 or -errno. */
int mimicd_session_keep(struct mimicd_session *session);
/* It is gone. */
void mimicd_session_keep_drop(struct mimicd_session *session);

/* A message that changes nothing may be answered anew; of others the reply is kept until the next one. */
bool mimicd_packet_is_question(const struct mimicd_packet *packet);
/* This reply, whose descriptor can be found again, is about to be sent: ends the step. */
void mimicd_session_note_reply(struct mimicd_session *session, const struct mimicd_packet *packet, const void *reply,
			       size_t size);
/* The message waits, and is out of the socket. */
void mimicd_session_note_put_off(struct mimicd_session *session, const struct mimicd_packet *packet);
/*
 * After the front end is created: takes over the predecessor's sessions, if there is one, and begins to record. 0 or
 * -errno, with a log line.
 */
int mimicd_clients_recover(struct mimicd_clients *clients);

#endif
