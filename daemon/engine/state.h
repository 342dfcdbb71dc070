/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a device shows of itself (docs/state.md), and what people may do to it from
 * outside: for messages of the socket, and for whatever else shows it. All of this
 * belongs to who holds the baton.
 */
#ifndef MIMICD_STATE_H
#define MIMICD_STATE_H

#include <stdbool.h>
#include <sys/types.h>

struct mimicd_instance;
struct mimicd_engine;

/*
 * By the name that LIST shows. Of private ones ("maple@0") several processes may each
 * have one: "maple@0:1234" is that of process 1234, and without a process it is the only
 * one that this user may see. -ENOENT: no such kind, -ENODEV: no such device, -ENOTUNIQ:
 * several have one, -EPERM: this user may not see it.
 */
int mimicd_state_find(struct mimicd_engine *engine, const char *name, uid_t uid,
		      struct mimicd_instance **found);

/* Root, the daemon's user, or the user to whom all belong that have the device. */
bool mimicd_state_may_see(const struct mimicd_instance *instance, uid_t uid);
/* Root and the daemon's user: whoever may stop the daemon. */
bool mimicd_state_may_manage(uid_t uid);

/* The tree as JSON text (docs/state.md), of one moment; free() it. NULL: no memory. */
char *mimicd_state_text(struct mimicd_engine *engine, struct mimicd_instance *instance,
			bool with_bytes);
/*
 * As after power-on, also while somebody has it: accesses that wait are answered with 0,
 * jobs that are out end first. Who had it has it still. Always 0 for now.
 */
int mimicd_state_reset(struct mimicd_engine *engine, struct mimicd_instance *instance);
/* All counters are 0 again; nothing else changes. Always 0 for now. */
int mimicd_state_clear_counters(struct mimicd_engine *engine, struct mimicd_instance *instance);

#endif
