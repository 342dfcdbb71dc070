/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Addresses and operations of MAPLE, and its set-up, for programs. Written from
 * the contract alone; nothing of mimic is included or linked.
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096
#define PHYSICAL_MAPLE 0xe100800000ull
#define PHYSICAL_MMU 0xe100a00000ull
#define PHYSICAL_CUSTOM 0xe100b00000ull

enum {	/* loads */
	INIT = 0, RESET = 1, OPEN_PRODUCER = 2, OPEN_CONSUMER = 3, CLOSE_PRODUCER = 4,
	CLOSE_CONSUMER = 5, CONSUME = 7, STATISTICS = 12, DEBUG = 13,
};

enum {	/* stores */
	PRODUCE = 8, POINTER32 = 10, POINTER64 = 11, LOOP = 14, MMU = 15,
	LIMA_POINTER32 = 48, LIMA_POINTER64 = 49, LIMA_PRODUCE = 50, LIMA_LLC_POINTER32 = 52,
	SET_BASE32 = 57, SET_BASE64 = 58,
};

enum { WORDS_8 = 0, WORDS_16 = 1, WORDS_32 = 2, WORDS_48 = 3, WORDS_64 = 4 };

static inline uint64_t tile_address(uint64_t base, unsigned int tile)
{
	uint64_t number = 2 * tile + 1;

	return base | (number % 8) << 28 | (number / 8) << 24;
}

static inline uint32_t load32(volatile void *page, unsigned int operation, unsigned int queue)
{
	return *(volatile uint32_t *)((volatile char *)page + (operation << 3 | queue << 9));
}

static inline uint64_t load64(volatile void *page, unsigned int operation, unsigned int queue)
{
	return *(volatile uint64_t *)((volatile char *)page + (operation << 3 | queue << 9));
}

static inline void store32(volatile void *page, unsigned int operation, unsigned int queue, uint32_t value)
{
	*(volatile uint32_t *)((volatile char *)page + (operation << 3 | queue << 9)) = value;
}

static inline void store64(volatile void *page, unsigned int operation, unsigned int queue, uint64_t value)
{
	*(volatile uint64_t *)((volatile char *)page + (operation << 3 | queue << 9)) = value;
}

static inline uint64_t address_of(const volatile void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

#define CHECK(condition) do { \
	if (!(condition)) { \
		fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
		exit(1); \
	} \
} while (0)

static inline int open_or_die(const char *path)
{
	int file = open(path, O_RDWR);

	if (file < 0) {
		perror(path);
		exit(1);
	}
	return file;
}

static inline void *map_or_die(int file, uint64_t offset)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);

	if (page == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return page;
}

/* Set-up as the artifact's programs do it: both pages of each tile, the descriptors never closed. */
static inline void map_tiles(unsigned int count, void **maple, void **mmu)
{
	int file = open_or_die("/dev/mem");
	uint64_t root;
	unsigned int i;

	for (i = 0; i < count; i++)
		maple[i] = map_or_die(file, tile_address(PHYSICAL_MAPLE, i));
	file = open_or_die("/dev/mem");
	for (i = 0; i < count; i++)
		mmu[i] = map_or_die(file, tile_address(PHYSICAL_MMU, i));
	/* On their patched kernel call 258 gives the page table's root; elsewhere it is mkdirat and fails. */
	root = (uint64_t)syscall(258, -1, NULL, 0, 0, 0, 0);
	for (i = 0; i < count; i++) {
		load32(mmu[i], RESET, 0);
		CHECK(load32(mmu[i], INIT, WORDS_32) != 0);
		store64(mmu[i], MMU, 1, (root & 0xfffffff) | 0x0003001020000000ull);
	}
}

/* One instance by its node, with queues of `size` (a size code). */
static inline void *map_node(const char *path, unsigned int size)
{
	void *page = map_or_die(open_or_die(path), 0);

	load32(page, RESET, 0);
	CHECK(load32(page, INIT, size) == 2);
	return page;
}

static inline void open_both(void *page, unsigned int queue)
{
	CHECK(load64(page, OPEN_PRODUCER, queue) & 2);
	CHECK(load64(page, OPEN_CONSUMER, queue) & 1);
}

/* A small generator of its own, so that every run of a program is the same. */
static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
