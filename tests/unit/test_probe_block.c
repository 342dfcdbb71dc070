/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Blocks of rows copied from and to addresses that may not be there. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "libmimic/base/probe.h"

#define PAGE 4096
#define ARENA (4 * PAGE)
#define SIZE_MOST 300
#define ROWS 5

/* Four pages, then one that cannot be touched. */
static unsigned char *memory;
static unsigned char buffer[ROWS * (SIZE_MOST + 64)], expected[ARENA];
static struct sigaction ours[2];

static int make_memory(void **state)
{
	(void)state;
	memory = mmap(NULL, ARENA + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED || mprotect(memory + ARENA, PAGE, PROT_NONE) ? -1 : 0;
}

/* cmocka puts handlers of its own before every test. */
static void fill_memory(void)
{
	sigaction(SIGSEGV, &ours[0], NULL);
	sigaction(SIGBUS, &ours[1], NULL);
	for (unsigned int i = 0; i < ARENA; i++)
		memory[i] = (unsigned char)(i * 7 + (i >> 8) + 1);
}

static uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

static void rows_of_every_size_are_read_and_nothing_beside_them(void **state)
{
	static unsigned char rows[sizeof(buffer)];

	(void)state;
	fill_memory();
	for (size_t size = 1; size <= SIZE_MOST; size++) {
		size_t stride = size + 1021, buffer_stride = size + size % 7;

		memset(buffer, 0xcc, sizeof(buffer));
		memset(rows, 0xcc, sizeof(rows));
		for (size_t i = 0; i < ROWS; i++)
			memcpy(rows + i * buffer_stride, memory + 3 + i * stride, size);
		assert_int_equal(mimic_probe_read_block(address_of(memory) + 3, stride, size, ROWS, buffer,
							buffer_stride), ROWS);
		assert_memory_equal(buffer, rows, sizeof(buffer));
	}
}

static void rows_of_every_size_are_written_and_nothing_beside_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(buffer); i++)
		buffer[i] = (unsigned char)(i * 13 + 5);
	for (size_t size = 1; size <= SIZE_MOST; size++) {
		size_t stride = size + 3, buffer_stride = size + size % 5;

		fill_memory();
		memcpy(expected, memory, ARENA);
		for (size_t i = 0; i < ROWS; i++)
			memcpy(expected + 1 + i * stride, buffer + i * buffer_stride, size);
		assert_int_equal(mimic_probe_write_block(address_of(memory) + 1, stride, size, ROWS, buffer,
							 buffer_stride), ROWS);
		assert_memory_equal(memory, expected, ARENA);
	}
}

static void no_rows_are_no_access(void **state)
{
	(void)state;
	fill_memory();
	assert_int_equal(mimic_probe_read_block(0, 64, 64, 0, buffer, 64), 0);
	assert_int_equal(mimic_probe_write_block(0, 64, 64, 0, buffer, 64), 0);
}

static void a_stride_may_be_nothing_or_lead_backwards(void **state)
{
	(void)state;
	fill_memory();
	assert_int_equal(mimic_probe_read_block(address_of(memory) + 9, 0, 40, 3, buffer, 40), 3);
	for (size_t i = 0; i < 3; i++)
		assert_memory_equal(buffer + 40 * i, memory + 9, 40);
	assert_int_equal(mimic_probe_read_block(address_of(memory) + 200, (uint64_t)-100, 20, 3, buffer, 20), 3);
	for (size_t i = 0; i < 3; i++)
		assert_memory_equal(buffer + 20 * i, memory + 200 - 100 * i, 20);
}

/* Row 3 of 5 ends one byte behind the memory, for each size. */
static void the_rows_before_one_that_faults_are_done(void **state)
{
	(void)state;
	for (size_t size = 1; size <= SIZE_MOST; size++) {
		uint64_t first = address_of(memory) + ARENA + 1 - size - 3 * SIZE_MOST;

		fill_memory();
		assert_int_equal(mimic_probe_read_block(first, SIZE_MOST, size, ROWS, buffer, size), 3);
		for (size_t i = 0; i < 3; i++)
			assert_memory_equal(buffer + size * i, (void *)(uintptr_t)(first + SIZE_MOST * i), size);
		memset(buffer, 0x5a, sizeof(buffer));
		assert_int_equal(mimic_probe_write_block(first, SIZE_MOST, size, ROWS, buffer, size), 3);
		for (size_t i = 0; i < 3; i++)
			assert_memory_equal((void *)(uintptr_t)(first + SIZE_MOST * i), buffer, size);
	}
}

static void addresses_that_are_none_fault_at_once(void **state)
{
	static const uint64_t nowhere[] = { 0, 0xffff800000000000ull, 0x8000000000000000ull, UINT64_MAX };

	(void)state;
	fill_memory();
	for (size_t size = 1; size <= SIZE_MOST; size++) {
		for (size_t i = 0; i < 4; i++) {
			assert_int_equal(mimic_probe_read_block(nowhere[i], 64, size, 2, buffer, size), 0);
			assert_int_equal(mimic_probe_write_block(nowhere[i], 64, size, 2, buffer, size), 0);
		}
	}
}

static void memory_that_can_only_be_read_is_not_written(void **state)
{
	(void)state;
	fill_memory();
	memset(buffer, 0, sizeof(buffer));
	memcpy(expected, memory, ARENA);
	assert_int_equal(mprotect(memory + PAGE, PAGE, PROT_READ), 0);
	for (size_t size = 1; size <= SIZE_MOST; size++) {
		assert_int_equal(mimic_probe_write_block(address_of(memory), PAGE, size, 2, buffer, size), 1);
		assert_int_equal(mimic_probe_read_block(address_of(memory), PAGE, size, 2, buffer, size), 2);
	}
	assert_memory_equal(memory + PAGE, expected + PAGE, PAGE);
	assert_int_equal(mprotect(memory + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_every_size_are_read_and_nothing_beside_them),
		cmocka_unit_test(rows_of_every_size_are_written_and_nothing_beside_them),
		cmocka_unit_test(no_rows_are_no_access),
		cmocka_unit_test(a_stride_may_be_nothing_or_lead_backwards),
		cmocka_unit_test(the_rows_before_one_that_faults_are_done),
		cmocka_unit_test(addresses_that_are_none_fault_at_once),
		cmocka_unit_test(memory_that_can_only_be_read_is_not_written),
	};

	if (mimic_probe_install_handlers())
		return 1;
	sigaction(SIGSEGV, NULL, &ours[0]);
	sigaction(SIGBUS, NULL, &ours[1]);
	return cmocka_run_group_tests(tests, make_memory, NULL);
}
