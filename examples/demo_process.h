/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The processes that the demo starts: programs whose reports it reads, a daemon. */
#ifndef EXAMPLES_DEMO_PROCESS_H
#define EXAMPLES_DEMO_PROCESS_H

#include <json-c/json.h>
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/* The signal that told us to stop; 0: none. */
extern volatile sig_atomic_t demo_interrupted;

/* "demo: ..." on stderr. -1. */
int demo_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

int64_t demo_now_ms(void);

/* Starts a program; its standard output goes to `output` unless that is -1. */
pid_t demo_start(char **arguments, int output);
/* Waits up to `limit_ms`, then kills. Returns the wait status. */
int demo_finish(pid_t child, int64_t limit_ms);
/* Called when the program has been started. */
typedef void demo_watcher(void *context, pid_t child);

/*
 * Runs a program to its end and parses its report. NULL: it failed without one, and that
 * was told. watch: NULL, or whom to tell.
 */
struct json_object *demo_run_program(char **arguments, int *status, demo_watcher *watch, void *context);

#endif
