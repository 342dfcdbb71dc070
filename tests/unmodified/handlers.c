/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A program with SIGSEGV and SIGBUS handlers of its own, beside its device accesses. */
#include "contract.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>

#define ROUNDS 200

static sigjmp_buf out;
static void *volatile nowhere;	/* NULL */
static void *page;
static volatile uintptr_t fault_address;
static volatile int fault_count;
static char alternate_stack[65536];

static void use_device(uint32_t value)
{
	store32(page, PRODUCE, 0, value);
	CHECK(load32(page, CONSUME, 0) == value);
}

static void plain_handler(int number)
{
	CHECK(number == SIGSEGV);
	fault_count++;
	siglongjmp(out, 1);
}

static void information_handler(int number, siginfo_t *information, void *context)
{
	(void)context;
	CHECK(number == SIGSEGV && information->si_signo == SIGSEGV);
	fault_address = (uintptr_t)information->si_addr;
	use_device(5);	/* a device access inside of the handler */
	siglongjmp(out, 1);
}

static void fault_at(uintptr_t address)
{
	if (sigsetjmp(out, 1) == 0) {
		*(volatile int *)((char *)nowhere + address) = 1;
		CHECK(!"the store went through");
	}
}

static void catch_many(void)
{
	int i;

	CHECK(signal(SIGSEGV, plain_handler) == SIG_DFL);
	for (i = 0; i < ROUNDS; i++) {
		fault_at(0);
		use_device((uint32_t)i);
	}
	CHECK(fault_count == ROUNDS);
	CHECK(signal(SIGSEGV, SIG_DFL) == plain_handler);
}

static void read_back(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction old;

	action.sa_sigaction = information_handler;
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGUSR1);
	CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
	use_device(1);
	CHECK(sigaction(SIGSEGV, NULL, &old) == 0);
	CHECK(old.sa_sigaction == information_handler);
	CHECK((old.sa_flags & (SA_SIGINFO | SA_NODEFER)) == (SA_SIGINFO | SA_NODEFER));
	CHECK(sigismember(&old.sa_mask, SIGUSR1) == 1 && sigismember(&old.sa_mask, SIGUSR2) == 0);
	fault_at(0x1238);
	CHECK(fault_address == 0x1238);
}

/* The handler runs where and with the mask that the program asked for. */
static void stack_handler(int number)
{
	char here;
	sigset_t mask;

	(void)number;
	CHECK(&here >= alternate_stack && &here < alternate_stack + sizeof(alternate_stack));
	CHECK(sigprocmask(SIG_BLOCK, NULL, &mask) == 0);
	CHECK(sigismember(&mask, SIGUSR2) == 1 && sigismember(&mask, SIGSEGV) == 1);
	CHECK(sigismember(&mask, SIGUSR1) == 0);
	siglongjmp(out, 1);
}

static void plain_stack_handler(int number)
{
	char here;

	(void)number;
	CHECK(&here < alternate_stack || &here >= alternate_stack + sizeof(alternate_stack));
	siglongjmp(out, 1);
}

static void stacks(void)
{
	stack_t stack = { .ss_sp = alternate_stack, .ss_size = sizeof(alternate_stack) };
	struct sigaction action = { .sa_handler = stack_handler, .sa_flags = SA_ONSTACK };
	sigset_t mask;

	CHECK(sigaltstack(&stack, NULL) == 0);
	sigaddset(&action.sa_mask, SIGUSR2);
	CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
	fault_at(0);
	use_device(2);
	CHECK(sigprocmask(SIG_BLOCK, NULL, &mask) == 0);
	CHECK(sigismember(&mask, SIGUSR2) == 0 && sigismember(&mask, SIGSEGV) == 0);
	action.sa_handler = plain_stack_handler;
	action.sa_flags = 0;
	CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
	fault_at(0);
	use_device(3);
}

static void once(void)
{
	struct sigaction action = { .sa_handler = plain_handler, .sa_flags = (int)SA_RESETHAND };
	struct sigaction old;

	CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
	fault_at(0);
	CHECK(sigaction(SIGSEGV, NULL, &old) == 0);
	CHECK(old.sa_handler == SIG_DFL);
	use_device(4);
}

static void returning_handler(int number, siginfo_t *information, void *context)
{
	(void)context;
	CHECK(number == SIGSEGV && information->si_code <= 0);
	CHECK(information->si_pid == getpid());
	fault_count++;
}

/* A signal that is sent is no fault: ignored, or handled, and the program goes on. */
static void sent(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };

	signal(SIGSEGV, SIG_IGN);
	CHECK(raise(SIGSEGV) == 0);
	CHECK(kill(getpid(), SIGSEGV) == 0);
	action.sa_sigaction = returning_handler;
	CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
	fault_count = 0;
	CHECK(raise(SIGSEGV) == 0);
	CHECK(kill(getpid(), SIGSEGV) == 0);
	CHECK(fault_count == 2);
	use_device(6);
}

static void skip_instruction(int number, siginfo_t *information, void *context)
{
	(void)information;
	CHECK(number == SIGBUS);
	(void)context;
	siglongjmp(out, 1);
}

/* A file mapping past the file's end: the program's SIGBUS. */
static void bus_error(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };
	FILE *file = tmpfile();
	volatile char *memory;

	CHECK(file);
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
	CHECK(memory != MAP_FAILED);
	action.sa_sigaction = skip_instruction;
	CHECK(sigaction(SIGBUS, &action, NULL) == 0);
	if (sigsetjmp(out, 1) == 0) {
		*memory = 1;
		CHECK(!"the store went through");
	}
	use_device(7);
}

int main(void)
{
	page = map_node("/dev/maple0", WORDS_8);
	open_both(page, 0);
	catch_many();
	read_back();
	stacks();
	once();
	sent();
	bus_error();
	return 0;
}
