/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The model of a Virgo cluster: create it, drive it through model.ops, throw it
 * away. One model is one cluster of one process: shared memory, matrix units,
 * barriers. Contract: docs/virgo.md.
 *
 * All calls for one model must be serialised by the caller (devices/model.h), but
 * for virgo_job_run(): commands of units are jobs, and these are run outside of
 * the lock that serialises the rest, several at once if they are of different units.
 *
 *	lock; job = virgo_model_take_job(model); unlock;
 *	virgo_job_run(job);
 *	lock; virgo_model_job_done(model, job, now); unlock;
 *
 * A driver without threads sets config.inline_jobs: then the model is busy() while there
 * is work, and each tick() does a bounded piece of it.
 *
 * While jobs run, the memory port and the shared memory are used by several
 * threads at once: read_block, write_block, read, read_rows, write_rows and walk of
 * host.memory must allow that. All else of the host is called by the caller's thread.
 */
#ifndef MIMIC_VIRGO_MODEL_H
#define MIMIC_VIRGO_MODEL_H

#include "devices/model.h"
#include "mimic/virgo_commands.h"
#include "mimic/virgo_registers.h"

#define VIRGO_MAX_QUEUE 64
#define VIRGO_MAX_DIM 32
#define VIRGO_ACCUMULATOR_MIN (4u << 10)
#define VIRGO_ACCUMULATOR_MAX (256u << 10)

struct virgo_unit_config {
	unsigned int type;		/* enum virgo_type */
	unsigned int dim;		/* 4, 8, 16 or 32 */
	unsigned int accumulator_kb;	/* 4 to 256, a power of two */
	unsigned int tile_i;		/* of the CISC port, in blocks; 0: 64 elements */
	unsigned int tile_j;
	unsigned int tile_k;
};

struct mimic_kind;

/* Listed in devices/kinds.def. */
extern const struct mimic_kind mimic_kind_virgo;

struct virgo_config {
	unsigned int units;		/* 1 to VIRGO_UNITS_MAX */
	unsigned int cores;		/* that meet at a barrier, if its register says nothing else */
	unsigned int shared_kb;		/* 64, 128 or 256 */
	unsigned int queue_entries;	/* commands of a unit: 4 to VIRGO_MAX_QUEUE */
	unsigned int overflow_is_error;	/* a store to a full queue: 0 waits, 1 latches an error, as the RTL */
	unsigned int synchronous;	/* 1: a command is over before its store is answered */
	unsigned int cisc_generation;	/* after reset: enum virgo_cisc_generation */
	unsigned int inline_jobs;	/* 1: tick() runs jobs; 0: the caller of virgo_model_take_job() */
	struct virgo_unit_config unit[VIRGO_UNITS_MAX];
};

/* The paper's cluster: one fp32 unit of 8 x 8, 16 KB accumulator, 64 KB shared memory, 4 cores. */
void virgo_config_default(struct virgo_config *config);

/*
 * "mixed": a unit of each type, and two sizes of fp32. "paper": as above. "heterogeneous": the
 * paper's, and a smaller unit. "gemmini": one int8 unit of 16 x 16. "later": the authors' later
 * version. -EINVAL: none of these.
 */
int virgo_config_profile(struct virgo_config *config, const char *profile);

/* NULL if the values are in range, else a text about one that is not. It begins with the key's name. */
const char *virgo_config_check(const struct virgo_config *config);

/*
 * A new cluster as after power-on. `shared` is config->shared_kb KB of memory,
 * aligned to 64 bytes, that the caller maps into the program; its contents are not
 * touched. `host` is copied; the objects that it points to, and `shared`, must outlive the model.
 * It needs complete() and blocks or rows of memory; blocks are faster. NULL with errno
 * EINVAL (configuration, shared memory or host) or ENOMEM.
 */
struct mimic_model *virgo_model_create(const struct virgo_config *config,
				       const struct mimic_host *host, void *shared);
/* No job may be outstanding. */
void virgo_model_destroy(struct mimic_model *model);
/* mimic_kind.resume */
void virgo_model_resume(struct mimic_model *model, uint64_t now);

/* --- jobs -------------------------------------------------------------------- */

struct virgo_job;

/* Work that nobody has taken: commands of one unit. NULL if there is none. */
struct virgo_job *virgo_model_take_job(struct mimic_model *model);
/* Is there such work? */
bool virgo_model_has_job(const struct mimic_model *model);
/*
 * Does it. Starts nothing, locks nothing, and comes back, at the latest after a
 * few milliseconds, finished or not: the rest is another job.
 */
void virgo_job_run(struct virgo_job *job);
/* Hands it back. Answers the accesses that waited for it; page faults are asked about here. */
void virgo_model_job_done(struct mimic_model *model, struct virgo_job *job, uint64_t now);
/* For recordings: struct mimic_jobs of devices/kind.h. Steps are commands. */
unsigned int virgo_job_steps(const struct virgo_job *job);
void virgo_job_limit(struct virgo_job *job, unsigned int steps);
/* Which unit works on it. */
unsigned int virgo_job_unit(const struct virgo_job *job);

/* --- for virtual time --------------------------------------------------------------- */

struct virgo_watched_range {
	uint32_t first, last;	/* the one behind it; first == last: none */
};

enum virgo_watched_kind {
	VIRGO_WATCHED_LOAD,	/* memory to the unit */
	VIRGO_WATCHED_MULTIPLY,	/* passes of the array */
	VIRGO_WATCHED_STORE,	/* the unit to memory */
	VIRGO_WATCHED_MOVE,	/* the accumulator to shared memory */
};

/* A part of a command that has been executed. */
struct virgo_watched {
	enum virgo_watched_kind kind;
	unsigned int unit;
	uint32_t rows;		/* that are moved */
	uint32_t row_bytes;	/* of each, in memory; 0: nothing is read there */
	uint32_t element_bytes;	/* of the unit's type */
	uint32_t passes;	/* of DIM rows each */
	uint32_t reuse;		/* passes that multiply by the same block */
	struct virgo_watched_range a, b;			/* bytes of shared memory where the passes find their operands */
	struct virgo_watched_range reads, writes;		/* bytes of shared memory, all together */
	struct virgo_watched_range reads_rows, writes_rows;	/* rows of the accumulator */
};

/*
 * Told of the parts of each command that has been executed, and then that it was. To programs it is not over, and it
 * holds its place in the queue, until virgo_model_command_over().
 */
struct virgo_watch {
	void *context;
	void (*done)(void *context, const struct virgo_watched *part);
	void (*executed)(void *context, unsigned int unit, bool is_loop);
	/* The command whose parts were told of is none: an error ended it. */
	void (*failed)(void *context, unsigned int unit);
	/* The unit drops its commands. */
	void (*reset)(void *context, unsigned int unit);
};
/* Of a model that has done nothing yet. It must outlive the model. Only of jobs that the thread of the model's calls runs. */
void virgo_model_watch(struct mimic_model *model, const struct virgo_watch *watch);
/* The unit's oldest command is over; not from a function of the watch. */
void virgo_model_command_over(struct mimic_model *model, unsigned int unit, uint64_t now);
/* Does an access wait for a unit? */
bool virgo_model_has_waiting(const struct mimic_model *model);

/* --- for tests and state views -------------------------------------------------- */

struct virgo_unit_view {
	const struct virgo_unit_config *config;
	unsigned int queue_level;
	unsigned int loops;
	bool job_is_out;
	bool stalled;			/* waits for RESOLVE */
	unsigned int accumulator_rows;
	const void *accumulator;	/* rows of DIM int32 or fp32 */
};
/* -EINVAL: no such unit. The accumulator may be read while no job is outstanding. */
int virgo_model_unit(const struct mimic_model *model, unsigned int unit,
		     struct virgo_unit_view *view);

/* Counters of one unit, in the order of VIRGO_COUNTERS. Returns how many there are. */
size_t virgo_model_unit_counters(const struct mimic_model *model, unsigned int unit,
				 uint64_t *values, size_t count);

/*
 * The arithmetic for different processors, all with the same results: the names,
 * fastest last, and a choice for tests. -EINVAL: none of that name, or not on this
 * processor.
 */
const char *virgo_model_kernel_name(unsigned int index);
int virgo_model_choose_kernel(struct mimic_model *model, const char *name);

#endif
