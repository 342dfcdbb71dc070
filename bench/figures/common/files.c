/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Folders and files of the output, and plots, each of which reads just its CSV. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/figures/common/common.h"

int figures_folder(const char *output, const char *name)
{
	char *folder;
	bool is_bad;

	if (asprintf(&folder, "%s/%s", output, name) < 0)
		return figures_error("%s", strerror(ENOMEM));
	is_bad = (mkdir(output, 0777) && errno != EEXIST) || (mkdir(folder, 0777) && errno != EEXIST);
	free(folder);
	return is_bad ? figures_error("%s: %s", output, strerror(errno)) : 0;
}

FILE *figures_create(const char *output, const char *name, const char *suffix)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.%s", output, name, suffix);
	file = fopen(path, "w");
	if (!file)
		figures_error("%s: %s", path, strerror(errno));
	return file;
}

int figures_finish(FILE *file)
{
	bool is_bad = fflush(file) || ferror(file);

	fclose(file);
	return is_bad ? figures_error("cannot write: %s", strerror(errno)) : 0;
}

/* For a temporary file, which no other process has. */
static int read_table(struct chart_table *table, const char *output, const char *name)
{
	char path[4096], *text = NULL;
	unsigned int line = 0;
	size_t size = 0;
	FILE *file;
	int error;

	snprintf(path, sizeof(path), "%s/%s.csv", output, name);
	file = fopen(path, "re");
	if (!file || getdelim(&text, &size, '\0', file) < 0) {
		figures_error("%s: %s", path, strerror(errno));
		free(text);
		if (file)
			fclose(file);
		return -1;
	}
	fclose(file);
	error = chart_table_parse(table, text, strlen(text), &line);
	if (!error)
		return 0;
	chart_table_free(table);
	return figures_error("%s: line %u: %s", path, line, strerror(-error));
}

int figures_plot(const char *output, const char *name, const struct chart *chart)
{
	struct chart_table table;
	FILE *file;

	if (read_table(&table, output, name))
		return -1;
	file = figures_create(output, name, "svg");
	if (file)
		chart_print(file, chart, &table);
	chart_table_free(&table);
	return file ? figures_finish(file) : -1;
}
