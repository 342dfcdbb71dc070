/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A Virgo cluster with bad commands, missing pages and hostile values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/virgo_fixture.h"

#define ACC VIRGO_LOCAL_ACCUMULATOR

static struct virgo_fixture *f;

static void start(unsigned int options)
{
	f = virgo_fixture_create(NULL, options);
	for (unsigned int i = 0; i < ARENA_BYTES / 4; i++) {
		float value = (float)(i % 1000);

		memcpy(f->arena + 4 * i, &value, 4);
	}
	virgo_send(f, 0, VIRGO_FUNCT_CONFIG, 0x3f800000ull << 32 | 8u << 16 | 1u << 8 | VIRGO_CONFIG_LD, 1024);
	virgo_send(f, 0, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, 0x3f800000ull << 32 | 1024);
	virgo_run(f);
}

static void stop(void)
{
	virgo_fixture_destroy(f);
}

static uint64_t reg(unsigned int offset)
{
	return virgo_unit_load(f, 0, offset);
}

static uint64_t control(unsigned int offset)
{
	return virgo_load(f, VIRGO_PAGE_CONTROL, offset, 8);
}

static uint64_t at(size_t offset)
{
	return virgo_address(f->arena + offset);
}

/* This command, and no other, is an error of this kind with this value. */
static void expect_error(unsigned int funct, uint64_t rs1, uint64_t rs2, enum virgo_error error,
			 uint64_t value)
{
	uint64_t position = reg(VIRGO_DISPATCHED);

	virgo_send(f, 0, funct, rs1, rs2);
	virgo_run(f);
	assert_int_equal(reg(VIRGO_ERROR), error);
	assert_int_equal(reg(VIRGO_ERROR_INSTRUCTION), VIRGO_INSTRUCTION_WORD(funct));
	assert_int_equal(reg(VIRGO_ERROR_POSITION), position);
	assert_int_equal(reg(VIRGO_ERROR_ADDRESS), value);
	assert_int_equal(reg(VIRGO_ERROR_RS1), rs1);
	assert_int_equal(reg(VIRGO_ERROR_RS2), rs2);
	assert_int_equal(reg(VIRGO_BUSY), 0);
	virgo_unit_store(f, 0, VIRGO_ERROR, 0);
	assert_int_equal(reg(VIRGO_ERROR), 0);
	assert_int_equal(reg(VIRGO_ERROR_INSTRUCTION), 0);
}

/* --- errors --------------------------------------------------------------------------------- */

static void a_funct_that_is_no_command_is_an_error(void **state)
{
	(void)state;
	start(0);
	for (unsigned int funct = 26; funct < 126; funct++)
		expect_error(funct, 1, 2, VIRGO_ERROR_COMMAND, funct);
	expect_error(127, 1, 2, VIRGO_ERROR_COMMAND, 127);
	stop();
}

static void a_word_of_another_opcode_is_an_error(void **state)
{
	(void)state;
	start(0);
	virgo_store(f, VIRGO_PAGE_UNITS, VIRGO_INSTRUCTION, 4, 0x33);
	virgo_run(f);
	assert_int_equal(reg(VIRGO_ERROR), VIRGO_ERROR_COMMAND);
	assert_int_equal(reg(VIRGO_ERROR_ADDRESS), 0x33);
	stop();
}

static void rows_outside_of_a_memory_are_errors(void **state)
{
	(void)state;
	start(0);
	expect_error(VIRGO_FUNCT_MVIN, at(0), virgo_pack(1, 8, 2048), VIRGO_ERROR_RANGE, 2048);
	expect_error(VIRGO_FUNCT_MVIN, at(0), virgo_pack(8, 8, 2041), VIRGO_ERROR_RANGE, 2048);
	expect_error(VIRGO_FUNCT_MVIN, at(0), virgo_pack(1, 8, ACC | 512), VIRGO_ERROR_RANGE, 512);
	expect_error(VIRGO_FUNCT_MVIN, at(0), virgo_pack(1, 9, 2040), VIRGO_ERROR_RANGE, 2048);
	expect_error(VIRGO_FUNCT_MVIN, at(0), virgo_pack(1, 1, 1u << 30), VIRGO_ERROR_RANGE, 1u << 30);
	expect_error(VIRGO_FUNCT_MVOUT, at(0), virgo_pack(8, 8, 2041), VIRGO_ERROR_RANGE, 2048);
	expect_error(VIRGO_FUNCT_MVOUT, at(0), virgo_pack(8, 16, ACC | 500), VIRGO_ERROR_RANGE, 512);
	expect_error(VIRGO_FUNCT_MVOUT_SPAD, 1ull << 32 | 2047, virgo_pack(2, 8, ACC), VIRGO_ERROR_RANGE, 2048);
	expect_error(VIRGO_FUNCT_MVOUT_SPAD, 0xffffffffull << 32 | 1, virgo_pack(2, 8, ACC),
		     VIRGO_ERROR_RANGE, 2048);
	expect_error(VIRGO_FUNCT_COMPUTE_PRELOADED, virgo_pack(8, 8, 2041), VIRGO_GARBAGE,
		     VIRGO_ERROR_RANGE, 2048);
	expect_error(VIRGO_FUNCT_COMPUTE_PRELOADED, virgo_pack(9, 8, 0), VIRGO_GARBAGE, VIRGO_ERROR_SIZE, 9);
	stop();
}

static void configurations_that_make_no_sense_are_errors(void **state)
{
	(void)state;
	start(0);
	expect_error(VIRGO_FUNCT_CONFIG, 3u << 3 | VIRGO_CONFIG_LD, 0, VIRGO_ERROR_VALUE, 3);
	expect_error(VIRGO_FUNCT_CONFIG, 4u << 8 | VIRGO_CONFIG_NORM, 0, VIRGO_ERROR_VALUE, 4);
	expect_error(VIRGO_FUNCT_COUNTER, VIRGO_COUNTER_CONFIGURE | 63u << 12, 0, VIRGO_ERROR_VALUE, 63);
	expect_error(VIRGO_FUNCT_MVOUT_SPAD, 0, virgo_pack(1, 1, 0), VIRGO_ERROR_VALUE, 0);
	stop();
}

static void loops_that_do_not_fit_are_errors(void **state)
{
	(void)state;
	start(0);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_BOUNDS, 0, 8ull << 32 | 9u << 16 | 8);
	expect_error(VIRGO_FUNCT_LOOP_WS, 0, 0, VIRGO_ERROR_SIZE, 8 * 9 * 8);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_BOUNDS, 8, 8ull << 32 | 8u << 16 | 8);
	expect_error(VIRGO_FUNCT_LOOP_WS, 0, 0, VIRGO_ERROR_SIZE, 8);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_BOUNDS, 0, 9ull << 32 | 8u << 16 | 8);
	expect_error(VIRGO_FUNCT_LOOP_WS, 0, 0, VIRGO_ERROR_SIZE, 2 * 9 * 8 * 8);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_BOUNDS, 0, 4ull << 32 | 4u << 16 | 4);
	expect_error(VIRGO_FUNCT_LOOP_WS, 3u << 18, 0, VIRGO_ERROR_VALUE, 3);
	expect_error(VIRGO_FUNCT_LOOP_WS, 0, VIRGO_LOOP_STORE_SPAD | 2047ull << 32, VIRGO_ERROR_RANGE, 2048);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_SPAD_AB, 2047, 2048);
	expect_error(VIRGO_FUNCT_LOOP_WS, 0, 0, VIRGO_ERROR_RANGE, 2048);
	stop();
}

static void after_an_error_commands_are_dropped_until_it_is_cleared(void **state)
{
	float value = 0;

	(void)state;
	start(0);
	virgo_send(f, 0, 100, 0, 0);
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(4), virgo_pack(1, 8, 0));
	virgo_run(f);
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(4), virgo_pack(1, 8, 0));
	virgo_run(f);
	assert_int_equal(reg(VIRGO_ERROR), VIRGO_ERROR_COMMAND);
	assert_int_equal(reg(VIRGO_COMPLETED), reg(VIRGO_DISPATCHED));
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_dropped), 2);
	memcpy(&value, f->shared, 4);
	assert_true(value == 0);
	virgo_unit_store(f, 0, VIRGO_ERROR, 0);
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(4), virgo_pack(1, 8, 0));
	virgo_run(f);
	memcpy(&value, f->shared, 4);
	assert_true(value == 1);
	stop();
}

static void a_full_queue_is_an_error_if_it_is_configured_so(void **state)
{
	struct virgo_config config = virgo_fixture_config(VIRGO_FP32, 8);

	(void)state;
	config.overflow_is_error = 1;
	config.queue_entries = 4;
	f = virgo_fixture_create(&config, 0);
	for (unsigned int i = 0; i < 5; i++)
		virgo_store(f, VIRGO_PAGE_UNITS, VIRGO_INSTRUCTION, 4, VIRGO_INSTRUCTION_WORD(VIRGO_FUNCT_FLUSH));
	assert_int_equal(reg(VIRGO_ERROR), VIRGO_ERROR_OVERFLOW);
	assert_int_equal(reg(VIRGO_ERROR_POSITION), 4);
	assert_int_equal(reg(VIRGO_ERROR_ADDRESS), 4);
	stop();
}

/* --- page faults ----------------------------------------------------------------------------- */

static void a_bad_address_stops_the_command_that_used_it(void **state)
{
	static const unsigned int ways[] = { 0, FIXTURE_ROWS, FIXTURE_WALKS, FIXTURE_WALKS | FIXTURE_ROWS,
					     FIXTURE_WALKS | FIXTURE_MOVED };

	(void)state;
	for (unsigned int i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		start(ways[i]);
		f->absent[1] = true;
		/* rows 1024 bytes apart, 80 bytes each: the fifth begins on the missing page */
		expect_error(VIRGO_FUNCT_MVIN, at(0), virgo_pack(8, 20, 0), VIRGO_ERROR_LOAD, at(4096));
		/* the fourth reaches into it */
		expect_error(VIRGO_FUNCT_MVIN, at(1000), virgo_pack(8, 20, 0), VIRGO_ERROR_LOAD, at(4096));
		expect_error(VIRGO_FUNCT_MVIN, 16, virgo_pack(1, 1, 0), VIRGO_ERROR_LOAD, 16);
		assert_int_equal(control(VIRGO_CONTROL_FAULT_COUNT), 3);
		assert_int_equal(control(VIRGO_CONTROL_FAULT_STATUS), 0);
		expect_error(VIRGO_FUNCT_MVOUT, at(1000), virgo_pack(8, 20, 0), VIRGO_ERROR_STORE, at(4096));
		assert_int_equal(control(VIRGO_CONTROL_FAULT_STATUS), at(4096) | VIRGO_FAULT_WRITES);
		stop();
	}
}

static void a_page_that_comes_in_time_is_not_seen_by_the_program(void **state)
{
	(void)state;
	start(FIXTURE_WALKS | FIXTURE_FAULTS);
	f->absent[1] = true;
	f->fault_answer = MIMIC_FAULT_RETRY;
	f->fault_brings_page = true;
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(0), virgo_pack(8, 20, 0));
	virgo_run(f);
	assert_int_equal(reg(VIRGO_ERROR), 0);
	assert_int_equal(f->faults, 1);
	assert_int_equal(f->fault_address, at(4096));
	assert_int_equal(f->fault_source, 0);
	for (unsigned int row = 0; row < 8; row++)
		assert_memory_equal(f->shared + 32 * row, f->arena + 1024 * row, 32);
	stop();
}

static void a_retry_that_does_not_help_ends_as_a_bad_address(void **state)
{
	(void)state;
	start(FIXTURE_FAULTS);
	f->absent[0] = true;
	f->fault_answer = MIMIC_FAULT_RETRY;
	expect_error(VIRGO_FUNCT_MVIN, at(0), virgo_pack(8, 8, 0), VIRGO_ERROR_LOAD, at(0));
	stop();
}

static void start_stalled(bool writes)
{
	start(FIXTURE_WALKS | FIXTURE_FAULTS);
	f->absent[1] = true;
	f->fault_answer = MIMIC_FAULT_STALL;
	virgo_send(f, 0, writes ? VIRGO_FUNCT_MVOUT : VIRGO_FUNCT_MVIN, at(0), virgo_pack(8, 8, 0));
	virgo_run(f);
	assert_int_equal(f->interrupts, 1);
	assert_int_equal(control(VIRGO_CONTROL_FAULT_STATUS),
			 at(4096) | VIRGO_FAULT_STALLED | (writes ? VIRGO_FAULT_WRITES : 0));
	assert_int_equal(reg(VIRGO_STATUS) & 7, VIRGO_STATUS_BUSY | VIRGO_STATUS_PAGE);
}

static void a_stalled_command_goes_on_where_it_stopped(void **state)
{
	(void)state;
	start_stalled(false);
	f->absent[1] = false;
	virgo_store(f, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, 8, VIRGO_RESOLVE_PRESENT);
	virgo_run(f);
	assert_int_equal(reg(VIRGO_ERROR), 0);
	assert_int_equal(reg(VIRGO_BUSY), 0);
	assert_int_equal(control(VIRGO_CONTROL_FAULT_STATUS), 0);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_dma_reads), 8);
	for (unsigned int row = 0; row < 8; row++)
		assert_memory_equal(f->shared + 32 * row, f->arena + 1024 * row, 32);
	stop();
}

static void a_stalled_command_fails_if_its_page_is_bad(void **state)
{
	(void)state;
	start_stalled(true);
	virgo_store(f, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, 8, 0);
	virgo_run(f);
	assert_int_equal(reg(VIRGO_ERROR), VIRGO_ERROR_STORE);
	assert_int_equal(reg(VIRGO_ERROR_ADDRESS), at(4096));
	assert_int_equal(reg(VIRGO_BUSY), 0);
	stop();
}

static void a_reset_ends_a_stall(void **state)
{
	(void)state;
	start_stalled(false);
	virgo_unit_store(f, 0, VIRGO_RESET, 0);
	assert_int_equal(reg(VIRGO_BUSY), 0);
	assert_int_equal(control(VIRGO_CONTROL_FAULT_STATUS), 0);
	stop();
}

/* A whole loop, its pages missing one after the other, gives the output of a loop without faults. */
static void a_loop_survives_faults_at_every_page(void **state)
{
	unsigned char *expected = malloc(65536);
	uint64_t ones = 0x3f800000ull << 32;

	(void)state;
	assert_non_null(expected);
	for (unsigned int stall = 0; stall < 2; stall++) {
		start(stall ? FIXTURE_WALKS | FIXTURE_FAULTS : 0);
		for (unsigned int i = 0; i < ARENA_PAGES && stall; i++)
			f->absent[i] = true;
		f->fault_answer = MIMIC_FAULT_STALL;
		for (unsigned int id = 0; id < 3; id++)
			virgo_send(f, 0, VIRGO_FUNCT_CONFIG, ones | id << 3 | VIRGO_CONFIG_LD, 2000);
		virgo_send(f, 0, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, ones | 1000);
		virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_BOUNDS, 3, 6ull << 32 | 8u << 16 | 7);
		virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_ADDRS_AB, at(100), at(0x100000));
		virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_ADDRS_DC, at(0x200000), at(0x300010));
		virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_STRIDES_AB, 500, 500);
		virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_STRIDES_DC, 500, 250);
		virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS, 1, 0);
		virgo_run(f);
		while (control(VIRGO_CONTROL_FAULT_STATUS) & VIRGO_FAULT_STALLED) {
			uint64_t page = control(VIRGO_CONTROL_FAULT_STATUS) & ~4095ull;

			f->absent[(page - at(0)) / 4096] = false;
			virgo_store(f, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, 8, VIRGO_RESOLVE_PRESENT);
			virgo_run(f);
		}
		assert_int_equal(reg(VIRGO_ERROR), 0);
		assert_int_equal(reg(VIRGO_BUSY), 0);
		if (!stall)
			memcpy(expected, f->arena + 0x300000, 65536);
		else
			assert_memory_equal(expected, f->arena + 0x300000, 65536);
		assert_true(!stall || f->faults > 80);
		stop();
	}
	free(expected);
}

static void a_shootdown_makes_the_device_walk_again(void **state)
{
	(void)state;
	start(FIXTURE_WALKS);
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(0), virgo_pack(1, 8, 0));
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(64), virgo_pack(1, 8, 0));
	virgo_run(f);
	assert_int_equal(f->walks, 1);
	f->model->ops->invalidate(f->model, at(0), at(4096));
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(64), virgo_pack(1, 8, 0));
	virgo_run(f);
	assert_int_equal(f->walks, 2);
	virgo_send(f, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(64), virgo_pack(1, 8, 0));
	virgo_run(f);
	assert_int_equal(f->walks, 3);
	stop();
}

/* The translation of the last page is kept. */
static void walks_of_the_page_table_are_counted(void **state)
{
	static const unsigned int ways[] = { FIXTURE_WALKS, FIXTURE_WALKS | FIXTURE_MOVED };

	(void)state;
	for (unsigned int i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		start(ways[i]);
		virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(4096), virgo_pack(2, 8, 0));
		virgo_run(f);
		assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_walks), 1);
		virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(8192), virgo_pack(4, 8, 0));
		virgo_send(f, 0, VIRGO_FUNCT_MVOUT, at(8192), virgo_pack(4, 8, 0));
		virgo_run(f);
		assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_walks), 2);
		virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(4096), virgo_pack(1, 8, 0));
		virgo_run(f);
		assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_walks), 3);
		assert_int_equal(f->walks, 3);
		stop();
	}
	start(0);
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, at(0), virgo_pack(8, 8, 0));
	virgo_run(f);
	assert_int_equal(virgo_counter(f, 0, VIRGO_COUNTER_walks), 0);
	stop();
}

/* --- hostile programs --------------------------------------------------------------------------- */

static uint64_t seed;

static uint64_t random_bits(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 20;
}

/* Values that mean something somewhere. */
static uint64_t draw(void)
{
	uint64_t value = random_bits();

	switch (value & 7) {
	case 0:
		return ~0ull;
	case 1:
		return value >> 3 & 0xffff;
	case 2:
		return (value & 0x7) << 48 | (value >> 8 & 0x1f) << 32 | (value >> 16 & 0x3ff);
	case 3:
		return (value >> 3 & 3) << 48 | (value >> 5 & 3) << 32 | (value >> 7 & 3) << 16 | (value >> 9 & 3);
	case 4:
		return at(value % ARENA_BYTES);
	case 5:
		return ACC | (value >> 8 & 0x3ff) | 8ull << 48 | 8ull << 32;
	default:
		return seed ^ seed << 31;
	}
}

/* The address sanitizer is the judge of this test, and its end. */
static void whatever_is_stored_nothing_hangs_or_leaves_its_memory(void **state)
{
	static const unsigned int functs[] = { 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 13, 14, 15, 15,
					       16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 126, 60 };

	(void)state;
	for (unsigned int round = 0; round < 12; round++) {
		static const unsigned int dims[] = { 4, 8, 16, 16 };
		struct virgo_config config = virgo_fixture_config(round % 3, dims[round % 4]);

		f = virgo_fixture_create(&config, round & 1 ? 0 : FIXTURE_WALKS);
		seed = round + 1;
		for (unsigned int i = 0; i < 1500; i++) {
			unsigned int ticks = 0;

			virgo_send(f, 0, functs[draw() % 32], draw(), draw());
			if (draw() % 16 == 0)
				virgo_unit_store(f, 0, VIRGO_CISC, draw() & 0xffffff1f);
			/* Long work may go on; here it is cut off. */
			while (f->model->ops->busy(f->model) && ticks++ < 50)
				f->model->ops->tick(f->model, ++f->now);
			if (f->model->ops->busy(f->model))
				virgo_unit_store(f, 0, VIRGO_RESET, 0);
			virgo_unit_store(f, 0, VIRGO_ERROR, 0);
		}
		stop();
	}
}

/* Mostly a value that a loop's field may have. */
static uint64_t field(unsigned int usual, unsigned int most)
{
	uint64_t value = random_bits() >> 5;

	return value % 256 == 0 ? most : value % 256 < 6 ? value % 40 : value % (usual + 1);
}

static uint64_t somewhere(void)
{
	uint64_t value = random_bits() >> 5;

	return value % 16 == 0 ? 0 : value % 64 == 1 ? value : at(value % (ARENA_BYTES / 2));
}

static void random_loop_ws(void)
{
	uint32_t skips = random_bits() % 8 ? 0 : (uint32_t)random_bits() & 0x3f8;

	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_BOUNDS, field(3, 0xffff) << 32 | field(3, 0xffff) << 16 | field(3, 0xffff),
		   field(6, 0xffff) << 32 | field(4, 0xffff) << 16 | field(4, 0xffff));
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_ADDRS_AB, somewhere(), somewhere());
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_ADDRS_DC, somewhere(), somewhere());
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_SPAD_AB, field(200, 0xffff), field(1, 1) ? 0 : field(3000, 0xffff));
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS, random_bits() % 4 ? 1 : (uint32_t)random_bits(),
		   (random_bits() % 8 ? 0 : field(3000, 0xffff) << 32) | skips | (random_bits() & 3));
}

static void random_loop_conv(void)
{
	unsigned int side = (unsigned int)field(8, 0xffff), kernel = (unsigned int)field(3, 0xffff);

	virgo_send(f, 0, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_1, field(20, 0xffff) << 48 | field(20, 0xffff) << 32 |
		   side << 16 | field(3, 0xffff), 1ull << 56 | field(2, 255) << 48 | (uint64_t)side << 32 | side);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_2, (uint64_t)kernel << 48 | (uint64_t)side << 32 |
		   field(3, 0xffff) << 16 | field(3, 255) << 8,
		   field(3, 0xffff) << 48 | (uint64_t)side << 32 | side << 16 | field(20, 0xffff));
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_3, (uint64_t)kernel << 48 | (uint64_t)kernel << 32 |
		   field(20, 0xffff) << 16 | field(2, 0xffff),
		   field(2, 0xffff) << 48 | field(2, 0xffff) << 32 | field(2, 255) << 24 | field(2, 255) << 16 | side);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_4, field(8, 0xffff) << 48 | field(2, 0xffff) << 32 |
		   field(2, 0x7ff) << 21 | field(2, 0x7ff) << 10 | field(2, 0x3ff),
		   field(20, 0xffff) << 48 | field(20, 0xffff) << 32 | field(20, 0xffff) << 16 | field(8, 0xffff));
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_5, somewhere(), somewhere());
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_6, somewhere(), somewhere());
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_CONV_WS, (random_bits() & 0x7f) | field(4, 255) << 8 | (random_bits() & 0xf) << 16,
		   random_bits() & 0x1f);
}

static void loops_of_any_size_end_and_stay_in_their_memories(void **state)
{
	uint64_t tiles = 0;

	(void)state;
	for (unsigned int round = 0; round < 12; round++) {
		static const unsigned int dims[] = { 4, 8, 16, 16 };
		struct virgo_config config = virgo_fixture_config(round % 3, dims[round % 4]);

		f = virgo_fixture_create(&config, round & 1 ? 0 : FIXTURE_WALKS);
		seed = round + 99;
		for (unsigned int i = 0; i < 150; i++) {
			if (random_bits() & 1)
				random_loop_ws();
			else
				random_loop_conv();
			virgo_run(f);
			virgo_unit_store(f, 0, VIRGO_ERROR, 0);
		}
		tiles += virgo_counter(f, 0, VIRGO_COUNTER_tiles);
		stop();
	}
	/* else the fields are so wild that no loop gets to work */
	assert_true(tiles > 10000);
}

static void any_access_to_any_offset_is_answered(void **state)
{
	(void)state;
	start(0);
	for (unsigned int page = 0; page < 4; page++)
		for (unsigned int offset = 0; offset < 4096; offset++) {
			static const unsigned int sizes[] = { 1, 2, 4, 8 };
			struct mimic_access access = {
				.owner = 2, .page = (uint8_t)page, .offset = offset,
				.size = (uint8_t)sizes[offset % 4], .is_write = offset / 4 % 2, .data = offset,
			};

			if (virgo_fixture_access(f, &access) == MIMIC_PARKED)
				f->model->ops->cancel(f->model, 2, ++f->now);
			f->parked[2] = false;
		}
	virgo_run(f);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_funct_that_is_no_command_is_an_error),
		cmocka_unit_test(a_word_of_another_opcode_is_an_error),
		cmocka_unit_test(rows_outside_of_a_memory_are_errors),
		cmocka_unit_test(configurations_that_make_no_sense_are_errors),
		cmocka_unit_test(loops_that_do_not_fit_are_errors),
		cmocka_unit_test(after_an_error_commands_are_dropped_until_it_is_cleared),
		cmocka_unit_test(a_full_queue_is_an_error_if_it_is_configured_so),
		cmocka_unit_test(a_bad_address_stops_the_command_that_used_it),
		cmocka_unit_test(a_page_that_comes_in_time_is_not_seen_by_the_program),
		cmocka_unit_test(a_retry_that_does_not_help_ends_as_a_bad_address),
		cmocka_unit_test(a_stalled_command_goes_on_where_it_stopped),
		cmocka_unit_test(a_stalled_command_fails_if_its_page_is_bad),
		cmocka_unit_test(a_reset_ends_a_stall),
		cmocka_unit_test(a_loop_survives_faults_at_every_page),
		cmocka_unit_test(a_shootdown_makes_the_device_walk_again),
		cmocka_unit_test(walks_of_the_page_table_are_counted),
		cmocka_unit_test(whatever_is_stored_nothing_hangs_or_leaves_its_memory),
		cmocka_unit_test(loops_of_any_size_end_and_stay_in_their_memories),
		cmocka_unit_test(any_access_to_any_offset_is_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
