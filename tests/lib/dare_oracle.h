/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The instruction set of DARE once more, as plainly as it can be written down:
 * one instruction at a time, one byte at a time, one multiplication at a time.
 * It is made from the paper and the decisions about its open questions,
 * and shares no line with devices/dare. Tests compare the model with it.
 *
 * It leaves open, as the device does, the payload of a NaN, and how much of
 * the row in which a store failed is in memory.
 */
#ifndef TESTS_DARE_ORACLE_H
#define TESTS_DARE_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

/* The memory of a context. Each answers 0, -EFAULT, or -EAGAIN: the byte is not there yet. */
struct dare_oracle_memory {
	void *context;
	int (*read)(void *context, uint64_t address, uint8_t *byte);
	int (*write)(void *context, uint64_t address, uint8_t byte);
};

/* In the order of enum dare_error, which is not used here. */
enum dare_oracle_error {
	ORACLE_NO_ERROR, ORACLE_ILLEGAL, ORACLE_CSR, ORACLE_SHAPE, ORACLE_MISALIGNED,
	ORACLE_LOAD, ORACLE_STORE, ORACLE_DETACHED,
};

struct dare_oracle_counters {
	uint64_t instructions, mcfg, mld, mst, mma, mgather, mscatter;
	uint64_t rows_loaded, rows_stored, bytes_loaded, bytes_stored;
	uint64_t macs_used, macs_offered, errors, dropped;
};

struct dare_oracle {
	const struct dare_oracle_memory *memory;	/* NULL: detached */
	uint8_t m[8][16][64];
	uint64_t matrix_m, matrix_k, matrix_n;

	uint64_t dispatched, completed;			/* since the last reset */
	enum dare_oracle_error error;
	uint32_t error_instruction;
	uint64_t error_position, error_address, error_row;
	struct dare_oracle_counters counters;

	/* The words of STREAM that are no whole instruction yet. */
	uint64_t stream[3];
	unsigned int stream_count;

	unsigned int nan_count;				/* elements of the last mma that are NaN */
};

/* As after power-on, counters 0. */
void dare_oracle_power_on(struct dare_oracle *oracle, const struct dare_oracle_memory *memory);
/* A store to RESET. */
void dare_oracle_reset(struct dare_oracle *oracle);
/* A store to ERROR. */
void dare_oracle_clear_error(struct dare_oracle *oracle);

/*
 * One instruction: done, failed (oracle->error) or dropped: 0. -EAGAIN: memory
 * is not there yet; no register has changed, and the same call is to be made
 * again. Rows of a store may already be in memory.
 */
int dare_oracle_instruction(struct dare_oracle *oracle, uint32_t word, uint64_t rs1, uint64_t rs2);

/*
 * One store to STREAM, without execution: true if an instruction is whole with it.
 * Its word and values are then in stream[0] to stream[2].
 */
bool dare_oracle_collect(struct dare_oracle *oracle, uint64_t value);
/* The same with execution. -EAGAIN: as above; the call to make again is dare_oracle_instruction(). */
int dare_oracle_stream(struct dare_oracle *oracle, uint64_t value);
/* How many values after this word in STREAM belong to it: 2 or 0. */
unsigned int dare_oracle_value_count(uint32_t word);
/* How many are still missing: 0 if the last instruction was whole. */
unsigned int dare_oracle_stream_missing(const struct dare_oracle *oracle);

#endif
