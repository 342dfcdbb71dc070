/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A program that the command stays with: signals go through, and its end is ours. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/common/tools.h"

static pid_t child;

/* From a terminal the program has it, too; from elsewhere it is the program that is meant. */
static void forward(int number)
{
	if (child > 0)
		kill(child, number);
}

static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
static const int ignored[] = { SIGINT, SIGQUIT };

static void handle_signals(void)
{
	struct sigaction action = { .sa_handler = forward, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaction(forwarded[i], &action, NULL);
	action.sa_handler = SIG_IGN;
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		sigaction(ignored[i], &action, NULL);
}

static void block_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&set, forwarded[i]);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		sigaddset(&set, ignored[i]);
	sigprocmask(how, &set, NULL);
}

int tool_child_run(char **argv, void (*prepare)(void))
{
	sigset_t before;
	int status;

	sigprocmask(SIG_SETMASK, NULL, &before);
	/* A signal that comes before we know the child is one for the child. */
	block_signals(SIG_BLOCK);
	child = fork();
	if (!child) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		if (prepare)
			prepare();
		_exit(tool_run_become(argv));
	}
	if (child < 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return tool_error(-1, "%s: %s", argv[0], strerror(errno));
	}
	handle_signals();
	sigprocmask(SIG_SETMASK, &before, NULL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	/* From here on there is nobody to forward to. */
	child = 0;
	return status;
}

/* A core of ours is of no use. */
int tool_child_end_as(int status)
{
	const struct rlimit no_core = { 0, 0 };

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}
