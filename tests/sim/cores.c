/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* cores THREADS: so many threads at once, main()'s included. Each reads its own words, then they meet. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <mimic/sim.h>

#define THREADS_MAX 65
#define COUNT 1000

static _Alignas(4096) uint32_t words[THREADS_MAX][COUNT];
static uint64_t sums[THREADS_MAX];
static pthread_barrier_t barrier;

__attribute__((noinline)) static uint64_t add_up(const uint32_t *mine)
{
	uint64_t sum = 0;

	for (int i = 0; i < COUNT; i++)
		sum += mine[i];
	return sum;
}

static void *work(void *argument)
{
	uintptr_t number = (uintptr_t)argument;

	pthread_barrier_wait(&barrier);
	sums[number] = add_up(words[number]);
	pthread_barrier_wait(&barrier);
	return argument;
}

int main(int argc, char **argv)
{
	uintptr_t threads = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	pthread_t others[THREADS_MAX];
	uint64_t sum = 0;

	if (!threads || threads > THREADS_MAX || pthread_barrier_init(&barrier, NULL, (unsigned int)threads))
		return 2;
	for (uintptr_t i = 0; i < threads; i++)
		for (uint32_t j = 0; j < COUNT; j++)
			words[i][j] = (uint32_t)i + 1;
	for (uintptr_t i = 1; i < threads; i++)
		if (pthread_create(&others[i], NULL, work, (void *)i))
			return 1;
	mimic_sim_reset();
	work(NULL);
	for (uintptr_t i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	for (uintptr_t i = 0; i < threads; i++)
		sum += sums[i];
	puts(sum == COUNT * threads * (threads + 1) / 2 ? "right" : "wrong");
	return 0;
}
