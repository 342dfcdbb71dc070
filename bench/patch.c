/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The cost of an access under `mimic run` once its instruction has been replaced: beside the library's call
 * of the same access, the round trip of two lines, and a handler of SIGSEGV.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/bench.h"
#include "libmimic/mimic.h"
#include "mimic/maple_registers.h"
#include "mimic/virgo_registers.h"

#define STEPS 2000
#define MEMORY_STEPS 100000
#define SITES 500
#define SITE_BYTES 9

/* An operation without effect: debug word 2. */
#define WORD MAPLE_OFFSET(MAPLE_LOAD_DEBUG, 2)
/* Virgo's stores may wait in the daemon's ring while the program goes on: an operand, without a command. */
#define POSTED VIRGO_UNIT_OFFSET(0, RS1)

/* Of two words each: the ring takes them all, and more, while nothing reads it. */
#define BURST 1500
#define BURSTS 101
/* Until a daemon that has nothing to do sleeps, with a margin. */
#define REST_US 2000

struct figures {
	double load, store, posted, in_ring, memory, plain, first;
};

/* --- under mimic run ------------------------------------------------------------ */

static void load_once(void *context)
{
	(void)*(const volatile uint32_t *)context;
}

static void store_once(void *context)
{
	*(volatile uint32_t *)context = 1;
}

/* The program's own part of a store: the ring is empty before each burst, and its reader sleeps. */
static double stores_in_ring(volatile uint32_t *word)
{
	double values[BURSTS];

	for (int burst = 0; burst < BURSTS; burst++) {
		double start;

		/* All stores before it are done. */
		load_once((void *)word);
		usleep(REST_US);
		start = bench_now();
		for (unsigned int i = 0; i < BURST; i++)
			store_once((void *)word);
		values[burst] = (bench_now() - start) * 1e9 / BURST;
	}
	return bench_median(values, BURSTS);
}

/* The same instruction twice; one of them meets a device. */
#define LOAD_LOOP(name) \
	static __attribute__((noinline)) double name(const volatile uint32_t *word, unsigned int count) \
	{ \
		double start = bench_now(); \
		for (unsigned int i = 0; i < count; i++) \
			(void)*word; \
		return (bench_now() - start) * 1e9 / count; \
	}
LOAD_LOOP(load_replaced)
LOAD_LOOP(load_as_it_is)

static double best(double (*loop)(const volatile uint32_t *word, unsigned int count))
{
	static uint32_t memory;
	double lowest = 1e9;

	for (int run = 0; run < 15; run++) {
		double value = loop(&memory, MEMORY_STEPS);

		if (value < lowest)
			lowest = value;
	}
	return lowest;
}

static char path_of_text[] = "/tmp/mimic-bench-text-XXXXXX";

/* Text of a file: loads of six bytes and of three in turn, each with an instruction of three behind it. */
static void *map_sites(void)
{
	static const uint8_t six[] = { 0x8b, 0x87, 0, 0, 0, 0, 0x48, 0x01, 0xc1 };
	static const uint8_t three[] = { 0x8b, 0x47, 0, 0x48, 0x01, 0xc1, 0x48, 0x31, 0xd2 };
	static uint8_t code[SITES * SITE_BYTES + 1];
	int file = mkstemp(path_of_text);
	void *text;

	for (unsigned int i = 0; i < SITES; i++)
		memcpy(code + SITE_BYTES * (size_t)i, i & 1 ? three : six, SITE_BYTES);
	code[sizeof(code) - 1] = 0xc3;
	if (file < 0 || write(file, code, sizeof(code)) != sizeof(code))
		bench_fail("%s: %s", path_of_text, strerror(errno));
	text = mmap(NULL, sizeof(code), PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	close(file);
	if (text == MAP_FAILED)
		bench_fail("mmap: %s", strerror(errno));
	return text;
}

static double first_accesses(const volatile uint32_t *word)
{
	void (*text)(const volatile uint32_t *) = (void (*)(const volatile uint32_t *))map_sites();
	double start = bench_now(), nanoseconds;

	text(word);
	nanoseconds = (bench_now() - start) * 1e9 / SITES;
	/* Until now its name was needed: instructions of files that are there are replaced. */
	unlink(path_of_text);
	return nanoseconds;
}

static volatile uint32_t *map_page(const char *path, unsigned int page)
{
	int fd = open(path, O_RDWR);
	void *mapped = MAP_FAILED;

	if (fd >= 0)
		mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, page * 4096l);
	if (mapped == MAP_FAILED)
		bench_fail("page %u of %s: %s", page, path, strerror(errno));
	return mapped;
}

int bench_patch_child(void)
{
	volatile uint32_t *page = map_page("/dev/maple0", 0);
	volatile uint32_t *units = map_page("/dev/virgo0", VIRGO_PAGE_UNITS);
	struct figures figures;

	bench_pin(0);
	figures.load = bench_windows(load_once, (void *)(page + WORD / 4), STEPS);
	figures.store = bench_windows(store_once, (void *)(page + WORD / 4), STEPS);
	figures.posted = bench_windows(store_once, (void *)(units + POSTED / 4), STEPS);
	figures.in_ring = stores_in_ring(units + POSTED / 4);
	load_replaced(page + WORD / 4, 10);
	figures.memory = best(load_replaced);
	figures.plain = best(load_as_it_is);
	figures.first = first_accesses(page + WORD / 4);
	printf("%.2f %.2f %.2f %.2f %.3f %.3f %.0f\n", figures.load, figures.store, figures.posted, figures.in_ring,
	       figures.memory, figures.plain, figures.first);
	return 0;
}

/* --- the rows ---------------------------------------------------------------------- */

static void measure(const struct bench_options *options, const char *transport, struct figures *figures)
{
	char command[9000], line[128] = "";
	bool on_daemon = !strcmp(transport, "daemon");
	FILE *child;

	snprintf(command, sizeof(command), "'%s/bin/mimic' run --transport %s %s%s '%s' --patch-child",
		 options->build, transport, on_daemon ? "--socket " : "", on_daemon ? options->socket : "",
		 options->self);
	child = popen(command, "r");
	if (!child || !fgets(line, sizeof(line), child) || pclose(child) ||
	    sscanf(line, "%lf %lf %lf %lf %lf %lf %lf", &figures->load, &figures->store, &figures->posted,
		   &figures->in_ring, &figures->memory, &figures->plain, &figures->first) != 7)
		bench_fail("this failed: %s", command);
}

static struct mimic_device *library_device;
static struct mimic_access library_access = { .offset = WORD, .size = 4 };

static void library_once(void *unused)
{
	(void)unused;
	if (mimic_device_access(library_device, &library_access))
		bench_fail("an access of the library failed");
}

static double library_call(bool is_write)
{
	library_access.is_write = is_write;
	return bench_windows(library_once, NULL, STEPS);
}

static void post_once(void *device)
{
	static const struct mimic_access pattern = { .offset = POSTED, .page = VIRGO_PAGE_UNITS, .size = 4 };
	const uint64_t one = 1;

	if (mimic_device_post(device, &pattern, &one, 1) != 1)
		bench_fail("a store of the library failed");
}

static double library_post_on_daemon(const struct bench_options *options)
{
	const struct mimic_options daemon = { .transport = MIMIC_TRANSPORT_DAEMON,
					      .socket_path = options->socket };
	struct mimic_device *device;
	double nanoseconds;

	if (mimic_device_open(&device, "virgo0", &daemon))
		bench_fail("virgo0 of the daemon: %s", mimic_error_text());
	nanoseconds = bench_windows(post_once, device, STEPS);
	mimic_device_close(device);
	return nanoseconds;
}

static void report(const char *name, double value, const char *reference, double reference_value,
		   double limit)
{
	struct bench_row row = {
		.value = value, .unit = "ns", .reference_value = reference_value, .limit = limit
	};

	snprintf(row.name, sizeof(row.name), "%s", name);
	snprintf(row.reference, sizeof(row.reference), "%s", reference);
	bench_report(&row);
}

/* The median of differences, each of two values of one run. */
static double over(double *values, const double *references, double factor)
{
	double differences[BENCH_RUNS];

	for (int run = 0; run < BENCH_RUNS; run++)
		differences[run] = values[run] - factor * references[run];
	return bench_median(differences, BENCH_RUNS);
}

void bench_patch(const struct bench_options *options)
{
	double load[BENCH_RUNS], store[BENCH_RUNS], memory[BENCH_RUNS], plain[BENCH_RUNS], first[BENCH_RUNS];
	double library_load[BENCH_RUNS], library_store[BENCH_RUNS], remote[BENCH_RUNS], trip[BENCH_RUNS];
	double posted[BENCH_RUNS], in_ring[BENCH_RUNS], library_posted[BENCH_RUNS];
	double bare[BENCH_RUNS], value, reference;
	const struct mimic_options embedded = { .transport = MIMIC_TRANSPORT_EMBEDDED };
	struct figures figures;

	if (mimic_device_open(&library_device, "maple0", &embedded))
		bench_fail("maple0: %s", mimic_error_text());
	for (int run = 0; run < BENCH_RUNS; run++) {
		bench_pin(0);
		bare[run] = bench_bare_load();
		library_load[run] = library_call(false);
		library_store[run] = library_call(true);
		measure(options, "embedded", &figures);
		load[run] = figures.load;
		store[run] = figures.store;
		memory[run] = figures.memory;
		plain[run] = figures.plain;
		first[run] = figures.first;
		measure(options, "daemon", &figures);
		remote[run] = figures.load;
		posted[run] = figures.posted;
		in_ring[run] = figures.in_ring;
		library_posted[run] = library_post_on_daemon(options);
		trip[run] = bench_ping_pong_two_lines();
	}
	mimic_device_close(library_device);
	value = over(load, library_load, 1);
	reference = bench_median(library_load, BENCH_RUNS);
	report("patched_load_embedded", reference + value, "the library's call of the same load", reference,
	       reference + 15);
	value = over(store, library_store, 1);
	reference = bench_median(library_store, BENCH_RUNS);
	report("patched_store_embedded", reference + value, "the library's call of the same store", reference,
	       reference + 15);
	value = over(memory, plain, 1);
	reference = bench_median(plain, BENCH_RUNS);
	report("patched_load_of_memory", reference + value, "the same instruction as it is", reference,
	       reference + 2);
	value = over(remote, trip, 1.5);
	reference = bench_median(trip, BENCH_RUNS);
	report("patched_load_daemon", 1.5 * reference + value, "a round trip of two lines", reference,
	       1.5 * reference + 50);
	reference = bench_median(library_posted, BENCH_RUNS);
	report("patched_store_daemon_in_ring", bench_median(in_ring, BENCH_RUNS),
	       "the library's call of the same store, without a rest", reference, 40);
	/* Without a rest: as fast as the daemon does them, and both write the lines of the ring. */
	report("patched_store_daemon", bench_median(posted, BENCH_RUNS),
	       "the library's call of the same store, without a rest", reference, 0);
	reference = bench_median(bare, BENCH_RUNS);
	/* 15 us where a bare handler takes 2.5 */
	report("first_trap_and_patch", bench_median(first, BENCH_RUNS),
	       "bare SIGSEGV decode-and-skip handler", reference, 6 * reference);
	bench_patch_spmv(options);
}
