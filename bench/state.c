/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The cost of reading a device's state, for the reader and for programs that use the device: SpMV by
 * LIMA on a daemon with a reader that never stops, by STATE or by the state filesystem, beside the
 * same without one; and embedded in a process that would show its devices if asked.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "libmimic/daemon/client.h"

#define DAEMON_ROWS 65536u
#define EMBEDDED_ROWS 16384u
#define PAIRS 7
#define LOOKS 50	/* of a window */
#define DEVICE "maple0"

struct looked_at {
	const struct bench_options *options;	/* socket: of a daemon of our own */
	char mount[64];
	_Atomic uint64_t *looks;		/* of the reader, which shares it */
};

typedef void look_function(struct looked_at *at);

/* --- looks ----------------------------------------------------------------------------------- */

static void look_by_state(struct looked_at *at)
{
	char *text;

	if (mimic_daemon_state(at->options->socket, DEVICE, 0, &text))
		bench_fail("STATE failed");
	free(text);
}

static void read_file(const struct looked_at *at, const char *name)
{
	char path[128], text[65536];
	ssize_t length = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", at->mount, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (length = read(fd, text, sizeof(text))) > 0)
		;
	if (length < 0)
		bench_fail("%s: %s", path, strerror(errno));
	close(fd);
}

static void look_by_table(struct looked_at *at)
{
	read_file(at, "devices/" DEVICE "/.state");
}

static void look_by_value(struct looked_at *at)
{
	read_file(at, "devices/" DEVICE "/tlb/entries");
}

/* --- the time of one reading ------------------------------------------------------------------- */

static double window(struct looked_at *at, look_function *look)
{
	double start = bench_now();

	for (int i = 0; i < LOOKS; i++)
		look(at);
	return (bench_now() - start) / LOOKS * 1e6;
}

/* On a daemon that has nothing else to do. */
static void measure_look(struct looked_at *at, const char *name, look_function *look)
{
	double ours[BENCH_RUNS], theirs[BENCH_RUNS], ratios[BENCH_RUNS];
	struct bench_row row = { .unit = "us" };

	for (int i = 0; i < BENCH_RUNS; i++) {
		theirs[i] = window(at, look_by_state);
		ours[i] = window(at, look);
		ratios[i] = ours[i] / theirs[i];
	}
	snprintf(row.name, sizeof(row.name), "state_look_%s", name);
	snprintf(row.reference, sizeof(row.reference), "STATE of the whole device, with its connection");
	row.reference_value = bench_median(theirs, BENCH_RUNS);
	row.value = bench_median(ratios, BENCH_RUNS) * row.reference_value;
	bench_report(&row);
}

/* --- the cost for others ------------------------------------------------------------------------- */

static pid_t start_reader(struct looked_at *at, look_function *look)
{
	pid_t reader = fork();

	if (reader < 0)
		bench_fail("fork: %s", strerror(errno));
	if (reader)
		return reader;
	bench_pin(BENCH_ANY_CPU);
	for (;;) {
		look(at);
		atomic_fetch_add(at->looks, 1);
	}
}

static void stop_reader(pid_t reader)
{
	int status;

	kill(reader, SIGKILL);
	if (waitpid(reader, &status, 0) != reader || !WIFSIGNALED(status))
		bench_fail("the reader failed");
}

static void measure_beside(struct looked_at *at, const char *name, look_function *look)
{
	const struct bench_child how = { .transport = "daemon", .rows = DAEMON_ROWS, .is_registered = true };
	double with[PAIRS], without[PAIRS], ratios[PAIRS], seconds = 0;
	struct bench_row row = { .unit = "ns/nonzero" };

	atomic_store(at->looks, 0);
	for (int i = 0; i < PAIRS; i++) {
		double start;
		pid_t reader;

		without[i] = bench_lima_in_child(at->options, &how);
		start = bench_now();
		reader = start_reader(at, look);
		with[i] = bench_lima_in_child(at->options, &how);
		stop_reader(reader);
		seconds += bench_now() - start;
		ratios[i] = with[i] / without[i];
	}
	if (!atomic_load(at->looks))
		bench_fail("the reader saw nothing");
	snprintf(row.name, sizeof(row.name), "state_beside_%s", name);
	snprintf(row.reference, sizeof(row.reference), "the same without a reader; it has made %.0f reads a second",
		 (double)atomic_load(at->looks) / seconds);
	row.reference_value = bench_median(without, PAIRS);
	row.value = bench_median(ratios, PAIRS) * row.reference_value;
	/* Half of the daemon is left. */
	row.limit = 2.5 * row.reference_value;
	bench_report(&row);
}

/* --- the daemon ------------------------------------------------------------------------------------ */

/* It listens before it mounts. */
static bool is_mounted(const struct looked_at *at)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/version", at->mount);
	for (int i = 0; i < 200; i++) {
		if (!access(path, F_OK))
			return true;
		usleep(10000);
	}
	return false;
}

static void measure_daemon(const struct bench_options *given)
{
	struct bench_options options = *given;
	struct looked_at at = { .options = &options };
	pid_t daemon;

	at.looks = mmap(NULL, sizeof(*at.looks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	snprintf(at.mount, sizeof(at.mount), "/tmp/mimic-bench-state-XXXXXX");
	if (at.looks == MAP_FAILED || !mkdtemp(at.mount))
		bench_fail("cannot set up");
	snprintf(options.socket, sizeof(options.socket), "%s.sock", at.mount);
	daemon = bench_start_daemon_with(&options, "maple:1", options.socket, "--state", at.mount);
	measure_beside(&at, "wire", look_by_state);
	if (is_mounted(&at)) {
		measure_look(&at, "value", look_by_value);
		measure_look(&at, "table", look_by_table);
		measure_beside(&at, "files", look_by_table);
	} else {
		fprintf(stderr, "bench: no state filesystem here: its rows are left out\n");
	}
	bench_stop_daemon(daemon);
	rmdir(at.mount);
	munmap(at.looks, sizeof(*at.looks));
}

/* --- embedded ---------------------------------------------------------------------------------------- */

static void measure_embedded(const struct bench_options *options)
{
	struct bench_child how = { .transport = "embedded", .rows = EMBEDDED_ROWS, .variable = "MIMIC_STATE" };
	struct bench_row row = { .name = "state_embedded_unasked", .unit = "ns/nonzero" };
	double with[2 * PAIRS], without[2 * PAIRS], ratios[2 * PAIRS];
	char folder[] = "/tmp/mimic-bench-state-XXXXXX";

	if (!mkdtemp(folder))
		bench_fail("cannot set up");
	for (int i = 0; i < 2 * PAIRS; i++) {
		how.value = NULL;
		if (i & 1)
			without[i] = bench_lima_in_child(options, &how);
		how.value = folder;
		with[i] = bench_lima_in_child(options, &how);
		how.value = NULL;
		if (!(i & 1))
			without[i] = bench_lima_in_child(options, &how);
		ratios[i] = with[i] / without[i];
	}
	rmdir(folder);
	snprintf(row.reference, sizeof(row.reference), "the same without MIMIC_STATE");
	row.reference_value = bench_median(without, 2 * PAIRS);
	row.value = bench_median(ratios, 2 * PAIRS) * row.reference_value;
	/* A thread that sleeps; the rest is noise between two processes. */
	row.limit = 1.1 * row.reference_value;
	bench_report(&row);
}

void bench_state(const struct bench_options *options)
{
	measure_embedded(options);
	measure_daemon(options);
}
