/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Contract A6: the nine atomics and compare-and-swap in its two forms. */
#include "tests/contract/maple/contract.h"

struct atomic_step {
	uint32_t memory;
	uint32_t operand;
	uint32_t result;
};

#define INDEX 5u

static void check_steps(unsigned int operation, const struct atomic_step *steps, unsigned int count)
{
	uint32_t *words = arena();

	init_and_open(WORDS_8, 1);
	request(A, SET_BASE32, 1, arena_at(0));
	for (unsigned int i = 0; i < count; i++) {
		words[INDEX - 1] = 0x01010101;
		words[INDEX] = steps[i].memory;
		words[INDEX + 1] = 0x02020202;
		request(A, operation, 1, (uint64_t)INDEX << 32 | steps[i].operand);
		EXPECT(consume32(1), steps[i].memory);
		EXPECT(words[INDEX], steps[i].result);
		EXPECT(words[INDEX - 1], 0x01010101);
		EXPECT(words[INDEX + 1], 0x02020202);
	}
}

#define ATOMIC_CASE(name, operation, ...) \
	CASE(name, BOTH) \
	{ \
		static const struct atomic_step steps[] = { __VA_ARGS__ }; \
		check_steps(operation, steps, sizeof(steps) / sizeof(steps[0])); \
	}

ATOMIC_CASE(atomic_add_pushes_the_old_value_and_adds, ATOMIC_ADD,
	    { 10, 5, 15 }, { 0xffffffff, 1, 0 }, { 7, 0xffffffff, 6 })
ATOMIC_CASE(atomic_and_pushes_the_old_value_and_masks, ATOMIC_AND,
	    { 0xff00ff00, 0x0ff00ff0, 0x0f000f00 }, { 0x1234, 0, 0 })
ATOMIC_CASE(atomic_or_pushes_the_old_value_and_sets_bits, ATOMIC_OR,
	    { 0xff00ff00, 0x0ff00ff0, 0xfff0fff0 }, { 0, 0x80000001, 0x80000001 })
ATOMIC_CASE(atomic_xor_pushes_the_old_value_and_flips_bits, ATOMIC_XOR,
	    { 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0 }, { 5, 5, 0 })
ATOMIC_CASE(atomic_max_is_signed, ATOMIC_MAX,
	    { 5, 0xfffffff0, 5 }, { 0xfffffff0, 5, 5 }, { 7, 9, 9 }, { 0xfffffff0, 0xfffffffe, 0xfffffffe })
ATOMIC_CASE(atomic_maxu_is_unsigned, ATOMIC_MAXU,
	    { 5, 0xfffffff0, 0xfffffff0 }, { 0xfffffff0, 5, 0xfffffff0 }, { 7, 9, 9 })
ATOMIC_CASE(atomic_min_is_signed, ATOMIC_MIN,
	    { 5, 0xfffffff0, 0xfffffff0 }, { 0xfffffff0, 5, 0xfffffff0 }, { 7, 9, 7 })
ATOMIC_CASE(atomic_minu_is_unsigned, ATOMIC_MINU,
	    { 5, 0xfffffff0, 5 }, { 0xfffffff0, 5, 5 }, { 7, 9, 7 })
ATOMIC_CASE(atomic_swap_pushes_the_old_value_and_stores_the_new, ATOMIC_SWAP,
	    { 0x11111111, 0x22222222, 0x22222222 }, { 3, 0, 0 })

CASE(an_atomic_counts_8_bytes_after_set_base64, BOTH)
{
	uint32_t *words = arena();

	words[6] = 60;
	init_and_open(WORDS_8, 0);
	request(A, SET_BASE64, 0, arena_at(0));
	request(A, ATOMIC_ADD, 0, 3ull << 32 | 1);
	EXPECT(consume32(0), 60);
	EXPECT(words[6], 61);
}

CASE(an_atomic_without_a_base_takes_an_absolute_32_bit_pointer, BOTH)
{
	uint32_t *words = arena();

	words[2] = 20;
	init_and_open(WORDS_8, 0);
	request(A, ATOMIC_ADD, 0, arena_at(8) << 32 | 22);
	EXPECT(consume32(0), 20);
	EXPECT(words[2], 42);
}

CASE(an_atomic_pushes_one_word, BOTH)
{
	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	for (unsigned int i = 0; i < 8; i++)
		request(A, ATOMIC_ADD, 0, 0ull << 32 | 1);
	for (unsigned int i = 0; i < 8; i++)
		EXPECT(consume32(0), i);
}

CASE(an_atomic_waits_while_the_queue_is_full, BOTH)
{
	volatile uint32_t *words = arena();

	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	for (unsigned int i = 0; i < 8; i++)
		produce32(0, i);
	store_begin(A, PAGE_MAPLE, AT(ATOMIC_ADD, 0), 8, 1ull << 32 | 1);
	EXPECT_TRUE(store_still_waits(A));
	EXPECT(words[1], 0);
	EXPECT(consume32(0), 0);
	finish_store(A);
	for (unsigned int i = 1; i < 8; i++)
		EXPECT(consume32(0), i);
	EXPECT(consume32(0), 0);
	EXPECT(words[1], 1);
}

CASE(an_atomic_of_a_non_producer_changes_nothing, BOTH)
{
	uint32_t *words = arena();

	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	for (unsigned int operation = ATOMIC_ADD; operation <= CAS2; operation++) {
		request(B, operation, 0, 0ull << 32 | 3);
		request(C, operation, 0, 0ull << 32 | 3);
	}
	EXPECT(words[0], 0);
	expect_empty(0);
}

CASE(cas2_alone_compares_and_swaps_16_bit_values, BOTH)
{
	uint32_t *words = arena();

	words[4] = 0x1234;
	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	request(A, CAS2, 0, 4ull << 32 | 0x5678 << 16 | 0x1234);
	EXPECT(consume32(0), 0x1234);
	EXPECT(words[4], 0x5678);
}

CASE(cas2_leaves_memory_alone_where_the_expected_value_is_not_there, BOTH)
{
	uint32_t *words = arena();

	words[4] = 0x1235;
	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	request(A, CAS2, 0, 4ull << 32 | 0x5678 << 16 | 0x1234);
	EXPECT(consume32(0), 0x1235);
	EXPECT(words[4], 0x1235);
}

CASE(cas2_extends_the_sign_of_its_16_bit_values, BOTH)
{
	uint32_t *words = arena();

	words[4] = 0xfffffffe;
	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	request(A, CAS2, 0, 4ull << 32 | 0x8000ull << 16 | 0xfffe);
	EXPECT(consume32(0), 0xfffffffe);
	EXPECT(words[4], 0xffff8000);
}

CASE(cas2_after_cas1_takes_its_32_bit_values, BOTH)
{
	uint32_t *words = arena();

	words[4] = 0x12345678;
	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	request(A, CAS1, 0, 0x9abcdef0ull << 32 | 0x12345678);
	request(A, CAS2, 0, 4ull << 32 | 0x11112222);
	EXPECT(consume32(0), 0x12345678);
	EXPECT(words[4], 0x9abcdef0);
}

CASE(cas1_serves_one_cas2_only, BOTH)
{
	uint32_t *words = arena();

	words[4] = 0x70000;
	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	request(A, CAS1, 0, 9ull << 32 | 0x70000);
	request(A, CAS2, 0, 4ull << 32);
	EXPECT(consume32(0), 0x70000);
	EXPECT(words[4], 9);
	request(A, CAS2, 0, 4ull << 32 | 5 << 16 | 9);
	EXPECT(consume32(0), 9);
	EXPECT(words[4], 5);
}

CASE(cas1_is_forgotten_after_another_operation_of_the_queue, BOTH)
{
	uint32_t *words = arena();

	words[4] = 7;
	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	request(A, CAS1, 0, 9ull << 32 | 7);
	produce32(0, 1);
	request(A, CAS2, 0, 4ull << 32 | 5 << 16 | 7);
	EXPECT(consume32(0), 1);
	EXPECT(consume32(0), 7);
	EXPECT(words[4], 5);
}

CASE(cas1_of_one_queue_does_not_serve_another, BOTH)
{
	uint32_t *words = arena();

	words[4] = 7;
	init_and_open(WORDS_8, 0);
	open_queue(1);
	request(A, SET_BASE32, 1, arena_at(0));
	request(A, CAS1, 0, 9ull << 32 | 7);
	request(A, CAS2, 1, 4ull << 32 | 5 << 16 | 7);
	EXPECT(consume32(1), 7);
	EXPECT(words[4], 5);
}

CASE(cas1_takes_no_slot, BOTH)
{
	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	request(A, CAS1, 0, 9ull << 32 | 7);
	expect_empty(0);
}
