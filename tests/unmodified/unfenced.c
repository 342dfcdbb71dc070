/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program for a Virgo cluster that looks at its commands' results without waiting for
 * them, for the synchronous mode, with a signal every now and then. Written from docs/virgo.md
 * and docs/abi.md alone; nothing of mimic is included or linked.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#define PAGE 4096
#define SHARED 0x100000
#define COUNT 2000
#define BYTES 256	/* that a command moves: 8 rows of an 8 x 8 unit of fp32 */

enum { INSTRUCTION = 0x00, RS1 = 0x10, RS2 = 0x18, DISPATCHED = 0x80 };
enum { CONFIG = 0, MVIN = 2 };

#define ONE (0x3f800000ull << 32)

#define CHECK(condition) do { \
	if (!(condition)) { \
		fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
		exit(1); \
	} \
} while (0)

static volatile char *unit;

static void gemmini(unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	/* The command's operands are written before it is stored, and its results are read afterwards. */
	__asm__ volatile ("" ::: "memory");
	*(volatile uint64_t *)(unit + RS1) = rs1;
	*(volatile uint64_t *)(unit + RS2) = rs2;
	*(volatile uint32_t *)(unit + INSTRUCTION) = 0x7bu | 3u << 12 | 1u << 15 | 2u << 20 | funct << 25;
	__asm__ volatile ("" ::: "memory");
}

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
	(void)number;
	signals++;
}

static void start_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct itimerval often = { .it_interval.tv_usec = 500, .it_value.tv_usec = 500 };

	CHECK(!sigaction(SIGALRM, &action, NULL));
	CHECK(!setitimer(ITIMER_REAL, &often, NULL));
}

int main(void)
{
	static unsigned char from[BYTES];
	int node = open("/dev/virgo0", O_RDWR);
	volatile char *registers;
	volatile unsigned char *shared;

	CHECK(node >= 0);
	registers = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, node, 0);
	shared = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, node, SHARED);
	CHECK(registers != MAP_FAILED && shared != MAP_FAILED);
	unit = registers + PAGE;
	gemmini(CONFIG, 1 | 8ull << 16 | ONE, 32);
	start_signals();
	for (int i = 0; i < COUNT; i++) {
		uint32_t row = (uint32_t)i % 4 * 8;

		memset(from, i, BYTES);
		gemmini(MVIN, (uint64_t)(uintptr_t)from, 8ull << 48 | 8ull << 32 | row);
		for (int byte = 0; byte < BYTES; byte++)
			CHECK(shared[row * 32 + (uint32_t)byte] == (unsigned char)i);
	}
	/* A store that a signal interrupts is one command all the same. */
	CHECK(*(volatile uint64_t *)(unit + DISPATCHED) == COUNT + 1);
	printf("%d commands, %d signals\n", COUNT, (int)signals);
	return 0;
}
