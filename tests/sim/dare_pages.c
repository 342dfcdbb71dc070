/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program that knows nothing of mimic's libraries: it uses DARE by loads and stores of a page of
 * /dev/dare0. It prints "right" if all that it computes is.
 *
 *   loads N STRIDE   N loads of a row to one register, one after the other, STRIDE bytes apart
 *   product          a product of two tiles
 *   spin             others look at COMPLETED until the one that dispatches is done
 *   flag             one looks at memory until the one that dispatches has stored that it is done
 *   chain            gathers whose rows have their own addresses
 *   fault CASE       prints the error of an instruction that fails
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u
#define ROWS 16u
#define SPINNING 3
#define TILES 40u

enum {	/* registers: docs/dare-registers.md */
	RS1 = 0x00, RS2 = 0x08, INSTRUCTION = 0x10, STREAM = 0x18, STATUS = 0x20, FENCE = 0x28, COMPLETED = 0x50,
	ERROR = 0x58, ERROR_POSITION = 0x68, ERROR_ADDRESS = 0x70, ERROR_ROW = 0x78,
};

/* docs/dare-isa.md */
#define MCFG 0xfe00002bu
#define MLD(md) (0x0400082bu | (uint32_t)(md) << 7)
#define MST(ms) (0x0c00082bu | (uint32_t)(ms) << 7)
#define MMA(md, ms1, ms2) (0x0800082bu | (uint32_t)(md) << 15 | (uint32_t)(ms1) << 18 | (uint32_t)(ms2) << 21)
#define MGATHER(md, ms1) (0x3400082bu | (uint32_t)(md) << 7 | (uint32_t)(ms1) << 18)

static volatile char *page;
static float memory[64 * 1024] __attribute__((aligned(4096)));

static void store(unsigned int offset, uint64_t value)
{
	*(volatile uint64_t *)(page + offset) = value;
}

static uint64_t load(unsigned int offset)
{
	return *(volatile uint64_t *)(page + offset);
}

static uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

static void dispatch(uint32_t word, uint64_t rs1, uint64_t rs2)
{
	store(RS1, rs1);
	store(RS2, rs2);
	store(INSTRUCTION, word);
}

/* The same by the other way to dispatch. */
static void stream(uint32_t word, uint64_t rs1, uint64_t rs2)
{
	store(STREAM, word);
	store(STREAM, rs1);
	store(STREAM, rs2);
}

static int loads(unsigned int count, unsigned int stride)
{
	stream(MCFG, 0, 1);
	for (unsigned int i = 0; i < count; i++)
		stream(MLD(0), address_of(memory) + (uint64_t)i * stride, 64);
	return load(FENCE) & 2 ? -1 : 0;
}

/* Whole numbers, so that the order of additions does not matter: C[i][j] = sum of (i + k) * (j - k). */
static int product(void)
{
	float *a = memory, *b = memory + 256, *c = memory + 512;

	for (unsigned int i = 0; i < ROWS; i++)
		for (unsigned int k = 0; k < ROWS; k++) {
			a[ROWS * i + k] = (float)(i + k);
			b[ROWS * i + k] = (float)i - (float)k;
		}
	dispatch(MLD(0), address_of(a), 64);
	dispatch(MLD(1), address_of(b), 64);
	store(STREAM, MMA(2, 0, 1));
	dispatch(MST(2), address_of(c), 64);
	if (load(FENCE) & 2)
		return -1;
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 16; j++) {
			int sum = 0;

			for (int k = 0; k < 16; k++)
				sum += (i + k) * (j - k);
			if (c[16 * i + j] != (float)sum)
				return -1;
		}
	return 0;
}

static void *look(void *seen)
{
	while (load(COMPLETED) < TILES)
		++*(uint64_t *)seen;
	return NULL;
}

static int spin(void)
{
	pthread_t threads[SPINNING];
	uint64_t seen[SPINNING] = { 0 };

	for (int i = 0; i < SPINNING; i++)
		if (pthread_create(&threads[i], NULL, look, &seen[i]))
			return -1;
	for (unsigned int i = 0; i < TILES; i++)
		dispatch(MLD(0), address_of(memory) + (uint64_t)i * 1024, 64);
	for (int i = 0; i < SPINNING; i++)
		pthread_join(threads[i], NULL);
	return load(COMPLETED) == TILES && seen[0] ? 0 : -1;
}

static volatile int is_done;

static void *work(void *unused)
{
	(void)unused;
	for (unsigned int i = 0; i < TILES; i++)
		dispatch(MLD(0), address_of(memory) + (uint64_t)i * 1024, 64);
	is_done = load(FENCE) & 2 ? -1 : 1;
	return NULL;
}

static int flag(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL))
		return -1;
	while (!is_done)
		;
	pthread_join(thread, NULL);
	return is_done - 1;
}

/* Two registers take turns; a gather loads the same addresses that it has loaded from. */
static int chain(void)
{
	uint64_t *rows = (uint64_t *)memory, *copy = rows + 1024;

	for (unsigned int i = 0; i < ROWS; i++)
		rows[8 * i] = address_of(&rows[8 * i]);
	dispatch(MLD(0), address_of(rows), 64);
	for (unsigned int i = 0; i < TILES; i++) {
		dispatch(MGATHER(1, 0), 0, 0);
		dispatch(MGATHER(0, 1), 0, 0);
		dispatch(MGATHER(0, 0), 0, 0);
	}
	dispatch(MST(0), address_of(copy), 64);
	return load(FENCE) & 2 ? -1 : memcmp(rows, copy, 64 * ROWS);
}

static int fault(const char *name)
{
	if (!strcmp(name, "address"))
		dispatch(MLD(1), 4096, 64);
	else if (!strcmp(name, "aligned"))
		dispatch(MLD(1), address_of(memory) + 2, 64);
	else if (!strcmp(name, "word"))
		dispatch(0x12345678, 0, 0);
	else if (!strcmp(name, "csr"))
		dispatch(MCFG, 0, 17);
	else if (!strcmp(name, "gather"))
		dispatch(MGATHER(3, 3), 0, 0);
	dispatch(MLD(2), address_of(memory), 64);
	printf("%s: status %#" PRIx64, name, load(FENCE));
	printf(" error %" PRIu64 " position %" PRIu64 " row %" PRIu64, load(ERROR), load(ERROR_POSITION), load(ERROR_ROW));
	printf(" completed %" PRIu64 "\n", load(COMPLETED));
	return 0;
}

static int run(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "loads"))
		return loads((unsigned int)atoi(argv[2]), (unsigned int)atoi(argv[3]));
	if (argc == 3 && !strcmp(argv[1], "fault"))
		return fault(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "product"))
		return product();
	if (argc == 2 && !strcmp(argv[1], "spin"))
		return spin();
	if (argc == 2 && !strcmp(argv[1], "flag"))
		return flag();
	if (argc == 2 && !strcmp(argv[1], "chain"))
		return chain();
	return -1;
}

int main(int argc, char **argv)
{
	int file = open("/dev/dare0", O_RDWR);
	void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	if (mapped == MAP_FAILED) {
		perror("/dev/dare0");
		return 1;
	}
	page = mapped;
	if (run(argc, argv)) {
		fprintf(stderr, "wrong\n");
		return 1;
	}
	printf("right\n");
	return 0;
}
