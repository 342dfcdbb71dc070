/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The content of the state filesystem, by path: "devices/maple0/registers/MMU/DEBUG".
 * Nothing is kept: each call asks the daemon and its devices anew, and its
 * answer is of one moment. Calls need the engine's lock; none waits.
 *
 * `uid` is the user that asks. Errors: -ENOENT, -EACCES (not for this user), -ENOMEM.
 */
#ifndef MIMICD_FILESYSTEM_TREE_H
#define MIMICD_FILESYSTEM_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mimicd_instance;
struct mimicd_engine;
struct mimic_state_visitor;

#define MIMICD_PATH_MAX 256	/* the final 0 included; longer ones are not there */

enum mimicd_entry_kind {
	MIMICD_ENTRY_FOLDER = 'd',
	MIMICD_ENTRY_VALUE = 'v',
	MIMICD_ENTRY_BYTES = 'b',
	MIMICD_ENTRY_TABLE = 't',	/* ".state": all values of a folder and of those in it */
	MIMICD_ENTRY_CONTROL = 'c',
};

struct mimicd_entry {
	enum mimicd_entry_kind kind;
	size_t size;	/* of bytes; of all others 0: they have a size when they are read */
};

struct mimicd_content {
	char *bytes;	/* free() them */
	size_t size;
};

int mimicd_tree_look(struct mimicd_engine *engine, const char *path, uid_t uid,
		     struct mimicd_entry *entry);
/* The entries of a folder: of each the byte of its kind, its name, and a 0. Without "." and "..". */
int mimicd_tree_list(struct mimicd_engine *engine, const char *path, uid_t uid,
		     struct mimicd_content *list);
/* The content of a file: value and newline, a memory's bytes, a table. */
int mimicd_tree_read(struct mimicd_engine *engine, const char *path, uid_t uid,
		     struct mimicd_content *content);
/*
 * A number that is another one when anything has changed in the device, or in any other
 * object that the path lies in. Time alone is no change, nor are bytes of memories.
 */
uint64_t mimicd_tree_digest(struct mimicd_engine *engine, const char *path, uid_t uid);

/* The device whose control file this is, and the file's name. -ENOENT. */
int mimicd_tree_control(struct mimicd_engine *engine, const char *path, uid_t uid,
			struct mimicd_instance **instance, const char **name);

#endif
