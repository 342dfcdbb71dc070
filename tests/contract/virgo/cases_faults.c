/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Program memory that is not there. The kernel's driver finds the same: nobody can bring the page. */
#include <string.h>
#include <sys/mman.h>

#include "tests/contract/virgo/contract.h"

#define PAGE 4096u

/* Two pages, and then nothing. */
static uint8_t *cliff(void)
{
	return (uint8_t *)(uintptr_t)unmapped_page();
}

static void configure(void)
{
	config_ld(0, 1024, 1, false);
	config_st(1024, NO_ACTIVATION, 1);
}

static uint64_t page_of(const void *address)
{
	return address_of(address) & ~(uint64_t)(PAGE - 1);
}

CASE(a_load_that_nothing_is_behind_is_an_error, EITHER)
{
	uint8_t *end = cliff();
	unsigned int faults = 0;

	FOR_EACH_UNIT {
		configure();
		EXPECT_BAD(BAD_LOAD, address_of(end), MVIN, address_of(end), pack(1, 1, 0));
		EXPECT_BAD(BAD_LOAD, 16, MVIN, 16, pack(1, 1, 0));
		EXPECT_BAD(BAD_LOAD, address_of(end) + 40, MVIN2, address_of(end) + 40, pack(3, unit.dim, ACC));
		EXPECT(unit_count(COUNT_FAULTS), 3);
		EXPECT(unit_count(COUNT_ERRORS), 3);
		faults += 3;
		EXPECT(cluster_get(FAULT_COUNT), faults);
	}
}

CASE(a_store_that_nothing_is_behind_is_an_error, EITHER)
{
	uint8_t *end = cliff();

	FOR_EACH_UNIT {
		configure();
		EXPECT_BAD(BAD_STORE, address_of(end), MVOUT, address_of(end), pack(1, 1, 0));
		EXPECT_BAD(BAD_STORE, address_of(end), MVOUT, address_of(end), pack(1, 1, ACC | FULL));
		EXPECT(cluster_get(FAULT_STATUS), page_of(end) | 1u << 10 | unit.number);
	}
}

/* The first byte that cannot be reached, in the middle of a row. */
CASE(a_row_that_reaches_over_the_end_fails_at_its_first_missing_byte, EITHER)
{
	uint8_t *end = cliff();

	FOR_EACH_UNIT {
		uint64_t start = address_of(end) - 1024 - 2 * unit.size;

		configure();
		EXPECT_BAD(BAD_LOAD, address_of(end), MVIN, start, pack(2, unit.dim, 0));
		EXPECT(cluster_get(FAULT_STATUS), page_of(end) | unit.number);
		EXPECT_BAD(BAD_STORE, address_of(end), MVOUT, start, pack(2, unit.dim, 0));
	}
}

CASE(rows_before_the_one_that_failed_are_done, EITHER)
{
	uint8_t *end = cliff();

	FOR_EACH_UNIT {
		size_t row_bytes = (size_t)unit.dim * unit.size;
		uint8_t *start = end - 3 * 1024;

		memset(shared_memory(), 0x5a, SHARED_BYTES);
		for (unsigned int i = 0; i < 3 * 1024; i++)
			start[i] = (uint8_t)(i * 7 + 3);
		configure();
		EXPECT_BAD(BAD_LOAD, address_of(end), MVIN, address_of(start), pack(6, unit.dim, 0));
		for (unsigned int row = 0; row < 3; row++)
			EXPECT_SAME(shared_row(row), start + 1024 * row, row_bytes);
		EXPECT(*shared_row(3), 0x5a);
		memset(start, 0, 3 * 1024);
		EXPECT_BAD(BAD_STORE, address_of(end), MVOUT, address_of(start), pack(6, unit.dim, 0));
		for (unsigned int row = 0; row < 3; row++)
			EXPECT_SAME(start + 1024 * row, shared_row(row), row_bytes);
	}
}

CASE(a_loop_that_faults_is_an_error_of_the_loop, EITHER)
{
	uint8_t *end = cliff();

	FOR_EACH_UNIT {
		configure();
		rocc(LOOP_WS_BOUNDS, 0, 1ull << 32 | 1u << 16 | 1);
		rocc(LOOP_WS_STRIDES_AB, 1024 / unit.size, 1024 / unit.size);
		rocc(LOOP_WS_ADDRS_AB, address_of(end - PAGE), address_of(end));
		EXPECT_BAD(BAD_LOAD, address_of(end), LOOP_WS, 0, 0);
		EXPECT(unit_get(LOOPS), 0);
		rocc(LOOP_WS_ADDRS_AB, 0, 0);
		rocc(LOOP_WS_ADDRS_DC, 0, address_of(end));
		EXPECT_BAD(BAD_STORE, address_of(end), LOOP_WS, 0, 0);
	}
}

/* A page that may only be read. */
CASE(a_store_to_a_page_that_is_read_only_is_an_error, EITHER)
{
	uint8_t *page = cliff() - PAGE;

	FOR_EACH_UNIT {
		memset(page, 0x11, 64);
		mprotect(page, PAGE, PROT_READ);
		configure();
		mvin(page, 0, 1, unit.dim);
		COMPLETE();
		EXPECT(*shared_row(0), 0x11);
		EXPECT_BAD(BAD_STORE, address_of(page), MVOUT, address_of(page), pack(1, 1, 5));
		EXPECT(*page, 0x11);
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	}
}

CASE(a_page_that_is_there_again_is_used_again, EITHER)
{
	uint8_t *page = cliff() - PAGE;

	use_unit(2);
	memset(page, 0x11, PAGE);
	configure();
	mvin(page, 0, 1, unit.dim);
	COMPLETE();
	munmap(page, PAGE);
	EXPECT_BAD(BAD_LOAD, address_of(page), MVIN, address_of(page), pack(1, unit.dim, 1));
	if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != page)
		contract_skip("the page cannot be had again");
	memset(page, 0x22, PAGE);
	mvin(page, 2, 1, unit.dim);
	COMPLETE();
	EXPECT(*shared_row(0), 0x11);
	EXPECT(*shared_row(2), 0x22);
}

/* Never touched by the program: it reads as zeros, and can be written. */
CASE(memory_that_was_never_touched_is_there, EITHER)
{
	uint8_t *fresh = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT_TRUE(fresh != MAP_FAILED);
	use_unit(2);
	memset(shared_memory(), 0x5a, 4096);
	config_ld(0, PAGE, 1, false);
	config_st(PAGE, NO_ACTIVATION, 1);
	mvin(fresh, 0, 2, unit.dim);
	mvout(fresh + PAGE + 8, 5, 3, unit.dim);
	COMPLETE();
	EXPECT(*shared_row(0), 0);
	EXPECT(*shared_row(1), 0);
	for (unsigned int i = 0; i < 3; i++)
		EXPECT(fresh[PAGE + 8 + PAGE * i], 0x5a);
	munmap(fresh, 4 * PAGE);
}

CASE(memory_at_any_address_can_be_used, EITHER)
{
	uint8_t *high = map_above_4g();

	FOR_EACH_UNIT {
		size_t row_bytes = (size_t)unit.dim * unit.size;

		for (unsigned int i = 0; i < 256; i++)
			high[i] = (uint8_t)(i + unit.number);
		config_ld(0, 64, 1, false);
		config_st(64, NO_ACTIVATION, 1);
		mvin(high, 3, 4, unit.dim);
		mvout(high + 8192, 3, 4, unit.dim);
		COMPLETE();
		for (unsigned int row = 0; row < 4; row++)
			EXPECT_SAME(high + 8192 + 64 * row, high + 64 * row, row_bytes);
	}
}

/* RESOLVE has no effect if no unit waits. */
CASE(resolve_and_flush_do_no_harm, EITHER)
{
	use_unit(0);
	fill_elements(input_at(0), 64);
	config_ld(0, 64, 1, false);
	cluster_put(RESOLVE, 0);
	cluster_put(RESOLVE, 1u << 8);
	mvin(input_at(0), 3, 1, unit.dim);
	COMPLETE();
	cluster_put(FLUSH_ALL, 0);
	rocc(FLUSH, 0, 0);
	mvin(input_at(0), 4, 1, unit.dim);
	COMPLETE();
	EXPECT_SAME(shared_row(3), input_at(0), 32);
	EXPECT_SAME(shared_row(4), input_at(0), 32);
	EXPECT(unit_count(COUNT_SHOOTDOWNS), 1);
	EXPECT_TRUE(cluster_count(COUNT_SHOOTDOWNS) >= 2);
}
