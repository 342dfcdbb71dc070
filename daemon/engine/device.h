/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Devices made and destroyed. */
#ifndef MIMICD_DEVICE_H
#define MIMICD_DEVICE_H

#include "libmimic/base/kinds.h"

struct mimicd_engine;
struct mimicd_instance;

/* Those of the settings. 0 or -errno, with a log line. */
int mimicd_devices_create(struct mimicd_engine *engine);
void mimicd_devices_destroy(struct mimicd_engine *engine);

/* One that is to be found by its name. -ENOMEM or the kind's error, with a log line. */
int mimicd_device_create(struct mimicd_engine *engine, const struct mimic_kind *kind,
			 unsigned int number, struct mimicd_instance **created);
/* One for a single program. The same errors, without a log line. */
int mimicd_device_create_private(struct mimicd_engine *engine, const struct mimic_kind *kind,
				 unsigned int number, struct mimicd_instance **created);
/* No name finds it any more. */
void mimicd_device_hide(struct mimicd_instance *instance);
/* No program has it, no bus shows it, and its jobs are back (leave.h), or are waited for. */
void mimicd_device_destroy(struct mimicd_instance *instance);

#endif
