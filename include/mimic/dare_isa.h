/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The instructions of DARE (paper, Table I), each listed once: encoder, decoder,
 * assembler, disassembler and the table of docs/dare-isa.md are made from it.
 *
 * The paper gives no encodings. They follow the XuanTie matrix extension 0.4
 * (major opcode custom-1, 0101011) where it has the instruction; mgather and
 * mscatter are in codes that it leaves free. A field that a format does not
 * name is 0, and anything else there is an illegal word.
 */
#ifndef MIMIC_DARE_ISA_H
#define MIMIC_DARE_ISA_H

#define DARE_REGISTERS 8
#define DARE_ROWS 16
#define DARE_ROW_BYTES 64
#define DARE_REGISTER_BYTES (DARE_ROWS * DARE_ROW_BYTES)

/*
 * Formats: which fields are operands.
 *   CONFIGURE rs2 [24:20], rs1 [19:15]
 *   LOAD      rs2 [24:20], rs1 [19:15], md [9:7]
 *   STORE     rs2 [24:20], rs1 [19:15], ms3 [9:7]
 *   MULTIPLY  ms2 [23:21], ms1 [20:18], md [17:15]
 *   GATHER    ms1 [20:18], md [9:7]
 *   SCATTER   ms2 [23:21], ms1 [20:18]
 *
 * _(NAME, "text", word without operands, FORMAT, element bytes, meaning)
 */
#define DARE_INSTRUCTIONS(_) \
	_(MCFG, "mcfg", 0xfe00002bu, CONFIGURE, 0, "write the value of rs2 to the CSR that the value of rs1 names") \
	_(MLD, "mld", 0x0400082bu, LOAD, 4, "load matrixM rows of matrixK bytes from address rs1, rs2 bytes apart") \
	_(MLD_H, "mld.h", 0x0400042bu, LOAD, 2, "the same; addresses are multiples of 2") \
	_(MLD_B, "mld.b", 0x0400002bu, LOAD, 1, "the same; any address") \
	_(MST, "mst", 0x0c00082bu, STORE, 4, "store matrixM rows of matrixK bytes to address rs1, rs2 bytes apart") \
	_(MST_H, "mst.h", 0x0c00042bu, STORE, 2, "the same; addresses are multiples of 2") \
	_(MST_B, "mst.b", 0x0c00002bu, STORE, 1, "the same; any address") \
	_(MMA, "mma", 0x0800082bu, MULTIPLY, 4, "md += ms1 x transposed ms2; fp32") \
	_(MMA_BF16, "mma.bf16", 0x080004abu, MULTIPLY, 2, "the same; bf16 sources, fp32 sums") \
	_(MMA_I8, "mma.i8", 0x1000002bu, MULTIPLY, 1, "the same; int8 sources, int32 sums that wrap") \
	_(MGATHER, "mgather", 0x3400082bu, GATHER, 4, "load matrixM rows of matrixK bytes; row i from the address in the first 8 bytes of row i of ms1") \
	_(MGATHER_H, "mgather.h", 0x3400042bu, GATHER, 2, "the same; addresses are multiples of 2") \
	_(MGATHER_B, "mgather.b", 0x3400002bu, GATHER, 1, "the same; any address") \
	_(MSCATTER, "mscatter", 0x3c00082bu, SCATTER, 4, "store matrixM rows of matrixK bytes; row i to the address in the first 8 bytes of row i of ms1") \
	_(MSCATTER_H, "mscatter.h", 0x3c00042bu, SCATTER, 2, "the same; addresses are multiples of 2") \
	_(MSCATTER_B, "mscatter.b", 0x3c00002bu, SCATTER, 1, "the same; any address")

/* CSRs by the value of mcfg's rs1. _(number, NAME, largest value, meaning) */
#define DARE_CSRS(_) \
	_(0, MATRIX_M, 16, "rows of tiles, and of the first source of mma") \
	_(1, MATRIX_K, 64, "bytes of a row") \
	_(2, MATRIX_N, 16, "rows of the second source of mma")

enum dare_csr {
#define _(number, name, largest, meaning) DARE_CSR_##name = number,
	DARE_CSRS(_)
#undef _
	DARE_CSR_COUNT
};

enum dare_format {
	DARE_FORMAT_CONFIGURE, DARE_FORMAT_LOAD, DARE_FORMAT_STORE, DARE_FORMAT_MULTIPLY,
	DARE_FORMAT_GATHER, DARE_FORMAT_SCATTER,
};

enum dare_operation {
#define _(name, text, word, format, element, meaning) DARE_##name,
	DARE_INSTRUCTIONS(_)
#undef _
	DARE_OPERATION_COUNT
};

/* An instruction taken apart. Fields that its format does not have are 0. */
struct dare_fields {
	enum dare_operation operation;
	unsigned int md;	/* destination, 0 to 7 */
	unsigned int ms1;	/* sources; ms2 is also the register that mst (ms3) and mscatter store */
	unsigned int ms2;
	unsigned int rs1;	/* numbers of scalar registers, 0 to 31: the host's, not ours */
	unsigned int rs2;
};

#endif
