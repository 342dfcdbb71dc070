/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The window side of the scripted daemon: parts of the program's memory that the
 * daemon keeps mapped, so that an access finds the page that an earlier one has
 * entered, and checks of millions of accesses that run in the daemon.
 *
 * Buffers are to be mapped after the daemon was started: older memory is
 * shared with it, as after any fork.
 */
#ifndef MIMIC_TESTS_WINDOW_H
#define MIMIC_TESTS_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "fake_daemon.h"

#define WINDOW_CELLS_MAX 1024
#define WINDOW_ABSENT (-14)	/* -EFAULT: the access was a SIGBUS */

/* Of the last OPEN's binding. */
uint32_t window_binding(const struct fake_daemon *daemon);

/* The daemon keeps these whole pages mapped for reading and writing. 0 or -errno. */
int window_map(struct fake_daemon *daemon, const volatile void *address, size_t size);
/* All of them go. */
void window_unmap(struct fake_daemon *daemon);
/*
 * One access of 64 bits through a page that window_map() has mapped: 0,
 * WINDOW_ABSENT, or -ENOENT where it has not.
 */
int window_get(struct fake_daemon *daemon, const volatile void *address, uint64_t *value);
int window_put(struct fake_daemon *daemon, const volatile void *address, uint64_t value);

/* The result of mmap in the daemon, 0 or -errno; the mapping does not stay. */
int window_try_map(struct fake_daemon *daemon, uint64_t offset, size_t size, int prot, int flags);

/* In the daemon: loads and stores that say WINDOW_ABSENT instead of raising SIGBUS. */
void window_catch_bus_errors(void);
int window_load(const volatile void *from, uint64_t *value);
int window_store(volatile void *to, uint64_t value);

/* --- millions of them ------------------------------------------------------ */

/*
 * A place whose content the test changes: a number that grows, its generation.
 * `floor` is published after each change that makes older ones impossible to
 * read; `newest` before a newer one can be read.
 */
#define WINDOW_ZERO_OK (1ull << 63)	/* in floor: a page as from the kernel may be there, too */
#define WINDOW_MUST_BE_ABSENT (1ull << 62)	/* in floor: nothing at all may be read */
#define WINDOW_GENERATION (WINDOW_MUST_BE_ABSENT - 1)

struct window_cell {
	uint64_t address;
	_Atomic uint64_t floor, newest;
	uint64_t padding[5];
};

/* Which cell, and which generation: a page that has another owner now is noticed, too. */
#define WINDOW_CELL_SHIFT 48
#define WINDOW_VALUE(cell, generation) (((uint64_t)(cell) + 1) << WINDOW_CELL_SHIFT | (generation))

/* In memory that is shared with the daemon: create it before the daemon. */
struct window_check {
	bool is_writer;		/* stores numbers of its own instead of looking */
	uint32_t count;
	_Atomic bool stop;
	_Atomic uint64_t checked;	/* loads that gave a value, or stores that were done */
	_Atomic uint64_t absent;
	_Atomic uint64_t stale;
	struct {	/* of the first that was stale */
		uint64_t cell, value, floor, floor_after, newest;
	} first;
	struct window_cell cells[WINDOW_CELLS_MAX];
};

struct window_check *window_check_create(void);
/* Until window_check_finish(), in a thread of its own. The cells' pages are mapped. */
void window_check_start(struct fake_daemon *daemon, struct window_check *check);
/* 0, or -errno: the daemon could not. */
int window_check_finish(struct fake_daemon *daemon, struct window_check *check);

#endif
