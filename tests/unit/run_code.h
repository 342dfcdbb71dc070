/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Runs machine code from a given state of the registers, and gives the state
 * after it. For one program only: it defines its functions.
 */
#ifndef TESTS_UNIT_RUN_CODE_H
#define TESTS_UNIT_RUN_CODE_H

#include <stdint.h>

struct cpu {
	uint64_t gpr[16];	/* hardware order; rsp is left alone */
	uint64_t flags;
	uint64_t unused[7];
	uint8_t vector[32][64];
};

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

/* 0: sse, 1: avx, 2: avx-512 registers are loaded and stored. */
extern uint32_t run_vectors;
/* 1: vector registers start in their initial state, absent from the signal frame. */
extern uint32_t run_initial;

uint32_t run_vectors, run_initial;

void run_code(struct cpu *cpu, const void *code);
void run_end(void);

/* run_code() loads *cpu, jumps to the code; run_end is where that goes on, and stores *cpu. */
__asm__(
"	.lcomm	run_cpu, 8\n"
"	.lcomm	run_target, 8\n"
"	.lcomm	run_stack, 8\n"
"	.lcomm	run_scratch, 8\n"
"	.pushsection .bss\n"
"	.balign	64\n"
"run_init_area:\n"
"	.zero	4096\n"
"	.popsection\n"
"	.pushsection .text\n"
"	.globl	run_code, run_end\n"
"	.type	run_code, @function\n"
"	.type	run_end, @function\n"
"run_code:\n"
"	push	%rbx\n"
"	push	%rbp\n"
"	push	%r12\n"
"	push	%r13\n"
"	push	%r14\n"
"	push	%r15\n"
"	mov	%rsp, run_stack(%rip)\n"
"	mov	%rdi, run_cpu(%rip)\n"
"	mov	%rsi, run_target(%rip)\n"
"	cmpl	$1, run_vectors(%rip)\n"
"	jb	1f\n"
"	je	2f\n"
"	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
"	vmovdqu64 192+64*\\n(%rdi), %zmm\\n\n"
"	.endr\n"
"	jmp	3f\n"
"1:	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
"	movups	192+64*\\n(%rdi), %xmm\\n\n"
"	.endr\n"
"	jmp	3f\n"
"2:	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
"	vmovups	192+64*\\n(%rdi), %ymm\\n\n"
"	.endr\n"
"3:	cmpl	$0, run_initial(%rip)\n"
"	je	4f\n"
"	mov	$0xe6, %eax\n"
"	xor	%edx, %edx\n"
"	movl	$0x1f80, run_init_area+24(%rip)\n"
"	xrstor64 run_init_area(%rip)\n"
"4:	pushq	128(%rdi)\n"
"	popfq\n"
"	mov	0(%rdi), %rax\n"
"	mov	8(%rdi), %rcx\n"
"	mov	16(%rdi), %rdx\n"
"	mov	24(%rdi), %rbx\n"
"	mov	40(%rdi), %rbp\n"
"	mov	48(%rdi), %rsi\n"
"	mov	64(%rdi), %r8\n"
"	mov	72(%rdi), %r9\n"
"	mov	80(%rdi), %r10\n"
"	mov	88(%rdi), %r11\n"
"	mov	96(%rdi), %r12\n"
"	mov	104(%rdi), %r13\n"
"	mov	112(%rdi), %r14\n"
"	mov	120(%rdi), %r15\n"
"	mov	56(%rdi), %rdi\n"
"	jmp	*run_target(%rip)\n"
"run_end:\n"
"	mov	%rdi, run_scratch(%rip)\n"
"	mov	run_cpu(%rip), %rdi\n"
"	mov	%rax, 0(%rdi)\n"
"	mov	%rcx, 8(%rdi)\n"
"	mov	%rdx, 16(%rdi)\n"
"	mov	%rbx, 24(%rdi)\n"
"	mov	%rbp, 40(%rdi)\n"
"	mov	%rsi, 48(%rdi)\n"
"	mov	%r8, 64(%rdi)\n"
"	mov	%r9, 72(%rdi)\n"
"	mov	%r10, 80(%rdi)\n"
"	mov	%r11, 88(%rdi)\n"
"	mov	%r12, 96(%rdi)\n"
"	mov	%r13, 104(%rdi)\n"
"	mov	%r14, 112(%rdi)\n"
"	mov	%r15, 120(%rdi)\n"
"	mov	run_scratch(%rip), %rax\n"
"	mov	%rax, 56(%rdi)\n"
"	pushfq\n"
"	popq	128(%rdi)\n"
"	cmpl	$1, run_vectors(%rip)\n"
"	jb	1f\n"
"	je	2f\n"
"	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
"	vmovdqu64 %zmm\\n, 192+64*\\n(%rdi)\n"
"	.endr\n"
"	vzeroupper\n"
"	jmp	3f\n"
"1:	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
"	movups	%xmm\\n, 192+64*\\n(%rdi)\n"
"	.endr\n"
"	jmp	3f\n"
"2:	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
"	vmovups	%ymm\\n, 192+64*\\n(%rdi)\n"
"	.endr\n"
"	vzeroupper\n"
"3:	mov	run_stack(%rip), %rsp\n"
"	cld\n"
"	pop	%r15\n"
"	pop	%r14\n"
"	pop	%r13\n"
"	pop	%r12\n"
"	pop	%rbp\n"
"	pop	%rbx\n"
"	ret\n"
"	.popsection\n");

#endif
