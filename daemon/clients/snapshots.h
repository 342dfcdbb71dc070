/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* SAVE and RESTORE, for users that may stop the daemon. */
#ifndef MIMICD_SNAPSHOTS_H
#define MIMICD_SNAPSHOTS_H

struct mimicd_packet;
struct mimicd_session;

/* The message may be put off. */
void mimicd_do_snapshot(struct mimicd_session *session, const struct mimicd_packet *packet);

#endif
