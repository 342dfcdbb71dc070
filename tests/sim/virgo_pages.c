/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Programs that use /dev/virgo0 by loads and stores of its pages.
 *
 *   virgo_pages meet COUNT    threads meet at barrier 0, which waits for COUNT of them: there are 3
 *   virgo_pages unfenced      looks at a command's results without a fence
 *   virgo_pages absent        stores to a unit that is not there, twice
 *   virgo_pages cisc          gives a busy unit of the paper a second word, without a poll
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mimic/virgo_commands.h>
#include <mimic/virgo_registers.h>

#define PAGE 4096u
#define THREADS 3u
#define ONE 0x3f800000ull	/* 1.0f, a scale */

static volatile char *pages;

static void store(unsigned int offset, uint64_t value)
{
	*(volatile uint64_t *)(pages + PAGE * VIRGO_PAGE_UNITS + offset) = value;
}

static uint64_t load(unsigned int offset)
{
	return *(volatile uint64_t *)(pages + PAGE * VIRGO_PAGE_UNITS + offset);
}

static void command(enum virgo_funct funct, uint64_t rs1, uint64_t rs2)
{
	store(VIRGO_RS1, rs1);
	store(VIRGO_RS2, rs2);
	*(volatile uint32_t *)(pages + PAGE * VIRGO_PAGE_UNITS + VIRGO_INSTRUCTION) = VIRGO_INSTRUCTION_WORD(funct);
}

static void *meet(void *argument)
{
	(void)*(volatile uint64_t *)(pages + VIRGO_BARRIER_WAIT(0));
	return argument;
}

static int meet_all(unsigned int count)
{
	pthread_t thread[THREADS];

	*(volatile uint64_t *)(pages + VIRGO_BARRIER_PARTICIPANTS(0)) = count;
	for (unsigned int i = 1; i < THREADS; i++)
		pthread_create(&thread[i], NULL, meet, NULL);
	meet(NULL);
	for (unsigned int i = 1; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* 8 rows of 8 elements, memory to scratchpad; the unit is then busy, or not. */
static int is_busy_behind_its_store(void)
{
	static float rows[8][8];

	command(VIRGO_FUNCT_CONFIG, ONE << 32 | 8 << 16 | VIRGO_CONFIG_LD, sizeof(rows[0]));
	command(VIRGO_FUNCT_MVIN, (uintptr_t)rows, 8ull << 48 | 8ull << 32);
	return load(VIRGO_BUSY) != 0;
}

/* The RTL asserts there: an OVERFLOW. */
static int overflows(void)
{
	store(VIRGO_CISC, 0);
	store(VIRGO_CISC, 0);
	return load(VIRGO_ERROR) == VIRGO_ERROR_OVERFLOW;
}

static int stores_to_no_unit(void)
{
	store(5 * VIRGO_BLOCK_SIZE + VIRGO_RS1, 1);
	store(6 * VIRGO_BLOCK_SIZE + VIRGO_RS1, 1);
	return load(5 * VIRGO_BLOCK_SIZE + VIRGO_BUSY) != 0;
}

int main(int argc, char **argv)
{
	int file = open("/dev/virgo0", O_RDWR | O_CLOEXEC);

	if (file < 0 || argc < 2)
		return 3;
	pages = mmap(NULL, (size_t)PAGE * VIRGO_PAGE_COUNT, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (pages == MAP_FAILED)
		return 3;
	if (!strcmp(argv[1], "meet"))
		return meet_all(argc > 2 ? (unsigned int)atoi(argv[2]) : THREADS);
	if (!strcmp(argv[1], "unfenced"))
		puts(is_busy_behind_its_store() ? "busy" : "over");
	else if (!strcmp(argv[1], "absent"))
		puts(stores_to_no_unit() ? "something" : "nothing");
	else
		puts(overflows() ? "overflow" : "no overflow");
	return 0;
}
