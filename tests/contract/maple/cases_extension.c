/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Extensions of the paper profile: identification, full pointers, A and B per queue. */
#include "tests/contract/maple/contract.h"

#define B_OFFSET 16384u
#define A2_OFFSET 32768u

static uint64_t loop(unsigned int begin, unsigned int end)
{
	return (uint64_t)begin << 32 | end;
}

/* magic [63:32], version [31:24], queues [23:16], words [15:0] */
CASE(identify_names_the_device, PAPER)
{
	EXPECT(load(C, PAGE_MAPLE, AT(IDENTIFY, 0), 8), 0x4d41504c01080100);
	EXPECT(load(C, PAGE_MAPLE, AT(IDENTIFY, 0), 4), 0x01080100);
}

CASE(the_artifact_has_no_identification, ARTIFACT)
{
	init(WORDS_8);
	EXPECT(load(A, PAGE_MAPLE, AT(IDENTIFY, 0), 8), 0);
	EXPECT(load(A, PAGE_MAPLE, AT(QUEUE_STATE, 0), 8), 0);
	EXPECT(load(A, PAGE_MAPLE, AT(FAULT_ADDRESS, 0), 8), 0);
	EXPECT(load(A, PAGE_MAPLE, AT(FAULT_COUNT, 0), 8), 0);
}

CASE(the_artifact_drops_the_stores_of_the_extension, ARTIFACT)
{
	init_and_open(WORDS_8, 0);
	for (unsigned int operation = 16; operation < 32; operation++)
		request(A, operation, 0, arena_at(0));
	expect_empty(0);
}

static void fill(void)
{
	uint32_t *words = arena();

	for (unsigned int i = 0; i < 512; i++) {
		words[i] = 0xa0000 + i;
		words[A2_OFFSET / 4 + i] = 0xb0000 + i;
		words[B_OFFSET / 4 + i] = (i * 5 + 1) % 128;
	}
}

static uint32_t index_of(unsigned int i)
{
	return (i * 5 + 1) % 128;
}

static uint64_t pair(unsigned int i)
{
	return (uint64_t)(0xa0000 + 2 * i + 1) << 32 | (0xa0000 + 2 * i);
}

CASE(full_pointers_need_no_base_and_reach_any_address, PAPER)
{
	/* A stack address: far above 2^40. */
	volatile uint32_t words[4] __attribute__((aligned(16))) = { 1, 2, 3, 4 };
	uint64_t address = (uintptr_t)words;

	init_and_open(WORDS_32, 1);
	request(A, SET_BASE32, 1, 0x1000);
	request(A, FULL_POINTER32, 1, address + 4);
	request(A, FULL_LLC_POINTER32, 1, address + 8);
	request(A, FULL_POINTER64, 1, address);
	request(A, FULL_LLC_POINTER64, 1, address + 8);
	request(A, FULL_POINTER64, 1, address + 4);
	EXPECT(consume32(1), 2);
	EXPECT(consume32(1), 3);
	EXPECT(consume64(1), 0x0000000200000001);
	EXPECT(consume64(1), 0x0000000400000003);
	EXPECT(consume64(1), 0x0000000300000002);
}

CASE(full_pointers_of_strangers_are_dropped, PAPER)
{
	init_and_open(WORDS_8, 0);
	for (unsigned int operation = FULL_POINTER32; operation <= FULL_PREFETCH; operation++) {
		request(B, operation, 0, arena_at(0));
		request(C, operation, 0, arena_at(0));
	}
	expect_empty(0);
}

CASE(a_full_pointer_waits_while_the_queue_is_full, PAPER)
{
	fill();
	init_and_open(WORDS_8, 0);
	for (unsigned int i = 0; i < 8; i++)
		produce32(0, i);
	store_begin(A, PAGE_MAPLE, AT(FULL_POINTER32, 0), 8, arena_at(4));
	EXPECT_TRUE(store_still_waits(A));
	for (unsigned int i = 0; i < 8; i++)
		EXPECT(consume32(0), i);
	finish_store(A);
	EXPECT(consume32(0), 0xa0001);
}

CASE(a_full_pointer_to_an_unmapped_address_reads_0, PAPER)
{
	init_and_open(WORDS_8, 0);
	request(A, FULL_POINTER32, 0, unmapped_page());
	EXPECT(consume32(0), 0);
	request(A, FULL_POINTER64, 0, 0xdeadbeefdeadbeef);
	EXPECT(consume64(0), 0);
}

CASE(full_prefetch_takes_no_slot, PAPER)
{
	init_and_open(WORDS_8, 0);
	request(A, FULL_PREFETCH, 0, arena_at(0));
	request(A, FULL_PREFETCH, 0, unmapped_page());
	expect_empty(0);
}

static void check_queue_loop(unsigned int operation, bool wide)
{
	fill();
	init_and_open(WORDS_16, 5);
	request(A, QUEUE_LIMA_A, 5, arena_at(0));
	request(A, QUEUE_LIMA_B, 5, arena_at(B_OFFSET));
	request(A, operation, 5, loop(3, 40));
	for (unsigned int i = 3; i < 40; i++)
		EXPECT(wide ? consume64(5) : consume32(5),
		       wide ? pair(index_of(i)) : 0xa0000 + index_of(i));
	expect_empty(5);
}

CASE(queue_loop_24_fetches_32_bit_elements, PAPER) { check_queue_loop(QUEUE_LOOP_POINTER32, false); }
CASE(queue_loop_25_fetches_64_bit_elements, PAPER) { check_queue_loop(QUEUE_LOOP_POINTER64, true); }
CASE(queue_loop_26_fetches_32_bit_elements, PAPER) { check_queue_loop(QUEUE_LOOP_LLC_POINTER32, false); }
CASE(queue_loop_27_fetches_64_bit_elements, PAPER) { check_queue_loop(QUEUE_LOOP_LLC_POINTER64, true); }

CASE(queue_loops_28_and_29_push_nothing, PAPER)
{
	fill();
	init_and_open(WORDS_8, 0);
	request(A, QUEUE_LIMA_A, 0, arena_at(0));
	request(A, QUEUE_LIMA_B, 0, arena_at(B_OFFSET));
	request(A, QUEUE_LOOP_PREFETCH32, 0, loop(0, 50));
	request(A, QUEUE_LOOP_PREFETCH64, 0, loop(0, 50));
	expect_empty(0);
}

/* A 0: push B[i] itself */
CASE(a_queue_loop_with_a_0_pushes_b, PAPER)
{
	fill();
	init_and_open(WORDS_8, 2);
	request(A, QUEUE_LIMA_A, 2, 0);
	request(A, QUEUE_LIMA_B, 2, arena_at(B_OFFSET));
	request(A, QUEUE_LOOP_POINTER32, 2, loop(10, 30));
	for (unsigned int i = 10; i < 30; i++)
		EXPECT(consume32(2), index_of(i));
}

CASE(queues_have_a_and_b_of_their_own, PAPER)
{
	fill();
	init_and_open(WORDS_8, 0);
	open_queue(7);
	request(A, QUEUE_LIMA_A, 0, arena_at(0));
	request(A, QUEUE_LIMA_B, 0, arena_at(B_OFFSET));
	request(A, QUEUE_LIMA_A, 7, arena_at(A2_OFFSET));
	request(A, QUEUE_LIMA_B, 7, arena_at(B_OFFSET + 40));
	request(A, QUEUE_LOOP_POINTER32, 0, loop(0, 30));
	request(A, QUEUE_LOOP_POINTER32, 7, loop(0, 30));
	for (unsigned int i = 0; i < 30; i++) {
		EXPECT(consume32(0), 0xa0000 + index_of(i));
		EXPECT(consume32(7), 0xb0000 + index_of(i + 10));
	}
}

CASE(a_queue_loop_leaves_a_and_b_of_the_tile_alone, PAPER)
{
	fill();
	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, arena_at(B_OFFSET));
	request(A, LIMA_POINTER32, 1, arena_at(0));
	request(A, QUEUE_LIMA_A, 0, arena_at(A2_OFFSET));
	request(A, QUEUE_LIMA_B, 0, arena_at(B_OFFSET + 4));
	request(A, LOOP, 0, loop(0, 2));
	request(A, QUEUE_LOOP_POINTER32, 0, loop(0, 2));
	EXPECT(consume32(0), 0xa0000 + index_of(0));
	EXPECT(consume32(0), 0xa0000 + index_of(1));
	EXPECT(consume32(0), 0xb0000 + index_of(1));
	EXPECT(consume32(0), 0xb0000 + index_of(2));
}

CASE(a_queue_loop_without_b_is_dropped, PAPER)
{
	fill();
	init_and_open(WORDS_8, 0);
	request(A, QUEUE_LIMA_A, 0, arena_at(0));
	request(A, QUEUE_LOOP_POINTER32, 0, loop(0, 2));
	expect_empty(0);
}

CASE(a_queue_loop_of_a_stranger_is_dropped, PAPER)
{
	fill();
	init_and_open(WORDS_8, 0);
	request(A, QUEUE_LIMA_A, 0, arena_at(0));
	request(A, QUEUE_LIMA_B, 0, arena_at(B_OFFSET));
	request(B, QUEUE_LOOP_POINTER32, 0, loop(0, 2));
	request(C, QUEUE_LOOP_POINTER32, 0, loop(0, 2));
	expect_empty(0);
}

CASE(reset_drops_a_and_b_of_queues, PAPER)
{
	fill();
	init_and_open(WORDS_8, 0);
	request(A, QUEUE_LIMA_A, 0, arena_at(0));
	request(A, QUEUE_LIMA_B, 0, arena_at(B_OFFSET));
	command(A, RESET, 0);
	init_and_open(WORDS_8, 0);
	request(A, QUEUE_LOOP_POINTER32, 0, loop(0, 2));
	expect_empty(0);
}
