/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The record that libmimic keeps for each thread. It comes from mmap() and is found
 * through static TLS, so that a signal handler can be the first to need it.
 */
#ifndef LIBMIMIC_THREAD_H
#define LIBMIMIC_THREAD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "devices/kind.h"

/* Instances that one process can hold on the embedded transport: of each kind KIND0 to 1023, and KIND@0 to 63. */
#define MIMIC_THREAD_SLOTS ((MIMIC_KIND_DEVICES_MAX + MIMIC_KIND_PRIVATE_MAX) * MIMIC_KINDS_MAX)
#define MIMIC_THREAD_SESSIONS 10
#define MIMIC_THREAD_SIGNALS 12

struct daemon_thread;
struct embedded_lane;

struct mimic_thread {
	uint32_t number;	/* from 1 on, never used again in this process */
	/* By kind of session (libmimic/daemon/session.h); NULL: not used yet. */
	struct daemon_thread *daemon[MIMIC_THREAD_SESSIONS];
	char error_text[320];
	struct embedded_lane *lanes[MIMIC_THREAD_SLOTS];
	/* Signals that came where they could not be handled (hold.c), and the mask that the first of them found. */
	uint64_t signal_mask;
	bool has_signal_mask;
	uintptr_t letting_in;		/* the frame that does so now, the first of several; 0: none */
	unsigned int signal_count;
	struct mimic_thread_signal {
		siginfo_t information;
		int number;
		bool is_due;	/* to be sent when the thread has left that place */
	} signals[MIMIC_THREAD_SIGNALS];
};

/* initial-exec: the dynamic models may allocate at a thread's first access, which a signal handler must not. */
extern __thread struct mimic_thread *mimic_thread_own
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* For a thread that has none yet. NULL: no memory. */
struct mimic_thread *mimic_thread_make(void);

/* NULL if it has none yet. */
static inline struct mimic_thread *mimic_thread_peek(void)
{
	return mimic_thread_own;
}

/* This thread's record; made if there is none. NULL: no memory. */
static inline struct mimic_thread *mimic_thread_self(void)
{
	return mimic_thread_own ? mimic_thread_own : mimic_thread_make();
}

/* `function` is called on each thread that ends and has a record, while it has it still. */
void mimic_thread_on_end(void (*function)(void));

#endif
