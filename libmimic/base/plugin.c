/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "devices/plugin.h"
#include "libmimic/base/error.h"
#include "libmimic/base/kinds.h"

#define REASON_MAX 288

static char loaded[MIMIC_KINDS_MAX * PATH_MAX];
static char trouble[REASON_MAX + 160];

const char *mimic_plugins_loaded(void)
{
	return loaded;
}

const char *mimic_plugins_trouble(void)
{
	return *trouble ? trouble : NULL;
}

/* --- the file's content ------------------------------------------------------------------------ */

/* Opening a pipe or a device for reading could wait, or do something. */
static bool is_file(const char *path, char *reason, size_t size)
{
	struct stat status;

	if (stat(path, &status)) {
		snprintf(reason, size, "%s", strerror(errno));
		return false;
	}
	if (S_ISREG(status.st_mode))
		return true;
	snprintf(reason, size, "it is no file");
	return false;
}

/* The linker's texts begin with the path, which we say ourselves. */
static void take_linker_text(const char *path, char *reason, size_t size)
{
	const char *text = dlerror();
	size_t length = strlen(path);

	if (!text)
		text = "it cannot be loaded";
	if (!strncmp(text, path, length) && !strncmp(text + length, ": ", 2))
		text += length + 2;
	snprintf(reason, size, "%s", text);
}

static bool is_ours(const struct mimic_plugin *plugin, char *reason, size_t size)
{
	if (plugin->version != MIMIC_PLUGIN_VERSION || !plugin->release ||
	    strcmp(plugin->release, MIMIC_VERSION) != 0) {
		snprintf(reason, size, "a plugin for version %u of the interface, of mimic %.32s; this is version %u, "
			 "of mimic %s", plugin->version, plugin->release ? plugin->release : "?",
			 MIMIC_PLUGIN_VERSION, MIMIC_VERSION);
		return false;
	}
	/* The size of the structure first: of another one the other sizes may not be there. */
	if (plugin->size != sizeof(*plugin) ||
	    plugin->kind_size != sizeof(struct mimic_kind) ||
	    plugin->ops_size != sizeof(struct mimic_model_ops) ||
	    plugin->host_size != sizeof(struct mimic_host) ||
	    plugin->access_size != sizeof(struct mimic_access) ||
	    plugin->block_size != sizeof(struct mimic_register_block) ||
	    plugin->register_size != sizeof(struct mimic_register)) {
		snprintf(reason, size, "compiled with other headers than those of mimic %s", MIMIC_VERSION);
		return false;
	}
	if (plugin->kind)
		return true;
	snprintf(reason, size, "it has no kind");
	return false;
}

/* NULL: `reason` has the message. The library stays loaded, if it is *library. */
static const struct mimic_kind *open_library(const char *path, void **library, char *reason, size_t size)
{
	const struct mimic_plugin *plugin;

	*library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!*library) {
		take_linker_text(path, reason, size);
		return NULL;
	}
	plugin = dlsym(*library, "mimic_plugin");
	if (!plugin) {
		snprintf(reason, size, "no plugin: it has no symbol mimic_plugin");
		return NULL;
	}
	return is_ours(plugin, reason, size) ? plugin->kind : NULL;
}

/* --- loading ------------------------------------------------------------------------------------- */

static bool load(const char *path, char *reason, size_t size)
{
	void *library;
	const struct mimic_kind *kind = open_library(path, &library, reason, size);

	if (kind && !mimic_kind_register(kind, reason, size))
		return true;
	if (library)
		dlclose(library);
	return false;
}

static void try(struct mimic_plugin_trial *trial, const void *argument)
{
	char reason[REASON_MAX];
	const struct mimic_kind *kind;
	void *library;

	mimic_plugin_stage(trial, "loading");
	kind = open_library(argument, &library, reason, sizeof(reason));
	if (kind)
		mimic_plugin_stage(trial, "validation");
	if (!kind || mimic_kind_register(kind, reason, sizeof(reason)))
		mimic_plugin_wrong(trial, "%s", reason);
	else
		mimic_plugin_exercise(trial, kind);
}

static bool is_loaded(const char *path)
{
	size_t length = strlen(path);

	for (const char *next = loaded; *next; next += strcspn(next, ":"), next += *next == ':') {
		if (strcspn(next, ":") == length && !strncmp(next, path, length))
			return true;
	}
	return false;
}

static int load_path(const char *path, bool is_tried)
{
	char absolute[PATH_MAX], reason[REASON_MAX] = "";
	size_t length = strlen(loaded);
	bool is_good = is_file(path, reason, sizeof(reason));

	if (is_good && !realpath(path, absolute)) {
		snprintf(reason, sizeof(reason), "%s", strerror(errno));
		is_good = false;
	}
	if (is_good && strchr(absolute, ':')) {
		/* Lists of paths are handed to programs. */
		snprintf(reason, sizeof(reason), "the path of a plugin cannot have a colon");
		is_good = false;
	}
	if (is_good && is_loaded(absolute))
		return 0;
	if (is_good && is_tried)
		is_good = mimic_plugin_trial(try, absolute, reason, sizeof(reason));
	if (is_good)
		is_good = load(absolute, reason, sizeof(reason));
	if (is_good) {
		snprintf(loaded + length, sizeof(loaded) - length, "%s%s", length ? ":" : "", absolute);
		return 0;
	}
	if (!*trouble)
		snprintf(trouble, sizeof(trouble), "plugin %.128s: %s", path, reason);
	return mimic_error(-EINVAL, "plugin %.128s: %s", path, reason);
}

int mimic_plugin_load(const char *path)
{
	return load_path(path, false);
}

int mimic_plugin_try_and_load(const char *path)
{
	return load_path(path, true);
}

int mimic_plugins_each(const char *list, int (*load_one)(const char *path))
{
	char path[PATH_MAX];
	int first = 0, error;

	while (list && *list) {
		size_t length = strcspn(list, ":");

		if (length && length < sizeof(path)) {
			memcpy(path, list, length);
			path[length] = '\0';
			error = load_one(path);
			first = first ? first : error;
		}
		list += length + (list[length] == ':');
	}
	return first;
}
