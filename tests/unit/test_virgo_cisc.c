/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The CISC port of a Virgo unit, in both of its generations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/virgo_fixture.h"

static struct virgo_fixture *f;

static void start_with(const struct virgo_config *config)
{
	f = virgo_fixture_create(config, 0);
}

static void stop(void)
{
	virgo_fixture_destroy(f);
}

static uint64_t at(size_t offset)
{
	return virgo_address(f->arena + offset);
}

static uint64_t reg(unsigned int unit, unsigned int offset)
{
	return virgo_unit_load(f, unit, offset);
}

static void put_float(size_t index, float value)
{
	memcpy(f->arena + 4 * index, &value, 4);
}

static float get_float(const void *from, size_t index)
{
	float value;

	memcpy(&value, (const char *)from + 4 * index, 4);
	return value;
}

/* A tile of 64 x 64 by the paper's operations: load, multiply twice, store. */
static void the_papers_cisc_words_multiply_a_tile(void **state)
{
	(void)state;
	start_with(NULL);
	for (unsigned int i = 0; i < 2 * 4096; i++)
		put_float(i, (float)((i * 7) % 11) - 5);
	for (unsigned int id = 0; id < 2; id++)
		virgo_send(f, 0, VIRGO_FUNCT_CONFIG, 0x3f800000ull << 32 | id << 3 | VIRGO_CONFIG_LD, 256);
	virgo_send(f, 0, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, 0x3f800000ull << 32 | 256);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_ADDRS_AB, at(0), at(16384));
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_ADDRS_DC, 0, at(65536));
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_STRIDES_DC, 64, 64);
	virgo_run(f);
	static const uint32_t words[] = { 8 | 64u << 8 | 64u << 16, 10, 0, 11, 2, 9 };

	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		virgo_unit_store(f, 0, VIRGO_CISC, words[i]);
		virgo_run(f);
	}
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_BOUNDS, 0, 8ull << 32 | 8u << 16 | 8);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS, 0, VIRGO_LOOP_STORE);
	virgo_run(f);
	assert_int_equal(reg(0, VIRGO_ERROR), 0);
	for (unsigned int i = 0; i < 64; i++)
		for (unsigned int j = 0; j < 64; j++) {
			float sum = 0;

			for (unsigned int k = 0; k < 64; k++)
				sum += 2 * get_float(f->arena, 64 * i + k) * get_float(f->arena, 4096 + 64 * k + j);
			assert_true(get_float(f->arena + 65536, 64 * i + j) == sum);
			/* operation 9 put blocks of 8 x 8 into the first quarter */
			assert_true(get_float(f->shared, ((i / 8 * 8 + j / 8) * 8 + i % 8) * 8 + j % 8) == sum);
		}
	stop();
}

static void the_later_cisc_words_place_tiles_by_sixteenths(void **state)
{
	struct virgo_config config = virgo_fixture_config(VIRGO_FP32, 8);

	(void)state;
	config.cisc_generation = VIRGO_CISC_LATER;
	config.unit[0].tile_i = 2;
	config.unit[0].tile_j = 2;
	config.unit[0].tile_k = 2;
	start_with(&config);
	for (unsigned int i = 0; i < 512; i++)
		put_float(i, (float)((i * 3) % 7));
	for (unsigned int id = 0; id < 2; id++)
		virgo_send(f, 0, VIRGO_FUNCT_CONFIG, 0x3f800000ull << 32 | id << 3 | VIRGO_CONFIG_LD, 64);
	virgo_send(f, 0, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, 0x3f800000ull << 32 | 64);
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_ADDRS_AB, at(0), at(1024));
	virgo_send(f, 0, VIRGO_FUNCT_LOOP_WS_ADDRS_DC, 0, at(4096));
	virgo_run(f);
	virgo_unit_store(f, 0, VIRGO_CISC, 8 | 16u << 8 | 16u << 20);
	virgo_unit_store(f, 0, VIRGO_CISC, 11 | 16u << 8 | 16u << 20);
	virgo_unit_store(f, 0, VIRGO_CISC, 10 | 3u << 8 | 9u << 16);
	virgo_unit_store(f, 0, VIRGO_CISC, 2);
	assert_int_equal(reg(0, VIRGO_LOOPS), 2);
	virgo_run(f);
	virgo_unit_store(f, 0, VIRGO_CISC, 1 | 3u << 8 | 9u << 16 | 5u << 24);
	virgo_unit_store(f, 0, VIRGO_CISC, 12);
	virgo_run(f);
	assert_int_equal(reg(0, VIRGO_ERROR), 0);
	for (unsigned int i = 0; i < 16; i++)
		for (unsigned int j = 0; j < 16; j++) {
			float sum = 0;
			size_t in_blocks = ((i / 8 * 2 + j / 8) * 8 + i % 8) * 8 + j % 8;

			for (unsigned int k = 0; k < 16; k++)
				sum += get_float(f->arena, 16 * i + k) * get_float(f->arena, 256 + 16 * k + j);
			assert_true(get_float(f->arena + 4096, 16 * i + j) == sum);
			assert_true(get_float(f->shared + 5 * 4096, in_blocks) == sum);
			/* A begins with its sixteenth, B ends with its own */
			assert_true(get_float(f->shared + 3 * 4096, in_blocks) == get_float(f->arena, 16 * i + j));
			assert_true(get_float(f->shared + 10 * 4096 - 1024, in_blocks) ==
				    get_float(f->arena, 256 + 16 * i + j));
		}
	stop();
}

static void a_cisc_word_that_comes_too_early_is_an_error(void **state)
{
	(void)state;
	start_with(NULL);
	virgo_unit_store(f, 0, VIRGO_CISC, 8);
	virgo_unit_store(f, 0, VIRGO_CISC, 8);
	assert_int_equal(reg(0, VIRGO_ERROR), VIRGO_ERROR_OVERFLOW);
	virgo_run(f);
	virgo_unit_store(f, 0, VIRGO_ERROR, 0);
	virgo_unit_store(f, 0, VIRGO_CISC_GENERATION, VIRGO_CISC_LATER);
	for (unsigned int i = 0; i < 4; i++)
		virgo_unit_store(f, 0, VIRGO_CISC, 8);
	assert_int_equal(reg(0, VIRGO_ERROR), 0);
	virgo_unit_store(f, 0, VIRGO_CISC, 8);
	assert_int_equal(reg(0, VIRGO_ERROR), VIRGO_ERROR_OVERFLOW);
	assert_int_equal(reg(0, VIRGO_ERROR_ADDRESS), 4);
	virgo_run(f);
	stop();
}

static void a_cisc_word_without_meaning_is_an_error(void **state)
{
	(void)state;
	start_with(NULL);
	virgo_unit_store(f, 0, VIRGO_CISC, 12);
	assert_int_equal(reg(0, VIRGO_ERROR), VIRGO_ERROR_COMMAND);
	assert_int_equal(reg(0, VIRGO_ERROR_INSTRUCTION), 12);
	virgo_unit_store(f, 0, VIRGO_ERROR, 0);
	virgo_unit_store(f, 0, VIRGO_CISC, 3u << 5);
	assert_int_equal(reg(0, VIRGO_ERROR), VIRGO_ERROR_COMMAND);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_papers_cisc_words_multiply_a_tile),
		cmocka_unit_test(the_later_cisc_words_place_tiles_by_sixteenths),
		cmocka_unit_test(a_cisc_word_that_comes_too_early_is_an_error),
		cmocka_unit_test(a_cisc_word_without_meaning_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
