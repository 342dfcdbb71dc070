/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Locks in virtual time. They are the C library's own, only ever tried: a thread that finds one
 * taken waits in virtual time. A lock costs an atomic access.
 */
#include <errno.h>

#include "sim/runtime/locks.h"
#include "sim/runtime/real.h"

#define PC ((uintptr_t)__builtin_return_address(0))

/* For a mutex that checks whether its owner locks it again: it would wait for itself for ever. */
static bool is_own(const struct sim_thread *self, const pthread_mutex_t *mutex)
{
	return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK_NP && mutex->__data.__owner == self->native_id;
}

int sim_mutex_lock(struct sim_thread *self, pthread_mutex_t *mutex, uint64_t deadline)
{
	int error;

	while ((error = REAL(pthread_mutex_trylock)(mutex)) == EBUSY) {
		if (is_own(self, mutex))
			return EDEADLK;
		if (!sim_block(self, SIM_WAIT_MUTEX, mutex, deadline))
			return ETIMEDOUT;
	}
	return error;
}

int sim_mutex_unlock(struct sim_thread *self, pthread_mutex_t *mutex)
{
	int error = REAL(pthread_mutex_unlock)(mutex);

	sim_wake_waiters(self, SIM_WAIT_MUTEX, mutex, 1);
	return error;
}

SIM_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	struct sim_thread *self = sim_enter();
	int error;

	if (!self)
		return REAL(pthread_mutex_lock)(mutex);
	sim_sync_access(self, mutex, PC);
	error = sim_mutex_lock(self, mutex, SIM_NEVER);
	sim_leave();
	return error;
}

SIM_EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	struct sim_thread *self = sim_enter();
	int error;

	if (self)
		sim_sync_access(self, mutex, PC);
	error = REAL(pthread_mutex_trylock)(mutex);
	if (self)
		sim_leave();
	return error;
}

SIM_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time)
{
	struct sim_thread *self = sim_enter();
	int error;

	if (!self)
		return REAL(pthread_mutex_clocklock)(mutex, clock, time);
	sim_sync_access(self, mutex, PC);
	error = sim_mutex_lock(self, mutex, sim_deadline(clock, time));
	sim_leave();
	return error;
}

SIM_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *time)
{
	return sim_self ? pthread_mutex_clocklock(mutex, CLOCK_REALTIME, time) : REAL(pthread_mutex_timedlock)(mutex, time);
}

SIM_EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	struct sim_thread *self = sim_enter();
	int error;

	if (!self)
		return REAL(pthread_mutex_unlock)(mutex);
	sim_sync_access(self, mutex, PC);
	error = sim_mutex_unlock(self, mutex);
	sim_leave();
	return error;
}

static int lock_by_trying(struct sim_thread *self, enum sim_wait wait, void *lock, int (*try)(void *lock),
			  uint64_t deadline)
{
	int error;

	while ((error = try(lock)) == EBUSY)
		if (!sim_block(self, wait, lock, deadline))
			return ETIMEDOUT;
	return error;
}

static int try_read(void *lock)
{
	return REAL(pthread_rwlock_tryrdlock)(lock);
}

static int try_write(void *lock)
{
	return REAL(pthread_rwlock_trywrlock)(lock);
}

static int try_spin(void *lock)
{
	return REAL(pthread_spin_trylock)(lock);
}

/* NULL: without a limit. */
static int lock_rwlock(struct sim_thread *self, pthread_rwlock_t *lock, int (*try)(void *lock), clockid_t clock,
		       const struct timespec *time, uintptr_t pc)
{
	int error;

	sim_sync_access(self, lock, pc);
	error = lock_by_trying(self, SIM_WAIT_RWLOCK, lock, try, time ? sim_deadline(clock, time) : SIM_NEVER);
	sim_leave();
	return error;
}

#define RWLOCK(kind, try) \
	SIM_EXPORT int pthread_rwlock_##kind(pthread_rwlock_t *lock) \
	{ \
		struct sim_thread *self = sim_enter(); \
\
		return self ? lock_rwlock(self, lock, try, 0, NULL, PC) : REAL(pthread_rwlock_##kind)(lock); \
	} \
	SIM_EXPORT int pthread_rwlock_timed##kind(pthread_rwlock_t *lock, const struct timespec *time) \
	{ \
		struct sim_thread *self = sim_enter(); \
\
		return self ? lock_rwlock(self, lock, try, CLOCK_REALTIME, time, PC) : \
			      REAL(pthread_rwlock_timed##kind)(lock, time); \
	} \
	SIM_EXPORT int pthread_rwlock_clock##kind(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *time) \
	{ \
		struct sim_thread *self = sim_enter(); \
\
		return self ? lock_rwlock(self, lock, try, clock, time, PC) : \
			      REAL(pthread_rwlock_clock##kind)(lock, clock, time); \
	}

RWLOCK(rdlock, try_read)
RWLOCK(wrlock, try_write)

SIM_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	struct sim_thread *self = sim_enter();
	int error;

	if (!self)
		return REAL(pthread_rwlock_unlock)(lock);
	sim_sync_access(self, lock, PC);
	error = REAL(pthread_rwlock_unlock)(lock);
	/* All: several may read. */
	sim_wake_waiters(self, SIM_WAIT_RWLOCK, lock, SIM_CORES);
	sim_leave();
	return error;
}

SIM_EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
	struct sim_thread *self = sim_enter();
	int error;

	if (!self)
		return REAL(pthread_spin_lock)(lock);
	sim_sync_access(self, (const void *)lock, PC);
	error = lock_by_trying(self, SIM_WAIT_SPIN, (void *)lock, try_spin, SIM_NEVER);
	sim_leave();
	return error;
}

SIM_EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	struct sim_thread *self = sim_enter();
	int error;

	if (!self)
		return REAL(pthread_spin_unlock)(lock);
	sim_sync_access(self, (const void *)lock, PC);
	error = REAL(pthread_spin_unlock)(lock);
	sim_wake_waiters(self, SIM_WAIT_SPIN, (const void *)lock, 1);
	sim_leave();
	return error;
}
