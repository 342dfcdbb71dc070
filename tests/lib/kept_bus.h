/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The kernel's side of /dev/mimic in memory that a test, its supervisor and each daemon share, so that a daemon can
 * be killed and another one takes over (KEEP, TAKE_OVER). The daemon is the test's own program, whose models log
 * each change. A test calls kept_bus_daemon() first in main().
 */
#ifndef TEST_KEPT_BUS_H
#define TEST_KEPT_BUS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mimic/bus.h"

#define KEPT_ARENA 0x7f0000000000ull	/* a program's memory */
#define KEPT_ARENA_BYTES (64u * 4096u)
#define KEPT_DEVICES 4u
#define KEPT_MEMORY_BYTES (1u << 20)
#define KEPT_DEVICE(index) (10u + (index))

/* In the shared file behind the slots. */
struct kept_kernel {
	pthread_mutex_t lock;		/* robust */
	pid_t daemon;			/* that serves; a successor sets it by TAKE_OVER */
	uint32_t opens, take_overs, keeps, redelivered;
	uint32_t milliseconds;
	uint8_t token[MIMIC_BUS_TOKEN_SIZE];
	int take_over_error;		/* of the next one */
	/* A program forks while no daemon serves: a successor can write to its memory when it has asked, or serves. */
	bool program_forks, is_protected;
	uint32_t fault_ins;
	bool is_registered[KEPT_DEVICES];
	uint32_t interrupts[KEPT_DEVICES];
	uint64_t last_serial;
	bool in_use[MIMIC_BUS_SLOTS];	/* the slot has a request whose answer was not taken */
	bool has_given_up[MIMIC_BUS_SLOTS];
	uint32_t ready;			/* the last daemon that serves: 1 for the first, 1 + N for the Nth takeover */
};

struct kept_bus {
	struct mimic_bus_header *header;
	struct mimic_bus_slot *slots;
	struct kept_kernel *kernel;
	uint32_t *arena;		/* as the program sees it */
	char *memory;			/* of all devices, KEPT_MEMORY_BYTES each */
	int ring;			/* an eventfd that wakes the daemon */
	pid_t supervisor;
	char log[64];
};

extern struct kept_bus kept_bus;

/* Does not return in a daemon. */
void kept_bus_daemon(int argc, char **argv);

/* A supervisor with a daemon that has these devices ("maple:2,dare:1"). false: it does not serve within seconds. */
bool kept_bus_start(const char *devices);
/* By SIGTERM. false: the supervisor has not ended well. */
bool kept_bus_stop(void);
/* The daemon that serves is dead when the function returns; its successor may not serve yet. */
void kept_bus_kill(void);
/* How many lines of the log have this text. */
unsigned int kept_bus_said(const char *text);

/* Puts a request into a free slot, which it gives. */
uint32_t kept_bus_put(const struct mimic_bus_request *request);
/* Waits for the answer, over the deaths of daemons; the slot is free then. The status; -ETIMEDOUT after seconds. */
int kept_bus_wait(uint32_t slot, uint64_t *data);
/* The thread of the access has a signal. */
void kept_bus_cancel(uint32_t slot);

int kept_bus_request(enum mimic_bus_request_kind kind, uint32_t device, uint32_t binding, uint32_t thread);
int kept_bus_open(uint32_t device, uint32_t binding, uint32_t process);
/* Of a thread of the binding; both 0: the driver's. The status. */
int kept_bus_access(struct mimic_bus_request access, uint64_t *data);

#endif
