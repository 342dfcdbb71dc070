/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Credits (mimic_kind.credits) of a thread: a program's own stores that its devices take at once, for certain.
 * They are posted; a store without credits is acknowledged, waits as long as the device lets it, and its answer
 * brings new ones.
 *
 * A signal handler that interrupts an operation of its thread has none, and takes the thread's away: its
 * own stores use up the room that they stand for.
 */
#ifndef LIBMIMIC_DAEMON_CREDIT_H
#define LIBMIMIC_DAEMON_CREDIT_H

#include "libmimic/daemon/device.h"
#include "libmimic/daemon/lane.h"

/* Takes what the store costs. false: it has to ask for credits, by an answer. */
bool mimic_daemon_credit_take(const struct daemon_device *device, const struct daemon_lane *lane,
			      const struct mimic_access *store);
/*
 * Before such a store is published: false if it may not ask. The credits that are left for its part are gone, because
 * siglongjmp() may leave the store when it has taken effect.
 */
bool mimic_daemon_credit_ask(const struct daemon_device *device, const struct daemon_lane *lane,
			     const struct mimic_access *store);
/* Its answer. */
void mimic_daemon_credit_give(const struct daemon_device *device, const struct daemon_lane *lane,
			      const struct mimic_access *store, uint64_t answer);
/* Before any other access. */
void mimic_daemon_credit_leave(const struct daemon_device *device, const struct daemon_lane *lane,
			       const struct mimic_access *access);
void mimic_daemon_credits_drop(struct daemon_thread *thread);

#endif
