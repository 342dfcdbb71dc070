/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/trace_sink.h"

static struct trace_sink sink;

static uint64_t tick(struct mimic_trace *trace)
{
	return ++((struct trace_sink *)trace)->clock;
}

static void keep(struct mimic_trace *trace, const struct mimic_trace_event *event)
{
	struct trace_sink *to = (struct trace_sink *)trace;

	if (to->count < SINK_MAX)
		to->event[to->count++] = *event;
}

struct trace_sink *trace_sink_start(struct mimic_model *model)
{
	sink.trace = (struct mimic_trace){ .clock = tick, .write = keep };
	sink.count = 0;
	model->trace.trace = &sink.trace;
	return &sink;
}

const struct mimic_trace_event *trace_sink_find(const struct trace_sink *from, enum mimic_trace_kind kind,
						size_t n)
{
	for (size_t i = 0; i < from->count; i++) {
		if (from->event[i].kind == kind && !n--)
			return &from->event[i];
	}
	return NULL;
}

size_t trace_sink_count(const struct trace_sink *from, enum mimic_trace_kind kind)
{
	size_t count = 0;

	while (trace_sink_find(from, kind, count))
		count++;
	return count;
}

uint64_t trace_sink_sum(const struct trace_sink *from, enum mimic_trace_kind kind)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < from->count; i++)
		sum += from->event[i].kind == kind ? from->event[i].size : 0;
	return sum;
}
