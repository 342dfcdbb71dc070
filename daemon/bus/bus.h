/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The front end for the kernel transport: our end of /dev/mimic (mimic/bus.h, docs/bus.md).
 *
 *   bus.c        the node: opened, closed
 *   system.c     the system calls behind it
 *   function.c   devices on the bus: registered, taken away, interrupts
 *   ring.c       the shared slots, sleeping and waking
 *   answer.c     answers to requests
 *   channel.c    requests taken, cancelled
 *   serve.c      executes requests
 *   access.c     accesses: made, held back
 *   request.c    requests that wait
 *   binding.c    processes that have a device, and their threads
 *   window.c     their memory
 *   keep.c, record.c, recover.c   the same of a daemon that is killed, for its successor
 *
 * The kernel is trusted. Addresses, values and times that a program chooses
 * reach the models as those of any access do.
 */
#ifndef MIMICD_BUS_H
#define MIMICD_BUS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mimicd_bus;
struct mimicd_engine;

/* The system calls of the channel; a test has its own. Errors are -errno. */
struct mimicd_bus_ops {
	int (*open)(const char *path);
	int (*ioctl)(int fd, unsigned long request, void *argument);
	/* Shared, for reading and writing. NULL: it cannot be. */
	void *(*map)(int fd, size_t size, uint64_t offset);
	/* The same at an address of ours, in place of a mapping there. 0 or -errno: nothing has changed. */
	int (*map_at)(int fd, void *address, size_t size, uint64_t offset);
	void (*unmap)(void *address, size_t size);
	ssize_t (*read)(int fd, void *buffer, size_t size);	/* never waits */
	ssize_t (*write)(int fd, const void *buffer, size_t size);
	void (*close)(int fd);
	/* A ring for passthrough commands; *poll_fd is readable when one has completed. */
	int (*ring_create)(int fd, void **ring, int *poll_fd);
	/* FETCH; with a slot (not negative) COMMIT_AND_FETCH. */
	int (*ring_fetch)(void *ring, int slot);
	/* Takes completed operations. 1: a FETCH, 0: nothing, -errno: one failed. */
	int (*ring_reap)(void *ring);
	void (*ring_destroy)(void *ring);
};

extern const struct mimicd_bus_ops mimicd_bus_system;

/* Are there to be devices in the kernel, by mimic.ko? */
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
	unsigned int recovery_seconds;		/* of a daemon that can be recovered: how long programs wait for a successor */
	const struct mimicd_bus_ops *ops;	/* NULL: the system's */
};

/*
 * Opens the node and puts the engine's devices on the bus. 0: *bus is there, or NULL
 * (the node is not, and need not be); -errno with a log line.
 */
int mimicd_bus_create(struct mimicd_bus **bus, struct mimicd_engine *engine,
		      const struct mimicd_bus_options *options);
/* Closes the node. The kernel keeps the devices for the next daemon. NULL: nothing. */
void mimicd_bus_destroy(struct mimicd_bus *bus);

#endif
