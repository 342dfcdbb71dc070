/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Reports of threads that wait for long, by mimic_patience(), for a test to check. For cmocka programs. */
#ifndef TESTS_TOLD_H
#define TESTS_TOLD_H

#include <pthread.h>
#include <stdbool.h>

/* After so long; no line is told yet. */
void told_begin(unsigned int milliseconds);
/* No thread tells any more. */
void told_end(void);
unsigned int told_count(void);
/* Waits, up to 20 s, until so many lines have been told. false: they have not. */
bool told_wait(unsigned int count);
/* The last line. */
const char *told_line(void);
/* The last line, from behind "has waited T s for " on. Fails the test if the front is not as it should be. */
const char *told_wait_of(const char *device);

/* A thread of the test, which waits. */
struct told_thread {
	pthread_t thread;
	void (*run)(void);
};

void told_start(struct told_thread *thread, void (*run)(void));
void told_join(struct told_thread *thread);

#endif
