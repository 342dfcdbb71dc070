/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * DARE by plain stores and loads: open, mmap, RS1, RS2, INSTRUCTION, FENCE. Written
 * from docs/dare.md and docs/abi.md alone; nothing of mimic is included or linked.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define ROWS 16

enum {	/* registers */
	RS1 = 0x00, RS2 = 0x08, INSTRUCTION = 0x10, STREAM = 0x18, STATUS = 0x20, FENCE = 0x28,
	MATRIX_M = 0x30, COMPLETED = 0x50, ERROR = 0x58, ERROR_POSITION = 0x68, ERROR_ADDRESS = 0x70,
	RESET = 0x80, IDENTIFY = 0x88,
};

enum { BUSY = 1, FAILED = 2 };

#define MCFG 0xfe00002bu
#define MLD(md) (0x0400082bu | (uint32_t)(md) << 7)
#define MST(ms) (0x0c00082bu | (uint32_t)(ms) << 7)
#define MMA(md, ms1, ms2) \
	(0x0800082bu | (uint32_t)(md) << 15 | (uint32_t)(ms1) << 18 | (uint32_t)(ms2) << 21)

#define CHECK(condition) do { \
	if (!(condition)) { \
		fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
		exit(1); \
	} \
} while (0)

static void store(volatile void *page, unsigned int offset, uint64_t value)
{
	*(volatile uint64_t *)((volatile char *)page + offset) = value;
}

static uint64_t load(volatile void *page, unsigned int offset)
{
	return *(volatile uint64_t *)((volatile char *)page + offset);
}

static void dispatch(volatile void *page, uint32_t word, uint64_t rs1, uint64_t rs2)
{
	store(page, RS1, rs1);
	store(page, RS2, rs2);
	store(page, INSTRUCTION, word);
}

static uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

static int open_or_die(const char *path)
{
	int file = open(path, O_RDWR);

	if (file < 0) {
		perror(path);
		exit(1);
	}
	return file;
}

static void *map_or_die(const char *path)
{
	int file = open_or_die(path);
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	CHECK(page != MAP_FAILED);
	CHECK(close(file) == 0);
	return page;
}

static void check_node(void)
{
	struct stat status;
	int file;

	CHECK(stat("/dev/dare0", &status) == 0 && S_ISCHR(status.st_mode) && minor(status.st_rdev) == 0);
	CHECK(stat("/dev/dare", &status) == 0 && S_ISCHR(status.st_mode) && minor(status.st_rdev) == 255);
	CHECK(stat("/dev/dare250", &status) == -1 && errno == ENOENT);
	CHECK(stat("/dev/dare0x", &status) == -1 && errno == ENOENT);
	CHECK(access("/dev/dare0", R_OK | W_OK) == 0);
	CHECK(access("/dev/dare0", X_OK) == -1 && errno == EACCES);
	CHECK(open("/dev/dare250", O_RDWR) == -1 && errno == ENOENT);
	CHECK(open("/dev/dare0", O_RDWR | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST);
	file = open_or_die("/dev/dare0");
	CHECK(fstat(file, &status) == 0 && S_ISCHR(status.st_mode));
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, PAGE) == MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, file, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(close(file) == 0);
	file = open("/dev/dare0", O_RDONLY);
	CHECK(file >= 0);
	CHECK(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED && errno == EACCES);
	CHECK(close(file) == 0);
}

/* Every open is a context of its own; there are 15 at most, and each comes back. */
static void check_contexts(void)
{
	int files[16];
	int count = 0;
	int i;

	while (count < 16 && (files[count] = open("/dev/dare0", O_RDWR)) >= 0)
		count++;
	CHECK(count >= 2 && count <= 15 && errno == EBUSY);
	for (i = 0; i < count; i++)
		CHECK(close(files[i]) == 0);
	for (i = 0; i < 100; i++)
		CHECK(close(open_or_die("/dev/dare0")) == 0);
}

static void fill(float tile[ROWS][ROWS], unsigned int seed)
{
	for (unsigned int i = 0; i < ROWS; i++) {
		for (unsigned int j = 0; j < ROWS; j++)
			tile[i][j] = (float)((seed + 5 * i + 3 * j) % 13) - 6;
	}
}

static void check_product(volatile void *page, unsigned int seed)
{
	static float a[ROWS][ROWS], b[ROWS][ROWS], c[ROWS][ROWS], expected[ROWS][ROWS];

	fill(a, seed);
	fill(b, seed + 1);
	fill(c, seed + 2);
	memcpy(expected, c, sizeof(c));
	for (unsigned int i = 0; i < ROWS; i++) {
		for (unsigned int j = 0; j < ROWS; j++) {
			for (unsigned int k = 0; k < ROWS; k++)
				expected[i][j] += a[i][k] * b[j][k];
		}
	}
	dispatch(page, MLD(1), address_of(a), sizeof(a[0]));
	dispatch(page, MLD(2), address_of(b), sizeof(b[0]));
	dispatch(page, MLD(0), address_of(c), sizeof(c[0]));
	dispatch(page, MMA(0, 1, 2), 0, 0);
	dispatch(page, MST(0), address_of(c), sizeof(c[0]));
	CHECK((load(page, FENCE) & (BUSY | FAILED)) == 0);
	CHECK(memcmp(c, expected, sizeof(c)) == 0);
}

static void check_stream(volatile void *page)
{
	static float a[ROWS][ROWS], out[ROWS][ROWS];
	const uint64_t words[] = {
		MLD(5), address_of(a), sizeof(a[0]), MST(5), address_of(out), sizeof(out[0]),
	};

	fill(a, 40);
	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		store(page, STREAM, words[i]);
	CHECK((load(page, FENCE) & (BUSY | FAILED)) == 0);
	CHECK(memcmp(out, a, sizeof(a)) == 0);
}

static void check_two(volatile void *one, volatile void *two)
{
	dispatch(one, MCFG, 0, 3);
	dispatch(two, MCFG, 0, 11);
	CHECK(load(one, MATRIX_M) == 3);
	CHECK(load(two, MATRIX_M) == 11);
	store(one, RESET, 0);
	store(two, RESET, 0);
	CHECK(load(one, MATRIX_M) == 16);
	CHECK(load(one, IDENTIFY) >> 32 == 0x44415245);
	CHECK(load(one, IDENTIFY) != load(two, IDENTIFY));
}

static void check_error(volatile void *page)
{
	char *hole = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t position;

	CHECK(hole != MAP_FAILED && munmap(hole, PAGE) == 0);
	position = load(page, COMPLETED);
	dispatch(page, MLD(3), address_of(hole), 64);
	CHECK(load(page, FENCE) & FAILED);
	CHECK(load(page, ERROR) == 5);
	CHECK(load(page, ERROR_POSITION) == position);
	CHECK(load(page, ERROR_ADDRESS) == address_of(hole));
	store(page, ERROR, 0);
	CHECK((load(page, FENCE) & (BUSY | FAILED)) == 0);
	check_product(page, 60);
}

/* A process of its own on the same device; its parent's registers stay. */
static void check_processes(volatile void *page)
{
	int status;
	pid_t child;

	dispatch(page, MCFG, 0, 5);
	fflush(NULL);
	child = fork();
	if (!child) {
		check_product(map_or_die("/dev/dare0"), 80);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK(load(page, MATRIX_M) == 5);
}

int main(void)
{
	void *one, *two;

	check_node();
	check_contexts();
	/* The mappings keep their contexts. */
	one = map_or_die("/dev/dare0");
	two = map_or_die("/dev/dare");
	for (unsigned int i = 0; i < 20; i++) {
		check_product(one, i);
		check_product(two, 3 * i);
	}
	check_stream(two);
	check_two(one, two);
	check_error(one);
	check_processes(two);
	CHECK(munmap(one, PAGE) == 0);
	CHECK(munmap(two, PAGE) == 0);
	check_contexts();
	return 0;
}
