/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A scripted daemon for tests: a child process that opens /dev/mimic, registers
 * a device and serves it. Its registers are plain memory, 4096 bytes for each
 * page: a load gives the stored value. Special registers hold their answer back,
 * give errors, or kill the daemon. It counts requests in shared memory (control).
 *
 * One thread of the daemon serves; two others run the functions of
 * fake_daemon_call(), so a held request keeps nobody from asking.
 */
#ifndef MIMIC_TESTS_FAKE_DAEMON_H
#define MIMIC_TESTS_FAKE_DAEMON_H

#include <limits.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mimic/bus.h"
#include "mimic/maple_registers.h"

#define FAKE_SPECIALS_MAX 16
#define FAKE_LOG_MAX 1024
#define FAKE_ARGUMENT_MAX 65536
#define FAKE_WORKERS 2

enum fake_channel {
	FAKE_READ_WRITE,	/* read(), write(), poll() */
	FAKE_SLOTS,		/* shared slots; sleeps in poll(), COMMIT by ioctl */
	FAKE_SPINNING,		/* shared slots; never sleeps */
	FAKE_URING,		/* shared slots; FETCH and COMMIT_AND_FETCH */
};

struct fake_options {
	enum fake_channel channel;
	const char *kind;	/* NULL: "maple", or with memory "virgo" */
	int index;		/* as REGISTER's, but one more: 0 is "the lowest that is free" */
	unsigned int pages;	/* 0: 5 */
	unsigned int interrupts;	/* 0: 1 */
	unsigned int capabilities;	/* 0: TRAPS and WINDOW_ACCESS */
	unsigned int memory_size;	/* of the device's own memory: it is a Virgo then, of 2 pages */
	unsigned int void_pages;	/* bit N: the bus answers for page N */
	bool is_paper;		/* its IDENTIFY is the paper profile's; else 0 */
	bool without_device;	/* registers nothing */
	bool without_node;	/* do not wait for the node of a function driver */
};

enum fake_action {
	FAKE_HOLD = 1,		/* answered by fake_daemon_release(); given back when cancelled */
	FAKE_KEEP,		/* the same, but not given back */
	FAKE_STATUS,		/* answered with `status` */
	FAKE_DATA,		/* a load gives `data`, a store is dropped */
	FAKE_DIE_AFTER_TAKING,
	FAKE_DIE_AFTER_ANSWER,	/* in slots: answered, but not committed */
};

struct fake_special {
	uint32_t page, offset;
	enum fake_action action;
	int32_t status;
	uint64_t data;
	bool is_drivers;	/* for accesses of the function driver, not of programs */
	bool only_stores;
};

/* In shared memory: written by the daemon, or by the test where it says so. */
struct fake_control {
	pid_t pid;
	uint32_t device;	/* its number on the bus */
	int32_t index;		/* N of mapleN */
	uint32_t pages;

	/* Requests that it has taken. */
	_Atomic unsigned int opens, closes, threads_gone, connects;
	_Atomic unsigned int loads, stores;	/* of programs */
	_Atomic unsigned int driver_loads, driver_stores;
	_Atomic unsigned int flushes;	/* flushes of the TLB by the driver: shootdowns */
	_Atomic unsigned int cancels;	/* requests that should be given back */
	_Atomic unsigned int given_back;
	_Atomic unsigned int held;	/* now */
	_Atomic unsigned int commits;	/* by ioctl */
	_Atomic unsigned int fetches, commit_fetches;	/* io_uring */

	/* All but the accesses of the function driver, in the order in which they were taken. */
	_Atomic unsigned int log_count;
	struct mimic_bus_request log[FAKE_LOG_MAX];
	uint64_t serials[FAKE_LOG_MAX];	/* of the same requests */
	struct mimic_bus_request last_open;

	/* The test's. */
	struct fake_special specials[FAKE_SPECIALS_MAX];
	_Atomic unsigned int special_count;
	_Atomic unsigned int hold_kinds;	/* 1 << kind: requests of it are held as by FAKE_KEEP */
	_Atomic int open_status, connect_status;
	_Atomic int open_binding;	/* out: of the last OPEN that was answered with 0 */
	_Atomic bool dies_before_taking;	/* the next access of a program */
	_Atomic bool connects_without_file;
	_Atomic bool is_paused;	/* a new daemon does not begin to serve */
	_Atomic bool fails_with_file;	/* CONNECT: connect_status, and a file all the same */

	/* The page fault of the device, see fake_daemon_fault(). */
	_Atomic uint64_t fault_word;
	_Atomic unsigned int resolves;
	_Atomic uint64_t last_resolve;	/* RESOLVE's payload */

	/* The registers; as after power-on (all 0) after each CLOSE unless is_kept. */
	bool is_kept;
	uint64_t memory[MIMIC_BUS_PAGES_MAX][512];

	struct fake_worker {
		sem_t asked, done;
		void *call;
		long result;
		uint8_t argument[FAKE_ARGUMENT_MAX] __attribute__((aligned(16)));
	} workers[FAKE_WORKERS];
};

/* The daemon's end of a call. */
struct fake_self {
	int fd;			/* /dev/mimic */
	struct fake_control *control;
	struct mimic_bus_header *header;	/* the slots' memory */
	struct mimic_bus_slot *slots;
};

struct fake_daemon {
	pid_t pid;		/* 0: it is dead and reaped */
	int kept;		/* its /dev/mimic, in this process; 0: none */
	uint8_t token[MIMIC_BUS_TOKEN_SIZE];
	struct fake_options options;
	struct fake_control *control;
	char node[32];		/* /dev/mapleN */
};

/*
 * NULL and errno: the error of the daemon's open of /dev/mimic or its REGISTER.
 * When it returns the node is there.
 */
struct fake_daemon *fake_daemon_start(const struct fake_options *options);
/* Unregisters the device, ends the daemon, waits until the node is gone. Dead daemons, too. */
void fake_daemon_stop(struct fake_daemon *daemon);
/* SIGKILL, and waits until it is gone. The device stays on the bus. */
void fake_daemon_kill(struct fake_daemon *daemon);
/* It died by itself: waits for that, at most ten seconds. */
bool fake_daemon_has_died(struct fake_daemon *daemon);
/* Another one for a device that a dead daemon has left, of the same options. 0 or -errno. */
int fake_daemon_restart(struct fake_daemon *daemon);

/*
 * KEEP, with `token`, and from now on the test has the descriptor, too. 0 or -errno. With time 0 it
 * has it all the same.
 */
int fake_daemon_keep(struct fake_daemon *daemon, unsigned int milliseconds);
/* The test gives it up. */
void fake_daemon_forget(struct fake_daemon *daemon);
/*
 * Kills it, and another one takes over with `token`, and registers the device as it was. 0 or -errno
 * of TAKE_OVER or REGISTER. It serves at once, or when `is_paused` is false. No KEEP.
 */
int fake_daemon_succeed(struct fake_daemon *daemon);

/* Sets the behaviour of a register page at an offset; later ones come first. */
void fake_daemon_special(struct fake_daemon *daemon, const struct fake_special *special);
void fake_daemon_no_specials(struct fake_daemon *daemon);
/* Answers all that is held, as it would have been at once. Returns how many. */
int fake_daemon_release(struct fake_daemon *daemon);

/*
 * Runs a function of the test program in the daemon. `argument` of `size` bytes is
 * copied there and back. -EFAULT if it gets a SIGBUS, -ESRCH if the daemon is dead,
 * -ETIMEDOUT after a minute; else its result.
 */
typedef long (*fake_call)(struct fake_self *self, void *argument);
long fake_daemon_call(struct fake_daemon *daemon, fake_call call, void *argument, size_t size);
/* The same in two halves, in another thread of the daemon. One at a time. */
void fake_daemon_call_start(struct fake_daemon *daemon, fake_call call, const void *argument,
			    size_t size);
long fake_daemon_call_finish(struct fake_daemon *daemon, void *argument, size_t size);

/* ioctls of the daemon; 0 or -errno. */
int fake_daemon_interrupt(struct fake_daemon *daemon, unsigned int line);
int fake_daemon_unregister(struct fake_daemon *daemon);
int fake_daemon_register(struct fake_daemon *daemon);
/* Latches a page fault as the device would (for both pipes), and raises the interrupt. */
int fake_daemon_fault(struct fake_daemon *daemon, const volatile void *address, bool writes);

/*
 * Through the window of the last OPEN's binding: 0, -EFAULT (SIGBUS: not present,
 * or not writable), or mmap's error. At most FAKE_ARGUMENT_MAX / 2 bytes.
 */
int fake_window_read(struct fake_daemon *daemon, const volatile void *address, void *buffer,
		     size_t size);
int fake_window_write(struct fake_daemon *daemon, volatile void *address, const void *buffer,
		      size_t size);
/* In the daemon: maps whole pages of the window of `binding`, MAP_FAILED and errno. */
void *fake_self_window(struct fake_self *self, uint32_t binding, uint64_t address, size_t size);

/* Waits at most ten seconds for a count in the control block to reach `wanted`. */
bool fake_wait(const _Atomic unsigned int *count, unsigned int wanted);
/* The newest entry of the log of `kind`; NULL: none. */
const struct mimic_bus_request *fake_daemon_last(const struct fake_daemon *daemon, unsigned int kind);

#endif
