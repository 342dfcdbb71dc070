/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Every form of load, store and update that the emulation knows, assembled by the
 * assembler. Each list is an array of struct form from __start_LIST to __stop_LIST.
 */
#ifndef TESTS_UNIT_INSTRUCTION_FORMS_H
#define TESTS_UNIT_INSTRUCTION_FORMS_H

#include <stdint.h>

/*
 * rdi, r12, r13: the address; r8: the same behind fs; r9: the same with garbage
 * above 32 bits; rsi: a small index; everything else is any value.
 */
struct form {
	const uint8_t *start;
	const uint8_t *end;
	const char *text;
};

#define FORM(list, text) __asm__( \
	".pushsection .text\n771:\n" text "\n772:\n.popsection\n" \
	".pushsection .data\n773: .asciz \"" text "\"\n.popsection\n" \
	".pushsection " #list ",\"aw\"\n.balign 8\n.quad 771b, 772b, 773b\n.popsection\n")

#define FORMS(list) extern const struct form __start_##list[], __stop_##list[]

FORMS(general_loads);
FORM(general_loads, "mov (%rdi), %al");
FORM(general_loads, "mov (%rdi), %ah");
FORM(general_loads, "mov (%rdi), %bh");
FORM(general_loads, "mov (%rdi), %dl");
FORM(general_loads, "mov (%rdi), %sil");
FORM(general_loads, "mov (%rdi), %bpl");
FORM(general_loads, "mov (%rdi), %r15b");
FORM(general_loads, "mov (%rdi), %cx");
FORM(general_loads, "mov (%rdi), %r11w");
FORM(general_loads, "mov (%rdi), %edx");
FORM(general_loads, "mov (%rdi), %edi");
FORM(general_loads, "mov (%rdi), %r14d");
FORM(general_loads, "mov (%rdi), %rbx");
FORM(general_loads, "mov (%rdi), %rdi");
FORM(general_loads, "mov (%rdi), %r10");
FORM(general_loads, ".byte 0xa0; .quad 0x20001801");
FORM(general_loads, ".byte 0x66, 0xa1; .quad 0x20001802");
FORM(general_loads, ".byte 0xa1; .quad 0x20001804");
FORM(general_loads, ".byte 0x48, 0xa1; .quad 0x20001808");
FORM(general_loads, ".byte 0x67, 0xa1; .long 0x20001803");

FORMS(extending_loads);
FORM(extending_loads, "movzbw (%rdi), %ax");
FORM(extending_loads, "movzbl (%rdi), %ecx");
FORM(extending_loads, "movzbq (%rdi), %r9");
FORM(extending_loads, "movzwl (%rdi), %edx");
FORM(extending_loads, "movzwq (%rdi), %rbx");
FORM(extending_loads, "movsbw (%rdi), %ax");
FORM(extending_loads, "movsbl (%rdi), %ecx");
FORM(extending_loads, "movsbq (%rdi), %r9");
FORM(extending_loads, "movswl (%rdi), %edx");
FORM(extending_loads, "movswq (%rdi), %rbx");
FORM(extending_loads, "movslq (%rdi), %r13");
FORM(extending_loads, ".byte 0x63, 0x0f");		/* movsxd, 4 bytes to ecx */
FORM(extending_loads, ".byte 0x66, 0x63, 0x0f");	/* movsxd, 2 bytes to cx */
FORM(extending_loads, ".byte 0x66, 0x0f, 0xb7, 0x0f");	/* movzx, 2 bytes to cx */

FORMS(general_stores);
FORM(general_stores, "mov %al, (%rdi)");
FORM(general_stores, "mov %ah, (%rdi)");
FORM(general_stores, "mov %ch, (%rdi)");
FORM(general_stores, "mov %sil, (%rdi)");
FORM(general_stores, "mov %r8b, (%rdi)");
FORM(general_stores, "mov %dx, (%rdi)");
FORM(general_stores, "mov %ebx, (%rdi)");
FORM(general_stores, "mov %r10d, (%rdi)");
FORM(general_stores, "mov %rbp, (%rdi)");
FORM(general_stores, "mov %r15, (%rdi)");
FORM(general_stores, "movb $0x5a, (%rdi)");
FORM(general_stores, "movw $0x8765, (%rdi)");
FORM(general_stores, "movl $0x87654321, (%rdi)");
FORM(general_stores, "movq $-5, (%rdi)");
FORM(general_stores, "movl $0x12345678, 0x44(%rdi,%rsi,2)");
FORM(general_stores, "movb $1, 0x44(%rdi,%rsi,2)");
FORM(general_stores, "movnti %eax, (%rdi)");
FORM(general_stores, "movnti %r9, (%rdi)");
FORM(general_stores, ".byte 0xa2; .quad 0x20001801");
FORM(general_stores, ".byte 0xa3; .quad 0x20001804");
FORM(general_stores, ".byte 0x48, 0xa3; .quad 0x20001808");

FORMS(swapping);
FORM(swapping, "movbe (%rdi), %ax");
FORM(swapping, "movbe (%rdi), %ecx");
FORM(swapping, "movbe (%rdi), %r9");
FORM(swapping, "movbe %ax, (%rdi)");
FORM(swapping, "movbe %ecx, (%rdi)");
FORM(swapping, "movbe %r9, (%rdi)");

FORMS(addressing);
FORM(addressing, "mov 0x10(%rdi), %eax");
FORM(addressing, "mov -0x10(%rdi), %eax");
FORM(addressing, "mov 0x123(%rdi), %eax");
FORM(addressing, "mov -0x123(%rdi), %rax");
FORM(addressing, "mov (%rdi,%rsi), %eax");
FORM(addressing, "mov (%rdi,%rsi,2), %eax");
FORM(addressing, "mov 8(%rdi,%rsi,4), %eax");
FORM(addressing, "mov 0x111(%rdi,%rsi,8), %eax");
FORM(addressing, "mov 0x20001800(,%rsi,8), %eax");
FORM(addressing, "mov 0x20001800, %ecx");
FORM(addressing, "mov (%r12), %eax");
FORM(addressing, "mov 3(%r12,%rsi), %eax");
FORM(addressing, "mov (%rsi,%r12), %eax");
FORM(addressing, "mov (%r13), %eax");
FORM(addressing, "mov (%r13,%rsi), %eax");
FORM(addressing, "mov 0x1000(%rip), %rax");
FORM(addressing, "movl $0x1234, 0x1000(%rip)");
FORM(addressing, "mov (%r9d), %eax");
FORM(addressing, "mov (%r9d,%esi,2), %eax");
FORM(addressing, ".byte 0x67, 0x8b, 0x05; .long 0x1000");		/* relative to eip */
FORM(addressing, "mov %fs:(%r8), %eax");
FORM(addressing, "mov %fs:5(%r8,%rsi,4), %rax");
FORM(addressing, "mov %eax, %fs:(%r8)");
FORM(addressing, "mov %gs:(%rdi), %eax");
FORM(addressing, ".byte 0x3e, 0x8b, 0x07");			/* ds is no prefix any more */
FORM(addressing, ".byte 0x64, 0x3e, 0x41, 0x8b, 0x00");		/* ... and leaves fs in force */
FORM(addressing, ".byte 0x41, 0x8b, 0x04, 0x25; .long 0x20001800");	/* no base, in spite of REX.B */
FORM(addressing, ".byte 0x48, 0x66, 0x8b, 0x07");		/* a REX before 66 is none: ax */
FORM(addressing, ".byte 0x66, 0x48, 0x8b, 0x07");		/* REX.W before 66: rax */
FORM(addressing, ".byte 0xf3, 0x8b, 0x07");			/* rep means nothing here */

FORMS(arithmetic);
FORM(arithmetic, "add (%rdi), %al");
FORM(arithmetic, "add (%rdi), %bh");
FORM(arithmetic, "add (%rdi), %cx");
FORM(arithmetic, "add (%rdi), %edx");
FORM(arithmetic, "add (%rdi), %r10");
FORM(arithmetic, "adc (%rdi), %al");
FORM(arithmetic, "adc (%rdi), %ecx");
FORM(arithmetic, "adc (%rdi), %r10");
FORM(arithmetic, "sub (%rdi), %ah");
FORM(arithmetic, "sub (%rdi), %cx");
FORM(arithmetic, "sub (%rdi), %edx");
FORM(arithmetic, "sub (%rdi), %r10");
FORM(arithmetic, "sbb (%rdi), %al");
FORM(arithmetic, "sbb (%rdi), %ecx");
FORM(arithmetic, "sbb (%rdi), %r10");
FORM(arithmetic, "cmp (%rdi), %al");
FORM(arithmetic, "cmp (%rdi), %r10");
FORM(arithmetic, "cmp %ah, (%rdi)");
FORM(arithmetic, "cmp %ecx, (%rdi)");
FORM(arithmetic, "cmpb $0x80, (%rdi)");
FORM(arithmetic, "cmpw $0x8000, (%rdi)");
FORM(arithmetic, "cmpl $-1, (%rdi)");
FORM(arithmetic, "cmpl $0x7fffffff, (%rdi)");
FORM(arithmetic, "cmpq $-128, (%rdi)");
FORM(arithmetic, "cmpq $0x12345678, (%rdi)");

FORMS(logic);
FORM(logic, "and (%rdi), %al");
FORM(logic, "and (%rdi), %ecx");
FORM(logic, "or (%rdi), %cx");
FORM(logic, "or (%rdi), %r10");
FORM(logic, "xor (%rdi), %dh");
FORM(logic, "xor (%rdi), %edx");
FORM(logic, "test %al, (%rdi)");
FORM(logic, "test %r10, (%rdi)");
FORM(logic, "testb $0x81, (%rdi)");
FORM(logic, "testw $0x8001, (%rdi)");
FORM(logic, "testl $0x80000000, (%rdi)");
FORM(logic, "testq $-2, (%rdi)");
FORM(logic, ".byte 0xf6, 0x0f, 0x42");		/* the twin of testb */

FORMS(updates);
FORM(updates, "add %al, (%rdi)");
FORM(updates, "add %cx, (%rdi)");
FORM(updates, "add %edx, (%rdi)");
FORM(updates, "add %rbx, (%rdi)");
FORM(updates, "addb $0x80, (%rdi)");
FORM(updates, "addw $0x8000, (%rdi)");
FORM(updates, "addl $0x7fffffff, (%rdi)");
FORM(updates, "addq $-1, (%rdi)");
FORM(updates, "adc %ah, (%rdi)");
FORM(updates, "adc %r10w, (%rdi)");
FORM(updates, "adc %r14d, (%rdi)");
FORM(updates, "adc %r10, (%rdi)");
FORM(updates, "adcb $-1, (%rdi)");
FORM(updates, "adcw $3, (%rdi)");
FORM(updates, "adcl $-128, (%rdi)");
FORM(updates, "adcq $0x12345678, (%rdi)");
FORM(updates, "sub %r11b, (%rdi)");
FORM(updates, "sub %cx, (%rdi)");
FORM(updates, "sub %edx, (%rdi)");
FORM(updates, "sub %rbx, (%rdi)");
FORM(updates, "subb $0x80, (%rdi)");
FORM(updates, "subw $0x8000, (%rdi)");
FORM(updates, "subl $0x7fffffff, (%rdi)");
FORM(updates, "subq $-1, (%rdi)");
FORM(updates, "sbb %sil, (%rdi)");
FORM(updates, "sbb %r10w, (%rdi)");
FORM(updates, "sbb %r14d, (%rdi)");
FORM(updates, "sbb %r10, (%rdi)");
FORM(updates, "sbbb $-1, (%rdi)");
FORM(updates, "sbbw $3, (%rdi)");
FORM(updates, "sbbl $-128, (%rdi)");
FORM(updates, "sbbq $0x12345678, (%rdi)");
FORM(updates, "notb (%rdi)");
FORM(updates, "notw (%rdi)");
FORM(updates, "notl (%rdi)");
FORM(updates, "notq (%rdi)");
FORM(updates, "negb (%rdi)");
FORM(updates, "negw (%rdi)");
FORM(updates, "negl (%rdi)");
FORM(updates, "negq (%rdi)");
FORM(updates, "incb (%rdi)");
FORM(updates, "incw (%rdi)");
FORM(updates, "incl (%rdi)");
FORM(updates, "incq (%rdi)");
FORM(updates, "decb (%rdi)");
FORM(updates, "decw (%rdi)");
FORM(updates, "decl (%rdi)");
FORM(updates, "decq (%rdi)");
FORM(updates, "addl $0x1234, 0x1000(%rip)");
FORM(updates, "incl 0x111(%rdi,%rsi,8)");
FORM(updates, "add %eax, %fs:(%r8)");
FORM(updates, "subl $1, (%r9d)");
FORM(updates, ".byte 0xf3, 0x83, 0x07, 0x01");	/* rep means nothing here */

FORMS(logic_updates);
FORM(logic_updates, "and %al, (%rdi)");
FORM(logic_updates, "and %cx, (%rdi)");
FORM(logic_updates, "and %edx, (%rdi)");
FORM(logic_updates, "and %rbx, (%rdi)");
FORM(logic_updates, "andb $0x80, (%rdi)");
FORM(logic_updates, "andw $0x8000, (%rdi)");
FORM(logic_updates, "andl $0x7fffffff, (%rdi)");
FORM(logic_updates, "andq $-1, (%rdi)");
FORM(logic_updates, "or %ah, (%rdi)");
FORM(logic_updates, "or %r10w, (%rdi)");
FORM(logic_updates, "or %r14d, (%rdi)");
FORM(logic_updates, "or %r10, (%rdi)");
FORM(logic_updates, "orb $-1, (%rdi)");
FORM(logic_updates, "orw $3, (%rdi)");
FORM(logic_updates, "orl $-128, (%rdi)");
FORM(logic_updates, "orq $0x12345678, (%rdi)");
FORM(logic_updates, "xor %r11b, (%rdi)");
FORM(logic_updates, "xor %cx, (%rdi)");
FORM(logic_updates, "xor %edx, (%rdi)");
FORM(logic_updates, "xor %rbx, (%rdi)");
FORM(logic_updates, "xorb $0x80, (%rdi)");
FORM(logic_updates, "xorw $0x8000, (%rdi)");
FORM(logic_updates, "xorl $0x7fffffff, (%rdi)");
FORM(logic_updates, "xorq $-1, (%rdi)");

FORMS(sse);
FORM(sse, "movd (%rdi), %xmm1");
FORM(sse, "movq (%rdi), %xmm9");
FORM(sse, ".byte 0x66, 0x4c, 0x0f, 0x6e, 0x37");	/* movq as 66 REX.W 0F 6E, xmm14 */
FORM(sse, "movss (%rdi), %xmm2");
FORM(sse, "movsd (%rdi), %xmm10");
FORM(sse, "movups (%rdi), %xmm3");
FORM(sse, "movupd (%rdi), %xmm11");
FORM(sse, "movdqu 0x10(%rdi,%rsi,4), %xmm4");
FORM(sse, "lddqu (%rdi), %xmm5");
FORM(sse, "movlps (%rdi), %xmm6");
FORM(sse, "movhps (%rdi), %xmm7");
FORM(sse, "movlpd (%rdi), %xmm12");
FORM(sse, "movhpd (%rdi), %xmm13");
FORM(sse, "movd %xmm1, (%rdi)");
FORM(sse, "movq %xmm9, (%rdi)");
FORM(sse, ".byte 0x66, 0x4c, 0x0f, 0x7e, 0x37");
FORM(sse, "movss %xmm2, (%rdi)");
FORM(sse, "movsd %xmm10, (%rdi)");
FORM(sse, "movups %xmm3, (%rdi)");
FORM(sse, "movupd %xmm11, (%rdi)");
FORM(sse, "movdqu %xmm4, (%rdi)");
FORM(sse, "movlps %xmm6, (%rdi)");
FORM(sse, "movhps %xmm7, (%rdi)");
FORM(sse, "movlpd %xmm12, (%rdi)");
FORM(sse, "movhpd %xmm13, (%rdi)");

FORMS(sse_aligned);
FORM(sse_aligned, "movaps (%rdi), %xmm0");
FORM(sse_aligned, "movapd (%rdi), %xmm8");
FORM(sse_aligned, "movdqa (%rdi), %xmm15");
FORM(sse_aligned, "movaps %xmm0, (%rdi)");
FORM(sse_aligned, "movapd %xmm8, (%rdi)");
FORM(sse_aligned, "movdqa %xmm15, (%rdi)");
FORM(sse_aligned, "movntps %xmm1, (%rdi)");
FORM(sse_aligned, "movntpd %xmm2, (%rdi)");
FORM(sse_aligned, "movntdq %xmm3, (%rdi)");

FORMS(sse41_aligned);
FORM(sse41_aligned, "movntdqa (%rdi), %xmm4");

FORMS(avx);
FORM(avx, "vmovd (%rdi), %xmm1");
FORM(avx, "vmovq (%rdi), %xmm9");
FORM(avx, ".byte 0xc4, 0x61, 0xf9, 0x6e, 0x37");	/* vmovq as VEX.W1 6E, xmm14 */
FORM(avx, "vmovss (%rdi), %xmm2");
FORM(avx, "vmovsd (%rdi), %xmm10");
FORM(avx, "vmovups (%rdi), %xmm3");
FORM(avx, "vmovups (%rdi), %ymm3");
FORM(avx, "vmovupd 0x20(%rdi,%rsi,2), %ymm11");
FORM(avx, "vmovdqu (%r12), %xmm4");
FORM(avx, "vmovdqu (%r12), %ymm4");
FORM(avx, "vlddqu (%rdi), %ymm5");
FORM(avx, "vmovlps (%rdi), %xmm6, %xmm7");
FORM(avx, "vmovhps (%rdi), %xmm7, %xmm7");
FORM(avx, "vmovlpd (%rdi), %xmm12, %xmm1");
FORM(avx, "vmovhpd (%rdi), %xmm13, %xmm14");
FORM(avx, "vmovd %xmm1, (%rdi)");
FORM(avx, "vmovq %xmm9, (%rdi)");
FORM(avx, "vmovss %xmm2, (%rdi)");
FORM(avx, "vmovsd %xmm10, (%rdi)");
FORM(avx, "vmovups %ymm3, (%rdi)");
FORM(avx, "vmovupd %xmm11, (%rdi)");
FORM(avx, "vmovdqu %ymm14, (%rdi)");
FORM(avx, "vmovlps %xmm6, (%rdi)");
FORM(avx, "vmovhps %xmm7, (%rdi)");
FORM(avx, "vmovhpd %xmm13, (%rdi)");
/* SSE forms keep the bits above xmm. */
FORM(avx, "movups (%rdi), %xmm3");
FORM(avx, "movss (%rdi), %xmm3");
FORM(avx, "movhps (%rdi), %xmm3");

FORMS(avx_aligned);
FORM(avx_aligned, "vmovaps (%rdi), %ymm0");
FORM(avx_aligned, "vmovapd (%rdi), %xmm8");
FORM(avx_aligned, "vmovdqa (%rdi), %ymm15");
FORM(avx_aligned, "vmovaps %ymm0, (%rdi)");
FORM(avx_aligned, "vmovapd %ymm8, (%rdi)");
FORM(avx_aligned, "vmovdqa %xmm15, (%rdi)");
FORM(avx_aligned, "vmovntps %ymm1, (%rdi)");
FORM(avx_aligned, "vmovntpd %xmm2, (%rdi)");
FORM(avx_aligned, "vmovntdq %ymm3, (%rdi)");
FORM(avx_aligned, "vmovntdqa (%rdi), %xmm4");

FORMS(avx512);
FORM(avx512, "vmovups (%rdi), %zmm1");
FORM(avx512, "vmovups 0x40(%rdi), %zmm17");		/* 8-bit displacement, times 64 */
FORM(avx512, "vmovupd -0x40(%rdi,%rsi,4), %ymm18");
FORM(avx512, "vmovdqu8 (%rdi), %zmm31");
FORM(avx512, "vmovdqu16 (%rdi), %xmm20");
FORM(avx512, "vmovdqu32 0x33(%rdi), %ymm5");		/* 32-bit displacement: no multiple */
FORM(avx512, "vmovdqu64 (%r13), %zmm23");
FORM(avx512, "vmovss 4(%rdi), %xmm19");
FORM(avx512, "vmovsd 8(%rdi), %xmm29");
FORM(avx512, "vmovd 4(%rdi), %xmm21");
FORM(avx512, "vmovq 8(%rdi), %xmm22");
FORM(avx512, "vmovlps 8(%rdi), %xmm24, %xmm25");
FORM(avx512, "vmovhps 8(%rdi), %xmm26, %xmm2");
FORM(avx512, "vmovhpd (%rdi), %xmm3, %xmm27");
FORM(avx512, "vmovups %zmm1, (%rdi)");
FORM(avx512, "vmovups %zmm17, 0x40(%rdi)");
FORM(avx512, "vmovupd %ymm18, (%rdi)");
FORM(avx512, "vmovdqu8 %zmm31, (%rdi)");
FORM(avx512, "vmovdqu16 %xmm20, (%rdi)");
FORM(avx512, "vmovdqu64 %zmm9, 0x80(%rdi)");
FORM(avx512, "vmovss %xmm19, (%rdi)");
FORM(avx512, "vmovsd %xmm29, (%rdi)");
FORM(avx512, "vmovq %xmm22, (%rdi)");
FORM(avx512, "vmovhps %xmm26, (%rdi)");
/* VEX zeroes up to bit 511, SSE nothing. */
FORM(avx512, "vmovups (%rdi), %ymm3");
FORM(avx512, "vmovss (%rdi), %xmm3");
FORM(avx512, "vmovhps (%rdi), %xmm5, %xmm3");
FORM(avx512, "movups (%rdi), %xmm3");

FORMS(avx512_aligned);
FORM(avx512_aligned, "vmovaps (%rdi), %zmm16");
FORM(avx512_aligned, "vmovapd (%rdi), %zmm2");
FORM(avx512_aligned, "vmovdqa32 0x40(%rdi), %zmm30");
FORM(avx512_aligned, "vmovdqa64 (%rdi), %ymm28");
FORM(avx512_aligned, "vmovaps %zmm16, (%rdi)");
FORM(avx512_aligned, "vmovdqa64 %zmm30, -0x40(%rdi)");
FORM(avx512_aligned, "vmovntps %zmm7, (%rdi)");
FORM(avx512_aligned, "vmovntdq %zmm8, (%rdi)");
FORM(avx512_aligned, "vmovntdqa (%rdi), %zmm18");

FORMS(avx512_half);
FORM(avx512_half, "vmovsh 2(%rdi), %xmm19");
FORM(avx512_half, "vmovsh %xmm3, (%rdi)");
FORM(avx512_half, "vmovw (%rdi), %xmm4");
FORM(avx512_half, "vmovw %xmm20, 2(%rdi)");

#endif
