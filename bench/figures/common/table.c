/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/figures/common/common.h"

/* Cuts a line into fields, in place. Fields in quotes may have commas. */
static void split(char *line, char **fields)
{
	for (size_t i = 0; i < FIELDS_MAX; i++)
		fields[i] = "";
	line[strcspn(line, "\n")] = '\0';
	for (size_t i = 0; i < FIELDS_MAX && line; i++) {
		if (*line == '"') {
			fields[i] = line + 1;
			line = strchr(line + 1, '"');
			if (!line)
				return;
			*line++ = '\0';
			line = *line == ',' ? line + 1 : NULL;
			continue;
		}
		fields[i] = strsep(&line, ",");
	}
}

static int read_rows(struct table *table, FILE *file)
{
	bool is_header = true;
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, file) > 0) {
		void *more;

		if (line[0] == '#')
			continue;
		if (!is_header) {
			more = reallocarray(table->rows, table->count + 1, sizeof(*table->rows));
			if (!more)
				return -ENOMEM;
			table->rows = more;
			split(line, table->rows[table->count++]);
			line = NULL;	/* the fields lie in it */
			room = 0;
		}
		is_header = false;
	}
	free(line);
	return 0;
}

int table_read(struct table *table, const char *folder, const char *name)
{
	char path[4096];
	FILE *file;
	int error;

	memset(table, 0, sizeof(*table));
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	if (!file)
		return figures_error("%s: %s", path, strerror(errno));
	error = read_rows(table, file);
	fclose(file);
	return error ? figures_error("%s: %s", path, strerror(-error)) : 0;
}

char *const *table_find(const struct table *table, const char *id)
{
	for (size_t i = 0; i < table->count; i++) {
		if (strcmp(table->rows[i][0], id) == 0)
			return table->rows[i];
	}
	return NULL;
}

char **table_words(char *text, size_t extra)
{
	char **words = calloc(strlen(text) / 2 + 2 + extra, sizeof(*words)), *word;
	size_t count = 0;

	while (words && (word = strsep(&text, " "))) {
		if (*word)
			words[count++] = word;
	}
	return words;
}

bool table_has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *found = list; (found = strstr(found, word)); found += length) {
		if ((found == list || found[-1] == ' ') && (found[length] == ' ' || !found[length]))
			return true;
	}
	return false;
}

bool table_find_file(const char *data, char **word)
{
	char *path;

	if (!*word || **word == '-')
		return true;
	if (!data || asprintf(&path, "%s/%s", data, *word) < 0)
		return false;
	if (access(path, R_OK)) {
		free(path);
		return false;
	}
	*word = path;
	return true;
}
