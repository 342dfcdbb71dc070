/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A daemon with a state filesystem on a thread of the test, so that the files' values
 * can be compared with the models' own.
 */
#ifndef TESTS_STATE_MOUNT_H
#define TESTS_STATE_MOUNT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "daemon/server.h"
#include "tests/lib/state_tree.h"

struct mimicd_instance;

struct state_mount {
	char directory[64];
	char socket[96];
	char path[96];		/* where it is mounted */
	struct mimicd_server *server;
	pthread_t thread;
};

/* Can this process mount a filesystem of FUSE? Tried by hand, once; says why not. */
bool state_can_mount(void);

/* Two MAPLEs, a DARE and a Virgo. false: it did not come up, or has no filesystem. */
bool state_mount_start(struct state_mount *mount);
void state_mount_end(struct state_mount *mount);

/* A device of the daemon, which sleeps until it is given back. NULL: there is none. */
struct mimicd_instance *state_mount_take(struct state_mount *mount, const char *device);
void state_mount_give_back(struct state_mount *mount);
/* The state tree of a device's model, read from the model itself. */
struct state_tree *state_mount_tree(struct state_mount *mount, const char *device);

/* The whole file, and a 0 behind it; free() it. NULL with errno. */
char *state_read_file(const char *path, size_t *size);
/* The same for a path below `path`. */
char *state_mount_read(const struct state_mount *mount, size_t *size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Writes a text to a file that is there. 0 or -errno. */
int state_mount_write(const struct state_mount *mount, const char *file, const char *text);

#endif
