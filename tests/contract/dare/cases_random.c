/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Random programs, beside a plain interpreter of the instruction set
 * (tests/lib/dare_oracle.h): registers, memory, errors and counters must agree.
 * Sums are of int8 here; those of floats have cases of their own.
 */
#include <errno.h>
#include <string.h>

#include "tests/contract/dare/contract.h"
#include "tests/lib/dare_oracle.h"

#define BYTES (2 * DARE_PAGE)
/* Vectors of row addresses lie in the first page. */
#define VECTORS 4
#define PROGRAMS 12

static uint8_t copy[BYTES];
static struct dare_oracle oracle;
static uint32_t state;

static uint8_t *byte_of(uint64_t address)
{
	uint64_t offset = address - (uintptr_t)island();

	return offset < BYTES ? &copy[offset] : NULL;
}

static int read_byte(void *context, uint64_t address, uint8_t *byte)
{
	(void)context;
	if (!byte_of(address))
		return -EFAULT;
	*byte = *byte_of(address);
	return 0;
}

static int write_byte(void *context, uint64_t address, uint8_t byte)
{
	(void)context;
	if (!byte_of(address))
		return -EFAULT;
	*byte_of(address) = byte;
	return 0;
}

static const struct dare_oracle_memory memory = { .read = read_byte, .write = write_byte };

static uint32_t below(uint32_t limit)
{
	return (next_random(&state) >> 4) % limit;
}

/* Mostly within memory, and mostly aligned; 16 rows of up to 100 bytes fit behind it. */
static uint64_t some_address(void)
{
	switch (below(40)) {
	case 0:
		return (uintptr_t)island() + BYTES - below(700);
	case 1:
		return (uintptr_t)island() + below(6000);
	case 2:
		return below(2) ? 0 : 1ull << 63 | (uint64_t)next_random(&state) << 32;
	default:
		return (uintptr_t)island() + 1024 + below(1400) * 4;
	}
}

static uint64_t some_stride(void)
{
	static const int64_t strides[] = { 64, 64, 64, 0, 4, 8, 20, 68, 100, -4, -60 };

	/* No user's memory is that far away. */
	return below(60) ? (uint64_t)strides[below(11)] : 1ull << 62 | next_random(&state);
}

static void dispatch(uint32_t word, uint64_t rs1, uint64_t rs2)
{
	issue(word, rs1, rs2);
	dare_oracle_instruction(&oracle, word, rs1, rs2);
}

static void some_mcfg(void)
{
	static const unsigned int largest[] = { 16, 64, 16 };
	unsigned int csr = below(3);

	if (below(40) == 0)
		dispatch(word_mcfg(), below(5), below(80));
	else if (csr == CSR_K)
		dispatch(word_mcfg(), CSR_K, below(3) ? 4 + 4 * below(16) : 1 + below(64));
	else
		dispatch(word_mcfg(), csr, below(2) ? largest[csr] : 1 + below(largest[csr]));
}

/*
 * A random value in a register may be an address of this very program: allows only
 * addresses of the case's memory, and those that no program has.
 */
static bool is_harmless(unsigned int vector)
{
	for (unsigned int row = 0; row < oracle.matrix_m; row++) {
		uint64_t address;

		memcpy(&address, oracle.m[vector][row], sizeof(address));
		if (address >> 48 == 0 && address >= 4096 && !(byte_of(address) && byte_of(address + 63)))
			return false;
	}
	return true;
}

/* The vector is loaded first, as programs do it; its rows have 8 bytes at least then. */
static void some_gather(enum element size, bool stores)
{
	unsigned int vector = below(8), data = below(8);

	if (below(8)) {
		dispatch(word_mcfg(), CSR_K, 8 + 8 * below(8));
		dispatch(word_mld(WORD, vector), (uintptr_t)island() + 256 * below(VECTORS), 16);
	}
	if (!is_harmless(vector))
		return;
	if (stores)
		dispatch(word_mscatter(size, data, vector), 0, 0);
	else
		dispatch(word_mgather(size, data, vector), 0, 0);
}

static void some_instruction(void)
{
	enum element size = (enum element)below(3);

	switch (below(20)) {
	case 0 ... 3:
		some_mcfg();
		return;
	case 4 ... 8:
		dispatch(word_mld(size, below(8)), some_address(), some_stride());
		return;
	case 9 ... 11:
		dispatch(word_mst(size, below(8)), some_address(), some_stride());
		return;
	case 12 ... 15:
		dispatch(word_mma(BYTE, below(8), below(8), below(8)), 0, 0);
		return;
	case 16 ... 17:
		some_gather(size, false);
		return;
	case 18:
		some_gather(size, true);
		return;
	default:
		if (below(30) == 0)
			dispatch(next_random(&state) & 0xfdffff7f, 0, 0);
	}
}

static void compare_error(void)
{
	EXPECT(fence() & HAS_ERROR, oracle.error ? HAS_ERROR : 0);
	if (!oracle.error)
		return;
	/* Of the row that failed some bytes may be in memory, or none. */
	if (oracle.error == ORACLE_STORE) {
		for (uint64_t address = oracle.error_address - 64; address < oracle.error_address; address++)
			if (byte_of(address))
				*byte_of(address) = *(uint8_t *)(uintptr_t)address;
	}
	EXPECT_ERROR(oracle.error, oracle.error_instruction, oracle.error_position, oracle.error_address,
		     (unsigned int)oracle.error_row);
	dare_oracle_clear_error(&oracle);
}

static void compare_counters(void)
{
	const struct dare_oracle_counters *expected = &oracle.counters;
	const struct {
		unsigned int offset;
		uint64_t value;
	} counters[] = {
		{ COUNT_INSTRUCTIONS, expected->instructions }, { COUNT_MCFG, expected->mcfg },
		{ COUNT_MLD, expected->mld }, { COUNT_MST, expected->mst }, { COUNT_MMA, expected->mma },
		{ COUNT_MGATHER, expected->mgather }, { COUNT_MSCATTER, expected->mscatter },
		{ ROWS_LOADED, expected->rows_loaded }, { ROWS_STORED, expected->rows_stored },
		{ BYTES_LOADED, expected->bytes_loaded }, { BYTES_STORED, expected->bytes_stored },
		{ MACS_USED, expected->macs_used }, { MACS_OFFERED, expected->macs_offered },
		{ ERRORS, expected->errors }, { DROPPED, expected->dropped },
		{ DISPATCHED, oracle.dispatched }, { COMPLETED, oracle.completed },
		{ MATRIX_M, oracle.matrix_m }, { MATRIX_K, oracle.matrix_k }, { MATRIX_N, oracle.matrix_n },
	};

	for (unsigned int i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		if (get(counters[i].offset) != counters[i].value)
			contract_fail(__FILE__, __LINE__, "offset %#x is %llu, the interpreter says %llu",
				      counters[i].offset, (unsigned long long)get(counters[i].offset),
				      (unsigned long long)counters[i].value);
}

static void compare_registers(void)
{
	static struct tile tiles[REGISTERS];

	dispatch(word_mcfg(), CSR_M, ROWS);
	dispatch(word_mcfg(), CSR_K, ROW_BYTES);
	for (unsigned int i = 0; i < REGISTERS; i++)
		mst(BYTE, i, &tiles[i], 64);
	COMPLETE();
	/* The stores that the interpreter did not do. */
	oracle.counters.instructions += REGISTERS;
	oracle.counters.mst += REGISTERS;
	oracle.counters.rows_stored += REGISTERS * ROWS;
	oracle.counters.bytes_stored += REGISTERS * REGISTER_BYTES;
	for (unsigned int i = 0; i < REGISTERS; i++)
		EXPECT_BYTES(&tiles[i], oracle.m[i], sizeof(tiles[i]));
}

static void fill_memory(void)
{
	fill(island(), BYTES, state);
	for (unsigned int i = 0; i < VECTORS * ROWS; i++) {
		uint64_t address = (uintptr_t)island() + 1024 + 4 * below(1700);

		/* 16 apart: two address vectors of one register each 64 bytes wide share them. */
		memcpy(island() + 16 * i, &address, sizeof(address));
	}
	memcpy(copy, island(), BYTES);
}

static void run_program(uint32_t seed)
{
	state = seed;
	put(RESET, 0);
	dare_oracle_reset(&oracle);
	fill_memory();
	for (unsigned int i = 0; i < 12; i++) {
		for (unsigned int k = 0; k < 15; k++)
			some_instruction();
		flush();
		compare_error();
		compare_counters();
		EXPECT_BYTES(island(), copy, BYTES);
	}
	compare_registers();
}

CASE(a_random_program_does_what_an_interpreter_does, EITHER)
{
	dare_oracle_power_on(&oracle, &memory);
	for (uint32_t seed = 1; seed <= PROGRAMS && !(seed > 1 && is_left_out(1)); seed++)
		run_program(seed * 2654435761u);
}

CASE(other_random_programs_do_what_an_interpreter_does, EITHER)
{
	dare_oracle_power_on(&oracle, &memory);
	for (uint32_t seed = 1001; seed <= 1000 + PROGRAMS && !(seed > 1001 && is_left_out(1)); seed++)
		run_program(seed * 2654435761u);
}
