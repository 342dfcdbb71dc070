/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The worst case of an access by mimicd: both sides sleep, and each wakes the other. */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/bench.h"
#include "libmimic/mimic.h"
#include "mimic/maple_registers.h"

#define STEPS 20
#define STOP 0xffffffffu

/* --- the reference: two threads and the kernel's futex ------------------------------- */

static _Atomic uint32_t ball;

static void futex_wait(uint32_t value)
{
	syscall(SYS_futex, &ball, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void throw_ball(uint32_t value)
{
	atomic_store(&ball, value);
	syscall(SYS_futex, &ball, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Odd numbers are thrown there, even ones back. */
static void *sleeper(void *unused)
{
	uint32_t now;

	(void)unused;
	bench_pin(1);
	while ((now = atomic_load(&ball)) != STOP) {
		if (now & 1)
			throw_ball(now + 1);
		else
			futex_wait(now);
	}
	return NULL;
}

static void there_and_back(void *unused)
{
	uint32_t sent = atomic_load(&ball) + 1;

	(void)unused;
	throw_ball(sent);
	while (atomic_load(&ball) == sent)
		futex_wait(sent);
}

static double measure_futex(void)
{
	pthread_t thread;
	double value;

	atomic_store(&ball, 0);
	if (pthread_create(&thread, NULL, sleeper, NULL))
		bench_fail("no thread: %s", strerror(errno));
	bench_pin(0);
	value = bench_windows(there_and_back, NULL, STEPS);
	throw_ball(STOP);
	pthread_join(thread, NULL);
	return value;
}

/* --- an access --------------------------------------------------------------------------- */

static void load(void *device)
{
	struct mimic_access access = { .offset = MAPLE_OFFSET(MAPLE_LOAD_DEBUG, 2), .size = 4 };
	int error = mimic_device_access(device, &access);

	if (error)
		bench_fail("a load: %s", strerror(-error));
}

void bench_wake(const struct bench_options *options)
{
	struct bench_row row = { .name = "wake_up_round_trip", .unit = "ns" };
	char path[128];
	struct mimic_options how = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = path };
	double futex[BENCH_RUNS], ratios[BENCH_RUNS];
	struct mimic_device *device;
	pid_t daemon;
	int error;

	snprintf(path, sizeof(path), "%s-wake", options->socket);
	daemon = bench_start_daemon_with(options, "maple:1", path, "--spin", "0");
	error = mimic_device_open(&device, "maple0", &how);
	if (error)
		bench_fail("maple0 of %s: %s", path, mimic_error_text());
	for (int run = 0; run < BENCH_RUNS; run++) {
		futex[run] = measure_futex();
		ratios[run] = bench_windows(load, device, STEPS) / futex[run];
	}
	mimic_device_close(device);
	bench_stop_daemon(daemon);
	row.reference_value = bench_median(futex, BENCH_RUNS);
	row.value = bench_median(ratios, BENCH_RUNS) * row.reference_value;
	row.limit = 1.1 * row.reference_value;
	snprintf(row.reference, sizeof(row.reference), "two threads that wake each other by a futex");
	bench_report(&row);
}
