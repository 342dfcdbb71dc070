/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/inspection.h"

#include "daemon/engine/engine.h"
#include "libmimic/base/clock.h"

/* Lanes that had work so lately have it still. */
#define LANES_WORK_NS 100000

bool mimicd_look_may_begin(const struct mimicd_engine *engine, uint64_t now)
{
	return now >= engine->looks_rest_until;
}

void mimicd_look_ended(struct mimicd_engine *engine, uint64_t begun)
{
	uint64_t now = mimic_now();

	/* Asked as of the begin: a long look may have put to sleep who waits for an answer, and that takes time to wake. */
	if (begun - engine->now >= LANES_WORK_NS)
		return;
	if (engine->looks_rest_until < now)
		engine->looks_rest_until = now;
	engine->looks_rest_until += now - begun;
}
