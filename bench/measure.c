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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"

#define WINDOWS 301
#define WINDOWS_SECONDS 0.3

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_now(void)
{
	return seconds(CLOCK_MONOTONIC);
}

double bench_thread_now(void)
{
	return seconds(CLOCK_THREAD_CPUTIME_ID);
}

double bench_process_now(void)
{
	return seconds(CLOCK_PROCESS_CPUTIME_ID);
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

/* Asked once: a pinned thread, and those it starts, are allowed one CPU only. */
int bench_cpus(void)
{
	static int cpus;
	cpu_set_t set;

	if (!cpus)
		cpus = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
	return cpus;
}

void bench_pin(int cpu)
{
	cpu_set_t set;

	if (bench_cpus() < 2)
		return;
	CPU_ZERO(&set);
	for (int i = 0; i < bench_cpus(); i++) {
		if (cpu == BENCH_ANY_CPU || i == cpu)
			CPU_SET(i, &set);
	}
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static double window(void (*step)(void *context), void *context, unsigned int steps)
{
	double start = bench_now();

	for (unsigned int i = 0; i < steps; i++)
		step(context);
	return (bench_now() - start) / steps * 1e9;
}

double bench_windows(void (*step)(void *context), void *context, unsigned int steps)
{
	double values[WINDOWS], end = bench_now() + WINDOWS_SECONDS;
	size_t count = 0;

	while (count < WINDOWS && (count < BENCH_RUNS || bench_now() < end))
		values[count++] = window(step, context, steps);
	return bench_median(values, count);
}

struct bench_pair bench_windows_of_two(void (*step)(void *context), void *context,
				       void (*reference)(void *context), void *reference_context, unsigned int steps)
{
	double values[WINDOWS], references[WINDOWS], over[WINDOWS];
	struct bench_pair pair;

	for (size_t i = 0; i < WINDOWS; i++) {
		values[i] = window(step, context, steps);
		references[i] = window(reference, reference_context, steps);
		over[i] = values[i] - references[i];
	}
	pair.value = bench_median(values, WINDOWS);
	pair.reference = bench_median(references, WINDOWS);
	pair.over = bench_median(over, WINDOWS);
	return pair;
}

#define PING_PONGS 200
#define OVER 0xffffffffu

static _Alignas(128) _Atomic unsigned int there;
static _Alignas(128) _Atomic unsigned int here;

struct table {
	_Atomic unsigned int *out, *in;	/* the same for one ball, which both sides write */
	unsigned int sent;
};

static void *pong(void *opaque)
{
	struct table *table = opaque;
	unsigned int seen = 0, now;

	bench_pin(1);
	for (;;) {
		now = atomic_load_explicit(table->out, memory_order_acquire);
		if (now == OVER)
			return NULL;
		if (now == seen || !(now & 1))
			continue;
		seen = now + (table->in == table->out);
		atomic_store_explicit(table->in, now + 1, memory_order_release);
	}
}

static void ping(void *opaque)
{
	struct table *table = opaque;

	atomic_store_explicit(table->out, table->sent + 1, memory_order_release);
	table->sent += 2;
	while (atomic_load_explicit(table->in, memory_order_acquire) != table->sent)
		;
}

static double play(_Atomic unsigned int *out, _Atomic unsigned int *in)
{
	struct table table = { out, in, 0 };
	pthread_t thread;
	double value;

	atomic_store(&there, 0);
	atomic_store(&here, 0);
	if (pthread_create(&thread, NULL, pong, &table))
		bench_fail("no thread: %s", strerror(errno));
	bench_pin(0);
	value = bench_windows(ping, &table, PING_PONGS);
	atomic_store(out, OVER);
	pthread_join(thread, NULL);
	return value;
}

double bench_ping_pong(void)
{
	return play(&there, &there);
}

double bench_ping_pong_two_lines(void)
{
	return play(&there, &here);
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

/* With one more option of mimicd's, if it is not NULL. */
static pid_t start(const struct bench_options *options, const char *devices, const char *socket_path,
		   const char *option, const char *value, int cpu)
{
	char path[4200];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/bin/mimicd", options->build);
	pid = fork();
	if (pid < 0)
		bench_fail("fork: %s", strerror(errno));
	if (!pid) {
		bench_pin(cpu);
		prctl(PR_SET_PDEATHSIG, SIGTERM);	/* a row that fails ends this program at once */
		execl(path, "mimicd", "--socket", socket_path, "--devices", devices,
		      option, value, (char *)NULL);
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

/* On CPU 1: clients are measured on CPU 0. */
pid_t bench_start_daemon_with(const struct bench_options *options, const char *devices, const char *socket_path,
			      const char *option, const char *value)
{
	return start(options, devices, socket_path, option, value, 1);
}

pid_t bench_start_threads_daemon(const struct bench_options *options, const char *devices,
				 const char *socket_path, const char *threads)
{
	return start(options, devices, socket_path, "--threads", threads, BENCH_ANY_CPU);
}

pid_t bench_start_daemon(const struct bench_options *options, const char *devices,
			 const char *socket_path)
{
	return bench_start_daemon_with(options, devices, socket_path, NULL, NULL);
}

void bench_stop_daemon(pid_t pid)
{
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}
