/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How long a load from MAPLE takes whose data is there: the paper's Figure 14. With an
 * argument, how long a load from memory takes: each loads the address of the next, over so many
 * bytes, which have all been loaded before. In virtual time (mimic sim) the report says it
 * exactly: load_cycles by loads of the phase. Here the loop's own instructions are in it, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <mimic/sim.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/common/array.h"
#include "examples/common/pairs.h"
#include "examples/common/random.h"
#include "examples/maple/loops/round_trip.h"
#include "maple.h"

#define WORDS 16
#define LINE 64			/* as long as a line of any cache here */
#define BYTES_MAX (1u << 30)

/* A phase that comes again adds up. */
static void measure_begin(const char *phase, double *nanoseconds)
{
	if (mimic_sim_phase_begin)
		mimic_sim_phase_begin(phase);
	*nanoseconds -= 1e9 * clock_seconds();
}

static void measure_end(double *nanoseconds)
{
	*nanoseconds += 1e9 * clock_seconds();
	if (mimic_sim_phase_end)
		mimic_sim_phase_end();
}

/* --- MAPLE ------------------------------------------------------------------------- */

static int measure(struct maple *maple, double *nanoseconds)
{
	uint32_t sum = 0;
	int error = maple_open(maple, 0, MAPLE_PRODUCER);

	if (!error)
		error = maple_open(maple, 0, MAPLE_CONSUMER);
	/* One by one: the queue may hold one word. A store that is not acknowledged arrives in the meantime. */
	for (uint32_t i = 0; i < WORDS && !error; i++) {
		error = maple_produce32(maple, 0, i);
		if (error)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
		measure_begin("round trips", nanoseconds);
		sum += round_trips(maple, 0, 1);
		measure_end(nanoseconds);
	}
	if (error)
		return error;
	return sum == WORDS * (WORDS - 1) / 2 ? 0 : -EIO;
}

static int measure_maple(void)
{
	struct maple *maple;
	double nanoseconds = 0;
	int error = maple_init(&maple, NULL);

	if (!error)
		error = measure(maple, &nanoseconds);
	if (error) {
		fprintf(stderr, "round_trip: %s\n", *maple_error_text() ? maple_error_text() : strerror(-error));
		return 1;
	}
	printf("A load from MAPLE takes %.1f ns (in virtual time: cycles).\n", nanoseconds / WORDS);
	maple_fini(maple);
	return 0;
}

/* --- memory ------------------------------------------------------------------------ */

/* A ring through the first word of each line, in an order without a pattern. */
static void link_lines(char *memory, uint32_t *order, uint32_t lines)
{
	for (uint32_t i = 0; i < lines; i++)
		order[i] = i;
	for (uint32_t i = lines - 1; i > 0; i--) {
		uint32_t other = (uint32_t)(random_mix(i) % (i + 1)), line = order[i];

		order[i] = order[other];
		order[other] = line;
	}
	for (uint32_t i = 0; i < lines; i++)
		*(void **)(memory + (size_t)order[i] * LINE) = memory + (size_t)order[(i + 1) % lines] * LINE;
}

static int measure_memory(const char *text)
{
	char *end, *memory;
	unsigned long bytes = strtoul(text, &end, 10);
	uint32_t lines = (uint32_t)(bytes / LINE), *order;
	double nanoseconds = 0;
	bool is_around;

	if (*end || bytes < 2 * LINE || bytes > BYTES_MAX) {
		fprintf(stderr, "round_trip: %s: it must be %d to %u bytes\n", text, 2 * LINE, BYTES_MAX);
		return 2;
	}
	memory = array_alloc(lines, LINE);
	order = calloc(lines, sizeof(*order));
	if (!memory || !order) {
		fprintf(stderr, "round_trip: no memory for %s bytes\n", text);
		return 1;
	}
	link_lines(memory, order, lines);
	follow_pointers((void *const *)memory, lines);
	measure_begin("loads", &nanoseconds);
	is_around = (const char *)follow_pointers((void *const *)memory, lines) == memory;
	measure_end(&nanoseconds);
	array_free(memory, lines, LINE);
	free(order);
	if (!is_around) {
		fprintf(stderr, "round_trip: the pointers do not lead around\n");
		return 1;
	}
	printf("A load from %lu bytes of memory takes %.1f ns (in virtual time: cycles).\n", bytes, nanoseconds / lines);
	return 0;
}

int main(int argc, char **argv)
{
	return argc > 1 ? measure_memory(argv[1]) : measure_maple();
}
