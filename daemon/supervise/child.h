/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A daemon that is started by a supervisor. */
#ifndef MIMICD_SUPERVISE_CHILD_H
#define MIMICD_SUPERVISE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "daemon/supervise/kept.h"
#include "daemon/supervise/program.h"

struct mimicd_child {
	struct mimicd_program program;
	char *const *arguments;
	const char *notify_name;	/* of the supervisor's inbox */
	bool is_watched;		/* by $WATCHDOG_USEC */
	sigset_t mask;			/* of its signals */
};

/*
 * A process of the program, with the descriptors that are kept, as systemd gives them. It ends as by
 * SIGTERM when its supervisor ends. Its id, or -errno.
 */
pid_t mimicd_child_start(const struct mimicd_child *child, const struct mimicd_kept *kept);

/* "was killed by signal 9 (Killed)", of a status of waitpid(). */
void mimicd_child_describe_end(int status, char *text, size_t size);

#endif
