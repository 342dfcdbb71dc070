/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/demo_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM_SECONDS 300	/* a program that takes longer hangs */

volatile sig_atomic_t demo_interrupted;

int demo_complain(const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	fputs("demo: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return -1;
}

int64_t demo_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

pid_t demo_start(char **arguments, int output)
{
	pid_t parent = getpid(), child;

	fflush(NULL);
	child = fork();
	if (child != 0)
		return child;
	/* Nothing that we start outlives us, however we end. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	if (output >= 0)
		dup2(output, STDOUT_FILENO);
	execv(arguments[0], arguments);
	fprintf(stderr, "demo: cannot run %s: %s\n", arguments[0], strerror(errno));
	_exit(127);
}

int demo_finish(pid_t child, int64_t limit_ms)
{
	int64_t deadline = demo_now_ms() + limit_ms;
	int status;

	while (waitpid(child, &status, WNOHANG) == 0) {
		if (demo_now_ms() >= deadline)
			kill(child, SIGKILL);
		usleep(2000);
	}
	return status;
}

/* Reads a program's output until it is closed. NULL: a timeout, or the demo is to stop. */
static char *read_output(int descriptor)
{
	int64_t deadline = demo_now_ms() + PROGRAM_SECONDS * 1000;
	size_t size = 0, room = 1 << 14;
	char *text = malloc(room);

	while (text && !demo_interrupted && demo_now_ms() < deadline) {
		struct pollfd poll_descriptor = { .fd = descriptor, .events = POLLIN };
		ssize_t got;

		if (poll(&poll_descriptor, 1, 100) <= 0)
			continue;
		if (size + 1 == room) {
			char *larger = realloc(text, room *= 2);

			if (!larger)
				break;
			text = larger;
		}
		got = read(descriptor, text + size, room - size - 1);
		if (got == 0) {
			text[size] = '\0';
			return text;
		}
		size += got > 0 ? (size_t)got : 0;
	}
	free(text);
	return NULL;
}

struct json_object *demo_run_program(char **arguments, int *status, demo_watcher *watch, void *context)
{
	struct json_object *report;
	int ends[2];
	char *text;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC)) {
		demo_complain("no pipe: %s", strerror(errno));
		return NULL;
	}
	child = demo_start(arguments, ends[1]);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		demo_complain("cannot start %s: %s", arguments[0], strerror(errno));
		return NULL;
	}
	if (watch)
		watch(context, child);
	text = read_output(ends[0]);
	close(ends[0]);
	if (!text)
		kill(child, SIGTERM);
	*status = demo_finish(child, 2000);
	if (!text) {
		demo_complain("%s %s", arguments[0], demo_interrupted ? "was stopped" : "did not end");
		return NULL;
	}
	report = json_tokener_parse(text);
	free(text);
	if (!report && WIFSIGNALED(*status))
		demo_complain("%s was killed by signal %d", arguments[0], WTERMSIG(*status));
	else if (!report)
		demo_complain("%s ended with status %d and no report", arguments[0], WEXITSTATUS(*status));
	return report;
}
