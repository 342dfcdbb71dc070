/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Looks at a device again and again while a program uses it. */
#ifndef EXAMPLES_DEMO_SAMPLER_H
#define EXAMPLES_DEMO_SAMPLER_H

#include <json-c/json.h>

struct demo_sampler;

/*
 * From now on, by a thread of its own, until stop(): queues and counters of the device of
 * the process that answers at socket_path. It need not be there yet. NULL with errno.
 */
struct demo_sampler *demo_sampler_start(const char *socket_path, const char *device);

/* "samples" of a run (docs/report.md): from the first work to the last. NULL: there was none. */
struct json_object *demo_sampler_stop(struct demo_sampler *sampler);

#endif
