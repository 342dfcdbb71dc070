/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The four forms of a kernel, and the setup of the device for each. */
#ifndef EXAMPLES_FORMS_H
#define EXAMPLES_FORMS_H

#include "examples/common/kernel.h"
#include "examples/common/pairs.h"

/* All return 0 or -errno; `state` is that of forms_run(), or worker->context. */
struct forms {
	int (*plain)(void *state);
	int (*access)(struct worker *worker);
	int (*execute)(struct worker *worker);
	/* One thread that holds both ends of the queues from 0. */
	int (*lima)(void *state);
	int (*prefetch)(void *state);
	unsigned int lima_queues;
};

/* Runs the form of `run` and sets run->seconds: the work, without opening queues or starting threads. */
int forms_run(const struct forms *forms, struct run *run, void *state);

#endif
