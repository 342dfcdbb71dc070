/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A program that the command waits for: it passes signals on, and ends with the program's status. */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmimic/base/clock.h"
#include "tools/common/tools.h"

/* Time for its threads to print why they wait, at the time limit; and time to end by itself then.
 */
#define LAST_WORDS_NS 500000000ull
#define KILL_NS 2000000000ull
/* The time between two checks, where the kernel cannot say when it ends. */
#define LOOK_MS 20

static pid_t child;

static bool is_key(int number)
{
	return number == SIGINT || number == SIGQUIT;
}

/* A key of the terminal reaches the program, too; a process that sends a signal to us means the program. */
static void forward(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (child > 0 && !(is_key(number) && info->si_code == SI_KERNEL))
		kill(child, number);
}

static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT };

static void handle_signals(void)
{
	struct sigaction action = { .sa_sigaction = forward, .sa_flags = SA_RESTART | SA_SIGINFO };

	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaction(forwarded[i], &action, NULL);
}

static void block_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&set, forwarded[i]);
	sigprocmask(how, &set, NULL);
}

/* The child is known, and signals go to it. false: there is none, which is reported. */
static bool start(char **argv, void (*prepare)(void))
{
	sigset_t before;

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
	if (child > 0)
		handle_signals();
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (child < 0)
		tool_error(-1, "%s: %s", argv[0], strerror(errno));
	return child > 0;
}

int tool_child_run(char **argv, void (*prepare)(void))
{
	int status;

	if (!start(argv, prepare))
		return -1;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	/* From here on there is no process to forward signals to. */
	child = 0;
	return status;
}

/* --- with a limit ------------------------------------------------------------------------- */

/* An hour at most. */
static int milliseconds(uint64_t nanoseconds)
{
	return nanoseconds < 3600000000000ull ? (int)(nanoseconds / 1000000 + 1) : 3600000;
}

/* Its wait status, or -1: it still runs at the time `end`. */
static int wait_until(uint64_t end)
{
	struct pollfd entry = { .fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN };
	uint64_t now;
	int status;

	while (waitpid(child, &status, WNOHANG) == 0) {
		now = mimic_now();
		if (now >= end) {
			status = -1;
			break;
		}
		poll(&entry, 1, entry.fd < 0 ? LOOK_MS : milliseconds(end - now));
	}
	close(entry.fd);
	return status;
}

static void say_thread(const char *number)
{
	char path[80], name[32] = "", where[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/comm", (int)child, number);
	file = fopen(path, "re");
	if (file && fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = 0;
	if (file)
		fclose(file);
	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/wchan", (int)child, number);
	file = fopen(path, "re");
	if (file && !fgets(where, sizeof(where), file))
		where[0] = 0;
	if (file)
		fclose(file);
	/* The kernel shows this of a thread that runs, or shows nothing. */
	if (where[0] && strcmp(where, "0") != 0)
		tool_error(0, "run: thread %s (%s) sleeps in the kernel (%s)", number, name, where);
	else
		tool_error(0, "run: thread %s (%s) is at work", number, name);
}

static void say_threads(void)
{
	char path[40];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)child);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] != '.')
			say_thread(entry->d_name);
	}
	if (folder)
		closedir(folder);
}

/* The program and its children, except those with a process group of their own. */
static int end_child(void)
{
	int status;

	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	kill(0, SIGCONT);
	status = wait_until(mimic_now() + KILL_NS);
	if (status != -1)
		return status;
	kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int tool_child_run_for(char **argv, double seconds, bool *is_late)
{
	uint64_t end = mimic_now() + (uint64_t)(seconds * 1e9);
	char text[24];
	int status;

	*is_late = false;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)end);
	setenv("MIMIC_TIMEOUT_AT", text, 1);
	/* As timeout(1): processes that the program starts are in this group, too. It fails where we lead one. */
	setpgid(0, 0);
	if (!start(argv, NULL))
		return -1;
	status = wait_until(end);
	/* The library's threads print at `end` why they wait. */
	if (status == -1)
		status = wait_until(end + LAST_WORDS_NS);
	if (status == -1) {
		*is_late = true;
		tool_error(0, "run: %s has run for %g s, and is ended", argv[0], seconds);
		say_threads();
		status = end_child();
	}
	child = 0;
	return status;
}

/* A core dump of this process is of no use. */
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
