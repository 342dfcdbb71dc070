/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program that steps through itself: with the trap flag, a signal comes after each instruction, wherever
 * that is. Its handler must see the program's own instructions and registers, never a half of an access.
 */
#include "contract.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#define TRAP_FLAG 0x100

/* Registers in hardware order, as each instruction below begins with. */
struct registers {
	uint64_t gpr[16];
};

extern const char step_load[], step_load_end[], step_store[], step_store_end[], step_compare[], step_compare_end[],
	step_stack[], step_stack_end[], step_finish[];
void step_run(struct registers *registers, const void *code, uint64_t flags);

static struct registers start;
void *saved_stack;	/* for the assembly */

/*
 * Loads all registers but rsp, fills the red zone, sets the trap flag, jumps to the instruction. Behind it
 * the registers are stored, and the red zone is looked at.
 */
__asm__(
"	.text\n"
"step_run:\n"
"	push	%rbx\n	push	%rbp\n	push	%r12\n	push	%r13\n	push	%r14\n	push	%r15\n"
"	mov	%rsp, saved_stack(%rip)\n"
"	sub	$4096, %rsp\n"
"	mov	%rdi, 1024(%rsp)\n"
"	mov	%rsi, 1032(%rsp)\n"
"	push	%rdx\n"
"	popfq\n"
"	mov	0(%rdi), %rax\n	mov	8(%rdi), %rcx\n	mov	16(%rdi), %rdx\n	mov	24(%rdi), %rbx\n"
"	mov	40(%rdi), %rbp\n	mov	48(%rdi), %rsi\n	mov	64(%rdi), %r8\n	mov	72(%rdi), %r9\n"
"	mov	80(%rdi), %r10\n	mov	88(%rdi), %r11\n	mov	96(%rdi), %r12\n	mov	104(%rdi), %r13\n"
"	mov	112(%rdi), %r14\n	mov	120(%rdi), %r15\n	mov	56(%rdi), %rdi\n"
"	movabs	%rax, saved_rax\n"
"	.irp	n,8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128\n"
"	mov	%rax, -\\n(%rsp)\n"
"	.endr\n"
"	jmp	*1032(%rsp)\n"
"step_load:		mov	0x12345(%rdi), %eax\n"
"step_load_end:		jmp	step_finish\n"
"step_store:		mov	%ecx, 0x12345(%rsi)\n"
"step_store_end:	jmp	step_finish\n"
"step_compare:		cmp	%rdx, 0x12345(%rdi,%r8,8)\n"
"step_compare_end:	jmp	step_finish\n"
"step_stack:		mov	-8(%rsp,%r9), %rcx\n"
"step_stack_end:	jmp	step_finish\n"
"step_finish:\n"
"	mov	%rdi, 1040(%rsp)\n"
"	mov	1024(%rsp), %rdi\n"
"	mov	%rax, 0(%rdi)\n	mov	%rcx, 8(%rdi)\n	mov	%rdx, 16(%rdi)\n	mov	%rbx, 24(%rdi)\n"
"	mov	%rbp, 40(%rdi)\n	mov	%rsi, 48(%rdi)\n	mov	%r8, 64(%rdi)\n	mov	%r9, 72(%rdi)\n"
"	mov	%r10, 80(%rdi)\n	mov	%r11, 88(%rdi)\n	mov	%r12, 96(%rdi)\n	mov	%r13, 104(%rdi)\n"
"	mov	%r14, 112(%rdi)\n	mov	%r15, 120(%rdi)\n"
"	mov	1040(%rsp), %rax\n"
"	mov	%rax, 56(%rdi)\n"
"	.irp	n,8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128\n"
"	mov	-\\n(%rsp), %rax\n"
"	cmp	saved_rax(%rip), %rax\n"
"	jne	1f\n"
"	.endr\n"
"	mov	saved_stack(%rip), %rsp\n"
"	pop	%r15\n	pop	%r14\n	pop	%r13\n	pop	%r12\n	pop	%rbp\n	pop	%rbx\n"
"	ret\n"
"1:	ud2\n"
"	.comm	saved_rax, 8\n");

static const char *code, *code_end;
static volatile unsigned int steps, before, after, wrong;
static struct registers at_start, expected;
static volatile int is_counting;

static const int greg_of[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
				 REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

static int agrees(const greg_t *gregs, const struct registers *registers)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		if (i != 4 && (uint64_t)gregs[greg_of[i]] != registers->gpr[i])
			return 0;
	return 1;
}

static void on_step(int number, siginfo_t *information, void *argument)
{
	ucontext_t *context = argument;
	greg_t *gregs = context->uc_mcontext.gregs;
	uintptr_t rip = (uintptr_t)gregs[REG_RIP];
	static greg_t stack;

	(void)number;
	(void)information;
	if (rip == (uintptr_t)code) {
		/* Not begun; a complete one does not begin again. */
		if (!is_counting)
			stack = gregs[REG_RSP];
		is_counting = 1;
		before++;
		wrong += after || !agrees(gregs, &at_start) || gregs[REG_RSP] != stack;
	} else if (rip == (uintptr_t)code_end) {
		after++;
		wrong += !agrees(gregs, &expected) || gregs[REG_RSP] != stack;
	} else if (rip == (uintptr_t)step_finish) {
		is_counting = 0;
		gregs[REG_EFL] &= ~TRAP_FLAG;
	} else if (is_counting) {
		wrong++;
	}
	steps += is_counting;
}

/* Returns how many signals came while the one instruction was executed. */
static unsigned int step(const char *from, const char *to, uint64_t flags)
{
	code = from;
	code_end = to;
	steps = before = after = wrong = 0;
	is_counting = 0;
	at_start = start;
	step_run(&start, from, flags);
	return steps;
}

static void fill(void)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		start.gpr[i] = 0x1111111111111111ull * i + i;
}

/* `value`: the instruction loads it into rax or rcx (loads_to), if it loads. */
static void check(const char *from, const char *to, int loads_to, uint64_t value)
{
	struct registers initial = start;
	unsigned int count;

	expected = start;
	if (loads_to >= 0)
		expected.gpr[loads_to] = value;
	/* The first one traps, and the second runs the replacement. */
	step(from, to, 0x202);
	CHECK(!memcmp(start.gpr, expected.gpr, 4 * 8) && !memcmp(start.gpr + 5, expected.gpr + 5, 11 * 8));
	start = initial;
	count = step(from, to, 0x202 | TRAP_FLAG);
	if (wrong || !before)
		fprintf(stderr, "%u steps, %u before, %u after, %u wrong\n", count, before, after, wrong);
	CHECK(!wrong && before);
	CHECK(!memcmp(start.gpr + 5, expected.gpr + 5, 11 * 8));
	start = initial;
}

/* --- a handler that sends a waiting load elsewhere -------------------------------------- */

static volatile int has_rung;

static void on_alarm(int number, siginfo_t *information, void *argument)
{
	ucontext_t *context = argument;

	(void)number;
	(void)information;
	if ((uintptr_t)context->uc_mcontext.gregs[REG_RIP] != (uintptr_t)step_load)
		_exit(3);
	has_rung = 1;
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)step_finish;
	context->uc_mcontext.gregs[REG_RAX] = 77;
}

static void check_departure(void *page)
{
	struct sigaction action = { .sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO };
	struct itimerval soon = { .it_value.tv_usec = 50000 };
	double lanes[4] = { 1, 2, 3, 4 }, after_lanes[4];

	fill();
	start.gpr[7] = (uintptr_t)page + (CONSUME << 3) - 0x12345;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	__asm__ volatile("movupd (%0), %%xmm6\nmovupd 16(%0), %%xmm7" : : "r"(lanes) : "xmm6", "xmm7", "memory");
	step_run(&start, step_load, 0x202);
	__asm__ volatile("movupd %%xmm6, (%0)\nmovupd %%xmm7, 16(%0)" : : "r"(after_lanes) : "memory");
	CHECK(has_rung);
	CHECK(start.gpr[0] == 77 && start.gpr[9] == 0x1111111111111111ull * 9 + 9);
	CHECK(!memcmp(lanes, after_lanes, sizeof(lanes)));
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	void *page = map_node("/dev/maple0", WORDS_16);
	static uint64_t memory = 0x5555666677778888ull;
	int is_trapped = argc > 1 && !strcmp(argv[1], "trapped");
	int i;

	sigaction(SIGTRAP, &action, NULL);
	open_both(page, 0);
	fill();
	for (i = 0; i < 2; i++)
		store32(page, PRODUCE, 0, 0x1000u + (uint32_t)i);
	start.gpr[7] = (uintptr_t)page + (CONSUME << 3) - 0x12345;
	expected = start;
	expected.gpr[0] = 0x1000;
	step(step_load, step_load_end, 0x202);
	CHECK(start.gpr[0] == 0x1000);
	fill();
	start.gpr[7] = (uintptr_t)page + (CONSUME << 3) - 0x12345;
	expected = start;
	expected.gpr[0] = 0x1001;
	step(step_load, step_load_end, 0x202 | TRAP_FLAG);
	CHECK(start.gpr[0] == 0x1001);
	/* Only a program that was told so knows whether the access is a trap. */
	CHECK(before && !wrong && (is_trapped || steps > 100));

	fill();
	start.gpr[7] = (uintptr_t)&memory - 0x12345;
	check(step_load, step_load_end, 0, 0x77778888);
	fill();
	start.gpr[6] = (uintptr_t)page + (PRODUCE << 3) - 0x12345;
	check(step_store, step_store_end, -1, 0);
	CHECK(load32(page, CONSUME, 0) == (0x11111111u + 1) && load32(page, CONSUME, 0) == (0x11111111u + 1));
	fill();
	start.gpr[8] = 16;
	start.gpr[7] = (uintptr_t)page + (DEBUG << 3) - 0x12345 - 128;
	check(step_compare, step_compare_end, -1, 0);
	fill();
	/* The same on the stack: the red zone holds rax. */
	start.gpr[9] = 0;
	check(step_stack, step_stack_end, 1, start.gpr[0]);
	if (!is_trapped)
		check_departure(page);
	return 0;
}
