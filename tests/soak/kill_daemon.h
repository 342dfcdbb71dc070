/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The mimicd that is killed: under its supervisor, or alone. */
#ifndef TESTS_SOAK_KILL_DAEMON_H
#define TESTS_SOAK_KILL_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kill_daemon {
	bool is_supervised;
	pid_t supervisor;	/* our child; without supervision mimicd itself */
	pid_t serving;		/* that is killed next */
	bool is_on_bus;		/* its devices are in the kernel, too */
	bool is_upgraded;	/* it runs from copies, so that others can be put in their place */
	unsigned int copy;	/* that is installed */
	const char *threads;	/* how many; programs are served by further ones, however few they are. NULL: one */
	char directory[64];
	char socket[96];
	char log[96];
	char error[256];	/* the reason, after false */
};

/* `extra`: further arguments of mimicd, NULL-terminated. Waits until it serves. */
bool kill_daemon_start(struct kill_daemon *daemon, const char *mimicd, char *const *extra);
/* Kills it and waits until it is dead. *when: of the kill. */
bool kill_daemon_kill(struct kill_daemon *daemon, uint64_t *when);
/*
 * Puts another copy of the program in its place, tells the supervisor, and waits until the daemon has left.
 * *when: of its end.
 */
bool kill_daemon_upgrade(struct kill_daemon *daemon, uint64_t *when);
/* The successor's process; it may not serve yet. */
bool kill_daemon_find(struct kill_daemon *daemon, unsigned int milliseconds);
/* Waits until it answers a new program. *when: of its answer. */
bool kill_daemon_await(struct kill_daemon *daemon, unsigned int milliseconds, uint64_t *when);
/* false: it has ended, or its supervisor. */
bool kill_daemon_is_there(struct kill_daemon *daemon);
/* So that no successor starts, for a moment. */
void kill_daemon_hold(const struct kill_daemon *daemon, bool holds);
/* Descriptors of the supervisor and of the one that serves. */
void kill_daemon_descriptors(const struct kill_daemon *daemon, unsigned int counts[2]);
/* By SIGTERM. false: it did not end well. */
bool kill_daemon_end(struct kill_daemon *daemon);
/* The last lines of its log, on standard error. */
void kill_daemon_show_log(const struct kill_daemon *daemon);
void kill_daemon_clean(struct kill_daemon *daemon);

#endif
