/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Children of the program. fork() calls the functions that pthread_atfork() was told of. The other ways to a
 * child with a copy of the program's memory do not, so they are functions of ours.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <unistd.h>

#include "libmimic/base/fork.h"
#include "patch.h"
#include "preload.h"

static struct mimic_preload_lock fork_lock;

static void before_fork(void)
{
	mimic_preload_lock(&fork_lock);
	mimic_preload_patch_before_fork();
}

static void after_fork_in_parent(void)
{
	mimic_preload_patch_after_fork();
	mimic_preload_unlock(&fork_lock);
}

static void after_fork_in_child(void)
{
	mimic_preload_patch_after_fork();
	mimic_preload_patch_count_anew();
	mimic_preload_accesses_after_fork();
	mimic_preload_files_after_fork();
	mimic_preload_mappings_after_fork();
	mimic_preload_threads_after_fork();
	mimic_preload_unlock(&fork_lock);
}

void mimic_preload_fork_start(void)
{
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* --- ways that pthread_atfork() does not know --------------------------------------- */

/* In the order in which fork() calls them: ours is told of first. */
static void after_other_fork_in_child(void)
{
	after_fork_in_child();
	mimic_fork_happened();
}

long mimic_preload_fork_by_call(long number, const long *arguments)
{
	long child;

	before_fork();
	child = mimic_raw_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
				  arguments[5]);
	if (child)
		after_fork_in_parent();
	else
		after_other_fork_in_child();
	return child;
}

/* Of glibc 2.34, for signal handlers. */
EXPORT pid_t _Fork(void)
{
	pid_t child;
	int error;

	before_fork();
	child = NEXT(_Fork)();
	error = errno;
	if (child)
		after_fork_in_parent();
	else
		after_other_fork_in_child();
	errno = error;
	return child;
}

struct start {
	int (*function)(void *argument);
	void *argument;
};

static int start_child(void *context)
{
	const struct start *start = context;

	after_other_fork_in_child();
	return start->function(start->argument);
}

EXPORT int clone(int (*function)(void *argument), void *stack, int flags, void *argument, ...)
{
	struct start start = { function, argument };
	void *more[3];
	va_list list;
	int child, error;

	va_start(list, argument);
	for (int i = 0; i < 3; i++)
		more[i] = va_arg(list, void *);
	va_end(list);
	/* A thread, or a child that only starts a program; our lock would be held until then. */
	if (flags & (CLONE_VM | CLONE_VFORK) || !function || !stack)
		return NEXT(clone)(function, stack, flags, argument, more[0], more[1], more[2]);
	before_fork();
	/* The child has a copy of our stack. */
	child = NEXT(clone)(start_child, stack, flags, &start, more[0], more[1], more[2]);
	error = errno;
	after_fork_in_parent();
	errno = error;
	return child;
}
