/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Functions for the cases of Virgo's contract (tests/contract/harness.h).
 *
 * The cluster has four units: fp32 of 8 x 8 and of 4 x 4, int8 and fp16 of 16 x 16.
 * A case works with one of them at a time, for thread A, until as_thread() names
 * another one. Commands go to STREAM, collected and posted as late as possible, or
 * one by one to RS1, RS2 and INSTRUCTION: cases run with both. The second profile
 * has a short queue, where a command too many is an error; 256 KB; the later CISC
 * words.
 */
#ifndef TESTS_CONTRACT_VIRGO_H
#define TESTS_CONTRACT_VIRGO_H

#include "tests/contract/harness.h"
#include "tests/contract/virgo/numbers.h"

/* Ways of its own. */
extern const struct contract_way virgo_ways[];

enum { BY_STREAM = 1, BY_REGISTERS = 2, EITHER = 3 };

#define UNITS 4
#define MAX_DIM 16
#define CORES 3
#define QUEUE_ENTRIES (profile_is(BY_STREAM) ? 16u : 8u)
#define SHARED_BYTES (profile_is(BY_STREAM) ? 128u << 10 : 256u << 10)
#define ACCUMULATOR_BYTES (16u << 10)

/* The unit that a case works with. */
extern struct unit_now {
	unsigned int number;
	enum type type;
	unsigned int dim;
	unsigned int size;		/* bytes of an element */
	unsigned int rows;		/* of the scratchpad */
	unsigned int accumulator_rows;
} unit;

/* As after a reset. */
void use_unit(unsigned int number);
/* The same, without a reset: the unit keeps its state. */
void turn_to_unit(unsigned int number);
/* On a slow way one of the two of fp32, by a number that is even or odd. */
bool next_unit(unsigned int *number, unsigned int choice);
#define FOR_EACH_UNIT \
	for (unsigned int unit_ = 0; next_unit(&unit_, __LINE__); unit_++)
/* The unit of this type; of fp32 the larger one. */
void use_type(enum type type);

void as_thread(enum bus_thread who);

/* --- accesses ------------------------------------------------------------------------ */

/* Registers of the unit and of the cluster, 8 bytes. */
uint64_t unit_get(unsigned int offset);
void unit_put(unsigned int offset, uint64_t value);
uint64_t cluster_get(unsigned int offset);
void cluster_put(unsigned int offset, uint64_t value);
/* Where a register of the unit lies on its page. */
unsigned int unit_at(unsigned int offset);

/* A command, as Gemmini's instruction macro has it. */
void rocc(unsigned int funct, uint64_t rs1, uint64_t rs2);
/* Sends commands that the test still has to the device. */
void flush_commands(void);

/* Waits until all is complete, and nothing failed. */
#define COMPLETE() virgo_expect_complete(__FILE__, __LINE__)
void virgo_expect_complete(const char *file, int line);
/* Waits until all is over; the answer. */
uint64_t wait_for_unit(void);

uint64_t unit_count(enum count counter);
uint64_t cluster_count(enum count counter);

/*
 * Commands that take the unit a tenth of a second, or that it does not begin while
 * nobody waits for it: it is busy in any case. They leave another configuration of
 * the first load, and the first rows of the scratchpad.
 */
void occupy_unit(void);

/* --- commands with names ----------------------------------------------------------------- */

uint32_t float_bits(float value);
float bits_float(uint32_t bits);

void config_ex(unsigned int dataflow, unsigned int activation, unsigned int shift, bool a_t, bool b_t);
/* With strides of A and C and the scale of operands in the accumulator. */
void config_ex_strides(unsigned int dataflow, unsigned int a_stride, unsigned int c_stride, float scale);
/* Columns beyond DIM go DIM rows further down. */
void config_ld(unsigned int id, uint64_t stride, float scale, bool shrunk);
void config_ld_blocks(unsigned int id, uint64_t stride, float scale, unsigned int block_stride,
		      unsigned int pixels);
void config_st(uint64_t stride, unsigned int activation, float scale);

struct pooling {
	unsigned int stride, size, top, left;
	unsigned int out_columns;	/* of the pooled image in memory */
	unsigned int rows, columns;	/* pooled, to do */
	unsigned int in_rows, in_columns;
};
void config_st_pool(const struct pooling *pooling, uint64_t stride, unsigned int activation, float scale);
/* The constants of the normaliser, whole numbers or reals by the unit's type. */
void config_norm(uint32_t ln2, uint32_t inverse, uint32_t qb, uint32_t qc, bool high, unsigned int statistic);

void mvin(const void *from, uint32_t local, unsigned int rows, unsigned int columns);
void mvin2(const void *from, uint32_t local, unsigned int rows, unsigned int columns);
void mvin3(const void *from, uint32_t local, unsigned int rows, unsigned int columns);
void mvout(void *to, uint32_t local, unsigned int rows, unsigned int columns);

/* --- memory ------------------------------------------------------------------------------ */

#define INPUT_BYTES (256u << 10)
#define OUTPUT_BYTES (128u << 10)

/* Program memory that commands read, and that they write; zeroed. */
void *input_at(size_t offset);
void *output_at(size_t offset);
/* The cluster's shared memory as the program has it. */
uint8_t *shared_memory(void);
uint8_t *shared_row(unsigned int row);

static inline uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* --- numbers that look random; the same in each run ---------------------------------------- */

uint32_t draw(void);
unsigned int draw_below(unsigned int limit);
float draw_float(void);		/* from -4 to 4, in steps of 1/250 */
/* Elements and values (of the accumulator) of the unit's type. */
void fill_elements(void *to, size_t count);
void fill_values(void *to, size_t count);
/* The same with whole numbers from -limit to limit, whose sums are exact in every type. */
void fill_small(void *to, size_t count, int limit);

/* Element n of an array, and the one way to write it that needs no rounding. */
double element_of(const void *from, size_t n);
void put_element(void *to, size_t n, double value);
double value_of(const void *from, size_t n);
void put_value(void *to, size_t n, double value);
/* A number as an element: saturated and rounded, ties to even. */
double as_element(double value);

/* --- the plain reference (tests/lib/virgo_reference.h) ---------------------------------------- */

/*
 * All commands since the last CHECK() once more by the reference: program memory,
 * shared memory and accumulator are then the same, byte by byte.
 */
#define CHECK() virgo_check(__FILE__, __LINE__)
void virgo_check(const char *file, int line);
/* Scratchpad and accumulator are full of values. */
void fill_unit(void);

#define EXPECT_SAME(actual, expected, size) \
	virgo_expect_bytes(__FILE__, __LINE__, #actual, (actual), (expected), (size))
void virgo_expect_bytes(const char *file, int line, const char *what, const void *actual,
			const void *expected, size_t size);

/* The unit has this error of this command; it is then cleared. */
#define EXPECT_ERROR(error, word, position, value, rs1, rs2) \
	virgo_expect_error(__FILE__, __LINE__, (error), (word), (position), (value), (rs1), (rs2))
void virgo_expect_error(const char *file, int line, unsigned int error, uint32_t word, uint64_t position,
			uint64_t value, uint64_t rs1, uint64_t rs2);
/* This command is an error; it is then cleared. */
#define EXPECT_BAD(error, value, funct, rs1, rs2) \
	virgo_expect_bad(__FILE__, __LINE__, (error), (value), (funct), (rs1), (rs2))
void virgo_expect_bad(const char *file, int line, unsigned int error, uint64_t value, unsigned int funct,
		      uint64_t rs1, uint64_t rs2);

#endif
