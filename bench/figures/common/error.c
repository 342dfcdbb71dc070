/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <stdarg.h>
#include <string.h>

#include "bench/figures/common/common.h"

int figures_error(const char *format, ...)
{
	va_list list;

	fputs("figures: ", stderr);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	return -1;
}

void figures_tell_failure(const struct job *job)
{
	char line[512] = "";
	FILE *file = job->errors ? fopen(job->errors, "r") : NULL;

	if (file && fgets(line, sizeof(line), file))
		line[strcspn(line, "\n")] = '\0';
	if (file)
		fclose(file);
	fputs("\nfigures: failed:", stderr);
	for (char **word = job->arguments; *word; word++)
		fprintf(stderr, " %s", *word);
	fprintf(stderr, "\nfigures: it says: %s\n", line);
}
