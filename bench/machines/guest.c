/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * In the guest: loads that trap, and operations by a lane, of a MAPLE of mimicd, and of a server that answers at once
 * and does nothing. Many short batches take turns, and the least of each counts: other work of the host only adds.
 */
#define _GNU_SOURCE
#include "guest_lanes.h"

#include "instant.h"
#include "mimic/maple_registers.h"

#define BATCHES 400
#define TRAPS 20
#define OPERATIONS 640
#define POST_WORDS 64

static struct guest_function maple, instant;
static struct guest_lane lane;
static struct instant_memory *answers;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* --- what is measured: microseconds of one --------------------------------------------------- */

static double trap(const struct guest_function *function, unsigned int offset)
{
	double begun = now();

	for (int i = 0; i < TRAPS; i++)
		guest_bus_load(function, offset);
	return (now() - begun) / TRAPS;
}

static double trap_instant(void)
{
	return trap(&instant, 0);
}

static double trap_bus_page(void)
{
	return trap(&maple, MIMIC_PCI_MAGIC);
}

static double trap_register(void)
{
	return trap(&maple, MIMIC_PCI_DEVICE_PAGE(MAPLE_PAGE_MAPLE) + MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0));
}

static double ask(void)
{
	static uint64_t question;
	double begun = 0;

	/* The thread is awake when it has answered once. */
	guest_bus_store(&instant, 0, 1);
	for (int i = -1; i < OPERATIONS; i++) {
		if (!i)
			begun = now();
		atomic_store_explicit(&answers->question, ++question, memory_order_release);
		while (atomic_load_explicit(&answers->answer, memory_order_acquire) != question)
			;
	}
	begun = now() - begun;
	guest_bus_store(&instant, 0, 0);
	return begun / OPERATIONS;
}

static double load_by_lane(void)
{
	double begun = 0;

	for (int i = -1; i < OPERATIONS; i++) {
		if (!i)
			begun = now();
		guest_lane_load(&lane, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8);
	}
	return (now() - begun) / OPERATIONS;
}

/* Through a queue: as many words in a command, as many answers. */
static double words_by_lane(void)
{
	const unsigned int produce = MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0), consume = MAPLE_OFFSET(MAPLE_LOAD_CONSUME, 0);
	double begun = now();
	int words = 0;

	for (; words < OPERATIONS; words += POST_WORDS) {
		mimic_ring_put(&lane.commands, 0, guest_word(MIMIC_COMMAND_STORE, MAPLE_PAGE_MAPLE, produce, 4, POST_WORDS));
		for (unsigned int i = 0; i < POST_WORDS; i++)
			mimic_ring_put(&lane.commands, 1 + i, i);
		mimic_ring_put(&lane.commands, 1 + POST_WORDS,
			       guest_word(MIMIC_COMMAND_LOAD, MAPLE_PAGE_MAPLE, consume, 4, POST_WORDS));
		guest_publish(&lane, POST_WORDS + 2);
		for (unsigned int i = 0; i < POST_WORDS; i++) {
			if (guest_answer(&lane) != i)
				return -1;
		}
	}
	return (now() - begun) / words;
}

static struct row {
	const char *name;
	double (*measure)(void);
	double best, all[BATCHES];
} rows[] = {
	{ .name = "trapped load, server that answers at once", .measure = trap_instant },
	{ .name = "trapped load, mimicd's bus page", .measure = trap_bus_page },
	{ .name = "trapped load, register of a MAPLE", .measure = trap_register },
	{ .name = "question and answer in memory, polling server", .measure = ask },
	{ .name = "load by a lane, register of a MAPLE", .measure = load_by_lane },
	{ .name = "a word into a queue and out of it by a lane, 64 at a time", .measure = words_by_lane },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* --- begun --------------------------------------------------------------------------------------- */

static bool start(void)
{
	if (!guest_find(&maple, MIMIC_PCI_VENDOR, MAPLE_PCI_DEVICE) || !guest_enable(&maple) ||
	    !guest_find(&instant, INSTANT_VENDOR, INSTANT_DEVICE) || !guest_enable(&instant))
		return false;
	maple.registers = guest_map_bar(&maple, MIMIC_PCI_BAR_REGISTERS);
	maple.rings = guest_map_bar(&maple, MIMIC_PCI_BAR_RINGS);
	instant.registers = guest_map_bar(&instant, 0);
	answers = guest_map_bar(&instant, INSTANT_BAR);
	if (!maple.registers || !maple.rings || !instant.registers || !answers)
		return false;
	guest_bus_store(&maple, MIMIC_PCI_SPACE(1) + MIMIC_PCI_SPACE_MODE, MIMIC_PCI_MODE_PHYSICAL);
	return guest_open_lane(&maple, &lane, 0, 1);
}

static bool open_queue(void)
{
	/* Queues of 128 words. */
	guest_lane_load(&lane, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_INIT, 7), 4);
	return guest_lane_load(&lane, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_OPEN_PRODUCER, 0), 4) & 2 &&
	       guest_lane_load(&lane, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_OPEN_CONSUMER, 0), 4) & 1;
}

static int compare(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

static void print_ratio(const char *name, const struct row *a, const struct row *b, double limit)
{
	printf("%-62s %8.2f   at most %.1f\n", name, a->best / b->best, limit);
}

int main(void)
{
	if (!start() || !open_queue()) {
		printf("no such functions\n");
		return 1;
	}
	for (int batch = 0; batch < BATCHES; batch++) {
		for (size_t i = 0; i < ROWS; i++) {
			rows[i].all[batch] = rows[i].measure();
			if (!batch || rows[i].all[batch] < rows[i].best)
				rows[i].best = rows[i].all[batch];
		}
	}
	printf("%-62s %8s %8s\n", "microseconds", "least", "median");
	for (size_t i = 0; i < ROWS; i++) {
		qsort(rows[i].all, BATCHES, sizeof(double), compare);
		printf("%-62s %8.3f %8.3f\n", rows[i].name, rows[i].best, rows[i].all[BATCHES / 2]);
	}
	print_ratio("trapped load, to that of the server that answers at once", &rows[2], &rows[0], 1.3);
	print_ratio("load by a lane, to question and answer of the polling server", &rows[4], &rows[3], 2.0);
	return 0;
}
