/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/trace.h"

const struct mimic_trace_description mimic_trace_descriptions[MIMIC_TRACE_KIND_COUNT] = {
#define _(number, event, category_, phase_, track_, unit_, address_, size_, value_, id_, meaning_) \
	[number] = { \
		.name = #event, .category = category_, .phase = MIMIC_TRACE_##phase_, \
		.track = MIMIC_TRACE_TRACK_##track_, .unit = unit_, .address = address_, \
		.size = size_, .value = value_, .id = id_, .meaning = meaning_, \
	},
	MIMIC_TRACE_EVENTS(_)
#undef _
};

static uint64_t no_clock(struct mimic_trace *trace)
{
	(void)trace;
	return 1;
}

static void write_nothing(struct mimic_trace *trace, const struct mimic_trace_event *event)
{
	(void)trace;
	(void)event;
}

/* Of models without a trace, while a tracer is attached to a probe. */
static struct mimic_trace for_probes = { no_clock, write_nothing };

#ifdef STAP_PROBEV
uint16_t mimic_trace_semaphore __attribute__((section(".probes")));

#define _(number, name, ...) \
	extern uint16_t mimic_##name##_semaphore __attribute__((alias("mimic_trace_semaphore")));
MIMIC_TRACE_EVENTS(_)
#undef _
#endif

/*
 * The cold functions of this file are compiled to be small, not fast: they only jump here.
 */
static __attribute__((noinline, hot)) uint64_t look(struct mimic_trace_source *source)
{
	uint64_t now = source->trace->clock(source->trace);

	/* Calls of different threads come one after the other; their clocks may say otherwise. */
	if (now > source->now)
		source->now = now;
	return source->now;
}

uint64_t mimic_trace_look(struct mimic_trace_source *source)
{
	if (!source->trace)
		source->trace = &for_probes;
	else if (source->trace == &for_probes && !mimic_trace_has_probes())
		source->trace = NULL;
	return source->trace ? look(source) : 0;
}

static __attribute__((noinline, hot)) void write_event(struct mimic_trace_source *source,
						       enum mimic_trace_kind kind, uint64_t begin,
						       const struct mimic_trace_event *event)
{
	struct mimic_trace_event whole = *event;

	whole.kind = (uint16_t)kind;
	whole.device = source->device;
	whole.order = ++source->order;
	switch (mimic_trace_descriptions[kind].phase) {
	case MIMIC_TRACE_SLICE:
		whole.time = begin;
		whole.duration = look(source) - begin;
		break;
	case MIMIC_TRACE_BEGIN:
	case MIMIC_TRACE_END:
		whole.time = begin ? begin : look(source);
		break;
	default:
		/* Within a call the time of its begin will do, and costs nothing. */
		whole.time = source->now;
	}
	source->trace->write(source->trace, &whole);
}

void mimic_trace_write(struct mimic_trace_source *source, enum mimic_trace_kind kind, uint64_t begin,
		       const struct mimic_trace_event *event)
{
	write_event(source, kind, begin, event);
}

void mimic_trace_write_at(struct mimic_trace_source *source, enum mimic_trace_kind kind, uint64_t begin, uint64_t end,
			  const struct mimic_trace_event *event)
{
	struct mimic_trace_event whole = *event;

	whole.kind = (uint16_t)kind;
	whole.device = source->device;
	whole.order = ++source->order;
	whole.time = begin;
	whole.duration = end - begin;
	source->trace->write(source->trace, &whole);
}
