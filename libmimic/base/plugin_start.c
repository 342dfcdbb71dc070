/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program's plugins are loaded when the library is: before the program has threads, and
 * before a signal handler could open a device. Only the shared library has this; mimicd and
 * mimic try a plugin first. (Nothing names this file, so no program takes it from an archive.)
 */
#include <stdlib.h>

#include "libmimic/base/config.h"
#include "libmimic/base/plugin.h"

__attribute__((constructor)) static void load_plugins(void)
{
	const char *list = secure_getenv("MIMIC_PLUGINS");
	const char *config = secure_getenv("MIMIC_CONFIG");

	/* A plugin that could not be loaded is reported when a device of it is opened: mimic_plugins_trouble(). */
	if (list && *list)
		mimic_plugins_each(list, mimic_plugin_load);
	if (config && *config)
		mimic_config_plugins(config, mimic_plugin_load);
}
