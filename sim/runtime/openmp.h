/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shared by the files of OpenMP: teams of threads, and the work that a team shares. */
#ifndef MIMIC_SIM_RUNTIME_OPENMP_H
#define MIMIC_SIM_RUNTIME_OPENMP_H

#include "sim/openmp.h"
#include "sim/runtime/internal.h"

/* Instructions beside the accesses of the team's words; assumptions, which docs/timing.md lists. */
#define SIM_OPENMP_FORK 100	/* of a parallel region */
#define SIM_OPENMP_THREAD 20	/* of each thread more */
#define SIM_OPENMP_BARRIER 20
#define SIM_OPENMP_CHUNK 20	/* of a loop, or a section */
#define SIM_OPENMP_LOCK 10

#define SIM_OPENMP_SHARES 64	/* constructs without a wait that the threads of a team can be apart */
#define SIM_OPENMP_LINE 256	/* no cache line is longer */

enum sim_openmp_schedule { SIM_OPENMP_STATIC = 1, SIM_OPENMP_DYNAMIC, SIM_OPENMP_GUIDED };

/* A loop, sections or a single: iterations 0 to count - 1, of which iteration i has the value begin + i * step. */
struct sim_openmp_share {
	uint32_t word;		/* the word by which threads take a chunk, or see that another was first */
	uint64_t number;	/* of the team's constructs, from 1 on; 0: a free entry */
	unsigned int left;	/* threads that have left it */
	enum sim_openmp_schedule schedule;
	uint64_t begin, end, step, count, chunk;
	uint64_t next;		/* the first iteration that no thread has taken */
	void *copied;		/* of a single */
} __attribute__((aligned(SIM_OPENMP_LINE)));

struct sim_openmp_team {
	uint32_t word;		/* of its barrier */
	unsigned int size;
	unsigned int arrived;
	unsigned int level, active_level;	/* of regions in each other; of those with several threads */
	struct sim_openmp_team *next;		/* of the free ones */
	struct sim_openmp_share shares[SIM_OPENMP_SHARES];
} __attribute__((aligned(SIM_OPENMP_LINE)));

/* --- openmp_team.c ------------------------------------------------------------------------- */

typedef void (*sim_openmp_function)(void *data);

/* The team of a thread; of one outside of all regions one of its own, which it has alone. */
struct sim_openmp_team *sim_openmp_team(struct sim_thread *self);
/* Runs the function by so many threads; 0: as many as the program has asked for. `share`: their first work, or NULL. */
void sim_openmp_run(struct sim_thread *self, sim_openmp_function function, void *data, unsigned int threads,
		    const struct sim_openmp_share *share);
void sim_openmp_barrier(struct sim_thread *self);

/* --- openmp_share.c -------------------------------------------------------------------------- */

/* The thread's next construct. true: it is the first to come there, and fills it in. */
bool sim_openmp_share_begin(struct sim_thread *self);
void sim_openmp_share_end(struct sim_thread *self);
/* The next iterations [*first, *end) for the thread. false: there are no more. */
bool sim_openmp_share_take(struct sim_thread *self, uint64_t *first, uint64_t *end);

/* --- openmp_api.c ----------------------------------------------------------------------------- */

unsigned int sim_openmp_threads(void);
/* Of OMP_SCHEDULE. */
enum sim_openmp_schedule sim_openmp_schedule(uint64_t *chunk);
/* libgomp's own function, for a program that runs as always. */
void *sim_openmp_real(void **found, const char *name);

#define OPENMP_REAL(name) \
	({ \
		static void *found; \
		(__typeof__(&name))sim_openmp_real(&found, #name); \
	})

#endif
