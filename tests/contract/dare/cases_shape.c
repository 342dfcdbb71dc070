/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The CSRs and mcfg (paper, III-A and Table I): "Write the value in rs2 to the CSR indexed by rs1". */
#include "tests/contract/dare/contract.h"

static const unsigned int registers[CSRS] = { MATRIX_M, MATRIX_K, MATRIX_N };
static const unsigned int largest[CSRS] = { 16, 64, 16 };

static void expect_shape(uint64_t m, uint64_t k, uint64_t n)
{
	COMPLETE();
	EXPECT(get(MATRIX_M), m);
	EXPECT(get(MATRIX_K), k);
	EXPECT(get(MATRIX_N), n);
}

CASE(the_shape_is_the_whole_register_after_power_on, EITHER)
{
	expect_shape(16, 64, 16);
}

CASE(mcfg_writes_the_csr_that_rs1_names_and_no_other, EITHER)
{
	mcfg(CSR_M, 3);
	expect_shape(3, 64, 16);
	mcfg(CSR_K, 20);
	expect_shape(3, 20, 16);
	mcfg(CSR_N, 9);
	expect_shape(3, 20, 9);
	mcfg(CSR_M, 16);
	expect_shape(16, 20, 9);
}

CASE(each_csr_takes_each_value_up_to_its_largest, EITHER)
{
	for (unsigned int csr = 0; csr < CSRS; csr++) {
		for (unsigned int value = 1; value <= largest[csr]; value++) {
			mcfg(csr, value);
			COMPLETE();
			EXPECT(get(registers[csr]), value);
		}
	}
	expect_shape(16, 64, 16);
}

static void expect_refused(unsigned int csr, uint64_t value)
{
	uint64_t position = get(DISPATCHED);

	shape(5, 24, 6);
	mcfg(csr, value);
	EXPECT_ERROR(SHAPE, word_mcfg(), position + 3, value, 0);
	expect_shape(5, 24, 6);
}

CASE(a_value_out_of_range_is_refused_and_the_csr_stays, EITHER)
{
	for (unsigned int csr = 0; csr < CSRS; csr++) {
		expect_refused(csr, 0);
		expect_refused(csr, largest[csr] + 1);
		expect_refused(csr, 255);
		expect_refused(csr, 0x100000000);
		/* the low half by itself would do */
		expect_refused(csr, 0x100000001);
		expect_refused(csr, 0x8000000000000004);
		expect_refused(csr, UINT64_MAX);
	}
}

CASE(the_row_bound_is_not_the_byte_bound, EITHER)
{
	expect_refused(CSR_M, 17);
	expect_refused(CSR_N, 64);
	mcfg(CSR_K, 17);
	expect_shape(5, 17, 6);
}

CASE(a_csr_that_is_not_there_is_refused_whatever_the_value, EITHER)
{
	static const uint64_t numbers[] = { 3, 4, 255, 256, 0x100000000, 0x100000001, 0x8000000000000000, UINT64_MAX };

	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uint64_t position = get(DISPATCHED);

		mcfg((unsigned int)CSR_M, 7);
		issue(word_mcfg(), numbers[i], i % 2 ? 8 : 10000);
		EXPECT_ERROR(BAD_CSR, word_mcfg(), position + 1, numbers[i], 0);
		expect_shape(7, 64, 16);
	}
}

/* "Written in order": the shape of an instruction is that of the last mcfg before it. */
CASE(each_instruction_has_the_shape_of_the_mcfg_before_it, EITHER)
{
	static uint8_t source[1024];
	struct tile tile;

	fill(source, sizeof(source), 1);
	shape(2, 8, 1);
	mld(WORD, 0, source, 16);
	shape(16, 1, 1);
	mld(WORD, 1, source, 16);
	shape(1, 64, 1);
	mld(WORD, 2, source, 16);
	tile_of(&tile, source, 16, 2, 8);
	EXPECT_REGISTER(0, &tile);
	tile_of(&tile, source, 16, 16, 1);
	EXPECT_REGISTER(1, &tile);
	tile_of(&tile, source, 16, 1, 64);
	EXPECT_REGISTER(2, &tile);
	expect_shape(1, 64, 1);
}

CASE(csrs_cannot_be_stored_to_through_the_page, EITHER)
{
	shape(5, 6, 7);
	for (unsigned int csr = 0; csr < CSRS; csr++)
		put(registers[csr], 2);
	expect_shape(5, 6, 7);
}

/* The fields of the word name registers of the host, and the device gets their values beside it. */
CASE(the_host_register_fields_of_a_word_mean_nothing, EITHER)
{
	static uint8_t source[64], target[64];

	fill(source, sizeof(source), 2);
	for (unsigned int i = 0; i < 32; i++) {
		uint32_t fields = i << 15 | (31 - i) << 20;

		source[0] = (uint8_t)i;
		issue((word_mcfg() & ~HOST_FIELDS) | fields, CSR_M, 1);
		issue((word_mld(WORD, 0) & ~HOST_FIELDS) | fields, (uintptr_t)source, 64);
		issue((word_mst(WORD, 0) & ~HOST_FIELDS) | fields, (uintptr_t)target, 64);
		COMPLETE();
		EXPECT_BYTES(target, source, sizeof(target));
	}
}
