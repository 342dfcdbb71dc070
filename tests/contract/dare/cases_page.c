/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The page of a context: status, fence, identity, reset, and accesses that are illegal. */
#include "tests/contract/dare/bus_timed.h"
#include "tests/contract/dare/contract.h"

CASE(identify_says_what_device_and_which_context_this_is, EITHER)
{
	uint64_t identity = get(IDENTIFY);

	EXPECT(identity >> 32, 0x44415245);	/* "DARE" */
	EXPECT(identity >> 24 & 0xff, 1);
	EXPECT(identity >> 8 & 0xffff, 0);
	EXPECT_TRUE((identity & 0xff) < 15);
	as(B);
	EXPECT(get(IDENTIFY), identity);
	as(C);
	EXPECT(get(IDENTIFY) >> 8, identity >> 8);
	/* In virtual time C's context is the first one of another DARE. */
	EXPECT_TRUE((get(IDENTIFY) == identity) == dare_bus_is_timed());
}

CASE(an_idle_context_has_32_free_entries_and_nothing_to_do, EITHER)
{
	EXPECT(get(STATUS), 32u << 16);
	EXPECT(get(FENCE), 32u << 16);
	mcfg(CSR_M, 5);
	EXPECT(get(FENCE), 32u << 16);
	EXPECT(get(STATUS), 32u << 16);
}

CASE(a_fence_and_status_show_an_error, EITHER)
{
	issue(0, 0, 0);
	EXPECT(get(FENCE), 32u << 16 | HAS_ERROR);
	EXPECT(get(STATUS), 32u << 16 | HAS_ERROR);
}

CASE(dispatched_and_completed_count_instructions, EITHER)
{
	EXPECT(get(DISPATCHED), 0);
	EXPECT(get(COMPLETED), 0);
	for (unsigned int i = 0; i < 10; i++) {
		mcfg(CSR_M, 3);
		mma(BYTE, 0, 0, 0);
	}
	COMPLETE();
	EXPECT(get(DISPATCHED), 20);
	EXPECT(get(COMPLETED), 20);
	mcfg(CSR_M, 0);
	mcfg(CSR_M, 1);
	fence();
	EXPECT(get(DISPATCHED), 21);
	EXPECT(get(COMPLETED), 20);
}

CASE(reset_puts_everything_back_as_after_power_on, EITHER)
{
	struct tile tile, zero = { 0 };

	fill(&tile, sizeof(tile), 1);
	for (unsigned int i = 0; i < REGISTERS; i++)
		set_register(i, &tile);
	shape(3, 4, 5);
	put(RS1, 7);
	put(RS2, 8);
	mma(BYTE, 0, 1, 2);
	COMPLETE();
	put(RESET, 0);
	EXPECT(get(MATRIX_M), 16);
	EXPECT(get(MATRIX_K), 64);
	EXPECT(get(MATRIX_N), 16);
	EXPECT(get(RS1), 0);
	EXPECT(get(RS2), 0);
	EXPECT(get(DISPATCHED), 0);
	EXPECT(get(COMPLETED), 0);
	EXPECT(get(STATUS), 32u << 16);
	for (unsigned int i = 0; i < REGISTERS; i++)
		EXPECT_REGISTER(i, &zero);
}

CASE(any_value_resets, EITHER)
{
	static const uint64_t values[] = { 0, 1, UINT64_MAX };

	for (unsigned int i = 0; i < 3; i++) {
		mcfg(CSR_M, 4);
		put(RESET, values[i]);
		EXPECT(get(MATRIX_M), 16);
	}
}

CASE(counters_stay_over_a_reset, EITHER)
{
	uint64_t mcfgs;

	for (unsigned int i = 0; i < 12; i++)
		mcfg(CSR_M, 4);
	issue(0, 0, 0);
	fence();
	mcfgs = get(COUNT_MCFG);
	EXPECT(mcfgs, 12);
	put(RESET, 0);
	EXPECT(get(COUNT_MCFG), 12);
	EXPECT(get(ERRORS), 1);
	EXPECT(get(COUNT_INSTRUCTIONS), 12);
}

/* RESET clears the sources of an mma, too, also in an implementation that caches them. */
CASE(an_mma_after_a_reset_multiplies_zeros, EITHER)
{
	struct tile tile, zero = { 0 };

	fill(&tile, sizeof(tile), 2);
	set_register(0, &tile);
	set_register(1, &tile);
	mma(BYTE, 2, 0, 1);
	COMPLETE();
	put(RESET, 0);
	set_register(0, &tile);
	mma(BYTE, 2, 0, 1);
	EXPECT_REGISTER(2, &zero);
}

/* --- illegal accesses ---------------------------------------------------------------------- */

static bool can_be_loaded(unsigned int offset)
{
	if (offset == INSTRUCTION || offset == STREAM || offset == RESET)
		return false;
	return offset % 8 == 0 && (offset <= IDENTIFY || (offset >= COUNT_INSTRUCTIONS && offset < AFTER_COUNTERS));
}

static bool can_be_stored(unsigned int offset)
{
	return offset == RS1 || offset == RS2 || offset == INSTRUCTION || offset == STREAM ||
	       offset == ERROR || offset == RESET;
}

CASE(a_load_of_4_bytes_gives_the_low_half, EITHER)
{
	put(RS1, 0xfedcba9876543210);
	EXPECT(load(A, 0, RS1, 4), 0x76543210);
	EXPECT(load(A, 0, MATRIX_K, 4), 64);
	EXPECT(load(A, 0, IDENTIFY, 4), get(IDENTIFY) & 0xffffffff);
	EXPECT(load(A, 0, STATUS, 4), 32u << 16);
	EXPECT(load(A, 0, FENCE, 4), 32u << 16);
	EXPECT(get(ILLEGAL_ACCESSES), 0);
}

CASE(a_load_of_4_bytes_in_the_middle_of_a_register_is_illegal, EITHER)
{
	put(RS1, 0xfedcba9876543210);
	put(RS2, 0xfedcba9876543210);
	mcfg(CSR_M, 3);
	mma(WORD, 0, 0, 0);
	COMPLETE();
	for (unsigned int offset = 4; offset < 4096; offset += 8)
		EXPECT(load(A, 0, offset, 4), 0);
	EXPECT(get(ILLEGAL_ACCESSES), 512);
}

CASE(loads_of_1_and_2_bytes_are_illegal, EITHER)
{
	uint64_t count = 0;

	put(RS1, UINT64_MAX);
	put(RS2, UINT64_MAX);
	for (unsigned int size = 1; size <= 2; size++) {
		for (unsigned int offset = 0; offset < 0x100; offset += size) {
			EXPECT(load(A, 0, offset, size), 0);
			count++;
		}
	}
	EXPECT(get(ILLEGAL_ACCESSES), count);
}

CASE(stores_of_less_than_8_bytes_are_illegal, EITHER)
{
	uint64_t count = 0;

	put(RS1, 0x1111111111111111);
	put(RS2, 0x2222222222222222);
	mcfg(CSR_M, 5);
	COMPLETE();
	put(RS1, 0x1111111111111111);
	put(RS2, 0x2222222222222222);
	for (unsigned int size = 1; size <= 4; size *= 2) {
		for (unsigned int offset = 0; offset < 0x100; offset += size) {
			store(A, 0, offset, size, word_mma(WORD, 0, 0, 0));
			count++;
		}
	}
	EXPECT(get(ILLEGAL_ACCESSES), count);
	EXPECT(get(RS1), 0x1111111111111111);
	EXPECT(get(RS2), 0x2222222222222222);
	EXPECT(get(MATRIX_M), 5);
	EXPECT(get(DISPATCHED), 1);
	EXPECT(get(ERROR), NO_ERROR);
	EXPECT(STREAM_MISSING(get(STATUS)), 0);
}

CASE(a_load_of_what_is_no_register_or_write_only_gives_0, EITHER)
{
	uint64_t count = 0;

	for (unsigned int offset = 0; offset < 4096; offset += 8) {
		if (can_be_loaded(offset))
			continue;
		EXPECT(get(offset), 0);
		EXPECT(load(A, 0, offset, 4), 0);
		count += 2;
	}
	EXPECT(get(ILLEGAL_ACCESSES), count);
	EXPECT(get(ERROR), NO_ERROR);
}

CASE(a_store_to_what_is_no_register_or_read_only_is_dropped, EITHER)
{
	uint64_t count = 0, identity = get(IDENTIFY);

	mcfg(CSR_M, 5);
	COMPLETE();
	for (unsigned int offset = 0; offset < 4096; offset += 8) {
		if (can_be_stored(offset))
			continue;
		put(offset, 0x0303030303030303);
		count++;
	}
	EXPECT(get(ILLEGAL_ACCESSES), count);
	EXPECT(get(MATRIX_M), 5);
	EXPECT(get(MATRIX_K), 64);
	EXPECT(get(MATRIX_N), 16);
	EXPECT(get(DISPATCHED), 1);
	EXPECT(get(COMPLETED), 1);
	EXPECT(get(COUNT_MCFG), 1);
	EXPECT(get(ERROR), NO_ERROR);
	EXPECT(get(IDENTIFY), identity);
}

CASE(every_readable_register_can_be_loaded, EITHER)
{
	for (unsigned int offset = 0; offset < 4096; offset += 8)
		if (can_be_loaded(offset))
			get(offset);
	EXPECT(get(ILLEGAL_ACCESSES), 0);
}

CASE(illegal_accesses_do_not_disturb_a_stream, BY_STREAM)
{
	put(STREAM, word_mcfg());
	store(A, 0, STREAM, 4, 1);
	load(A, 0, STREAM, 8);
	put(STREAM, CSR_M);
	store(A, 0, STREAM, 2, 1);
	store(A, 0, 0xff8, 8, 1);
	put(STREAM, 6);
	COMPLETE();
	EXPECT(get(MATRIX_M), 6);
	EXPECT(get(ILLEGAL_ACCESSES), 4);
}
