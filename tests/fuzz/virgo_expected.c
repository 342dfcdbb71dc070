/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The expected state of the units: commands collect in queues, and the plain
 * reference does those that the model says it has done, one by one. The position of
 * an error tells which command failed.
 */
#include <string.h>

#include "tests/fuzz/virgo_barriers.h"
#include "tests/fuzz/virgo_side.h"

struct expected expected[UNITS];
unsigned char virgo_expected_shared[SHARED_MAX], virgo_expected_arena[ARENA_BYTES];
int virgo_expected_releasing = -1;
static bool has_changed;	/* since memories were compared */

/* --- commands ---------------------------------------------------------------------------------- */

static uint64_t translated(uint64_t address)
{
	return address - ARENA_ADDRESS + (uint64_t)(uintptr_t)virgo_expected_arena;
}

static uint64_t translated_unless_0(uint64_t address)
{
	return address ? translated(address) : 0;
}

static void count(struct expected *e, enum virgo_counter counter)
{
	e->counters[counter]++;
}

static void count_command(struct expected *e, unsigned int funct)
{
	static const uint8_t classes[] = {
		[0] = VIRGO_COUNTER_configurations, [1] = VIRGO_COUNTER_moves_in, [2] = VIRGO_COUNTER_moves_in,
		[3] = VIRGO_COUNTER_moves_out, [4] = VIRGO_COUNTER_computes, [5] = VIRGO_COUNTER_computes,
		[6] = VIRGO_COUNTER_preloads, [8] = VIRGO_COUNTER_loops, [14] = VIRGO_COUNTER_moves_in,
		[15] = VIRGO_COUNTER_loops, [23] = VIRGO_COUNTER_moves_out, [25] = 0,
	};

	count(e, VIRGO_COUNTER_commands);
	if ((funct >= 9 && funct <= 13) || (funct >= 16 && funct <= 21) || funct == 24 || funct == 25)
		count(e, VIRGO_COUNTER_configurations);
	else if (funct == 0 || (funct < sizeof(classes) && classes[funct]))
		count(e, classes[funct]);
}

static void execute(unsigned int unit, const struct entry *entry)
{
	struct expected *e = &expected[unit];
	uint64_t rs1 = entry->rs1, rs2 = entry->rs2;

	CHECK(entry->funct <= 25 || entry->funct == 126 || entry->funct == PLACEHOLDER);
	if (entry->funct == 3) {
		rs1 = translated(rs1);
	} else if (entry->funct == 1 || entry->funct == 2 || entry->funct == 14) {
		rs1 = translated_unless_0(rs1);
	} else if (entry->funct == 10 || entry->funct == 11 || entry->funct == 20 || entry->funct == 21) {
		rs1 = translated_unless_0(rs1);
		rs2 = translated_unless_0(rs2);
	}
	if (entry->is_compared)
		virgo_reference_command(e->reference, entry->funct, rs1, rs2);
	else
		e->is_unknown = true;
	count_command(e, entry->funct);
	has_changed = true;
}

/* --- the reference takes over the model's state ------------------------------------------------- */

static void copy_part(unsigned int unit)
{
	size_t part = ((size_t)side.config.shared_kb << 10) / side.config.units;

	memcpy(virgo_expected_shared + unit * part, side.shared[0] + unit * part, part);
	memcpy(virgo_expected_arena + unit * PART_BYTES, side.arena + unit * PART_BYTES, PART_BYTES);
}

void virgo_expected_copy(unsigned int unit, bool whole)
{
	struct expected *e = &expected[unit];
	struct virgo_unit_view view;
	uint64_t counters[VIRGO_COUNTER_COUNT];

	if (whole) {
		memcpy(virgo_expected_shared, side.shared[0], (size_t)side.config.shared_kb << 10);
		memcpy(virgo_expected_arena, side.arena, ARENA_BYTES);
	} else {
		copy_part(unit);
	}
	CHECK(virgo_model_unit(side.current, unit, &view) == 0);
	memcpy(e->reference->accumulator, view.accumulator,
	       (size_t)side.config.unit[unit].accumulator_kb << 10);
	virgo_model_unit_counters(side.current, unit, counters, VIRGO_COUNTER_COUNT);
	memcpy(e->counters, counters, sizeof(counters));
	has_changed = true;
}

static void new_reference(unsigned int unit)
{
	const struct virgo_unit_config *c = &side.config.unit[unit];
	struct expected *e = &expected[unit];

	if (e->reference) {
		e->reference->spad = NULL;
		virgo_reference_destroy(e->reference);
	}
	e->reference = virgo_reference_create_on(virgo_expected_shared, c->type, c->dim,
						 side.config.shared_kb << 10, c->accumulator_kb << 10);
	CHECK(e->reference);
}

static void start_again(unsigned int unit, bool whole)
{
	virgo_expected_releasing = (int)unit;
	virgo_side_store(VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(unit, RESET), 1);
	virgo_expected_releasing = -1;
	virgo_expected_reset(unit, false);
	virgo_expected_copy(unit, whole);
}

/* --- queues ---------------------------------------------------------------------------------------- */

/* Counts dropped commands. Those that are left in the queue are the job's. */
static void drop(struct expected *e, unsigned int count)
{
	e->before_dropped = count || e->dropped ? e->level : 0;
	e->dropped = e->before_dropped ? e->dropped + count : 0;
}

void virgo_expected_push(unsigned int unit, const struct entry *entry)
{
	struct expected *e = &expected[unit];

	if (e->error) {
		e->dispatched++;
		drop(e, 1);
		count(e, VIRGO_COUNTER_dropped);
		return;
	}
	CHECK(e->level < QUEUE);
	e->queue[e->level] = *entry;
	e->queue[e->level++].position = e->dispatched++;
}

static void drop_from(struct expected *e, unsigned int level)
{
	unsigned int dropped;

	e->counters[VIRGO_COUNTER_dropped] += e->level - level;
	e->is_stale |= e->level != level;
	dropped = e->level - level;
	e->level = level;
	drop(e, dropped);
}

static void pop(struct expected *e)
{
	e->level--;
	memmove(&e->queue[0], &e->queue[1], e->level * sizeof(e->queue[0]));
	if (e->before_dropped && !--e->before_dropped)
		e->dropped = 0;
}

static void execute_head(unsigned int unit)
{
	struct entry entry = expected[unit].queue[0];

	execute(unit, &entry);
	pop(&expected[unit]);
}

void virgo_expected_wait(unsigned int unit, unsigned int owner, const struct entry *entry, bool from_stream)
{
	struct expected *e = &expected[unit];

	CHECK(e->waiting_count < OWNERS);
	e->waiting[e->waiting_count++] = (struct waiting){ owner, from_stream, *entry };
	count(e, VIRGO_COUNTER_queue_waits);
}

static void stop_waiting(struct expected *e, unsigned int i)
{
	e->waiting_count--;
	memmove(&e->waiting[i], &e->waiting[i + 1], (e->waiting_count - i) * sizeof(e->waiting[0]));
}

static bool complete_store(unsigned int unit, unsigned int owner)
{
	struct expected *e = &expected[unit];

	for (unsigned int i = 0; i < e->waiting_count; i++) {
		struct waiting waiting = e->waiting[i];

		if (waiting.owner != owner)
			continue;
		stop_waiting(e, i);
		if (virgo_expected_releasing == (int)unit || virgo_expected_releasing == UNITS)
			return true;
		CHECK(i == 0);
		virgo_expected_push(unit, &waiting.entry);
		return true;
	}
	return false;
}

void virgo_expected_complete(unsigned int owner, uint64_t data)
{
	for (unsigned int unit = 0; unit < side.config.units; unit++) {
		struct expected *e = &expected[unit];
		bool releases = virgo_expected_releasing == (int)unit || virgo_expected_releasing == UNITS;

		if (e->fence[owner]) {
			e->fence[owner] = 0;
			return;
		}
		if (e->loops_at_most[owner]) {
			CHECK(releases || data < e->loops_at_most[owner]);
			e->loops_at_most[owner] = 0;
			return;
		}
		if (complete_store(unit, owner))
			return;
	}
	barriers_complete(owner, data);
}

void virgo_expected_withdraw(unsigned int owner, bool is_gone)
{
	for (unsigned int unit = 0; unit < side.config.units; unit++) {
		struct expected *e = &expected[unit];

		e->fence[owner] = 0;
		e->loops_at_most[owner] = 0;
		for (unsigned int i = e->waiting_count; i-- > 0;) {
			if (e->waiting[i].owner != owner)
				continue;
			/* Of several the first; there is room for one. */
			if (e->waiting[i].from_stream && !e->has_withheld) {
				e->has_withheld = true;
				e->withheld = e->waiting[i];
			}
			stop_waiting(e, i);
			e->is_stale = true;
		}
		if (is_gone && e->withheld.owner == owner)
			e->has_withheld = false;
	}
	barriers_withdraw(owner);
}

/* --- errors ------------------------------------------------------------------------------------------- */

static void check_page(unsigned int unit, const struct entry *entry, unsigned int error, uint64_t address)
{
	int page = virgo_page_of(address);
	enum page_state state;

	CHECK(error == VIRGO_ERROR_LOAD || error == VIRGO_ERROR_STORE);
	if (page < 0) {
		CHECK(!entry->is_valid);
		return;
	}
	CHECK(!entry->is_valid || (unsigned int)page / PAGES == unit);
	state = side.state[page];
	CHECK(state == STUBBORN || state == ABSENT || state == BAD ||
	      (error == VIRGO_ERROR_STORE && (state == READ_ONLY || state == COPY_ON_WRITE)));
}

/* The head of the queue has failed. */
static void fail_head(unsigned int unit)
{
	struct expected *e = &expected[unit];
	struct entry entry = e->queue[0];
	unsigned int error = (unsigned int)virgo_side_unit(unit, VIRGO_ERROR);
	uint64_t address = virgo_side_unit(unit, VIRGO_ERROR_ADDRESS);

	CHECK(virgo_side_unit(unit, VIRGO_ERROR_INSTRUCTION) == entry.word);
	CHECK(virgo_side_unit(unit, VIRGO_ERROR_RS1) == entry.rs1);
	CHECK(virgo_side_unit(unit, VIRGO_ERROR_RS2) == entry.rs2);
	CHECK(virgo_side_unit(unit, VIRGO_DISPATCHED) == virgo_side_unit(unit, VIRGO_COMPLETED));
	e->error = true;
	pop(e);
	drop_from(e, 0);
	if (error == VIRGO_ERROR_LOAD || error == VIRGO_ERROR_STORE) {
		check_page(unit, &entry, error, address);
		start_again(unit, !entry.is_valid);
		return;
	}
	CHECK(error >= VIRGO_ERROR_COMMAND && error <= VIRGO_ERROR_VALUE);
	/* A valid command fails only if commands before it, such as its preload, were lost. */
	CHECK(!entry.is_valid || e->is_stale);
	/* Other commands that fail have done nothing. */
	if (entry.funct == 15)
		start_again(unit, true);
}

/* A job has found an error. */
static void error_of_job(unsigned int unit)
{
	struct expected *e = &expected[unit];
	uint64_t position = virgo_side_unit(unit, VIRGO_ERROR_POSITION);

	if (e->error) {
		/* The model does not show which command failed, nor how far it came. */
		start_again(unit, false);
		return;
	}
	while (e->level && e->queue[0].position != position)
		execute_head(unit);
	CHECK(e->level);
	fail_head(unit);
}

/* A store has latched an error: commands that no job has are dropped. */
static void error_of_store(unsigned int unit, unsigned int level)
{
	struct expected *e = &expected[unit];

	CHECK(virgo_side_unit(unit, VIRGO_ERROR) != VIRGO_ERROR_NONE);
	CHECK(level <= e->level);
	drop_from(e, level);
	e->error = true;
	e->is_stale = true;
}

/* --- comparison ------------------------------------------------------------------------------------------ */

static void compare_counters(unsigned int unit)
{
	static const uint8_t compared[] = {
		VIRGO_COUNTER_commands, VIRGO_COUNTER_configurations, VIRGO_COUNTER_moves_in,
		VIRGO_COUNTER_moves_out, VIRGO_COUNTER_preloads, VIRGO_COUNTER_computes, VIRGO_COUNTER_loops,
		VIRGO_COUNTER_cisc, VIRGO_COUNTER_queue_waits, VIRGO_COUNTER_errors, VIRGO_COUNTER_dropped,
		VIRGO_COUNTER_illegal,
	};
	uint64_t values[VIRGO_COUNTER_COUNT];

	virgo_model_unit_counters(side.current, unit, values, VIRGO_COUNTER_COUNT);
	for (size_t i = 0; i < sizeof(compared); i++) {
		if (values[compared[i]] == expected[unit].counters[compared[i]])
			continue;
		fprintf(stderr, "unit %u counter %u: %llu, expected %llu\n", unit, compared[i],
			(unsigned long long)values[compared[i]],
			(unsigned long long)expected[unit].counters[compared[i]]);
		abort();
	}
}

static void compare_registers(unsigned int unit)
{
	struct expected *e = &expected[unit];
	unsigned int loops = 0;

	for (unsigned int i = 0; i < e->level; i++)
		loops += e->queue[i].funct == 8 || e->queue[i].funct == 15 || e->queue[i].funct == PLACEHOLDER;
	CHECK(virgo_side_unit(unit, VIRGO_LOOPS) == loops);
	CHECK(virgo_side_unit(unit, VIRGO_BUSY) == (e->level != 0));
	CHECK(virgo_side_unit(unit, VIRGO_DISPATCHED) == e->dispatched);
	CHECK(virgo_side_unit(unit, VIRGO_COMPLETED) == e->dispatched - e->level - e->dropped);
	CHECK(!e->waiting_count || e->level == side.config.queue_entries);
	for (unsigned int owner = 0; owner < OWNERS; owner++) {
		CHECK(!e->fence[owner] || e->dispatched - e->level - e->dropped < e->fence[owner] - 1);
		CHECK(!e->loops_at_most[owner] || loops >= e->loops_at_most[owner]);
	}
}

static void compare_accumulator(unsigned int unit)
{
	struct virgo_unit_view view;

	CHECK(virgo_model_unit(side.current, unit, &view) == 0);
	CHECK(!memcmp(view.accumulator, expected[unit].reference->accumulator,
		      (size_t)side.config.unit[unit].accumulator_kb << 10));
}

static void compare_memories(void)
{
	if (!has_changed)
		return;
	has_changed = false;
	for (unsigned int unit = 0; unit < side.config.units; unit++)
		compare_accumulator(unit);
	CHECK(!memcmp(side.shared[0], virgo_expected_shared, (size_t)side.config.shared_kb << 10));
	CHECK(!memcmp(side.arena, virgo_expected_arena, ARENA_BYTES));
}

/*
 * An outstanding job holds its places in the queue until it is back: a store behind the
 * reset can overflow. That error stays, and all commands stored since are dropped.
 */
static void update_until_reset(unsigned int unit, uint64_t errors)
{
	struct expected *e = &expected[unit];

	if (errors != e->counters[VIRGO_COUNTER_errors]) {
		e->counters[VIRGO_COUNTER_errors] = errors;
		error_of_store(unit, 0);
	}
	CHECK((virgo_side_unit(unit, VIRGO_ERROR) != VIRGO_ERROR_NONE) == e->error);
}

static void update_unit(unsigned int unit, bool by_store)
{
	struct expected *e = &expected[unit];
	uint64_t values[VIRGO_COUNTER_COUNT], status = virgo_side_unit(unit, VIRGO_STATUS);
	unsigned int level = status >> VIRGO_STATUS_LEVEL_SHIFT & 0xff;

	virgo_model_unit_counters(side.current, unit, values, VIRGO_COUNTER_COUNT);
	if (e->reset_pending) {
		update_until_reset(unit, values[VIRGO_COUNTER_errors]);
		CHECK(status & VIRGO_STATUS_BUSY);
		return;
	}
	if (values[VIRGO_COUNTER_errors] != e->counters[VIRGO_COUNTER_errors]) {
		e->counters[VIRGO_COUNTER_errors] = values[VIRGO_COUNTER_errors];
		if (by_store)
			error_of_store(unit, level);
		else
			error_of_job(unit);
	} else {
		CHECK(level <= e->level);
		while (e->level > level)
			execute_head(unit);
	}
	CHECK((virgo_side_unit(unit, VIRGO_ERROR) != VIRGO_ERROR_NONE) == e->error);
	compare_registers(unit);
	compare_counters(unit);
	/* It was alone. */
	if (e->is_unknown)
		start_again(unit, true);
}

/* A unit waits for a page if one is shown on page 0. */
static void compare_stalls(void)
{
	uint64_t fault = virgo_side_load(VIRGO_PAGE_CONTROL, VIRGO_CONTROL_FAULT_STATUS);
	bool stalled = false;

	for (unsigned int unit = 0; unit < side.config.units; unit++)
		stalled |= (virgo_side_unit(unit, VIRGO_STATUS) & VIRGO_STATUS_PAGE) != 0;
	CHECK(stalled == ((fault & VIRGO_FAULT_STALLED) != 0));
	if (stalled)
		CHECK(virgo_side_unit(fault & 0xff, VIRGO_STATUS) & VIRGO_STATUS_PAGE);
}

bool virgo_expected_is_idle(unsigned int unit)
{
	const struct expected *e = &expected[unit];

	return !e->level && !e->waiting_count && !e->reset_pending && !side.job[unit];
}

bool virgo_expected_all_idle(void)
{
	for (unsigned int unit = 0; unit < side.config.units; unit++) {
		if (!virgo_expected_is_idle(unit))
			return false;
	}
	return true;
}

void virgo_expected_update(bool by_store)
{
	for (unsigned int unit = 0; unit < side.config.units; unit++)
		update_unit(unit, by_store);
	compare_stalls();
	if (virgo_expected_all_idle())
		compare_memories();
}

/* --- life ------------------------------------------------------------------------------------------------- */

void virgo_expected_reset(unsigned int unit, bool power_on)
{
	struct expected *e = &expected[unit];
	struct virgo_reference *reference = e->reference;
	uint64_t counters[VIRGO_COUNTER_COUNT];
	unsigned int resets = e->resets;

	memcpy(counters, e->counters, sizeof(counters));
	memset(e, 0, sizeof(*e));
	e->reference = reference;
	e->resets = resets + 1;
	if (!power_on)
		memcpy(e->counters, counters, sizeof(counters));
	e->reset_pending = side.job[unit] != NULL;
	new_reference(unit);
	has_changed = true;
	if (!e->reset_pending)
		virgo_expected_copy(unit, false);
}

void virgo_expected_start(void)
{
	memset(expected, 0, sizeof(expected));
	memset(virgo_expected_shared, 0, sizeof(virgo_expected_shared));
	memcpy(virgo_expected_arena, side.arena, ARENA_BYTES);
	virgo_expected_releasing = -1;
	has_changed = true;
	for (unsigned int unit = 0; unit < side.config.units; unit++)
		new_reference(unit);
}

void virgo_expected_stop(void)
{
	for (unsigned int unit = 0; unit < side.config.units; unit++) {
		expected[unit].reference->spad = NULL;
		virgo_reference_destroy(expected[unit].reference);
	}
}
