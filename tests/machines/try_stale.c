/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A device that reads a process's pages while the process changes those pages, by all the calls that
 * do: an access that begins afterwards never reads an old page. TAP.
 *
 *	try_stale ACCESSES	of the device, each checked
 *
 * Each page has its number of changes in its first word. `begun` and `done` count them, before and after:
 * an access reads at least `done` as it was when it began, at most `begun` when it ended, or 0
 * where a change was under way.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmimic/mimic.h"
#include "mimic/maple_registers.h"

#define PAGE 4096u
#define PAGES 32u
#define BATCH 128u	/* as many words as the queue has room for */
#define PACE 300u	/* accesses for each change: the device knows most pages when one goes */

static char *memory;
static _Atomic uint32_t begun[PAGES], done[PAGES];
static _Atomic unsigned long made;	/* accesses */
static _Atomic bool is_over;

static volatile uint32_t *word_of(unsigned int page)
{
	return (volatile uint32_t *)(void *)(memory + (size_t)page * PAGE);
}

/* --- changes ------------------------------------------------------------------------------------ */

static bool map_fresh(unsigned int page)
{
	void *place = memory + (size_t)page * PAGE;

	return mmap(place, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == place;
}

static bool map_over(unsigned int page, uint32_t number)
{
	bool is_mapped = map_fresh(page);

	*word_of(page) = number;
	return is_mapped;
}

static bool unmap(unsigned int page, uint32_t number)
{
	bool is_gone = !munmap(memory + (size_t)page * PAGE, PAGE);

	return map_over(page, number) && is_gone;
}

static bool protect(unsigned int page, uint32_t number)
{
	void *place = memory + (size_t)page * PAGE;
	bool is_done = !mprotect(place, PAGE, PROT_NONE) && !mprotect(place, PAGE, PROT_READ | PROT_WRITE);

	*word_of(page) = number;
	return is_done;
}

static bool drop(unsigned int page, uint32_t number)
{
	bool is_done = !madvise(memory + (size_t)page * PAGE, PAGE, MADV_DONTNEED);

	*word_of(page) = number;
	return is_done;
}

/* The child keeps the page; this process's becomes another one with the store. */
static bool fork_and_write(unsigned int page, uint32_t number)
{
	int status = -1, ends[2];
	char byte = 0;
	bool is_kept;
	pid_t child;

	if (pipe(ends))
		return false;
	child = fork();
	if (!child) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) == 1 && *word_of(page) == number - 1 ? 0 : 1);
	}
	*word_of(page) = number;
	/* The child's page must stay for so long that a stale access would find it. */
	atomic_store(&done[page], number);
	usleep(500);
	is_kept = child > 0 && write(ends[1], &byte, 1) == 1 && waitpid(child, &status, 0) == child && !status;
	close(ends[0]);
	close(ends[1]);
	return is_kept;
}

static struct change {
	const char *what;
	bool (*make)(unsigned int page, uint32_t number);
	unsigned int count, failed;
} changes[] = {
	{ .what = "pages are mapped over", .make = map_over },
	{ .what = "pages are unmapped", .make = unmap },
	{ .what = "pages lose their protection", .make = protect },
	{ .what = "pages are dropped", .make = drop },
	{ .what = "pages are copied on write after a fork", .make = fork_and_write },
};

#define CHANGES (sizeof(changes) / sizeof(changes[0]))

static void *change_pages(void *unused)
{
	unsigned int seed = 1;

	(void)unused;
	for (unsigned int i = 0; !atomic_load(&is_over); i++) {
		struct change *change = &changes[i % CHANGES];
		unsigned int page = (unsigned int)rand_r(&seed) % PAGES;
		uint32_t number = atomic_load(&done[page]) + 1;

		while (atomic_load(&made) < (unsigned long)i * PACE && !atomic_load(&is_over))
			sched_yield();
		atomic_store(&begun[page], number);
		change->failed += !change->make(page, number);
		change->count++;
		atomic_store(&done[page], number);
	}
	return NULL;
}

/* --- accesses ------------------------------------------------------------------------------------- */

static struct mimic_device *device;

static uint64_t load(unsigned int operation, unsigned int field)
{
	struct mimic_access access = { .offset = MAPLE_OFFSET(operation, field), .size = 4 };

	return mimic_device_access(device, &access) ? UINT64_MAX : access.data;
}

static struct counts {
	unsigned long stale, early, zero, during;
} counts;

static void judge(uint32_t value, uint32_t least, uint32_t most)
{
	counts.during += most != least;
	if (!value && most != least)
		counts.zero++;
	else if (value < least)
		counts.stale++;
	else if (value > most)
		counts.early++;
}

static bool read_pages(unsigned int *seed)
{
	const struct mimic_access pointer = {
		.offset = MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER32, 0), .size = 8, .is_write = 1,
	};
	unsigned int pages[BATCH];
	uint32_t least[BATCH];
	uint64_t addresses[BATCH];

	for (unsigned int i = 0; i < BATCH; i++) {
		pages[i] = (unsigned int)rand_r(seed) % PAGES;
		addresses[i] = (uintptr_t)word_of(pages[i]);
		least[i] = atomic_load(&done[pages[i]]);
	}
	if (mimic_device_post(device, &pointer, addresses, BATCH) != BATCH)
		return false;
	for (unsigned int i = 0; i < BATCH; i++) {
		uint64_t value = load(MAPLE_LOAD_CONSUME, 0);

		if (value == UINT64_MAX)
			return false;
		judge((uint32_t)value, least[i], atomic_load(&begun[pages[i]]));
	}
	return true;
}

static bool start(void)
{
	static const struct mimic_options by_nodes = { .transport = MIMIC_TRANSPORT_KERNEL };

	if (mimic_device_open(&device, "maple0", &by_nodes)) {
		printf("# %s\n", mimic_error_text());
		return false;
	}
	load(MAPLE_LOAD_INIT, 7);
	load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	/* At an address that nothing else is given while a page of it is unmapped. */
	memory = mmap((void *)0x3000000000, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory != MAP_FAILED;
}

static unsigned int tests, failures;

static void check(bool holds, const char *what)
{
	failures += !holds;
	printf("%sok %u - %s\n", holds ? "" : "not ", ++tests, what);
}

int main(int argc, char **argv)
{
	unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned int seed = 2;
	pthread_t thread;

	if (!wanted || !start())
		return 1;
	pthread_create(&thread, NULL, change_pages, NULL);
	while (atomic_load(&made) < wanted && read_pages(&seed))
		atomic_fetch_add(&made, BATCH);
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	printf("# %lu accesses, %lu during a change, of which %lu read 0\n", atomic_load(&made),
	       counts.during, counts.zero);
	for (size_t i = 0; i < CHANGES; i++) {
		printf("# %s: %u times\n", changes[i].what, changes[i].count);
		check(changes[i].count >= wanted / PACE / CHANGES / 2 && !changes[i].failed, changes[i].what);
	}
	check(atomic_load(&made) >= wanted, "the device reads them meanwhile");
	check(!counts.stale, "no access reads what was gone when it began");
	check(!counts.early, "none reads what was never there");
	mimic_device_close(device);
	printf("1..%u\n", tests);
	return failures != 0;
}
