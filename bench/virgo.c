/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Products through libvirgo: beside OpenBLAS on the same core, on two units, on the daemon; and by plain stores. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/openblas.h"
#include "virgo.h"

#define SIDE 1024
#define LARGE_SIDE 2048
#define LARGE_RUNS 5
#define TWO_UNITS_GAIN 1.7	/* of 2 that two cores can give */
#define STORES_SIZE "256x256x256"
#define STORES_LIMIT 1.2	/* times embedded, where each store traps; with jumps in their place there is none */
#define TOGETHER 4		/* products in a row, where a gain is measured */

/* Of OpenBLAS's rate in fp32. */
static const double least_share[] = { [VIRGO_INT8] = 1.5, [VIRGO_FP16] = 0.6, [VIRGO_FP32] = 0.6 };

static const char *const type_names[] = {
	[VIRGO_INT8] = "int8", [VIRGO_FP16] = "fp16", [VIRGO_FP32] = "fp32",
};

/* Small whole numbers: sums are exact in any order and type, and can be compared. */
struct problem {
	size_t side;
	float *a, *b, *expected;
	void *narrow_a, *narrow_b;	/* the same as elements of the unit */
	void *c;
};

static void *allocate(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		bench_fail("no memory");
	return memory;
}

static void *narrow(enum virgo_type type, const float *from, size_t count)
{
	void *to = allocate(count * sizeof(float));

	for (size_t i = 0; i < count; i++) {
		if (type == VIRGO_INT8)
			((int8_t *)to)[i] = (int8_t)from[i];
		else if (type == VIRGO_FP16)
			((uint16_t *)to)[i] = virgo_half(from[i]);
		else
			((float *)to)[i] = from[i];
	}
	return to;
}

static void make_problem(struct problem *p, enum virgo_type type, size_t side)
{
	size_t count = side * side;

	*p = (struct problem){ side, allocate(count * 4), allocate(count * 4), allocate(count * 4),
			       NULL, NULL, allocate(count * 4) };
	for (size_t i = 0; i < count; i++) {
		p->a[i] = (float)((i * 7 + i / side) % 13) - 6;
		p->b[i] = (float)((i * 5 + i / side) % 11) - 5;
	}
	p->narrow_a = narrow(type, p->a, count);
	p->narrow_b = narrow(type, p->b, count);
}

static void free_problem(struct problem *p)
{
	void *const all[] = { p->a, p->b, p->expected, p->narrow_a, p->narrow_b, p->c };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
}

static void check(const struct problem *p, enum virgo_type type)
{
	for (size_t i = 0; i < p->side * p->side; i++) {
		double got = type == VIRGO_INT8 ? (double)((const int32_t *)p->c)[i]
						: (double)((const float *)p->c)[i];

		if (got != (double)p->expected[i])
			bench_fail("virgo_gemm and OpenBLAS differ");
	}
}

static struct virgo *open_cluster(const struct bench_options *options, const char *transport)
{
	struct virgo_options how = { .transport = transport, .socket_path = options->socket };
	struct virgo *virgo;

	if (virgo_open(&virgo, &how))
		bench_fail("virgo_open on %s: %s", transport, virgo_error_text());
	return virgo;
}

static unsigned int find_unit(const struct virgo *virgo, enum virgo_type type)
{
	int unit = virgo_find_unit(virgo, type, 0);

	if (unit < 0)
		bench_fail("%s", virgo_error_text());
	return (unsigned int)unit;
}

static struct virgo_product product_of(const struct problem *p, enum virgo_type type)
{
	return (struct virgo_product){
		.type = type, .m = p->side, .n = p->side, .k = p->side, .a = p->narrow_a, .lda = p->side,
		.b = p->narrow_b, .ldb = p->side, .c = p->c, .ldc = p->side,
	};
}

static double time_gemm(struct virgo *virgo, const struct virgo_product *product, double (*now)(void))
{
	unsigned int unit = find_unit(virgo, product->type);
	double start = now();

	if (virgo_gemm(virgo, unit, product))
		bench_fail("virgo_gemm: %s", virgo_error_text());
	return now() - start;
}

static double time_openblas(const struct openblas *blas, struct problem *p)
{
	double start = bench_process_now();

	openblas_square(blas, p->side, p->a, p->b, p->expected);
	return bench_process_now() - start;
}

/*
 * On one core, in seconds of the process on it: the thread that calls and the one that does
 * the unit's work count, other programs on the machine do not. Runs of both in turn: the
 * machine's speed changes while we measure.
 */
static void gemm_beside_openblas(const struct bench_options *options, const struct openblas *blas,
				 enum virgo_type type)
{
	const double macs = (double)SIDE * SIDE * SIDE;
	struct virgo *virgo = open_cluster(options, "embedded");
	double blas_times[BENCH_RUNS], ratios[BENCH_RUNS], reference;
	struct virgo_product product;
	struct bench_row row;
	struct problem p;

	make_problem(&p, type, SIDE);
	product = product_of(&p, type);
	time_openblas(blas, &p);
	time_gemm(virgo, &product, bench_process_now);
	for (int run = 0; run < BENCH_RUNS; run++) {
		blas_times[run] = time_openblas(blas, &p);
		ratios[run] = time_gemm(virgo, &product, bench_process_now) / blas_times[run];
		check(&p, type);
	}
	reference = bench_median(blas_times, BENCH_RUNS);
	row = (struct bench_row){ .value = bench_median(ratios, BENCH_RUNS) * reference * 1e3,
				  .unit = "ms",
				  .reference_value = reference * 1e3,
				  .limit = openblas_share_limit(macs, reference, type != VIRGO_FP16,
								least_share[type]) * 1e3 };
	snprintf(row.name, sizeof(row.name), "virgo_gemm_%s_%d_embedded", type_names[type], SIDE);
	snprintf(row.reference, sizeof(row.reference), "OpenBLAS sgemm (%s), one thread, %.0f G MAC/s",
		 blas->core, macs / reference * 1e-9);
	bench_report(&row);
	free_problem(&p);
	virgo_close(virgo);
}

/* Swish by the program's thread, beside the product alone. */
static void fused_gemm(const struct bench_options *options)
{
	struct virgo *virgo = open_cluster(options, "embedded");
	double times[BENCH_RUNS], ratios[BENCH_RUNS], reference;
	struct virgo_product plain, fused;
	struct bench_row row;
	struct problem p;

	make_problem(&p, VIRGO_FP32, SIDE);
	plain = product_of(&p, VIRGO_FP32);
	fused = plain;
	fused.epilogue = VIRGO_EPILOGUE_SWISH;
	time_gemm(virgo, &plain, bench_now);
	for (int run = 0; run < BENCH_RUNS; run++) {
		times[run] = time_gemm(virgo, &plain, bench_now);
		ratios[run] = time_gemm(virgo, &fused, bench_now) / times[run];
	}
	reference = bench_median(times, BENCH_RUNS);
	row = (struct bench_row){ .value = bench_median(ratios, BENCH_RUNS) * reference * 1e3,
				  .unit = "ms",
				  .reference = "the same without swish",
				  .reference_value = reference * 1e3 };
	snprintf(row.name, sizeof(row.name), "virgo_gemm_swish_%d_embedded", SIDE);
	bench_report(&row);
	free_problem(&p);
	virgo_close(virgo);
}

/* Keeps the result that all later runs must give. */
static void keep_result(const struct problem *p, enum virgo_type type)
{
	for (size_t i = 0; i < p->side * p->side; i++)
		p->expected[i] = type == VIRGO_INT8 ? (float)((const int32_t *)p->c)[i] : ((const float *)p->c)[i];
}

static void gemm_on_daemon(const struct bench_options *options, enum virgo_type type, size_t side, int runs)
{
	struct virgo *embedded = open_cluster(options, "embedded");
	struct virgo *daemon = open_cluster(options, "daemon");
	double times[BENCH_RUNS], ratios[BENCH_RUNS], reference;
	struct virgo_product product;
	struct bench_row row;
	struct problem p;

	make_problem(&p, type, side);
	product = product_of(&p, type);
	time_gemm(embedded, &product, bench_now);
	keep_result(&p, type);
	time_gemm(daemon, &product, bench_now);
	for (int run = 0; run < runs; run++) {
		times[run] = time_gemm(embedded, &product, bench_now);
		ratios[run] = time_gemm(daemon, &product, bench_now) / times[run];
		check(&p, type);
	}
	reference = bench_median(times, (size_t)runs);
	row = (struct bench_row){ .value = bench_median(ratios, (size_t)runs) * reference * 1e3,
				  .unit = "ms",
				  .reference = "the same, embedded",
				  .reference_value = reference * 1e3,
				  .limit = bench_cpus() > 1 ? 1.3 * reference * 1e3 : 0 };
	snprintf(row.name, sizeof(row.name), "virgo_gemm_%s_%zu_daemon", type_names[type], side);
	bench_report(&row);
	free_problem(&p);
	virgo_close(daemon);
	virgo_close(embedded);
}

/* --- single commands ---------------------------------------------------------------------- */

/* A product by plain stores under mimic run, three for each command: seconds of the commands. `patch`: "", or how mimic run is told. */
static double time_stores(const struct bench_options *options, const char *transport, const char *patch)
{
	bool is_daemon = strcmp(transport, "daemon") == 0;
	char command[9000], line[256];
	double seconds = 0;
	FILE *child;

	snprintf(command, sizeof(command), "'%s/bin/mimic' run %s --transport %s %s%s "
		 "'%s/examples/virgo/gemm_stores' --size " STORES_SIZE " --json", options->build, patch, transport,
		 is_daemon ? "--socket " : "", is_daemon ? options->socket : "", options->build);
	child = popen(command, "r");
	while (child && fgets(line, sizeof(line), child)) {
		const char *key = strstr(line, "\"seconds\":");

		if (key)
			seconds = atof(key + strlen("\"seconds\":"));
	}
	if (!child || pclose(child) || !(seconds > 0))
		bench_fail("this failed: %s", command);
	return seconds;
}

static void stores_on_daemon(const struct bench_options *options, const char *name, const char *patch, double limit)
{
	double times[BENCH_RUNS], ratios[BENCH_RUNS], reference;
	struct bench_row row;

	for (int run = 0; run < BENCH_RUNS; run++) {
		times[run] = time_stores(options, "embedded", patch);
		ratios[run] = time_stores(options, "daemon", patch) / times[run];
	}
	reference = bench_median(times, BENCH_RUNS);
	row = (struct bench_row){ .value = bench_median(ratios, BENCH_RUNS) * reference * 1e3,
				  .unit = "ms",
				  .reference = "the same, embedded",
				  .reference_value = reference * 1e3,
				  .limit = bench_cpus() > 1 ? limit * reference * 1e3 : 0 };
	snprintf(row.name, sizeof(row.name), "virgo_stores_int8_" STORES_SIZE "_%s", name);
	bench_report(&row);
}

/* --- two units --------------------------------------------------------------------------- */

static struct virgo *open_two_units(void)
{
	static const char keys[] = "[virgo]\nprofile = mixed\nshared_kb = 256\nunits = 2\nunit1_dim = 8\n";
	char path[] = "/tmp/mimic-bench-virgo-XXXXXX";
	struct virgo_options how = { .transport = "embedded", .config_path = path };
	int fd = mkstemp(path), error;
	struct virgo *virgo;

	if (fd < 0 || write(fd, keys, sizeof(keys) - 1) != sizeof(keys) - 1)
		bench_fail("cannot write %s", path);
	close(fd);
	error = virgo_open(&virgo, &how);
	unlink(path);
	if (error)
		bench_fail("virgo_open: %s", virgo_error_text());
	return virgo;
}

/* The multiplier of one of two threads: OpenBLAS, or a unit. */
struct multiplier {
	const struct openblas *blas;	/* NULL: the unit */
	struct virgo *virgo;
	unsigned int unit;
	struct problem *problem;
};

static void *multiply(void *argument)
{
	const struct multiplier *m = argument;
	const struct virgo_product product = product_of(m->problem, VIRGO_FP32);

	for (unsigned int i = 0; i < TOGETHER; i++) {
		if (m->blas)
			openblas_square(m->blas, SIDE, m->problem->a, m->problem->b, m->problem->expected);
		else if (virgo_gemm(m->virgo, m->unit, &product))
			bench_fail("virgo_gemm: %s", virgo_error_text());
	}
	return NULL;
}

/* Seconds for the TOGETHER products of the first, or of both at once. */
static double time_multipliers(struct multiplier *multipliers, unsigned int count)
{
	pthread_t other;
	double start = bench_now();

	if (count > 1 && pthread_create(&other, NULL, multiply, &multipliers[1]))
		bench_fail("no thread");
	multiply(&multipliers[0]);
	if (count > 1)
		pthread_join(other, NULL);
	return bench_now() - start;
}

/* The gain of two units over one, beside that of two threads of OpenBLAS: two CPUs may share a core. */
static void compare_gains(struct multiplier *cores, struct multiplier *units)
{
	double times[BENCH_RUNS], ratios[BENCH_RUNS], gains[BENCH_RUNS], reference, gain;
	struct bench_row row;

	for (int run = 0; run < BENCH_RUNS; run++) {
		gains[run] = 2 * time_multipliers(cores, 1) / time_multipliers(cores, 2);
		times[run] = time_multipliers(units, 1) / TOGETHER;
		ratios[run] = time_multipliers(units, 2) / (2 * TOGETHER) / times[run];
	}
	reference = bench_median(times, BENCH_RUNS);
	gain = bench_median(gains, BENCH_RUNS);
	row = (struct bench_row){ .value = bench_median(ratios, BENCH_RUNS) * reference * 1e3,
				  .unit = "ms",
				  .reference_value = reference * 1e3,
				  .limit = bench_cpus() > 1 ? reference / (TWO_UNITS_GAIN * gain / 2) * 1e3 : 0 };
	snprintf(row.name, sizeof(row.name), "virgo_gemm_fp32_%d_two_units_each", SIDE);
	snprintf(row.reference, sizeof(row.reference), "one unit; two CPUs gain %.2f for OpenBLAS", gain);
	bench_report(&row);
}

static void two_units(const struct openblas *blas)
{
	struct virgo *virgo = open_two_units();
	struct problem problems[2];
	struct multiplier cores[2], units[2];

	for (unsigned int i = 0; i < 2; i++) {
		make_problem(&problems[i], VIRGO_FP32, SIDE);
		cores[i] = (struct multiplier){ .blas = blas, .problem = &problems[i] };
		units[i] = (struct multiplier){ .virgo = virgo, .unit = i, .problem = &problems[i] };
	}
	time_multipliers(cores, 2);
	time_multipliers(units, 2);
	compare_gains(cores, units);
	for (unsigned int i = 0; i < 2; i++) {
		check(&problems[i], VIRGO_FP32);
		free_problem(&problems[i]);
	}
	virgo_close(virgo);
}

void bench_virgo(const struct bench_options *options)
{
	struct openblas blas;

	openblas_load(&blas);
	bench_pin(0);
	gemm_beside_openblas(options, &blas, VIRGO_FP32);
	gemm_beside_openblas(options, &blas, VIRGO_INT8);
	gemm_beside_openblas(options, &blas, VIRGO_FP16);
	bench_pin(BENCH_ANY_CPU);
	fused_gemm(options);
	two_units(&blas);
	gemm_on_daemon(options, VIRGO_FP32, SIDE, BENCH_RUNS);
	gemm_on_daemon(options, VIRGO_INT8, SIDE, BENCH_RUNS);
	gemm_on_daemon(options, VIRGO_FP32, LARGE_SIDE, LARGE_RUNS);
	stores_on_daemon(options, "daemon", "--no-patch", STORES_LIMIT);
	stores_on_daemon(options, "patched_daemon", "", 0);
}
