/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Calls of the kernel that last as long as a program likes, made by threads beside the engine's.
 *
 * Trust boundary: a read of a program's memory waits for the page, and a page comes when the
 * program's own pager (userfaultfd), a server of FUSE, or no program brings it; no signal ends such
 * a wait. So a helper thread runs an errand. Its sender waits a moment, and then goes on without it:
 * the helper may be lost with it, and the loop gets the errand's result when it is over.
 */
#ifndef MIMICD_ERRANDS_H
#define MIMICD_ERRANDS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/loop.h"
#include "libmimic/base/wait.h"

struct mimicd_errand {
	struct mimicd_errand *next;	/* of those that come back */
	void (*run)(struct mimicd_errand *errand);	/* on a helper, with no lock held */
	/* It is left, and comes back later. With mimicd_errands.lock. */
	void (*leave)(struct mimicd_errand *errand);
	_Atomic uint32_t state;
	_Atomic int helper;		/* the thread that is at it, by its number; 0: none has begun */
};

struct mimicd_errand_helper;

struct mimicd_errands {
	pthread_mutex_t lock;
	struct mimicd_errand_helper *idle;
	unsigned int helpers;
	bool ends;
	struct mimicd_errand *first, **last;	/* were left, and are over */
	unsigned int spin_microseconds;
	struct mimic_yield yields;
	int wake_fd;			/* eventfd: there are such */
	struct mimicd_source wake_source;
	/* Takes over an errand that was left. On the loop's thread, with the engine's lock. */
	void (*came)(void *context, struct mimicd_errand *errand);
	void *context;
};

/* 0 or -errno; after either, mimicd_errands_destroy(). */
int mimicd_errands_create(struct mimicd_errands *errands, struct mimicd_loop *loop, unsigned int spin_microseconds);
/* false: a helper is lost, and uses this for as long as the process lives. */
bool mimicd_errands_destroy(struct mimicd_errands *errands);

/*
 * 0: it has run. -EINPROGRESS: it sleeps in the kernel after `wait_ns`, and was left; one that
 * only waits for a CPU is not. -EAGAIN: there is no helper, it has not begun. Any thread.
 */
int mimicd_errands_send(struct mimicd_errands *errands, struct mimicd_errand *errand, uint64_t wait_ns);
/* No thread waits for it: it comes back by the loop. 0 or -EAGAIN. */
int mimicd_errands_send_away(struct mimicd_errands *errands, struct mimicd_errand *errand);
/* With the lock: this one comes back by the loop as those do that were left. */
void mimicd_errands_return(struct mimicd_errands *errands, struct mimicd_errand *errand);

#endif
