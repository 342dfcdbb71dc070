/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Rows of tiles copied from and to addresses that may not be there. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "libmimic/base/probe_internal.h"

#define PAGE 4096
#define ROWS 16
#define ROW 64

/* Two pages, then one that cannot be touched. */
static unsigned char *memory;
static struct sigaction ours[2];

static int make_memory(void **state)
{
	(void)state;
	memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || mprotect(memory + 2 * PAGE, PAGE, PROT_NONE))
		return -1;
	return 0;
}

/* cmocka puts handlers of its own before every test. */
static void fill_memory(void)
{
	sigaction(SIGSEGV, &ours[0], NULL);
	sigaction(SIGBUS, &ours[1], NULL);
	for (unsigned int i = 0; i < 2 * PAGE; i++)
		memory[i] = (unsigned char)(i * 7 + (i >> 8) + 1);
}

static uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* Rows that neither follow each other nor are aligned. */
static void scatter(uint64_t *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++)
		addresses[i] = address_of(memory) + (i * 1237 + 5) % (2 * PAGE - ROW);
}

static void rows_of_every_size_are_read_and_the_rest_is_zero(void **state)
{
	unsigned char rows[ROWS * ROW + 64], expected[sizeof(rows)];
	uint64_t addresses[ROWS];

	(void)state;
	fill_memory();
	scatter(addresses, ROWS);
	for (size_t size = 1; size <= ROW; size++) {
		for (size_t count = 0; count <= ROWS; count++) {
			memset(rows, 0xcc, sizeof(rows));
			memset(expected, 0xcc, sizeof(expected));
			memset(expected, 0, count * ROW);
			for (size_t i = 0; i < count; i++)
				memcpy(expected + i * ROW, (void *)(uintptr_t)addresses[i], size);
			assert_int_equal(mimic_probe_read_rows(addresses, count, size, rows), count);
			assert_memory_equal(rows, expected, sizeof(rows));
		}
	}
}

static void rows_of_every_size_are_written_and_nothing_beside_them(void **state)
{
	static unsigned char expected[2 * PAGE];
	unsigned char rows[ROWS * ROW];
	uint64_t addresses[ROWS];

	(void)state;
	for (size_t i = 0; i < sizeof(rows); i++)
		rows[i] = (unsigned char)(i * 13 + 5);
	for (size_t size = 1; size <= ROW; size++) {
		fill_memory();
		memcpy(expected, memory, sizeof(expected));
		for (size_t i = 0; i < ROWS; i++) {
			/* Rows do not overlap: their order would count. */
			addresses[i] = address_of(memory) + i * 97 + i % 3;
			memcpy(expected + i * 97 + i % 3, rows + i * ROW, size);
		}
		assert_int_equal(mimic_probe_write_rows(addresses, ROWS, size, rows), ROWS);
		assert_memory_equal(memory, expected, sizeof(expected));
	}
}

static void a_row_may_end_where_memory_does(void **state)
{
	unsigned char rows[ROW];

	(void)state;
	for (size_t size = 1; size <= ROW; size++) {
		uint64_t address = address_of(memory) + 2 * PAGE - size;

		fill_memory();
		assert_int_equal(mimic_probe_read_rows(&address, 1, size, rows), 1);
		assert_memory_equal(rows, memory + 2 * PAGE - size, size);
		assert_int_equal(mimic_probe_write_rows(&address, 1, size, rows), 1);
		address++;
		assert_int_equal(mimic_probe_read_rows(&address, 1, size, rows), 0);
		assert_int_equal(mimic_probe_write_rows(&address, 1, size, rows), 0);
	}
}

static void the_rows_before_one_that_faults_are_done(void **state)
{
	static const uint64_t nowhere[] = { 0, 0xffff800000000000ull, 0x8000000000000000ull, UINT64_MAX };
	unsigned char rows[ROWS * ROW];
	uint64_t addresses[ROWS];

	(void)state;
	fill_memory();
	for (size_t size = 1; size <= ROW; size++) {
		for (size_t bad = 0; bad < ROWS; bad++) {
			scatter(addresses, ROWS);
			addresses[bad] = nowhere[(size + bad) % 4];
			assert_int_equal(mimic_probe_read_rows(addresses, ROWS, size, rows), bad);
			for (size_t i = 0; i < bad; i++)
				assert_memory_equal(rows + i * ROW, (void *)(uintptr_t)addresses[i], size);
			assert_int_equal(mimic_probe_write_rows(addresses, ROWS, size, rows), bad);
		}
	}
}

/* A whole tile: what follows it is fetched, and may not be there. */
static void rows_that_follow_each_other_are_read_up_to_the_end_of_memory(void **state)
{
	unsigned char rows[ROWS * ROW];
	uint64_t addresses[ROWS];

	(void)state;
	fill_memory();
	for (size_t there = 0; there <= ROWS; there++) {
		const unsigned char *start = memory + 2 * PAGE - there * ROW;

		for (size_t i = 0; i < ROWS; i++)
			addresses[i] = address_of(start) + i * ROW;
		memset(rows, 0, sizeof(rows));
		assert_int_equal(mimic_probe_read_rows(addresses, ROWS, ROW, rows), there);
		assert_memory_equal(rows, start, there * ROW);
	}
}

#if MIMIC_PROBE_X86
/* The way of processors without AVX-512, which this one may not need. */
static void rows_of_64_bytes_are_moved_without_avx512_too(void **state)
{
	unsigned char rows[ROWS * ROW];
	uint64_t addresses[ROWS];

	(void)state;
	fill_memory();
	for (size_t bad = 0; bad < ROWS; bad++) {
		scatter(addresses, ROWS);
		addresses[bad] = 0;
		memset(rows, 0, sizeof(rows));
		assert_int_equal(mimic_probe_read_rows64(addresses, ROWS, 0, rows), bad);
		for (size_t i = 0; i < bad; i++)
			assert_memory_equal(rows + i * ROW, (void *)(uintptr_t)addresses[i], ROW);
		memset(rows, 0xa5, sizeof(rows));
		assert_int_equal(mimic_probe_write_rows64(addresses, ROWS, 0, rows), bad);
		for (size_t i = 0; i < bad; i++)
			assert_memory_equal(rows + i * ROW, (void *)(uintptr_t)addresses[i], ROW);
		fill_memory();
	}
}
#endif

static void memory_that_can_only_be_read_is_not_written(void **state)
{
	unsigned char rows[2 * ROW] = { 0 };
	uint64_t addresses[2] = { address_of(memory), address_of(memory) + PAGE };

	(void)state;
	fill_memory();
	assert_int_equal(mprotect(memory + PAGE, PAGE, PROT_READ), 0);
	for (size_t size = 1; size <= ROW; size++) {
		assert_int_equal(mimic_probe_write_rows(addresses, 2, size, rows), 1);
		assert_int_equal(mimic_probe_read_rows(addresses, 2, size, rows), 2);
	}
	assert_int_equal(mprotect(memory + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_every_size_are_read_and_the_rest_is_zero),
		cmocka_unit_test(rows_of_every_size_are_written_and_nothing_beside_them),
		cmocka_unit_test(a_row_may_end_where_memory_does),
		cmocka_unit_test(the_rows_before_one_that_faults_are_done),
		cmocka_unit_test(rows_that_follow_each_other_are_read_up_to_the_end_of_memory),
#if MIMIC_PROBE_X86
		cmocka_unit_test(rows_of_64_bytes_are_moved_without_avx512_too),
#endif
		cmocka_unit_test(memory_that_can_only_be_read_is_not_written),
	};

	if (mimic_probe_install_handlers())
		return 1;
	sigaction(SIGSEGV, NULL, &ours[0]);
	sigaction(SIGBUS, NULL, &ours[1]);
	return cmocka_run_group_tests(tests, make_memory, NULL);
}
