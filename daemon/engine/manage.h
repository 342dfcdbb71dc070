/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Shows a device to people, and lets them reset it or inject errors: by messages of the socket and by the
 * state filesystem (docs/state.md). All with the engine's lock.
 */
#ifndef MIMICD_MANAGE_H
#define MIMICD_MANAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/engine/program.h"

struct mimicd_engine;
struct mimicd_instance;

/*
 * By the name that LIST shows. Of private ones ("maple@0") several processes may each
 * have one: "maple@0:1234" is that of process 1234, and without a process it is the only
 * one that this user may see. -ENOENT: no such kind, -ENODEV: no such device, -ENOTUNIQ:
 * several have one, -EPERM: this user may not see it.
 */
int mimicd_device_find(struct mimicd_engine *engine, const char *name, uid_t uid,
		       struct mimicd_instance **found);

/*
 * As after power-on, also while a program has it: accesses that wait are answered with 0,
 * and the next command is done when a job that still runs has ended. A program that had it has it still.
 */
void mimicd_device_reset(struct mimicd_instance *instance);
/* All counters are 0 again; nothing else changes. */
void mimicd_device_clear_counters(struct mimicd_instance *instance);
/* INJECT by number (mimic/protocol.h). -EINVAL: no such thing; -EOPNOTSUPP: no driver that would see it. */
int mimicd_device_inject(struct mimicd_instance *instance, uint32_t what);

/*
 * Another device, at the lowest free number; `name` has room for MIMIC_NAME_MAX.
 * -ENOENT: no such kind; -ENOSPC: too many; -ENOMEM; an error of a bus.
 */
int mimicd_device_add(struct mimicd_engine *engine, const char *kind, char *name);
/* Away it goes, also while a program has it: accesses to it are those to a device that is closed. */
int mimicd_device_remove(struct mimicd_engine *engine, const char *name);

#endif
