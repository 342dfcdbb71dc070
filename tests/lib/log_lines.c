/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/log_lines.h"

#include <stdio.h>
#include <string.h>

unsigned int log_lines_with(const char *path, const char *text)
{
	FILE *file = fopen(path, "re");
	unsigned int count = 0;
	char line[600];

	while (file && fgets(line, sizeof(line), file))
		count += strstr(line, text) != NULL;
	if (file)
		fclose(file);
	return count;
}
