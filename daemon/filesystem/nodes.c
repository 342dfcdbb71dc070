/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/filesystem/nodes.h"

#include <stdlib.h>
#include <string.h>

#define ROOT 1u	/* FUSE_ROOT_ID */

uint64_t mimicd_node_number(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325ull;	/* FNV-1a */

	if (!*path)
		return ROOT;
	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3ull;
	/* 0 and 1 have meanings, and some programs read the number as signed. */
	hash &= INT64_MAX;
	return hash > ROOT ? hash : hash + 2;
}

static struct mimicd_node **chain_of(struct mimicd_nodes *nodes, uint64_t number)
{
	return &nodes->chains[number & (MIMICD_NODE_CHAINS - 1)];
}

struct mimicd_node *mimicd_node_find(const struct mimicd_nodes *nodes, uint64_t number)
{
	struct mimicd_node *node = nodes->chains[number & (MIMICD_NODE_CHAINS - 1)];

	while (node && node->number != number)
		node = node->next;
	return node;
}

struct mimicd_node *mimicd_node_get(struct mimicd_nodes *nodes, const char *path)
{
	uint64_t number = mimicd_node_number(path);
	struct mimicd_node *node, **chain;
	size_t size = strlen(path) + 1;

	/* Two paths of one number: the later gets the next one that is free. */
	while ((node = mimicd_node_find(nodes, number)) && strcmp(node->path, path))
		number++;
	if (node) {
		node->lookups++;
		return node;
	}
	node = calloc(1, sizeof(*node) + size);
	if (!node)
		return NULL;
	chain = chain_of(nodes, number);
	node->number = number;
	node->lookups = 1;
	node->next = *chain;
	memcpy(node->path, path, size);
	*chain = node;
	return node;
}

struct mimicd_node *mimicd_nodes_create(struct mimicd_nodes *nodes)
{
	return mimicd_node_get(nodes, "");
}

void mimicd_node_forget(struct mimicd_nodes *nodes, uint64_t number, uint64_t lookups)
{
	struct mimicd_node **link = chain_of(nodes, number), *node;

	if (number == ROOT)
		return;
	while (*link && (*link)->number != number)
		link = &(*link)->next;
	node = *link;
	if (!node)
		return;
	node->lookups -= lookups < node->lookups ? lookups : node->lookups;
	if (node->lookups)
		return;
	*link = node->next;
	free(node);
}

void mimicd_nodes_destroy(struct mimicd_nodes *nodes)
{
	for (size_t i = 0; i < MIMICD_NODE_CHAINS; i++) {
		while (nodes->chains[i]) {
			struct mimicd_node *node = nodes->chains[i];

			nodes->chains[i] = node->next;
			free(node);
		}
	}
}
