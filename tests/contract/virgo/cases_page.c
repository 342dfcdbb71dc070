/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The registers: identity, the two ways to queue a command, sizes, illegal accesses, reset. */
#include <string.h>

#include "tests/contract/virgo/contract.h"

#define NO_COMMAND 99u	/* a funct that is none: RS1 and RS2 are then seen in the error's registers */

static void queue_word(uint32_t word)
{
	store(A, PAGE_UNITS, unit_at(INSTRUCTION), 4, word);
}

CASE(the_cluster_says_what_it_is, EITHER)
{
	uint64_t identify = cluster_get(CLUSTER_IDENTIFY);

	EXPECT(identify >> 32, 0x5652474f);
	EXPECT(identify >> 24 & 0xff, 1);
	EXPECT(identify >> 16 & 0xff, BARRIERS);
	EXPECT(identify >> 8 & 0xff, CORES);
	EXPECT(identify & 0xff, UNITS);
	EXPECT(cluster_get(SHARED_SIZE), SHARED_BYTES);
}

CASE(each_unit_says_what_it_is, EITHER)
{
	FOR_EACH_UNIT {
		uint64_t identify = unit_get(IDENTIFY);

		EXPECT(identify & 0xff, unit.dim);
		EXPECT(identify >> 8 & 0xff, unit.type);
		EXPECT(identify >> 16 & 0xff, unit.number);
		EXPECT(identify >> 32, ACCUMULATOR_BYTES >> 10);
		EXPECT(QUEUE_SIZE(unit_get(STATUS)), QUEUE_ENTRIES);
	}
}

CASE(rs1_and_rs2_are_stored_whole_or_by_halves, EITHER)
{
	use_unit(1);
	store(A, PAGE_UNITS, unit_at(RS1), 4, 0x11111111);
	store(A, PAGE_UNITS, unit_at(RS1) + 4, 4, 0x22222222);
	unit_put(RS2, 0x3333333344444444);
	store(A, PAGE_UNITS, unit_at(RS2) + 4, 4, 0x55555555);
	queue_word(WORD(NO_COMMAND));
	EXPECT_ERROR(BAD_COMMAND, WORD(NO_COMMAND), 0, NO_COMMAND, 0x2222222211111111, 0x5555555544444444);
	/* they stay: the next word has them again, but for the half that changes */
	store(A, PAGE_UNITS, unit_at(RS2), 4, 0x66666666);
	queue_word(WORD(NO_COMMAND));
	EXPECT_ERROR(BAD_COMMAND, WORD(NO_COMMAND), 1, NO_COMMAND, 0x2222222211111111, 0x5555555566666666);
}

CASE(a_word_takes_rs1_and_rs2_as_they_are_then, EITHER)
{
	FOR_EACH_UNIT {
		size_t row_bytes = (size_t)unit.dim * unit.size;

		fill_elements(input_at(0), 256);
		config_ld(0, 64, 1, false);
		COMPLETE();
		unit_put(RS1, address_of(input_at(0)));
		unit_put(RS2, pack(1, unit.dim, 5));
		queue_word(WORD(MVIN));
		unit_put(RS1, address_of(input_at(64)));
		unit_put(RS2, pack(1, unit.dim, 6));
		queue_word(WORD(MVIN));
		unit_put(RS1, 0);
		COMPLETE();
		EXPECT_SAME(shared_row(5), input_at(0), row_bytes);
		EXPECT_SAME(shared_row(6), input_at(64), row_bytes);
	}
}

/* Gemmini's macro has rd, func3, rs1, rs2 in these bits. */
CASE(bits_of_the_word_beside_opcode_and_funct_mean_nothing, EITHER)
{
	use_unit(0);
	fill_elements(input_at(0), 64);
	config_ld(0, 64, 1, false);
	COMPLETE();
	unit_put(RS1, address_of(input_at(0)));
	unit_put(RS2, pack(1, unit.dim, 5));
	queue_word((uint32_t)MVIN << 25 | 0x01ffff80 | 0x7b);
	COMPLETE();
	EXPECT_SAME(shared_row(5), input_at(0), 32);
}

/* --- STREAM ---------------------------------------------------------------------------------- */

CASE(three_stores_to_stream_are_a_command, EITHER)
{
	FOR_EACH_UNIT {
		uint64_t words[6] = { 0x111, 0x222, WORD(CLOCK_GATE), 0x333, 0x444, WORD(NO_COMMAND) };

		post_to_page(A, PAGE_UNITS, unit_at(STREAM), words, 6);
		finish_post(A, 6);
		EXPECT_ERROR(BAD_COMMAND, WORD(NO_COMMAND), 1, NO_COMMAND, 0x333, 0x444);
	}
}

CASE(stream_leaves_rs1_and_rs2_alone, EITHER)
{
	use_unit(2);
	unit_put(RS1, 0x111);
	unit_put(RS2, 0x222);
	unit_put(STREAM, 0x333);
	unit_put(STREAM, 0x444);
	queue_word(WORD(NO_COMMAND));
	EXPECT_ERROR(BAD_COMMAND, WORD(NO_COMMAND), 0, NO_COMMAND, 0x111, 0x222);
	/* and the other way round: the triple goes on */
	unit_put(STREAM, WORD(NO_COMMAND));
	EXPECT_ERROR(BAD_COMMAND, WORD(NO_COMMAND), 1, NO_COMMAND, 0x333, 0x444);
}

CASE(each_unit_has_a_stream_of_its_own, EITHER)
{
	for (unsigned int i = 0; i < UNITS; i++)
		use_unit(i);
	for (unsigned int word = 0; word < 3; word++)
		for (unsigned int i = 0; i < UNITS; i++) {
			turn_to_unit(i);
			unit_put(STREAM, word == 2 ? WORD(NO_COMMAND) : 0x100 * i + word);
		}
	for (unsigned int i = 0; i < UNITS; i++) {
		turn_to_unit(i);
		EXPECT_ERROR(BAD_COMMAND, WORD(NO_COMMAND), 0, NO_COMMAND, 0x100 * i, 0x100 * i + 1);
	}
}

CASE(a_reset_starts_a_triple_of_stream_anew, EITHER)
{
	use_unit(0);
	unit_put(STREAM, 1);
	unit_put(STREAM, 2);
	unit_put(RESET, 0);
	unit_put(STREAM, 3);
	unit_put(STREAM, 4);
	unit_put(STREAM, WORD(NO_COMMAND));
	EXPECT_ERROR(BAD_COMMAND, WORD(NO_COMMAND), 0, NO_COMMAND, 3, 4);
}

/* --- sizes of accesses ------------------------------------------------------------------------- */

CASE(registers_can_be_loaded_by_halves, EITHER)
{
	uint64_t identify = cluster_get(CLUSTER_IDENTIFY);

	EXPECT(load(A, PAGE_CLUSTER, CLUSTER_IDENTIFY, 4), identify & 0xffffffff);
	EXPECT(load(A, PAGE_CLUSTER, CLUSTER_IDENTIFY + 4, 4), identify >> 32);
	use_unit(2);
	identify = unit_get(IDENTIFY);
	EXPECT(load(A, PAGE_UNITS, unit_at(IDENTIFY), 4), identify & 0xffffffff);
	EXPECT(load(A, PAGE_UNITS, unit_at(IDENTIFY) + 4, 4), identify >> 32);
	EXPECT(load(A, PAGE_UNITS, unit_at(BUSY), 4), 0);
	EXPECT(load(A, PAGE_UNITS, unit_at(LOOPS), 4), 0);
	EXPECT(load(A, PAGE_UNITS, unit_at(FENCE), 4) & IS_BUSY, 0);
}

CASE(a_store_of_the_low_half_makes_the_rest_0, EITHER)
{
	use_unit(0);
	unit_put(CISC_TILE, 0x000300020001);
	EXPECT(unit_get(CISC_TILE), 0x000300020001);
	store(A, PAGE_UNITS, unit_at(CISC_TILE), 4, 0x00050004);
	EXPECT(unit_get(CISC_TILE), 0x00050004);
}

struct illegal {
	unsigned int page, offset, size;
	bool is_write;
};

/* Reads 0, changes nothing, and is counted: a unit's in the unit, all in the cluster's sum. */
CASE(any_other_access_is_illegal, EITHER)
{
	static const struct illegal accesses[] = {
		{ PAGE_UNITS, INSTRUCTION, 4, false }, { PAGE_UNITS, RS1, 8, false },
		{ PAGE_UNITS, RS2, 8, false }, { PAGE_UNITS, CISC, 8, false },
		{ PAGE_UNITS, RESET, 8, false }, { PAGE_UNITS, STREAM, 8, false },
		{ PAGE_UNITS, 0x08, 8, false }, { PAGE_UNITS, 0xe8, 8, false }, { PAGE_UNITS, 0xf8, 8, false },
		{ PAGE_UNITS, IDENTIFY, 1, false }, { PAGE_UNITS, IDENTIFY, 2, false },
		{ PAGE_UNITS, INSTRUCTION, 8, true }, { PAGE_UNITS, INSTRUCTION, 2, true },
		{ PAGE_UNITS, INSTRUCTION + 4, 4, true }, { PAGE_UNITS, RS1, 2, true },
		{ PAGE_UNITS, BUSY, 8, true }, { PAGE_UNITS, LOOPS, 8, true }, { PAGE_UNITS, STATUS, 8, true },
		{ PAGE_UNITS, IDENTIFY, 8, true }, { PAGE_UNITS, FENCE, 8, true },
		{ PAGE_UNITS, WAIT_LOOPS_0, 8, true }, { PAGE_UNITS, COMPLETED, 8, true },
		{ PAGE_UNITS, COUNTER_VALUE, 8, true }, { PAGE_UNITS, CISC_TILE + 4, 4, true },
		{ PAGE_UNITS, STREAM, 4, true }, { PAGE_UNITS, 0xf0, 8, true },
		{ PAGE_CLUSTER, CLUSTER_IDENTIFY, 8, true }, { PAGE_CLUSTER, RESOLVE, 8, false },
		{ PAGE_CLUSTER, FLUSH_ALL, 8, false }, { PAGE_CLUSTER, 0x040, 8, false },
		{ PAGE_CLUSTER, 0x7f8, 8, false }, { PAGE_CLUSTER, BARRIER_WAIT, 8, true },
		{ PAGE_CLUSTER, BARRIER_STATUS, 8, true }, { PAGE_CLUSTER, COUNTERS, 8, true },
		{ PAGE_CLUSTER, COUNTERS + 8 * COUNTS, 8, false }, { PAGE_CLUSTER, SHARED_SIZE, 2, false },
		{ PAGE_UNITS, 0x400 + BUSY, 8, false }, { PAGE_UNITS, 0xf00 + RS1, 8, true },
	};
	const unsigned int count = sizeof(accesses) / sizeof(accesses[0]);
	unsigned int of_unit = 0;

	use_unit(0);
	for (unsigned int i = 0; i < count; i++) {
		const struct illegal *access = &accesses[i];

		of_unit += access->page == PAGE_UNITS && access->offset < 0x100;
		if (access->is_write)
			store(A, access->page, access->offset, access->size, ~0ull);
		else
			EXPECT(load(A, access->page, access->offset, access->size), 0);
	}
	EXPECT(unit_count(COUNT_ILLEGAL), of_unit);
	EXPECT(cluster_count(COUNT_ILLEGAL), count);
	EXPECT(unit_get(DISPATCHED), 0);
	EXPECT(unit_get(ERROR), NO_ERROR);
}

CASE(values_that_a_register_cannot_hold_are_illegal, EITHER)
{
	use_unit(0);
	unit_put(CISC_GENERATION, 2);
	EXPECT(unit_get(CISC_GENERATION), profile_is(BY_REGISTERS));
	unit_put(COUNTER_SELECT, COUNTS);
	EXPECT(unit_get(COUNTER_SELECT), 0);
	cluster_put(PARTICIPANTS, 256);
	EXPECT(cluster_get(PARTICIPANTS), 0);
	cluster_put(RESOLVE, UNITS);
	EXPECT(cluster_count(COUNT_ILLEGAL), 4);
}

/* --- reset ---------------------------------------------------------------------------------------- */

CASE(registers_begin_with_their_values_of_reset, EITHER)
{
	FOR_EACH_UNIT {
		uint64_t tile = 64 / unit.dim;

		EXPECT(unit_get(BUSY), 0);
		EXPECT(unit_get(LOOPS), 0);
		EXPECT(unit_get(STATUS), QUEUE_ENTRIES << 16);
		EXPECT(unit_get(CISC_GENERATION), profile_is(BY_REGISTERS));
		EXPECT(unit_get(CISC_TILE), tile << 32 | tile << 16 | tile);
		EXPECT(unit_get(ERROR), NO_ERROR);
		EXPECT(unit_get(DISPATCHED), 0);
		EXPECT(unit_get(COMPLETED), 0);
		EXPECT(unit_get(COUNTER_RESULT), 0);
	}
	for (unsigned int i = 0; i < BARRIERS; i++) {
		EXPECT(cluster_get(PARTICIPANTS + 8 * i), 0);
		EXPECT(cluster_get(BARRIER_STATUS + 8 * i), 0);
	}
	EXPECT(cluster_get(EVENT_STATUS), 0);
	EXPECT(cluster_get(EVENT_ENABLE), 0);
	EXPECT(cluster_get(FAULT_STATUS), 0);
	EXPECT(cluster_get(FAULT_COUNT), 0);
}

CASE(a_reset_forgets_configuration_array_and_accumulator, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int number = unit.number;

		fill_unit();
		config_ex(OUTPUT_STATIONARY, RELU, 5, true, true);
		config_ld(0, 1, 3, true);
		config_st(1, RELU, 3);
		rocc(PRELOAD, pack(unit.dim, unit.dim, 3), pack(unit.dim, unit.dim, 5));
		rocc(COMPUTE_PRELOADED, pack(unit.dim, unit.dim, 9), pack(unit.dim, unit.dim, 60));
		COMPLETE();
		/* the reference is a new one */
		use_unit(number);
		rocc(COMPUTE_ACCUMULATED, pack(unit.dim, unit.dim, 9), pack(unit.dim, unit.dim, 60));
		mvin(input_at(0), 300, 3, unit.dim);
		rocc(PRELOAD, pack(unit.dim, unit.dim, 3), pack(unit.dim, unit.dim, ACC | 5));
		rocc(COMPUTE_PRELOADED, pack(unit.dim, unit.dim, 9), pack(unit.dim, unit.dim, GARBAGE));
		CHECK();
	}
}

CASE(a_reset_clears_the_error_and_numbers_but_not_the_counters, EITHER)
{
	FOR_EACH_UNIT {
		rocc(NO_COMMAND, 1, 2);
		wait_for_unit();
		EXPECT(unit_get(ERROR), BAD_COMMAND);
		unit_put(CISC_TILE, 7);
		unit_put(RESET, 0);
		EXPECT(unit_get(ERROR), NO_ERROR);
		EXPECT(unit_get(DISPATCHED), 0);
		EXPECT(unit_get(COMPLETED), 0);
		EXPECT_TRUE(unit_get(CISC_TILE) != 7);
		EXPECT(unit_count(COUNT_ERRORS), 1);
	}
}

CASE(a_reset_of_a_busy_unit_drops_what_it_has_to_do, EITHER)
{
	use_unit(0);
	occupy_unit();
	unit_put(RESET, 0);
	EXPECT(wait_for_unit() & (IS_BUSY | HAS_ERROR), 0);
	EXPECT(unit_get(BUSY), 0);
	EXPECT(unit_get(LOOPS), 0);
	EXPECT(unit_get(COMPLETED), unit_get(DISPATCHED));
	config_ld(0, 64, 1, false);
	mvin(input_at(0), 0, 1, 1);
	COMPLETE();
}

CASE(a_reset_leaves_other_units_and_the_shared_memory_alone, EITHER)
{
	use_unit(0);
	put_value(input_at(0), 0, 42);
	config_ld(0, 64, 1, false);
	config_st(64, NO_ACTIVATION, 1);
	mvin(input_at(0), ACC, 1, 1);
	COMPLETE();
	memset(shared_memory(), 0x5a, SHARED_BYTES);
	use_unit(1);
	EXPECT(shared_memory()[SHARED_BYTES - 1], 0x5a);
	turn_to_unit(0);
	mvout(output_at(0), ACC | FULL, 1, 1);
	COMPLETE();
	EXPECT_TRUE(value_of(output_at(0), 0) == 42);
}
