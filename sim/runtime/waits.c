/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Condition variables, barriers, semaphores and pthread_once() in virtual time. */
#include <errno.h>

#include "sim/runtime/locks.h"
#include "sim/runtime/real.h"

#define PC ((uintptr_t)__builtin_return_address(0))
#define BARRIERS 64
#define ONCES 16

/* --- condition variables: only threads of virtual time wait ----------------------------- */

static int wait_for_signal(struct sim_thread *self, pthread_cond_t *condition, pthread_mutex_t *mutex,
			   uint64_t deadline)
{
	int error = sim_mutex_unlock(self, mutex);
	bool is_signalled;

	if (error)
		return error;
	is_signalled = sim_block(self, SIM_WAIT_CONDITION, condition, deadline);
	error = sim_mutex_lock(self, mutex, SIM_NEVER);
	return error ? error : is_signalled ? 0 : ETIMEDOUT;
}

SIM_EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	struct sim_thread *self = sim_enter();
	int error;

	if (!self)
		return REAL(pthread_cond_wait)(condition, mutex);
	sim_sync_access(self, condition, PC);
	error = wait_for_signal(self, condition, mutex, SIM_NEVER);
	sim_leave();
	return error;
}

SIM_EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
				      const struct timespec *time)
{
	struct sim_thread *self = sim_enter();
	int error;

	if (!self)
		return REAL(pthread_cond_clockwait)(condition, mutex, clock, time);
	sim_sync_access(self, condition, PC);
	error = wait_for_signal(self, condition, mutex, sim_deadline(clock, time));
	sim_leave();
	return error;
}

SIM_EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *time)
{
	if (!sim_self)
		return REAL(pthread_cond_timedwait)(condition, mutex, time);
	return pthread_cond_clockwait(condition, mutex, CLOCK_REALTIME, time);
}

static int wake(pthread_cond_t *condition, unsigned int most, uintptr_t pc, int (*real)(pthread_cond_t *))
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return real(condition);
	sim_sync_access(self, condition, pc);
	sim_wake_waiters(self, SIM_WAIT_CONDITION, condition, most);
	sim_leave();
	return 0;
}

SIM_EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
	return wake(condition, 1, PC, REAL(pthread_cond_signal));
}

SIM_EXPORT int pthread_cond_broadcast(pthread_cond_t *condition)
{
	return wake(condition, SIM_CORES, PC, REAL(pthread_cond_broadcast));
}

/* --- barriers ------------------------------------------------------------------------------ */

static struct barrier {
	const void *object;	/* NULL: a free entry */
	unsigned int count;
	unsigned int waiting;
} barriers[BARRIERS];

static struct barrier *find_barrier(const void *object)
{
	for (unsigned int i = 0; i < BARRIERS; i++)
		if (barriers[i].object == object)
			return &barriers[i];
	return NULL;
}

SIM_EXPORT int pthread_barrier_init(pthread_barrier_t *object, const pthread_barrierattr_t *attributes,
				    unsigned int count)
{
	struct sim_thread *self = sim_enter();
	struct barrier *barrier;
	int error = REAL(pthread_barrier_init)(object, attributes, count);

	if (!self)
		return error;
	barrier = error ? NULL : find_barrier(object);
	if (!error && !barrier)
		barrier = find_barrier(NULL);
	if (barrier)
		*barrier = (struct barrier){ .object = object, .count = count };
	sim_leave();
	return error || barrier ? error : ENOMEM;
}

SIM_EXPORT int pthread_barrier_destroy(pthread_barrier_t *object)
{
	struct sim_thread *self = sim_enter();
	struct barrier *barrier = self ? find_barrier(object) : NULL;
	int error = REAL(pthread_barrier_destroy)(object);

	if (barrier)
		barrier->object = NULL;
	if (self)
		sim_leave();
	return error;
}

static int arrive(struct sim_thread *self, struct barrier *barrier)
{
	if (++barrier->waiting < barrier->count) {
		sim_block(self, SIM_WAIT_BARRIER, barrier->object, SIM_NEVER);
		return 0;
	}
	barrier->waiting = 0;
	sim_wake_waiters(self, SIM_WAIT_BARRIER, barrier->object, SIM_CORES);
	return PTHREAD_BARRIER_SERIAL_THREAD;
}

SIM_EXPORT int pthread_barrier_wait(pthread_barrier_t *object)
{
	struct sim_thread *self = sim_enter();
	struct barrier *barrier = self ? find_barrier(object) : NULL;
	int answer;

	if (!barrier) {
		if (self)
			sim_leave();
		return REAL(pthread_barrier_wait)(object);
	}
	sim_sync_access(self, object, PC);
	answer = arrive(self, barrier);
	sim_leave();
	return answer;
}

/* --- semaphores ------------------------------------------------------------------------------ */

static int take(struct sim_thread *self, sem_t *semaphore, uint64_t deadline)
{
	int saved = errno;

	while (REAL(sem_trywait)(semaphore)) {
		if (errno != EAGAIN)
			return -1;
		errno = saved;
		if (sim_block(self, SIM_WAIT_SEMAPHORE, semaphore, deadline))
			continue;
		errno = ETIMEDOUT;
		return -1;
	}
	return 0;
}

SIM_EXPORT int sem_wait(sem_t *semaphore)
{
	struct sim_thread *self = sim_enter();
	int error;

	if (!self)
		return REAL(sem_wait)(semaphore);
	sim_sync_access(self, semaphore, PC);
	error = take(self, semaphore, SIM_NEVER);
	sim_leave();
	return error;
}

SIM_EXPORT int sem_trywait(sem_t *semaphore)
{
	struct sim_thread *self = sim_enter();
	int error;

	if (self)
		sim_sync_access(self, semaphore, PC);
	error = REAL(sem_trywait)(semaphore);
	if (self)
		sim_leave();
	return error;
}

SIM_EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *time)
{
	struct sim_thread *self = sim_enter();
	int error;

	if (!self)
		return REAL(sem_clockwait)(semaphore, clock, time);
	sim_sync_access(self, semaphore, PC);
	error = take(self, semaphore, sim_deadline(clock, time));
	sim_leave();
	return error;
}

SIM_EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *time)
{
	return sim_self ? sem_clockwait(semaphore, CLOCK_REALTIME, time) : REAL(sem_timedwait)(semaphore, time);
}

SIM_EXPORT int sem_post(sem_t *semaphore)
{
	struct sim_thread *self = sim_enter();
	int error;

	if (self)
		sim_sync_access(self, semaphore, PC);
	error = REAL(sem_post)(semaphore);
	if (!self)
		return error;
	sim_wake_waiters(self, SIM_WAIT_SEMAPHORE, semaphore, 1);
	sim_leave();
	return error;
}

/* --- pthread_once(): the routine may wait, and callers in the meantime wait for it ---------------- */

static pthread_once_t *running[ONCES];

static pthread_once_t **find_once(const pthread_once_t *once)
{
	for (unsigned int i = 0; i < ONCES; i++)
		if (running[i] == once)
			return &running[i];
	return NULL;
}

SIM_EXPORT int pthread_once(pthread_once_t *once, void (*routine)(void))
{
	struct sim_thread *self = sim_enter();
	pthread_once_t **entry;
	int error;

	if (!self)
		return REAL(pthread_once)(once, routine);
	while (find_once(once))
		sim_block(self, SIM_WAIT_ONCE, once, SIM_NEVER);
	entry = find_once(NULL);
	if (entry)
		*entry = once;
	sim_leave();
	error = REAL(pthread_once)(once, routine);
	sim.is_busy = true;
	if (entry)
		*entry = NULL;
	sim_wake_waiters(self, SIM_WAIT_ONCE, once, SIM_CORES);
	sim_leave();
	return error;
}
