/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Where a path of the state filesystem begins: the root, the folder of devices or
 * of clients, a device, a client. Each shows its values to a visitor, as devices do.
 */
#ifndef MIMICD_FILESYSTEM_SOURCE_H
#define MIMICD_FILESYSTEM_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "devices/state.h"

struct mimicd_instance;
struct mimicd_engine;

enum mimicd_source_of {
	MIMICD_OF_ROOT,
	MIMICD_OF_DEVICES,
	MIMICD_OF_DEVICE,
	MIMICD_OF_CLIENTS,
	MIMICD_OF_CLIENT,
};

struct mimicd_tree_source {
	enum mimicd_source_of of;
	struct mimicd_engine *engine;
	struct mimicd_instance *instance;	/* OF_DEVICE */
	pid_t pid;				/* OF_CLIENT */
};

/* *rest: the part of the path inside of the source. 0, -ENOENT, or -EACCES: not for this user. */
int mimicd_source_find(struct mimicd_engine *engine, const char *path, uid_t uid,
		       struct mimicd_tree_source *source, const char **rest);
/* How much of the path names its source: all paths with this beginning lie in the same one. */
size_t mimicd_source_length(const char *path);
/* `now` as for a model: 0 for the time of its last access. */
void mimicd_source_visit(const struct mimicd_tree_source *source, uint64_t now,
			 const struct mimic_state_visitor *visitor);

/*
 * Shows the visitor only the values at a path of the source. true: that is a folder,
 * and all in it was shown. Else it is a value, or (nothing was shown) nothing.
 */
bool mimicd_source_walk(const struct mimicd_tree_source *source, const char *rest, uint64_t now,
			const struct mimic_state_visitor *visitor);

/* The settings as a configuration file (mimic.conf(5)), without the last newline. NULL: no memory. */
char *mimicd_source_config(const struct mimicd_engine *engine);

#endif
