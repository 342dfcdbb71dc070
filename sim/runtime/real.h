/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The C library's functions that the run-time replaces. */
#ifndef MIMIC_SIM_REAL_H
#define MIMIC_SIM_REAL_H

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SIM_REAL(_) \
	_(pthread_create) _(pthread_join) _(pthread_tryjoin_np) _(pthread_timedjoin_np) _(pthread_clockjoin_np) _(pthread_detach) _(pthread_exit) _(pthread_sigmask) \
	_(pthread_mutex_lock) _(pthread_mutex_trylock) _(pthread_mutex_timedlock) \
	_(pthread_mutex_clocklock) _(pthread_mutex_unlock) \
	_(pthread_rwlock_rdlock) _(pthread_rwlock_tryrdlock) _(pthread_rwlock_wrlock) \
	_(pthread_rwlock_trywrlock) _(pthread_rwlock_unlock) _(pthread_rwlock_timedrdlock) \
	_(pthread_rwlock_timedwrlock) _(pthread_rwlock_clockrdlock) _(pthread_rwlock_clockwrlock) \
	_(pthread_spin_lock) _(pthread_spin_trylock) _(pthread_spin_unlock) \
	_(pthread_cond_wait) _(pthread_cond_timedwait) _(pthread_cond_clockwait) _(pthread_cond_signal) _(pthread_cond_broadcast) \
	_(pthread_barrier_init) _(pthread_barrier_wait) _(pthread_barrier_destroy) _(pthread_once) \
	_(sem_wait) _(sem_trywait) _(sem_timedwait) _(sem_clockwait) _(sem_post) \
	_(sched_yield) _(nanosleep) _(clock_nanosleep) _(usleep) _(sleep) \
	_(clock_gettime) _(gettimeofday) _(time) \
	_(dlclose)

enum sim_real {
#define _(name) SIM_REAL_##name,
	SIM_REAL(_)
#undef _
	SIM_REAL_COUNT
};

void *sim_real_find(enum sim_real which);

#define REAL(name) ((__typeof__(&name))sim_real_find(SIM_REAL_##name))

#endif
