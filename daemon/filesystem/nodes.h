/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The inode numbers that the kernel knows, each with its path. The number comes from
 * the path, so it is the same whenever the path is looked up. A node is there from
 * the first lookup until the kernel has forgotten each of them.
 */
#ifndef MIMICD_FILESYSTEM_NODES_H
#define MIMICD_FILESYSTEM_NODES_H

#include <stdint.h>

#include "daemon/filesystem/tree.h"

#define MIMICD_NODE_CHAINS 1024u	/* a power of two */

struct mimicd_node {
	struct mimicd_node *next;	/* of its chain */
	uint64_t number;
	uint64_t lookups;		/* that the kernel has not forgotten */
	struct mimicd_entry entry;	/* when it was last looked at */
	char path[];
};

struct mimicd_nodes {
	struct mimicd_node *chains[MIMICD_NODE_CHAINS];
};

/* For listings: the number that the path has, or would get. */
uint64_t mimicd_node_number(const char *path);

/* The root, number 1, is there from the start. NULL: no memory. */
struct mimicd_node *mimicd_nodes_create(struct mimicd_nodes *nodes);
void mimicd_nodes_destroy(struct mimicd_nodes *nodes);
/* NULL: the kernel has forgotten it. */
struct mimicd_node *mimicd_node_find(const struct mimicd_nodes *nodes, uint64_t number);
/* One lookup more. NULL: no memory. */
struct mimicd_node *mimicd_node_get(struct mimicd_nodes *nodes, const char *path);
/* The kernel has forgotten so many. */
void mimicd_node_forget(struct mimicd_nodes *nodes, uint64_t number, uint64_t lookups);

#endif
