/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Loops whose cycles follow from their schedule: each unit of work is a load that hits, of a line of the thread's own.
 * Phases: of each loop, with the threads of OMP_NUM_THREADS.
 */
#include <mimic/sim.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define WORK 40000
#define ROWS 200	/* of a triangle: row i has i units */

static volatile struct { int word; } __attribute__((aligned(256))) lines[64];

static void work(volatile int *word, int units)
{
	for (int i = 0; i < units; i++)
		*word;
}

#define PHASE(name, loop) \
	mimic_sim_phase_begin(name); \
	loop \
	mimic_sim_phase_end();

static void triangles(void)
{
	PHASE("triangle static", _Pragma("omp parallel for schedule(static)") for (int i = 0; i < ROWS; i++)
		work(&lines[omp_get_thread_num()].word, i);)
	PHASE("triangle dynamic", _Pragma("omp parallel for schedule(dynamic)") for (int i = 0; i < ROWS; i++)
		work(&lines[omp_get_thread_num()].word, i);)
	PHASE("triangle guided", _Pragma("omp parallel for schedule(guided)") for (int i = 0; i < ROWS; i++)
		work(&lines[omp_get_thread_num()].word, i);)
	PHASE("triangle runtime", _Pragma("omp parallel for schedule(runtime)") for (int i = 0; i < ROWS; i++)
		work(&lines[omp_get_thread_num()].word, i);)
}

/* In how many cycles the fastest thread is behind a barrier to which thread 0 comes last. */
static unsigned long long behind_barrier(void)
{
	unsigned long long least = ~0ull;

#pragma omp parallel
	{
		if (!omp_get_thread_num())
			work(&lines[0].word, 5000);
#pragma omp barrier
#pragma omp critical
		{
			unsigned long long now = mimic_sim_cycles();

			least = now < least ? now : least;
		}
	}
	return least;
}

int main(int argc, char **argv)
{
	unsigned long long begin;

#pragma omp parallel
	work(&lines[omp_get_thread_num()].word, 1);	/* it is in the L1 then */
	PHASE("static", _Pragma("omp parallel for schedule(static)") for (int i = 0; i < WORK; i++)
		work(&lines[omp_get_thread_num()].word, 1);)
	PHASE("empty", _Pragma("omp parallel") __asm__ volatile("");)
	triangles();
	PHASE("critical", _Pragma("omp parallel for") for (int i = 0; i < 64; i++) {
		_Pragma("omp critical")
		work(&lines[omp_get_thread_num()].word, 100);
	})
	begin = mimic_sim_cycles();
	printf("barrier %llu\n", behind_barrier() - begin);
	if (argc > 1 && !strcmp(argv[1], "pthread_exit"))
		pthread_exit(NULL);
	return 0;
}
