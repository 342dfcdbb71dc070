/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * x86-64: what a trampoline calls. Everything that the program has in registers is kept
 * in a frame below its red zone: a compiler's code follows, which uses any of them.
 *
 * The frame's unwind table leads from here to the program's own instruction: debuggers and
 * exceptions see no trampoline. In assembly because a signal may come at each of these
 * instructions, and patch_context.c must know what the registers hold there.
 */
#include <cpuid.h>
#include <stddef.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

#if defined(__x86_64__) && !defined(__ILP32__)

/* The call that this thread is in; a handler of the program begins with none. */
THREAD_LOCAL struct patch_frame *mimic_preload_patch_current;

/* Vector registers are those of AVX-512, else of AVX. */
uint32_t mimic_preload_patch_is_512;

_Static_assert(offsetof(struct patch_frame, rip) == 136 && offsetof(struct patch_frame, mxcsr) == 144 &&
	       offsetof(struct patch_frame, vectors) == 152 && offsetof(struct patch_frame, pushed_flags) == 184 &&
	       sizeof(struct patch_frame) == 192, "the stub's offsets");
_Static_assert(offsetof(struct patch_site, target.address) == 0, "the stub's offsets");
_Static_assert(PATCH_ROOM == 256 && PATCH_SITE_OFFSET == 29, "the unwind table's offsets");

__asm__(
".macro VECTORS_SAVE\n"
"	cmpl	$0, mimic_preload_patch_is_512(%rip)\n"
"	je	2f\n"
"	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
"	vmovups	%zmm\\n, 64*\\n(%rsp)\n"
"	.endr\n"
"	.irp	n,0,1,2,3,4,5,6,7\n"
"	kmovq	%k\\n, 2048+8*\\n(%rsp)\n"
"	.endr\n"
"	jmp	3f\n"
"2:	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
"	vmovups	%ymm\\n, 64*\\n(%rsp)\n"
"	.endr\n"
"3:\n"
".endm\n"

/* And MXCSR, which is the program's but for the length of the call. Needs the frame in rbx. */
".macro VECTORS_RESTORE\n"
"	cmpl	$0, mimic_preload_patch_is_512(%rip)\n"
"	je	2f\n"
"	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
"	vmovups	64*\\n(%rsp), %zmm\\n\n"
"	.endr\n"
"	.irp	n,0,1,2,3,4,5,6,7\n"
"	kmovq	2048+8*\\n(%rsp), %k\\n\n"
"	.endr\n"
"	jmp	3f\n"
"2:	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
"	vmovups	64*\\n(%rsp), %ymm\\n\n"
"	.endr\n"
"3:	ldmxcsr	144(%rbx)\n"
".endm\n"

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
"	cld\n"
"	lea	-2176(%rsp), %rsp\n"
"	and	$-64, %rsp\n"
"	mov	%rsp, 152(%rbx)\n"
"	stmxcsr	144(%rbx)\n"
"	VECTORS_SAVE\n"
"LABEL mimic_preload_patch_vectored\n"
"	vzeroupper\n"
"	movl	$0x1f80, 148(%rbx)\n"
"	ldmxcsr	148(%rbx)\n"
"	mov	mimic_preload_patch_current@gottpoff(%rip), %r12\n"
"	mov	%rbx, %rsi\n"
"	mov	%fs:(%r12), %r14\n"
"	mov	%rbx, %fs:(%r12)\n"
"	call	mimic_preload_patch_access\n"
"	mov	%r14, %fs:(%r12)\n"
"	movzbl	%al, %r13d\n"
"	VECTORS_RESTORE\n"
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
"	VECTORS_RESTORE\n"
"LABEL mimic_preload_patch_departed\n"
"	hlt\n"
"	.size	mimic_preload_patch_depart, . - mimic_preload_patch_depart\n"
"	.popsection\n");

/* What the operating system keeps of the vector registers, as XGETBV says. */
static uint64_t enabled_states(void)
{
	uint32_t low, high;

	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

bool mimic_preload_patch_enter_start(void)
{
	unsigned int eax, ebx, ecx, edx;
	uint64_t states;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return false;
	states = ecx & bit_OSXSAVE ? enabled_states() : 0;
	if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !(ebx & bit_BMI2))
		return false;
	/* BMI2 is of the VEX encoding: it needs that the system keeps AVX. */
	if ((states & 0x6) != 0x6)
		return false;
	if ((states & 0xe0) == 0xe0) {
		/* kmovq is of AVX512BW. Without it mask registers have 16 bits, and no trampoline. */
		if (!(ebx & bit_AVX512BW))
			return false;
		mimic_preload_patch_is_512 = 1;
	}
	return true;
}

#endif
