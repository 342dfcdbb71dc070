/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/kselftest/lib/fail_nth.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/kselftest/lib/memory.h"

#define FAIL_NTH "/proc/thread-self/fail-nth"

/* Allocations that may sleep are left out by default. */
bool fail_nth_is_possible(void)
{
	return !access(FAIL_NTH, W_OK) && memory_write_text("/sys/kernel/debug/failslab/ignore-gfp-wait", "N") &&
	       memory_write_text("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N") &&
	       memory_write_text("/sys/kernel/debug/fail_page_alloc/min-order", "0");
}

int fail_nth_open(void)
{
	return open(FAIL_NTH, O_RDWR | O_CLOEXEC);
}

bool fail_nth_arm(int fd, int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", n);
	return pwrite(fd, text, strlen(text), 0) > 0;
}

bool fail_nth_disarm(int fd)
{
	return fail_nth_arm(fd, 0);
}

bool fail_nth_is_armed(int fd)
{
	char text[16] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 && atoi(text);
}

int fail_nth_sweep_of(int fd, fail_nth_call call, void (*undo)(void *argument), void *argument)
{
	int injected = 0;

	for (int n = 1; n <= FAIL_NTH_MOST; n++) {
		long result;
		bool is_over;

		if (!fail_nth_arm(fd, n))
			break;
		result = call(argument);
		is_over = fail_nth_is_armed(fd);
		if (!fail_nth_disarm(fd))
			break;
		if (!result && undo)
			undo(argument);
		if (is_over)
			return result ? -2 : injected;
		injected++;
	}
	return -1;
}

int fail_nth_sweep(fail_nth_call call, void (*undo)(void *argument), void *argument)
{
	int fd = fail_nth_open();
	int injected = fail_nth_sweep_of(fd, call, undo, argument);

	close(fd);
	return injected;
}
