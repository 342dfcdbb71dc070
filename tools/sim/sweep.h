/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Functions that the files of mimic sweep share. */
#ifndef TOOLS_SWEEP_H
#define TOOLS_SWEEP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tools/common/tools.h"

#define SWEEP_AXES_MAX (MIMIC_OPTION_VALUES_MAX + 5)

/* One dimension of the grid. */
struct axis {
	const char *option;	/* "--set", "--soc", "--mode", "--design", "--cores", "--warm" */
	char *key;		/* of --set, with its '='; else "" */
	char *values[MIMIC_OPTION_VALUES_MAX];
	size_t count;
};

struct sweep {
	struct axis axes[SWEEP_AXES_MAX];
	size_t axis_count, points;
	const char *soc, *mode, *design, *cores, *warm, *jobs, *output, *directory;
	struct mimic_option_values sets, costs;
	bool lists, collects, resumes;
	char **program;		/* and its arguments */
	char self[PATH_MAX];
	char temporary[PATH_MAX];	/* directory that we made */
	size_t done;
	bool *is_refused;	/* points whose parameters cannot be; NULL: all may run */
	bool *is_there;	/* points that --resume need not run again; NULL: all have to */
	bool shows_progress;
};

/* sweep_grid.c */

/* The axes, from the options. 0, or the exit status after a message. */
int tool_sweep_make_grid(struct sweep *sweep);
/* The last axis changes fastest. */
const char *tool_sweep_value(const struct sweep *sweep, size_t point, size_t axis);
/* Mistakes in points are reported once, before anything runs; such points are refused. */
int tool_sweep_check_points(struct sweep *sweep);

/* sweep_folder.c: the directory, the files of points in it, and which sweep it is of */

/* DIRECTORY/point-00012.SUFFIX, for free(). NULL: out of memory. "json": the report of one that ran well. */
char *tool_sweep_path(const struct sweep *sweep, size_t point, const char *suffix);
/* Makes it, or finds that it is of this sweep. 0, or the exit status after a message. */
int tool_sweep_open_folder(struct sweep *sweep);
/* For --resume: which points have reports. */
int tool_sweep_find_reports(struct sweep *sweep);
void tool_sweep_remove_temporary(const struct sweep *sweep);

/* sweep_run.c */

int tool_sweep_list(const struct sweep *sweep);
int tool_sweep_run(struct sweep *sweep, unsigned int at_once);

/* sweep_table.c */

int tool_sweep_write_table(const struct sweep *sweep);

#endif
