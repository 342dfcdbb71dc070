/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* x86-64: vector registers, kept and put back. In assembly, because they are not the compiler's to use meanwhile. */
#include "libmimic/base/vectors.h"

#include <stddef.h>

#if defined(__x86_64__) && !defined(__ILP32__)

#include <cpuid.h>
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <time.h>

__thread struct mimic_vectors *mimic_vectors_place __attribute__((tls_model("initial-exec")));
__thread int *mimic_vectors_errno __attribute__((tls_model("initial-exec")));

uint32_t mimic_vectors_in_use;

_Static_assert(offsetof(struct mimic_vectors, vectors) == 0 && offsetof(struct mimic_vectors, masks) == 2048 &&
	       offsetof(struct mimic_vectors, mxcsr) == 2112 && offsetof(struct mimic_vectors, is_filled) == 2116 &&
	       offsetof(struct mimic_vectors, errno_place) == 2128 && offsetof(struct mimic_vectors, errno_value) == 2136,
	       "the offsets below");

__asm__(
"	.pushsection .rodata\n"
"	.p2align 2\n"
"default_mxcsr:\n"
"	.long	0x1f80\n"
"	.popsection\n"
"	.pushsection .text\n"

/* Keeps all registers that can have arguments: gates jump on to functions. r10 and r11 have none. */
"	.p2align 4\n"
"	.globl	mimic_vectors_keep\n"
"	.type	mimic_vectors_keep, @function\n"
"	.globl	mimic_vectors_keep_here\n"
"	.hidden	mimic_vectors_keep_here\n"
"mimic_vectors_keep:\n"
"mimic_vectors_keep_here:\n"
"	.cfi_startproc\n"
"	endbr64\n"
"	mov	mimic_vectors_place@gottpoff(%rip), %r11\n"
"	mov	%fs:(%r11), %r10\n"
"	test	%r10, %r10\n"
"	jz	4f\n"
/* A thread that is cancelled leaves its caller's frame, and its cleanup handlers may come here. */
"	cmp	%rsp, %r10\n"
"	jb	5f\n"
"	cmpl	$2, mimic_vectors_in_use(%rip)\n"
"	jne	2f\n"
"	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
"	vmovups	%zmm\\n, 64*\\n(%r10)\n"
"	.endr\n"
"	.irp	n,0,1,2,3,4,5,6,7\n"
"	kmovq	%k\\n, 2048+8*\\n(%r10)\n"
"	.endr\n"
"	jmp	3f\n"
"2:	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
"	vmovups	%ymm\\n, 64*\\n(%r10)\n"
"	.endr\n"
"3:	stmxcsr	2112(%r10)\n"
/* A handler of the program that comes from here on must find all that it changes. */
"	mov	%r11, 2120(%r10)\n"
"	mov	mimic_vectors_errno@gottpoff(%rip), %r11\n"
"	mov	%fs:(%r11), %r11\n"
"	mov	%r11, 2128(%r10)\n"
"	test	%r11, %r11\n"
"	jz	6f\n"
"	mov	(%r11), %r11d\n"
"	mov	%r11d, 2136(%r10)\n"
"6:\n"
"	mov	mimic_vectors_in_use(%rip), %r11d\n"
"	mov	%r11d, 2116(%r10)\n"
"	mov	2120(%r10), %r11\n"
"	movq	$0, %fs:(%r11)\n"
"	ldmxcsr	default_mxcsr(%rip)\n"
"	vzeroupper\n"
"4:	ret\n"
"5:	movq	$0, %fs:(%r11)\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size	mimic_vectors_keep, . - mimic_vectors_keep\n"

"	.p2align 4\n"
"	.globl	mimic_vectors_put_back\n"
"	.type	mimic_vectors_put_back, @function\n"
"mimic_vectors_put_back:\n"
"	.cfi_startproc\n"
"	endbr64\n"
"	cmpl	$2, 2116(%rdi)\n"
"	jne	2f\n"
"	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
"	vmovups	64*\\n(%rdi), %zmm\\n\n"
"	.endr\n"
"	.irp	n,0,1,2,3,4,5,6,7\n"
"	kmovq	2048+8*\\n(%rdi), %k\\n\n"
"	.endr\n"
"	jmp	3f\n"
"2:	.irp	n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
"	vmovups	64*\\n(%rdi), %ymm\\n\n"
"	.endr\n"
"3:	ldmxcsr	2112(%rdi)\n"
"	mov	2128(%rdi), %rax\n"
"	test	%rax, %rax\n"
"	jz	4f\n"
"	mov	2136(%rdi), %edi\n"
"	mov	%edi, (%rax)\n"
"4:	ret\n"
"	.cfi_endproc\n"
"	.size	mimic_vectors_put_back, . - mimic_vectors_put_back\n"
"	.popsection\n");

/* The vector registers that the operating system saves and restores, by XGETBV. */
static uint64_t enabled_states(void)
{
	uint32_t low, high;

	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

static uint32_t in_use(void)
{
	unsigned int eax, ebx, ecx, edx;
	uint64_t states;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return 0;
	states = ecx & bit_OSXSAVE ? enabled_states() : 0;
	if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !(ebx & bit_BMI2))
		return 0;
	/* BMI2 is of the VEX encoding: it needs that the system keeps AVX. */
	if ((states & 0x6) != 0x6)
		return 0;
	if ((states & 0xe0) != 0xe0)
		return 1;
	/* kmovq is of AVX512BW. Without it mask registers have 16 bits, and no trampoline. */
	return ebx & bit_AVX512BW ? 2 : 0;
}

/* libmimic.a has no gates: the linker makes them. */
extern const char mimic_vectors_have_gates[] __attribute__((weak, visibility("hidden")));

static bool are_safe;

static bool is_clock_of_libc(void)
{
	Dl_info clock, library;

	return dladdr((void *)clock_gettime, &clock) && dladdr((void *)gnu_get_libc_version, &library) &&
	       clock.dli_fbase == library.dli_fbase;
}

/* Of each copy of this library: a program may export one of its own, and a part of our calls comes there. */
__attribute__((constructor))
static void find_out(void)
{
	mimic_vectors_in_use = in_use();
	/* Now, and not at an access: dladdr() waits for a thread that opens a library. */
	are_safe = mimic_vectors_have_gates && is_clock_of_libc();
}

bool mimic_vectors_are_safe(void)
{
	return are_safe;
}

bool mimic_vectors_start(void)
{
	/* Another library's constructor may be before ours. */
	find_out();
	return mimic_vectors_in_use;
}

#endif
