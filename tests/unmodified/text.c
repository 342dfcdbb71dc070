/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Text that does not stay: unmapped and mapped again with other code, written by the program itself, code
 * that is in no file, a device's page that becomes memory, children that inherit replaced text.
 */
#include "contract.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

typedef uint32_t (*load_function)(volatile void *);

/* mov (%rdi), %eax; add $VALUE, %eax; ret; and room that a jump could borrow from */
static void make_code(uint8_t *code, uint8_t value)
{
	const uint8_t bytes[] = { 0x8b, 0x07, 0x83, 0xc0, value, 0xc3, 0x90, 0x90, 0x48, 0x01, 0xc1 };

	memcpy(code, bytes, sizeof(bytes));
}

/* mov 0(%rdi), %eax with four bytes of displacement: replaced by a whole jump. */
static void make_long_code(uint8_t *code, uint8_t value)
{
	const uint8_t bytes[] = { 0x8b, 0x87, 0, 0, 0, 0, 0x83, 0xc0, value, 0xc3 };

	memcpy(code, bytes, sizeof(bytes));
}

static volatile char *device;

/* The function adds `value` to the loaded word; of the device it pops a word that was pushed before. */
static void check_function(load_function function, uint8_t value)
{
	volatile uint32_t memory = 1000;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		store32(device, PRODUCE, 0, 500 + i);
		CHECK(function(device + (CONSUME << 3)) == 500 + i + value);
		CHECK(function(&memory) == 1000u + value);
	}
}

static int make_file(char *path, uint8_t value, int is_long)
{
	uint8_t code[PAGE] = { 0 };
	int file = mkstemp(path);

	CHECK(file >= 0);
	if (is_long)
		make_long_code(code, value);
	else
		make_code(code, value);
	CHECK(write(file, code, sizeof(code)) == sizeof(code));
	return file;
}

static void *map_file(int file, void *at, int protection)
{
	void *text = mmap(at, PAGE, protection, MAP_PRIVATE | (at ? MAP_FIXED : 0), file, 0);

	CHECK(text != MAP_FAILED);
	return text;
}

static void check_other_text_at_the_same_address(int is_long)
{
	char first[] = "/tmp/mimic-text-XXXXXX", second[] = "/tmp/mimic-text-XXXXXX";
	int files[2] = { make_file(first, 11, is_long), make_file(second, 22, is_long) };
	void *text = map_file(files[0], NULL, PROT_READ | PROT_EXEC);
	unsigned int i;

	check_function((load_function)text, 11);
	/* Mapped over it, and unmapped first. */
	map_file(files[1], text, PROT_READ | PROT_EXEC);
	check_function((load_function)text, 22);
	CHECK(!munmap(text, PAGE));
	map_file(files[0], text, PROT_READ | PROT_EXEC);
	check_function((load_function)text, 11);
	CHECK(!munmap(text, PAGE));
	for (i = 0; i < 2; i++)
		close(files[i]);
	unlink(first);
	unlink(second);
}

static void check_text_that_the_program_writes(int is_long)
{
	char path[] = "/tmp/mimic-text-XXXXXX";
	int file = make_file(path, 33, is_long);
	uint8_t *text = map_file(file, NULL, PROT_READ | PROT_EXEC);

	check_function((load_function)text, 33);
	CHECK(!mprotect(text, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC));
	/* The program reads its own byte, not the patched one. */
	CHECK(text[0] == 0x8b);
	if (is_long)
		make_long_code(text, 44);
	else
		make_code(text, 44);
	check_function((load_function)text, 44);
	CHECK(!mprotect(text, PAGE, PROT_READ | PROT_EXEC));
	check_function((load_function)text, 44);
	munmap(text, PAGE);
	close(file);
	unlink(path);
}

static void check_code_of_no_file(void)
{
	uint8_t *code =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(code != MAP_FAILED);
	make_long_code(code, 55);
	check_function((load_function)code, 55);
	CHECK(code[0] == 0x8b);
	make_long_code(code, 66);
	check_function((load_function)code, 66);
	munmap(code, PAGE);
}

/* One instruction, at which a debugger can set a breakpoint. */
uint32_t load_at(volatile char *base);
__asm__("	.text\n"
	"	.globl	load_at\n"
	"	.type	load_at, @function\n"
	"load_at:\n"
	"	.cfi_startproc\n"
	"	mov	0x1234(%rdi), %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	load_at, . - load_at\n");

static __attribute__((noinline)) uint32_t load_here(volatile void *address)
{
	return load_at((volatile char *)address - 0x1234);
}

static __attribute__((noinline)) uint32_t load_there(volatile void *address)
{
	uint32_t value;

	__asm__ volatile("movl 0x4321(%1), %0" : "=r"(value) : "r"((volatile char *)address - 0x4321));
	return value;
}

/* The device's page is unmapped, and memory is mapped there; then a device again. */
static void check_another_thing_at_the_pages_address(void)
{
	int file = open_or_die("/dev/maple1");
	volatile char *page = map_or_die(file, 0);
	unsigned int i;

	for (i = 0; i < 3; i++)
		load_here(page + (DEBUG << 3));
	CHECK(!munmap((void *)page, PAGE) && !close(file));
	CHECK(mmap((void *)page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		   0) == page);
	*(volatile uint32_t *)(page + 64) = 4321;
	for (i = 0; i < 3; i++)
		CHECK(load_here(page + 64) == 4321);
	CHECK(!munmap((void *)page, PAGE));
	CHECK(load_here(device + (DEBUG << 3)) == load_here(device + (DEBUG << 3)));
}

/* A child has the jumps, and no devices; it may open its own. */
static void check_child(void)
{
	static int word = 7;
	int status;
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		volatile char *own;

		CHECK(load_here(&word) == 7);
		own = map_node("/dev/maple1", WORDS_16);
		open_both((void *)own, 0);
		store32(own, PRODUCE, 0, 99);
		CHECK(load_here(own + (CONSUME << 3)) == 99);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		load_here(device + (DEBUG << 3));
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	child = vfork();
	if (!child) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* A page without the right to be loaded from: the program's own fault, at its own instruction. */
static void on_fault(int number, siginfo_t *information, void *context)
{
	(void)number;
	(void)context;
	_exit(information->si_addr == device + (DEBUG << 3) ? 0 : 4);
}

static void check_protection(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	int status;
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		device = map_or_die(open_or_die("/dev/maple1"), 0);
		load_here(device + (DEBUG << 3));
		load_here(device + (DEBUG << 3));
		sigaction(SIGSEGV, &action, NULL);
		CHECK(!mprotect((void *)device, PAGE, PROT_NONE));
		load_here(device + (DEBUG << 3));
		_exit(5);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* A filter forbids the calls that change text: replaced instructions go on, and others trap. */
static void check_filter(void)
{
	int status;
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		volatile char *page = map_or_die(open_or_die("/dev/maple1"), 0);
		struct sock_filter filter[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 4, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 3, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 2, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		};
		struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

		load_here(page + (DEBUG << 3));
		load_here(page + (DEBUG << 3));
		CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
		      !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
		load_here(page + (DEBUG << 3));
		load_there(page + (DEBUG << 3));
		load_there(page + (DEBUG << 3));
		syscall(SYS_exit_group, 0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* Rights of memory change without a system call that the program has not made. */
static void check_rights_under_a_filter(void)
{
	int status;
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct sock_filter filter[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 1, 0),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		};
		struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

		CHECK(memory != MAP_FAILED);
		CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
		      !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
		CHECK(!mprotect(memory, PAGE, PROT_READ) && !mprotect(memory, PAGE, PROT_READ | PROT_WRITE));
		syscall(SYS_exit_group, 0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
	device = map_node("/dev/maple0", WORDS_16);
	open_both((void *)device, 0);
	check_other_text_at_the_same_address(1);
	check_other_text_at_the_same_address(0);
	check_text_that_the_program_writes(1);
	check_text_that_the_program_writes(0);
	check_code_of_no_file();
	check_another_thing_at_the_pages_address();
	check_child();
	check_protection();
	check_filter();
	check_rights_under_a_filter();
	return 0;
}
