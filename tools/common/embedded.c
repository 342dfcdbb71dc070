/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Processes that show their embedded devices: the sockets that they have in the run-time folder. */
#include <dirent.h>
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmimic/base/kinds.h"
#include "libmimic/embedded/state_socket.h"
#include "tools/common/tools.h"

/* 0: it is no such socket. */
static unsigned int pid_of(const char *name)
{
	const size_t length = strlen(MIMIC_STATE_SOCKET_PREFIX);
	unsigned int pid;

	if (strncmp(name, MIMIC_STATE_SOCKET_PREFIX, length) || !mimic_kind_number(name + length, &pid))
		return 0;
	return pid;
}

static bool is_alive(unsigned int pid)
{
	return !kill((pid_t)pid, 0) || errno != ESRCH;
}

static bool is_socket(const char *path)
{
	struct stat status;

	return !lstat(path, &status) && S_ISSOCK(status.st_mode);
}

static struct json_object *describe(unsigned int pid)
{
	struct json_object *process = json_object_new_object();
	char path[64], program[32] = "?";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	file = fopen(path, "re");
	if (file && fgets(program, sizeof(program), file))
		program[strcspn(program, "\n")] = 0;
	if (file)
		fclose(file);
	json_object_object_add(process, "pid", json_object_new_int64(pid));
	json_object_object_add(process, "program", json_object_new_string(program));
	return process;
}

struct json_object *tool_embedded_processes(void)
{
	struct json_object *processes = json_object_new_array();
	char folder[PATH_MAX], path[2 * PATH_MAX];
	struct dirent *entry;
	DIR *directory;

	if (mimic_embedded_socket_directory(folder, sizeof(folder)))
		return processes;
	directory = opendir(folder);
	while (directory && (entry = readdir(directory))) {
		unsigned int pid = pid_of(entry->d_name);

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (!pid || !is_socket(path))
			continue;
		/* A process that was killed has left it behind. */
		if (!is_alive(pid))
			unlink(path);
		else
			json_object_array_add(processes, describe(pid));
	}
	if (directory)
		closedir(directory);
	return processes;
}
