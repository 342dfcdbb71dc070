/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A program that has a device, as people are told of it. */
#ifndef MIMICD_PROGRAM_H
#define MIMICD_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

struct mimicd_program {
	pid_t pid;	/* 0: not in our pid namespace */
	uid_t uid;
	char name[16];	/* of the kernel's for its first thread */
	bool is_machine;	/* a virtual machine, or a program in one; pid is its QEMU's */
	bool was_reported;	/* a device's report about it is in the log */
};

/* Root and the daemon's user: those that may stop the daemon. */
static inline bool mimicd_may_manage(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

#endif
