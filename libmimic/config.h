/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The configuration file (docs/man/mimic.conf.5.scd). Errors are -errno with a
 * text in mimic_error_text() that names file and line.
 */
#ifndef LIBMIMIC_CONFIG_H
#define LIBMIMIC_CONFIG_H

#include "devices/maple/maple_model.h"

#define MIMIC_MAPLE_COUNT_MAX 64
#define MIMIC_SPIN_MICROSECONDS_MAX 1000000

struct mimic_settings {
	struct maple_config maple;
	unsigned int maple_count;	/* instances maple0 ... */
	unsigned int spin_microseconds;	/* before a waiting thread sleeps; 0: never spin */
};

/* The paper's profile, two instances. */
void mimic_config_default(struct mimic_settings *settings);

/*
 * Loads a file, or one of the built-in profiles by the word "paper" or
 * "artifact". NULL or "": the default. What the file leaves out stays at the
 * default. On an error *settings is as it was.
 */
int mimic_config_load(const char *path, struct mimic_settings *settings);

/* "maple:2" into maple_count. NULL or "": nothing to do. */
int mimic_config_devices(const char *devices, struct mimic_settings *settings);

#endif
