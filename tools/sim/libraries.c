/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Which shared libraries a program gets: the loader itself says so. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/sim/sim.h"

void tool_sim_libraries_free(char **libraries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(libraries[i]);
	free(libraries);
}

/* "	libname.so => /path/libname.so (0x7f...)", or without the first half. The path, cut out of it; NULL: there is none. */
static char *take_path(char *line)
{
	char *arrow = strstr(line, " => "), *path = arrow ? arrow + 4 : line + strspn(line, " \t"), *end = strrchr(path, '(');

	if (!end || end == path || end[-1] != ' ' || !strchr(path, '/') || strchr(path, '/') > end)
		return NULL;
	end[-1] = '\0';
	return path;
}

static int read_list(FILE *file, char ***libraries, size_t *count)
{
	char *line = NULL;
	size_t size = 0;
	int error = 0;

	while (!error && getline(&line, &size, file) >= 0) {
		char *path = take_path(line), **larger;

		if (!path)
			continue;
		larger = reallocarray(*libraries, *count + 1, sizeof(**libraries));
		path = strdup(path);
		if (larger)
			*libraries = larger;
		if (larger && path)
			larger[(*count)++] = path;
		else
			error = -ENOMEM;
	}
	free(line);
	return error;
}

/* The start of the program itself reports missing libraries. */
static pid_t start_loader(const char *interpreter, const char *path, int output)
{
	pid_t parent = getpid(), process = fork();

	if (process)
		return process;
	/* No other process reads its list. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_NOT_EXECUTABLE);
	if (dup2(output, STDOUT_FILENO) < 0)
		_exit(EXIT_NOT_EXECUTABLE);
	execl(interpreter, interpreter, "--list", path, (char *)NULL);
	_exit(EXIT_NOT_EXECUTABLE);
}

int tool_sim_libraries(const char *interpreter, const char *path, char ***libraries, size_t *count)
{
	int ends[2], error, status;
	FILE *file;
	pid_t process;

	*libraries = NULL;
	*count = 0;
	if (pipe(ends))
		return tool_error(EXIT_FAILURE, "%s: %s", path, strerror(errno));
	fflush(NULL);
	process = start_loader(interpreter, path, ends[1]);
	close(ends[1]);
	file = process > 0 ? fdopen(ends[0], "r") : NULL;
	if (!file) {
		close(ends[0]);
		return tool_error(EXIT_FAILURE, "%s: its libraries are not known: %s", path, strerror(errno));
	}
	error = read_list(file, libraries, count);
	fclose(file);
	while (waitpid(process, &status, 0) < 0 && errno == EINTR)
		;
	return error ? tool_error(EXIT_FAILURE, "%s: %s", path, strerror(-error)) : 0;
}
