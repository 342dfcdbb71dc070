/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The section [plugin] of a configuration file: read before all else of it, because other
 * sections may be those of the kinds that plugins bring. Any other
 * mistake in the file is reported when it is read as a whole.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <ini.h>

#include "libmimic/base/config.h"

struct reader {
	const char *path;
	int (*load)(const char *path);
	int error;		/* the first */
};

/* For libinih: 0 would end it. A path is the file's own, if it is not absolute. */
static int on_key(void *user, const char *section, const char *name, const char *value)
{
	struct reader *reader = user;
	const char *slash = strrchr(reader->path, '/');
	char path[PATH_MAX];
	int error;

	if (strcmp(section, MIMIC_CONFIG_PLUGIN) || strcmp(name, MIMIC_CONFIG_PLUGIN_FILE) || !*value)
		return 1;
	if (*value == '/' || !slash)
		snprintf(path, sizeof(path), "%s%s", *value == '/' ? "" : "./", value);
	else
		snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - reader->path), reader->path, value);
	error = reader->load(path);
	reader->error = reader->error ? reader->error : error;
	return 1;
}

/* An indented line is a line, not the continuation of the one before. */
static char *read_line(char *line, int size, void *file)
{
	size_t indent;

	if (!fgets(line, size, file))
		return NULL;
	indent = strspn(line, " \t\r\v\f");
	memmove(line, line + indent, strlen(line + indent) + 1);
	return line;
}

int mimic_config_plugins(const char *path, int (*load)(const char *path))
{
	struct reader reader = { .path = path, .load = load };
	FILE *file;

	if (!path || !*path || mimic_config_is_profile(path))
		return 0;
	file = fopen(path, "re");
	if (!file)
		return 0;
	ini_parse_stream(read_line, file, on_key, &reader);
	fclose(file);
	return reader.error;
}
