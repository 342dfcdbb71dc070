/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Functions for the cases of DARE's contract (tests/contract/harness.h).
 *
 * A and B are threads of one context; C has a context of its own: the process
 * opens the device twice. The functions act for A, until as() names another one.
 * Instructions go to STREAM, collected and posted as late as possible, or one by
 * one to RS1, RS2 and INSTRUCTION: each case runs with both.
 */
#ifndef TESTS_CONTRACT_DARE_H
#define TESTS_CONTRACT_DARE_H

#include "tests/contract/dare/numbers.h"
#include "tests/contract/harness.h"

extern const struct contract_way dare_ways[];

enum { BY_STREAM = 1, BY_REGISTERS = 2, EITHER = 3 };

#define REGISTERS 8
#define ROWS 16
#define ROW_BYTES 64
#define REGISTER_BYTES (ROWS * ROW_BYTES)

/* A matrix register, or a tile without gaps. */
struct tile {
	uint8_t bytes[ROWS][ROW_BYTES];
};

/* --- the context ----------------------------------------------------------- */

void as(enum bus_thread who);

/* Registers of the page, 8 bytes. */
uint64_t get(unsigned int offset);
void put(unsigned int offset, uint64_t value);

/* Any instruction. rs1 and rs2 are used if its format has them. */
void issue(uint32_t word, uint64_t rs1, uint64_t rs2);
/* Sends issued instructions that the test still has to the device. */
void flush(void);

void mcfg(unsigned int csr, uint64_t value);
void shape(unsigned int m, unsigned int k, unsigned int n);
void mld(enum element size, unsigned int md, const void *base, int64_t stride);
void mst(enum element size, unsigned int ms3, void *base, int64_t stride);
void mma(enum element size, unsigned int md, unsigned int ms1, unsigned int ms2);
void mgather(enum element size, unsigned int md, unsigned int ms1);
void mscatter(enum element size, unsigned int ms2, unsigned int ms1);

/* Waits until all is complete; the answer. */
uint64_t fence(void);
/* The same, and nothing failed. */
#define COMPLETE() dare_expect_complete(__FILE__, __LINE__)
void dare_expect_complete(const char *file, int line);

/* Whole registers in any shape, which stays as it is. Both leave the queue empty. */
void set_register(unsigned int number, const struct tile *tile);
void get_register(unsigned int number, struct tile *tile);
/* The register holds rs[row][0 to 7] = addresses[row], and 0xee elsewhere. */
void set_addresses(unsigned int number, const uint64_t addresses[ROWS]);

/* --- expectations ------------------------------------------------------------ */

#define EXPECT_BYTES(actual, expected, size) \
	dare_expect_bytes(__FILE__, __LINE__, #actual, (actual), (expected), (size))
void dare_expect_bytes(const char *file, int line, const char *what, const void *actual,
		       const void *expected, size_t size);

#define EXPECT_REGISTER(number, expected) dare_expect_register(__FILE__, __LINE__, (number), (expected))
void dare_expect_register(const char *file, int line, unsigned int number, const struct tile *expected);

/* The context has this error; it is then cleared. */
#define EXPECT_ERROR(error, word, position, address, row) \
	dare_expect_error(__FILE__, __LINE__, (error), (word), (position), (address), (row))
void dare_expect_error(const char *file, int line, unsigned int error, uint32_t word, uint64_t position,
		       uint64_t address, unsigned int row);

/* --- data ----------------------------------------------------------------------- */

/* Bytes that look random; the same for the same seed. */
void fill(void *bytes, size_t size, uint32_t seed);
/* The next number of a sequence that depends on nothing but its start; never 0. */
uint32_t next_random(uint32_t *state);
void *zeroed(void *bytes, size_t size);

/* The first `rows` rows of `width` bytes from `base`, `stride` apart, as a load leaves them: the rest is 0. */
void tile_of(struct tile *tile, const void *base, int64_t stride, unsigned int rows, unsigned int width);

/* A float by its bits, and back. */
float float_of(uint32_t bits);
uint32_t bits_of(float value);

/*
 * Program memory of two pages between two that are not there.
 * DARE_PAGE bytes are a page; the four are neighbours.
 */
#define DARE_PAGE 4096u
uint8_t *island(void);

#endif
