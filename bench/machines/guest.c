/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * In the guest: loads that trap, and operations by a lane, of a MAPLE of mimicd, and of a server that answers
 * at once and does nothing; stores that trap, of a Virgo with its memory and of one whose memory is another
 * function. Many short batches take turns, and the least of each counts: other work of the host only adds.
 */
#define _GNU_SOURCE
#include "guest_lanes.h"

#include "instant.h"
#include "mimic/maple_registers.h"
#include "mimic/virgo_registers.h"

#define BATCHES 400
#define TRAPS 20
#define OPERATIONS 640
#define POST_WORDS 64

static struct guest_function maple, instant, whole, split;
static struct guest_lane lane;
static struct instant_memory *answers;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* --- measurements: microseconds of one ------------------------------------------------------- */

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

/* Without the device's work afterwards. A load waits for all of them, and is not counted. */
static double store(const struct guest_function *function)
{
	double begun = now(), time;

	for (int i = 0; i < TRAPS; i++)
		guest_bus_store(function, MIMIC_PCI_DONE, 0);
	time = (now() - begun) / TRAPS;
	guest_bus_load(function, MIMIC_PCI_DONE);
	return time;
}

static double store_beside_memory(void)
{
	return store(&whole);
}

static double store_to_registers_alone(void)
{
	return store(&split);
}

static double stores_until_done(void)
{
	double begun = now();

	store(&split);
	return (now() - begun) / TRAPS;
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

enum {
	TRAP_INSTANT, TRAP_BUS_PAGE, TRAP_REGISTER, STORE_BESIDE_MEMORY, STORE_ALONE, STORES_UNTIL_DONE, ASK,
	LOAD_BY_LANE, WORDS_BY_LANE, ROWS,
};

static struct row {
	const char *name;
	double (*measure)(void);
	double best, all[BATCHES];
} rows[ROWS] = {
	[TRAP_INSTANT] = { .name = "trapped load, server that answers at once", .measure = trap_instant },
	[TRAP_BUS_PAGE] = { .name = "trapped load, mimicd's bus page", .measure = trap_bus_page },
	[TRAP_REGISTER] = { .name = "trapped load, register of a MAPLE", .measure = trap_register },
	[STORE_BESIDE_MEMORY] = { .name = "trapped store, a Virgo's registers beside its memory",
				  .measure = store_beside_memory },
	[STORE_ALONE] = { .name = "trapped store, a Virgo's registers alone: posted",
			  .measure = store_to_registers_alone },
	[STORES_UNTIL_DONE] = { .name = "each of 20 of these and a load, which waits for all",
				.measure = stores_until_done },
	[ASK] = { .name = "question and answer in memory, polling server", .measure = ask },
	[LOAD_BY_LANE] = { .name = "load by a lane, register of a MAPLE", .measure = load_by_lane },
	[WORDS_BY_LANE] = { .name = "a word into a queue and out of it by a lane, 64 at a time",
			    .measure = words_by_lane },
};

/* --- begun --------------------------------------------------------------------------------------- */

static bool find_virgos(void)
{
	if (!guest_find_with(&whole, MIMIC_PCI_VENDOR, VIRGO_PCI_DEVICE, MIMIC_PCI_BAR_MEMORY, true) ||
	    !guest_find_with(&split, MIMIC_PCI_VENDOR, VIRGO_PCI_DEVICE, MIMIC_PCI_BAR_MEMORY, false) ||
	    !guest_enable(&whole) || !guest_enable(&split))
		return false;
	whole.registers = guest_map_bar(&whole, MIMIC_PCI_BAR_REGISTERS);
	split.registers = guest_map_bar(&split, MIMIC_PCI_BAR_REGISTERS);
	return whole.registers && split.registers;
}

static bool start(void)
{
	if (!find_virgos() ||
	    !guest_find(&maple, MIMIC_PCI_VENDOR, MAPLE_PCI_DEVICE) || !guest_enable(&maple) ||
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
	print_ratio("trapped load, to that of the server that answers at once", &rows[TRAP_REGISTER],
		    &rows[TRAP_INSTANT], 1.3);
	print_ratio("load by a lane, to question and answer of the polling server", &rows[LOAD_BY_LANE],
		    &rows[ASK], 2.0);
	return 0;
}
