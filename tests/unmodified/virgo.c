/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program for Gemmini on a Virgo cluster: its instruction macro is three stores, and
 * nothing else is changed. Written from docs/virgo.md and docs/abi.md alone; nothing of
 * mimic is included or linked.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define SHARED 0x100000
#define SIZE 64

enum {	/* a unit's registers */
	INSTRUCTION = 0x00, RS1 = 0x10, RS2 = 0x18, BUSY = 0x20, STATUS = 0x30, ERROR = 0x50, ERROR_ADDRESS = 0x68,
	IDENTIFY = 0x90, FENCE = 0xb8,
};

enum {	/* the cluster's */
	CLUSTER = 0x00, SHARED_SIZE = 0x08, EVENT_STATUS = 0x30, BARRIER_PARTICIPANTS = 0x100, BARRIER_WAIT = 0x200,
};

enum { INT8, FP16, FP32 };
enum { CONFIG = 0, MVIN = 2, MVOUT = 3, COMPUTE_PRELOADED = 4, COMPUTE_ACCUMULATED = 5, PRELOAD = 6 };

#define ACCUMULATOR 0x80000000u
#define ACCUMULATE 0x40000000u
#define GARBAGE 0xffffffffu
#define ONE (0x3f800000ull << 32)

#define CHECK(condition) do { \
	if (!(condition)) { \
		fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
		exit(1); \
	} \
} while (0)

static volatile char *registers;	/* two pages */
static char *shared;
static volatile char *unit;		/* the control block of the unit that is used */

/* In place of the asm volatile of the custom-3 instruction. */
#define GEMMINI(funct, rs1, rs2) do { \
	*(volatile uint64_t *)(unit + RS1) = (uint64_t)(rs1); \
	*(volatile uint64_t *)(unit + RS2) = (uint64_t)(rs2); \
	*(volatile uint32_t *)(unit + INSTRUCTION) = 0x7bu | 3u << 12 | 1u << 15 | 2u << 20 | (uint32_t)(funct) << 25; \
} while (0)

static uint64_t load(volatile char *from, unsigned int offset)
{
	return *(volatile uint64_t *)(from + offset);
}

static uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

static uint64_t local(uint32_t row, unsigned int rows, unsigned int columns)
{
	return (uint64_t)rows << 48 | (uint64_t)columns << 32 | row;
}

/* Of this type: its control block, and DIM. */
static unsigned int use_unit(unsigned int type)
{
	unsigned int units = load(registers, CLUSTER) & 0xff;

	for (unsigned int i = 0; i < units; i++) {
		uint64_t identify;

		unit = registers + PAGE + 0x100 * i;
		identify = load(unit, IDENTIFY);
		if ((identify >> 8 & 0xff) == type)
			return identify & 0xff;
	}
	CHECK(!"a unit of this type");
	return 0;
}

static void configure(size_t element, unsigned int dim)
{
	GEMMINI(CONFIG, 0 | 1 << 2 | 1 << 16 | ONE, 1ull << 48);
	GEMMINI(CONFIG, 1 | (uint64_t)dim << 16 | ONE, SIZE * element);
	GEMMINI(CONFIG, 2, SIZE * element | ONE);
}

/*
 * C = A x B, all SIZE x SIZE, as Gemmini's tiled multiplication does it: blocks of A at
 * the first rows of the scratchpad, of B behind them, of C in the accumulator.
 */
static void multiply(const char *a, const char *b, char *c, size_t element, unsigned int dim)
{
	unsigned int blocks = SIZE / dim;
	uint32_t b_row = blocks * blocks * dim;

	configure(element, dim);
	for (unsigned int i = 0; i < blocks; i++) {
		for (unsigned int j = 0; j < blocks; j++) {
			size_t offset = (i * dim * SIZE + j * dim) * element;

			GEMMINI(MVIN, address_of(a + offset), local((i * blocks + j) * dim, dim, dim));
			GEMMINI(MVIN, address_of(b + offset), local(b_row + (i * blocks + j) * dim, dim, dim));
		}
	}
	for (unsigned int i = 0; i < blocks; i++) {
		for (unsigned int j = 0; j < blocks; j++) {
			uint32_t c_row = ACCUMULATOR | (i * blocks + j) * dim;

			for (unsigned int k = 0; k < blocks; k++) {
				GEMMINI(PRELOAD, local(b_row + (k * blocks + j) * dim, dim, dim),
					local(c_row | (k ? ACCUMULATE : 0), dim, dim));
				GEMMINI(COMPUTE_PRELOADED, local((i * blocks + k) * dim, dim, dim),
					local(GARBAGE, dim, dim));
			}
			GEMMINI(MVOUT, address_of(c + (i * dim * SIZE + j * dim) * element),
				local(c_row, dim, dim));
		}
	}
}

static void check_int8(void)
{
	static int8_t a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
	unsigned int dim = use_unit(INT8);

	for (int i = 0; i < SIZE; i++) {
		for (int j = 0; j < SIZE; j++) {
			a[i][j] = (int8_t)((i * 5 + j * 3) % 7 - 3);
			b[i][j] = (int8_t)((i * 2 + j * 7) % 11 - 5);
		}
	}
	multiply((char *)a, (char *)b, (char *)c, sizeof(a[0][0]), dim);
	while (load(unit, BUSY))
		;
	CHECK(load(unit, ERROR) == 0);
	for (int i = 0; i < SIZE; i++) {
		for (int j = 0; j < SIZE; j++) {
			int sum = 0;

			for (int k = 0; k < SIZE; k++)
				sum += a[i][k] * b[k][j];
			CHECK(c[i][j] == (sum > 127 ? 127 : sum < -128 ? -128 : sum));
		}
	}
}

static void check_fp32(void)
{
	static float a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
	unsigned int dim = use_unit(FP32);

	for (int i = 0; i < SIZE; i++) {
		for (int j = 0; j < SIZE; j++) {
			a[i][j] = (float)((i * 5 + j * 3) % 7 - 3) / 4;
			b[i][j] = (float)((i * 2 + j * 7) % 11 - 5) / 8;
		}
	}
	multiply((char *)a, (char *)b, (char *)c, sizeof(a[0][0]), dim);
	CHECK((load(unit, FENCE) & 3) == 0);
	for (int i = 0; i < SIZE; i++) {
		for (int j = 0; j < SIZE; j++) {
			float sum = 0;	/* of small multiples of 1/32: exact in any order */

			for (int k = 0; k < SIZE; k++)
				sum += a[i][k] * b[k][j];
			CHECK(c[i][j] == sum);
		}
	}
}

/* The unit multiplies values that the program has stored to the shared memory, without a move. */
static void check_shared(void)
{
	unsigned int dim = use_unit(FP32);
	float *a = (float *)shared, *b = a + dim * dim, c[16][16];

	configure(sizeof(float), dim);
	for (unsigned int i = 0; i < dim * dim; i++) {
		a[i] = (float)i;
		b[i] = i % (dim + 1) ? 0 : 2;	/* two times the identity */
	}
	GEMMINI(CONFIG, 2, sizeof(c[0]) | ONE);
	GEMMINI(PRELOAD, local(dim, dim, dim), local(ACCUMULATOR, dim, dim));
	GEMMINI(COMPUTE_PRELOADED, local(0, dim, dim), local(GARBAGE, dim, dim));
	GEMMINI(MVOUT, address_of(c), local(ACCUMULATOR, dim, dim));
	GEMMINI(MVIN, address_of(c), local(2 * dim, dim, dim));
	CHECK((load(unit, FENCE) & 3) == 0);
	for (unsigned int i = 0; i < dim * dim; i++)
		CHECK(c[i / dim][i % dim] == 2 * (float)i);
}

/* An address that is none: the unit says so, and goes on after a store to ERROR. */
static void check_error(void)
{
	char *hole = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(hole != MAP_FAILED && munmap(hole, PAGE) == 0);
	use_unit(INT8);
	GEMMINI(MVIN, address_of(hole), local(0, 1, 4));
	CHECK((load(unit, FENCE) & 3) == 2);
	CHECK(load(unit, ERROR) == 6);
	CHECK(load(unit, ERROR_ADDRESS) == address_of(hole));
	*(volatile uint64_t *)(unit + ERROR) = 0;
	GEMMINI(MVIN, 0, local(0, 1, 4));
	CHECK((load(unit, FENCE) & 3) == 0);
}

static void *arrive(void *argument)
{
	CHECK(load(registers, BARRIER_WAIT + 8 * 3) == 0);
	return argument;
}

static void check_barrier(void)
{
	pthread_t threads[3];

	*(volatile uint64_t *)(registers + BARRIER_PARTICIPANTS + 8 * 3) = 4;
	for (int i = 0; i < 3; i++)
		CHECK(pthread_create(&threads[i], NULL, arrive, NULL) == 0);
	arrive(NULL);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

/* --- the node ------------------------------------------------------------------------ */

struct information {
	uint32_t size, version, index, pages;
	uint64_t identify, faults, unresolved, shootdowns, shared_size, reserved[3];
};

struct events {
	uint32_t size;
	int32_t fd;
	uint64_t events, reserved[1];
};

#define GET_INFORMATION _IOWR(0xb9, 0, struct information)
#define SET_EVENTS _IOW(0xb9, 1, struct events)

static int failed_with(long result)
{
	return result == -1 ? errno : 0;
}

static int map_error(int file, size_t length, int protection, int flags, off_t offset)
{
	return mmap(NULL, length, protection, flags, file, offset) == MAP_FAILED ? errno : 0;
}

static void check_node(int file, size_t size)
{
	struct stat status;
	int reader = open("/dev/virgo0", O_RDONLY);

	CHECK(stat("/dev/virgo0", &status) == 0 && S_ISCHR(status.st_mode) && minor(status.st_rdev) == 0);
	CHECK(stat("/dev/virgo250", &status) == -1 && errno == ENOENT);
	CHECK(map_error(file, PAGE, PROT_READ, MAP_SHARED, 2 * PAGE) == EINVAL);
	CHECK(map_error(file, PAGE, PROT_READ, MAP_SHARED, SHARED - PAGE) == EINVAL);
	CHECK(map_error(file, size + PAGE, PROT_READ, MAP_SHARED, SHARED) == EINVAL);
	CHECK(map_error(file, PAGE, PROT_READ, MAP_SHARED, (off_t)(SHARED + size)) == EINVAL);
	CHECK(map_error(file, size, PROT_READ, MAP_PRIVATE, SHARED) == EINVAL);
	CHECK(map_error(file, size, PROT_READ | PROT_EXEC, MAP_SHARED, SHARED) == EINVAL);
	CHECK(reader >= 0);
	CHECK(map_error(reader, size, PROT_READ | PROT_WRITE, MAP_SHARED, SHARED) == EACCES);
	CHECK(close(reader) == 0);
}

static void check_information(int file, size_t size)
{
	struct information information = { .size = sizeof(information) };

	CHECK(ioctl(file, GET_INFORMATION, &information) == 0);
	CHECK(information.version == 1 && information.index == 0 && information.pages == 2);
	CHECK(information.identify >> 32 == 0x5652474f && information.identify == load(registers, CLUSTER));
	CHECK(information.shared_size == size && information.unresolved >= 1);
	information.size = 8;
	CHECK(failed_with(ioctl(file, GET_INFORMATION, &information)) == EINVAL);
	information = (struct information){ .size = sizeof(information), .reserved = { 0, 1 } };
	CHECK(failed_with(ioctl(file, GET_INFORMATION, &information)) == EINVAL);
	CHECK(failed_with(ioctl(file, GET_INFORMATION, NULL)) == EFAULT);
	CHECK(failed_with(ioctl(file, _IO(0xb9, 77), NULL)) == ENOTTY);
}

/* The unit becomes idle: a thread that waits for the eventfd is woken, once. */
static void check_events(int file)
{
	struct events events = { .size = sizeof(events), .fd = eventfd(0, EFD_CLOEXEC) };
	struct events none = { .size = sizeof(events), .fd = -1 };
	static char bytes[16];
	uint64_t count;

	use_unit(INT8);
	*(volatile uint64_t *)(registers + EVENT_STATUS) = ~0ull;
	events.events = 1ull << ((unit - registers - PAGE) / 0x100);
	CHECK(ioctl(file, SET_EVENTS, &events) == 0);
	GEMMINI(MVIN, address_of(bytes), local(0, 1, 16));
	CHECK(read(events.fd, &count, sizeof(count)) == sizeof(count) && count == 1);
	CHECK((load(registers, EVENT_STATUS) & events.events) == 0);
	CHECK(ioctl(file, SET_EVENTS, &none) == 0);
	CHECK(close(events.fd) == 0);
	CHECK(failed_with(ioctl(file, SET_EVENTS, &events)) == EBADF);
	events.fd = file;
	CHECK(failed_with(ioctl(file, SET_EVENTS, &events)) == EINVAL);
	events.events = 1ull << 63;
	CHECK(failed_with(ioctl(file, SET_EVENTS, &events)) == EINVAL);
}

static int child_dies_of(void (*access)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		access();
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void load_shared(void)
{
	*(volatile char *)shared;
}

static void load_register(void)
{
	load(registers, CLUSTER);
}

/* A second mapping is the same memory, and takes the protection that is asked for. */
static void check_mappings(int file, size_t size)
{
	char *again = mmap(NULL, size, PROT_READ, MAP_SHARED, file, SHARED);

	CHECK(again != MAP_FAILED);
	shared[size - 1] = 77;
	CHECK(again[size - 1] == 77);
	CHECK(mprotect(again, PAGE, PROT_READ | PROT_WRITE) == 0);
	again[5] = 55;
	CHECK(shared[5] == 55);
	CHECK(munmap(again + PAGE, size - PAGE) == 0);
	CHECK(again[5] == 55 && munmap(again, PAGE) == 0);
	CHECK(child_dies_of(load_shared) == SIGBUS);
	CHECK(child_dies_of(load_register) == SIGBUS);
}

int main(void)
{
	int file = open("/dev/virgo0", O_RDWR);
	size_t size;

	CHECK(file >= 0);
	registers = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(registers != MAP_FAILED);
	size = load(registers, SHARED_SIZE);
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, SHARED);
	CHECK(shared != MAP_FAILED);
	for (size_t i = 0; i < size; i++)
		CHECK(shared[i] == 0);
	check_node(file, size);
	check_int8();
	check_fp32();
	check_shared();
	check_error();
	check_barrier();
	check_information(file, size);
	check_events(file);
	check_mappings(file, size);
	/* The mappings keep the cluster: another open of this process is the same one. */
	CHECK(close(file) == 0);
	shared[9] = 99;
	file = open("/dev/virgo", O_RDWR);
	CHECK(file >= 0 && close(file) == 0);
	CHECK(shared[9] == 99 && load(registers, SHARED_SIZE) == size);
	/* With the last of them it is free, and comes back cleared. */
	CHECK(munmap((void *)registers, 2 * PAGE) == 0 && munmap(shared, size) == 0);
	file = open("/dev/virgo0", O_RDWR);
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, SHARED);
	CHECK(shared != MAP_FAILED && shared[9] == 0);
	return 0;
}
