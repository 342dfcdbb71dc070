/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMICD_AGAIN_H
#define MIMICD_AGAIN_H

#include <stdbool.h>

struct mimicd_packet;
struct mimicd_session;

/* Was this message answered by a daemon that was killed before it could note that? Then the reply is sent again. */
bool mimicd_session_answers_again(struct mimicd_session *session, const struct mimicd_packet *packet);

#endif
