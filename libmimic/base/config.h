/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The configuration file (docs/man/mimic.conf.5.scd). Errors are -errno with a
 * text in mimic_error_text() that names file and line.
 */
#ifndef LIBMIMIC_CONFIG_H
#define LIBMIMIC_CONFIG_H

#include "libmimic/base/kinds.h"

#define MIMIC_SPIN_MICROSECONDS_MAX 1000000
/* The section that names plugins, and its only key. */
#define MIMIC_CONFIG_PLUGIN "plugin"
#define MIMIC_CONFIG_PLUGIN_FILE "file"

struct mimic_settings {
	struct mimic_parameters parameters;
	unsigned int counts[MIMIC_KINDS_MAX];	/* devices of each kind */
	unsigned int spin_microseconds;	/* before a waiting thread sleeps; 0: never spin */
};

/* Every kind as it is by default, and as many of it. */
void mimic_config_default(struct mimic_settings *settings);

/*
 * Loads a file, or a built-in profile by its name, of every kind that has one of that name.
 * NULL or "": the default. A key that the file leaves out stays at the default. On an error *settings
 * is as it was.
 */
int mimic_config_load(const char *path, struct mimic_settings *settings);
/* MIMIC_SYNCHRONOUS=1 in the environment sets the key of that name, in all kinds that have it. */
int mimic_config_synchronous(struct mimic_settings *settings);
/* Is it such a name, and no path? NULL: no. */
bool mimic_config_is_profile(const char *name);
/* Of the first kind that keeps the name of its profile. */
const char *mimic_config_profile_name(const struct mimic_settings *settings);

/*
 * Calls load() with each plugin that the file names, before the file is loaded: a relative path
 * is made one of the file's directory. A profile, NULL or no file: nothing to do. Goes on after
 * an error of load(), and returns the first.
 */
int mimic_config_plugins(const char *path, int (*load)(const char *path));

/*
 * A list of KIND:COUNT, or KIND for one, with commas between, into counts: of a kind that it does
 * not name there are none. NULL or "": nothing to do. When a plugin could not be loaded, kinds
 * that are not known are left out, here and in files.
 */
int mimic_config_devices(const char *devices, struct mimic_settings *settings);

#endif
