/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program's own loads and stores of Virgo's shared memory.
 *
 *   virgo_shared node           512 words of /dev/virgo0's mapping, in phases: loads, stores, atomics; then others
 *                               of memory that was mapped in its place
 *   virgo_shared library        the same by libvirgo's pointer
 *   virgo_shared threads BYTES  four threads read 512 words at once, each those that lie BYTES behind the ones before
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mimic/sim.h>
#include <mimic/virgo_registers.h>
#include <virgo.h>

#define SIZE 65536u
#define WORDS 512u
#define THREADS 4u

static volatile uint32_t *shared;

static void load_words(const volatile uint32_t *words)
{
	for (unsigned int i = 0; i < WORDS; i++)
		(void)words[i];
}

static void all_kinds(volatile uint32_t *words, const char *const *phases)
{
	mimic_sim_phase_begin(phases[0]);
	load_words(words);
	mimic_sim_phase_end();
	mimic_sim_phase_begin(phases[1]);
	for (unsigned int i = 0; i < WORDS; i++)
		words[i] = i;
	mimic_sim_phase_end();
	mimic_sim_phase_begin(phases[2]);
	for (unsigned int i = 0; i < WORDS; i++)
		__atomic_fetch_add(&words[i], 1, __ATOMIC_RELAXED);
	mimic_sim_phase_end();
}

static pthread_barrier_t barrier;

static void *read_words(void *words)
{
	pthread_barrier_wait(&barrier);
	load_words(words);
	return NULL;
}

static int four_threads(unsigned int apart)
{
	char *words = (char *)(uintptr_t)shared;
	pthread_t thread[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (unsigned int i = 1; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, read_words, words + i * apart))
			return 3;
	read_words(words);
	for (unsigned int i = 1; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static int map_node(void)
{
	int file = open("/dev/virgo0", O_RDWR | O_CLOEXEC);

	if (file < 0)
		return 3;
	/* It stays open: the device's end would be the end of its pages, too. */
	shared = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, VIRGO_SHARED_OFFSET);
	return shared == MAP_FAILED ? 3 : 0;
}

/* Of memory at the addresses that were the device's. */
static int others(const char *const *phases)
{
	void *memory = (void *)(uintptr_t)shared;

	if (munmap(memory, SIZE) ||
	    mmap(memory, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != memory)
		return 3;
	all_kinds(shared, phases);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const device[] = { "loads", "stores", "atomics" };
	static const char *const memory[] = { "memory loads", "memory stores", "memory atomics" };
	struct virgo *virgo = NULL;

	if (argc < 2)
		return 3;
	if (!strcmp(argv[1], "library")) {
		if (virgo_open(&virgo, NULL))
			return 3;
		shared = virgo_shared(virgo, NULL);
		all_kinds(shared, device);
		virgo_close(virgo);
		return others(memory);
	}
	if (map_node())
		return 3;
	if (!strcmp(argv[1], "threads"))
		return four_threads(argc > 2 ? (unsigned int)atoi(argv[2]) : 0);
	all_kinds(shared, device);
	return others(memory);
}
