/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"

double bench_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

void bench_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("bench: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(1);
}

int bench_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(getpid(), sizeof(set), &set))
		return 1;
	return CPU_COUNT(&set);
}

void bench_pin(int cpu)
{
	cpu_set_t set;

	if (bench_cpus() < 2)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

#define PING_PONGS 20000

static _Alignas(128) _Atomic unsigned int ball;

static void *pong(void *unused)
{
	(void)unused;
	bench_pin(1);
	for (unsigned int i = 0; i < PING_PONGS; i++) {
		while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * i + 1)
			;
		atomic_store_explicit(&ball, 2 * i + 2, memory_order_release);
	}
	return NULL;
}

double bench_ping_pong(void)
{
	double values[BENCH_RUNS];
	pthread_t thread;

	for (int run = 0; run < BENCH_RUNS; run++) {
		double start;

		atomic_store(&ball, 0);
		if (pthread_create(&thread, NULL, pong, NULL))
			bench_fail("no thread: %s", strerror(errno));
		bench_pin(0);
		start = bench_now();
		for (unsigned int i = 0; i < PING_PONGS; i++) {
			atomic_store_explicit(&ball, 2 * i + 1, memory_order_release);
			while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * i + 2)
				;
		}
		values[run] = (bench_now() - start) / PING_PONGS * 1e9;
		pthread_join(thread, NULL);
	}
	return bench_median(values, BENCH_RUNS);
}

static bool answers(const char *socket_path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	bool ok;

	if (fd < 0)
		return false;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	ok = !connect(fd, (struct sockaddr *)&address, sizeof(address));
	close(fd);
	return ok;
}

pid_t bench_start_daemon(const struct bench_options *options, const char *devices,
			 const char *socket_path)
{
	char path[4200];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/bin/mimicd", options->build);
	pid = fork();
	if (pid < 0)
		bench_fail("fork: %s", strerror(errno));
	if (!pid) {
		execl(path, "mimicd", "--socket", socket_path, "--devices", devices, (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < 500; i++) {
		if (answers(socket_path))
			return pid;
		usleep(10000);
	}
	kill(pid, SIGKILL);
	bench_fail("%s does not answer on %s", path, socket_path);
}

void bench_stop_daemon(pid_t pid)
{
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}
