/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/inspection.h"

#include "daemon/engine/engine.h"
#include "daemon/engine/shards.h"
#include "libmimic/base/clock.h"

/* Lanes that had work so lately have it still. */
#define LANES_WORK_NS 100000

bool mimicd_inspection_may_begin(const struct mimicd_engine *engine, uint64_t now)
{
	return now >= engine->inspections_rest_until;
}

void mimicd_inspection_ended(struct mimicd_engine *engine, uint64_t begun)
{
	uint64_t now = mimic_now();

	/*
	 * Judged by its begin: a long inspection may have put to sleep a client that waits for
	 * an answer, and a client takes time to wake.
	 */
	if (begun - mimicd_shards_worked(engine) >= LANES_WORK_NS)
		return;
	if (engine->inspections_rest_until < now)
		engine->inspections_rest_until = now;
	engine->inspections_rest_until += now - begun;
}
