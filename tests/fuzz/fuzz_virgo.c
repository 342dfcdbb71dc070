/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Streams of commands on the units of a Virgo cluster, and the plain reference beside
 * it: the shared memory, the accumulators, the program's memory, errors, counters,
 * queues and waiting owners must be as the reference's commands make them. Jobs are
 * run by ticks, or taken, run and handed back in any order; pages fault. A command
 * that is wrong must latch an error and leave all as it was. The first bytes choose
 * the configuration.
 */
#include <string.h>

#include "tests/fuzz/virgo_barriers.h"
#include "tests/fuzz/virgo_commands.h"
#include "tests/fuzz/virgo_sender.h"
#include "tests/fuzz/virgo_side.h"

#define STEPS_MAX 600u

static void clear_error(unsigned int unit)
{
	virgo_side_store(VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(unit, ERROR), 1);
	expected[unit].error = false;
	virgo_expected_update(false);
}

/* --- steps --------------------------------------------------------------------------------------------- */

static void step_commands(struct input *input, unsigned int unit, unsigned int owner)
{
	unsigned int how = byte(input);
	struct sequence s;

	virgo_nobody_waits_as(owner);
	virgo_finish_triple(unit, owner);
	/* Mostly clears an error first: dropped commands find no defects. */
	if (expected[unit].error && how & 0xf0)
		clear_error(unit);
	if (expected[unit].is_stale && !virgo_expected_is_idle(unit))
		virgo_settle();
	if (virgo_expected_is_idle(unit)) {
		commands_follow(unit);
		expected[unit].is_stale = expected[unit].error;
	}
	next_commands(input, unit, &s);
	virgo_send(unit, owner, &s, how);
}

/* A command that may reach anything: nobody else is at work. */
static void step_anywhere(struct input *input, unsigned int unit, unsigned int owner)
{
	unsigned int how = byte(input);
	struct sequence s;

	virgo_settle();
	if (expected[unit].error)
		clear_error(unit);
	if (how & 16)
		next_wild_command(input, unit, &s);
	else
		next_convolution(input, unit, &s);
	for (unsigned int i = 0; i < s.count; i++) {
		struct entry *entry = &s.entry[i];

		/* The reference has no answer to some convolutions. */
		entry->is_compared = entry->funct != VIRGO_FUNCT_LOOP_CONV_WS || !(how & 16);
		virgo_nobody_waits_as(owner);
		virgo_send_by_stores(unit, owner, entry, false);
		virgo_settle();
		if (expected[unit].error)
			clear_error(unit);
	}
	expected[unit].is_stale = true;
}

static void step_word(struct input *input, unsigned int unit)
{
	unsigned int choice = byte(input), to = choice >> 6, generation, errors;
	uint64_t tile = 1ull << 32 | (1 + (choice >> 4 & 1)) << 16 | (1 + (choice >> 5 & 1));
	uint32_t word = (choice & 15) | to << VIRGO_CISC_UNIT_SHIFT | (uint32_t)bytes(input, 3) << 8;
	bool was_busy, is_known;
	struct sequence s;

	if (byte(input) & 7)
		virgo_settle();
	to = to < side.config.units ? to : unit;
	virgo_side_store(VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(to, CISC_TILE), tile);
	generation = (unsigned int)virgo_side_unit(to, VIRGO_CISC_GENERATION);
	was_busy = virgo_side_unit(to, VIRGO_BUSY);
	errors = (unsigned int)expected[to].counters[VIRGO_COUNTER_errors];
	/* It may reach anything. */
	if (side.config.units > 1 && !virgo_expected_all_idle())
		return;
	is_known = (word >> VIRGO_CISC_UNIT_SHIFT & 7) < side.config.units &&
		   expand_word(to, generation, tile, word, &s);
	virgo_side_store(VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(unit, CISC), word);
	if (virgo_side_errors(to) == errors) {
		CHECK(is_known && !(generation == VIRGO_CISC_PAPER && was_busy));
		expected[to].counters[VIRGO_COUNTER_cisc]++;
		for (unsigned int i = 0; i < s.count; i++)
			virgo_expected_push(to, &s.entry[i]);
	} else {
		CHECK(!is_known || was_busy);
	}
	virgo_expected_update(true);
	expected[to].is_stale = true;
	if (side.config.units > 1)
		virgo_settle();
}

static void step_page(struct input *input, unsigned int unit)
{
	unsigned int choice = byte(input), page = unit * PAGES + byte(input) % PAGES;

	if (!virgo_expected_is_idle(unit))
		return;
	side.state[page] = choice & 8 ? PRESENT : choice % PAGE_STATES;
	if (choice & 16)
		virgo_side_store(VIRGO_PAGE_CONTROL, VIRGO_CONTROL_FLUSH, 1);
	else
		side.current->ops->invalidate(side.current, 0, UINT64_MAX);
}

static uint32_t next_pattern(struct input *input, unsigned int kind)
{
	static const uint32_t halves[] = { 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e01, 0x0001, 0x83ff, 0x7bff };
	float number = (float)(int8_t)byte(input) / 4;
	uint32_t pattern;

	memcpy(&pattern, &number, 4);
	switch (kind % 4) {
	case 0:
		return pattern;
	case 1:
		return halves[byte(input) % 8] << 16 | (uint32_t)bytes(input, 2);
	case 2:
		return (uint32_t)bytes(input, 4);
	default:
		return (uint32_t)byte(input) << 23 | (uint32_t)byte(input) << 8;	/* any exponent */
	}
}

/* The program writes, to the shared memory or to its own. */
static void step_fill(struct input *input, unsigned int unit)
{
	unsigned int kind = byte(input), count = 1 + byte(input), at;
	size_t part = ((size_t)side.config.shared_kb << 10) / side.config.units;
	uint32_t pattern = next_pattern(input, kind);

	if (!virgo_expected_is_idle(unit))
		return;
	at = (unsigned int)bytes(input, 2) * 4 % (kind & 8 ? (unsigned int)part : PART_BYTES);
	for (unsigned int n = 0; n < count; n++, at += 4) {
		if (kind & 8 && at + 4 <= part) {
			memcpy(side.shared[0] + unit * part + at, &pattern, 4);
			memcpy(virgo_expected_shared + unit * part + at, &pattern, 4);
		} else if (!(kind & 8) && at + 4 <= PART_BYTES) {
			memcpy(side.arena + unit * PART_BYTES + at, &pattern, 4);
			memcpy(virgo_expected_arena + unit * PART_BYTES + at, &pattern, 4);
		}
		if (n % 4 == 3 && kind & 16)
			pattern = next_pattern(input, kind);
	}
}

static void step_wait(struct input *input, unsigned int unit, unsigned int owner)
{
	unsigned int choice = byte(input), loops = choice >> 1 & 3;
	unsigned int offset = choice & 1 ? VIRGO_FENCE : VIRGO_WAIT_LOOPS_0 + 8 * loops;
	struct mimic_access access = virgo_access_of(unit, owner, offset, 8, 0);
	struct expected *e = &expected[unit];

	access.is_write = 0;
	virgo_nobody_waits_as(owner);
	if (virgo_side_access(&access) == MIMIC_PARKED) {
		if (choice & 1)
			e->fence[owner] = 1 + e->dispatched;
		else
			e->loops_at_most[owner] = 1 + loops;
	} else {
		CHECK(!e->reset_pending);
		CHECK(choice & 1 ? !e->level : access.data <= loops);
	}
	virgo_expected_update(false);
}

static void step_barrier(struct input *input, unsigned int owner)
{
	unsigned int choice = byte(input);

	if (choice & 0xc0) {
		virgo_nobody_waits_as(owner);
		barriers_arrive(owner, choice);
	} else {
		barriers_set_participants(choice, choice >> 2 & 7);
	}
}

/* Which loads (1) and stores (2) of 8 bytes a unit's block takes. */
static unsigned int accesses_of(unsigned int offset)
{
	enum { R = 1, W = 2, RW = 3 };

	switch (offset) {
#define _(register_offset, name, kind, reset, role, format, meaning) \
	case register_offset: return kind;
	VIRGO_UNIT_REGISTERS(_)
#undef _
	default:
		return 0;
	}
}

/* Any access that does nothing. */
static void step_any(struct input *input, unsigned int unit)
{
	static const uint8_t sizes[4] = { 1, 2, 4, 8 };
	unsigned int choice = byte(input), offset = byte(input);
	struct mimic_access access = virgo_access_of(unit, OBSERVER, offset, sizes[choice >> 1 & 3], bytes(input, 2));
	bool is_word = access.size >= 4 && offset % access.size == 0, is_half = access.size == 4;
	bool is_legal = is_word && accesses_of(offset & ~7u) & (choice & 1 ? 2 : 1);

	access.is_write = choice & 1;
	/* Own registers are loaded in halves, but stored from their beginning. */
	if (is_half && access.is_write && offset % 8)
		is_legal &= offset == VIRGO_RS1_HIGH || offset == VIRGO_RS2_HIGH;
	if (offset < 8 && access.is_write)
		is_legal = is_half && offset == VIRGO_INSTRUCTION;
	if ((offset & ~7u) == VIRGO_STREAM)
		is_legal = access.is_write && access.size == 8 && offset == VIRGO_STREAM;
	if ((offset & ~7u) >= VIRGO_FENCE && (offset & ~7u) <= VIRGO_WAIT_LOOPS_3 && offset % 8)
		is_legal = false;
	if (is_legal)
		return;
	CHECK(virgo_side_access(&access) == MIMIC_DONE);
	CHECK(access.is_write || access.data == 0);
	expected[unit].counters[VIRGO_COUNTER_illegal]++;
}

static void power_on(void)
{
	virgo_expected_releasing = UNITS;
	side.current->ops->power_on(side.current, side.now);
	virgo_expected_releasing = -1;
	for (unsigned int unit = 0; unit < side.config.units; unit++)
		virgo_expected_reset(unit, true);
	barriers_reset();
	for (unsigned int owner = 0; owner < OWNERS; owner++)
		CHECK(!side.is_parked[owner]);
	virgo_expected_update(false);
}

static void reset(unsigned int unit)
{
	virgo_expected_releasing = (int)unit;
	virgo_side_store(VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(unit, RESET), 1);
	virgo_expected_releasing = -1;
	virgo_expected_reset(unit, false);
	virgo_expected_update(false);
}

static void step_job(unsigned int unit, unsigned int choice)
{
	if (side.config.inline_jobs) {
		side.current->ops->tick(side.current, side.now);
	} else if (choice % 3 == 0) {
		virgo_side_take_job();
	} else if (choice % 3 == 1) {
		virgo_side_run_job(unit);
	} else {
		virgo_side_end_job(unit);
	}
	virgo_expected_update(false);
}

static void step_rare(struct input *input, unsigned int unit, unsigned int owner)
{
	unsigned int choice = byte(input);

	switch (choice % 8) {
	case 0: case 1:
		if (!virgo_side_jobs_are_out())
			virgo_side_save_and_restore();
		break;
	case 2:
		virgo_withdraw(owner, choice & 8);
		break;
	case 3:
		if (choice & 16)
			clear_error(unit);
		else
			reset(unit);
		break;
	case 4:
		if (choice & 16)
			power_on();
		break;
	case 5:
		virgo_side_store(VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_ENABLE, bytes(input, 4));
		virgo_side_store(VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_STATUS, bytes(input, 4));
		break;
	default:
		virgo_settle();
	}
}

static void step(struct input *input)
{
	unsigned int kind = byte(input), where = byte(input);
	unsigned int unit = where % side.config.units, owner = 1 + (where >> 5) % (OWNERS - 2);

	side.now += 1 + kind;
	switch (kind % 16) {
	case 0: case 1: case 2: case 3: case 4: case 5:
		step_commands(input, unit, owner);
		break;
	case 6: case 7:
		step_anywhere(input, unit, owner);
		break;
	case 8:
		step_word(input, unit);
		break;
	case 9:
		step_page(input, unit);
		break;
	case 10:
		step_fill(input, unit);
		break;
	case 11:
		step_job(unit, kind >> 4);
		break;
	case 12:
		step_wait(input, unit, owner);
		break;
	case 13:
		if (kind & 16)
			step_barrier(input, owner);
		else
			step_any(input, unit);
		break;
	case 14:
		if (kind >> 4 == 15)
			virgo_side_store(VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, unit | VIRGO_RESOLVE_LATER);
		else
			virgo_resolve(unit, (kind >> 4) % 8, (kind >> 4) % 8 > 1);
		break;
	default:
		step_rare(input, unit, owner);
	}
	virgo_expected_update(false);
	barriers_compare();
}

/* --- a run ------------------------------------------------------------------------------------------------ */

static void choose_configuration(struct input *input, struct virgo_config *config)
{
	static const unsigned int units[4] = { 1, 1, 2, 4 }, dims[4] = { 4, 8, 16, 32 };
	static const unsigned int queues[4] = { 16, 4, 5, VIRGO_MAX_QUEUE };
	unsigned int flags = byte(input), more = byte(input);

	virgo_config_default(config);
	config->units = units[flags & 3];
	config->cores = 1 + (flags >> 2 & 3);
	config->inline_jobs = flags >> 4 & 1;
	config->cisc_generation = flags >> 5 & 1;
	config->overflow_is_error = (flags >> 6) == 3;
	config->queue_entries = queues[more & 3];
	config->shared_kb = more & 4 ? 128 : 64;
	for (unsigned int i = 0; i < config->units; i++) {
		unsigned int choice = byte(input);

		config->unit[i] = (struct virgo_unit_config){
			.type = choice % VIRGO_TYPES, .dim = dims[choice >> 2 & 3],
			.accumulator_kb = choice & 128 ? 16 : 4,
		};
	}
}

/* Small numbers of all types. */
static void fill_arena(void)
{
	static unsigned char numbers[ARENA_BYTES];
	static bool is_filled;

	for (unsigned int i = 0; !is_filled && i < ARENA_BYTES / 4; i++) {
		float number = (float)((int)(i % 61) - 30) / 8;

		memcpy(numbers + 4 * i, &number, 4);
		if (i & 1024)
			memset(numbers + 4 * i, (int)(i * 7 % 251), 3);
	}
	is_filled = true;
	memcpy(side.arena, numbers, ARENA_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct virgo_config config;
	unsigned int port, kernel;

	choose_configuration(&input, &config);
	port = byte(&input);
	kernel = port >> 2 & 3;
	virgo_side_start(&config, port % PORTS);
	/* The fastest, if it has none of that number or cannot run it. */
	if (virgo_model_kernel_name(kernel)) {
		virgo_model_choose_kernel(side.current, virgo_model_kernel_name(kernel));
		virgo_model_choose_kernel(side.spare, virgo_model_kernel_name(port >> 4 & 1));
	}
	fill_arena();
	virgo_expected_start();
	barriers_start();
	for (unsigned int i = 0; input.size && i < STEPS_MAX; i++)
		step(&input);
	virgo_settle();
	virgo_expected_stop();
	virgo_side_stop();
	return 0;
}
