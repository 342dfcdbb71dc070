/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Has a hardware breakpoint until the machine ends, at a function that is never
 * called. The kernel patches __schedule() for the first perf event of a task, and
 * back a second after the last: init says why it must not do so while tests run.
 *
 * Returns when the breakpoint is there; a process in the background holds it.
 */
#define _GNU_SOURCE
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static void never_called(void)
{
}

/* The event belongs to this process: it ends with it, and a fork does not have it. */
static int set_breakpoint(void)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attributes),
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = (uintptr_t)never_called,
		.bp_len = sizeof(long),
	};

	return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int main(void)
{
	char is_set = 0;
	int ready[2];
	pid_t child;

	if (pipe(ready) || (child = fork()) < 0) {
		perror("hold_breakpoint");
		return 1;
	}
	if (child == 0) {
		close(ready[0]);
		if (set_breakpoint() < 0) {
			perror("hold_breakpoint: perf_event_open");
			_exit(1);
		}
		/* A shell's Ctrl-C is not meant for it. */
		setsid();
		is_set = write(ready[1], "1", 1) == 1;
		close(ready[1]);
		while (is_set)
			pause();
		_exit(1);
	}
	close(ready[1]);
	return read(ready[0], &is_set, 1) == 1 ? 0 : 1;
}
