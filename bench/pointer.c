/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* PRODUCE_PTR then CONSUME through libmaple, per element, beside a plain independent gather. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bench/bench.h"
#include "libmaple/maple.h"

#define ELEMENTS (1u << 21)
#define KERNEL_ELEMENTS (1u << 18)
#define TARGETS (1u << 17)	/* 8-byte values: 1 MiB */

struct gather {
	uint32_t *index;
	uint64_t *target;
	uint64_t expected;
};

static void make_indices(uint32_t *index)
{
	uint64_t state = 88172645463325252ull;

	for (size_t i = 0; i < ELEMENTS; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		index[i] = (uint32_t)(state % TARGETS);
	}
}

static double plain(struct gather *gather)
{
	double start = bench_now();
	uint64_t sum = 0;

	for (size_t i = 0; i < ELEMENTS; i++)
		sum += gather->target[gather->index[i]];
	start = bench_now() - start;
	gather->expected = sum;
	return start / ELEMENTS * 1e9;
}

static double by_maple(struct maple *maple, const struct gather *gather)
{
	size_t block = maple_queue_words(maple) / 2;
	double start = bench_now();
	uint64_t sum = 0, values[512];

	for (size_t i = 0; i < ELEMENTS; i += block) {
		if (maple_produce_ptr64_batch(maple, 0, gather->target, gather->index + i, block,
					      MAPLE_DRAM) != (ssize_t)block ||
		    maple_consume64_batch(maple, 0, values, block) != (ssize_t)block)
			bench_fail("produce_ptr or consume failed: %s", maple_error_text());
		for (size_t k = 0; k < block; k++)
			sum += values[k];
	}
	start = bench_now() - start;
	if (sum != gather->expected)
		bench_fail("produce_ptr and consume gave another sum");
	return start / ELEMENTS * 1e9;
}

/* The kernel's part where memory is not shared: some of these pointers, as many in a call as a queue has room for. */
static double by_kernel(const struct gather *gather, size_t block)
{
	struct iovec there[512], here = { NULL, block * sizeof(uint64_t) };
	uint64_t values[512];
	double start = bench_now();

	here.iov_base = values;
	for (size_t i = 0; i < KERNEL_ELEMENTS; i += block) {
		for (size_t k = 0; k < block; k++)
			there[k] = (struct iovec){ &gather->target[gather->index[i + k]], sizeof(*values) };
		if (process_vm_readv(getpid(), &here, 1, there, block, 0) != (ssize_t)here.iov_len)
			bench_fail("process_vm_readv: %s", strerror(errno));
	}
	return (bench_now() - start) / KERNEL_ELEMENTS * 1e9;
}

/* Shared memory that the daemon reaches directly, or memory that it reads by process_vm_readv. */
enum memory { REGISTERED, PLAIN };

static void measure(const struct bench_options *options, const char *transport, enum memory memory,
		    double limit)
{
	struct maple_options how = { .transport = transport, .socket_path = options->socket,
				     .queue_words = 128 };
	double plains[BENCH_RUNS], over[BENCH_RUNS], references[BENCH_RUNS];
	struct gather gather;
	struct maple *maple;
	struct bench_row row = { .unit = "ns/element", .limit = limit };
	int error = maple_init(&maple, &how);

	if (error)
		bench_fail("maple_init on %s: %s", transport, maple_error_text());
	gather.target = memory == PLAIN ? malloc(TARGETS * sizeof(*gather.target)) :
			maple_alloc(maple, TARGETS * sizeof(*gather.target));
	gather.index = malloc(ELEMENTS * sizeof(*gather.index));
	if (!gather.target || !gather.index)
		bench_fail("no memory");
	for (size_t i = 0; i < TARGETS; i++)
		gather.target[i] = i * 2654435761u;
	make_indices(gather.index);
	if (maple_open(maple, 0, MAPLE_PRODUCER) || maple_open(maple, 0, MAPLE_CONSUMER))
		bench_fail("maple_open: %s", maple_error_text());
	for (int run = 0; run < BENCH_RUNS; run++) {
		plains[run] = plain(&gather);
		over[run] = by_maple(maple, &gather) - plains[run];
		references[run] = memory == PLAIN ? by_kernel(&gather, maple_queue_words(maple) / 2) : plains[run];
	}
	snprintf(row.name, sizeof(row.name), "pointer_produce_consume_%s%s", transport,
		 memory == PLAIN ? "_unregistered" : "");
	snprintf(row.reference, sizeof(row.reference), "%s",
		 memory == PLAIN ? "process_vm_readv, a queue a call; the value is the time on top of a plain gather" :
				   "plain independent gather (the value is the time on top)");
	row.value = bench_median(over, BENCH_RUNS);
	row.reference_value = bench_median(references, BENCH_RUNS);
	bench_report(&row);
	if (memory == PLAIN)
		free(gather.target);
	else
		maple_free(maple, gather.target);
	free(gather.index);
	maple_fini(maple);
}

void bench_pointer(const struct bench_options *options)
{
	bench_pin(0);
	measure(options, "embedded", REGISTERED, 10);
	measure(options, "daemon", REGISTERED, 30);	/* 14.5 where a line goes between the CPUs and back in 100 ns, 24 in 500 */
	measure(options, "daemon", PLAIN, 0);
}
