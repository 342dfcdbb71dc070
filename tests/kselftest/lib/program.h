/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A process of its own that has a device, for tests of its end. */
#ifndef MIMIC_TESTS_PROGRAM_H
#define MIMIC_TESTS_PROGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fake_daemon.h"

/* Shared with it. */
struct program_shared {
	_Atomic unsigned int is_ready;
	_Atomic bool go;	/* for `main`: the test has seen the event that it waited for */
	_Atomic uint64_t count;	/* for `main`, to use as it likes */
};

struct program {
	pid_t pid;
	struct program_shared *shared;
	volatile uint64_t *memory;	/* an address in the program, not here */
};

/*
 * Opens the daemon's device, maps `size` bytes and writes to each page its number
 * and 1 more; then runs `main`, or waits for ever (NULL). false: it could not.
 */
typedef void (*program_main)(struct program_shared *shared, volatile uint64_t *memory, int fd);
bool program_start(struct program *program, const struct fake_daemon *daemon, size_t size,
		   program_main main);
/* Kills it if it is still there. */
void program_stop(struct program *program);

#endif
