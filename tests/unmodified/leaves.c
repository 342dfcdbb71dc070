/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Ends by _exit(), and so does its child, each after accesses by one and the same instruction: eight of
 * the parent before the fork, three of the child, four more of the parent.
 */
#include "contract.h"

#include <sys/wait.h>

static __attribute__((noinline)) void load(const volatile char *page, int count)
{
	while (count-- > 0)
		(void)*(const volatile uint32_t *)(page + (DEBUG << 3));
}

static const volatile char *map_page(const char *path)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, open_or_die(path), 0);

	CHECK(page != MAP_FAILED);
	return page;
}

int main(void)
{
	const volatile char *page = map_page("/dev/maple0");
	pid_t child;
	int status;

	load(page, 8);
	child = fork();
	if (!child) {
		load(map_page("/dev/maple1"), 3);
		_exit(5);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5);
	load(page, 4);
	_exit(6);
}
