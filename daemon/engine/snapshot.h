/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Saves the state of a device, and restores one (docs/save.md): messages SAVE and RESTORE. With all shards held. */
#ifndef MIMICD_SNAPSHOT_H
#define MIMICD_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "devices/text.h"
#include "libmimic/record/snapshot.h"

#define MIMICD_SNAPSHOT_MAX MIMIC_SNAPSHOT_DEVICE_MAX	/* bytes of a record */

struct mimicd_engine;
struct mimicd_instance;

/*
 * A record of its state (libmimic/record/snapshot.h), which is the caller's to free. Programs go on. 0; -EINPROGRESS: to be
 * asked again when a job has come back, or mimicd_jobs_release(); -EOPNOTSUPP: models of the kind have none;
 * -EFBIG: it is larger than a record can be; -ENOMEM.
 */
int mimicd_snapshot_take(struct mimicd_instance *instance, void **bytes, size_t *size);

/*
 * The device of that name gets the state of the record (aligned to 8), if no program has it; with is_check all is as before.
 * 0; -EINPROGRESS: a program that had it is about to leave; other errors, with the reason: -EBUSY: a program has it, -EINVAL:
 * no such record, or one that does not fit; -ENODEV, -ENOENT: as mimicd_instance_find(); -EOPNOTSUPP: not by this
 * mimicd, not of this kind; -ENOMEM.
 */
int mimicd_snapshot_restore(struct mimicd_engine *engine, const char *name, const void *bytes, size_t size,
			    bool is_check, struct mimic_text *reason);

#endif
