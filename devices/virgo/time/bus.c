/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The system bus, a beat of requests and a beat of answers in a cycle, and the L2 behind it. They are given
 * away in the order of the requests, and every answer comes as long after its request, so a request
 * knows at once when its answer is there.
 */
#include "devices/virgo/time/internal.h"

/* When the L2 has taken a request whose data goes out in `beats`. */
static uint64_t request(struct virgo_timing *timing, unsigned int beats, uint64_t now)
{
	struct bus *bus = &timing->bus;
	uint64_t begin = later(now, bus->request_free), taken;

	bus->request_free = begin + beats;
	taken = later(begin + beats - 1, bus->l2_free);
	bus->l2_free = taken + timing->parameters.bus_interval;
	timing->statistics.l2_requests++;
	return taken;
}

/* When the last of `beats` has come that could come from `from` on. */
static uint64_t answer(struct virgo_timing *timing, unsigned int beats, uint64_t from)
{
	struct bus *bus = &timing->bus;

	bus->response_free = later(from, bus->response_free) + beats;
	return bus->response_free - 1;
}

uint64_t virgo_time_bus_read(struct virgo_timing *timing, unsigned int beats, uint64_t now)
{
	return answer(timing, beats, request(timing, 1, now) + timing->parameters.bus_latency);
}

uint64_t virgo_time_bus_write(struct virgo_timing *timing, unsigned int beats, uint64_t now)
{
	return answer(timing, 1, request(timing, beats, now) + timing->parameters.bus_latency);
}
