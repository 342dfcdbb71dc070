/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The operand-decoupled tensor core (second-hand: of a later version of the paper). An operation is 16 x 16 x 16 in
 * four sets. Its access engine asks for a line of A and a line of B a cycle, and may be two sets ahead of the execution,
 * which takes 32 cycles a set. One operation is in access at a time, and two more wait.
 */
#include "devices/virgo/time/internal.h"

#define SETS 4u
#define SET_LINES 8u
#define SET_CYCLES 32u
#define SETS_AHEAD 2u
#define FIRST_DELAY 4u		/* from the first line to the first product */

bool virgo_time_decoupled_take(struct core *core, const struct instruction *instruction)
{
	struct decoupled *unit = &core->decoupled;

	if (unit->count == DECOUPLED_QUEUE)
		return false;
	unit->address[unit->count++] = (uint32_t)instruction->address;
	return true;
}

bool virgo_time_decoupled_is_over(const struct core *core, uint64_t now)
{
	return !core->decoupled.count && core->decoupled.busy_until <= now;
}

/* How many lines may have been read by now: two sets more than those that are multiplied. */
static uint32_t allowed(const struct decoupled *unit, uint64_t now)
{
	uint64_t sets = unit->begins <= now ? (now - unit->begins) / SET_CYCLES : 0;

	sets += SETS_AHEAD;
	return (uint32_t)(sets < SETS ? sets : SETS) * SET_LINES;
}

static void read_line(struct core *core, uint32_t *lines, uint32_t base, uint64_t now)
{
	struct virgo_timing *timing = core->timing;
	uint32_t address = base + *lines * timing->shared.line_bytes;

	if (*lines >= allowed(&core->decoupled, now) || !virgo_time_shared_read(timing, virgo_time_bank(timing, address), now))
		return;
	++*lines;
	timing->statistics.shared_reads += timing->parameters.shared_words;
	core->did = true;
}

static void end_access(struct core *core, uint64_t now)
{
	struct decoupled *unit = &core->decoupled;
	uint64_t end = later(unit->begins + SETS * SET_CYCLES, now + SET_CYCLES);

	core->timing->statistics.tensor_macs += (uint64_t)16 * 16 * 16;
	unit->busy_until = end;
	for (unsigned int i = 1; i < unit->count; i++)
		unit->address[i - 1] = unit->address[i];
	unit->count--;
	unit->has_begun = false;
}

void virgo_time_decoupled_step(struct core *core, uint64_t now)
{
	struct decoupled *unit = &core->decoupled;
	const uint32_t to_b = virgo_time_buffer(core->timing, true, 0) - virgo_time_buffer(core->timing, false, 0);

	if (!unit->count)
		return;
	if (!unit->has_begun) {
		unit->has_begun = true;
		unit->a_lines = unit->b_lines = 0;
		unit->begins = later(now + FIRST_DELAY, unit->busy_until);
	}
	read_line(core, &unit->a_lines, unit->address[0], now);
	read_line(core, &unit->b_lines, unit->address[0] + to_b, now);
	if (unit->a_lines == SETS * SET_LINES && unit->b_lines == SETS * SET_LINES)
		end_access(core, now);
}
