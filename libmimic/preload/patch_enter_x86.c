/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * x86-64: the stub that a trampoline calls. Everything that the program has in registers is kept
 * in a frame below its red zone: a compiler's code follows, which uses any of them.
 *
 * The frame's unwind table leads from here to the program's own instruction: debuggers and
 * exceptions see no trampoline. In assembly because a signal may come at each of these
 * instructions, and patch_context.c must know the contents of the registers there.
 */
#include <stddef.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

#if defined(__x86_64__) && !defined(__ILP32__)

/* The call that this thread is in; a handler of the program begins with none. */
THREAD_LOCAL struct patch_frame *mimic_preload_patch_current;

_Static_assert(offsetof(struct patch_frame, access) == 0 && offsetof(struct patch_frame, progress) == 64 &&
	       offsetof(struct patch_frame, flags) == 72 && offsetof(struct patch_frame, return_address) == 80 &&
	       offsetof(struct patch_frame, gpr) == 88 && PATCH_BEGUN == 1 && !(PATCH_LOADED & 0xff) &&
	       !(PATCH_DONE & 0xff),
	       "the stub's offsets");
_Static_assert(sizeof(struct mimic_vectors) == 2176, "the stub's offsets");
_Static_assert(offsetof(struct patch_site, target.address) == 0, "the stub's offsets");
_Static_assert(PATCH_ROOM == 256 && PATCH_RCX_OFFSET == 8 && PATCH_SITE_OFFSET == 30, "the unwind table's offsets");
_Static_assert(sizeof(((struct patch_frame *)0)->gpr) + 128 <= PATCH_ROOM, "registers lie below the red zone");

/*
 * An unwinder comes by: a thread is cancelled in an access, or a handler throws. The frame is gone then, and cleanup
 * handlers must not find it. Its signature is the C++ ABI's; 2 says that the frame is left, 8 that the next one is looked at.
 */
__attribute__((visibility("hidden"), used)) int mimic_preload_patch_unwound(int version, int actions);

int mimic_preload_patch_unwound(int version, int actions)
{
	if (version == 1 && actions & 2) {
		mimic_vectors_place = NULL;
		mimic_preload_patch_current = NULL;
	}
	return 8;
}

__asm__(
".macro LABEL name\n"
"	.globl	\\name\n"
"	.hidden	\\name\n"
"\\name:\n"
".endm\n"

/* In the frame's registers, which begin at 88. */
".macro KEEP reg, offset\n"
"	mov	%\\reg, 88+\\offset(%rsp)\n"
"	.cfi_rel_offset \\reg, 88+\\offset\n"
".endm\n"
".macro GIVE_BACK reg, offset\n"
"	mov	88+\\offset(%rsp), %\\reg\n"
".endm\n"

"	.pushsection .text\n"
"	.p2align 6\n"
"	.type	mimic_preload_patch_enter, @function\n"
"LABEL mimic_preload_patch_enter\n"
"	.cfi_startproc\n"
"	.cfi_personality 0x1b, mimic_preload_patch_unwound\n"
"	.cfi_signal_frame\n"
/* At the top: the return address into the trampoline, then PATCH_ROOM with the program's rcx in it. */
"	.cfi_def_cfa rsp, 264\n"
"	.cfi_offset rcx, -248\n"
/* rip: **(*(CFA - 264) + 30), the site's address */
"	.cfi_escape 0x16, 0x10, 0x09, 0x0b, 0xf8, 0xfe, 0x22, 0x06, 0x23, 0x1e, 0x06, 0x06\n"
"	endbr64\n"
"	pushfq\n"
"	.cfi_adjust_cfa_offset 8\n"
"LABEL mimic_preload_patch_pushed\n"
"	lea	-72(%rsp), %rsp\n"
"	.cfi_adjust_cfa_offset 72\n"
"LABEL mimic_preload_patch_framed\n"
"	KEEP	rax, 0\n"
"	KEEP	rdx, 16\n"
"	KEEP	rbx, 24\n"
"	KEEP	rbp, 40\n"
"	KEEP	rsi, 48\n"
"	KEEP	rdi, 56\n"
"	KEEP	r8, 64\n"
"	KEEP	r9, 72\n"
"	KEEP	r10, 80\n"
"	KEEP	r11, 88\n"
"	KEEP	r12, 96\n"
"	KEEP	r13, 104\n"
"	KEEP	r14, 112\n"
"	KEEP	r15, 120\n"
"	movl	$1, 64(%rsp)\n"
"	mov	%rsp, %rbx\n"
"	.cfi_def_cfa_register rbx\n"
"LABEL mimic_preload_patch_kept\n"
"	mov	80(%rbx), %rbp\n"
"	mov	30(%rbp), %rbp\n"
/* The C code wants the direction flag clear. It nearly always is: a test costs less than cld. */
"	testl	$0x400, 72(%rbx)\n"
"	jz	4f\n"
"	cld\n"
"4:	lea	-2176(%rsp), %rsp\n"
"	and	$-64, %rsp\n"
"	mov	mimic_preload_patch_current@gottpoff(%rip), %r15\n"
"	mov	mimic_vectors_place@gottpoff(%rip), %r13\n"
/*
 * Not NULL: a handler that the kernel has got from the program without us interrupts another access. The original
 * instruction traps, and the trap's handler knows of such places.
 */
"	cmpq	$0, %fs:(%r13)\n"
"	jne	mimic_preload_patch_settled\n"
"	mov	%fs:(%r15), %r14\n"
"	mov	%rbx, %fs:(%r15)\n"
"	mov	%rsp, %fs:(%r13)\n"
/* From here to `settled` it is NULL only if the vectors are stored. */
"LABEL mimic_preload_patch_vectored\n"
"	mov	%rbp, %rdi\n"
"	mov	%rbx, %rsi\n"
"	mov	%rcx, %rdx\n"
"	call	mimic_preload_patch_begin_access\n"
"	test	%rax, %rax\n"
"	jz	5f\n"
"	mov	%rdx, %r12\n"
"	mov	%rdx, %rdi\n"
"	mov	%rbx, %rsi\n"
"	call	*%rax\n"
"	mov	%rbp, %rdi\n"
"	mov	%rbx, %rsi\n"
"	mov	%r12, %rdx\n"
"	mov	%eax, %ecx\n"
"	call	mimic_preload_patch_end_access\n"
"5:	cmp	%rsp, %fs:(%r13)\n"
"	je	6f\n"
"	mov	%rsp, %rdi\n"
"	call	*mimic_vectors_put_back@GOTPCREL(%rip)\n"
"6:	mov	%r14, %fs:(%r15)\n"
"	movq	$0, %fs:(%r13)\n"
"LABEL mimic_preload_patch_settled\n"
"	mov	%rbx, %rsp\n"
"	.cfi_def_cfa_register rsp\n"
"LABEL mimic_preload_patch_leaving\n"
/* 0, if it is complete: the lowest byte of `progress` */
"	movzbl	64(%rsp), %ecx\n"
/* The flags without popfq, which takes longer than all the rest. */
"	testb	$0x4, 73(%rsp)\n"
"	jz	7f\n"
"	std\n"
"7:	movzbl	73(%rsp), %eax\n"
"	mov	72(%rsp), %ah\n"
"	and	$0x8, %al\n"
"	add	$0x78, %al\n"
"	sahf\n"
"	GIVE_BACK rax, 0\n"
"	GIVE_BACK rdx, 16\n"
"	GIVE_BACK rbx, 24\n"
"	GIVE_BACK rbp, 40\n"
"	GIVE_BACK rsi, 48\n"
"	GIVE_BACK rdi, 56\n"
"	GIVE_BACK r8, 64\n"
"	GIVE_BACK r9, 72\n"
"	GIVE_BACK r10, 80\n"
"	GIVE_BACK r11, 88\n"
"	GIVE_BACK r12, 96\n"
"	GIVE_BACK r13, 104\n"
"	GIVE_BACK r14, 112\n"
"	GIVE_BACK r15, 120\n"
"	lea	80(%rsp), %rsp\n"
"	.cfi_def_cfa rsp, 264\n"
"	.cfi_restore rax\n	.cfi_restore rdx\n	.cfi_restore rbx\n	.cfi_restore rbp\n"
"	.cfi_restore rsi\n	.cfi_restore rdi\n	.cfi_restore r8\n	.cfi_restore r9\n"
"	.cfi_restore r10\n	.cfi_restore r11\n	.cfi_restore r12\n	.cfi_restore r13\n"
"	.cfi_restore r14\n	.cfi_restore r15\n"
"LABEL mimic_preload_patch_left\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size	mimic_preload_patch_enter, . - mimic_preload_patch_enter\n"

/* A handler has sent the program elsewhere: vector registers, then a fault whose handler sets all others. */
"	.p2align 4\n"
"	.type	mimic_preload_patch_depart, @function\n"
"LABEL mimic_preload_patch_depart\n"
"	lea	-2176(%rbx), %rsp\n"
"	and	$-64, %rsp\n"
"	mov	mimic_vectors_place@gottpoff(%rip), %r11\n"
"	cmp	%rsp, %fs:(%r11)\n"
"	je	8f\n"
"	mov	%rsp, %rdi\n"
"	call	*mimic_vectors_put_back@GOTPCREL(%rip)\n"
"8:	movq	$0, %fs:(%r11)\n"
"LABEL mimic_preload_patch_departed\n"
"	hlt\n"
"	.size	mimic_preload_patch_depart, . - mimic_preload_patch_depart\n"
"	.popsection\n");

#endif
