/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Threads that others than the program start. */
#ifndef MIMIC_SIM_THREADS_H
#define MIMIC_SIM_THREADS_H

#include "sim/runtime/internal.h"

/* 0 or an error number. Without a free core the run ends with a message. */
int sim_thread_start(struct sim_thread *self, struct sim_thread **started, const pthread_attr_t *attributes,
		     void *(*start)(void *), void *argument);

#endif
