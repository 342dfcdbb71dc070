/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * x86-64: calls of libmimic.so into other libraries. They may change vector registers that a caller has not kept
 * (libmimic/base/vectors.h). The linker leads each call here (--wrap), which takes a nanosecond.
 */
#if defined(__x86_64__) && !defined(__ILP32__)

/* Of libmimic.so only. */
	.globl	mimic_vectors_have_gates
	.hidden	mimic_vectors_have_gates
	.section .rodata
mimic_vectors_have_gates:
	.byte	1

	.macro	gate name
	.p2align 4
	.globl	__wrap_\name
	.hidden	__wrap_\name
	.type	__wrap_\name, @function
__wrap_\name:
	.cfi_startproc
	endbr64
	mov	mimic_vectors_place@gottpoff(%rip), %r11
	cmpq	$0, %fs:(%r11)
	jne	1f
2:	jmp	*__real_\name@GOTPCREL(%rip)
1:	call	mimic_vectors_keep_here
	jmp	2b
	.cfi_endproc
	.size	__wrap_\name, . - __wrap_\name
	.endm

	.text
#define GATE(name)	gate	name
/* What _FORTIFY_SOURCE puts in the place of a function: libmimic.so may call none of them. */
#define FORTIFIED(name)	.weak	__real_##name; gate	name
#include "libmimic/base/gated.h"

	/* Of glibc 2.32. Nothing calls it where it is not there (libmimic/base/quiet_thread.c). */
	.weak	__real_pthread_attr_setsigmask_np

#endif

	.section .note.GNU-stack, "", @progbits
