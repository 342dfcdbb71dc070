/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/supervise/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/loop/log.h"

#define STATUS_NOT_RUN 127	/* as of a shell */

static int set_number(const char *name, long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", number);
	return setenv(name, text, 1) ? -errno : 0;
}

static int set_environment(const struct mimicd_child *child, const struct mimicd_kept *kept)
{
	char *names;
	int error = 0;

	if (setenv("NOTIFY_SOCKET", child->notify_name, 1))
		return -errno;
	if (child->is_watched)
		error = set_number("WATCHDOG_PID", getpid());
	if (error || !kept->count)
		return error;
	names = mimicd_kept_names(kept);
	if (!names || setenv("LISTEN_FDNAMES", names, 1))
		error = -ENOMEM;
	free(names);
	if (!error)
		error = set_number("LISTEN_FDS", (long)kept->count);
	return error ? error : set_number("LISTEN_PID", getpid());
}

static void end_with_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(STATUS_NOT_RUN);
}

_Noreturn static void run(const struct mimicd_child *child, const struct mimicd_kept *kept, pid_t parent)
{
	struct mimicd_kept own = *kept;
	int error, program;

	end_with_parent(parent);
	error = set_environment(child, &own);
	/* Out of the way of those that are lined up. */
	program = fcntl(child->program.fd, F_DUPFD_CLOEXEC, MIMICD_KEPT_FIRST + (int)own.count);
	if (!error && program < 0)
		error = -errno;
	if (!error)
		error = mimicd_kept_line_up(&own);
	if (!error) {
		sigprocmask(SIG_SETMASK, &child->mask, NULL);
		fexecve(program, child->arguments, environ);
		error = -errno;
	}
	mimicd_log(MIMICD_LOG_ERROR, "%s: cannot be run with %zu descriptors: %s", child->program.path, own.count,
		   strerror(-error));
	_exit(STATUS_NOT_RUN);
}

pid_t mimicd_child_start(const struct mimicd_child *child, const struct mimicd_kept *kept)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (!pid)
		run(child, kept, parent);
	return pid < 0 ? -errno : pid;
}

void mimicd_child_describe_end(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "ended with status %d", WEXITSTATUS(status));
}
