/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Accesses a device, lets itself have no system call but those that end it, and ends by _exit(3). */
#include "contract.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

static void filter(void)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog all = { sizeof(program) / sizeof(program[0]), program };

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all));
}

int main(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, open_or_die("/dev/maple0"), 0);

	CHECK(page != MAP_FAILED);
	for (int i = 0; i < 10; i++)
		(void)load32(page, DEBUG, 0);
	filter();
	_exit(3);
}
