/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The registers of a Virgo cluster, each listed once. Offsets 0x00 to 0x28 of a
 * unit's block are those of the authors' RTL; everything else is ours, in offsets
 * that it leaves free (docs/virgo.md).
 *
 * Page 0 controls the cluster. Page 1 holds the control blocks of the matrix
 * units, VIRGO_BLOCK_SIZE apart. The shared memory is memory, not registers: the
 * transport maps it into the program.
 *
 * Registers of ours have 64 bits and take accesses of 8 bytes; a 4-byte load of
 * either half and a 4-byte store of the low half (the rest becomes 0) are fine,
 * too. Any other access is illegal: it reads 0, is dropped and counted.
 */
#ifndef MIMIC_VIRGO_REGISTERS_H
#define MIMIC_VIRGO_REGISTERS_H

/* Of the device as a PCI function (mimic/pci.h). */
#define VIRGO_PCI_DEVICE 0x5ab5

#define VIRGO_PAGE_CONTROL 0
#define VIRGO_PAGE_UNITS 1
#define VIRGO_PAGE_COUNT 2
/* Where a program maps the shared memory on the cluster's node; its registers are at 0. */
#define VIRGO_SHARED_OFFSET 0x100000

#define VIRGO_UNITS_MAX 8
#define VIRGO_BLOCK_SIZE 0x100u
#define VIRGO_BARRIERS 16

/*
 * _(offset, NAME, access (R load, W store, RW), reset value, role between device and driver
 * (devices/register.h), how it is shown, meaning)
 */
#define VIRGO_UNIT_REGISTERS(_) \
	_(0x00, INSTRUCTION, W, 0, NONE, HEX, "32 bits: an instruction word of Gemmini (include/mimic/virgo_commands.h); queues the command with RS1 and RS2 as they are now") \
	_(0x10, RS1, W, 0, NONE, HEX, "first source value; 64 bits, or its halves at 0x10 and 0x14") \
	_(0x18, RS2, W, 0, NONE, HEX, "second source value; 64 bits, or its halves at 0x18 and 0x1c") \
	_(0x20, BUSY, R, 0, NONE, DECIMAL, "1: commands are queued or at work") \
	_(0x28, LOOPS, R, 0, NONE, DECIMAL, "LOOP_WS and LOOP_CONV_WS that are queued or at work, and jobs of CISC operation 2") \
	_(0x30, STATUS, R, 0, NONE, HEX, "bit 0 busy, bit 1 error, bit 2 waits for a page, [15:8] queue level, [23:16] queue size") \
	_(0x38, CISC, W, 0, NONE, HEX, "a word of the CISC port; unit [7:5] says which unit of the cluster does it") \
	_(0x40, CISC_GENERATION, RW, 0, NONE, DECIMAL, "meaning of CISC words: 0 as in the paper's version, 1 as in the later one") \
	_(0x48, CISC_TILE, RW, 0, NONE, HEX, "tile of CISC operations, in DIM blocks: K [47:32], J [31:16], I [15:0]; after reset 64 x 64 x 64 elements, or as configured") \
	_(0x50, ERROR, RW, 0, NONE, DECIMAL, "load: enum virgo_error, 0 if there is none; store: clears the error, and the unit goes on") \
	_(0x58, ERROR_INSTRUCTION, R, 0, NONE, HEX, "the instruction word that failed; of CISC, its word") \
	_(0x60, ERROR_POSITION, R, 0, NONE, DECIMAL, "its number, from 0, among the commands since the last reset") \
	_(0x68, ERROR_ADDRESS, R, 0, NONE, HEX, "address of the first byte that failed, or the value that was out of range") \
	_(0x70, ERROR_RS1, R, 0, NONE, HEX, "RS1 of that command") \
	_(0x78, ERROR_RS2, R, 0, NONE, HEX, "RS2 of that command") \
	_(0x80, DISPATCHED, R, 0, NONE, DECIMAL, "commands accepted since the last reset") \
	_(0x88, COMPLETED, R, 0, NONE, DECIMAL, "of these, the ones that are over, the failed and dropped ones too") \
	_(0x90, IDENTIFY, R, 0, NONE, HEX, "DIM [7:0], element type [15:8] (enum virgo_type), number of this unit [23:16], bit 24: a store to a full queue is an error, KB of accumulator memory [47:32]") \
	_(0x98, COUNTER_RESULT, R, 0, NONE, DECIMAL, "value that the last COUNTER command (funct 126) has read") \
	_(0xa0, COUNTER_SELECT, RW, 0, NONE, DECIMAL, "number of the counter that COUNTER_VALUE shows, from enum virgo_counter") \
	_(0xa8, COUNTER_VALUE, R, 0, NONE, DECIMAL, "that counter") \
	_(0xb0, RESET, W, 0, NONE, HEX, "queue, configuration, array, accumulator and error as after power-on; counters stay") \
	_(0xb8, FENCE, R, 0, NONE, HEX, "waits until all that was dispatched is over; answers STATUS") \
	_(0xc0, WAIT_LOOPS_0, R, 0, NONE, HEX, "waits until LOOPS is 0; answers LOOPS") \
	_(0xc8, WAIT_LOOPS_1, R, 0, NONE, HEX, "waits until LOOPS is at most 1; answers LOOPS") \
	_(0xd0, WAIT_LOOPS_2, R, 0, NONE, HEX, "the same with 2") \
	_(0xd8, WAIT_LOOPS_3, R, 0, NONE, HEX, "the same with 3") \
	_(0xe0, STREAM, W, 0, NONE, HEX, "RS1, RS2 and an instruction word, in turn: the third store queues the command. RS1 and RS2 of the block stay as they are; RESET, and the end of the thread that is in the middle of one, begin a new turn")

#define VIRGO_CONTROL_REGISTERS(_) \
	_(0x000, IDENTIFY, R, 0, IDENTIFY, HEX, "magic [63:32], version [31:24], barriers [23:16], cores [15:8], units [7:0]") \
	_(0x008, SHARED_SIZE, R, 0, MEMORY_SIZE, DECIMAL, "bytes of shared memory") \
	_(0x010, FAULT_STATUS, R, 0, FAULT, HEX, "page [63:12], bit 11 waits for RESOLVE, bit 10 the access writes, unit [7:0]; 0: no fault. The oldest that waits first, else the last bad address") \
	_(0x018, RESOLVE, W, 0, RESOLVE, HEX, "unit [7:0], bit 8: the page is present now; bit 9: it takes time, show the faults of other units first; else its address is bad") \
	_(0x020, FLUSH, W, 0, NONE, HEX, "drops all translations") \
	_(0x028, FAULT_COUNT, R, 0, FAULT_COUNT, DECIMAL, "bad addresses since power-on") \
	_(0x030, EVENT_STATUS, RW, 0, NONE, HEX, "events that have happened (VIRGO_EVENT_*); store: clears the bits that are 1") \
	_(0x038, EVENT_ENABLE, RW, 0, NONE, HEX, "which of these raise the interrupt")

/* From here, 8 bytes for each counter, in the order of VIRGO_COUNTERS: of all units together. */
#define VIRGO_COUNTER_OFFSET 0x800

/* Of page 0, for each of barrier 0 to 15, 8 bytes apart. The same columns. */
#define VIRGO_BARRIER_REGISTERS(_) \
	_(0x100, BARRIER_PARTICIPANTS, RW, 0, NONE, DECIMAL, "how many have to arrive, 1 to 255; 0 (after reset): as many as the cluster has cores") \
	_(0x200, BARRIER_WAIT, R, 0, NONE, DECIMAL, "arrives and waits until all have; answers how often this barrier had opened before") \
	_(0x300, BARRIER_STATUS, R, 0, NONE, HEX, "arrived [7:0], how often it has opened [63:8]")

#define VIRGO_BARRIER_PARTICIPANTS(barrier) (0x100u + 8u * (barrier))
#define VIRGO_BARRIER_WAIT(barrier) (0x200u + 8u * (barrier))
#define VIRGO_BARRIER_STATUS(barrier) (0x300u + 8u * (barrier))

enum virgo_unit_register {
#define _(offset, name, access, reset, role, format, meaning) VIRGO_##name = offset,
	VIRGO_UNIT_REGISTERS(_)
#undef _
	VIRGO_RS1_HIGH = 0x14,
	VIRGO_RS2_HIGH = 0x1c,
};

enum virgo_control_register {
#define _(offset, name, access, reset, role, format, meaning) VIRGO_CONTROL_##name = offset,
	VIRGO_CONTROL_REGISTERS(_)
#undef _
};

#define VIRGO_MAGIC 0x5652474full	/* "VRGO" */
#define VIRGO_VERSION 1

/* Where a unit's register lies on VIRGO_PAGE_UNITS. */
#define VIRGO_UNIT_OFFSET(unit, name) (VIRGO_BLOCK_SIZE * (unit) + VIRGO_##name)

#define VIRGO_STATUS_BUSY 1u
#define VIRGO_STATUS_ERROR 2u
#define VIRGO_STATUS_PAGE 4u
#define VIRGO_STATUS_LEVEL_SHIFT 8
#define VIRGO_STATUS_SIZE_SHIFT 16

#define VIRGO_IDENTIFY_OVERFLOWS (1u << 24)	/* else the store waits */

#define VIRGO_FAULT_STALLED (1u << 11)
#define VIRGO_FAULT_WRITES (1u << 10)
#define VIRGO_RESOLVE_PRESENT (1u << 8)
#define VIRGO_RESOLVE_LATER (1u << 9)

#define VIRGO_EVENT_IDLE(unit) (1u << (unit))		/* became idle */
#define VIRGO_EVENT_ERROR(unit) (1u << (8 + (unit)))	/* latched an error */
#define VIRGO_EVENT_LOOP(unit) (1u << (16 + (unit)))	/* finished a loop */
#define VIRGO_EVENT_BARRIER (1u << 24)			/* a barrier has opened */

enum virgo_type {
	VIRGO_INT8,	/* int32 accumulation */
	VIRGO_FP16,	/* IEEE binary16, fp32 accumulation */
	VIRGO_FP32,
	VIRGO_TYPES
};

/* _(number, NAME, meaning) */
#define VIRGO_ERRORS(_) \
	_(0, NONE, "no error") \
	_(1, COMMAND, "no command: opcode, funct, kind of configuration or CISC operation; the address register holds the wrong value") \
	_(2, RANGE, "rows outside of the scratchpad, the accumulator or the array; the address register holds the first such row") \
	_(3, SIZE, "rows, columns or bounds that are out of range; the address register holds the value") \
	_(4, VALUE, "a configuration that makes no sense; the address register holds the value") \
	_(5, OVERFLOW, "the queue, or the CISC port's, was full; the address register holds its size") \
	_(6, LOAD, "program memory that cannot be read") \
	_(7, STORE, "program memory that cannot be written; earlier rows are in memory")

enum virgo_error {
#define _(number, name, meaning) VIRGO_ERROR_##name = number,
	VIRGO_ERRORS(_)
#undef _
};

/* Of one unit. Not cleared by RESET. _(name, meaning) */
#define VIRGO_COUNTERS(_) \
	_(commands, "commands completed, those that an error stopped or dropped not among them") \
	_(configurations, "of these, CONFIG and the parameters of loops") \
	_(moves_in, "mvin, mvin2 and mvin3") \
	_(moves_out, "mvout and MVOUT_SPAD") \
	_(preloads, "preload") \
	_(computes, "compute_preloaded and compute_accumulated") \
	_(loops, "LOOP_WS and LOOP_CONV_WS") \
	_(cisc, "words accepted by the CISC port") \
	_(tiles, "passes of the systolic array: one for each compute, also inside of loops") \
	_(macs, "multiplications and additions of these: rows x columns x depth that the commands asked for") \
	_(dma_reads, "rows read from program memory") \
	_(dma_writes, "rows written to program memory") \
	_(dma_bytes_read, "bytes read from program memory") \
	_(dma_bytes_written, "bytes written to program memory") \
	_(shared_bytes_read, "bytes of shared memory that the unit read") \
	_(shared_bytes_written, "bytes of shared memory that the unit wrote") \
	_(accumulator_rows_read, "rows of the accumulator that were moved out") \
	_(accumulator_rows_written, "rows of the accumulator that moves in and the array wrote") \
	_(polls, "loads of BUSY, LOOPS and STATUS") \
	_(queue_waits, "stores of a word, to INSTRUCTION or STREAM, that waited for room in the queue") \
	_(walks, "translations that walked the page table") \
	_(page_faults, "faults that a driver was asked to resolve") \
	_(resolves, "of these, the ones that it resolved") \
	_(faults, "addresses that could not be translated, read or written") \
	_(shootdowns, "flushes and invalidations of translations") \
	_(errors, "errors, the ones that found another one latched too") \
	_(dropped, "commands dropped while an error was latched") \
	_(illegal, "accesses to no register, of a wrong size or kind")

enum virgo_counter {
#define _(name, meaning) VIRGO_COUNTER_##name,
	VIRGO_COUNTERS(_)
#undef _
	VIRGO_COUNTER_COUNT
};

#endif
