/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Many programs at one daemon, each with a device: their rate together, and how even it is. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "libmimic/mimic.h"
#include "mimic/access.h"

/* As docs/maple.md numbers them. */
enum {
	INIT = 0, RESET = 1, OPEN_PRODUCER = 2, OPEN_CONSUMER = 3, CONSUME = 7, PRODUCE = 8, LOOP = 14,
	LIMA_PREFETCH = 54, SET_BASE32 = 57, WORDS_32 = 2,
};
#define LIMA_GAIN 1.7	/* of all threads, to one thread's */
#define CROWD_GAIN 0.5	/* of 64 clients, to 2 clients' */
#define UNFAIR_MOST 0.05	/* 1 - Jain's index at most: that is 1 where all clients have the same */
#define AT(operation, field) ((operation) << 3 | (field) << 9)

#define CLIENTS_MAX 64
#define ELEMENTS 65536u	/* of a loop */
#define WORDS 16u	/* of a batch that is produced, and consumed */
#define WARM_UP_US 300000
#define MEASURED_US 1500000

/* Memory that the clients and the program that measures share. */
struct board {
	_Atomic unsigned int ready;
	_Atomic bool go, over;
	struct {
		_Alignas(128) _Atomic uint64_t done;
	} of[CLIENTS_MAX];
};

struct result {
	double rate;		/* of all, a second */
	double share;		/* of a CPU that a client uses, mean */
	double index;		/* Jain's: 1 if all have the same */
};

struct client {
	struct mimic_device *device;
	struct board *board;
	unsigned int number;
};

static uint64_t access_device(const struct client *client, unsigned int offset, unsigned int size, bool is_write,
			      uint64_t data)
{
	struct mimic_access access = { .offset = (uint16_t)offset, .size = (uint8_t)size, .is_write = is_write,
				       .data = data };

	if (mimic_device_access(client->device, &access))
		bench_fail("client %u: %s", client->number, mimic_error_text());
	return access.data;
}

static void post(const struct client *client, unsigned int offset, unsigned int size, const uint64_t *values,
		 size_t count)
{
	struct mimic_access pattern = { .offset = (uint16_t)offset, .size = (uint8_t)size };

	if (mimic_device_post(client->device, &pattern, values, count) != (ssize_t)count)
		bench_fail("client %u: %s", client->number, mimic_error_text());
}

static void open_device(struct client *client, const char *socket_path)
{
	struct mimic_options how = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = socket_path };

	if (mimic_device_open(&client->device, "maple", &how))
		bench_fail("client %u: %s", client->number, mimic_error_text());
	access_device(client, AT(RESET, 0), 4, false, 0);
	access_device(client, AT(INIT, WORDS_32), 4, false, 0);
	access_device(client, AT(OPEN_PRODUCER, 0), 4, false, 0);
	access_device(client, AT(OPEN_CONSUMER, 0), 4, false, 0);
}

static void count(struct client *client, uint64_t words)
{
	atomic_fetch_add_explicit(&client->board->of[client->number].done, words, memory_order_relaxed);
}

/* A loop of prefetches, and a word behind it that comes when the loop is done. */
static void run_lima(struct client *client)
{
	uint32_t *a = mimic_memory_alloc(client->device, ELEMENTS * sizeof(*a));
	uint32_t *b = mimic_memory_alloc(client->device, ELEMENTS * sizeof(*b));
	const uint64_t loop = ELEMENTS, word = 1;

	if (!a || !b)
		bench_fail("client %u has no memory", client->number);
	for (uint32_t i = 0; i < ELEMENTS; i++)
		b[i] = i * 7919 % ELEMENTS;
	access_device(client, AT(SET_BASE32, 0), 8, true, (uintptr_t)a);
	access_device(client, AT(LIMA_PREFETCH, 0), 8, true, (uintptr_t)b);
	while (!atomic_load(&client->board->over)) {
		post(client, AT(LOOP, 0), 8, &loop, 1);
		post(client, AT(PRODUCE, 0), 4, &word, 1);
		access_device(client, AT(CONSUME, 0), 4, false, 0);
		count(client, ELEMENTS);
	}
}

static void run_words(struct client *client)
{
	const struct mimic_access pattern = { .offset = AT(CONSUME, 0), .size = 4 };
	uint64_t values[WORDS] = { 0 };
	uint32_t words[WORDS];

	while (!atomic_load(&client->board->over)) {
		post(client, AT(PRODUCE, 0), 4, values, WORDS);
		if (mimic_device_load(client->device, &pattern, words, WORDS) != WORDS)
			bench_fail("client %u: %s", client->number, mimic_error_text());
		count(client, WORDS);
	}
}

static void start_client(struct board *board, unsigned int number, const char *socket_path,
			 void (*run)(struct client *))
{
	struct client client = { .board = board, .number = number };
	pid_t pid = fork();

	if (pid < 0)
		bench_fail("no process");
	if (pid)
		return;
	open_device(&client, socket_path);
	atomic_fetch_add(&board->ready, 1);
	while (!atomic_load(&board->go))
		usleep(1000);
	run(&client);
	_exit(0);
}

static double children_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void evaluate(const struct board *board, const uint64_t *before, unsigned int clients, double seconds,
		     struct result *result)
{
	double sum = 0, squares = 0;

	for (unsigned int i = 0; i < clients; i++) {
		double done = (double)(atomic_load(&board->of[i].done) - before[i]);

		sum += done;
		squares += done * done;
	}
	result->rate = sum / seconds;
	result->index = sum * sum / (clients * squares);
}

static void measure(const struct bench_options *options, const char *threads, unsigned int clients,
		    void (*run)(struct client *), struct result *result)
{
	struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char socket_path[sizeof(options->socket) + 8];
	double used = children_seconds(), begun, whole;
	uint64_t before[CLIENTS_MAX];
	pid_t daemon;

	if (board == MAP_FAILED)
		bench_fail("no memory");
	snprintf(socket_path, sizeof(socket_path), "%s.many", options->socket);
	daemon = bench_start_threads_daemon(options, "maple:64", socket_path, threads);
	bench_pin(BENCH_ANY_CPU);
	for (unsigned int i = 0; i < clients; i++)
		start_client(board, i, socket_path, run);
	while (atomic_load(&board->ready) < clients)
		usleep(1000);
	whole = bench_now();
	atomic_store(&board->go, true);
	usleep(WARM_UP_US);
	begun = bench_now();
	for (unsigned int i = 0; i < clients; i++)
		before[i] = atomic_load(&board->of[i].done);
	usleep(MEASURED_US);
	evaluate(board, before, clients, bench_now() - begun, result);
	atomic_store(&board->over, true);
	for (unsigned int i = 0; i < clients; i++)
		wait(NULL);
	result->share = 100 * (children_seconds() - used) / (bench_now() - whole) / clients;
	bench_stop_daemon(daemon);
	munmap(board, sizeof(*board));
}

/* `gain`: 0, or how many times as many words as the reference it has to move at least. */
static void report(const char *name, const struct result *result, const struct result *reference, const char *what, double gain)
{
	struct bench_row row = { .value = 1e9 / result->rate, .unit = "ns a word",
				 .reference_value = 1e9 / reference->rate,
				 .limit = gain && bench_cpus() > 1 ? 1e9 / reference->rate / gain : 0 };

	snprintf(row.name, sizeof(row.name), "%s", name);
	snprintf(row.reference, sizeof(row.reference), "%s", what);
	bench_report(&row);
	row = (struct bench_row){ .value = 1 - result->index, .unit = "1 - Jain's index", .limit = UNFAIR_MOST };
	snprintf(row.name, sizeof(row.name), "%s_fairness", name);
	snprintf(row.reference, sizeof(row.reference), "a client uses %.1f %% of a CPU", result->share);
	bench_report(&row);
}

void bench_clients(const struct bench_options *options)
{
	struct result one, all, two, many;

	measure(options, "1", 16, run_lima, &one);
	measure(options, "0", 16, run_lima, &all);
	report("lima_16_clients_one_thread", &one, &one, "itself", 0);
	report("lima_16_clients", &all, &one, "one thread of the daemon", LIMA_GAIN);
	measure(options, "0", 2, run_words, &two);
	measure(options, "1", 64, run_words, &one);
	measure(options, "0", 64, run_words, &many);
	report("produce_consume_2_clients", &two, &two, "itself", 0);
	report("produce_consume_64_clients_one_thread", &one, &two, "2 clients", 0);
	report("produce_consume_64_clients", &many, &two, "2 clients", CROWD_GAIN);
}
