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
	struct bench_pair load, store;	/* beside the library's call of the same access, embedded */
	struct bench_pair far;		/* a load beside a round trip of two lines, and how much more than FAR_TRIPS of these */
	double posted, in_ring, memory, plain, first;
};

#define FAR_TRIPS 1.5
#define FAR_TURNS 3

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

static struct mimic_device *library_device;
static struct mimic_access library_access = { .offset = WORD, .size = 4 };

static void library_once(void *unused)
{
	(void)unused;
	if (mimic_device_access(library_device, &library_access))
		bench_fail("an access of the library failed");
}

static struct bench_pair beside_library(void (*step)(void *context), volatile uint32_t *word, bool is_write)
{
	library_access.is_write = is_write;
	return bench_windows_of_two(step, (void *)word, library_once, NULL, STEPS);
}

static struct bench_pair beside_trips(volatile uint32_t *word)
{
	double values[FAR_TURNS], trips[FAR_TURNS], over[FAR_TURNS];

	for (unsigned int i = 0; i < FAR_TURNS; i++) {
		trips[i] = bench_ping_pong_two_lines();
		values[i] = bench_windows(load_once, (void *)word, STEPS);
		over[i] = values[i] - FAR_TRIPS * trips[i];
	}
	return (struct bench_pair){ bench_median(values, FAR_TURNS), bench_median(trips, FAR_TURNS),
				    bench_median(over, FAR_TURNS) };
}

static void print_pair(const struct bench_pair *pair)
{
	printf("%.2f %.2f %.2f ", pair->value, pair->reference, pair->over);
}

int bench_patch_child(void)
{
	const struct mimic_options embedded = { .transport = MIMIC_TRANSPORT_EMBEDDED };
	volatile uint32_t *page = map_page("/dev/maple0", 0);
	volatile uint32_t *units = map_page("/dev/virgo0", VIRGO_PAGE_UNITS);
	struct figures figures;

	if (mimic_device_open(&library_device, "maple1", &embedded))
		bench_fail("maple1: %s", mimic_error_text());
	bench_pin(0);
	figures.load = beside_library(load_once, page + WORD / 4, false);
	figures.store = beside_library(store_once, page + WORD / 4, true);
	figures.far = beside_trips(page + WORD / 4);
	figures.posted = bench_windows(store_once, (void *)(units + POSTED / 4), STEPS);
	figures.in_ring = stores_in_ring(units + POSTED / 4);
	load_replaced(page + WORD / 4, 10);
	figures.memory = best(load_replaced);
	figures.plain = best(load_as_it_is);
	figures.first = first_accesses(page + WORD / 4);
	mimic_device_close(library_device);
	print_pair(&figures.load);
	print_pair(&figures.store);
	print_pair(&figures.far);
	printf("%.2f %.2f %.3f %.3f %.0f\n", figures.posted, figures.in_ring, figures.memory, figures.plain, figures.first);
	return 0;
}

/* --- the rows ---------------------------------------------------------------------- */

static bool read_figures(const char *line, struct figures *f)
{
	return sscanf(line, "%lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", &f->load.value, &f->load.reference,
		      &f->load.over, &f->store.value, &f->store.reference, &f->store.over, &f->far.value,
		      &f->far.reference, &f->far.over, &f->posted, &f->in_ring, &f->memory, &f->plain, &f->first) == 14;
}

static void measure(const struct bench_options *options, const char *transport, struct figures *figures)
{
	char command[9000], line[256] = "";
	bool on_daemon = !strcmp(transport, "daemon");
	FILE *child;

	snprintf(command, sizeof(command), "'%s/bin/mimic' run --transport %s %s%s '%s' --patch-child",
		 options->build, transport, on_daemon ? "--socket " : "", on_daemon ? options->socket : "",
		 options->self);
	child = popen(command, "r");
	if (!child || !fgets(line, sizeof(line), child) || pclose(child) || !read_figures(line, figures))
		bench_fail("this failed: %s", command);
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

/* The child's medians of the runs, and of how much more they are. `factor`: of the reference, which is allowed `more`. */
static void report_pairs(const char *name, const struct bench_pair *pairs, const char *what, double factor, double more)
{
	double references[BENCH_RUNS], over[BENCH_RUNS], reference;

	for (int run = 0; run < BENCH_RUNS; run++) {
		references[run] = pairs[run].reference;
		over[run] = pairs[run].over;
	}
	reference = bench_median(references, BENCH_RUNS);
	report(name, factor * reference + bench_median(over, BENCH_RUNS), what, reference, factor * reference + more);
}

void bench_patch(const struct bench_options *options)
{
	struct bench_pair load[BENCH_RUNS], store[BENCH_RUNS], memory[BENCH_RUNS], far[BENCH_RUNS];
	double posted[BENCH_RUNS], in_ring[BENCH_RUNS], library_posted[BENCH_RUNS], bare[BENCH_RUNS], first[BENCH_RUNS];
	struct figures figures;
	double reference;

	for (int run = 0; run < BENCH_RUNS; run++) {
		bench_pin(0);
		bare[run] = bench_bare_load();
		/* The child pins itself, and finds both processors of the round trip. */
		bench_pin(BENCH_ANY_CPU);
		measure(options, "embedded", &figures);
		load[run] = figures.load;
		store[run] = figures.store;
		memory[run] = (struct bench_pair){ figures.memory, figures.plain, figures.memory - figures.plain };
		first[run] = figures.first;
		measure(options, "daemon", &figures);
		bench_pin(0);
		far[run] = figures.far;
		posted[run] = figures.posted;
		in_ring[run] = figures.in_ring;
		library_posted[run] = library_post_on_daemon(options);
	}
	report_pairs("patched_load_embedded", load, "the library's call of the same load", 1, 15);
	report_pairs("patched_store_embedded", store, "the library's call of the same store", 1, 15);
	report_pairs("patched_load_of_memory", memory, "the same instruction as it is", 1, 2);
	report_pairs("patched_load_daemon", far, "a round trip of two lines", FAR_TRIPS, 50);
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
