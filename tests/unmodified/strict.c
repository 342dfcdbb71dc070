/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Strict seccomp: from then on the kernel kills for any system call but read, write, exit and
 * sigreturn. Loads and stores are none, and a device in this process needs none for them. With an
 * argument the instructions have trapped before.
 */
#include "contract.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>

static void end(int status)
{
	/* exit() and _exit() make another call, exit_group. */
	__asm__ volatile("syscall" : : "a"(SYS_exit), "D"(status) : "rcx", "r11", "memory");
	__builtin_unreachable();
}

static int use(void *page, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		store32(page, PRODUCE, 0, i);
		if (load32(page, CONSUME, 0) != i)
			return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	void *page = map_node("/dev/maple0", WORDS_8);

	(void)argv;
	open_both(page, 0);
	if (argc > 1)
		CHECK(use(page, 100));
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
	end(use(page, 2000) ? 0 : 1);
	return 1;
}
