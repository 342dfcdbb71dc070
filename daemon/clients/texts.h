/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Replies with a text: the list of devices and clients, a device's state. */
#ifndef MIMICD_TEXTS_H
#define MIMICD_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

struct mimicd_client;
struct mimicd_engine;
struct mimicd_packet;
struct mimicd_session;

/* list.c: JSON text for the client that asks. NULL without memory; free() it. */
char *mimicd_list_text(const struct mimicd_engine *engine, const struct mimicd_client *asking);

/* texts.c: answers to LIST and STATE. */
void mimicd_send_list(struct mimicd_session *session, const struct mimicd_packet *packet);
void mimicd_send_state(struct mimicd_session *session, const struct mimicd_packet *packet);
/* Files that wait in a socket are memory that counts for no user: a client leaves one there at most. false: it was told. */
bool mimicd_may_have_text(struct mimicd_session *session, const struct mimicd_packet *packet);
/* A reply that has a file with these bytes. */
void mimicd_reply_file(struct mimicd_session *session, const struct mimicd_packet *packet, const void *bytes,
		       size_t size);
/* A message has come: has the client read the text that it got last? */
void mimicd_note_text_read(struct mimicd_session *session);

#endif
