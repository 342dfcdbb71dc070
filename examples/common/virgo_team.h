/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Host threads that stand for the warps of a cluster. They run one function, meet at
 * a barrier of the cluster, and leave together if one of them fails: no thread waits
 * for one that has ended.
 */
#ifndef EXAMPLES_VIRGO_TEAM_H
#define EXAMPLES_VIRGO_TEAM_H

#include <stdatomic.h>

#include "examples/common/message.h"
#include "virgo.h"

struct virgo_team {
	struct virgo *virgo;
	unsigned int warps;
	atomic_int error[2];	/* of the meetings with even and odd numbers */
	atomic_flag has_message;
	struct message message;	/* of the first error */
};

/* One of them. */
struct virgo_warp {
	struct virgo_team *team;
	unsigned int number;
	unsigned int meetings;	/* so far */
};

typedef int (*virgo_warp_function)(struct virgo_warp *warp, void *context);

/*
 * Runs the function on `warps` threads, of which the caller is one, until all are
 * done. 0, or the first error with its message.
 */
int virgo_team_run(struct virgo *virgo, unsigned int warps, virgo_warp_function function, void *context,
		   struct message *message);

/* The barrier. `error` is this warp's; returns 0 if that of every warp is 0. */
int virgo_warp_meet(struct virgo_warp *warp, int error);

#endif
