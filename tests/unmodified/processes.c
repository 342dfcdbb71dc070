/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* fork, vfork, exec and posix_spawn beside devices. */
#include "contract.h"

#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

static int wait_for(pid_t child)
{
	int status;

	CHECK(waitpid(child, &status, 0) == child);
	return status;
}

static void use(void *page)
{
	load32(page, RESET, 0);
	CHECK(load32(page, INIT, WORDS_8) == 2);
	open_both(page, 0);
	store32(page, PRODUCE, 0, 5);
	CHECK(load32(page, CONSUME, 0) == 5);
}

/* Pages of a node stay with the parent: an access of the child is a bus error. */
static void child_touches_node(void *page)
{
	pid_t child = fork();

	if (child == 0) {
		load32(page, CONSUME, 0);
		_exit(0);
	}
	CHECK(child > 0);
	CHECK(WTERMSIG(wait_for(child)) == SIGBUS);
}

/* A physical address gives the child an instance of its own, as after power-on. */
static void child_touches_tile(void *page)
{
	pid_t child;

	use(page);
	store32(page, PRODUCE, 0, 31);
	child = fork();
	if (child == 0) {
		CHECK(load64(page, OPEN_PRODUCER, 0) == 0);	/* no queue yet */
		use(page);
		_exit(7);
	}
	CHECK(child > 0);
	CHECK(WEXITSTATUS(wait_for(child)) == 7);
	CHECK(load32(page, CONSUME, 0) == 31);
}

static void child_opens(void)
{
	pid_t child = fork();

	if (child == 0) {
		use(map_or_die(open_or_die("/dev/maple1"), 0));
		_exit(8);
	}
	CHECK(child > 0);
	CHECK(WEXITSTATUS(wait_for(child)) == 8);
}

/* The new programs get an empty environment, and their devices none the less. */
static void start_programs(const char *self)
{
	char *arguments[] = { (char *)self, "again", NULL };
	char *empty[] = { NULL };
	pid_t child = vfork();

	if (child == 0) {
		execve(self, arguments, empty);
		_exit(100);
	}
	CHECK(child > 0);
	CHECK(WEXITSTATUS(wait_for(child)) == 9);
	child = fork();
	if (child == 0) {
		execle(self, self, "again", (char *)NULL, empty);
		_exit(100);
	}
	CHECK(WEXITSTATUS(wait_for(child)) == 9);
	child = fork();
	if (child == 0) {
		clearenv();
		execl(self, self, "again", (char *)NULL);
		_exit(100);
	}
	CHECK(WEXITSTATUS(wait_for(child)) == 9);
	CHECK(posix_spawn(&child, self, NULL, NULL, arguments, empty) == 0);
	CHECK(WEXITSTATUS(wait_for(child)) == 9);
}

int main(int argc, char **argv)
{
	void *node;
	void *tile;

	if (argc > 1) {
		use(map_or_die(open_or_die("/dev/maple1"), 0));
		use(map_or_die(open_or_die("/dev/mem"), tile_address(PHYSICAL_MAPLE, 0)));
		return 9;
	}
	node = map_or_die(open_or_die("/dev/maple0"), 0);
	tile = map_or_die(open_or_die("/dev/mem"), tile_address(PHYSICAL_MAPLE, 2));
	use(node);
	child_touches_node(node);
	child_touches_tile(tile);
	child_opens();
	start_programs(argv[0]);
	use(node);
	return 0;
}
