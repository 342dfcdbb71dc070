/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The array of a matrix unit: it takes in a line of A in each cycle, and beside it B's lines for the passes that
 * come, each from its bank. Sums are read from the accumulator and written back a row at a time.
 */
#include "devices/virgo/time/internal.h"

static uint32_t lines_of(const struct virgo_time_operation *operation)
{
	return operation->passes * operation->rows;
}

/* Does this line of A come with one of B? The first of the passes that multiply by the same block loads it. */
static bool needs_b(const struct virgo_time_operation *operation, uint32_t line)
{
	return line / operation->rows % operation->pass_reuse == 0;
}

/* Words of a row of operands that come at once: one that is longer than a line comes in several. */
static unsigned int words_of_line(const struct matrix_unit *unit, const struct virgo_time_operation *operation)
{
	unsigned int words = virgo_time_row_words(unit, operation), most = (unsigned int)unit->timing->parameters.shared_words;

	return words < most ? words : most;
}

static uint32_t a_address(const struct matrix_unit *unit, const struct virgo_time_operation *operation, uint32_t line)
{
	return operation->a_base + (uint32_t)((uint64_t)line * virgo_time_row_step(unit, operation) % operation->a_bytes);
}

static uint32_t b_address(const struct matrix_unit *unit, const struct virgo_time_operation *operation, uint32_t line)
{
	uint32_t block = line / operation->rows / operation->pass_reuse;
	uint64_t lines = (uint64_t)block * operation->rows + line % operation->rows;

	return operation->b_base + (uint32_t)(lines * virgo_time_row_step(unit, operation) % operation->b_bytes);
}

static void count_line(struct matrix_unit *unit, const struct virgo_time_operation *operation)
{
	struct virgo_time_statistics *statistics = &unit->timing->statistics;
	unsigned int words = words_of_line(unit, operation);

	statistics->matrix_busy++;
	statistics->matrix_macs += (uint64_t)unit->dim * unit->dim * words / virgo_time_row_words(unit, operation);
	statistics->shared_reads += words;
	statistics->accumulator_rows += 2;
}

/* The line that is next, in this cycle. false: a bank refuses it. */
static bool take_line(struct matrix_unit *unit, const struct virgo_time_operation *operation, uint64_t now)
{
	struct engine *engine = &unit->engine[VIRGO_ENGINE_EXECUTE];
	struct virgo_timing *timing = unit->timing;

	if (!engine->has_b && needs_b(operation, engine->done)) {
		if (!virgo_time_shared_read(timing, virgo_time_bank(timing, b_address(unit, operation, engine->done)), now))
			return false;
		timing->statistics.shared_reads += words_of_line(unit, operation);
		engine->has_b = true;
	}
	if (!virgo_time_shared_read(timing, virgo_time_bank(timing, a_address(unit, operation, engine->done)), now))
		return false;
	engine->has_b = false;
	engine->done++;
	count_line(unit, operation);
	return true;
}

void virgo_time_array_step(struct matrix_unit *unit, const struct virgo_time_operation *operation, uint64_t now,
			   uint64_t quiet)
{
	struct engine *engine = &unit->engine[VIRGO_ENGINE_EXECUTE];
	const uint32_t lines = lines_of(operation);

	do {
		if (!take_line(unit, operation, now))
			unit->timing->statistics.matrix_stalls++;
		now++;
	} while (engine->done < lines && now < quiet);
	engine->next = now;
	if (engine->done == lines)
		engine->end = now + unit->timing->parameters.matrix_drain;
}
