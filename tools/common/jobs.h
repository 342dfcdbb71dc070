/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Runs commands, so many at a time. */
#ifndef TOOLS_JOBS_H
#define TOOLS_JOBS_H

#include <stddef.h>
#include <sys/types.h>

struct job {
	char **arguments;	/* NULL at the end; the first is found by PATH */
	const char *output;	/* file that gets its standard output; NULL: it is dropped */
	const char *errors;	/* ... its standard error */
	int status;		/* after it: as of waitpid() */
	pid_t process;		/* ours */
};

/*
 * Returns when all are done: 0, or -errno if one could not be started, or -EINTR after SIGINT,
 * SIGTERM or SIGHUP; those that ran were killed then. `done`: NULL, or called after each.
 */
int tool_jobs_run(struct job *jobs, size_t count, unsigned int at_once,
		  void (*done)(void *context, size_t number), void *context);
/* Behind it, when all is tidied up: the signal that stopped it, if one did, as if it had not been caught. */
void tool_jobs_pass_on_signal(void);
/* How many processors this process may use. */
unsigned int tool_jobs_processors(void);

#endif
