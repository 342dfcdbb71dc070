/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMICD_AGAIN_H
#define MIMICD_AGAIN_H

#include <stdbool.h>

struct mimicd_packet;
struct mimicd_session;

/* Was this message answered by a daemon that was killed before it could note that? Then the reply is sent again. */
bool mimicd_session_answers_again(struct mimicd_session *session, const struct mimicd_packet *packet);

/*
 * The session is taken over. A message that was put off is not in the socket any more, so nothing but its reply
 * tells whether that was sent: it is sent again, and a program that has it drops it.
 */
void mimicd_session_repeat_reply(struct mimicd_session *session);

#endif
