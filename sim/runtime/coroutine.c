/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Coroutines: the threads of the program, all on one thread of the host.
 *
 * Each has a real thread that makes its stack and its thread-local storage, leaves both
 * behind and sleeps elsewhere. A thread that switches to a coroutine takes the stack and, by the FS
 * register, the thread-local storage: so errno, malloc's caches, pthread_self() and the
 * program's own thread-local variables are the coroutine's. At its end the coroutine is
 * given back to its real thread, which runs destructors and ends as threads do.
 */
#include <asm/prctl.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "libmimic/base/raw_syscall.h"
#include "sim/runtime/internal.h"
#include "sim/runtime/real.h"

#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE (1 << 1)
#endif

#define PARKING_SIZE 16384
#define MAIN_STACK_SIZE (8u << 20)
#define GUARD_SIZE 4096u
#define PAGE 4096u
#define BELOW_FRAME 256u	/* registers and locals of a function without arrays */

/* On processors where a program cannot set FS itself, or kernels that do not let it. */
__attribute__((visibility("hidden"), used)) unsigned char sim_fs_by_kernel = 1;

void sim_switch(void **save, void *stack_pointer, uint64_t fs);
void sim_park(void **save, void *new_stack, void (*function)(void *argument), void *argument);
void sim_go_on(void *stack_pointer) __attribute__((noreturn));
int sim_on_stack(void *stack, int (*function)(void *argument), void *argument);

#define SAVE \
	"	pushq %rbp\n	pushq %rbx\n	pushq %r12\n	pushq %r13\n	pushq %r14\n	pushq %r15\n" \
	"	subq $8, %rsp\n	stmxcsr (%rsp)\n	fnstcw 4(%rsp)\n	movq %rsp, (%rdi)\n"
#define RESTORE_MODES "	ldmxcsr (%rsp)\n	fldcw 4(%rsp)\n"
#define RESTORE \
	"	addq $8, %rsp\n" \
	"	popq %r15\n	popq %r14\n	popq %r13\n	popq %r12\n	popq %rbx\n	popq %rbp\n	ret\n"
#define FUNCTION(name) \
	"	.p2align 4\n	.globl " name "\n	.hidden " name "\n	.type " name ", @function\n" name ":\n"
#define END(name) "	.size " name ", . - " name "\n"

__asm__("	.text\n"
	FUNCTION("sim_switch")
	SAVE
	"	movl (%rsp), %r8d\n"
	"	movzwl 4(%rsp), %r9d\n"
	"	movq %rsi, %rsp\n"
	"	cmpb $0, sim_fs_by_kernel(%rip)\n"
	"	jne 2f\n"
	"	wrfsbase %rdx\n"
	/* Most often both have the same modes; to compare them is faster than to set them. */
	"1:	cmpl (%rsp), %r8d\n"
	"	jne 3f\n"
	"	cmpw 4(%rsp), %r9w\n"
	"	jne 3f\n"
	RESTORE
	"2:	movl $158, %eax\n"	/* arch_prctl(ARCH_SET_FS) */
	"	movl $0x1002, %edi\n"
	"	movq %rdx, %rsi\n"
	"	syscall\n"		/* keeps R8 and R9 */
	"	jmp 1b\n"
	"3:\n"
	RESTORE_MODES
	RESTORE
	END("sim_switch")
	FUNCTION("sim_park")
	SAVE
	"	movq %rsi, %rsp\n"
	"	movq %rcx, %rdi\n"
	"	call *%rdx\n"
	"	ud2\n"
	END("sim_park")
	FUNCTION("sim_go_on")
	"	movq %rdi, %rsp\n"
	RESTORE_MODES
	RESTORE
	END("sim_go_on")
	FUNCTION("sim_on_stack")
	"	.cfi_startproc\n"
	"	pushq %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbp, -16\n"
	"	movq %rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	"	movq %rdi, %rsp\n"
	"	movq %rdx, %rdi\n"
	"	call *%rsi\n"
	"	leave\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	END("sim_on_stack"));

static uint64_t current_fs(void)
{
	uint64_t fs;

	/* The first word of a thread's descriptor is its own address (ELF's rules for x86-64). */
	__asm__("movq %%fs:0, %0" : "=r"(fs));
	return fs;
}

static void futex_wait(_Atomic uint32_t *word)
{
	while (!atomic_load_explicit(word, memory_order_acquire))
		mimic_raw_syscall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
}

static void futex_set(_Atomic uint32_t *word)
{
	atomic_store_explicit(word, 1, memory_order_release);
	mimic_raw_syscall(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

/* On the parking stack, with thread-local storage that another thread uses now: no calls of libc. */
static void park(void *argument)
{
	struct sim_thread *thread = argument;

	futex_set(&thread->is_parked);
	futex_wait(&thread->is_released);
	sim_go_on(thread->stack_pointer);
}

/* A signal of the process is for the thread that runs the program. */
static void block_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	REAL(pthread_sigmask)(SIG_BLOCK, &all, before);
}

static void *native_main(void *argument)
{
	struct sim_thread *thread = argument;
	sigset_t before;
	void *result;

	block_signals(&before);
	thread->native_id = (int)mimic_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	thread->fs = current_fs();
	sim_self = thread;
	sim_park(&thread->stack_pointer, (char *)thread->parking + PARKING_SIZE, park, thread);
	/* Now it is the program's host thread that runs here. */
	result = sim_thread_main(thread);
	/* And now the real thread again. */
	sim_self = NULL;
	REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
	return result;
}

static void find_fs_way(void)
{
	sim_fs_by_kernel = !(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE);
}

static int create_native(struct sim_thread *thread, const pthread_attr_t *attributes)
{
	pthread_attr_t *own = (pthread_attr_t *)attributes;
	int state = PTHREAD_CREATE_JOINABLE, error;

	/* The run-time waits for it, even if the program does not. */
	if (own)
		pthread_attr_getdetachstate(own, &state);
	if (state == PTHREAD_CREATE_DETACHED)
		pthread_attr_setdetachstate(own, PTHREAD_CREATE_JOINABLE);
	error = REAL(pthread_create)(&thread->native, own, native_main, thread);
	if (state == PTHREAD_CREATE_DETACHED)
		pthread_attr_setdetachstate(own, PTHREAD_CREATE_DETACHED);
	thread->is_detached = state == PTHREAD_CREATE_DETACHED;
	return error;
}

int sim_coroutine_create(struct sim_thread *thread, const pthread_attr_t *attributes)
{
	int error;

	find_fs_way();
	thread->parking = mmap(NULL, PARKING_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (thread->parking == MAP_FAILED)
		return EAGAIN;
	error = create_native(thread, attributes);
	if (error) {
		munmap(thread->parking, PARKING_SIZE);
		return error;
	}
	futex_wait(&thread->is_parked);
	return 0;
}

void sim_coroutine_switch(struct sim_thread *from, struct sim_thread *to)
{
	/* The program's first thread has no other way to tell. */
	if (sim_unlikely(!from->fs))
		from->fs = current_fs();
	sim_switch(&from->stack_pointer, to->stack_pointer, to->fs);
}

void sim_coroutine_release(struct sim_thread *thread)
{
	const struct timespec pause = { .tv_nsec = 20000 };
	long process = mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);

	futex_set(&thread->is_released);
	/* Not by pthread_join(): its handle must not be given to another thread before the program has joined it. */
	while (mimic_raw_syscall(SYS_tgkill, process, thread->native_id, 0, 0, 0, 0) == 0)
		mimic_raw_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
	munmap(thread->parking, PARKING_SIZE);
}

void sim_coroutine_at_page(void (*function)(void *argument), void *argument)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	/* Its result is not used. Below the frame lie the registers that this function has saved. */
	sim_on_stack((void *)((here - BELOW_FRAME) & ~(uintptr_t)(PAGE - 1)), (int (*)(void *))(void *)function, argument);
}

int sim_coroutine_on_new_stack(int (*function)(void *argument), void *argument)
{
	char *stack = mmap(NULL, MAIN_STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	find_fs_way();
	if (stack == MAP_FAILED || mprotect(stack, GUARD_SIZE, PROT_NONE))
		return -1;
	return sim_on_stack(stack + MAIN_STACK_SIZE, function, argument);
}
