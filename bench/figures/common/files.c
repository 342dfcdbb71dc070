/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Folders and files of the output, and plots by gnuplot, each of which reads just its CSV. */
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

int figures_bars(const char *output, const char *name, const char *title, const char *axis, unsigned int columns)
{
	FILE *file = figures_create(output, name, "gp");

	if (!file)
		return -1;
	/* Shades of one colour where the series is a quantity that grows. */
	for (unsigned int i = 0; columns > 3 && i < columns; i++)
		fprintf(file, "set linetype %u lc rgb '#%02x%02xff'\n", i + 1, 0xd0 - 0xd0 * i / columns,
			0xe0 - 0xa0 * i / columns);
	fprintf(file,
		"set terminal svg size 760,380 font 'sans-serif,12' background '#ffffff'\n"
		"set output '%s.svg'\nset datafile separator ','\nset title '%s'\nset ylabel '%s'\n"
		"set style data histogram\nset style histogram clustered gap 1\nset style fill solid 0.9 noborder\n"
		"set boxwidth 0.9\nset grid ytics lc rgb '#d0d0d0'\nset yrange [0:*]\nset key outside right top\n"
		"set xtics nomirror\n"
		"plot for [i=2:%u] '%s.csv' using i:xtic(1) title columnheader(i), 1 notitle with lines lc rgb '#808080'\n",
		name, title, axis, columns + 1, name);
	return figures_finish(file);
}

int figures_lines(const char *output, const char *name, const char *title, const char *axis, const char *x,
		  bool is_log, unsigned int columns)
{
	FILE *file = figures_create(output, name, "gp");

	if (!file)
		return -1;
	fprintf(file,
		"set terminal svg size 760,380 font 'sans-serif,12' background '#ffffff'\n"
		"set output '%s.svg'\nset datafile separator ','\nset title '%s'\nset ylabel '%s'\nset xlabel '%s'\n"
		"set grid lc rgb '#d0d0d0'\nset yrange [0:*]\nset key outside right top\n%s"
		"plot for [i=2:%u] '%s.csv' using 1:i with linespoints lw 2 pt 7 ps 0.6 title columnheader(i)\n",
		name, title, axis, x, is_log ? "set logscale x 2\n" : "", columns + 1, name);
	return figures_finish(file);
}

int figures_map(const char *output, const char *name, const char *title, const char *x, const char *y)
{
	FILE *file = figures_create(output, name, "gp");

	if (!file)
		return -1;
	fprintf(file,
		"set terminal svg size 460,380 font 'sans-serif,12' background '#ffffff'\n"
		"set output '%s.svg'\nset datafile separator ','\nset title '%s'\nset xlabel '%s'\nset ylabel '%s'\n"
		"set cbrange [0:1]\nset palette defined (0 '#f0f4ff', 1 '#1030a0')\nunset key\nset tics nomirror\n"
		"plot '%s.csv' matrix rowheaders columnheaders using 1:2:3 with image\n",
		name, title, x, y, name);
	return figures_finish(file);
}

int figures_gnuplot(const char *output, const char *name)
{
	char *command;
	int status;

	if (asprintf(&command, "cd '%s' && gnuplot %s.gp", output, name) < 0)
		return figures_error("%s", strerror(ENOMEM));
	status = system(command);
	free(command);
	return status ? figures_error("gnuplot failed on %s.gp (Debian package gnuplot-nox)", name) : 0;
}
