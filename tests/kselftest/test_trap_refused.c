/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Accesses to a device page that are refused: which signal or errno, and that the device hears nothing. */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "tests/kselftest/lib/holder.h"

FIXTURE(refused)
{
	struct holder holder;
	struct fake_control *control;
	volatile uint8_t *place;	/* in the middle of a device page */
};

FIXTURE_SETUP(refused)
{
	ASSERT_EQ(0, holder_start(&self->holder, NULL));
	self->control = self->holder.control;
	self->place = self->holder.pages + PAGE + 0x340;
}

FIXTURE_TEARDOWN(refused)
{
	holder_stop(&self->holder);
}

static bool device_heard_nothing(const struct fake_control *control)
{
	return !control->loads && !control->stores;
}

/* --- instructions ---------------------------------------------------------------- */

struct attempt {
	const char *text;
	void (*run)(void *place);
};

#define DEFINE(number, text) \
	static void run_##number(void *place) \
	{ \
		__asm__ volatile("lea -128(%%rsp), %%rsp\n\t" text "\n\tlea 128(%%rsp), %%rsp" \
				 : : "a"(place), "b"(1), "c"(1), "d"(1) \
				 : "memory", "cc", "rsi", "rdi", "xmm0"); \
	}
#define ENTRY(number, text) { text, run_##number },
#define GROUP(name, LIST) \
	LIST(DEFINE) \
	static const struct attempt name[] = { LIST(ENTRY) { NULL, NULL } };

#define MODIFIES(_) \
	_(modify1, "lock incq (%%rax)") _(modify2, "lock orl $1, (%%rax)") _(modify3, "xchgl %%ecx, (%%rax)") \
	_(modify4, "lock cmpxchgq %%rcx, (%%rax)") _(modify5, "lock xaddq %%rcx, (%%rax)") \
	_(modify6, "lock decb (%%rax)") _(modify7, "btsl %%ecx, (%%rax)") _(modify8, "shll $1, (%%rax)") \
	_(modify9, "cmpxchgl %%ecx, (%%rax)")
GROUP(modifies, MODIFIES)

#define STRINGS(_) \
	_(string1, "movq %%rax, %%rsi\n\tlodsb") _(string2, "movq %%rax, %%rdi\n\tstosq") \
	_(string3, "movq %%rax, %%rdi\n\trep stosb") \
	_(string4, "movq %%rax, %%rsi\n\tleaq -64(%%rsp), %%rdi\n\tmovsl") \
	_(string5, "movq %%rax, %%rdi\n\tscasb")
GROUP(strings, STRINGS)

#define STACK(_) \
	_(stack1, "pushq (%%rax)") _(stack2, "popq (%%rax)") _(stack3, "call *(%%rax)") \
	_(stack4, "jmp *(%%rax)") _(stack5, "bswap %%ecx\n\timull (%%rax), %%ecx") \
	_(stack6, "divq (%%rax)") _(stack7, "cmovel (%%rax), %%ecx\n\tcmovnel (%%rax), %%ecx") \
	_(stack8, "fldl (%%rax)") _(stack9, "sete (%%rax)")
GROUP(others, STACK)

#define VECTORS(_) \
	_(vector1, "movups (%%rax), %%xmm0") _(vector2, "movups %%xmm0, (%%rax)") \
	_(vector3, "movaps (%%rax), %%xmm0") _(vector4, "movdqu %%xmm0, (%%rax)") \
	_(vector5, "movss (%%rax), %%xmm0") _(vector6, "movsd %%xmm0, (%%rax)") \
	_(vector7, "movq (%%rax), %%xmm0") _(vector8, "movd %%xmm0, (%%rax)") \
	_(vector9, "addps (%%rax), %%xmm0") _(vector10, "movntps %%xmm0, (%%rax)")
GROUP(vectors, VECTORS)

/* How many of them end with anything but a SIGBUS at the place. */
static unsigned int others_than_sigbus(const struct attempt *attempts, volatile uint8_t *place)
{
	unsigned int wrong = 0;
	siginfo_t info;
	int number;

	for (; attempts->text; attempts++) {
		memset(&info, 0, sizeof(info));
		number = signal_of(attempts->run, (void *)place, &info);
		if (number == SIGBUS && info.si_code == BUS_ADRERR && info.si_addr == (void *)place)
			continue;
		printf("# %s: signal %d code %d address %p, wanted %p\n", attempts->text, number,
		       info.si_code, info.si_addr, (void *)place);
		wrong++;
	}
	return wrong;
}

TEST_F(refused, an_instruction_that_locks_shifts_or_exchanges_is_sigbus_at_its_address)
{
	EXPECT_EQ(0, others_than_sigbus(modifies, self->place));
	EXPECT_TRUE(device_heard_nothing(self->control));
}

TEST_F(refused, string_instructions_are_sigbus_at_their_address)
{
	EXPECT_EQ(0, others_than_sigbus(strings, self->place));
	EXPECT_TRUE(device_heard_nothing(self->control));
}

TEST_F(refused, an_instruction_that_is_no_plain_load_or_store_is_sigbus_at_its_address)
{
	EXPECT_EQ(0, others_than_sigbus(others, self->place));
	EXPECT_TRUE(device_heard_nothing(self->control));
}

TEST_F(refused, vector_moves_are_sigbus_at_their_address)
{
	EXPECT_EQ(0, others_than_sigbus(vectors, self->place));
	EXPECT_TRUE(device_heard_nothing(self->control));
}

TEST_F(refused, the_program_goes_on_after_a_refused_access)
{
	EXPECT_EQ(0, others_than_sigbus(modifies, self->place));
	*(volatile uint32_t *)self->place = 0x77;
	EXPECT_EQ(0x77, *(volatile uint32_t *)self->place);
}

TEST_F(refused, execution_of_a_device_page_is_sigsegv)
{
	siginfo_t info;

	EXPECT_EQ(SIGSEGV, signal_of((void (*)(void *))(uintptr_t)self->place, NULL, &info));
	EXPECT_EQ((void *)self->place, info.si_addr);
	EXPECT_TRUE(device_heard_nothing(self->control));
}

/* --- the edges of a mapping ------------------------------------------------------- */

TEST_F(refused, an_access_that_leaves_the_mapping_does_nothing_at_all)
{
	volatile uint8_t *end = self->holder.pages + HOLDER_PAGES * PAGE;

	EXPECT_NE(0, signal_of_store(end - 4, NULL));
	EXPECT_NE(0, signal_of_load(end - 1, NULL));
	EXPECT_TRUE(device_heard_nothing(self->control));
}

TEST_F(refused, an_access_that_begins_in_memory_and_ends_on_a_device_page_does_nothing)
{
	uint8_t *both = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_EQ((void *)(both + PAGE), mmap(both + PAGE, PAGE, PROT_READ | PROT_WRITE,
					      MAP_SHARED | MAP_FIXED, self->holder.fd, 0));
	EXPECT_EQ(SIGBUS, signal_of_store(both + PAGE - 4, NULL));
	EXPECT_EQ(SIGBUS, signal_of_load(both + PAGE - 4, NULL));
	EXPECT_TRUE(device_heard_nothing(self->control));
	EXPECT_EQ(0, both[PAGE - 4]);
}

TEST_F(refused, an_access_that_begins_on_a_device_page_and_ends_in_memory_does_nothing)
{
	uint8_t *both = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_EQ((void *)both, mmap(both, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
				     self->holder.fd, 0));
	both[PAGE] = 0x42;
	EXPECT_EQ(SIGBUS, signal_of_store(both + PAGE - 4, NULL));
	EXPECT_EQ(SIGBUS, signal_of_load(both + PAGE - 4, NULL));
	EXPECT_TRUE(device_heard_nothing(self->control));
	EXPECT_EQ(0x42, both[PAGE]);
}

/* --- system calls on a device page ------------------------------------------------- */

TEST_F(refused, write_from_a_device_page_is_efault)
{
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	EXPECT_EQ(-1, write(pipes[1], (void *)self->place, 8));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_TRUE(device_heard_nothing(self->control));
}

TEST_F(refused, read_into_a_device_page_is_efault)
{
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(8, write(pipes[1], "01234567", 8));
	EXPECT_EQ(-1, read(pipes[0], (void *)self->place, 8));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_TRUE(device_heard_nothing(self->control));
}

TEST_F(refused, a_futex_on_a_device_page_is_efault)
{
	struct timespec soon = { .tv_nsec = 1000000 };

	EXPECT_EQ(-1, syscall(SYS_futex, self->place, FUTEX_WAIT_PRIVATE, 0, &soon, NULL, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, syscall(SYS_futex, self->place, FUTEX_WAIT, 0, &soon, NULL, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_TRUE(device_heard_nothing(self->control));
}

TEST_F(refused, process_vm_readv_and_writev_are_efault)
{
	uint64_t value = 0;
	struct iovec ours = { &value, 8 }, its = { (void *)self->place, 8 };

	EXPECT_EQ(-1, process_vm_readv(getpid(), &ours, 1, &its, 1, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, process_vm_writev(getpid(), &ours, 1, &its, 1, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_TRUE(device_heard_nothing(self->control));
}

TEST_F(refused, vmsplice_of_a_device_page_is_efault)
{
	struct iovec its = { (void *)self->place, 8 };
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	EXPECT_EQ(-1, vmsplice(pipes[1], &its, 1, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_TRUE(device_heard_nothing(self->control));
}

TEST_F(refused, proc_self_mem_on_a_device_page_is_eio)
{
	int mem = open("/proc/self/mem", O_RDWR);
	uint64_t value = 0;

	ASSERT_LE(0, mem);
	EXPECT_EQ(-1, pread(mem, &value, 8, (off_t)(uintptr_t)self->place));
	EXPECT_EQ(EIO, errno);
	EXPECT_EQ(-1, pwrite(mem, &value, 8, (off_t)(uintptr_t)self->place));
	EXPECT_EQ(EIO, errno);
	EXPECT_TRUE(device_heard_nothing(self->control));
	close(mem);
}

static int uses_signal_stack_on_device(void *argument)
{
	struct holder *holder = argument;
	stack_t stack = { .ss_size = HOLDER_PAGES * PAGE };

	if (holder_open(holder) || holder_map(holder))
		return 1;
	stack.ss_sp = (void *)holder->pages;
	if (sigaltstack(&stack, NULL))
		return 2;
	if (sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = SIG_DFL, .sa_flags = SA_ONSTACK }, NULL))
		return 3;
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = (void (*)(int))exit,
						.sa_flags = SA_ONSTACK }, NULL);
	raise(SIGUSR1);
	return 4;
}

TEST_F(refused, a_signal_stack_on_a_device_page_kills_by_sigsegv)
{
	holder_give_back(&self->holder);
	EXPECT_EQ(128 + SIGSEGV, in_child(uses_signal_stack_on_device, &self->holder));
	EXPECT_TRUE(device_heard_nothing(self->control));
}

/* --- debuggers --------------------------------------------------------------------- */

/* In a child: the device is its own, then it waits for its parent. */
static void trace_me(struct holder *holder, volatile uint8_t **place)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (holder_open(holder) || holder_map(holder))
		_exit(1);
	*place = holder->pages + PAGE;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
}

TEST_F(refused, ptrace_peek_and_poke_are_eio)
{
	volatile uint8_t **place = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	holder_give_back(&self->holder);
	child = fork();
	if (!child) {
		trace_me(&self->holder, place);
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, NULL, 0));
	errno = 0;
	EXPECT_EQ(-1, ptrace(PTRACE_PEEKDATA, child, *place, NULL));
	EXPECT_EQ(EIO, errno);
	EXPECT_EQ(-1, ptrace(PTRACE_POKEDATA, child, *place, 1));
	EXPECT_EQ(EIO, errno);
	EXPECT_TRUE(device_heard_nothing(self->control));
	ptrace(PTRACE_CONT, child, NULL, NULL);
	EXPECT_EQ(0, exit_of(child));
}

/* The parent steps through the code between the labels. */
extern const char step_begin[], step_load[], step_end[];

static __attribute__((noinline)) void stepped(volatile uint8_t *place)
{
	__asm__ volatile(".globl step_begin, step_load, step_end\nstep_begin:\n\t"
			 "nop\n\tmovl $9, 8(%0)\nstep_load:\n\tmovq 8(%0), %%rax\n\tincq %%rax\n\tnop\nstep_end:\n\tnop"
			 : : "r"(place) : "rax", "memory", "cc");
}

#define STEPS_MAX 16

/* The instructions between the labels at which the child stops; the second time it gets there ends it. */
static unsigned int steps_of(pid_t child, uint64_t *steps)
{
	struct user_regs_struct registers;
	unsigned int count = 0, i;
	bool was_inside = false;
	int status;

	for (i = 0; i < 5000; i++) {
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) || waitpid(child, &status, 0) != child ||
		    !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
			return 0;
		ptrace(PTRACE_GETREGS, child, NULL, &registers);
		if (registers.rip >= (uintptr_t)step_begin && registers.rip < (uintptr_t)step_end) {
			if (count < STEPS_MAX)
				steps[count++] = registers.rip;
			was_inside = true;
		} else if (was_inside) {
			return count;
		}
	}
	return 0;
}

TEST_F(refused, single_steps_of_a_debugger_skip_no_instruction)
{
	uint64_t on_memory[STEPS_MAX] = { 0 }, on_device[STEPS_MAX] = { 0 };
	unsigned int memory_count, device_count;
	uint64_t plain[4] = { 0 };
	pid_t child;

	holder_give_back(&self->holder);
	child = fork();
	if (!child) {
		volatile uint8_t *place;

		trace_me(&self->holder, &place);
		stepped((volatile uint8_t *)plain);
		stepped(place);
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, NULL, 0));
	memory_count = steps_of(child, on_memory);
	device_count = steps_of(child, on_device);
	EXPECT_EQ(5, memory_count);
	EXPECT_EQ(memory_count, device_count);
	EXPECT_EQ(0, memcmp(on_memory, on_device, sizeof(on_memory)));
	EXPECT_EQ(1, self->control->stores);
	EXPECT_EQ(1, self->control->loads);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	EXPECT_EQ(0, exit_of(child));
}

TEST_F(refused, a_breakpoint_behind_an_access_is_hit)
{
	int status;
	pid_t child;

	holder_give_back(&self->holder);
	child = fork();
	if (!child) {
		volatile uint8_t *place;

		trace_me(&self->holder, &place);
		__asm__ volatile("movl $9, (%0)\n\tint3" : : "r"(place) : "memory");
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, NULL, 0));
	ptrace(PTRACE_CONT, child, NULL, NULL);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSTOPPED(status));
	EXPECT_EQ(SIGTRAP, WSTOPSIG(status));
	EXPECT_EQ(1, self->control->stores);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	EXPECT_EQ(0, exit_of(child));
}

/* A hardware breakpoint on the instruction right behind the access: RF would hide it. */
TEST_F(refused, a_hardware_breakpoint_behind_an_access_is_hit)
{
	struct user_regs_struct registers;
	int status;
	pid_t child;

	holder_give_back(&self->holder);
	child = fork();
	if (!child) {
		volatile uint8_t *place;

		trace_me(&self->holder, &place);
		stepped(place);
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, NULL, 0));
	ASSERT_EQ(0, ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[0]), step_load));
	ASSERT_EQ(0, ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[7]), 1));
	ptrace(PTRACE_CONT, child, NULL, NULL);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_TRUE(WIFSTOPPED(status));
	EXPECT_EQ(SIGTRAP, WSTOPSIG(status));
	ptrace(PTRACE_GETREGS, child, NULL, &registers);
	EXPECT_EQ((uintptr_t)step_load, registers.rip);
	EXPECT_EQ(1, self->control->stores);
	EXPECT_EQ(0, self->control->loads);
	/* And it goes on from there, once. */
	ptrace(PTRACE_CONT, child, NULL, NULL);
	EXPECT_EQ(0, exit_of(child));
	EXPECT_EQ(1, self->control->loads);
}

TEST_HARNESS_MAIN
