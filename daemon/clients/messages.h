/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The messages of a session (docs/protocol.md). */
#ifndef MIMICD_MESSAGES_H
#define MIMICD_MESSAGES_H

#include <stdbool.h>

struct mimicd_packet;
struct mimicd_session;

/* The socket has something to say. */
void mimicd_session_receive(struct mimicd_session *session);
/* One of a session before: is it as long as its type, with as many descriptors? */
bool mimicd_packet_is_whole(const struct mimicd_packet *packet);
/* It has a message that was put off, which is tried again. */
void mimicd_session_go_on(struct mimicd_session *session);

#endif
