/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/forms.h"

#include <errno.h>

static int run_timed(struct run *run, int (*body)(void *state), void *state)
{
	double started = clock_seconds();
	int error = body(state);

	run->seconds = clock_seconds() - started;
	return error;
}

static int open_both_ends(struct maple *maple, unsigned int queue)
{
	int error = maple_open(maple, queue, MAPLE_PRODUCER);

	if (error)
		return error;
	error = maple_open(maple, queue, MAPLE_CONSUMER);
	if (error)
		maple_close(maple, queue, MAPLE_PRODUCER);
	return error;
}

static int run_single(struct run *run, int (*body)(void *state), void *state, unsigned int queues)
{
	unsigned int opened = 0;
	int error = 0;

	if (queues > maple_queue_count(run->maple))
		return message_set(&run->message, -EINVAL, "this form needs %u queues, and %s has %u", queues,
				   maple_device_name(run->maple), maple_queue_count(run->maple));
	while (opened < queues && !error) {
		error = open_both_ends(run->maple, opened);
		opened += !error;
	}
	if (!error)
		error = run_timed(run, body, state);
	while (opened-- > 0) {
		maple_close(run->maple, opened, MAPLE_PRODUCER);
		maple_close(run->maple, opened, MAPLE_CONSUMER);
	}
	return error;
}

static int run_decoupled(const struct forms *forms, struct run *run, void *state)
{
	struct pairs pairs = {
		.maple = run->maple,
		.context = state,
		.access_threads = run->options->access_threads,
		.execute_threads = run->options->execute_threads,
		.access = forms->access,
		.execute = forms->execute,
	};
	int error = pairs_run(&pairs, &run->message);

	run->seconds = pairs.seconds;
	return error;
}

int forms_run(const struct forms *forms, struct run *run, void *state)
{
	switch (run->form) {
	case MAPLE_PLAIN:
		return run_timed(run, forms->plain, state);
	case MAPLE_DECOUPLED:
		return run_decoupled(forms, run, state);
	case MAPLE_LIMA:
		return run_single(run, forms->lima, state, forms->lima_queues);
	case MAPLE_PREFETCH:
		return run_single(run, forms->prefetch, state, 1);
	}
	return -EINVAL;
}
