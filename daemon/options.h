/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The command line of mimicd. */
#ifndef MIMICD_OPTIONS_H
#define MIMICD_OPTIONS_H

#include "daemon/loop/log.h"
#include "daemon/sandbox.h"
#include "daemon/server.h"

struct mimicd_command_line {
	struct mimicd_options options;
	enum mimicd_log_level log_level;
	bool daemonise;
	bool supervise;		/* argv is now the child's: it has --recover in its place */
	bool checks;		/* --check */
	pid_t checked;		/* 0: the daemon whose descriptors are stored */
	bool exit_now;		/* --help, --version: said all there is to say */
	bool make_directory;	/* of the socket: nobody named one */
	struct mimicd_quotas quotas;	/* --quota */
	struct mimicd_sandbox sandbox;	/* --sandbox */
	char default_path[128];	/* the socket's path points here without --socket */
	bool wants_state;	/* --state */
	char state_path[144];	/* the filesystem's path points here without a directory */
};

/* 0, or -EINVAL when something is wrong that was said on standard error. */
int mimicd_command_line_parse(struct mimicd_command_line *line, int argc, char **argv);

#endif
