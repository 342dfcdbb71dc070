/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One run of the program of walk.h under a daemon that is killed at one place of its work, and the verdict. */
#ifndef TEST_KILL_CASE_H
#define TEST_KILL_CASE_H

#include <stdbool.h>

#include "tests/recovery/kill_process.h"

/* The same for all cases. */
struct kill_setup {
	const char *mimicd, *walk;	/* paths of the programs */
	const char *folder;		/* for folders of cases */
	int stop;			/* a descriptor: see KILL_WAIT_STOPPED */
};

#define KILL_REASON_BYTES 4096u

struct kill_case {
	/* Where daemons are killed (daemon/journal/places.c): 0: this one is not. */
	unsigned long place, successor_place;
	unsigned int threads;		/* of the daemon */

	/* The result. */
	unsigned int kills;		/* daemons that ended before they were asked to */
	bool is_stopped;		/* by the setup's descriptor: there is no verdict */
	char bad[KILL_REASON_BYTES];	/* empty: it is good; else lines that say why it is not */
	struct kill_stream log;		/* of the supervisor and the daemons */
	struct kill_stream output, errors;	/* of the program */
};

/* Runs it. `undisturbed`: the program's output has to be this one's; NULL: it may be any. */
void kill_case_run(struct kill_case *one, const struct kill_setup *setup,
		   const struct kill_case *undisturbed);
void kill_case_end(struct kill_case *one);

#endif
