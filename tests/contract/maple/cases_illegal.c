/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Contract A1: anything illegal is acknowledged and dropped, or answered with 0
 * at once. Every operation code, on every page, at every width, both ways, by a
 * thread that owns nothing.
 */
#include "tests/contract/maple/contract.h"

static const unsigned int sizes[] = { 1, 2, 4, 8 };

#define SIZES 4u

enum expectation { ZERO, ANYTHING, SKIPPED };

/* The answer to a load by a thread without a role, while all words are allocated to queues. */
static enum expectation expected_load(unsigned int page, unsigned int operation)
{
	if (page == PAGE_SPD || page == PAGE_CUSTOM || page == PAGE_NIBBLER)
		return ZERO;
	switch (operation) {
	case RESET:
		return SKIPPED;	/* has a case of its own below */
	case STATISTICS:
	case DEBUG:
		return ANYTHING;
	case IDENTIFY:
	case QUEUE_STATE:
	case FAULT_ADDRESS:
	case FAULT_COUNT:
		return profile_is(PAPER) ? ANYTHING : ZERO;
	case FAULT_STATUS:
		return profile_is(PAPER) && page == PAGE_MMU ? ANYTHING : ZERO;
	default:
		return ZERO;
	}
}

static void open_all(unsigned int count)
{
	init(WORDS_32);
	for (unsigned int queue = 0; queue < count; queue++)
		open_queue(queue);
}

static unsigned int queue_count(void)
{
	return profile_is(PAPER) ? 8 : 4;
}

static void expect_queues_work(void)
{
	for (unsigned int queue = 0; queue < queue_count(); queue++) {
		produce64(queue, 0x0000000500000004 + queue);
		EXPECT(consume64(queue), 0x0000000500000004 + queue);
		expect_empty(queue);
	}
}

/*
 * For i as the two below count. Where sweeps are thinned, every operation is left, on one of the
 * fields with two of the widths.
 */
static bool is_thinned_out(unsigned int i)
{
	return is_left_out(i / SIZES % 64 + i / SIZES / 64 + 8 * (i % 2));
}

static void load_everything(unsigned int page)
{
	for (unsigned int i = 0; i < 512 * SIZES; i++) {
		unsigned int size = sizes[i % SIZES];
		unsigned int operation = i / SIZES % 64;
		unsigned int queue = i / SIZES / 64;
		enum expectation expectation = expected_load(page, operation);
		uint64_t answer;

		if (expectation == SKIPPED || is_thinned_out(i))
			continue;
		answer = load(C, page, AT(operation, queue), size);
		if (expectation == ZERO && answer)
			contract_fail(__FILE__, __LINE__, "load of %u bytes, page %u, operation %u, [11:9] %u gives %#llx",
				      size, page, operation, queue, (unsigned long long)answer);
	}
}

static void store_everything(unsigned int page, uint64_t value)
{
	for (unsigned int i = 0; i < 512 * SIZES; i++)
		if (!is_thinned_out(i))
			store(C, page, AT(i / SIZES % 64, i / SIZES / 64), sizes[i % SIZES], value);
}

static void check_loads(unsigned int page)
{
	open_all(queue_count());
	load_everything(page);
	expect_queues_work();
}

CASE(a_stranger_may_load_anything_from_the_maple_page, BOTH) { check_loads(PAGE_MAPLE); }
CASE(a_stranger_may_load_anything_from_the_spd_page, BOTH) { check_loads(PAGE_SPD); }
CASE(a_stranger_may_load_anything_from_the_mmu_page, BOTH) { check_loads(PAGE_MMU); }
CASE(a_stranger_may_load_anything_from_the_custom_page, BOTH) { check_loads(PAGE_CUSTOM); }
CASE(a_stranger_may_load_anything_from_the_nibbler_page, BOTH) { check_loads(PAGE_NIBBLER); }

static void check_stores(unsigned int page)
{
	static const uint64_t values[] = { 0, 0x123456789abcdef0, 0xffffffffffffffff };

	open_all(queue_count());
	for (unsigned int i = 0; i < 3; i++) {
		store_everything(page, values[i]);
		/* Responses of the custom page, which the artifact mixes into other loads. */
		for (unsigned int k = 0; k < 4; k++)
			load(C, PAGE_CUSTOM, 0, 8);
		expect_queues_work();
	}
}

CASE(a_stranger_may_store_anything_to_the_maple_page, BOTH) { check_stores(PAGE_MAPLE); }
CASE(a_stranger_may_store_anything_to_the_spd_page, BOTH) { check_stores(PAGE_SPD); }
CASE(a_stranger_may_store_anything_to_the_mmu_page, BOTH) { check_stores(PAGE_MMU); }
CASE(a_stranger_may_store_anything_to_the_custom_page, BOTH) { check_stores(PAGE_CUSTOM); }
CASE(a_stranger_may_store_anything_to_the_nibbler_page, BOTH) { check_stores(PAGE_NIBBLER); }

CASE(everything_may_be_done_before_init, BOTH)
{
	for (unsigned int page = 0; page < PAGES; page++)
		store_everything(page, 0x123456789abcdef0);
	for (unsigned int k = 0; k < 4; k++)
		load(C, PAGE_CUSTOM, 0, 8);
	EXPECT(command(C, RESET, 0), 0);
	open_all(queue_count());
	expect_queues_work();
}

CASE(a_stranger_may_reset, BOTH)
{
	for (unsigned int i = 0; i < 8 * SIZES; i++) {
		open_all(4);
		EXPECT(load(C, PAGE_MAPLE, AT(RESET, i / SIZES), sizes[i % SIZES]), 0);
		EXPECT(command(A, OPEN_PRODUCER, 0), 0);
	}
}

static const unsigned int reserved_loads[] = { 8, 10, 11, 14, 15, 20, 31, 32, 48, 58, 63 };
static const unsigned int reserved_stores[] = { 0, 1, 7, 9, 12, 13, 23, 30, 31, 46, 47, 55, 56, 59, 63 };

CASE(an_owner_gets_0_from_operations_that_do_not_exist, BOTH)
{
	open_all(queue_count());
	for (unsigned int i = 0; i < sizeof(reserved_loads) / sizeof(reserved_loads[0]); i++)
		for (unsigned int k = 0; k < SIZES; k++)
			EXPECT(load(B, PAGE_MAPLE, AT(reserved_loads[i], 0), sizes[k]), 0);
	expect_queues_work();
}

CASE(an_owners_stores_to_operations_that_do_not_exist_are_dropped, BOTH)
{
	open_all(queue_count());
	for (unsigned int i = 0; i < sizeof(reserved_stores) / sizeof(reserved_stores[0]); i++)
		for (unsigned int k = 0; k < SIZES; k++)
			store(A, PAGE_MAPLE, AT(reserved_stores[i], 0), sizes[k], 0x1234);
	expect_queues_work();
}
