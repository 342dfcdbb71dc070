/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A trace that keeps its events in memory, for a model of a test. */
#ifndef TESTS_TRACE_SINK_H
#define TESTS_TRACE_SINK_H

#include "devices/model.h"

#define SINK_MAX 65536u

struct trace_sink {
	struct mimic_trace trace;	/* first */
	struct mimic_trace_event event[SINK_MAX];
	size_t count;
	uint64_t clock;
};

/* The only one. It is empty then, and the model's. */
struct trace_sink *trace_sink_start(struct mimic_model *model);
/* Event number n of this kind, from 0; NULL: there are not so many. */
const struct mimic_trace_event *trace_sink_find(const struct trace_sink *sink, enum mimic_trace_kind kind,
						size_t n);
size_t trace_sink_count(const struct trace_sink *sink, enum mimic_trace_kind kind);
/* The sum of `size` over all events of this kind. */
uint64_t trace_sink_sum(const struct trace_sink *sink, enum mimic_trace_kind kind);

#endif
