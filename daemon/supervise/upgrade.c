/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/supervise/upgrade.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "daemon/loop/log.h"

#define STAYS "the daemon that runs stays"

/* The daemon's, and --check. NULL: no memory. */
static char **check_arguments(char *const *arguments)
{
	static char check[] = "--check";
	size_t count = 0;
	char **list;

	while (arguments[count])
		count++;
	list = calloc(count + 2, sizeof(*list));
	if (!list)
		return NULL;
	memcpy(list, arguments, count * sizeof(*list));
	list[count] = check;
	return list;
}

static int start_checker(struct mimicd_upgrade *upgrade, const struct mimicd_child *child,
			 const struct mimicd_kept *kept)
{
	struct mimicd_child checker = *child;
	char **arguments = check_arguments(child->arguments);
	pid_t pid;

	if (!arguments)
		return -ENOMEM;
	checker.program = upgrade->program;
	checker.arguments = arguments;
	checker.is_watched = false;
	pid = mimicd_child_start(&checker, kept);
	free(arguments);
	if (pid < 0)
		return (int)pid;
	upgrade->checker = pid;
	return 0;
}

bool mimicd_upgrade_begin(struct mimicd_upgrade *upgrade, const struct mimicd_child *child,
			  const struct mimicd_kept *kept, uint64_t end_ms)
{
	const char *path = child->program.path;
	int error;

	upgrade->is_wanted = upgrade->fits = false;
	upgrade->end_ms = end_ms;
	error = mimicd_program_open(&upgrade->program, path);
	if (!error && mimicd_program_is_same(&upgrade->program, &child->program)) {
		mimicd_log(MIMICD_LOG_INFO, "upgrade: %s is the program that runs", path);
		mimicd_program_close(&upgrade->program);
		return false;
	}
	if (!error)
		error = start_checker(upgrade, child, kept);
	if (!error)
		return true;
	mimicd_log(MIMICD_LOG_ERROR, "upgrade: %s cannot be started: %s; " STAYS, path, strerror(-error));
	mimicd_program_close(&upgrade->program);
	return false;
}

static bool is_over(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

bool mimicd_upgrade_has_ended(struct mimicd_upgrade *upgrade, uint64_t now_ms)
{
	if (upgrade->checker < 0)
		return false;
	if (is_over(upgrade->checker))
		return true;
	if (now_ms < upgrade->end_ms)
		return false;
	mimicd_log(MIMICD_LOG_ERROR, "upgrade: %s does not answer in time whether it fits; " STAYS,
		   upgrade->program.path);
	mimicd_upgrade_cancel(upgrade);
	return false;
}

bool mimicd_upgrade_decide(struct mimicd_upgrade *upgrade)
{
	char text[64];
	int status;

	if (waitpid(upgrade->checker, &status, 0) != upgrade->checker)
		status = -1;
	upgrade->checker = -1;
	if (!status && upgrade->fits)
		return true;
	mimicd_child_describe_end(status, text, sizeof(text));
	mimicd_log(MIMICD_LOG_ERROR, "upgrade: %s is refused: its check %s%s; " STAYS, upgrade->program.path,
		   text, status ? "" : ", but it did not say that it fits");
	mimicd_program_close(&upgrade->program);
	return false;
}

void mimicd_upgrade_cancel(struct mimicd_upgrade *upgrade)
{
	if (upgrade->checker > 0) {
		kill(upgrade->checker, SIGKILL);
		waitpid(upgrade->checker, NULL, 0);
	}
	upgrade->checker = -1;
	mimicd_program_close(&upgrade->program);
}
