/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* "The device reads and writes any memory of the program": of every kind, as it is at that moment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/contract/dare/contract.h"

#define SIZE (4 * DARE_PAGE)
#define HELD_ADDRESS 0x39000000ul

/* At an address of its own, so that nothing else comes there when it is given back. */
static uint8_t *map(int rights, int flags, int file)
{
	uint8_t *memory = mmap((void *)HELD_ADDRESS, SIZE, rights, flags | MAP_FIXED, file, 0);

	if (memory != (void *)HELD_ADDRESS)
		contract_fail(__FILE__, __LINE__, "cannot map memory");
	return memory;
}

static int new_file(uint32_t seed)
{
	static uint8_t bytes[SIZE];
	int file = memfd_create("contract", MFD_CLOEXEC);

	fill(bytes, SIZE, seed);
	EXPECT_TRUE(file >= 0);
	EXPECT((uint64_t)write(file, bytes, SIZE), SIZE);
	return file;
}

static void read_file(int file, uint8_t bytes[SIZE])
{
	EXPECT((uint64_t)pread(file, bytes, SIZE, 0), SIZE);
}

/* Loads rows across pages; check_store() stores other bytes there. */
static void check_load(const uint8_t *memory)
{
	struct tile tile;

	mld(BYTE, 0, memory + DARE_PAGE - 500, 67);
	tile_of(&tile, memory + DARE_PAGE - 500, 67, 16, 64);
	EXPECT_REGISTER(0, &tile);
}

static void check_store(uint8_t *memory, uint32_t seed)
{
	static uint8_t expected[SIZE];
	struct tile tile;

	memcpy(expected, memory, SIZE);
	fill(&tile, sizeof(tile), seed);
	set_register(1, &tile);
	for (unsigned int row = 0; row < ROWS; row++)
		memcpy(expected + 2 * DARE_PAGE - 333 + 65 * row, tile.bytes[row], 64);
	mst(BYTE, 1, memory + 2 * DARE_PAGE - 333, 65);
	COMPLETE();
	EXPECT_BYTES(memory, expected, SIZE);
}

CASE(private_anonymous_memory, EITHER)
{
	uint8_t *memory = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	fill(memory, SIZE, 1);
	check_load(memory);
	check_store(memory, 2);
}

CASE(memory_that_was_never_touched_is_zero_and_can_be_stored_to, EITHER)
{
	uint8_t *memory = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct tile zero = { 0 }, tile;

	fill(&tile, sizeof(tile), 3);
	set_register(0, &tile);
	set_register(1, &tile);
	mld(WORD, 0, memory + DARE_PAGE - 128, 64);
	EXPECT_REGISTER(0, &zero);
	mst(WORD, 1, memory + 3 * DARE_PAGE - 128, 64);
	COMPLETE();
	EXPECT_BYTES(memory + 3 * DARE_PAGE - 128, &tile, sizeof(tile));
}

CASE(shared_anonymous_memory, EITHER)
{
	uint8_t *memory = map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);

	fill(memory, SIZE, 4);
	check_load(memory);
	check_store(memory, 5);
}

CASE(a_shared_mapping_of_a_file_is_the_file, EITHER)
{
	int file = new_file(6);
	uint8_t *memory = map(PROT_READ | PROT_WRITE, MAP_SHARED, file);
	static uint8_t bytes[SIZE];

	check_load(memory);
	check_store(memory, 7);
	read_file(file, bytes);
	EXPECT_BYTES(bytes, memory, SIZE);
	close(file);
}

CASE(a_private_mapping_of_a_file_leaves_the_file_alone, EITHER)
{
	static uint8_t before[SIZE], after[SIZE];
	int file = new_file(8);
	uint8_t *memory = map(PROT_READ | PROT_WRITE, MAP_PRIVATE, file);

	read_file(file, before);
	check_load(memory);
	check_store(memory, 9);
	read_file(file, after);
	EXPECT_BYTES(after, before, SIZE);
	close(file);
}

CASE(a_read_only_mapping_of_a_file_can_be_loaded_from_only, EITHER)
{
	static uint8_t before[SIZE], after[SIZE];
	int file = new_file(10);
	uint8_t *memory = map(PROT_READ, MAP_SHARED, file);
	uint64_t position;

	read_file(file, before);
	check_load(memory);
	position = get(DISPATCHED);
	mst(WORD, 0, memory, 64);
	EXPECT_ERROR(BAD_STORE, word_mst(WORD, 0), position, (uintptr_t)memory, 0);
	read_file(file, after);
	EXPECT_BYTES(after, before, SIZE);
	close(file);
}

CASE(beyond_the_end_of_a_file_there_is_no_memory, EITHER)
{
	int file = new_file(11);
	uint8_t *memory = map(PROT_READ | PROT_WRITE, MAP_SHARED, file);
	uint64_t position;

	check_load(memory);
	EXPECT((uint64_t)ftruncate(file, 2 * DARE_PAGE), 0);
	position = get(DISPATCHED);
	mld(WORD, 0, memory + 2 * DARE_PAGE - 256, 64);
	EXPECT_ERROR(BAD_LOAD, word_mld(WORD, 0), position, (uintptr_t)memory + 2 * DARE_PAGE, 4);
	mst(WORD, 0, memory + 2 * DARE_PAGE - 256, 64);
	EXPECT_ERROR(BAD_STORE, word_mst(WORD, 0), position + 1, (uintptr_t)memory + 2 * DARE_PAGE, 4);
	check_load(memory);
	close(file);
}

CASE(the_heap_the_stack_and_constants, EITHER)
{
	static const uint8_t constant[1024] = { 1, 2, 3, [500] = 4, [1023] = 5 };
	uint8_t on_stack[1024], *on_heap = malloc(1024);
	struct tile tile;

	mld(WORD, 0, constant, 64);
	tile_of(&tile, constant, 64, 16, 64);
	EXPECT_REGISTER(0, &tile);
	mst(WORD, 0, on_stack, 64);
	COMPLETE();
	EXPECT_BYTES(on_stack, constant, 1024);
	EXPECT_TRUE(on_heap);
	mld(WORD, 1, on_stack, 64);
	mst(WORD, 1, on_heap, 64);
	COMPLETE();
	EXPECT_BYTES(on_heap, constant, 1024);
	free(on_heap);
}

CASE(constants_cannot_be_stored_to, EITHER)
{
	static const uint8_t constant[2 * 4096] __attribute__((aligned(4096))) = { 9, 9, 9 };
	uint64_t position = get(DISPATCHED);

	issue(word_mst(WORD, 0), (uintptr_t)constant, 64);
	EXPECT_ERROR(BAD_STORE, word_mst(WORD, 0), position, (uintptr_t)constant, 0);
	EXPECT(*(const volatile uint8_t *)constant, 9);
}

CASE(memory_above_4_gib, EITHER)
{
	uint8_t *memory = map_above_4g();

	fill(memory, SIZE, 12);
	check_load(memory);
	check_store(memory, 13);
}

/* Another page at an address that was used before: nothing of the old one is seen, or changed. */
CASE(memory_that_is_mapped_anew_is_the_new_memory, EITHER)
{
	static uint8_t old[SIZE], now[SIZE];
	int first = new_file(14), second = new_file(15);
	uint8_t *memory = map(PROT_READ | PROT_WRITE, MAP_SHARED, first);

	check_load(memory);
	check_store(memory, 16);
	read_file(first, old);
	memory = map(PROT_READ | PROT_WRITE, MAP_SHARED, second);
	check_load(memory);
	check_store(memory, 17);
	read_file(first, now);
	EXPECT_BYTES(now, old, SIZE);
	munmap(memory, SIZE);
	memory = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	check_load(memory);
	check_store(memory, 18);
	close(first);
	close(second);
}

/* A child shares the pages until one of the two writes; then the program has others. */
CASE(a_fork_does_not_leave_the_device_with_the_childs_memory, EITHER)
{
	uint8_t *memory = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	int ready[2], ends[2], status;
	pid_t child;
	char byte;

	fill(memory, SIZE, 19);
	check_load(memory);
	check_store(memory, 20);
	EXPECT((uint64_t)pipe(ready), 0);
	EXPECT((uint64_t)pipe(ends), 0);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		static uint8_t copy[SIZE];
		uint8_t changed = 0;

		/* From now until the parent has looked: its device must not write here. */
		memcpy(copy, memory, SIZE);
		close(ends[1]);
		(void)!write(ready[1], "", 1);
		(void)!read(ends[0], &byte, 1);
		for (unsigned int i = 0; i < SIZE; i++)
			changed |= copy[i] ^ memory[i];
		_exit(changed != 0);
	}
	EXPECT_TRUE(child > 0);
	EXPECT((uint64_t)read(ready[0], &byte, 1), 1);
	close(ends[0]);
	check_load(memory);
	fill(memory, SIZE, 21);
	check_load(memory);
	check_store(memory, 22);
	close(ends[1]);
	EXPECT((uint64_t)waitpid(child, &status, 0), (uint64_t)child);
	EXPECT((uint64_t)status, 0);
}
