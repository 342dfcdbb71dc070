/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Single commands of a unit, and waiting for them. Part of virgo.h, which says how
 * they are sent, how threads may use them, and which errors every function has.
 * docs/virgo.md describes each command.
 *
 * Tickets. virgo_ticket() is a number for all commands that the unit was given so far.
 * A program can wait for it, or test it, later; other commands may follow it.
 */
#ifndef VIRGO_COMMAND_H
#define VIRGO_COMMAND_H

#include "virgo.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* An operand of the array: rows and columns of the matrix as it is multiplied. */
struct virgo_operand {
	uint32_t local;		/* local address of its first row; VIRGO_GARBAGE: nothing */
	uint16_t rows, columns;	/* 0 to DIM */
};

/* Flags, joined by |. */
enum virgo_flags {
	VIRGO_TRANSPOSE_A = 1,	/* A is stored transposed: k rows of m elements */
	VIRGO_TRANSPOSE_B = 2,	/* B is stored transposed: n rows of k elements */
	VIRGO_ADD = 4,		/* sums are added to the accumulator, instead of replacing it */
	VIRGO_NARROW = 8,	/* results have the type of the operands: int8, fp16 */
	VIRGO_SHRUNK = 16,	/* virgo_config_load(): elements, not sums, go to the accumulator */
};

/**
 * virgo_command() - gives a unit any command
 * @virgo: the handle
 * @unit: its number
 * @funct: enum virgo_funct; any other number is an error of the command
 * @rs1: first source value
 * @rs2: second source value
 *
 * For commands that have no function here, and for programs that were written for
 * Gemmini: this is its instruction macro.
 *
 * Returns 0, or
 * -EINVAL: funct is above 127
 *
 * See also: virgo_flush(), virgo_config_array(), virgo_mvin().
 */
int virgo_command(struct virgo *virgo, unsigned int unit, unsigned int funct, uint64_t rs1,
		  uint64_t rs2);

/**
 * virgo_cisc() - stores a word to the CISC port
 * @virgo: the handle
 * @unit: its number
 * @word: operation [4:0] and arguments [31:8]; the unit's number [7:5] is put in
 *
 * The port of section 3.1 that the paper's kernels use. It takes no word while it is
 * busy; that is an error of the unit, as it is in the RTL (docs/virgo.md).
 *
 * Returns 0
 *
 * See also: virgo_fence_loops(), virgo_command().
 */
int virgo_cisc(struct virgo *virgo, unsigned int unit, uint32_t word);

/**
 * virgo_config_array() - configures the array
 * @virgo: the handle
 * @unit: its number
 * @dataflow: VIRGO_OUTPUT_STATIONARY or VIRGO_WEIGHT_STATIONARY
 * @flags: VIRGO_TRANSPOSE_A, VIRGO_TRANSPOSE_B: of each block of DIM x DIM
 *
 * CONFIG 0. Strides are 1, there is no shift, no activation, and a scale of 1.
 *
 * Returns 0, or
 * -EINVAL: no such dataflow, or another flag
 *
 * See also: virgo_preload(), virgo_command().
 */
int virgo_config_array(struct virgo *virgo, unsigned int unit, enum virgo_dataflow dataflow,
		       unsigned int flags);

/**
 * virgo_config_load() - configures one of the three kinds of loads
 * @virgo: the handle
 * @unit: its number
 * @which: 0, 1 or 2: of MVIN, MVIN2 or MVIN3
 * @stride: bytes from a row in memory to the next; 0 repeats one
 * @scale: factor of the elements; 1 copies them
 * @flags: VIRGO_SHRUNK, or 0
 *
 * CONFIG 1. Blocks of a row that is wider than DIM go DIM rows apart.
 *
 * Returns 0, or
 * -EINVAL: no such kind, or another flag
 *
 * See also: virgo_mvin().
 */
int virgo_config_load(struct virgo *virgo, unsigned int unit, unsigned int which, size_t stride,
		      float scale, unsigned int flags);

/**
 * virgo_config_store() - configures stores
 * @virgo: the handle
 * @unit: its number
 * @stride: bytes from a row in memory to the next, below 2^32
 * @activation: VIRGO_NO_ACTIVATION, VIRGO_RELU, VIRGO_LAYERNORM or VIRGO_IGELU
 * @scale: factor of the sums
 *
 * CONFIG 2, without pooling. Softmax, and the constants of the others, need CONFIG 3:
 * virgo_command().
 *
 * Returns 0, or
 * -EINVAL: another activation, the stride is too large, or a NaN that stands for
 *          the scale that is there
 *
 * See also: virgo_mvout().
 */
int virgo_config_store(struct virgo *virgo, unsigned int unit, size_t stride,
		       enum virgo_activation activation, float scale);

/**
 * virgo_mvin() - moves rows from memory
 * @virgo: the handle
 * @unit: its number
 * @which: 0, 1 or 2: by which of the three configurations
 * @from: the first row; NULL: zeros
 * @local: local address of the first row there
 * @rows: how many, 0 to 65535
 * @columns: elements of each, 0 to 65535
 *
 * MVIN, MVIN2 or MVIN3.
 *
 * Returns 0, or
 * -EINVAL: no such configuration, or a size is above 65535
 *
 * See also: virgo_config_load(), virgo_mvout().
 */
int virgo_mvin(struct virgo *virgo, unsigned int unit, unsigned int which, const void *from,
	       uint32_t local, unsigned int rows, unsigned int columns);

/**
 * virgo_mvout() - moves rows to memory
 * @virgo: the handle
 * @unit: its number
 * @to: the first row
 * @local: local address of the first row here
 * @rows: how many, 0 to 65535
 * @columns: elements of each, 0 to 65535
 *
 * MVOUT.
 *
 * Returns 0, or
 * -EINVAL: a size is above 65535
 *
 * See also: virgo_config_store(), virgo_mvin().
 */
int virgo_mvout(struct virgo *virgo, unsigned int unit, void *to, uint32_t local,
		unsigned int rows, unsigned int columns);

/**
 * virgo_preload() - names the operand for the array, and the place of results
 * @virgo: the handle
 * @unit: its number
 * @source: B (weight stationary) or D (output stationary)
 * @result: C
 *
 * PRELOAD. The next compute fills the array.
 *
 * Returns 0
 *
 * See also: virgo_compute_preloaded(), virgo_compute_accumulated().
 */
int virgo_preload(struct virgo *virgo, unsigned int unit, struct virgo_operand source,
		  struct virgo_operand result);

/**
 * virgo_compute_preloaded() - fills the array, and multiplies
 * @virgo: the handle
 * @unit: its number
 * @a: A
 * @other: D (weight stationary) or B (output stationary)
 *
 * COMPUTE_PRELOADED.
 *
 * Returns 0
 *
 * See also: virgo_preload(), virgo_compute_accumulated().
 */
int virgo_compute_preloaded(struct virgo *virgo, unsigned int unit, struct virgo_operand a,
			    struct virgo_operand other);

/**
 * virgo_compute_accumulated() - multiplies with the operand in the array
 * @virgo: the handle
 * @unit: its number
 * @a: A
 * @other: D (weight stationary) or B (output stationary)
 *
 * COMPUTE_ACCUMULATED.
 *
 * Returns 0
 *
 * See also: virgo_preload(), virgo_compute_preloaded().
 */
int virgo_compute_accumulated(struct virgo *virgo, unsigned int unit, struct virgo_operand a,
			      struct virgo_operand other);

/* --- sending and waiting ----------------------------------------------------- */

/**
 * virgo_flush() - sends the buffered commands to the unit
 * @virgo: the handle
 * @unit: its number
 *
 * Does not wait until the commands are done, but may wait until the unit's queue has
 * room for them.
 *
 * Returns 0
 *
 * See also: virgo_fence().
 */
int virgo_flush(struct virgo *virgo, unsigned int unit);

/**
 * virgo_ticket() - gives a number for all that the unit was given so far
 * @virgo: the handle
 * @unit: its number
 *
 * Of two tickets of a unit, the later one is not smaller.
 *
 * Returns the ticket; 0, whose commands are always over, if there is no such unit.
 *
 * See also: virgo_wait(), virgo_done().
 */
uint64_t virgo_ticket(struct virgo *virgo, unsigned int unit);

/**
 * virgo_done() - asks whether a ticket's commands are over
 * @virgo: the handle
 * @unit: its number
 * @ticket: a number of virgo_ticket()
 *
 * Sends the buffered commands. Does not wait until commands are done. Commands that
 * failed or were dropped are over, too: see virgo_wait().
 *
 * Returns 1 (all are over), 0 (not all are), or
 * -EINVAL: a ticket of commands that the unit was not given
 *
 * See also: virgo_ticket().
 */
int virgo_done(struct virgo *virgo, unsigned int unit, uint64_t ticket);

/**
 * virgo_wait() - waits until a ticket's commands are over
 * @virgo: the handle
 * @unit: its number
 * @ticket: a number of virgo_ticket()
 *
 * Commands behind the ticket may be over, too, when it returns: the device can wait
 * for loops and for everything. If a command of the unit has failed, now or before,
 * it returns why, each time until virgo_clear_error() or virgo_reset().
 *
 * Returns 0, or
 * -EINVAL: a ticket of commands that the unit was not given; or VIRGO_ERROR_RANGE,
 *          VIRGO_ERROR_SIZE or VIRGO_ERROR_VALUE
 * -EILSEQ: VIRGO_ERROR_COMMAND, no such command
 * -EOVERFLOW: VIRGO_ERROR_OVERFLOW, the CISC port had no room
 * -EFAULT: VIRGO_ERROR_LOAD or VIRGO_ERROR_STORE, memory that is not there
 *
 * See also: virgo_ticket(), virgo_fence(), virgo_error().
 */
int virgo_wait(struct virgo *virgo, unsigned int unit, uint64_t ticket);

/**
 * virgo_fence() - waits until all commands of the unit are over
 * @virgo: the handle
 * @unit: its number
 *
 * virgo_wait() for all that was sent so far.
 *
 * Returns 0, or an error of a command as virgo_wait()
 *
 * See also: virgo_error(), virgo_clear_error().
 */
int virgo_fence(struct virgo *virgo, unsigned int unit);

/**
 * virgo_fence_loops() - waits until at most so many loops are left
 * @virgo: the handle
 * @unit: its number
 * @loops: 0 to 3
 *
 * virgo_fence() of the authors' kernels: LOOP_WS and LOOP_CONV_WS that are queued or at
 * work. Each function of virgo_tile.h is one loop.
 *
 * Returns 0, or
 * -EINVAL: loops is above 3; or an error of a command as virgo_wait()
 * -EILSEQ, -EOVERFLOW, -EFAULT: as virgo_wait()
 */
int virgo_fence_loops(struct virgo *virgo, unsigned int unit, unsigned int loops);

/* The first command that failed. */
struct virgo_error_info {
	enum virgo_error error;	/* VIRGO_ERROR_NONE: there is no error, and the rest is 0 */
	uint32_t instruction;	/* its word: the funct is in bits [31:25]; or the CISC word */
	uint64_t position;	/* its number, from 0, since virgo_open() or virgo_reset() */
	uint64_t address;	/* of the first byte that failed, or the value that was wrong */
	uint64_t rs1, rs2;	/* its source values */
	char text[256];		/* all this in a line for people */
};

/**
 * virgo_error() - tells which command of the unit failed, and why
 * @virgo: the handle
 * @unit: its number
 * @info: where it goes
 *
 * Waits as virgo_fence() does. Later commands that failed are not known: they were
 * dropped.
 *
 * Returns 0, also if there is no error, or
 * -EINVAL: info is NULL
 *
 * See also: virgo_clear_error().
 */
int virgo_error(struct virgo *virgo, unsigned int unit, struct virgo_error_info *info);

/**
 * virgo_clear_error() - lets the unit go on after an error
 * @virgo: the handle
 * @unit: its number
 *
 * Commands that were given to it before the call and behind the one that failed are lost.
 * Configuration and accumulator stay. Does nothing if there is no error.
 *
 * Returns 0
 *
 * See also: virgo_error(), virgo_reset().
 */
int virgo_clear_error(struct virgo *virgo, unsigned int unit);

/**
 * virgo_reset() - makes the unit as after virgo_open()
 * @virgo: the handle
 * @unit: its number
 *
 * Waits until all commands given to it before are over. Configuration, array, accumulator
 * and error are cleared; shared memory and counters stay.
 *
 * Returns 0
 *
 * See also: virgo_clear_error().
 */
int virgo_reset(struct virgo *virgo, unsigned int unit);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
