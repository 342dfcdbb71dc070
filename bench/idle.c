/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The cost of a daemon that has nothing to do: 16 devices, 8 clients connected. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "libmaple/maple.h"

#define CLIENTS 8
#define SECONDS 2

static double cpu_seconds(pid_t pid)
{
	char path[64], line[1024], *fields;
	unsigned long user = 0, system = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file || !fgets(line, sizeof(line), file))
		bench_fail("cannot read %s", path);
	fclose(file);
	/* the command name may hold blanks: count fields from its closing parenthesis */
	fields = strrchr(line, ')');
	if (!fields || sscanf(fields, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
			      &system) != 2)
		bench_fail("cannot parse %s", path);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double resident_mebibytes(pid_t pid)
{
	char path[64], line[256];
	unsigned long kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "r");
	if (!file)
		bench_fail("cannot read %s", path);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "VmRSS: %lu", &kib);
	fclose(file);
	return (double)kib / 1024;
}

/* Holds an instance, does one access, then waits to be killed. */
static pid_t start_client(const char *socket_path, int ready)
{
	struct maple_options how = { .transport = "daemon", .socket_path = socket_path };
	struct maple *maple;
	pid_t pid = fork();

	if (pid)
		return pid;
	if (maple_init(&maple, &how))
		_exit(1);
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

void bench_idle(const struct bench_options *options)
{
	char socket_path[sizeof(options->socket) + 8], byte;
	double usage[5], resident[5];
	pid_t daemon, clients[CLIENTS];
	struct bench_row row;
	int ready[2];

	snprintf(socket_path, sizeof(socket_path), "%s.idle", options->socket);
	daemon = bench_start_daemon(options, "maple:16", socket_path);
	if (pipe(ready))
		bench_fail("no pipe");
	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = start_client(socket_path, ready[1]);
		if (read(ready[0], &byte, 1) != 1)
			bench_fail("client %d did not start", i);
	}
	usleep(200000);
	for (int run = 0; run < 5; run++) {
		double start = cpu_seconds(daemon);

		sleep(SECONDS);
		usage[run] = 100 * (cpu_seconds(daemon) - start) / SECONDS;
		resident[run] = resident_mebibytes(daemon);
	}
	for (int i = 0; i < CLIENTS; i++) {
		kill(clients[i], SIGKILL);
		waitpid(clients[i], NULL, 0);
	}
	bench_stop_daemon(daemon);
	close(ready[0]);
	close(ready[1]);
	row = (struct bench_row){ "idle_daemon_cpu", bench_median(usage, 5), "% of a core",
				  "one core", 100, 0.5 };
	bench_report(&row);
	row = (struct bench_row){ "idle_daemon_resident", bench_median(resident, 5), "MiB",
				  "the limit of the issue", 16, 16 };
	bench_report(&row);
}
