/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Plugins that a command was given, and those of its environment. */
#include <stdlib.h>

#include "libmimic/base/config.h"
#include "libmimic/base/plugin.h"
#include "libmimic/mimic.h"
#include "tools/common/tools.h"

int tool_plugins_load(const struct mimic_option_values *files, const char *config_path)
{
	int error = mimic_plugins_each(getenv("MIMIC_PLUGINS"), mimic_plugin_try_and_load);

	for (size_t i = 0; !error && i < files->count && i < MIMIC_OPTION_VALUES_MAX; i++)
		error = mimic_plugin_try_and_load(files->values[i]);
	if (!error)
		error = mimic_config_plugins(config_path, mimic_plugin_try_and_load);
	return error ? tool_error(EXIT_BAD_INPUT, "%s", mimic_plugins_trouble()) : 0;
}

void tool_plugins_hand_over(void)
{
	if (*mimic_plugins_loaded())
		setenv("MIMIC_PLUGINS", mimic_plugins_loaded(), 1);
}
