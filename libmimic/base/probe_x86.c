/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Loads, stores and atomics that may fault, by instructions that the fixup knows. */
#include "libmimic/base/probe_internal.h"
#include "libmimic/base/vectors.h"

#if MIMIC_PROBE_X86

#include <signal.h>

#include "libmimic/mimic.h"

/* Rows by size; see the macros. `last`: size less that of the last move. */
#define ROWS(class) \
	size_t mimic_probe_read_rows##class(const uint64_t *addresses, size_t count, size_t last, \
					    void *rows); \
	size_t mimic_probe_write_rows##class(const uint64_t *addresses, size_t count, size_t last, \
					     const void *rows);
ROWS(512)
ROWS(16)
ROWS(8)
ROWS(4)
ROWS(1)
#undef ROWS
size_t mimic_probe_read_rows512_ahead(const uint64_t *addresses, size_t count, size_t last, void *rows);

/*
 * In assembly because the fixup must know each instruction that can fault and
 * the contents of the registers there; a compiler promises neither.
 *
 * FAULT(instruction label, where to go on). The table holds distances, so that
 * it needs no relocation.
 */
__asm__(
".macro FAULT at, fixup\n"
"	.pushsection .rodata.mimic_fixups, \"a\"\n"
"	.balign 4\n"
"	.long \\at - .\n"
"	.long \\fixup - .\n"
"	.popsection\n"
".endm\n"
".macro FUNCTION name\n"
"	.p2align 5\n"
"	.globl \\name\n"
"	.hidden \\name\n"
"	.type \\name, @function\n"
"\\name:\n"
"	.cfi_startproc\n"
"	endbr64\n"
".endm\n"
".macro END name\n"
"	.cfi_endproc\n"
"	.size \\name, . - \\name\n"
".endm\n"

/*
 * Four loads at a time keep the loop's own work below the cost of the loads.
 * A fault among the four goes on one by one, which finds the exact count.
 */
".macro GATHER name, a, b, c, d, e\n"
"FUNCTION \\name\n"
"	xorl %eax, %eax\n"
"	movq %rsi, %r8\n"
"	andq $-4, %r8\n"
"	jz 2f\n"
"	.p2align 4\n"
"1:	movq (%rdi,%rax,8), %rcx\n"
"	movq 8(%rdi,%rax,8), %r9\n"
"	movq 16(%rdi,%rax,8), %r10\n"
"	movq 24(%rdi,%rax,8), %r11\n"
"11:	mov (%rcx), \\a\n"
"12:	mov (%r9), \\b\n"
"13:	mov (%r10), \\c\n"
"14:	mov (%r11), \\d\n"
"	movq %rcx, (%rdx,%rax,8)\n"
"	movq %r9, 8(%rdx,%rax,8)\n"
"	movq %r10, 16(%rdx,%rax,8)\n"
"	movq %r11, 24(%rdx,%rax,8)\n"
"	addq $4, %rax\n"
"	cmpq %r8, %rax\n"
"	jb 1b\n"
"2:	cmpq %rsi, %rax\n"
"	jae 3f\n"
"	movq (%rdi,%rax,8), %rcx\n"
"15:	mov (%rcx), \\e\n"
"	movq %rcx, (%rdx,%rax,8)\n"
"	incq %rax\n"
"	jmp 2b\n"
"3:	ret\n"
"	FAULT 11b, 2b\n"
"	FAULT 12b, 2b\n"
"	FAULT 13b, 2b\n"
"	FAULT 14b, 2b\n"
"	FAULT 15b, 3b\n"
"END \\name\n"
".endm\n"

/*
 * Rows. A row of any size is moved by few moves of one width that overlap, so
 * that there is no branch on the size in the loop; the last one ends where the
 * row does. A fault leaves with the number of rows before it (rax).
 */
".macro ROWS_START name\n"
"FUNCTION \\name\n"
"	xorl %eax, %eax\n"
"	testq %rsi, %rsi\n"
"	jz 9f\n"
".endm\n"
".macro ROWS_END name\n"
"	addq $64, %rcx\n"
"	incq %rax\n"
"	cmpq %rsi, %rax\n"
"	jb 1b\n"
"9:	ret\n"
"END \\name\n"
".endm\n"
/* xmm4 is 0. */
".macro CLEAR_ROW\n"
"	movups %xmm4, (%rcx)\n"
"	movups %xmm4, 16(%rcx)\n"
"	movups %xmm4, 32(%rcx)\n"
"	movups %xmm4, 48(%rcx)\n"
".endm\n"
/* 16 to 63 bytes: moves at 0, r9 = min(16, last), r10 = min(32, last), last. */
".macro MIDDLES\n"
"	movl $16, %r9d\n"
"	cmpq %rdx, %r9\n"
"	cmovaq %rdx, %r9\n"
"	movl $32, %r10d\n"
"	cmpq %rdx, %r10\n"
"	cmovaq %rdx, %r10\n"
".endm\n"
/* 4 to 15 bytes by two moves of registers a and b. */
".macro ROWS_SMALL class, a, b\n"
"ROWS_START mimic_probe_read_rows\\class\n"
"	xorps %xmm4, %xmm4\n"
"1:	movq (%rdi,%rax,8), %r8\n"
"11:	mov (%r8), \\a\n"
"12:	mov (%r8,%rdx), \\b\n"
"	CLEAR_ROW\n"
"	mov \\a, (%rcx)\n"
"	mov \\b, (%rcx,%rdx)\n"
"	FAULT 11b, 9f\n"
"	FAULT 12b, 9f\n"
"ROWS_END mimic_probe_read_rows\\class\n"
"ROWS_START mimic_probe_write_rows\\class\n"
"1:	movq (%rdi,%rax,8), %r8\n"
"	mov (%rcx), \\a\n"
"	mov (%rcx,%rdx), \\b\n"
"11:	mov \\a, (%r8)\n"
"12:	mov \\b, (%r8,%rdx)\n"
"	FAULT 11b, 9f\n"
"	FAULT 12b, 9f\n"
"ROWS_END mimic_probe_write_rows\\class\n"
".endm\n"

".pushsection .rodata.mimic_fixups, \"a\"\n"
".balign 4\n"
".globl mimic_probe_fixups\n"
".hidden mimic_probe_fixups\n"
"mimic_probe_fixups:\n"
".popsection\n"

".pushsection .text\n"
".globl mimic_probe_start\n"
".hidden mimic_probe_start\n"
"mimic_probe_start:\n"
"GATHER mimic_probe_gather32, %ecx, %r9d, %r10d, %r11d, %ecx\n"
"GATHER mimic_probe_gather64, %rcx, %r9, %r10, %r11, %rcx\n"

/*
 * 64 bytes, a chunk of LIMA, without a branch; 16 at a time; a word of 4 or 8 by one move; the rest, and
 * bytes before a fault, by bytes.
 */
"FUNCTION mimic_probe_copy\n"
"	cmpq $16, %rdx\n"
"	jb 3f\n"
/* Changes r10 and r11 only. */
"	call mimic_vectors_keep_here\n"
"	cmpq $64, %rdx\n"
"	jne 2f\n"
"11:	movups (%rsi), %xmm0\n"
"12:	movups 16(%rsi), %xmm1\n"
"13:	movups 32(%rsi), %xmm2\n"
"14:	movups 48(%rsi), %xmm3\n"
"	movups %xmm0, (%rdi)\n"
"	movups %xmm1, 16(%rdi)\n"
"	movups %xmm2, 32(%rdi)\n"
"	movups %xmm3, 48(%rdi)\n"
"	xorl %eax, %eax\n"
"	ret\n"
"2:	cmpq $16, %rdx\n"
"	jb 3f\n"
"15:	movups (%rsi), %xmm0\n"
"	movups %xmm0, (%rdi)\n"
"	addq $16, %rsi\n"
"	addq $16, %rdi\n"
"	subq $16, %rdx\n"
"	jmp 2b\n"
"3:	cmpq $4, %rdx\n"
"	je 5f\n"
"	cmpq $8, %rdx\n"
"	je 6f\n"
"7:	movq %rdx, %rcx\n"
"	jrcxz 4f\n"
"16:	rep movsb\n"
"4:	movq %rcx, %rax\n"
"	ret\n"
"5:	xorl %eax, %eax\n"
"17:	movl (%rsi), %ecx\n"
"	movl %ecx, (%rdi)\n"
"	ret\n"
"6:	xorl %eax, %eax\n"
"18:	movq (%rsi), %rcx\n"
"	movq %rcx, (%rdi)\n"
"	ret\n"
"	FAULT 11b, 2b\n"
"	FAULT 12b, 2b\n"
"	FAULT 13b, 2b\n"
"	FAULT 14b, 2b\n"
"	FAULT 15b, 3b\n"
"	FAULT 16b, 4b\n"
"	FAULT 17b, 7b\n"
"	FAULT 18b, 7b\n"
"END mimic_probe_copy\n"

"ROWS_START mimic_probe_read_rows64\n"
"1:	movq (%rdi,%rax,8), %r8\n"
"11:	movups (%r8), %xmm0\n"
"12:	movups 16(%r8), %xmm1\n"
"13:	movups 32(%r8), %xmm2\n"
"14:	movups 48(%r8), %xmm3\n"
"	movups %xmm0, (%rcx)\n"
"	movups %xmm1, 16(%rcx)\n"
"	movups %xmm2, 32(%rcx)\n"
"	movups %xmm3, 48(%rcx)\n"
"	FAULT 11b, 9f\n"
"	FAULT 12b, 9f\n"
"	FAULT 13b, 9f\n"
"	FAULT 14b, 9f\n"
"ROWS_END mimic_probe_read_rows64\n"

"ROWS_START mimic_probe_write_rows64\n"
"1:	movq (%rdi,%rax,8), %r8\n"
"	movups (%rcx), %xmm0\n"
"	movups 16(%rcx), %xmm1\n"
"	movups 32(%rcx), %xmm2\n"
"	movups 48(%rcx), %xmm3\n"
"11:	movups %xmm0, (%r8)\n"
"12:	movups %xmm1, 16(%r8)\n"
"13:	movups %xmm2, 32(%r8)\n"
"14:	movups %xmm3, 48(%r8)\n"
"	FAULT 11b, 9f\n"
"	FAULT 12b, 9f\n"
"	FAULT 13b, 9f\n"
"	FAULT 14b, 9f\n"
"ROWS_END mimic_probe_write_rows64\n"

/*
 * 64 bytes by AVX-512: a row is one store, from which a kernel's one load of it is answered at once. Eight rows at
 * a time; a fault among them goes on one by one, which finds the exact count. The upper 16 registers leave no
 * state that slows later instructions down.
 */
".macro READ_512 n, label, fixup\n"
"	movq 8*\\n(%rdi,%rax,8), %r8\n"
"\\label:	vmovdqu64 (%r8), %zmm16\n"
"	vmovdqu64 %zmm16, 64*\\n(%rcx)\n"
"	FAULT \\label\\()b, \\fixup\n"
".endm\n"
/* Rows that follow each other are often those of a tile that another one follows: that is fetched meanwhile. */
".macro READ_512_AHEAD n, label, fixup\n"
"	READ_512 \\n, \\label, \\fixup\n"
"	prefetcht0 1024(%r8)\n"
".endm\n"
".macro WRITE_512 n, label, fixup\n"
"	movq 8*\\n(%rdi,%rax,8), %r8\n"
"	vmovdqu64 64*\\n(%rcx), %zmm16\n"
"\\label:	vmovdqu64 %zmm16, (%r8)\n"
"	FAULT \\label\\()b, \\fixup\n"
".endm\n"
".macro ROWS_512 name, row\n"
"FUNCTION \\name\n"
"	xorl %eax, %eax\n"
"	leaq -8(%rsi), %r9\n"
"1:	cmpq %r9, %rax\n"
"	jg 2f\n"
"	\\row 0, 11, 2f\n"
"	\\row 1, 12, 2f\n"
"	\\row 2, 13, 2f\n"
"	\\row 3, 14, 2f\n"
"	\\row 4, 15, 2f\n"
"	\\row 5, 16, 2f\n"
"	\\row 6, 17, 2f\n"
"	\\row 7, 18, 2f\n"
"	addq $512, %rcx\n"
"	addq $8, %rax\n"
"	jmp 1b\n"
"2:	cmpq %rsi, %rax\n"
"	jae 9f\n"
"	\\row 0, 19, 9f\n"
"	addq $64, %rcx\n"
"	incq %rax\n"
"	jmp 2b\n"
"9:	ret\n"
"END \\name\n"
".endm\n"
"ROWS_512 mimic_probe_read_rows512, READ_512\n"
"ROWS_512 mimic_probe_read_rows512_ahead, READ_512_AHEAD\n"
"ROWS_512 mimic_probe_write_rows512, WRITE_512\n"

"ROWS_START mimic_probe_read_rows16\n"
"	MIDDLES\n"
"	xorps %xmm4, %xmm4\n"
"1:	movq (%rdi,%rax,8), %r8\n"
"11:	movups (%r8), %xmm0\n"
"12:	movups (%r8,%r9), %xmm1\n"
"13:	movups (%r8,%r10), %xmm2\n"
"14:	movups (%r8,%rdx), %xmm3\n"
"	CLEAR_ROW\n"
"	movups %xmm0, (%rcx)\n"
"	movups %xmm1, (%rcx,%r9)\n"
"	movups %xmm2, (%rcx,%r10)\n"
"	movups %xmm3, (%rcx,%rdx)\n"
"	FAULT 11b, 9f\n"
"	FAULT 12b, 9f\n"
"	FAULT 13b, 9f\n"
"	FAULT 14b, 9f\n"
"ROWS_END mimic_probe_read_rows16\n"

"ROWS_START mimic_probe_write_rows16\n"
"	MIDDLES\n"
"1:	movq (%rdi,%rax,8), %r8\n"
"	movups (%rcx), %xmm0\n"
"	movups (%rcx,%r9), %xmm1\n"
"	movups (%rcx,%r10), %xmm2\n"
"	movups (%rcx,%rdx), %xmm3\n"
"11:	movups %xmm0, (%r8)\n"
"12:	movups %xmm1, (%r8,%r9)\n"
"13:	movups %xmm2, (%r8,%r10)\n"
"14:	movups %xmm3, (%r8,%rdx)\n"
"	FAULT 11b, 9f\n"
"	FAULT 12b, 9f\n"
"	FAULT 13b, 9f\n"
"	FAULT 14b, 9f\n"
"ROWS_END mimic_probe_write_rows16\n"

"ROWS_SMALL 8, %r9, %r10\n"
"ROWS_SMALL 4, %r9d, %r10d\n"

/* 1 to 3 bytes: the first, the middle, the last. */
"ROWS_START mimic_probe_read_rows1\n"
"	movq %rdx, %r9\n"
"	shrq $1, %r9\n"
"	xorps %xmm4, %xmm4\n"
"1:	movq (%rdi,%rax,8), %r8\n"
"	CLEAR_ROW\n"
"11:	movb (%r8), %r10b\n"
"	movb %r10b, (%rcx)\n"
"12:	movb (%r8,%r9), %r10b\n"
"	movb %r10b, (%rcx,%r9)\n"
"13:	movb (%r8,%rdx), %r10b\n"
"	movb %r10b, (%rcx,%rdx)\n"
"	FAULT 11b, 9f\n"
"	FAULT 12b, 9f\n"
"	FAULT 13b, 9f\n"
"ROWS_END mimic_probe_read_rows1\n"

"ROWS_START mimic_probe_write_rows1\n"
"	movq %rdx, %r9\n"
"	shrq $1, %r9\n"
"1:	movq (%rdi,%rax,8), %r8\n"
"	movb (%rcx), %r10b\n"
"11:	movb %r10b, (%r8)\n"
"	movb (%rcx,%r9), %r10b\n"
"12:	movb %r10b, (%r8,%r9)\n"
"	movb (%rcx,%rdx), %r10b\n"
"13:	movb %r10b, (%r8,%rdx)\n"
"	FAULT 11b, 9f\n"
"	FAULT 12b, 9f\n"
"	FAULT 13b, 9f\n"
"ROWS_END mimic_probe_write_rows1\n"

/*
 * A block: rdi to, rsi from, rdx bytes of a row, rcx rows, r8 and r9 from row to row of
 * each. rax counts whole rows; which side faults does not matter. r10 goes through a row.
 */
"FUNCTION mimic_probe_copy_block\n"
"	xorl %eax, %eax\n"
"	testq %rcx, %rcx\n"
"	jz 9f\n"
"	cmpq $16, %rdx\n"
"	jb 6f\n"
"	subq $64, %rdx\n"
"	.p2align 4\n"
"1:	xorl %r10d, %r10d\n"
"	cmpq %rdx, %r10\n"
"	jg 3f\n"
"	leaq (%rsi,%r9,8), %r11\n"
"	.p2align 4\n"
"2:	prefetcht0 (%r11,%r10)\n"
"11:	movups (%rsi,%r10), %xmm0\n"
"12:	movups 16(%rsi,%r10), %xmm1\n"
"13:	movups 32(%rsi,%r10), %xmm2\n"
"14:	movups 48(%rsi,%r10), %xmm3\n"
"15:	movups %xmm0, (%rdi,%r10)\n"
"16:	movups %xmm1, 16(%rdi,%r10)\n"
"17:	movups %xmm2, 32(%rdi,%r10)\n"
"18:	movups %xmm3, 48(%rdi,%r10)\n"
"	addq $64, %r10\n"
"	cmpq %rdx, %r10\n"
"	jle 2b\n"
"	subq $64, %r10\n"
"	cmpq %rdx, %r10\n"
"	je 5f\n"
"	addq $64, %r10\n"
"3:	leaq 48(%rdx), %r11\n"
"30:	cmpq %r11, %r10\n"
"	jge 4f\n"
"19:	movups (%rsi,%r10), %xmm0\n"
"20:	movups %xmm0, (%rdi,%r10)\n"
"	addq $16, %r10\n"
"	jmp 30b\n"
/* Ends where the row does, and overlaps bytes that are done. */
"4:\n"
"21:	movups (%rsi,%r11), %xmm0\n"
"22:	movups %xmm0, (%rdi,%r11)\n"
"5:	addq %r9, %rsi\n"
"	addq %r8, %rdi\n"
"	incq %rax\n"
"	cmpq %rcx, %rax\n"
"	jb 1b\n"
"	ret\n"
/* Less than 16 bytes: two moves that overlap, or bytes. */
"6:	cmpq $8, %rdx\n"
"	jb 7f\n"
"	subq $8, %rdx\n"
"23:	movq (%rsi), %r10\n"
"24:	movq (%rsi,%rdx), %r11\n"
"25:	movq %r10, (%rdi)\n"
"26:	movq %r11, (%rdi,%rdx)\n"
"	addq %r9, %rsi\n"
"	addq %r8, %rdi\n"
"	incq %rax\n"
"	cmpq %rcx, %rax\n"
"	jb 23b\n"
"	ret\n"
"7:	xorl %r10d, %r10d\n"
"8:\n"
"27:	movb (%rsi,%r10), %r11b\n"
"28:	movb %r11b, (%rdi,%r10)\n"
"	incq %r10\n"
"	cmpq %rdx, %r10\n"
"	jb 8b\n"
"	addq %r9, %rsi\n"
"	addq %r8, %rdi\n"
"	incq %rax\n"
"	cmpq %rcx, %rax\n"
"	jb 7b\n"
"9:	ret\n"
".irp at, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28\n"
"	FAULT \\at\\()b, 9b\n"
".endr\n"
"END mimic_probe_copy_block\n"

"FUNCTION mimic_probe_load32\n"
"11:	movl (%rdi), %eax\n"
"	movl %eax, (%rsi)\n"
"	xorl %eax, %eax\n"
"	ret\n"
"2:	movl $-14, %eax\n"
"	ret\n"
"	FAULT 11b, 2b\n"
"END mimic_probe_load32\n"

"FUNCTION mimic_probe_add32\n"
"11:	lock xaddl %esi, (%rdi)\n"
"	movl %esi, (%rdx)\n"
"	xorl %eax, %eax\n"
"	ret\n"
"2:	movl $-14, %eax\n"
"	ret\n"
"	FAULT 11b, 2b\n"
"END mimic_probe_add32\n"

"FUNCTION mimic_probe_swap32\n"
"11:	xchgl %esi, (%rdi)\n"
"	movl %esi, (%rdx)\n"
"	xorl %eax, %eax\n"
"	ret\n"
"2:	movl $-14, %eax\n"
"	ret\n"
"	FAULT 11b, 2b\n"
"END mimic_probe_swap32\n"

"FUNCTION mimic_probe_cas32\n"
"	movl %esi, %eax\n"
"11:	lock cmpxchgl %edx, (%rdi)\n"
"	movl %eax, (%rcx)\n"
"	xorl %eax, %eax\n"
"	ret\n"
"2:	movl $-14, %eax\n"
"	ret\n"
"	FAULT 11b, 2b\n"
"END mimic_probe_cas32\n"
".globl mimic_probe_end\n"
".hidden mimic_probe_end\n"
"mimic_probe_end:\n"
".popsection\n"

".pushsection .rodata.mimic_fixups, \"a\"\n"
".globl mimic_probe_fixups_end\n"
".hidden mimic_probe_fixups_end\n"
"mimic_probe_fixups_end:\n"
".popsection\n"
".purgem FAULT\n"
".purgem FUNCTION\n"
".purgem END\n"
".purgem GATHER\n"
".purgem ROWS_START\n"
".purgem ROWS_END\n"
".purgem ROWS_SMALL\n"
".purgem CLEAR_ROW\n"
".purgem MIDDLES\n"
);

struct fixup {
	int32_t fault;
	int32_t target;
};

extern const struct fixup mimic_probe_fixups[] __attribute__((visibility("hidden")));
extern const struct fixup mimic_probe_fixups_end[] __attribute__((visibility("hidden")));
extern const char mimic_probe_start[] __attribute__((visibility("hidden")));
extern const char mimic_probe_end[] __attribute__((visibility("hidden")));

uintptr_t mimic_fault_fixup(uintptr_t instruction_pointer)
{
	const struct fixup *fixup;

	/* Every trapped access of `mimic run` comes by here. */
	if (instruction_pointer < (uintptr_t)mimic_probe_start ||
	    instruction_pointer >= (uintptr_t)mimic_probe_end)
		return 0;
	for (fixup = mimic_probe_fixups; fixup < mimic_probe_fixups_end; fixup++) {
		if ((uintptr_t)&fixup->fault + (uintptr_t)(intptr_t)fixup->fault ==
		    instruction_pointer)
			return (uintptr_t)&fixup->target + (uintptr_t)(intptr_t)fixup->target;
	}
	return 0;
}

static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f");
}

static size_t read_whole_rows(const uint64_t *addresses, size_t count, void *rows)
{
	if (!has_avx512())
		return mimic_probe_read_rows64(addresses, count, 0, rows);
	if (count == 16 && addresses[15] - addresses[0] == 15 * 64)
		return mimic_probe_read_rows512_ahead(addresses, count, 0, rows);
	return mimic_probe_read_rows512(addresses, count, 0, rows);
}

size_t mimic_probe_read_rows(const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	mimic_vectors_keep();
	if (size == 64)
		return read_whole_rows(addresses, count, rows);
	if (size >= 16)
		return mimic_probe_read_rows16(addresses, count, size - 16, rows);
	if (size >= 8)
		return mimic_probe_read_rows8(addresses, count, size - 8, rows);
	if (size >= 4)
		return mimic_probe_read_rows4(addresses, count, size - 4, rows);
	return mimic_probe_read_rows1(addresses, count, size - 1, rows);
}

size_t mimic_probe_copy_block(void *to, uint64_t from, size_t size, size_t count, size_t to_stride,
			      uint64_t from_stride);

size_t mimic_probe_read_block(uint64_t address, uint64_t stride, size_t size, size_t count,
			      void *buffer, size_t buffer_stride)
{
	mimic_vectors_keep();
	return mimic_probe_copy_block(buffer, address, size, count, buffer_stride, stride);
}

size_t mimic_probe_write_block(uint64_t address, uint64_t stride, size_t size, size_t count,
			       const void *buffer, size_t buffer_stride)
{
	mimic_vectors_keep();
	return mimic_probe_copy_block((void *)(uintptr_t)address, (uintptr_t)buffer, size, count, stride,
				      buffer_stride);
}

size_t mimic_probe_write_rows(const uint64_t *addresses, size_t count, size_t size, const void *rows)
{
	mimic_vectors_keep();
	if (size == 64)
		return has_avx512() ? mimic_probe_write_rows512(addresses, count, 0, rows) :
				      mimic_probe_write_rows64(addresses, count, 0, rows);
	if (size >= 16)
		return mimic_probe_write_rows16(addresses, count, size - 16, rows);
	if (size >= 8)
		return mimic_probe_write_rows8(addresses, count, size - 8, rows);
	if (size >= 4)
		return mimic_probe_write_rows4(addresses, count, size - 4, rows);
	return mimic_probe_write_rows1(addresses, count, size - 1, rows);
}

#endif
