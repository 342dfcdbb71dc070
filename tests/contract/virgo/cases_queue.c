/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The command queue: busy, numbers, waiting for room and for an end. */
#include "tests/contract/virgo/contract.h"

/* A command that changes nothing, without the harness's own fences. */
static void clock_gate(enum bus_thread who)
{
	store(who, PAGE_UNITS, unit_at(INSTRUCTION), 4, WORD(CLOCK_GATE));
}

/* As many as there is room for, while the unit is busy. Two or three are at work already. */
static unsigned int fill_queue(void)
{
	unsigned int sent = 0;

	flush_commands();
	while (QUEUE_LEVEL(unit_get(STATUS)) < QUEUE_ENTRIES) {
		clock_gate(A);
		if (++sent > 8 * QUEUE_ENTRIES)
			contract_fail(__FILE__, __LINE__, "the unit is done before its queue is full");
	}
	return sent;
}

CASE(commands_are_numbered_and_counted_down, EITHER)
{
	FOR_EACH_UNIT {
		for (unsigned int i = 0; i < 20; i++)
			rocc(CLOCK_GATE, 0, 0);
		COMPLETE();
		EXPECT(unit_get(DISPATCHED), 20);
		EXPECT(unit_get(COMPLETED), 20);
		EXPECT(unit_get(BUSY), 0);
	}
}

CASE(a_unit_is_busy_until_all_is_over, EITHER)
{
	use_unit(0);
	occupy_unit();
	EXPECT(unit_get(BUSY), 1);
	EXPECT(unit_get(STATUS) & (IS_BUSY | HAS_ERROR | WAITS_FOR_PAGE), IS_BUSY);
	EXPECT_TRUE(QUEUE_LEVEL(unit_get(STATUS)) > 0);
	EXPECT_TRUE(unit_get(COMPLETED) < unit_get(DISPATCHED));
	COMPLETE();
	EXPECT(unit_get(BUSY), 0);
	EXPECT(unit_get(COMPLETED), unit_get(DISPATCHED));
}

CASE(a_fence_of_an_idle_unit_does_not_wait, EITHER)
{
	FOR_EACH_UNIT
		EXPECT(unit_get(FENCE), QUEUE_ENTRIES << 16);
}

CASE(a_fence_waits_for_what_came_before_it, EITHER)
{
	use_unit(2);
	occupy_unit();
	flush_commands();
	load_begin(B, PAGE_UNITS, unit_at(FENCE), 8);
	EXPECT_TRUE(still_waits(B));
	EXPECT(finish(B) & HAS_ERROR, 0);
	EXPECT(unit_get(COMPLETED), unit_get(DISPATCHED));
}

CASE(several_threads_may_wait_at_fences, EITHER)
{
	use_unit(0);
	occupy_unit();
	flush_commands();
	load_begin(B, PAGE_UNITS, unit_at(FENCE), 8);
	load_begin(C, PAGE_UNITS, unit_at(FENCE), 8);
	EXPECT_TRUE(still_waits(B));
	COMPLETE();
	EXPECT(finish(B) & HAS_ERROR, 0);
	EXPECT(finish(C) & HAS_ERROR, 0);
}

CASE(a_store_to_a_full_queue_waits, BY_STREAM)
{
	uint64_t waits;

	use_unit(2);
	waits = unit_count(COUNT_QUEUE_WAITS);
	occupy_unit();
	fill_queue();
	store_begin(B, PAGE_UNITS, unit_at(INSTRUCTION), 4, WORD(CLOCK_GATE));
	EXPECT_TRUE(store_still_waits(B));
	EXPECT(unit_get(ERROR), NO_ERROR);
	finish_store(B);
	COMPLETE();
	EXPECT_TRUE(unit_count(COUNT_QUEUE_WAITS) > waits);
	EXPECT(unit_get(COMPLETED), unit_get(DISPATCHED));
}

CASE(a_third_word_of_stream_waits_as_well, BY_STREAM)
{
	use_unit(3);
	occupy_unit();
	fill_queue();
	unit_put(STREAM, 1);
	unit_put(STREAM, 2);
	store_begin(B, PAGE_UNITS, unit_at(STREAM), 8, WORD(CLOCK_GATE));
	EXPECT_TRUE(store_still_waits(B));
	finish_store(B);
	COMPLETE();
}

/* A command that waits keeps its RS1 and RS2 when others are stored meanwhile. */
CASE(a_store_that_waits_keeps_its_sources, BY_STREAM)
{
	use_unit(2);
	occupy_unit();
	fill_queue();
	unit_put(RS1, 0x111);
	unit_put(RS2, 0x222);
	store_begin(B, PAGE_UNITS, unit_at(INSTRUCTION), 4, WORD(99));
	EXPECT_TRUE(store_still_waits(B));
	unit_put(RS1, 0x333);
	unit_put(RS2, 0x444);
	finish_store(B);
	EXPECT_ERROR(BAD_COMMAND, WORD(99), unit_get(DISPATCHED) - 1, 99, 0x111, 0x222);
}

/* Those that a job has begun with are done; how many that is, is a matter of time. */
static uint64_t done_or_dropped(void)
{
	return unit_count(COUNT_COMMANDS) + unit_count(COUNT_DROPPED);
}

CASE(a_command_too_many_is_an_overflow, BY_REGISTERS)
{
	uint64_t position, before;

	use_unit(1);
	before = done_or_dropped();
	occupy_unit();
	fill_queue();
	unit_put(RS1, 0x111);
	unit_put(RS2, 0x222);
	position = unit_get(DISPATCHED);
	clock_gate(A);
	EXPECT_ERROR(OVERFLOW, WORD(CLOCK_GATE), position, QUEUE_ENTRIES, 0x111, 0x222);
	/* it is lost; those that nobody has begun are dropped */
	EXPECT(unit_get(DISPATCHED), position);
	EXPECT(unit_get(COMPLETED), position);
	EXPECT(done_or_dropped() - before, position);
	rocc(CLOCK_GATE, 0, 0);
	COMPLETE();
}

/* Of STREAM it is the third store; RS1 and RS2 are those that came before it, not the block's. */
CASE(a_command_too_many_by_stream_is_an_overflow, BY_REGISTERS)
{
	uint64_t position, before;

	use_unit(1);
	before = done_or_dropped();
	occupy_unit();
	fill_queue();
	unit_put(RS1, 0x111);
	unit_put(RS2, 0x222);
	position = unit_get(DISPATCHED);
	unit_put(STREAM, 0x333);
	unit_put(STREAM, 0x444);
	EXPECT(unit_get(ERROR), NO_ERROR);
	unit_put(STREAM, WORD(MVIN));
	EXPECT_ERROR(OVERFLOW, WORD(MVIN), position, QUEUE_ENTRIES, 0x333, 0x444);
	EXPECT(unit_get(DISPATCHED), position);
	EXPECT(unit_get(COMPLETED), position);
	EXPECT(done_or_dropped() - before, position);
	EXPECT(unit_count(COUNT_QUEUE_WAITS), 0);
	/* three more are a command again */
	unit_put(STREAM, 5);
	unit_put(STREAM, 6);
	unit_put(STREAM, WORD(99));
	EXPECT_ERROR(BAD_COMMAND, WORD(99), position, 99, 5, 6);
}

CASE(long_posts_arrive_in_order_and_whole, EITHER)
{
	FOR_EACH_UNIT {
		size_t row_bytes = (size_t)unit.dim * unit.size;

		fill_elements(input_at(0), 8192);
		config_ld(0, 64, 1, false);
		for (unsigned int i = 0; i < 300; i++)
			mvin(input_at(64 * (i % 100)), 300 - i, 1, unit.dim);
		COMPLETE();
		for (unsigned int i = 200; i < 300; i++)
			EXPECT_SAME(shared_row(300 - i), input_at(64 * (i % 100)), row_bytes);
		EXPECT(unit_get(COMPLETED), 301);
	}
}

CASE(commands_of_several_threads_keep_the_order_of_their_stores, EITHER)
{
	FOR_EACH_UNIT {
		static const enum bus_thread threads[] = { A, B, C };

		fill_elements(input_at(0), 4096);
		config_ld(0, 64, 1, false);
		for (unsigned int i = 0; i < 60; i++) {
			as_thread(threads[i % 3]);
			mvin(input_at(64 * i), 7, 1, unit.dim);
			mvin(input_at(64 * (59 - i)), 8, 1, unit.dim);
		}
		as_thread(A);
		COMPLETE();
		EXPECT_SAME(shared_row(7), input_at(64 * 59), (size_t)unit.dim * unit.size);
		EXPECT_SAME(shared_row(8), input_at(0), (size_t)unit.dim * unit.size);
	}
}

/* --- loops ----------------------------------------------------------------------------------------- */

/* A loop of nothing: it counts as one, and is over at once. */
static void empty_loops(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		store(A, PAGE_UNITS, unit_at(INSTRUCTION), 4, WORD(LOOP_WS));
}

CASE(loops_are_counted_until_they_are_over, EITHER)
{
	use_unit(2);
	occupy_unit();
	flush_commands();
	empty_loops(3);
	EXPECT(unit_get(LOOPS), 3);
	COMPLETE();
	EXPECT(unit_get(LOOPS), 0);
}

CASE(a_thread_can_wait_until_few_loops_are_left, EITHER)
{
	use_unit(3);
	occupy_unit();
	flush_commands();
	empty_loops(2);
	EXPECT(unit_get(WAIT_LOOPS_3), 2);
	EXPECT(unit_get(WAIT_LOOPS_2), 2);
	load_begin(B, PAGE_UNITS, unit_at(WAIT_LOOPS_1), 8);
	load_begin(C, PAGE_UNITS, unit_at(WAIT_LOOPS_0), 8);
	EXPECT_TRUE(still_waits(B));
	EXPECT_TRUE(still_waits(C));
	EXPECT_TRUE(finish(B) <= 1);
	EXPECT(finish(C), 0);
	EXPECT(unit_get(WAIT_LOOPS_0), 0);
}

CASE(convolutions_are_loops, EITHER)
{
	use_unit(0);
	occupy_unit();
	flush_commands();
	store(A, PAGE_UNITS, unit_at(INSTRUCTION), 4, WORD(LOOP_CONV_WS));
	EXPECT(unit_get(LOOPS), 1);
	COMPLETE();
	EXPECT(unit_get(LOOPS), 0);
}

/* A program that polls, as the authors' kernels do. */
CASE(busy_and_loops_become_0_while_a_program_polls, EITHER)
{
	unsigned int polls = 0;

	use_unit(0);
	config_ld(0, 64, 1, false);
	mvin(input_at(0), 0, 8, 8);
	flush_commands();
	empty_loops(1);
	while (unit_get(LOOPS) || unit_get(BUSY)) {
		let_time_pass(1);
		EXPECT_TRUE(++polls < 5000);
	}
	EXPECT(unit_get(COMPLETED), 3);
	EXPECT_TRUE(unit_count(COUNT_POLLS) >= 2);
}

/* --- threads that end -------------------------------------------------------------------------------- */

CASE(commands_that_a_thread_queued_are_done_after_its_end, EITHER)
{
	use_unit(0);
	fill_elements(input_at(0), 64);
	as_thread(B);
	config_ld(0, 64, 1, false);
	mvin(input_at(0), 3, 1, unit.dim);
	flush_commands();
	as_thread(A);
	end_thread(B);
	COMPLETE();
	EXPECT_SAME(shared_row(3), input_at(0), 32);
}
