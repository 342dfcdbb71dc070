/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Which thread a program means by a thread number of its own pid namespace.
 *
 * No system call answers that for another process's thread, but the kernel
 * shows each thread's numbers in all its namespaces: the line NSpid of
 * /proc/PID/task/TID/status, from ours to its own. A program that lies gets
 * another of its own threads, or none.
 */
#include "daemon/clients/thread_id.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last number of the line NSpid; 0: there is none. */
static uint32_t innermost_number(pid_t process, const char *task)
{
	char path[64], line[256];
	uint32_t number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/status", (int)process, task);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		const char *last;

		if (strncmp(line, "NSpid:", strlen("NSpid:")))
			continue;
		line[strcspn(line, "\n")] = 0;
		last = strrchr(line, '\t');
		number = last ? (uint32_t)strtoul(last, NULL, 10) : 0;
		break;
	}
	fclose(file);
	return number;
}

pid_t mimicd_thread_id(pid_t process, uint32_t tid)
{
	char name[16], path[32];
	struct dirent *entry;
	pid_t found = 0;
	DIR *tasks;

	if (process <= 0 || !tid)
		return 0;
	/* Nearly always it lives in our namespace. */
	snprintf(name, sizeof(name), "%u", tid);
	if (innermost_number(process, name) == tid)
		return (pid_t)tid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
	tasks = opendir(path);
	while (tasks && !found && (entry = readdir(tasks))) {
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    innermost_number(process, entry->d_name) == tid)
			found = (pid_t)atoi(entry->d_name);
	}
	if (tasks)
		closedir(tasks);
	return found;
}
