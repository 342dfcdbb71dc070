/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* OpenMP: one thread of a team, one at a time, and locks. */
#include "sim/runtime/openmp.h"

/* Of libgomp's omp_lock_t, which has 4 bytes. */
typedef int32_t lock_word;

SIM_EXPORT bool GOMP_single_start(void);
SIM_EXPORT void *GOMP_single_copy_start(void);
SIM_EXPORT void GOMP_single_copy_end(void *data);
SIM_EXPORT void GOMP_critical_start(void);
SIM_EXPORT void GOMP_critical_end(void);
SIM_EXPORT void GOMP_critical_name_start(void **name);
SIM_EXPORT void GOMP_critical_name_end(void **name);
SIM_EXPORT void GOMP_atomic_start(void);
SIM_EXPORT void GOMP_atomic_end(void);
SIM_EXPORT void omp_init_lock(lock_word *lock);
SIM_EXPORT void omp_destroy_lock(lock_word *lock);
SIM_EXPORT void omp_set_lock(lock_word *lock);
SIM_EXPORT void omp_unset_lock(lock_word *lock);
SIM_EXPORT int omp_test_lock(lock_word *lock);

#define ENTER(real) \
	struct sim_thread *self = sim_enter(); \
\
	if (!self) \
		return real

/* --- single ------------------------------------------------------------------------------------ */

bool GOMP_single_start(void)
{
	bool is_first;

	ENTER(OPENMP_REAL(GOMP_single_start)());
	soc_execute(sim.soc, self->core, SIM_OPENMP_CHUNK);
	is_first = sim_openmp_share_begin(self);
	sim_openmp_share_end(self);
	sim_leave();
	return is_first;
}

/* The first thread returns NULL and makes the data that the others get. */
void *GOMP_single_copy_start(void)
{
	struct sim_openmp_share *share;
	void *copied = NULL;

	ENTER(OPENMP_REAL(GOMP_single_copy_start)());
	soc_execute(sim.soc, self->core, SIM_OPENMP_CHUNK);
	if (!sim_openmp_share_begin(self)) {
		share = self->openmp.share;
		sim_openmp_barrier(self);
		copied = share->copied;
		sim_openmp_share_end(self);
	}
	sim_leave();
	return copied;
}

void GOMP_single_copy_end(void *data)
{
	ENTER(OPENMP_REAL(GOMP_single_copy_end)(data));
	self->openmp.share->copied = data;
	sim_openmp_barrier(self);
	sim_openmp_share_end(self);
	sim_leave();
}

/* --- locks: a word that is not 0 is taken ------------------------------------------------------------ */

static bool try_lock(struct sim_thread *self, lock_word *word)
{
	soc_execute(sim.soc, self->core, SIM_OPENMP_LOCK);
	sim_make_atomic(self, (uintptr_t)word, sizeof(*word));
	if (*word)
		return false;
	*word = 1;
	return true;
}

static void lock(struct sim_thread *self, lock_word *word)
{
	while (!try_lock(self, word))
		sim_block(self, SIM_WAIT_CRITICAL, word, SIM_NEVER);
	sim_leave();
}

static void unlock(struct sim_thread *self, lock_word *word)
{
	soc_execute(sim.soc, self->core, SIM_OPENMP_LOCK);
	sim_make_atomic(self, (uintptr_t)word, sizeof(*word));
	*word = 0;
	sim_wake_waiters(self, SIM_WAIT_CRITICAL, word, 1);
	sim_leave();
}

/* A line each, so that they do not move each other's. */
static struct { lock_word word; } unnamed __attribute__((aligned(SIM_OPENMP_LINE)));
static struct { lock_word word; } atomics __attribute__((aligned(SIM_OPENMP_LINE)));

void GOMP_critical_start(void)
{
	ENTER(OPENMP_REAL(GOMP_critical_start)());
	lock(self, &unnamed.word);
}

void GOMP_critical_end(void)
{
	ENTER(OPENMP_REAL(GOMP_critical_end)());
	unlock(self, &unnamed.word);
}

/* The compiler makes a pointer for each name; libgomp, too, takes it for the lock. */
void GOMP_critical_name_start(void **name)
{
	ENTER(OPENMP_REAL(GOMP_critical_name_start)(name));
	lock(self, (lock_word *)name);
}

void GOMP_critical_name_end(void **name)
{
	ENTER(OPENMP_REAL(GOMP_critical_name_end)(name));
	unlock(self, (lock_word *)name);
}

void GOMP_atomic_start(void)
{
	ENTER(OPENMP_REAL(GOMP_atomic_start)());
	lock(self, &atomics.word);
}

void GOMP_atomic_end(void)
{
	ENTER(OPENMP_REAL(GOMP_atomic_end)());
	unlock(self, &atomics.word);
}

void omp_init_lock(lock_word *lock)
{
	ENTER(OPENMP_REAL(omp_init_lock)(lock));
	*lock = 0;
	sim_leave();
}

void omp_destroy_lock(lock_word *lock)
{
	ENTER(OPENMP_REAL(omp_destroy_lock)(lock));
	*lock = 0;
	sim_leave();
}

void omp_set_lock(lock_word *word)
{
	ENTER(OPENMP_REAL(omp_set_lock)(word));
	lock(self, word);
}

void omp_unset_lock(lock_word *word)
{
	ENTER(OPENMP_REAL(omp_unset_lock)(word));
	unlock(self, word);
}

int omp_test_lock(lock_word *word)
{
	int is_taken;

	ENTER(OPENMP_REAL(omp_test_lock)(word));
	is_taken = try_lock(self, word);
	sim_leave();
	return is_taken;
}
