/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shared by the files that stand in front of the C library. */
#ifndef MIMIC_SIM_LOCKS_H
#define MIMIC_SIM_LOCKS_H

#include "sim/runtime/internal.h"

/* The C library's error numbers. */
int sim_mutex_lock(struct sim_thread *self, pthread_mutex_t *mutex, uint64_t deadline);
int sim_mutex_unlock(struct sim_thread *self, pthread_mutex_t *mutex);

/* A time of one of the program's clocks as cycles. */
uint64_t sim_deadline(clockid_t clock, const struct timespec *time);

#endif
