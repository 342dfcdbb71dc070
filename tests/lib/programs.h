/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Starting the programs of this build from a test: itself, mimic, mimicd. */
#ifndef TESTS_PROGRAMS_H
#define TESTS_PROGRAMS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * The path of a file of this build, `name` counted from the build's top
 * ("bin/mimic"); NULL: the running program itself.
 */
void program_path(char *path, size_t size, const char *name);

/* -1 with a line on standard error if it cannot be started. */
pid_t program_start(const char *const *arguments);

/* Exit status; 128 + signal if a signal ended it; -1 for pid -1. */
int program_wait(pid_t pid);

struct daemon_process {
	pid_t pid;
	char directory[64];
	char socket[96];
};

/*
 * Starts a mimicd with a configuration ("paper", "artifact" or a file) on a
 * socket of its own and waits until it answers. MIMIC_SOCKET is set to the
 * socket. 0 or -1 with a line on standard error.
 */
int daemon_start(struct daemon_process *daemon, const char *configuration);

/* The same with devices on the kernel's bus: waits until /dev/DEVICE can be opened. */
int daemon_start_on_bus(struct daemon_process *daemon, const char *configuration, const char *device);

/* Stops it by SIGTERM. 0 if it ended cleanly. */
int daemon_stop(struct daemon_process *daemon);

#endif
