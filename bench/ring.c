/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The ring of include/mimic/ring.h by itself: one way in batches, and there and back. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "mimic/ring.h"

#define WORDS 4096
#define BATCH 128
#define BATCHES_A_WINDOW 128	/* four times round the ring */
#define FLOOR_PASSES 501
#define ITEMS (8u << 20)
#define ROUND_TRIPS 200

static struct mimic_ring *there, *back;

static void *reader(void *result)
{
	struct mimic_ring_end end;
	uint64_t sum = 0, done = 0;

	bench_pin(1);
	mimic_ring_attach(&end, there, WORDS);
	while (done < ITEMS) {
		int64_t level = mimic_ring_level(&end, 1);
		const uint64_t *words;
		uint64_t piece;

		if (!level)
			continue;
		words = mimic_ring_piece(&end, 0, (uint64_t)level, &piece);
		for (uint64_t i = 0; i < piece; i++)
			sum += words[i];
		mimic_ring_release(&end, piece);
		done += piece;
	}
	*(uint64_t *)result = sum;
	return NULL;
}

struct writer {
	struct mimic_ring_end end;
	uint64_t item;
};

/* The ring holds a whole number of batches, so that none wraps. */
static void write_batch(void *context)
{
	struct writer *writer = context;
	uint64_t *words, piece;

	while (mimic_ring_room(&writer->end, BATCH) < BATCH)
		;
	words = mimic_ring_piece(&writer->end, 0, BATCH, &piece);
	for (uint64_t i = 0; i < BATCH; i++)
		words[i] = writer->item + i;
	mimic_ring_publish(&writer->end, BATCH);
	writer->item += BATCH;
}

static double one_way(void)
{
	struct writer writer = { .item = 0 };
	uint64_t sum = 0;
	pthread_t thread;
	double value;

	memset(there, 0, sizeof(*there));
	mimic_ring_attach(&writer.end, there, WORDS);
	pthread_create(&thread, NULL, reader, &sum);
	bench_pin(0);
	value = bench_windows(write_batch, &writer, BATCHES_A_WINDOW) / BATCH;
	while (writer.item < ITEMS)
		write_batch(&writer);
	pthread_join(thread, NULL);
	if (sum != (uint64_t)ITEMS * (ITEMS - 1) / 2)
		bench_fail("the ring lost items");
	return value;
}

static _Atomic bool over;

static void *echo(void *unused)
{
	struct mimic_ring_end in, out;

	(void)unused;
	bench_pin(1);
	mimic_ring_attach(&in, there, WORDS);
	mimic_ring_attach(&out, back, WORDS);
	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		if (!mimic_ring_level(&in, 1))
			continue;
		mimic_ring_put(&out, 0, mimic_ring_get(&in, 0));
		mimic_ring_publish(&out, 1);
		mimic_ring_release(&in, 1);
	}
	return NULL;
}

struct both_ways {
	struct mimic_ring_end out, in;
	uint64_t sent;
};

static void there_and_back(void *context)
{
	struct both_ways *ways = context;

	mimic_ring_put(&ways->out, 0, ++ways->sent);
	mimic_ring_publish(&ways->out, 1);
	while (!mimic_ring_level(&ways->in, 1))
		;
	if (mimic_ring_get(&ways->in, 0) != ways->sent)
		bench_fail("the ring answered with another item");
	mimic_ring_release(&ways->in, 1);
}

static double round_trip(void)
{
	struct both_ways ways = { .sent = 0 };
	pthread_t thread;
	double value;

	memset(there, 0, sizeof(*there));
	memset(back, 0, sizeof(*back));
	mimic_ring_attach(&ways.out, there, WORDS);
	mimic_ring_attach(&ways.in, back, WORDS);
	atomic_store(&over, false);
	pthread_create(&thread, NULL, echo, NULL);
	bench_pin(0);
	value = bench_windows(there_and_back, &ways, ROUND_TRIPS);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	return value;
}

static _Alignas(128) volatile uint64_t floor_words[WORDS];
static _Atomic int floor_turn;

/* Reads words that the other side wrote, over and over; *opaque gets the median time of a word. */
static void *floor_reader(void *opaque)
{
	double values[FLOOR_PASSES];
	uint64_t sum = 0;

	bench_pin(1);
	for (int pass = 0; pass < FLOOR_PASSES; pass++) {
		double start;

		while (atomic_load(&floor_turn) != 2 * pass + 1)
			;
		start = bench_now();
		for (size_t i = 0; i < WORDS; i++)
			sum += floor_words[i];
		values[pass] = (bench_now() - start) / WORDS * 1e9;
		atomic_store(&floor_turn, 2 * pass + 2);
	}
	*(double *)opaque = bench_median(values, FLOOR_PASSES);
	return sum == 1 ? opaque : NULL;
}

/* A lower bound for any ring: words that one CPU wrote, read by another as a plain array. */
static double transfer_floor(void)
{
	double value = 0;
	pthread_t thread;

	atomic_store(&floor_turn, 0);
	pthread_create(&thread, NULL, floor_reader, &value);
	bench_pin(0);
	for (int pass = 0; pass < FLOOR_PASSES; pass++) {
		for (size_t i = 0; i < WORDS; i++)
			floor_words[i] = (uint64_t)pass + i;
		atomic_store(&floor_turn, 2 * pass + 1);
		while (atomic_load(&floor_turn) != 2 * pass + 2)
			;
	}
	pthread_join(thread, NULL);
	return value;
}

static void make_rings(void)
{
	there = aligned_alloc(128, mimic_ring_size(WORDS));
	back = aligned_alloc(128, mimic_ring_size(WORDS));
	if (!there || !back)
		bench_fail("no memory");
	memset(there, 0, mimic_ring_size(WORDS));
	memset(back, 0, mimic_ring_size(WORDS));
}

void bench_ring(const struct bench_options *options)
{
	double ways[BENCH_RUNS], trips[BENCH_RUNS], one[BENCH_RUNS], two[BENCH_RUNS];
	double ratios[BENCH_RUNS], floors[BENCH_RUNS], reference, floor;
	struct bench_row row;

	(void)options;
	make_rings();
	/* the distance between the CPUs changes while we run: measure it beside each trip */
	for (int run = 0; run < BENCH_RUNS; run++) {
		floors[run] = transfer_floor();
		ways[run] = one_way();
		one[run] = bench_ping_pong();
		two[run] = bench_ping_pong_two_lines();
		trips[run] = round_trip();
		ratios[run] = trips[run] / two[run];
	}
	/* 1.5 ns, or where the CPUs themselves take nearly that long, a quarter more than they do */
	floor = bench_median(floors, BENCH_RUNS);
	row = (struct bench_row){ "ring_one_way_batched", bench_median(ways, BENCH_RUNS), "ns/item",
				  "plain read of words another CPU wrote", floor,
				  1.25 * floor > 1.5 ? 1.25 * floor : 1.5 };
	bench_report(&row);
	reference = bench_median(one, BENCH_RUNS);
	row = (struct bench_row){ "ping_pong_line_each_way", bench_median(two, BENCH_RUNS), "ns",
				  "ping-pong of one cache line", reference, 0 };
	bench_report(&row);
	reference = row.value;
	row = (struct bench_row){ "ring_round_trip", bench_median(ratios, BENCH_RUNS) * reference,
				  "ns", "ping-pong with a cache line each way", reference,
				  1.3 * reference };
	bench_report(&row);
	free(there);
	free(back);
}
