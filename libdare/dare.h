/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libdare: the instructions of DARE in C, and matrix products made of them. This
 * header is its manual; there is a man page for each function, and
 * docs/libdare.md is the tutorial.
 *
 * DARE ("DARE: an irregularity-tolerant matrix processing unit with a densifying
 * ISA and filtered runahead execution", DATE 2026) is a matrix processing unit
 * beside a host processor. The host dispatches instructions, and the unit
 * executes them while the host goes on. Section numbers below are the paper's.
 *
 * Registers. m0 to m7 have 16 rows of 64 bytes each. Three CSRs give the shape
 * that the next instructions work on: matrixM rows, matrixK bytes of a row, and
 * matrixN rows of the second source of mma. After dare_open() and dare_reset()
 * all registers are 0, and the CSRs are 16, 64 and 16.
 *
 * Contexts. A struct dare is a context of a device: registers, CSRs, an
 * instruction queue, an error and counters of its own. A program may have
 * several, of one device or of more. Different contexts are independent,
 * and no order is kept between them.
 *
 * Threads. One thread at a time may use a context: each thread opens its own, or
 * the program keeps them apart by a lock.
 *
 * Dispatch. dare_mcfg() to dare_mscatter_b() and dare_dispatch() put an
 * instruction into a buffer, from where they go to the device in batches, in
 * order. They take effect in that order. dare_fence() waits until all are
 * complete; only then may the program read the memory that they store to, and write
 * or free the memory that they load. dare_flush() sends the buffer and does not wait.
 *
 * Errors. Functions return 0 or a negative errno value; nothing is printed,
 * nothing exits. dare_error_text() says more. Each function lists its own errors;
 * beside these, every function that talks to the device may return
 *	-ENOTCONN	the daemon is gone (transport daemon)
 *	-ENODEV		the handle belongs to the parent of a fork
 *
 * Errors of instructions. An error that the device finds is known later than the
 * call that dispatched the instruction: dare_fence() returns it, and dare_error()
 * tells which instruction it was, where, and which address. Errors are precise:
 * everything before the instruction is complete, the instruction has not changed
 * a register, and everything behind it is dropped until dare_clear_error() or
 * dare_reset(). A load or store of unmapped memory is such an error,
 * and raises no signal.
 *
 * Addresses are the program's own. The device reads and writes any memory of the
 * program; memory of dare_alloc(), or passed to dare_register(), is faster on the
 * transport daemon.
 *
 * The products of sparse matrices are in dare_sparse.h, and assembly text is in
 * dare_assembly.h; this header includes both.
 */
#ifndef DARE_H
#define DARE_H

#include <stddef.h>
#include <stdint.h>

/* The lists are expanded by a macro `_`, which may be a program's gettext. */
#pragma push_macro("_")
#undef _
#include <mimic/dare_isa.h>
#include <mimic/dare_registers.h>

#include "dare_assembly.h"
#include "dare_sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* A context of a DARE. */
struct dare;

/* All zero, or no options at all: the defaults. */
struct dare_options {
	const char *device;		/* NULL or "dare": any that has a free context; "dare0", ...: that one */
	const char *transport;		/* "kernel", "daemon" or "embedded"; NULL or "auto": the first that is there */
	const char *socket_path;	/* of mimicd; NULL: MIMIC_SOCKET, else the usual one */
	const char *config_path;	/* INI file, transport embedded; NULL: MIMIC_CONFIG, else the paper's */
};

/**
 * dare_open() - finds a device and takes a context of it
 * @dare: where the handle goes; NULL goes there if the call fails
 * @options: settings of the device, NULL for the defaults
 *
 * The context is as after power-on. A config_path is for the embedded transport:
 * it makes "auto" choose that, and is -EINVAL with "daemon" and "kernel". The
 * strings of options are not used after the call. The caller gives the
 * handle back by dare_close().
 *
 * Returns 0, or
 * -EINVAL: an option has no valid value, or the configuration file is wrong, or the
 *          profile that MIMIC_DARE_PROFILE names is (see dare_profile_read())
 * -EBUSY: no context is free
 * -ENODEV: there is no device of that number
 * -ENOENT: there is no such configuration file, or no such profile
 * -ECONNREFUSED: no daemon answers (transport daemon), or no device (transport kernel)
 * -EACCES: it is another user's
 * -EPROTO: the daemon or the device speaks another version
 * -ENOMEM: out of memory
 *
 * See also: dare_error_text(), dare_mld().
 */
int dare_open(struct dare **dare, const struct dare_options *options);

/**
 * dare_close() - gives the context back
 * @dare: the handle, or NULL
 *
 * Waits for nothing: call dare_fence() before, if instructions may still be on
 * their way. Memory of dare_alloc() that was not freed is lost with it.
 *
 * See also: dare_open().
 */
void dare_close(struct dare *dare);

/**
 * dare_error_text() - says more about an error
 *
 * Returns a line for people about the last error that a function of the library
 * returned to this thread, "" if there was none. It gives the reason. The
 * string is the library's and changes with the thread's next error.
 *
 * See also: dare_error(), dare_fence().
 */
const char *dare_error_text(void);

/**
 * dare_transport() - tells how the device is reached
 * @dare: the handle
 *
 * Returns "embedded", "daemon" or "kernel". The string is the library's.
 *
 * See also: dare_open(), dare_device_name().
 */
const char *dare_transport(const struct dare *dare);

/**
 * dare_device_name() - tells which device this is
 * @dare: the handle
 *
 * Returns "dare0", "dare1" and so on. The string lives as long as the handle.
 *
 * See also: dare_open(), dare_transport().
 */
const char *dare_device_name(const struct dare *dare);

/**
 * dare_mcfg() - writes a CSR
 * @dare: the handle
 * @csr: DARE_CSR_MATRIX_M, DARE_CSR_MATRIX_K or DARE_CSR_MATRIX_N
 * @value: M 1 to 16 rows, K 1 to 64 bytes, N 1 to 16 rows
 *
 * mcfg of Table I. It takes effect in its place between the other instructions.
 * A CSR or a value that does not exist is an error of the instruction.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL
 *
 * See also: dare_read_csr(), dare_mld(), dare_mma().
 */
int dare_mcfg(struct dare *dare, enum dare_csr csr, uint64_t value);

/**
 * dare_mld() - loads a tile
 * @dare: the handle
 * @md: register that gets it, 0 to 7
 * @address: of the first row, a multiple of 4
 * @stride: bytes from a row to the next, a multiple of 4; may be 0 or negative
 *
 * mld of Table I. Loads matrixM rows of matrixK bytes. The rest of the register
 * becomes 0.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such register
 *
 * See also: dare_mst(), dare_mcfg(), dare_fence().
 */
int dare_mld(struct dare *dare, unsigned int md, const void *address, int64_t stride);

/**
 * dare_mld_h() - loads a tile of 2-byte elements
 * @dare: the handle
 * @md: register that gets it, 0 to 7
 * @address: of the first row, a multiple of 2
 * @stride: bytes from a row to the next, a multiple of 2
 *
 * As dare_mld(); mld.h differs in the alignment only.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such register
 *
 * See also: dare_mst_h(), dare_mld_b(), dare_mcfg(), dare_fence().
 */
int dare_mld_h(struct dare *dare, unsigned int md, const void *address, int64_t stride);

/**
 * dare_mld_b() - loads a tile of bytes
 * @dare: the handle
 * @md: register that gets it, 0 to 7
 * @address: of the first row
 * @stride: bytes from a row to the next
 *
 * As dare_mld(); mld.b takes any address.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such register
 *
 * See also: dare_mst_b(), dare_mld_h(), dare_mcfg(), dare_fence().
 */
int dare_mld_b(struct dare *dare, unsigned int md, const void *address, int64_t stride);

/**
 * dare_mst() - stores a tile
 * @dare: the handle
 * @ms3: register that is stored, 0 to 7
 * @address: of the first row, a multiple of 4
 * @stride: bytes from a row to the next, a multiple of 4; may be 0 or negative
 *
 * mst of Table I. Stores matrixM rows of matrixK bytes, row 0 first. Nothing else
 * in memory changes.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such register
 *
 * See also: dare_mld(), dare_mcfg(), dare_fence().
 */
int dare_mst(struct dare *dare, unsigned int ms3, void *address, int64_t stride);

/**
 * dare_mst_h() - stores a tile of 2-byte elements
 * @dare: the handle
 * @ms3: register that is stored, 0 to 7
 * @address: of the first row, a multiple of 2
 * @stride: bytes from a row to the next, a multiple of 2
 *
 * As dare_mst(); mst.h differs in the alignment only.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such register
 *
 * See also: dare_mld_h(), dare_mst_b(), dare_mcfg(), dare_fence().
 */
int dare_mst_h(struct dare *dare, unsigned int ms3, void *address, int64_t stride);

/**
 * dare_mst_b() - stores a tile of bytes
 * @dare: the handle
 * @ms3: register that is stored, 0 to 7
 * @address: of the first row
 * @stride: bytes from a row to the next
 *
 * As dare_mst(); mst.b takes any address.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such register
 *
 * See also: dare_mld_b(), dare_mst_h(), dare_mcfg(), dare_fence().
 */
int dare_mst_b(struct dare *dare, unsigned int ms3, void *address, int64_t stride);

/**
 * dare_mma() - multiplies two tiles of fp32 and adds
 * @dare: the handle
 * @md: register of the sums, 0 to 7
 * @ms1: first source, 0 to 7: matrixM rows
 * @ms2: second source, 0 to 7: matrixN rows
 *
 * mma of Table I. md[m][n] += sum over k of ms1[m][k] * ms2[n][k]: the second
 * source is transposed. k runs over the matrixK / 4 elements of a row in ascending
 * order; each product and each sum is rounded to the nearest fp32, to even
 * if there are two, and nothing is fused. Elements of md outside matrixM x matrixN
 * become 0. md may be a source, too: the sources are read first.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such register
 *
 * See also: dare_mld(), dare_mcfg(), dare_fence().
 */
int dare_mma(struct dare *dare, unsigned int md, unsigned int ms1, unsigned int ms2);

/**
 * dare_mma_bf16() - multiplies two tiles of bf16 and adds
 * @dare: the handle
 * @md: register of the sums, fp32, 0 to 7
 * @ms1: first source, 0 to 7: matrixM rows
 * @ms2: second source, 0 to 7: matrixN rows
 *
 * As dare_mma(), of matrixK / 2 elements, which are converted to fp32 first.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such register
 *
 * See also: dare_mma_i8(), dare_mld(), dare_mcfg(), dare_fence().
 */
int dare_mma_bf16(struct dare *dare, unsigned int md, unsigned int ms1, unsigned int ms2);

/**
 * dare_mma_i8() - multiplies two tiles of int8 and adds
 * @dare: the handle
 * @md: register of the sums, int32, 0 to 7
 * @ms1: first source, 0 to 7: matrixM rows
 * @ms2: second source, 0 to 7: matrixN rows
 *
 * As dare_mma(), of matrixK signed bytes. Sums have 32 bits and wrap.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such register
 *
 * See also: dare_mma_bf16(), dare_mld(), dare_mcfg(), dare_fence().
 */
int dare_mma_i8(struct dare *dare, unsigned int md, unsigned int ms1, unsigned int ms2);

/**
 * dare_mgather() - loads a tile whose rows are at any addresses
 * @dare: the handle
 * @md: register that gets it, 0 to 7
 * @ms1: register with the addresses, 0 to 7
 *
 * mgather of Table I. Loads matrixM rows of matrixK bytes; the address of row i is
 * in the first 8 bytes of row i of ms1, and is a multiple of 4. The rest of md
 * becomes 0. md may be ms1: the addresses are read first.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such register
 *
 * See also: dare_mscatter(), dare_mcfg(), dare_fence().
 */
int dare_mgather(struct dare *dare, unsigned int md, unsigned int ms1);

/**
 * dare_mgather_h() - loads rows of 2-byte elements from any addresses
 * @dare: the handle
 * @md: register that gets them, 0 to 7
 * @ms1: register with the addresses, multiples of 2
 *
 * As dare_mgather(); mgather.h differs in the alignment only.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such register
 *
 * See also: dare_mscatter_h(), dare_mgather_b(), dare_mcfg(), dare_fence().
 */
int dare_mgather_h(struct dare *dare, unsigned int md, unsigned int ms1);

/**
 * dare_mgather_b() - loads rows of bytes from any addresses
 * @dare: the handle
 * @md: register that gets them, 0 to 7
 * @ms1: register with the addresses
 *
 * As dare_mgather(); mgather.b takes any address.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such register
 *
 * See also: dare_mscatter_b(), dare_mgather_h(), dare_mcfg(), dare_fence().
 */
int dare_mgather_b(struct dare *dare, unsigned int md, unsigned int ms1);

/**
 * dare_mscatter() - stores a tile's rows to any addresses
 * @dare: the handle
 * @ms2: register that is stored, 0 to 7
 * @ms1: register with the addresses, 0 to 7
 *
 * mscatter of Table I. Stores matrixM rows of matrixK bytes, row 0 first; the
 * address of row i is in the first 8 bytes of row i of ms1, and is a multiple of 4.
 * Nothing else in memory changes. If rows overlap, the later one stays.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such register
 *
 * See also: dare_mgather(), dare_mcfg(), dare_fence().
 */
int dare_mscatter(struct dare *dare, unsigned int ms2, unsigned int ms1);

/**
 * dare_mscatter_h() - stores rows of 2-byte elements to any addresses
 * @dare: the handle
 * @ms2: register that is stored, 0 to 7
 * @ms1: register with the addresses, multiples of 2
 *
 * As dare_mscatter(); mscatter.h differs in the alignment only.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such register
 *
 * See also: dare_mgather_h(), dare_mscatter_b(), dare_mcfg(), dare_fence().
 */
int dare_mscatter_h(struct dare *dare, unsigned int ms2, unsigned int ms1);

/**
 * dare_mscatter_b() - stores rows of bytes to any addresses
 * @dare: the handle
 * @ms2: register that is stored, 0 to 7
 * @ms1: register with the addresses
 *
 * As dare_mscatter(); mscatter.b takes any address.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or no such register
 *
 * See also: dare_mgather_b(), dare_mscatter_h(), dare_mcfg(), dare_fence().
 */
int dare_mscatter_b(struct dare *dare, unsigned int ms2, unsigned int ms1);

/**
 * dare_dispatch() - dispatches an instruction word
 * @dare: the handle
 * @word: any 32 bits
 * @rs1: value of the scalar register rs1
 * @rs2: value of the scalar register rs2
 *
 * The device decodes the word; the numbers of scalar registers in it do not
 * matter. rs1 and rs2 are for mcfg, mld and mst, and are ignored for other
 * words. A word that is no instruction is an error of the instruction.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL
 *
 * See also: dare_assemble(), dare_fence().
 */
int dare_dispatch(struct dare *dare, uint32_t word, uint64_t rs1, uint64_t rs2);

/**
 * dare_flush() - sends the buffered instructions to the device
 * @dare: the handle
 *
 * Does not wait until the instructions are complete, but may wait until the device
 * has room for them. On the embedded transport the device works only while a
 * thread calls dare_fence() or another function that talks to it.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL
 */
int dare_flush(struct dare *dare);

/**
 * dare_fence() - waits until all instructions are complete
 * @dare: the handle
 *
 * Sends the buffered instructions, and waits. If an instruction has failed, now or
 * before, it returns why, each time until dare_clear_error() or dare_reset().
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL; or DARE_ERROR_CSR, DARE_ERROR_SHAPE or DARE_ERROR_MISALIGNED
 * -EILSEQ: DARE_ERROR_ILLEGAL, a word that is no instruction
 * -EFAULT: DARE_ERROR_LOAD or DARE_ERROR_STORE, memory that is not there
 * -ENXIO: DARE_ERROR_DETACHED, the context has lost its address space
 *
 * See also: dare_error(), dare_flush().
 */
int dare_fence(struct dare *dare);

/* The first instruction that failed. */
struct dare_error_info {
	enum dare_error error;	/* DARE_ERROR_NONE: there is no error, and the rest is 0 */
	uint32_t instruction;	/* its word */
	uint64_t position;	/* its number, from 0, since dare_open() or dare_reset() */
	uint64_t address;	/* of the byte that failed, or the value that was out of range */
	unsigned int row;	/* of the tile; earlier rows of a store are in memory */
	char text[192];		/* all this in a line for people */
};

/**
 * dare_error() - tells which instruction failed, and why
 * @dare: the handle
 * @info: where it goes
 *
 * Waits as dare_fence() does. Later instructions that failed are not known: they
 * were dropped.
 *
 * Returns 0, also if there is no error, or
 * -EINVAL: an argument is NULL
 *
 * See also: dare_clear_error(), dare_disassemble().
 */
int dare_error(struct dare *dare, struct dare_error_info *info);

/**
 * dare_clear_error() - lets the context go on after an error
 * @dare: the handle
 *
 * Instructions that were dispatched before the call and behind the one that failed are
 * lost. Registers and CSRs stay as they are. Does nothing if there is no error.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL
 *
 * See also: dare_error(), dare_reset().
 */
int dare_clear_error(struct dare *dare);

/**
 * dare_reset() - makes registers, CSRs and error as after dare_open()
 * @dare: the handle
 *
 * Waits until all instructions before it are complete. Positions count from 0
 * again. Counters stay.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL
 *
 * See also: dare_clear_error().
 */
int dare_reset(struct dare *dare);

/**
 * dare_read_csr() - reads a CSR
 * @dare: the handle
 * @csr: DARE_CSR_MATRIX_M, DARE_CSR_MATRIX_K or DARE_CSR_MATRIX_N
 * @value: where it goes
 *
 * Waits until all instructions before it are complete.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, or no such CSR
 *
 * See also: dare_mcfg().
 */
int dare_read_csr(struct dare *dare, enum dare_csr csr, uint64_t *value);

/* The context's counters since dare_open(). Names and meanings: DARE_COUNTERS in mimic/dare_registers.h. */
struct dare_statistics {
#define _(name, meaning) uint64_t name;
	DARE_COUNTERS(_)
#undef _
};

/**
 * dare_counters() - reads the context's counters
 * @dare: the handle
 * @statistics: where they go
 *
 * Waits until all instructions before it are complete. macs_used / macs_offered is
 * the utilisation of the processing elements (section V). Counters only grow.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL
 *
 * See also: dare_fence().
 */
int dare_counters(struct dare *dare, struct dare_statistics *statistics);

/**
 * dare_alloc() - allocates memory that the device reaches directly
 * @dare: the handle
 * @size: bytes, at least 1
 *
 * The memory is zeroed and page aligned. The daemon shares it, so that a load from
 * it costs no system call. It is the caller's until dare_free().
 *
 * Returns the memory, or NULL with errno:
 * EINVAL: size is 0, or the handle is NULL
 * ENOMEM: out of memory
 *
 * See also: dare_register().
 */
void *dare_alloc(struct dare *dare, size_t size);

/**
 * dare_free() - frees memory of dare_alloc()
 * @dare: the handle
 * @memory: memory of dare_alloc(), or NULL
 *
 * No instruction that uses it may be on its way.
 *
 * Returns 0, or
 * -EINVAL: the handle is NULL, or the memory is not of dare_alloc()
 */
int dare_free(struct dare *dare, void *memory);

/**
 * dare_register() - lets the device reach the program's own memory directly
 * @dare: the handle
 * @memory: the first byte
 * @size: bytes
 *
 * The device reads and writes any memory of the program without this; the daemon
 * does it faster with it. The whole pages inside the range are replaced in place by
 * shared ones with the same contents. No other thread may write to them during the
 * call. Only private anonymous memory can be registered (malloc or anonymous mmap;
 * not files, not the main stack). On the embedded transport there is nothing to do.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, or the memory cannot be registered
 * -ENOMEM: out of memory
 *
 * See also: dare_unregister(), dare_alloc().
 */
int dare_register(struct dare *dare, void *memory, size_t size);

/**
 * dare_unregister() - takes dare_register() back
 * @dare: the handle
 * @memory: the same as there
 * @size: the same as there
 *
 * The memory keeps its contents. No instruction that uses it may be on its way.
 * Call it before the memory is freed.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, or the range is not registered
 */
int dare_unregister(struct dare *dare, void *memory, size_t size);

/**
 * dare_bf16() - converts to bf16
 * @value: any number
 *
 * Returns the bits of the bf16 that is nearest to value, of two the even one. A NaN
 * stays one.
 *
 * Threads. A function of its arguments only, for any thread and for signal handlers.
 *
 * See also: dare_from_bf16(), dare_gemm_bf16(), dare_mma_bf16().
 */
uint16_t dare_bf16(float value);

/**
 * dare_from_bf16() - converts from bf16
 * @bits: of the bf16
 *
 * Returns the same number as a float; the conversion is exact.
 *
 * Threads. A function of its arguments only, for any thread and for signal handlers.
 *
 * See also: dare_bf16().
 */
float dare_from_bf16(uint16_t bits);

/* Flags of the matrix products, joined by |. */
enum dare_gemm_flags {
	DARE_TRANSPOSE_A = 1,	/* A is stored transposed: k rows of m elements */
	DARE_TRANSPOSE_B = 2,	/* B is stored transposed: n rows of k elements */
	DARE_ADD = 4,		/* the product is added to C, instead of replacing it */
};

/**
 * dare_gemm() - multiplies two matrices of fp32
 * @dare: the handle
 * @flags: of enum dare_gemm_flags, or 0
 * @m: rows of A and C
 * @n: columns of B and C
 * @k: columns of A, rows of B
 * @a: A, row by row
 * @lda: elements from a row of A, as it is stored, to the next
 * @b: B, row by row
 * @ldb: elements from a row of B, as it is stored, to the next
 * @c: C, row by row; must not overlap A or B
 * @ldc: elements from a row of C to the next
 *
 * C = A x B, or C = C + A x B with DARE_ADD. Any m, n and k, 0 too; a matrix without
 * elements may be NULL.
 *
 * Each element of C is one chain of sums: it starts from 0, or from the value in C, and
 * for each k in ascending order the product, rounded, is added, and the sum is
 * rounded (to nearest even, nothing fused, subnormals kept). So the result is the
 * same bit for bit as that of the plain loop; the payload of a NaN is not defined.
 *
 * Tiles are copied to memory of the library's own, at most 5 MiB, which it keeps
 * until dare_close(), and the device works on these: nothing outside the matrices is
 * read or written. Uses all registers; afterwards the CSRs are 16, 64 and 16. Waits
 * for earlier instructions. If the call fails the contents of C are undefined.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, an unknown flag, a row is longer than its leading
 *          dimension, a matrix is larger than memory or not aligned; or as dare_fence()
 * -EILSEQ, -EFAULT, -ENXIO: as dare_fence(), of an instruction dispatched before
 * -ENOMEM: out of memory
 *
 * See also: dare_mma(), dare_alloc().
 */
int dare_gemm(struct dare *dare, unsigned int flags, size_t m, size_t n, size_t k, const float *a,
	      size_t lda, const float *b, size_t ldb, float *c, size_t ldc);

/**
 * dare_gemm_bf16() - multiplies two matrices of bf16
 * @dare: the handle
 * @flags: of enum dare_gemm_flags, or 0
 * @m: rows of A and C
 * @n: columns of B and C
 * @k: columns of A, rows of B
 * @a: A, row by row, bf16
 * @lda: elements from a row of A, as it is stored, to the next
 * @b: B, row by row, bf16
 * @ldb: elements from a row of B, as it is stored, to the next
 * @c: C, row by row, fp32; must not overlap A or B
 * @ldc: elements from a row of C to the next
 *
 * As dare_gemm(). Elements of A and B are converted to fp32, which is exact, and
 * products and sums are fp32 as there.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, an unknown flag, a row is longer than its leading
 *          dimension, a matrix is larger than memory or not aligned; or as dare_fence()
 * -EILSEQ, -EFAULT, -ENXIO: as dare_fence(), of an instruction dispatched before
 * -ENOMEM: out of memory
 *
 * See also: dare_gemm_i8(), dare_bf16().
 */
int dare_gemm_bf16(struct dare *dare, unsigned int flags, size_t m, size_t n, size_t k,
		   const uint16_t *a, size_t lda, const uint16_t *b, size_t ldb, float *c,
		   size_t ldc);

/**
 * dare_gemm_i8() - multiplies two matrices of signed bytes
 * @dare: the handle
 * @flags: of enum dare_gemm_flags, or 0
 * @m: rows of A and C
 * @n: columns of B and C
 * @k: columns of A, rows of B
 * @a: A, row by row
 * @lda: elements from a row of A, as it is stored, to the next
 * @b: B, row by row
 * @ldb: elements from a row of B, as it is stored, to the next
 * @c: C, row by row, int32; must not overlap A or B
 * @ldc: elements from a row of C to the next
 *
 * As dare_gemm(). Sums have 32 bits and wrap.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, an unknown flag, a row is longer than its leading
 *          dimension, a matrix is larger than memory or not aligned; or as dare_fence()
 * -EILSEQ, -EFAULT, -ENXIO: as dare_fence(), of an instruction dispatched before
 * -ENOMEM: out of memory
 *
 * See also: dare_gemm_bf16().
 */
int dare_gemm_i8(struct dare *dare, unsigned int flags, size_t m, size_t n, size_t k,
		 const int8_t *a, size_t lda, const int8_t *b, size_t ldb, int32_t *c, size_t ldc);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#pragma pop_macro("_")
#endif
