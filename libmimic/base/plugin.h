/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Plugins: kinds of devices from shared libraries (devices/plugin.h). They are loaded while
 * the process has one thread, and stay. Errors are -errno with a text "FILE: reason" in
 * mimic_error_text().
 */
#ifndef LIBMIMIC_PLUGIN_H
#define LIBMIMIC_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

/* Registers the plugin's kind. A file that is loaded already is nothing to do. */
int mimic_plugin_load(const char *path);
/*
 * The same, after a child process has tried it: loading, creation and the calls that any
 * device gets. A plugin that crashes, exits or hangs there is an error (-EIO).
 */
int mimic_plugin_try_and_load(const char *path);

/* Absolute paths of those that are loaded, with a colon between, as MIMIC_PLUGINS takes them. */
const char *mimic_plugins_loaded(void);
/* The first that could not be loaded, and why: "plugin FILE: reason". NULL: all could. */
const char *mimic_plugins_trouble(void);

/*
 * Calls load() with each path of a list such as MIMIC_PLUGINS has; NULL or "": none. Goes on
 * after an error, and returns the first.
 */
int mimic_plugins_each(const char *list, int (*load)(const char *path));

/* --- plugin_trial.c ------------------------------------------------------------------------ */

struct mimic_plugin_trial;

/*
 * Runs work() in a child process that is ended after five seconds. work() reports its stage by
 * mimic_plugin_stage(), and a mistake by mimic_plugin_wrong(). false: `reason` has
 * the mistake, or the end of the child, and the stage.
 */
bool mimic_plugin_trial(void (*work)(struct mimic_plugin_trial *trial, const void *argument),
			const void *argument, char *reason, size_t size);
/* A text that stays. */
void mimic_plugin_stage(struct mimic_plugin_trial *trial, const char *stage);
/* Only the first one is reported. */
__attribute__((format(printf, 2, 3)))
void mimic_plugin_wrong(struct mimic_plugin_trial *trial, const char *format, ...);

/* Ends the child process: for work() that cannot return, inside of a function of the plugin. */
__attribute__((noreturn))
void mimic_plugin_end(struct mimic_plugin_trial *trial);

struct mimic_kind;

/* Everything that any device gets, of a device with the kind's defaults. */
void mimic_plugin_exercise(struct mimic_plugin_trial *trial, const struct mimic_kind *kind);

#endif
