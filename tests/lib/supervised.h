/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A supervisor in a process of its own, whose daemon is the test's own program: a process that does as the
 * test tells it. A test calls supervised_daemon() first in main().
 */
#ifndef TEST_SUPERVISED_H
#define TEST_SUPERVISED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct supervised {
	pid_t pid;		/* of the supervisor */
	unsigned int recovery_seconds;
	unsigned int descriptors; /* its limit; 0: as it is */
	const char *given;	/* the name of a descriptor that the supervisor was given; NULL: none */
	int orders;		/* to the daemon that runs */
	char log[64];
};

/* Does not return in a daemon. */
void supervised_daemon(int argc, char **argv);

/* false: it cannot be started. The first daemon has told its start. */
bool supervised_start(struct supervised *supervised);
/* The status of waitpid(), once the supervisor has ended; -1: it has not within seconds. */
int supervised_wait(struct supervised *supervised);
/* Kills it if it has not ended. */
void supervised_end(struct supervised *supervised);
/* How many lines of its log have this text. */
unsigned int supervised_said(const struct supervised *supervised, const char *text);

/*
 * Orders: "put NAME TEXT" (a file with this text), "many COUNT" (files "n0" with the text "0" and so on),
 * "pipe NAME" (an end whose other end comes with the answer), "drop NAME", "say TEXT" to the manager, "send
 * TEXT" (the same with a descriptor), "stranger TEXT" (so by another process), "list" (the answer has all
 * that were found at the start: "NAME=TEXT,..."), "get NAME" of the environment, "exit STATUS", "signal
 * NUMBER", "catch STATUS": exit so at SIGTERM and SIGINT. The answer, which is "done" where nothing else is
 * said, or "" where none comes in time.
 */
const char *supervised_order(struct supervised *supervised, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The descriptor that came with the last answer; -1: none. */
int supervised_descriptor(void);
/* The same for an order at which the daemon ends. */
void supervised_end_daemon(struct supervised *supervised, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The process id of the daemon that has just started; -1: none has within so long. */
pid_t supervised_next(struct supervised *supervised, int milliseconds);

#endif
