/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The test program itself as the holder of a device that a scripted daemon serves. */
#ifndef MIMIC_TESTS_HOLDER_H
#define MIMIC_TESTS_HOLDER_H

#include <pthread.h>
#include <signal.h>

#include "fake_daemon.h"
#include "time_scale.h"

#define PAGE 4096ul
#define HOLDER_PAGES 5

struct holder {
	struct fake_daemon *daemon;
	struct fake_control *control;	/* the daemon's */
	int fd;			/* of the device; -1: closed */
	volatile uint8_t *pages;	/* all of them; NULL: not mapped */
};

/* Starts a daemon (NULL: on shared slots), opens its device, maps all pages. 0 or -errno. */
int holder_start(struct holder *holder, const struct fake_options *options);
void holder_stop(struct holder *holder);
int holder_open(struct holder *holder);
int holder_map(struct holder *holder);
void holder_close(struct holder *holder);
void holder_unmap(struct holder *holder);
/* Unmaps and closes: another process can open the device. */
void holder_give_back(struct holder *holder);

volatile uint64_t *holder_register(const struct holder *holder, unsigned int page,
				   unsigned int offset);
/* Its loads and stores are answered when the test says so. */
#define HELD_OFFSET 0xf00u
volatile uint64_t *holder_held_register(const struct holder *holder);

double now_seconds(void);
/* As long as a slow kernel may take for work that should take `seconds`. */
double at_most(double seconds);
void sleep_ms(long ms);

/* --- signals --------------------------------------------------------------- */

/* Runs `body`: 0, or the SIGBUS, SIGSEGV, SIGILL or SIGTRAP that it ended with. */
int signal_of(void (*body)(void *argument), void *argument, siginfo_t *info);
/* The same for one load and one store of 8 bytes. */
int signal_of_load(const volatile void *address, siginfo_t *info);
int signal_of_store(volatile void *address, siginfo_t *info);

/* --- children --------------------------------------------------------------- */

/* In a child of fork(): `body`'s result, or 128 + the signal that killed it. */
int in_child(int (*body)(void *argument), void *argument);
/* The same, and the caller goes on. */
pid_t child_start(int (*body)(void *argument), void *argument);
/* The status of waitpid() in that form. */
int exit_of(pid_t child);

/* --- a thread that waits in an access ---------------------------------------- */

struct waiter {
	pthread_t thread;
	volatile uint64_t *address;
	bool stores;
	uint64_t value;		/* of the load, or of the store */
	int signal;		/* that the access raised; 0: it was done */
	double seconds;		/* it took */
	_Atomic pid_t tid;
	_Atomic unsigned int is_done;
};

/* Starts the access and returns when the daemon holds it. 0 or -errno. */
int waiter_start(struct waiter *waiter, struct holder *holder, volatile uint64_t *address,
		 bool stores);
/* The same without looking at the daemon. */
int waiter_run(struct waiter *waiter, volatile uint64_t *address, bool stores);
/* Waits at most ten seconds for the access to end. */
bool waiter_ends(struct waiter *waiter);

#endif
