/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The DMA engine of a matrix unit: requests of some beats, of which only so many are on their way at once; loads write
 * their lines to shared memory when they come, stores take rows out of the accumulator first.
 */
#include "devices/virgo/time/internal.h"

#define WRITE_DELAY 1	/* a line is in its sub-banks a cycle behind its beat */

/* When there is room for one more request: `now`, or when the next one is back. */
static uint64_t room_at(const struct matrix_unit *unit, uint64_t now)
{
	const unsigned int most = (unsigned int)unit->timing->parameters.dma_outstanding;
	uint64_t first = NEVER;

	for (unsigned int i = 0; i < most; i++) {
		if (unit->dma.back[i] <= now)
			return now;
		first = earlier(first, unit->dma.back[i]);
	}
	return first;
}

static void sent(struct matrix_unit *unit, struct engine *engine, uint64_t now, uint64_t back)
{
	const unsigned int most = (unsigned int)unit->timing->parameters.dma_outstanding;
	struct virgo_time_statistics *statistics = &unit->timing->statistics;
	uint64_t outstanding = 0;

	virgo_time_reserve(unit->dma.back, most, now, back);
	for (unsigned int i = 0; i < most; i++)
		outstanding += unit->dma.back[i] > now;
	statistics->dma_outstanding_most = later(statistics->dma_outstanding_most, outstanding);
	statistics->dma_outstanding += back - now;
	engine->done++;
	engine->back = later(engine->back, back);
}

/* Where byte `at` of a load goes in shared memory. false: to the accumulator, or it fills up a request. */
static bool is_written(const struct virgo_time_operation *operation, uint32_t at, uint32_t *to)
{
	const uint32_t size = operation->writes.last - operation->writes.first;

	*to = at < size ? operation->writes.first + at : operation->writes_b.first + (at - size);
	return at < size || *to < operation->writes_b.last;
}

void virgo_time_load_step(struct matrix_unit *unit, const struct virgo_time_operation *operation, uint64_t now)
{
	struct engine *engine = &unit->engine[VIRGO_ENGINE_LOAD];
	struct virgo_timing *timing = unit->timing;
	const unsigned int line = timing->shared.line_bytes, beat = (unsigned int)timing->parameters.bus_beat;
	uint64_t back, room = room_at(unit, now);
	uint32_t size = operation->request_beats * beat;
	uint32_t to;

	if (room > now) {
		engine->next = room;
		return;
	}
	back = virgo_time_bus_read(timing, operation->request_beats, now);
	for (uint32_t at = 0; at < size && is_written(operation, engine->done * size + at, &to); at += line)
		virgo_time_shared_expect(timing, to, back - (size - 1 - at) / beat);
	sent(unit, engine, now, back);
	timing->statistics.dma_read_bytes += size;
	engine->next = now + 1;
	if (engine->done == operation->requests)
		engine->end = engine->back + WRITE_DELAY;
}

/* A row of the accumulator on its way to shared memory. */
static void move_row(struct matrix_unit *unit, const struct virgo_time_operation *operation, uint64_t now)
{
	struct engine *engine = &unit->engine[VIRGO_ENGINE_STORE];
	struct virgo_timing *timing = unit->timing;
	uint32_t to = operation->writes.first + engine->rows * virgo_time_row_step(unit, operation);

	engine->next = now + 1;
	if (!virgo_time_shared_write(timing, virgo_time_bank(timing, to), now))
		return;
	timing->statistics.shared_writes += virgo_time_row_words(unit, operation);
	timing->statistics.accumulator_rows++;
	engine->rows++;
	engine->next = now + timing->parameters.matrix_move;
	if (engine->rows == operation->moved_rows)
		engine->end = engine->next + WRITE_DELAY;
}

void virgo_time_store_step(struct matrix_unit *unit, const struct virgo_time_operation *operation, uint64_t now)
{
	struct engine *engine = &unit->engine[VIRGO_ENGINE_STORE];
	struct virgo_timing *timing = unit->timing;
	uint32_t rows = (operation->moved_rows + operation->requests - 1) / (operation->requests ? operation->requests : 1);
	uint64_t room;

	if (!operation->requests) {
		move_row(unit, operation, now);
		return;
	}
	engine->next = now + 1;
	if (engine->rows < operation->moved_rows && engine->rows < (engine->done + 1) * rows) {
		engine->rows++;
		timing->statistics.accumulator_rows++;
		if (engine->rows < operation->moved_rows && engine->rows < (engine->done + 1) * rows)
			return;
	}
	room = room_at(unit, now);
	if (room > now) {
		engine->next = room;
		return;
	}
	sent(unit, engine, now, virgo_time_bus_write(timing, operation->request_beats, now));
	timing->statistics.dma_written_bytes += operation->request_beats * timing->parameters.bus_beat;
	if (engine->done == operation->requests)
		engine->end = engine->back;
}
