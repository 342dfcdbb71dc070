/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The registers of DARE, each listed once. The paper gives the instructions and
 * no port; the port is ours (docs/dare.md).
 *
 * Page 0 is the operating system's: identity, contexts, page faults. Pages 1 to
 * 15 are contexts: a matrix register file with its CSRs and its instruction
 * queue, for one thread of control of one process. The page that a program sees as page 0
 * of its node is the context that it was given.
 *
 * All registers have 64 bits and take accesses of 8 bytes; 4-byte loads of the
 * low half are answered, other accesses are illegal: they read 0, are dropped
 * and counted.
 */
#ifndef MIMIC_DARE_REGISTERS_H
#define MIMIC_DARE_REGISTERS_H

/* Of the device as a PCI function (mimic/pci.h). */
#define DARE_PCI_DEVICE 0x8c1c

#define DARE_PAGE_CONTROL 0
#define DARE_PAGE_CONTEXT(context) ((context) + 1u)
#define DARE_CONTEXTS_MAX 15
#define DARE_PAGE_COUNT (DARE_CONTEXTS_MAX + 1)

/*
 * _(offset, NAME, access (R load, W store, RW), reset value, role between device and driver
 * (devices/register.h), how it is shown, meaning)
 */
#define DARE_CONTEXT_REGISTERS(_) \
	_(0x000, RS1, RW, 0, NONE, HEX, "first source value of the next INSTRUCTION") \
	_(0x008, RS2, RW, 0, NONE, HEX, "second source value of the next INSTRUCTION") \
	_(0x010, INSTRUCTION, W, 0, NONE, HEX, "dispatches this instruction word (low 32 bits) with RS1 and RS2; waits while the queue is full") \
	_(0x018, STREAM, W, 0, NONE, HEX, "a stream of stores: an instruction word, then, if it is mcfg, mld or mst, rs1 and rs2; each complete one is dispatched") \
	_(0x020, STATUS, R, 0, NONE, HEX, "bit 0 busy, bit 1 error, bit 2 waits for a page, [15:8] queue level, [23:16] queue size, [31:24] words of STREAM that are still missing") \
	_(0x028, FENCE, R, 0, NONE, HEX, "waits until all that was dispatched is complete, or an error; answers STATUS") \
	_(0x030, MATRIX_M, R, 16, NONE, DECIMAL, "CSR matrixM: rows") \
	_(0x038, MATRIX_K, R, 64, NONE, DECIMAL, "CSR matrixK: bytes of a row") \
	_(0x040, MATRIX_N, R, 16, NONE, DECIMAL, "CSR matrixN: rows of the second source of mma") \
	_(0x048, DISPATCHED, R, 0, NONE, DECIMAL, "instructions accepted since the last reset") \
	_(0x050, COMPLETED, R, 0, NONE, DECIMAL, "of these, the complete ones") \
	_(0x058, ERROR, RW, 0, NONE, DECIMAL, "load: enum dare_error, 0 if there is none; store: clears the error, and the context goes on") \
	_(0x060, ERROR_INSTRUCTION, R, 0, NONE, HEX, "the word of the instruction that failed") \
	_(0x068, ERROR_POSITION, R, 0, NONE, DECIMAL, "its number, from 0, among those dispatched since the last reset") \
	_(0x070, ERROR_ADDRESS, R, 0, NONE, HEX, "address of the byte that failed, or the value that was out of range") \
	_(0x078, ERROR_ROW, R, 0, NONE, DECIMAL, "row of the tile that failed; earlier rows of a store are in memory") \
	_(0x080, RESET, W, 0, NONE, HEX, "registers, CSRs, queue, error and STREAM as after power-on; counters stay") \
	_(0x088, IDENTIFY, R, 0, NONE, HEX, "magic [63:32], version [31:24], number of this context [7:0]")

/* From here, one register for each of DARE_COUNTERS, in its order; R. */
#define DARE_COUNTER_OFFSET 0x100

/* The same for page 0. */
#define DARE_CONTROL_REGISTERS(_) \
	_(0x000, IDENTIFY, R, 0, IDENTIFY, HEX, "magic [63:32], version [31:24], queue entries [23:16], TLB entries [15:8], contexts [7:0]") \
	_(0x008, ATTACH, W, 0, ATTACH, HEX, "address space [63:8] for context [7:0], which is reset; address space 0: detached") \
	_(0x010, FAULT_STATUS, R, 0, FAULT, HEX, "page [63:12], bit 11 waits for RESOLVE, bit 10 the access writes, context [7:0]; 0: no fault. The oldest that waits first") \
	_(0x018, RESOLVE, W, 0, RESOLVE, HEX, "context [7:0], bit 8: the page is present now; bit 9: it will be later, and FAULT_STATUS shows those of other contexts first; neither: its address is bad") \
	_(0x020, FLUSH, W, 0, NONE, HEX, "drops the translations of context [7:0]; 0xff: of all") \
	_(0x028, FAULT_COUNT, R, 0, FAULT_COUNT, DECIMAL, "bad addresses since power-on, of all contexts")

enum dare_context_register {
#define _(offset, name, access, reset, role, format, meaning) DARE_##name = offset,
	DARE_CONTEXT_REGISTERS(_)
#undef _
};

enum dare_control_register {
#define _(offset, name, access, reset, role, format, meaning) DARE_CONTROL_##name = offset,
	DARE_CONTROL_REGISTERS(_)
#undef _
};

#define DARE_MAGIC 0x44415245ull	/* "DARE" */
#define DARE_VERSION 1

#define DARE_STATUS_BUSY 1u
#define DARE_STATUS_ERROR 2u
#define DARE_STATUS_PAGE 4u
#define DARE_STATUS_LEVEL_SHIFT 8
#define DARE_STATUS_SIZE_SHIFT 16
#define DARE_STATUS_MISSING_SHIFT 24

#define DARE_FAULT_STALLED (1u << 11)
#define DARE_FAULT_WRITES (1u << 10)
#define DARE_RESOLVE_PRESENT (1u << 8)
#define DARE_RESOLVE_LATER (1u << 9)
#define DARE_ALL_CONTEXTS 0xffu

/* _(number, NAME, meaning) */
#define DARE_ERRORS(_) \
	_(0, NONE, "no error") \
	_(1, ILLEGAL, "no instruction of DARE; the address register holds the word") \
	_(2, CSR, "mcfg of a CSR that is not there; the address register holds its number") \
	_(3, SHAPE, "mcfg of a value out of range, or mma with a matrixK that is no multiple of the element; the address register holds the value") \
	_(4, MISALIGNED, "an address that is no multiple of the element's size") \
	_(5, LOAD, "memory that cannot be read") \
	_(6, STORE, "memory that cannot be written") \
	_(7, DETACHED, "the context has no address space")

enum dare_error {
#define _(number, name, meaning) DARE_ERROR_##name = number,
	DARE_ERRORS(_)
#undef _
};

/* _(name, meaning); of one context, cleared when it is attached */
#define DARE_COUNTERS(_) \
	_(instructions, "instructions completed") \
	_(mcfg, "mcfg completed") \
	_(mld, "mld completed") \
	_(mst, "mst completed") \
	_(mma, "mma completed") \
	_(mgather, "mgather completed") \
	_(mscatter, "mscatter completed") \
	_(rows_loaded, "rows of tiles read from memory") \
	_(rows_stored, "rows of tiles written to memory") \
	_(bytes_loaded, "bytes read from memory") \
	_(bytes_stored, "bytes written to memory") \
	_(macs_used, "multiplications and additions of elements: M x N x elements of K") \
	_(macs_offered, "multiplications that the same instructions would do with full registers: 16 x 16 x elements of 64 bytes") \
	_(raw_waits, "instructions that depended on the result of one that was in the queue") \
	_(war_waits, "instructions whose destination one in the queue had still to read") \
	_(waw_waits, "instructions whose destination one in the queue had still to write") \
	_(queue_waits, "dispatches that had to wait for room in the queue") \
	_(tlb_hits, "rows, or parts of rows, whose page was in the TLB") \
	_(tlb_misses, "translations that walked the page table") \
	_(page_faults, "faults that a driver was asked to resolve") \
	_(resolves, "of these, the ones that it resolved") \
	_(faults, "addresses that could not be translated, read or written") \
	_(shootdowns, "TLB flushes and invalidations") \
	_(errors, "instructions that ended in an error") \
	_(dropped, "instructions dropped while an error was pending") \
	_(illegal, "accesses to no register, of a wrong size or kind")

enum dare_counter {
#define _(name, meaning) DARE_COUNTER_##name,
	DARE_COUNTERS(_)
#undef _
	DARE_COUNTER_COUNT
};

#endif
