/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"

static int wake_there[2], wake_back[2];

static void *sleeper(void *unused)
{
	char byte;

	(void)unused;
	bench_pin(1);
	while (read(wake_there[0], &byte, 1) == 1) {
		if (write(wake_back[1], &byte, 1) != 1)
			break;
	}
	return NULL;
}

static void wake_and_sleep(void *unused)
{
	char byte = 0;

	(void)unused;
	if (write(wake_there[1], &byte, 1) != 1 || read(wake_back[0], &byte, 1) != 1)
		bench_fail("a pipe broke");
}

/* What it costs to wake a sleeping thread on another CPU, and to be woken: the daemon's worst case. */
void bench_wake(const struct bench_options *options)
{
	struct bench_row row = { .name = "wake_up_round_trip", .unit = "ns" };
	pthread_t thread;

	(void)options;
	if (pipe(wake_there) || pipe(wake_back) || pthread_create(&thread, NULL, sleeper, NULL))
		bench_fail("no pipe or thread: %s", strerror(errno));
	bench_pin(0);
	row.value = bench_windows(wake_and_sleep, NULL, 20);
	row.reference_value = bench_ping_pong();
	snprintf(row.reference, sizeof(row.reference), "cache line ping-pong, both spinning");
	bench_report(&row);
	close(wake_there[1]);
	pthread_join(thread, NULL);
	close(wake_there[0]);
	close(wake_back[0]);
	close(wake_back[1]);
}
