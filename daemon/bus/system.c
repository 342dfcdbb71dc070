/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The system calls of the channel. The only file that knows io_uring. */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/bus/bus.h"
#include "mimic/bus.h"

/* One FETCH is in flight at a time; the rest is room for a commit that follows at once. */
#define RING_ENTRIES 8

static int system_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

static int system_ioctl(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument) < 0 ? -errno : 0;
}

static void *system_map(int fd, size_t size, uint64_t offset)
{
	void *address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	return address == MAP_FAILED ? NULL : address;
}

static int system_map_at(int fd, void *address, size_t size, uint64_t offset)
{
	void *mapped = mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset);

	return mapped == MAP_FAILED ? -errno : 0;
}

static void system_unmap(void *address, size_t size)
{
	munmap(address, size);
}

static ssize_t system_read(int fd, void *buffer, size_t size)
{
	ssize_t got = read(fd, buffer, size);

	return got < 0 ? -errno : got;
}

static ssize_t system_write(int fd, const void *buffer, size_t size)
{
	ssize_t written;

	do
		written = write(fd, buffer, size);
	while (written < 0 && errno == EINTR);
	return written < 0 ? -errno : written;
}

static void system_close(int fd)
{
	close(fd);
}

struct ring {
	struct io_uring uring;
	int node;
};

static int system_ring_create(int fd, void **created, int *poll_fd)
{
	struct ring *ring = calloc(1, sizeof(*ring));
	int error;

	if (!ring)
		return -ENOMEM;
	error = io_uring_queue_init(RING_ENTRIES, &ring->uring, 0);
	if (error) {
		free(ring);
		return error;
	}
	fcntl(ring->uring.ring_fd, F_SETFD, FD_CLOEXEC);
	ring->node = fd;
	*created = ring;
	*poll_fd = ring->uring.ring_fd;
	return 0;
}

static int system_ring_fetch(void *context, int slot)
{
	struct ring *ring = context;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->uring);
	struct mimic_bus_command *command;
	int submitted;

	if (!sqe)
		return -EBUSY;
	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, ring->node, NULL, 0, 0);
	sqe->cmd_op = slot < 0 ? MIMIC_BUS_COMMAND_FETCH : MIMIC_BUS_COMMAND_COMMIT_AND_FETCH;
	command = (struct mimic_bus_command *)sqe->cmd;
	*command = (struct mimic_bus_command){ .slot = slot < 0 ? 0 : (uint32_t)slot };
	submitted = io_uring_submit(&ring->uring);
	return submitted < 0 ? submitted : 0;
}

static int system_ring_reap(void *context)
{
	struct ring *ring = context;
	struct io_uring_cqe *cqe;
	int result = 0;

	while (!io_uring_peek_cqe(&ring->uring, &cqe)) {
		if (result >= 0)
			result = cqe->res < 0 ? cqe->res : 1;
		io_uring_cqe_seen(&ring->uring, cqe);
	}
	return result;
}

static void system_ring_destroy(void *context)
{
	struct ring *ring = context;

	io_uring_queue_exit(&ring->uring);
	free(ring);
}

const struct mimicd_bus_ops mimicd_bus_system = {
	.open = system_open,
	.ioctl = system_ioctl,
	.map = system_map,
	.map_at = system_map_at,
	.unmap = system_unmap,
	.read = system_read,
	.write = system_write,
	.close = system_close,
	.ring_create = system_ring_create,
	.ring_fetch = system_ring_fetch,
	.ring_reap = system_ring_reap,
	.ring_destroy = system_ring_destroy,
};
