/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* fork and other ways to a child, vfork, exec and posix_spawn beside devices. */
#include "contract.h"

#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
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

/* --- children ------------------------------------------------------------------- */

static int touch_node(void *page)
{
	load32(page, CONSUME, 0);
	_exit(0);
}

static int touch_tile(void *page)
{
	CHECK(load64(page, OPEN_PRODUCER, 0) == 0);	/* no queue yet */
	use(page);
	_exit(7);
}

static int open_another(void *unused)
{
	(void)unused;
	use(map_or_die(open_or_die("/dev/maple1"), 0));
	_exit(8);
}

typedef pid_t (*way_to_child)(int (*child)(void *page), void *page);

static pid_t by_fork(int (*child)(void *page), void *page)
{
	pid_t pid = fork();

	return pid ? pid : child(page);
}

static pid_t by_fork_of_handlers(int (*child)(void *page), void *page)
{
	pid_t pid = _Fork();

	return pid ? pid : child(page);
}

static pid_t by_call(int (*child)(void *page), void *page)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	return pid ? pid : child(page);
}

static pid_t by_clone(int (*child)(void *page), void *page)
{
	static _Alignas(64) char stack[1 << 16];

	return clone(child, stack + sizeof(stack), SIGCHLD, page);
}

static int status_of(way_to_child way, int (*child)(void *page), void *page)
{
	pid_t pid = way(child, page);

	CHECK(pid > 0);
	return wait_for(pid);
}

static void make_children(way_to_child way, void *node, void *tile)
{
	/* Pages of a node stay with the parent: an access of the child is a bus error. */
	CHECK(WTERMSIG(status_of(way, touch_node, node)) == SIGBUS);
	use(tile);
	store32(tile, PRODUCE, 0, 31);
	/* A physical address gives the child an instance of its own, as after power-on. */
	CHECK(WEXITSTATUS(status_of(way, touch_tile, tile)) == 7);
	CHECK(load32(tile, CONSUME, 0) == 31);
	CHECK(WEXITSTATUS(status_of(way, open_another, NULL)) == 8);
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
	static const way_to_child ways[] = { by_fork, by_fork_of_handlers, by_call, by_clone };
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
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		make_children(ways[i], node, tile);
	start_programs(argv[0]);
	use(node);
	return 0;
}
