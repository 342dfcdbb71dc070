/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Another program in place of the daemon's: it is started with --check beside the daemon that runs, and only
 * if it says that it fits the supervisor ends that one.
 */
#ifndef MIMICD_SUPERVISE_UPGRADE_H
#define MIMICD_SUPERVISE_UPGRADE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/supervise/child.h"
#include "daemon/supervise/program.h"

struct mimicd_upgrade {
	bool is_wanted; /* since the last one began */
	struct mimicd_program program; /* that is checked, or fits and has not been started yet */
	pid_t checker; /* -1: none runs */
	bool fits; /* the checker has said so */
	uint64_t end_ms; /* until when it has to be done */
};

#define MIMICD_NO_UPGRADE \
	{ \
		.program = MIMICD_NO_PROGRAM, .checker = -1 \
	}

/*
 * Starts the check of the file that is at the path of the child's program now. false: there is nothing to
 * check, with a log line.
 */
bool mimicd_upgrade_begin(struct mimicd_upgrade *upgrade, const struct mimicd_child *child,
			  const struct mimicd_kept *kept, uint64_t end_ms);
/* Has the checker ended, whose letters are then in the inbox? It is killed at its end. */
bool mimicd_upgrade_has_ended(struct mimicd_upgrade *upgrade, uint64_t now_ms);
/* After that: does it fit? If not that is said, and all is as before. */
bool mimicd_upgrade_decide(struct mimicd_upgrade *upgrade);
/* Ends the check, if there is one. */
void mimicd_upgrade_cancel(struct mimicd_upgrade *upgrade);

#endif
