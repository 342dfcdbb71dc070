/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Programs of 32 bits: refused, with a message, when they open a device. The test is one of
 * 64 bits that makes the system call, and jumps to code, of 32.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/memory.h"

#define OPEN_OF_32_BITS 5

FIXTURE(bits32) {
	struct holder holder;
	char *low;	/* a page that 32 bits can name */
};

FIXTURE_SETUP(bits32)
{
	ASSERT_EQ(0, holder_start(&self->holder, NULL));
	self->low = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->low);
}

FIXTURE_TEARDOWN(bits32)
{
	munmap(self->low, PAGE);
	holder_stop(&self->holder);
}

/* open() as such a program makes it: a descriptor or -errno. */
static long open_of_32_bits(char *low, const char *path)
{
	long result;

	strcpy(low, path);
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(OPEN_OF_32_BITS), "b"(low), "c"(O_RDWR), "d"(0)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}

/* In a child: where a kernel has none of them, the instruction is a fault. */
static bool has_such_calls(char *low)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(open_of_32_bits(low, "/dev/null") < 0);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool log_says(const char *wanted)
{
	static char text[1 << 20];
	int length = klogctl(3, text, sizeof(text) - 1);

	text[length > 0 ? length : 0] = 0;
	return strstr(text, wanted);
}

struct far {
	void *code;
	void *place;
};

/* No call: QEMU's (seen with 7.2) stores the return address by 32 bits of the stack pointer. */
static void far_jump(void *argument)
{
	const struct far *far = argument;
	struct {
		uint32_t offset;
		uint16_t selector;
	} __attribute__((packed)) target = { (uint32_t)(uintptr_t)far->code, 0x23 };

	__asm__ volatile("ljmp *%0" : : "m"(target), "c"(far->place) : "memory", "rax");
}

/*
 * A load that is one in code of 64 bits, too: a bus that took it for that would do it. If it goes
 * by, SIGILL.
 */
static void write_code(char *low)
{
	static const char code[] = { (char)0x8b, 0x01, 0x0f, 0x0b };	/* mov (%ecx), %eax; ud2 */

	memcpy(low, code, sizeof(code));
}

TEST_F(bits32, an_open_is_refused_with_a_message)
{
	if (!has_such_calls(self->low))
		SKIP(return, "this kernel runs no programs of 32 bits");
	holder_give_back(&self->holder);
	EXPECT_EQ(-EOPNOTSUPP, open_of_32_bits(self->low, self->holder.daemon->node));
	EXPECT_TRUE(log_says("programs of 32 bits cannot access"));
	/* Other programs can still open it. */
	EXPECT_EQ(0, holder_open(&self->holder));
}

TEST_F(bits32, an_access_by_such_code_is_a_bus_error)
{
	struct far far = { .code = self->low };
	siginfo_t info;
	void *page;

	if (!has_such_calls(self->low))
		SKIP(return, "this kernel runs no programs of 32 bits");
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_32BIT, self->holder.fd, 0);
	ASSERT_NE(MAP_FAILED, page);
	far.place = page;
	write_code(self->low);
	EXPECT_EQ(SIGBUS, signal_of(far_jump, &far, &info));
	EXPECT_EQ(page, info.si_addr);
	munmap(page, PAGE);
}

TEST_HARNESS_MAIN
