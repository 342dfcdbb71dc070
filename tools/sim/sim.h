/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Functions that the files of mimic sim share. */
#ifndef TOOLS_SIM_H
#define TOOLS_SIM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libmimic/base/kinds.h"
#include "sim/setup.h"
#include "tools/common/tools.h"

/* --- fits.c ----------------------------------------------------------------------------- */

/* The parameters, as a kind asks for them. */
struct mimic_time_host tool_sim_soc(struct sim_parameters *parameters);
/* 0; -EINVAL and a line that names the key: they do not fit each other. */
int tool_sim_fits(struct sim_parameters *parameters, char *why, size_t size);

/* --- folder.c ------------------------------------------------------------------------- */

/* --- costs.c: tables of the costs of loops ----------------------------------------- */

/* A line of code that has accesses. */
struct sim_cost_row {
	char *file;		/* without its folder */
	char *function;
	uint64_t loop;		/* of the function; 0: its code outside of loops */
	uint64_t first_line, last_line;
	uint32_t index;		/* of the loop, in struct sim_costs; loops of several rows have one */
};

struct sim_costs {
	struct sim_cost_row *rows;
	size_t row_count;
	struct sim_loop *loops;	/* the first stands for code that is in no table */
	size_t loop_count;
};

/* Files, or where there are none all tables that mimic came with. 0, or the exit status after a message. */
int tool_sim_costs_read(struct sim_costs *costs, const struct mimic_option_values *files);
void tool_sim_costs_free(struct sim_costs *costs);
/* The innermost loop that a line belongs to; NULL: no table has it. */
const struct sim_cost_row *tool_sim_costs_find(const struct sim_costs *costs, const char *file,
					       const char *function, uint64_t line);

/* --- program.c: a program file -------------------------------------------------------- */

struct sim_program {
	struct sim_object *objects;	/* path: offset in names */
	size_t object_count;
	struct sim_place *places;
	size_t place_count;
	struct sim_function *functions;	/* name: offset in names */
	size_t function_count;
	struct sim_source *sources;	/* name: as above; the first stands for code of which nothing is known */
	size_t source_count;
	char *names;
	size_t names_size;
	bool has_lines;		/* debugging information */
};

/*
 * Checks that it can run in virtual time, and finds the places in it. 0, or the exit status
 * after a message: it lacks flags of the compiler or the linker.
 */
int tool_sim_program_read(struct sim_program *program, const char *path, const struct sim_costs *costs);
/* One more object at the end: a library; without places if it has no hooks. As above. */
int tool_sim_program_add(struct sim_program *program, const char *path, const struct sim_costs *costs);
void tool_sim_program_free(struct sim_program *program);

/* --- libraries.c ------------------------------------------------------------------------ */

/*
 * The shared libraries that the loader would give the program, and those that it preloads, by their paths.
 * 0, or the exit status after a message. The list is the caller's.
 */
int tool_sim_libraries(const char *interpreter, const char *path, char ***libraries, size_t *count);
void tool_sim_libraries_free(char **libraries, size_t count);

/* --- shared.c -------------------------------------------------------------------------- */

struct sim_shared {
	int fd;			/* of the file */
	size_t size;
	struct sim_setup *setup;	/* ours: the program's setup and, after its end, its counts */
	struct sim_setup *theirs;	/* the file, which the program writes */
	struct sim_program room;	/* how much of each there can be; no arrays */
};

/* Makes shared->setup; members not given here may be set later. 0, or the exit status after a message. */
int tool_sim_share(struct sim_shared *shared, const struct sim_program *program, const struct sim_costs *costs,
		   const struct sim_parameters *parameters, uint64_t interval);
/* The file is there, with all of that. 0, or the exit status after a message. */
int tool_sim_publish(struct sim_shared *shared);
/* Adds the part of `program` that is newer than the file. false: there is no room, and nothing is done. */
bool tool_sim_share_more(struct sim_shared *shared, const struct sim_program *program);
/* The program has ended: its counts go to shared->setup, within the bounds set at the start. */
void tool_sim_collect(struct sim_shared *shared);

/* --- late.c ---------------------------------------------------------------------------- */

/* Answers a program that asks for the code of a library that it has opened. */
struct sim_late {
	struct sim_shared *shared;
	struct sim_program *program;
	const struct sim_costs *costs;
	pthread_t thread;
	atomic_bool is_over;
};

/* The first three are set. 0, or the exit status after a message. */
int tool_sim_late_begin(struct sim_late *late);
void tool_sim_late_end(struct sim_late *late);

/* --- trace.c --------------------------------------------------------------------------- */

struct sim_trace {
	const char *path;
	FILE *output;
	int spool;		/* the program writes into it */
};

/* Both: 0, or the exit status after a message. */
int tool_sim_trace_begin(struct sim_trace *trace, const char *path, struct sim_setup *setup);
int tool_sim_trace_end(struct sim_trace *trace, const char *program);

/* --- uncosted.c ------------------------------------------------------------------------- */

struct json_object;

/* On standard error, if more than 1 % of the accesses have no cost: in which sources. */
void tool_sim_tell_uncosted(const struct sim_setup *setup);
/* How many there are, by source. */
struct json_object *tool_sim_uncosted_json(const struct sim_setup *setup);

/* --- report.c --------------------------------------------------------------------------- */

struct sim_report {
	const char *program;
	const char *soc;
	const struct sim_setup *setup;
};

/* 0 or -errno. */
int tool_sim_report_text(FILE *file, const struct sim_report *report);
int tool_sim_report_json(FILE *file, const struct sim_report *report);

/* --- profile.c ------------------------------------------------------------------------------ */

/* Before the run, so that a bad path is reported at once; the file keeps its contents. NULL with errno. */
FILE *tool_sim_profile_open(const char *path);
/*
 * Writes the times of the forms of kernels in a run, in place of the contents of `file`, opened as `path`; without a
 * choice the file stays as it was. Closes it. 0, or the exit status after a message.
 */
int tool_sim_profile_write(FILE *file, const char *path, const char *program, const char *soc,
			   const struct sim_setup *setup);

#endif
