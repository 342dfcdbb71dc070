/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The kernel transport: our end of /dev/mimic (mimic/bus.h, docs/bus.md).
 *
 *   bus.c         the node: opened, devices registered, interrupts, sleeping
 *   system.c     the system calls behind it
 *   channel.c     requests taken, cancelled, answered
 *   request.c     what each request does
 *   binding.c     processes that have a device, and their threads
 *   window.c      their memory
 *
 * The kernel is trusted. What a program decides (addresses, values, when it
 * makes an access) reaches the models as any access does.
 */
#ifndef MIMICD_BUS_H
#define MIMICD_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/engine/instance.h"
#include "daemon/loop/timer.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/front_end.h"
#include "mimic/bus.h"

struct mimicd_binding;
struct mimicd_instance;
struct mimicd_owner;
struct mimicd_process;

/* The system calls of the channel; a test has its own. Errors are -errno. */
struct mimicd_bus_ops {
	int (*open)(const char *path);
	int (*ioctl)(int fd, unsigned long request, void *argument);
	/* Shared, for reading and writing. NULL: it cannot be. */
	void *(*map)(int fd, size_t size, uint64_t offset);
	/* The same at an address of ours, in place of what is there. 0 or -errno: nothing has changed. */
	int (*map_at)(int fd, void *address, size_t size, uint64_t offset);
	void (*unmap)(void *address, size_t size);
	ssize_t (*read)(int fd, void *buffer, size_t size);	/* never waits */
	ssize_t (*write)(int fd, const void *buffer, size_t size);
	void (*close)(int fd);
	/* A ring for passthrough commands; *poll_fd is readable when one has completed. */
	int (*ring_create)(int fd, void **ring, int *poll_fd);
	/* FETCH; with a slot (not negative) COMMIT_AND_FETCH. */
	int (*ring_fetch)(void *ring, int slot);
	/* Takes what has completed. 1: a FETCH, 0: nothing, -errno: one failed. */
	int (*ring_reap)(void *ring);
	void (*ring_destroy)(void *ring);
};

extern const struct mimicd_bus_ops mimicd_bus_system;

/* Is there to be a kernel's bus? */
enum mimicd_kernel {
	MIMICD_KERNEL_OFF,
	MIMICD_KERNEL_AUTO,	/* if the node can be opened */
	MIMICD_KERNEL_REQUIRED,
};

enum mimicd_channel {
	MIMICD_CHANNEL_AUTO,	/* io_uring, else read and write */
	MIMICD_CHANNEL_URING,
	MIMICD_CHANNEL_READ,
};

struct mimicd_bus_options {
	enum mimicd_kernel kernel;
	enum mimicd_channel channel;
	const char *path;			/* of the node */
	const struct mimicd_bus_ops *ops;	/* NULL: the system's */
};

/* A request that was taken and is not answered yet, by slot. */
enum mimicd_request_state {
	MIMICD_REQUEST_NONE,
	MIMICD_REQUEST_PARKED,	/* in the model */
	MIMICD_REQUEST_HELD,	/* not begun: somebody wants the device to misbehave */
};

struct mimicd_request {
	struct mimicd_bus *bus;
	enum mimicd_request_state state;
	struct mimicd_instance *instance;
	struct mimicd_owner *owner;	/* PARKED; NULL: the function driver */
	struct mimicd_waiter waiter;	/* PARKED */
	uint64_t due;			/* HELD: when it begins, 0: when the device answers again */
	struct mimic_bus_request body;
};

struct mimicd_bus {
	struct mimicd_engine *engine;
	struct mimicd_front_end front_end;
	struct mimicd_bus_options options;
	const struct mimicd_bus_ops *ops;
	int fd;
	bool is_starting;		/* nobody waits for us yet */
	bool is_lost;			/* the node failed: nothing is asked or answered any more */
	bool is_cleared;		/* and what was on it is gone */
	struct mimic_bus_header *header;	/* NULL: read() and write() */
	struct mimic_bus_slot *slots;
	size_t slots_size;
	uint32_t doorbell;		/* of the header, when the bits were last looked at */
	void *ring;			/* NULL: read() and write() */
	int ring_fd;
	bool fetch_is_parked;
	bool is_readable;		/* read() may have something */
	bool was_asleep;		/* when the requests of this round came */
	int current;			/* slot of the access that is being begun, or -1 */
	struct mimicd_source source;
	struct mimicd_timer timer;	/* the earliest of the held accesses that are due at a time */

	struct mimicd_request requests[MIMIC_BUS_SLOTS];
	unsigned int held;		/* of these */
	struct mimicd_binding *bindings;
	struct mimicd_process *processes;
};

/*
 * Opens the node and puts the engine's devices on the bus. 0: *bus is there, or NULL
 * (the node is not, and need not be); -errno with a log line.
 */
int mimicd_bus_create(struct mimicd_bus **bus, struct mimicd_engine *engine,
		      const struct mimicd_bus_options *options);
/* Closes the node. The kernel keeps the devices for the next daemon. NULL: nothing. */
void mimicd_bus_destroy(struct mimicd_bus *bus);

/* Puts a device on the bus, or takes it away. 0 or -errno. No bus: 0. */
int mimicd_bus_register(struct mimicd_engine *engine, struct mimicd_instance *instance);
void mimicd_bus_unregister(struct mimicd_engine *engine, struct mimicd_instance *instance);

/* The device's memory is the bus's from now on, until mimicd_device_memory_close(). 0 or -errno. */
int mimicd_bus_map_memory(struct mimicd_bus *bus, struct mimicd_instance *instance);
/* Raises line 0 of the device. */
int mimicd_bus_interrupt(struct mimicd_engine *engine, struct mimicd_instance *instance);

/* The node failed. Bindings are closed when it is safe. */
void mimicd_bus_lose(struct mimicd_bus *bus, int error);

/* channel.c */

/*
 * Takes and does all requests that are there. With read() and write() it only
 * looks if it was woken, or if `idle`: a look costs a system call.
 */
bool mimicd_bus_round(struct mimicd_bus *bus, bool idle);
bool mimicd_bus_has_work(struct mimicd_bus *bus);
/* The request of the slot is over. A descriptor (else -1) stays ours. */
void mimicd_bus_answer(struct mimicd_bus *bus, uint32_t slot, int status, uint64_t data, int fd);

/* request.c */

/* A request that was just taken. */
void mimicd_request_do(struct mimicd_bus *bus, const struct mimic_bus_request *body);
/* A slot's parked or held access is taken back and answered so. */
void mimicd_request_withdraw(struct mimicd_bus *bus, struct mimicd_request *request);
/* The device goes away: what still waits in it is answered with -ENODEV. */
void mimicd_requests_drop(struct mimicd_bus *bus, const struct mimicd_instance *instance);
/* Begins held accesses that are due, or all of a device that answers again. */
bool mimicd_requests_release(struct mimicd_bus *bus, uint64_t now);

#endif
