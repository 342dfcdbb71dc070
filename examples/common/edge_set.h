/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A set of undirected edges, for generators: open addressing, at most half full. */
#ifndef EXAMPLES_EDGE_SET_H
#define EXAMPLES_EDGE_SET_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/random.h"

#define EDGE_SET_NONE UINT64_MAX

struct edge_set {
	uint64_t *places;
	uint64_t mask;
};

/* For so many edges at most, 2^40 or fewer. 0 or -ENOMEM. */
static inline int edge_set_make(struct edge_set *set, uint64_t edges)
{
	uint64_t room = 1;

	while (room < 2 * edges)
		room *= 2;
	set->mask = room - 1;
	set->places = malloc(room * sizeof(*set->places));
	if (!set->places)
		return -ENOMEM;
	memset(set->places, 0xff, room * sizeof(*set->places));
	return 0;
}

static inline void edge_set_free(struct edge_set *set)
{
	free(set->places);
}

/* true: it was not there. The order of the two does not matter. */
static inline bool edge_set_add(struct edge_set *set, uint32_t a, uint32_t b)
{
	uint64_t edge = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
	uint64_t place = random_mix(edge) & set->mask;

	while (set->places[place] != EDGE_SET_NONE) {
		if (set->places[place] == edge)
			return false;
		place = (place + 1) & set->mask;
	}
	set->places[place] = edge;
	return true;
}

#endif
