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

_Static_assert(offsetof(struct patch_frame, rip) == 136 && offsetof(struct patch_frame, outer_vectors) == 144 &&
	       offsetof(struct patch_frame, vectors) == 152 && offsetof(struct patch_frame, pushed_flags) == 184 &&
	       sizeof(struct patch_frame) == 192, "the stub's offsets");
_Static_assert(offsetof(struct mimic_vectors, is_filled) == 2116 && sizeof(struct mimic_vectors) == 2176,
	       "the stub's offsets");
_Static_assert(offsetof(struct patch_site, target.address) == 0, "the stub's offsets");
_Static_assert(PATCH_ROOM == 256 && PATCH_SITE_OFFSET == 29, "the unwind table's offsets");

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

".macro KEEP reg, offset\n"
"	mov	%\\reg, \\offset(%rsp)\n"
"	.cfi_rel_offset \\reg, \\offset\n"
".endm\n"

"	.pushsection .text\n"
"	.p2align 6\n"
"	.type	mimic_preload_patch_enter, @function\n"
"LABEL mimic_preload_patch_enter\n"
"	.cfi_startproc\n"
"	.cfi_personality 0x1b, mimic_preload_patch_unwound\n"
"	.cfi_signal_frame\n"
/* At the top: the return address into the trampoline, the program's rcx, and PATCH_ROOM - 8 bytes. */
"	.cfi_def_cfa rsp, 264\n"
"	.cfi_offset rcx, -256\n"
/* rip: **(*(CFA - 264) + 29), the site's address */
"	.cfi_escape 0x16, 0x10, 0x09, 0x0b, 0xf8, 0xfe, 0x22, 0x06, 0x23, 0x1d, 0x06, 0x06\n"
"	endbr64\n"
"	pushfq\n"
"	.cfi_adjust_cfa_offset 8\n"
"LABEL mimic_preload_patch_pushed\n"
"	lea	-184(%rsp), %rsp\n"
"	.cfi_adjust_cfa_offset 184\n"
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
"LABEL mimic_preload_patch_saved\n"
"	mov	200(%rsp), %rax\n"
"	mov	%rax, 8(%rsp)\n"
"	lea	456(%rsp), %rax\n"
"	mov	%rax, 32(%rsp)\n"
"	mov	184(%rsp), %rax\n"
"	mov	%rax, 128(%rsp)\n"
"	mov	192(%rsp), %rax\n"
"	mov	29(%rax), %rdi\n"
"	mov	(%rdi), %rax\n"
"	mov	%rax, 136(%rsp)\n"
"	movq	$0, 176(%rsp)\n"
"	mov	%rsp, %rbx\n"
"	.cfi_def_cfa_register rbx\n"
"LABEL mimic_preload_patch_kept\n"
/* The C code wants the direction flag clear. It nearly always is: a test costs less than cld. */
"	testl	$0x400, 128(%rbx)\n"
"	jz	4f\n"
"	cld\n"
"4:	lea	-2176(%rsp), %rsp\n"
"	and	$-64, %rsp\n"
"	mov	%rsp, 152(%rbx)\n"
"	movl	$0, 2116(%rsp)\n"
"LABEL mimic_preload_patch_vectored\n"
"	mov	mimic_preload_patch_current@gottpoff(%rip), %r12\n"
"	mov	mimic_vectors_place@gottpoff(%rip), %r15\n"
"	mov	%rbx, %rsi\n"
"	mov	%fs:(%r12), %r14\n"
"	mov	%fs:(%r15), %rax\n"
"	mov	%rax, 144(%rbx)\n"
"	mov	%rbx, %fs:(%r12)\n"
"	mov	%rsp, %fs:(%r15)\n"
"	call	mimic_preload_patch_access\n"
"	mov	144(%rbx), %rcx\n"
"	mov	%rcx, %fs:(%r15)\n"
"	movzbl	%al, %r13d\n"
"	cmpl	$0, 2116(%rsp)\n"
"	je	5f\n"
"	mov	%rsp, %rdi\n"
"	call	*mimic_vectors_put_back@GOTPCREL(%rip)\n"
"5:	mov	%r14, %fs:(%r12)\n"
"	mov	%rbx, %rsp\n"
"	.cfi_def_cfa_register rsp\n"
"LABEL mimic_preload_patch_leaving\n"
"	mov	8(%rsp), %rax\n"
"	mov	%rax, 200(%rsp)\n"
"	mov	%r13d, %ecx\n"
"	xor	$1, %ecx\n"
/* The flags without popfq, which takes longer than all the rest. */
"	mov	128(%rsp), %edx\n"
"	test	$0x400, %edx\n"
"	jz	6f\n"
"	std\n"
"6:	mov	%edx, %eax\n"
"	shr	$11, %eax\n"
"	and	$1, %eax\n"
"	mov	%dl, %ah\n"
"	add	$0x7f, %al\n"
"	sahf\n"
"	mov	0(%rsp), %rax\n"
"	mov	16(%rsp), %rdx\n"
"	mov	24(%rsp), %rbx\n"
"	mov	40(%rsp), %rbp\n"
"	mov	48(%rsp), %rsi\n"
"	mov	56(%rsp), %rdi\n"
"	mov	64(%rsp), %r8\n"
"	mov	72(%rsp), %r9\n"
"	mov	80(%rsp), %r10\n"
"	mov	88(%rsp), %r11\n"
"	mov	96(%rsp), %r12\n"
"	mov	104(%rsp), %r13\n"
"	mov	112(%rsp), %r14\n"
"	mov	120(%rsp), %r15\n"
"	lea	192(%rsp), %rsp\n"
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
"	mov	152(%rbx), %rsp\n"
"	mov	mimic_vectors_place@gottpoff(%rip), %r15\n"
"	movq	$0, %fs:(%r15)\n"
"	cmpl	$0, 2116(%rsp)\n"
"	je	mimic_preload_patch_departed\n"
"	mov	%rsp, %rdi\n"
"	call	*mimic_vectors_put_back@GOTPCREL(%rip)\n"
"LABEL mimic_preload_patch_departed\n"
"	hlt\n"
"	.size	mimic_preload_patch_depart, . - mimic_preload_patch_depart\n"
"	.popsection\n");

#endif
