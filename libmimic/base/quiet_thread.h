/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A thread of the library in a program, whose signals are the program's: it blocks all but those of faults. */
#ifndef MIMIC_QUIET_THREAD_H
#define MIMIC_QUIET_THREAD_H

#include <pthread.h>

/* As pthread_create(): 0 or an error's positive number. */
int mimic_quiet_thread(pthread_t *thread, void *(*run)(void *), void *argument);

#endif
