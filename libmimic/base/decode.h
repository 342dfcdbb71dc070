/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The instruction decoder of the trap path: plain loads and stores of x86-64.
 *
 * It needs nothing but fixed-width integers and errno numbers: the program's end
 * of the transports and the kernel driver build the same text.
 *
 * The instructions that it decodes, each with any of its addressing forms:
 *   mov (88 to 8B, A0 to A3, C6, C7), movzx, movsx, movsxd, movbe, movnti;
 *   movd, movq, movss, movsd, movups, movupd, movaps, movapd, movdqa, movdqu,
 *   lddqu, movntps, movntpd, movntdq, movntdqa, movlps, movlpd, movhps, movhpd,
 *   in their SSE, VEX and unmasked EVEX forms, and vmovsh and vmovw;
 *   integer operations that only read memory: cmp and test with memory on
 *   either side, add, or, adc, sbb, and, sub, xor into a register. A compiler
 *   (clang does) may fold a volatile load into one of these;
 *   updates: add, or, adc, sbb, and, sub, xor of a register or an immediate to
 *   memory, not, neg, inc, dec. To a bus they are a load, then a store;
 *   x87 with memory of 2, 4 or 8 bytes: fld, fst, fstp, fild, fist, fistp,
 *   fisttp, and the arithmetic of fadd to fidivr.
 * Everything else is refused: string, push and pop, shifts, masked, broadcast,
 * gather, MMX, x87 with 10 bytes or with its environment. So are instructions that
 * lock memory, which no bus of a device can do: those with a lock prefix, and xchg.
 */
#ifndef MIMIC_DECODE_H
#define MIMIC_DECODE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif

#define MIMIC_INSTRUCTION_MAX	15u	/* bytes, of any x86 instruction */
#define MIMIC_NO_REGISTER	0xffu

/* The operation on the value; the numbers of the ALU operations are those of the opcode map. */
enum mimic_operation {
	MIMIC_OPERATION_ADD,
	MIMIC_OPERATION_OR,
	MIMIC_OPERATION_ADC,
	MIMIC_OPERATION_SBB,
	MIMIC_OPERATION_AND,
	MIMIC_OPERATION_SUB,
	MIMIC_OPERATION_XOR,
	MIMIC_OPERATION_CMP,
	MIMIC_OPERATION_TEST,
	MIMIC_OPERATION_MOVE,
	/* Updates only; inc and dec have an immediate of 1. */
	MIMIC_OPERATION_NOT,
	MIMIC_OPERATION_NEG,
	MIMIC_OPERATION_INC,
	MIMIC_OPERATION_DEC,
};

/* The operand beside the one in memory. */
enum mimic_operand {
	MIMIC_OPERAND_GENERAL,		/* rax to r15 */
	MIMIC_OPERAND_VECTOR,		/* xmm, ymm, zmm */
	MIMIC_OPERAND_IMMEDIATE,
	MIMIC_OPERAND_X87,		/* the stack; `reg` is 8 times the opcode's low three bits, and ModRM.reg */
};

enum mimic_segment {
	MIMIC_SEGMENT_NONE,		/* and cs, ds, es, ss: their base is 0 in 64-bit mode */
	MIMIC_SEGMENT_FS,
	MIMIC_SEGMENT_GS,
};

struct mimic_instruction {
	uint64_t immediate;	/* extended to 64 bits as the instruction extends it */
	int64_t displacement;
	uint8_t length;		/* in bytes, 1 to 15 */
	uint8_t operation;	/* enum mimic_operation; is_write only with a move */
	uint8_t is_write;	/* 1: memory is written, 0: memory is read */
	uint8_t is_update;	/* is_write is 0, and then the result is written */
	uint8_t memory_size;	/* 1, 2, 4, 8, 16, 32 or 64 bytes */

	uint8_t operand;	/* enum mimic_operand */
	uint8_t reg;		/* hardware number: 0 to 15, a vector register 0 to 31; of x87 see there */
	/*
	 * Bytes of the operand that the instruction means. A general register that
	 * is loaded with 4 gets its upper half zeroed, with 1 or 2 keeps the rest.
	 * A vector register that is loaded has its bytes below register_size
	 * replaced; bytes that memory and the merge register do not fill are 0.
	 */
	uint8_t register_size;
	uint8_t high_byte;	/* ah, ch, dh, bh: bits 8 to 15 of register `reg` */
	uint8_t sign_extend;	/* a load of less than register_size; else zero extension */
	uint8_t byte_swap;	/* movbe */
	uint8_t memory_first;	/* cmp, test, updates: memory is the first operand */

	/* Vector registers only. */
	uint8_t register_offset;	/* the byte of the register that memory's first byte belongs to */
	uint8_t merge_register;		/* movl*, movh* loads: bytes 0 to 15 start as this one's; else MIMIC_NO_REGISTER */
	uint8_t clears_upper;		/* VEX, EVEX loads zero bits above register_size; SSE keeps them */

	/* base + index * scale + displacement, cut to address_size, then the segment's base is added. */
	uint8_t base;		/* MIMIC_NO_REGISTER: none */
	uint8_t index;		/* MIMIC_NO_REGISTER: none */
	uint8_t scale;		/* 1, 2, 4, 8; 0 without index */
	uint8_t segment;	/* enum mimic_segment */
	uint8_t rip_relative;	/* the next instruction's address stands for the base */
	uint8_t address_size;	/* 8, or 4 */
};

/*
 * Decodes the instruction at `bytes`, of which `available` may be read.
 * 0; -ENODATA: cannot tell without more bytes, call again with more (never with
 * 15 or more available); -ENOLCK: it locks memory (any lock prefix;
 * xchg); -EOPNOTSUPP: no instruction of the list above, whether
 * valid or not. *instruction is undefined unless 0 is returned.
 */
int mimic_decode(const uint8_t *bytes, size_t available, struct mimic_instruction *instruction);

/*
 * The address that the instruction accesses. gpr[] is in hardware order (rax,
 * rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15); `rip` is the address of the
 * instruction itself.
 */
uint64_t mimic_effective_address(const struct mimic_instruction *instruction,
				 const uint64_t gpr[16], uint64_t rip,
				 uint64_t fs_base, uint64_t gs_base);

#endif
