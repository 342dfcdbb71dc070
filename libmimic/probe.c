/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Recoverable loads and atomics, and the signal handlers that recover them. */
#include "libmimic/probe.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "devices/atomic.h"
#include "libmimic/mimic.h"

/* Bytes that could not be copied. */
size_t mimic_probe_copy(void *buffer, uint64_t address, size_t size);
int mimic_probe_load32(uint64_t address, uint32_t *value);
int mimic_probe_add32(uint64_t address, uint32_t operand, uint32_t *old);
int mimic_probe_swap32(uint64_t address, uint32_t operand, uint32_t *old);
int mimic_probe_cas32(uint64_t address, uint32_t expected, uint32_t desired, uint32_t *old);

#if defined(__x86_64__) && !defined(MIMIC_PROBE_PORTABLE)

/*
 * In assembly because the fixup must know each instruction that can fault and
 * what the registers hold there; a compiler promises neither.
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

".pushsection .rodata.mimic_fixups, \"a\"\n"
".balign 4\n"
".globl mimic_probe_fixups\n"
".hidden mimic_probe_fixups\n"
"mimic_probe_fixups:\n"
".popsection\n"

".pushsection .text\n"
"GATHER mimic_probe_gather32, %ecx, %r9d, %r10d, %r11d, %ecx\n"
"GATHER mimic_probe_gather64, %rcx, %r9, %r10, %r11, %rcx\n"

/* 64 bytes, a chunk of LIMA, without a branch; 16 at a time; the rest, and what is left before a fault, by bytes. */
"FUNCTION mimic_probe_copy\n"
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
"3:	movq %rdx, %rcx\n"
"	jrcxz 4f\n"
"16:	rep movsb\n"
"4:	movq %rcx, %rax\n"
"	ret\n"
"	FAULT 11b, 2b\n"
"	FAULT 12b, 2b\n"
"	FAULT 13b, 2b\n"
"	FAULT 14b, 2b\n"
"	FAULT 15b, 3b\n"
"	FAULT 16b, 4b\n"
"END mimic_probe_copy\n"

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
);

struct fixup {
	int32_t fault;
	int32_t target;
};

extern const struct fixup mimic_probe_fixups[] __attribute__((visibility("hidden")));
extern const struct fixup mimic_probe_fixups_end[] __attribute__((visibility("hidden")));

uintptr_t mimic_fault_fixup(uintptr_t instruction_pointer)
{
	const struct fixup *fixup;

	for (fixup = mimic_probe_fixups; fixup < mimic_probe_fixups_end; fixup++) {
		if ((uintptr_t)&fixup->fault + (uintptr_t)(intptr_t)fixup->fault ==
		    instruction_pointer)
			return (uintptr_t)&fixup->target + (uintptr_t)(intptr_t)fixup->target;
	}
	return 0;
}

static bool recover(void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t target = mimic_fault_fixup((uintptr_t)registers[REG_RIP]);

	if (!target)
		return false;
	registers[REG_RIP] = (greg_t)target;
	return true;
}

#else

/* Elsewhere the kernel does the risky part: hundreds of times slower, and nothing to recover. */
#define BATCH 64

static ssize_t read_self(const struct iovec *to, const struct iovec *from, size_t count)
{
	int saved = errno;
	ssize_t got = process_vm_readv(getpid(), to, 1, from, count, 0);

	errno = saved;
	return got < 0 ? 0 : got;
}

static size_t gather(const uint64_t *addresses, size_t count, void *packed, size_t size)
{
	struct iovec from[BATCH];
	struct iovec to = { .iov_base = packed, .iov_len = count * size };

	for (size_t i = 0; i < count; i++) {
		from[i].iov_base = (void *)(uintptr_t)addresses[i];
		from[i].iov_len = size;
	}
	return (size_t)read_self(&to, from, count) / size;
}

size_t mimic_probe_gather32(const uint64_t *addresses, size_t count, uint64_t *values)
{
	uint32_t packed[BATCH];
	size_t done = 0;

	while (done < count) {
		size_t wanted = count - done < BATCH ? count - done : BATCH;
		size_t got = gather(addresses + done, wanted, packed, 4);

		for (size_t i = 0; i < got; i++)
			values[done + i] = packed[i];
		done += got;
		if (got < wanted)
			break;
	}
	return done;
}

size_t mimic_probe_gather64(const uint64_t *addresses, size_t count, uint64_t *values)
{
	size_t done = 0;

	while (done < count) {
		size_t wanted = count - done < BATCH ? count - done : BATCH;
		size_t got = gather(addresses + done, wanted, values + done, 8);

		done += got;
		if (got < wanted)
			break;
	}
	return done;
}

size_t mimic_probe_copy(void *buffer, uint64_t address, size_t size)
{
	size_t done = 0;

	/* A transfer stops at the start of a piece that fails: page by page finds the last good byte. */
	while (done < size) {
		size_t piece = 4096 - (address + done) % 4096;
		struct iovec to, from;

		if (piece > size - done)
			piece = size - done;
		to = (struct iovec) { (char *)buffer + done, piece };
		from = (struct iovec) { (void *)(uintptr_t)(address + done), piece };
		if ((size_t)read_self(&to, &from, 1) < piece)
			break;
		done += piece;
	}
	return size - done;
}

int mimic_probe_load32(uint64_t address, uint32_t *value)
{
	return mimic_probe_copy(value, address, sizeof(*value)) ? -EFAULT : 0;
}

/* The kernel offers no atomic with an answer: look first, then trust that the page stays. */
int mimic_probe_add32(uint64_t address, uint32_t operand, uint32_t *old)
{
	if (mimic_probe_load32(address, old))
		return -EFAULT;
	*old = __atomic_fetch_add((uint32_t *)(uintptr_t)address, operand, __ATOMIC_SEQ_CST);
	return 0;
}

int mimic_probe_swap32(uint64_t address, uint32_t operand, uint32_t *old)
{
	if (mimic_probe_load32(address, old))
		return -EFAULT;
	*old = __atomic_exchange_n((uint32_t *)(uintptr_t)address, operand, __ATOMIC_SEQ_CST);
	return 0;
}

int mimic_probe_cas32(uint64_t address, uint32_t expected, uint32_t desired, uint32_t *old)
{
	if (mimic_probe_load32(address, old))
		return -EFAULT;
	*old = expected;
	__atomic_compare_exchange_n((uint32_t *)(uintptr_t)address, old, desired, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return 0;
}

uintptr_t mimic_fault_fixup(uintptr_t instruction_pointer)
{
	(void)instruction_pointer;
	return 0;
}

static bool recover(void *context)
{
	(void)context;
	return false;
}

#endif

int mimic_probe_read(uint64_t address, void *buffer, size_t size)
{
	size_t left = mimic_probe_copy(buffer, address, size);

	if (!left)
		return 0;
	memset((char *)buffer + size - left, 0, left);
	return -EFAULT;
}

int mimic_probe_atomic(uint64_t address, enum mimic_atomic operation, uint32_t operand,
		       uint32_t expected, uint32_t *old)
{
	uint32_t seen;

	switch (operation) {
	case MIMIC_ATOMIC_ADD:
		return mimic_probe_add32(address, operand, old);
	case MIMIC_ATOMIC_SWAP:
		return mimic_probe_swap32(address, operand, old);
	case MIMIC_ATOMIC_CAS:
		return mimic_probe_cas32(address, expected, operand, old);
	case MIMIC_ATOMIC_AND:
	case MIMIC_ATOMIC_OR:
	case MIMIC_ATOMIC_XOR:
	case MIMIC_ATOMIC_MAX:
	case MIMIC_ATOMIC_MAXU:
	case MIMIC_ATOMIC_MIN:
	case MIMIC_ATOMIC_MINU:
		break;
	default:
		return -EINVAL;
	}
	if (mimic_probe_load32(address, old))
		return -EFAULT;
	for (;;) {
		seen = *old;
		if (mimic_probe_cas32(address, seen, mimic_atomic_result(operation, seen, operand, 0), old))
			return -EFAULT;
		if (*old == seen)
			return 0;
	}
}

/* --- signal handlers ------------------------------------------------------ */

static const int fault_signals[] = { SIGSEGV, SIGBUS };
/* What was there before ours, by the index of the signal above. */
static struct sigaction chained[2];
static atomic_bool handled_elsewhere;
static bool installed;

void mimic_faults_are_handled(void)
{
	atomic_store(&handled_elsewhere, true);
}

/* As the kernel would without us: a fault happens again at the same instruction, a sent signal is sent again. */
static void act_by_default(int number, siginfo_t *info)
{
	struct sigaction by_default = { .sa_handler = SIG_DFL };

	sigaction(number, &by_default, NULL);
	if (info->si_code <= 0)
		syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), number, info);
}

static void call_handler(struct sigaction *action, int number, siginfo_t *info, void *context)
{
	struct sigaction copy = *action;
	sigset_t blocked = copy.sa_mask;

	if (copy.sa_flags & SA_RESETHAND) {
		action->sa_handler = SIG_DFL;
		action->sa_flags = 0;
	}
	if (!(copy.sa_flags & SA_NODEFER))
		sigaddset(&blocked, number);
	/* Our own mask is empty: the program's handler runs with the mask that it asked for. */
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	if (copy.sa_flags & SA_SIGINFO)
		copy.sa_sigaction(number, info, context);
	else
		copy.sa_handler(number);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	struct sigaction *action = &chained[number == SIGBUS];
	int saved = errno;

	if (recover(context))
		return;
	if (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	if (!(action->sa_flags & SA_SIGINFO) &&
	    (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN))
		act_by_default(number, info);
	else
		call_handler(action, number, info, context);
	errno = saved;
}

int mimic_probe_install_handlers(void)
{
	/* SA_NODEFER: a device read inside a handler of the program may fault too. */
	struct sigaction action = {
		.sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART,
	};

	if (installed || atomic_load(&handled_elsewhere))
		return 0;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < 2; i++) {
		if (sigaction(fault_signals[i], NULL, &chained[i]) ||
		    sigaction(fault_signals[i], &action, NULL))
			return -errno;
	}
	installed = true;
	return 0;
}

void mimic_probe_unblock_signals(void)
{
	sigset_t faults;

	sigemptyset(&faults);
	for (size_t i = 0; i < 2; i++)
		sigaddset(&faults, fault_signals[i]);
	pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
}
