/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * SpMV as a program has it that knows nothing of mimic: one thread stores pointers, another one loads the
 * words that they point to, by plain instructions. Under `mimic run` with --no-patch and --no-post, where each of
 * them traps and waits for its device, and without.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/bench.h"
#include "mimic/maple_registers.h"

#define PER_ROW 8u
#define ROWS_MAX 131072u	/* 1 M non-zeros */
/* Where an access takes microseconds: the time for one non-zero does not depend on their number. */
#define ROWS_SLOW 4096u
#define ROWS_NAME "MIMIC_BENCH_ROWS"
#define WORDS_64 4 /* size code of the queues */

/* --- under mimic run ------------------------------------------------------------ */

static uint32_t column[ROWS_MAX * PER_ROW], value[ROWS_MAX * PER_ROW], y[ROWS_MAX], expected[ROWS_MAX];
static unsigned int rows;
static uint32_t *x; /* below 4 GiB, as the device's pointers are */
static volatile char *page;

static uint64_t load64(unsigned int operation, unsigned int field)
{
	return *(volatile uint64_t *)(page + MAPLE_OFFSET(operation, field));
}

static void make_matrix(void)
{
	uint64_t state = 88172645463325252ull;

	x = mmap(NULL, rows * sizeof(*x), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1,
		 0);
	if (x == MAP_FAILED)
		bench_fail("mmap: %s", strerror(errno));
	for (unsigned int i = 0; i < rows; i++)
		x[i] = i * 2654435761u;
	for (unsigned int i = 0; i < rows * PER_ROW; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		column[i] = (uint32_t)(state % rows);
		value[i] = (uint32_t)(state >> 40);
		expected[i / PER_ROW] += value[i] * x[column[i]];
	}
}

static void *access_thread(void *unused)
{
	volatile uint64_t *pointers = (volatile uint64_t *)(page + MAPLE_OFFSET(MAPLE_STORE_POINTER32, 0));

	/* The role is the thread's. */
	if (!load64(MAPLE_LOAD_OPEN_PRODUCER, 0))
		bench_fail("queue 0 cannot be opened");
	*(volatile uint64_t *)(page + MAPLE_OFFSET(MAPLE_STORE_SET_BASE32, 0)) = (uintptr_t)x;
	for (unsigned int i = 0; i < rows * PER_ROW; i++)
		*pointers = column[i];
	return unused;
}

static void multiply(void)
{
	volatile uint32_t *words = (volatile uint32_t *)(page + MAPLE_OFFSET(MAPLE_LOAD_CONSUME, 0));

	for (unsigned int row = 0; row < rows; row++) {
		uint32_t sum = 0;

		for (unsigned int i = row * PER_ROW; i < (row + 1) * PER_ROW; i++)
			sum += value[i] * *words;
		y[row] = sum;
	}
}

int bench_patch_spmv_child(void)
{
	const char *wanted = getenv(ROWS_NAME);
	int fd = open("/dev/maple0", O_RDWR);
	pthread_t thread;
	double start;

	page = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		bench_fail("/dev/maple0: %s", strerror(errno));
	rows = wanted ? (unsigned int)strtoul(wanted, NULL, 10) : ROWS_MAX;
	if (!rows || rows > ROWS_MAX)
		bench_fail(ROWS_NAME " is not 1 to %u", ROWS_MAX);
	make_matrix();
	load64(MAPLE_LOAD_RESET, 0);
	load64(MAPLE_LOAD_INIT, WORDS_64);
	if (!load64(MAPLE_LOAD_OPEN_CONSUMER, 0))
		bench_fail("queue 0 cannot be opened");
	start = bench_now();
	if (pthread_create(&thread, NULL, access_thread, NULL))
		bench_fail("no thread");
	multiply();
	pthread_join(thread, NULL);
	printf("%.2f\n", (bench_now() - start) * 1e9 / (rows * PER_ROW));
	if (memcmp(y, expected, rows * sizeof(y[0])))
		bench_fail("SpMV is wrong");
	return 0;
}

/* --- the rows ---------------------------------------------------------------------- */

static double measure(const struct bench_options *options, const char *transport, const char *patch,
		      unsigned int count)
{
	bool is_daemon = !strcmp(transport, "daemon");
	char command[9000], line[64] = "";
	double value_of_run = 0;
	FILE *child;

	snprintf(command, sizeof(command),
		 ROWS_NAME "=%u '%s/bin/mimic' run %s --transport %s %s%s '%s' --patch-spmv-child", count,
		 options->build, patch, transport, is_daemon ? "--socket " : "", is_daemon ? options->socket : "", options->self);
	child = popen(command, "r");
	if (!child || !fgets(line, sizeof(line), child) || pclose(child) ||
	    sscanf(line, "%lf", &value_of_run) != 1)
		bench_fail("this failed: %s", command);
	return value_of_run;
}

/* `limit` is on the ratio. */
static void spmv(const struct bench_options *options, const char *transport, unsigned int count, double limit)
{
	double before[BENCH_RUNS], ratios[BENCH_RUNS], reference;
	struct bench_row row;

	for (int run = 0; run < BENCH_RUNS; run++) {
		before[run] = measure(options, transport, "--no-patch --no-post", ROWS_SLOW);
		ratios[run] = measure(options, transport, "", count) / before[run];
	}
	reference = bench_median(before, BENCH_RUNS);
	row = (struct bench_row){ .value = bench_median(ratios, BENCH_RUNS) * reference,
				  .unit = "ns/nonzero",
				  .reference = "the same, each access a trap that waits",
				  .reference_value = reference,
				  .limit = limit * reference };
	snprintf(row.name, sizeof(row.name), "patched_spmv_%s", transport);
	bench_report(&row);
}

void bench_patch_spmv(const struct bench_options *options)
{
	spmv(options, "embedded", ROWS_MAX, 1.0 / 30);
	/* Two threads, the daemon, and its thread that reads the program's memory: on two processors they take turns. */
	spmv(options, "daemon", ROWS_SLOW, 1.0 / 8);
}
