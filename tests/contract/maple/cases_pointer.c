/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Contract A5: pointer produce, base registers, double pointers, prefetch. */
#include <string.h>

#include "tests/contract/maple/contract.h"

/* DRAM and LLC differ in the operation code only. */
struct path {
	unsigned int pointer32;
	unsigned int pointer64;
};

static const struct path dram = { POINTER32, POINTER64 };
static const struct path llc = { LLC_POINTER32, LLC_POINTER64 };

/* word i of the arena is 0xc0de0000 + i */
static void fill_arena(void)
{
	uint32_t *words = arena();

	for (unsigned int i = 0; i < 1024; i++)
		words[i] = 0xc0de0000 + i;
}

static uint64_t pair(unsigned int first_word)
{
	return (uint64_t)(0xc0de0000 + first_word + 1) << 32 | (0xc0de0000 + first_word);
}

static void check_absolute(const struct path *path)
{
	fill_arena();
	init_and_open(WORDS_32, 0);
	request(A, path->pointer32, 0, arena_at(40));
	EXPECT(consume32(0), 0xc0de000a);
	request(A, path->pointer64, 0, arena_at(48));
	EXPECT(consume64(0), pair(12));
}

CASE(pointer_without_a_base_is_an_absolute_address, BOTH) { check_absolute(&dram); }
CASE(llc_pointer_without_a_base_is_an_absolute_address, BOTH) { check_absolute(&llc); }

static void check_base32(const struct path *path)
{
	fill_arena();
	init_and_open(WORDS_32, 1);
	request(A, SET_BASE32, 1, arena_at(0));
	request(A, path->pointer32, 1, 7);
	EXPECT(consume32(1), 0xc0de0007);
	request(A, path->pointer32, 1, 0);
	EXPECT(consume32(1), 0xc0de0000);
	/* shift 2 for each width of the load */
	request(A, path->pointer64, 1, 6);
	EXPECT(consume64(1), pair(6));
}

CASE(pointer_counts_4_bytes_after_set_base32, BOTH) { check_base32(&dram); }
CASE(llc_pointer_counts_4_bytes_after_set_base32, BOTH) { check_base32(&llc); }

static void check_base64(const struct path *path)
{
	fill_arena();
	init_and_open(WORDS_32, 2);
	request(A, SET_BASE64, 2, arena_at(0));
	request(A, path->pointer64, 2, 7);
	EXPECT(consume64(2), pair(14));
	request(A, path->pointer32, 2, 9);
	EXPECT(consume32(2), 0xc0de0012);
}

CASE(pointer_counts_8_bytes_after_set_base64, BOTH) { check_base64(&dram); }
CASE(llc_pointer_counts_8_bytes_after_set_base64, BOTH) { check_base64(&llc); }

/* TLOAD64 with base32 and index 5 reads bytes 20 to 27. */
CASE(pointer64_at_4_mod_8_reads_across_the_8_byte_boundary, BOTH)
{
	fill_arena();
	init_and_open(WORDS_32, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	request(A, POINTER64, 0, 5);
	EXPECT(consume64(0), pair(5));
}

/* Where the RTL hangs the paper profile answers. */
CASE(llc_pointer64_at_4_mod_8_answers, PAPER)
{
	fill_arena();
	init_and_open(WORDS_32, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	request(A, LLC_POINTER64, 0, 5);
	EXPECT(consume64(0), pair(5));
}

/*
 * The RTL hangs the queue for good. mimic's artifact profile counts that, shows
 * it in its state, and answers 0 instead of leaving a thread stuck; RESET mends it.
 */
CASE(llc_pointer64_at_4_mod_8_hangs_its_queue_only, ARTIFACT)
{
	fill_arena();
	init_and_open(WORDS_8, 0);
	open_queue(1);
	request(A, SET_BASE32, 0, arena_at(0));
	request(A, LLC_POINTER64, 0, 5);
	EXPECT(consume64(0), 0);
	for (unsigned int i = 0; i < 20; i++)
		produce32(0, i);
	produce32(1, 9);
	EXPECT(consume32(1), 9);
	command(A, RESET, 0);
	init_and_open(WORDS_8, 0);
	expect_empty(0);
}

static void check_double(const struct path *path)
{
	fill_arena();
	init_and_open(WORDS_32, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	request(A, path->pointer32, 0, 20ull << 32 | 30);
	EXPECT(consume32(0), 0xc0de0014);
	EXPECT(consume32(0), 0xc0de001e);
	request(A, path->pointer64, 0, 40ull << 32 | 50);
	EXPECT(consume64(0), pair(40));
	EXPECT(consume64(0), pair(50));
}

CASE(double_pointer_fetches_the_upper_index_first, BOTH) { check_double(&dram); }
CASE(double_llc_pointer_fetches_the_upper_index_first, BOTH) { check_double(&llc); }

CASE(an_absolute_pointer_above_4_gib_is_a_pair, BOTH)
{
	fill_arena();
	init_and_open(WORDS_32, 0);
	request(A, POINTER32, 0, arena_at(8) << 32 | arena_at(4));
	EXPECT(consume32(0), 0xc0de0002);
	EXPECT(consume32(0), 0xc0de0001);
}

CASE(address_bits_1_and_0_are_ignored, BOTH)
{
	fill_arena();
	init_and_open(WORDS_32, 0);
	for (unsigned int low = 0; low < 4; low++) {
		request(A, POINTER32, 0, arena_at(16) + low);
		EXPECT(consume32(0), 0xc0de0004);
		request(A, POINTER64, 0, arena_at(16) + low);
		EXPECT(consume64(0), pair(4));
		request(A, LLC_POINTER32, 0, arena_at(16) + low);
		EXPECT(consume32(0), 0xc0de0004);
	}
}

CASE(a_base_can_lie_above_4_gib, BOTH)
{
	uint32_t *words = map_above_4g();

	words[11] = 0xaaaa5555;
	init_and_open(WORDS_32, 0);
	request(A, SET_BASE32, 0, (uintptr_t)words);
	request(A, POINTER32, 0, 11);
	EXPECT(consume32(0), 0xaaaa5555);
}

/* pointer[39:0] */
CASE(the_artifact_takes_40_bits_of_a_base, ARTIFACT)
{
	fill_arena();
	init_and_open(WORDS_32, 0);
	request(A, SET_BASE32, 0, arena_at(0) | 0xabcdef0000000000);
	request(A, POINTER32, 0, 3);
	EXPECT(consume32(0), 0xc0de0003);
}

CASE(base_0_makes_pointers_absolute_again, BOTH)
{
	fill_arena();
	init_and_open(WORDS_32, 0);
	request(A, SET_BASE64, 0, arena_at(0));
	request(A, SET_BASE64, 0, 0);
	request(A, POINTER32, 0, arena_at(8));
	EXPECT(consume32(0), 0xc0de0002);
}

/* SET_B has no owner check. */
CASE(set_base_is_open_to_everybody, BOTH)
{
	fill_arena();
	init_and_open(WORDS_32, 0);
	request(C, SET_BASE32, 0, arena_at(400));
	request(A, POINTER32, 0, 1);
	EXPECT(consume32(0), 0xc0de0065);
}

CASE(each_queue_has_a_base_of_its_own, BOTH)
{
	fill_arena();
	init(WORDS_32);
	for (unsigned int queue = 0; queue < 4; queue++) {
		open_queue(queue);
		request(A, SET_BASE32, queue, arena_at(100 * queue));
	}
	for (unsigned int queue = 0; queue < 4; queue++)
		request(A, POINTER32, queue, 1);
	for (unsigned int queue = 0; queue < 4; queue++)
		EXPECT(consume32(queue), 0xc0de0001 + 25 * queue);
}

CASE(set_base_applies_to_pointers_stored_after_it, BOTH)
{
	fill_arena();
	init_and_open(WORDS_32, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	request(A, POINTER32, 0, 1);
	request(A, SET_BASE32, 0, arena_at(400));
	request(A, POINTER32, 0, 1);
	EXPECT(consume32(0), 0xc0de0001);
	EXPECT(consume32(0), 0xc0de0065);
}

CASE(pointers_and_data_keep_program_order, BOTH)
{
	fill_arena();
	init_and_open(WORDS_32, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	produce32(0, 1);
	request(A, POINTER32, 0, 9);
	produce64(0, 0x0000000300000002);
	request(A, LLC_POINTER64, 0, 10);
	produce32(0, 4);
	EXPECT(consume32(0), 1);
	EXPECT(consume32(0), 0xc0de0009);
	EXPECT(consume64(0), 0x0000000300000002);
	EXPECT(consume64(0), pair(10));
	EXPECT(consume32(0), 4);
}

CASE(a_pointer_waits_while_the_queue_is_full, BOTH)
{
	fill_arena();
	init_and_open(WORDS_8, 0);
	for (unsigned int i = 0; i < 8; i++)
		produce32(0, i);
	store_begin(A, PAGE_MAPLE, AT(POINTER32, 0), 8, arena_at(4));
	EXPECT_TRUE(store_still_waits(A));
	for (unsigned int i = 0; i < 8; i++)
		EXPECT(consume32(0), i);
	finish_store(A);
	EXPECT(consume32(0), 0xc0de0001);
}

CASE(a_pointer64_waits_for_two_free_words, BOTH)
{
	fill_arena();
	init_and_open(WORDS_8, 0);
	for (unsigned int i = 0; i < 7; i++)
		produce32(0, i);
	store_begin(A, PAGE_MAPLE, AT(POINTER64, 0), 8, arena_at(8));
	EXPECT_TRUE(store_still_waits(A));
	for (unsigned int i = 0; i < 7; i++)
		EXPECT(consume32(0), i);
	finish_store(A);
	EXPECT(consume64(0), pair(2));
}

/* Two requests, one acknowledge: it comes when both have their slots. */
CASE(a_double_pointer64_is_acknowledged_when_both_have_slots, BOTH)
{
	fill_arena();
	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	for (unsigned int i = 0; i < 6; i++)
		produce32(0, i);
	store_begin(A, PAGE_MAPLE, AT(POINTER64, 0), 8, 2ull << 32 | 4);
	EXPECT_TRUE(store_still_waits(A));
	for (unsigned int i = 0; i < 6; i++)
		EXPECT(consume32(0), i);
	finish_store(A);
	EXPECT(consume64(0), pair(2));
	EXPECT(consume64(0), pair(4));
}

CASE(a_pointer_of_a_non_producer_is_dropped, BOTH)
{
	fill_arena();
	init_and_open(WORDS_8, 0);
	request(C, POINTER32, 0, arena_at(0));
	request(B, POINTER64, 0, arena_at(0));
	request(B, LLC_POINTER32, 0, arena_at(0));
	request(C, LLC_POINTER64, 0, arena_at(0));
	expect_empty(0);
}

CASE(a_pointer_sees_what_the_program_wrote_before, BOTH)
{
	uint32_t *words = arena();

	init_and_open(WORDS_8, 0);
	for (unsigned int i = 0; i < 50; i++) {
		words[i % 3] = 900 + i;
		request(A, LLC_POINTER32, 0, arena_at(4 * (i % 3)));
		EXPECT(consume32(0), 900 + i);
	}
}

CASE(many_scattered_pointers_give_what_the_memory_holds, BOTH)
{
	fill_arena();
	init_and_open(WORDS_32, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	for (unsigned int round = 0; round < 8; round++) {
		for (unsigned int i = 0; i < 32; i++)
			request(A, POINTER32, 0, (i * 389 + round * 97) % 1024);
		for (unsigned int i = 0; i < 32; i++)
			EXPECT(consume32(0), 0xc0de0000 + (i * 389 + round * 97) % 1024);
	}
}

CASE(prefetch_takes_no_slot, BOTH)
{
	fill_arena();
	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	for (unsigned int i = 0; i < 20; i++)
		request(A, PREFETCH, 0, i);
	for (unsigned int i = 0; i < 8; i++)
		produce32(0, i);
	for (unsigned int i = 0; i < 8; i++)
		EXPECT(consume32(0), i);
}

/* "PREFETCH also blocks while the queue is full, and needs two free words." */
CASE(prefetch_of_the_artifact_waits_for_two_free_words, ARTIFACT)
{
	init_and_open(WORDS_8, 0);
	for (unsigned int i = 0; i < 7; i++)
		produce32(0, i);
	store_begin(A, PAGE_MAPLE, AT(PREFETCH, 0), 8, arena_at(0));
	EXPECT_TRUE(still_waits(A));
	EXPECT(consume32(0), 0);
	finish(A);
}

CASE(prefetch_of_the_paper_never_waits, PAPER)
{
	init_and_open(WORDS_8, 0);
	for (unsigned int i = 0; i < 8; i++)
		produce32(0, i);
	request(A, PREFETCH, 0, arena_at(0));
	for (unsigned int i = 0; i < 8; i++)
		EXPECT(consume32(0), i);
}

CASE(prefetch_of_an_unmapped_address_hurts_nobody, BOTH)
{
	init_and_open(WORDS_8, 0);
	request(A, PREFETCH, 0, unmapped_page());
	expect_empty(0);
}
