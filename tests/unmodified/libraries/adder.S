/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A library whose function adds ADDS to a word that it loads and stores: with a device, instructions that are
 * replaced. Built several times; with each ADDS they lie elsewhere, and FILLER bytes of text make one larger.
 *
 *   uint32_t adder_exchange(volatile char *store_to, volatile char *load_from, uint32_t value);
 *
 * Short forms first, whose jumps borrow the next bytes; then long ones. Then constants in instructions.
 */
	.text
#ifdef FILLER
	.skip	FILLER, 0xcc
#endif
	.p2align 12
	.skip	ADDS % 8, 0x90
	.globl	adder_exchange
	.type	adder_exchange, @function
adder_exchange:
	.cfi_startproc
	.byte	0x89, 0x17		/* mov %edx, (%rdi): of the jump's distance three bytes are those of the next */
	.byte	0x4d, 0x31, 0xc0	/* xor %r8, %r8 */
	.byte	0x8b, 0x46, 0x00	/* mov 0(%rsi), %eax */
	add	$ADDS, %eax
	xor	%r8d, %r8d
	.byte	0x89, 0x47, 0x00	/* mov %eax, 0(%rdi) */
	xor	%r8d, %r8d
	.byte	0x8b, 0x46, 0x00	/* mov 0(%rsi), %eax */
	xor	%r8d, %r8d
	xor	%r8d, %r8d
	.rept	ADDS
	mov	$0x11223344, %ecx
	add	$0x01010101, %ecx
	cmp	$0x12233445, %ecx
	jne	1f
	.endr
	lea	-0x1000(%rdi), %rdi
	mov	%eax, 0x1000(%rdi)
	lea	-0x1000(%rsi), %rsi
	mov	0x1000(%rsi), %eax
	ret
1:	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	adder_exchange, . - adder_exchange
	.p2align 12
	.section .note.GNU-stack, "", @progbits
