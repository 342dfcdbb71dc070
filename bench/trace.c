/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The cost of traces: of a model with an unused trace beside one that was compiled without, and of
 * each event of a trace. The model is driven directly, so that nothing else is measured: for MAPLE
 * words through a queue, by pointers in batches, and as single accesses, which have the most events
 * for their work; the other kinds are in trace_kinds.c. And the cost of all in a traced program.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/trace_side.h"
#include "libmimic/base/spool.h"
#include "mimic/maple_registers.h"

#define BATCH 32
#define TARGETS 4096
#define STEPS 500		/* of a window: shorter than a turn on the CPU */
#define QUEUE_CODE 4		/* of INIT: 64 words */
#define ROUNDS 101		/* of windows, in turn with the other model */
#define PRODUCER 1
#define CONSUMER 2
#define SPOOL_MB 512
#define LIMA_ROWS 4096u
#define PAIRS 5

static uint64_t targets[TARGETS], pointers[BATCH];

/* --- a host ------------------------------------------------------------------------------ */

static long gather(void *context, const uint64_t *addresses, size_t count, unsigned int size, uint64_t tag,
		   uint64_t *values)
{
	(void)context;
	(void)size;
	(void)tag;
	for (size_t i = 0; i < count; i++)
		memcpy(&values[i], (const void *)(uintptr_t)addresses[i], sizeof(values[i]));
	return (long)count;
}

static void complete(void *context, uint64_t owner, uint64_t data)
{
	(void)context;
	(void)owner;
	(void)data;
}

static struct mimic_access access_to(unsigned int offset, uint64_t owner, bool is_write)
{
	return (struct mimic_access){ .owner = owner, .offset = offset, .size = 8, .is_write = is_write };
}

static void load(struct side *side, unsigned int offset, uint64_t owner)
{
	struct mimic_access access = access_to(offset, owner, false);

	side->model->ops->access(side->model, &access, ++side->now);
}

static const struct bench_models *open_models(const char *build, const char *library)
{
	const struct bench_models *models;
	char path[4200];
	void *handle;

	snprintf(path, sizeof(path), "%s/bench/%s", build, library);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	models = handle ? dlsym(handle, "bench_models") : NULL;
	if (!models)
		bench_fail("%s", dlerror());
	return models;
}

static void start_maple(struct side *side, const struct bench_models *models)
{
	const struct mimic_host host = { .complete = complete, .memory = { .gather = gather } };

	bench_side_create(side, models->maple, &host, NULL);
	load(side, MAPLE_OFFSET(MAPLE_LOAD_INIT, QUEUE_CODE), PRODUCER);
	load(side, MAPLE_OFFSET(MAPLE_LOAD_OPEN_PRODUCER, 0), PRODUCER);
	load(side, MAPLE_OFFSET(MAPLE_LOAD_OPEN_CONSUMER, 0), CONSUMER);
	for (size_t i = 0; i < BATCH; i++)
		pointers[i] = (uintptr_t)&targets[i * 131 % TARGETS];
}

/* --- steps ----------------------------------------------------------------------------------- */

static void step_batch(struct side *side)
{
	struct mimic_access store = access_to(MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER64, 0), PRODUCER, true);
	struct mimic_access consume = access_to(MAPLE_OFFSET(MAPLE_LOAD_CONSUME, 0), CONSUMER, false);
	const struct mimic_model_ops *ops = side->model->ops;
	uint64_t values[BATCH];

	side->now++;
	if (ops->store_many(side->model, &store, pointers, BATCH, side->now) != BATCH ||
	    ops->load_many(side->model, &consume, values, BATCH, side->now) != BATCH)
		bench_fail("words were lost");
}

static void step_single(struct side *side)
{
	struct mimic_access store = access_to(MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0), PRODUCER, true);
	struct mimic_access consume = access_to(MAPLE_OFFSET(MAPLE_LOAD_CONSUME, 0), CONSUMER, false);
	const struct mimic_model_ops *ops = side->model->ops;

	store.data = ++side->now;
	if (ops->access(side->model, &store, side->now) != MIMIC_DONE ||
	    ops->access(side->model, &consume, side->now) != MIMIC_DONE || consume.data != side->now)
		bench_fail("a word was lost");
}

/* --- off -------------------------------------------------------------------------------------- */

/* Nanoseconds a step. */
static double window(struct side *side, step_function *step)
{
	double start = bench_thread_now();

	for (int i = 0; i < STEPS; i++)
		step(side);
	return (bench_thread_now() - start) / STEPS * 1e9;
}

static void measure_off(struct side *hooked, struct side *plain, const char *name, step_function *step)
{
	double with[ROUNDS], without[ROUNDS], ratios[ROUNDS];
	struct bench_row row = { .unit = "ns/step" };

	for (int i = 0; i < ROUNDS; i++) {
		/* Both orders: the second one finds warmer caches. */
		if (i & 1)
			with[i] = window(hooked, step);
		without[i] = window(plain, step);
		if (!(i & 1))
			with[i] = window(hooked, step);
		ratios[i] = with[i] / without[i];
	}
	snprintf(row.name, sizeof(row.name), "trace_off_%s", name);
	snprintf(row.reference, sizeof(row.reference), "the same model compiled without trace and probes");
	row.reference_value = bench_median(without, ROUNDS);
	row.value = bench_median(ratios, ROUNDS) * row.reference_value;
	/* Where the linker puts a function alone makes 10 %: the two are the same code but for a few branches. */
	row.limit = 1.15 * row.reference_value;
	bench_report(&row);
}

/* --- on ----------------------------------------------------------------------------------------- */

static void make_spool(struct mimic_spool *spool)
{
	char path[] = "/tmp/mimic-bench-spool-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || mimic_spool_create(fd, (uint64_t)SPOOL_MB << 20) || mimic_spool_attach(spool, fd))
		bench_fail("no spool");
	unlink(path);
	close(fd);
}

static uint64_t events;

/* Counts the events of a step on their way to the spool. */
static void (*spool_write)(struct mimic_trace *trace, const struct mimic_trace_event *event);

static void count_event(struct mimic_trace *trace, const struct mimic_trace_event *event)
{
	events++;
	spool_write(trace, event);
}

static uint64_t events_of(struct side *side, struct mimic_spool *spool, step_function *step)
{
	spool_write = spool->trace.write;
	spool->trace.write = count_event;
	events = 0;
	side->model->trace.trace = &spool->trace;
	step(side);
	spool->trace.write = spool_write;
	return events;
}

static void measure_on(struct side *side, const char *name, step_function *step)
{
	double on[ROUNDS], off[ROUNDS], each[ROUNDS];
	struct bench_row row = { .unit = "ns/event", .limit = 100 };
	struct mimic_spool spool;
	uint64_t count;

	make_spool(&spool);
	count = events_of(side, &spool, step);
	for (int i = 0; i < ROUNDS; i++) {
		side->model->trace.trace = NULL;
		off[i] = window(side, step);
		side->model->trace.trace = &spool.trace;
		on[i] = window(side, step);
		each[i] = (on[i] - off[i]) / (double)count;
	}
	side->model->trace.trace = NULL;
	if (atomic_load(&spool.header->lost))
		bench_fail("the spool was full");
	mimic_spool_detach(&spool);
	snprintf(row.name, sizeof(row.name), "trace_on_%s", name);
	snprintf(row.reference, sizeof(row.reference), "the step without a trace; it has %llu events",
		 (unsigned long long)count);
	row.value = bench_median(each, ROUNDS);
	row.reference_value = bench_median(off, ROUNDS);
	bench_report(&row);
}

/* --- all of it ------------------------------------------------------------------------------------ */

/* A program under mimic trace, without the conversion that follows. */
static void measure_program(const struct bench_options *options)
{
	struct bench_child how = { .transport = "embedded", .rows = LIMA_ROWS, .variable = "MIMIC_TRACE" };
	struct bench_row row = { .name = "trace_on_spmv_lima", .unit = "ns/nonzero" };
	double with[PAIRS], without[PAIRS], ratios[PAIRS];

	for (int i = 0; i < PAIRS; i++) {
		char path[] = "/tmp/mimic-bench-spool-XXXXXX";
		int fd = mkstemp(path);

		if (fd < 0 || mimic_spool_create(fd, (uint64_t)SPOOL_MB << 20))
			bench_fail("no spool");
		close(fd);
		how.value = NULL;
		without[i] = bench_lima_in_child(options, &how);
		how.value = path;
		with[i] = bench_lima_in_child(options, &how);
		ratios[i] = with[i] / without[i];
		unlink(path);
	}
	snprintf(row.reference, sizeof(row.reference), "the same without a trace");
	row.reference_value = bench_median(without, PAIRS);
	row.value = bench_median(ratios, PAIRS) * row.reference_value;
	bench_report(&row);
}

static void measure_kind(const struct bench_models *const models[2],
			 void (*start)(struct side *side, const struct bench_models *models),
			 const char *name, step_function *step)
{
	struct side hooked = { 0 }, plain = { 0 };

	start(&hooked, models[0]);
	start(&plain, models[1]);
	measure_off(&hooked, &plain, name, step);
	measure_on(&hooked, name, step);
	hooked.kind->destroy(hooked.model);
	plain.kind->destroy(plain.model);
}

void bench_trace(const struct bench_options *options)
{
	const struct bench_models *const models[2] = {
		open_models(options->build, "models-hooked.so"), open_models(options->build, "models-plain.so"),
	};

	bench_pin(0);
	measure_kind(models, start_maple, "batch", step_batch);
	measure_kind(models, start_maple, "single", step_single);
	measure_kind(models, bench_start_dare, "dare", bench_step_dare);
	measure_kind(models, bench_start_virgo, "virgo", bench_step_virgo);
	measure_program(options);
}
