/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A matrix unit: a queue of commands, and three engines, for loads, the array, and stores, each of which does
 * the operations of its kind in order. An operation begins when no older one is at work on the ranges that it
 * reads or writes. Of loops, only so many as the unroller holds are begun.
 */
#include <string.h>

#include "devices/virgo/time/internal.h"

void virgo_time_unit_init(struct virgo_timing *timing, unsigned int number)
{
	struct matrix_unit *unit = &timing->unit[number];
	const struct virgo_time_parameters *parameters = &timing->parameters;

	unit->timing = timing;
	unit->number = number;
	unit->dim = (unsigned int)(number ? parameters->matrix_dim_others : parameters->matrix_dim);
	unit->next = NEVER;
	unit->barrier.opens = NEVER;
}

bool virgo_time_unit_is_busy(const struct matrix_unit *unit)
{
	return unit->count;
}

static struct queued_command *command_at(struct matrix_unit *unit, unsigned int place)
{
	return &unit->queue[(unit->first + place) % COMMANDS_MAX];
}

/* --- order of operations -------------------------------------------------------------------------------- */

static bool overlaps(const struct virgo_time_range *a, const struct virgo_time_range *b)
{
	return a->first < b->last && b->first < a->last;
}

static bool conflicts(const struct virgo_time_operation *a, const struct virgo_time_operation *b)
{
	return overlaps(&a->writes, &b->writes) || overlaps(&a->writes, &b->reads) || overlaps(&a->reads, &b->writes) ||
	       overlaps(&a->writes_rows, &b->writes_rows) || overlaps(&a->writes_rows, &b->reads_rows) ||
	       overlaps(&a->reads_rows, &b->writes_rows);
}

/* Does an older operation that is not over work on the same? Operation `at` of the command in `place`. */
static bool has_to_wait(struct matrix_unit *unit, unsigned int place, unsigned int at)
{
	const struct virgo_time_operation *operation = &command_at(unit, place)->command.operation[at];

	for (unsigned int older = 0; older <= place; older++) {
		const struct queued_command *queued = command_at(unit, older);
		unsigned int count = older == place ? at : queued->command.count;

		for (unsigned int i = 0; i < count; i++)
			if (!(queued->over >> i & 1) && conflicts(operation, &queued->command.operation[i]))
				return true;
	}
	return false;
}

/* A loop is begun if the unroller has room for it. */
static bool is_unrolled(struct matrix_unit *unit, struct queued_command *queued)
{
	if (!queued->command.is_loop || queued->is_unrolled)
		return true;
	if (unit->unrolled >= unit->timing->parameters.matrix_loops)
		return false;
	unit->unrolled++;
	queued->is_unrolled = true;
	return true;
}

/* The oldest operation of the engine that has not begun. */
static bool find_next(struct matrix_unit *unit, enum virgo_time_engine engine, unsigned int *place, unsigned int *at)
{
	for (*place = 0; *place < unit->count; ++*place) {
		struct queued_command *queued = command_at(unit, *place);

		if (!is_unrolled(unit, queued))
			return false;
		for (*at = 0; *at < queued->command.count; ++*at)
			if (queued->command.operation[*at].engine == engine && !(queued->begun >> *at & 1))
				return true;
	}
	return false;
}

static void begin(struct matrix_unit *unit, enum virgo_time_engine number, uint64_t now)
{
	struct engine *engine = &unit->engine[number];
	struct queued_command *queued;
	unsigned int place, at;

	if (!find_next(unit, number, &place, &at) || has_to_wait(unit, place, at))
		return;
	queued = command_at(unit, place);
	queued->begun |= (uint8_t)(1u << at);
	*engine = (struct engine){
		.is_busy = true,
		.command = unit->next_number + place,
		.place = (uint8_t)at,
		.end = NEVER,
		.since = now,
		.next = later(now, queued->came + unit->timing->parameters.matrix_fill),
	};
}

/* --- ends -------------------------------------------------------------------------------------------------- */

static void end_operation(struct matrix_unit *unit, struct engine *engine)
{
	struct queued_command *queued = command_at(unit, engine->command - unit->next_number);

	virgo_time_trace_operation(unit, engine, &queued->command.operation[engine->place], engine->end);
	queued->over |= (uint8_t)(1u << engine->place);
	engine->is_busy = false;
}

static bool is_over(const struct queued_command *queued, uint64_t now)
{
	/* One without operations only sets something. */
	return queued->over == (1u << queued->command.count) - 1 && queued->came < now;
}

/* Commands are over in order. */
static void pop(struct matrix_unit *unit, uint64_t now)
{
	while (unit->count && is_over(command_at(unit, 0), now)) {
		const struct queued_command *queued = command_at(unit, 0);

		unit->over += !queued->command.is_kernels;
		unit->loops -= queued->command.is_loop;
		unit->unrolled -= queued->is_unrolled;
		unit->first = (unit->first + 1) % COMMANDS_MAX;
		unit->count--;
		unit->next_number++;
		unit->timing->something_ended = true;
	}
}

/* --- rows of operands in shared memory ------------------------------------------------------------------ */

static unsigned int element_bytes(const struct virgo_time_operation *operation)
{
	return operation->element_bytes ? operation->element_bytes : WORD;
}

unsigned int virgo_time_row_words(const struct matrix_unit *unit, const struct virgo_time_operation *operation)
{
	return unit->dim * element_bytes(operation) / WORD;
}

/* Those of elements of a word begin a line each; several short rows of smaller ones lie in one. */
unsigned int virgo_time_row_step(const struct matrix_unit *unit, const struct virgo_time_operation *operation)
{
	unsigned int line = unit->timing->shared.line_bytes, row = unit->dim * element_bytes(operation);

	return element_bytes(operation) < WORD && row < line ? row : line;
}

/* --- cycles ------------------------------------------------------------------------------------------------ */

static void step_engine(struct matrix_unit *unit, enum virgo_time_engine number, uint64_t now, uint64_t quiet)
{
	struct engine *engine = &unit->engine[number];
	const struct virgo_time_operation *operation;

	if (!engine->is_busy || engine->end != NEVER || engine->next > now)
		return;
	operation = &command_at(unit, engine->command - unit->next_number)->command.operation[engine->place];
	if (number == VIRGO_ENGINE_EXECUTE)
		virgo_time_array_step(unit, operation, now, quiet);
	else if (number == VIRGO_ENGINE_LOAD)
		virgo_time_load_step(unit, operation, now);
	else
		virgo_time_store_step(unit, operation, now);
}

static uint64_t unit_next(const struct matrix_unit *unit, uint64_t now)
{
	uint64_t next = NEVER;

	for (unsigned int i = 0; i < VIRGO_ENGINES; i++) {
		const struct engine *engine = &unit->engine[i];

		if (engine->is_busy)
			next = earlier(next, engine->end == NEVER ? engine->next : engine->end);
	}
	/* One that only sets something. */
	if (unit->count && !unit->queue[unit->first].command.count)
		next = now + 1;
	return next == NEVER ? NEVER : later(next, now + 1);
}

void virgo_time_unit_step(struct matrix_unit *unit, uint64_t now, uint64_t quiet)
{
	for (unsigned int i = 0; i < VIRGO_ENGINES; i++)
		if (unit->engine[i].is_busy && unit->engine[i].end <= now)
			end_operation(unit, &unit->engine[i]);
	pop(unit, now);
	for (unsigned int i = 0; i < VIRGO_ENGINES; i++) {
		if (!unit->engine[i].is_busy)
			begin(unit, i, now);
		step_engine(unit, i, now, quiet);
	}
	unit->next = unit_next(unit, now);
}

/* --- for others ---------------------------------------------------------------------------------------------- */

bool virgo_time_has_room(const struct virgo_timing *timing, unsigned int unit)
{
	return timing->unit[unit].count < timing->parameters.matrix_queue;
}

void virgo_time_put(struct virgo_timing *timing, unsigned int number, const struct virgo_time_command *command,
		    uint64_t now)
{
	struct matrix_unit *unit = &timing->unit[number];

	*command_at(unit, unit->count++) = (struct queued_command){ .command = *command, .came = now };
	unit->loops += command->is_loop;
	unit->next = earlier(unit->next, now + 1);
}

unsigned int virgo_time_commands(const struct virgo_timing *timing, unsigned int unit)
{
	return timing->unit[unit].count;
}

unsigned int virgo_time_loops(const struct virgo_timing *timing, unsigned int unit)
{
	return timing->unit[unit].loops;
}

unsigned int virgo_time_take_over(struct virgo_timing *timing, unsigned int unit)
{
	unsigned int over = timing->unit[unit].over;

	timing->unit[unit].over = 0;
	return over;
}

void virgo_time_set_dim(struct virgo_timing *timing, unsigned int unit, unsigned int dim)
{
	timing->unit[unit].dim = dim;
}

void virgo_time_drop(struct virgo_timing *timing, unsigned int number)
{
	struct matrix_unit *unit = &timing->unit[number];

	unit->next_number += unit->count;
	unit->count = unit->loops = unit->unrolled = unit->over = 0;
	memset(unit->engine, 0, sizeof(unit->engine));
	unit->next = NEVER;
}
